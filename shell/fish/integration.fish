# paneglass shell integration for fish 3.6 and newer.
#
# Marks where prompts, command lines and output begin and end (OSC 133), so that paneglass can tell what each command
# printed and how it ended. Nothing is printed unless this shell's terminal is the session's own and __PANEGLASS_NONCE
# holds the session's nonce. No process is started per prompt, nothing is typed, no history is touched.
#
#   hello  P;k=h;n=;pid=;sh=fish;v=3.6       once per shell start
#   A, B   A;n=;pid=;host=;user=;cwd=        before what fish_mode_prompt prints, and after what fish_prompt prints
#   C      C;n=;pid=                         from the event fish_preexec
#   D      D;STATUS;p=1,0,3;n=;pid=          from the event fish_postexec
#
# Names: __PANEGLASS_* are exported, __paneglass_* are not.
# The prompt's functions are wrapped. The user's fish_prompt must find $status and $pipestatus as they were, so nothing may
# run before it, save `set`, which leaves them alone: A comes from fish_mode_prompt, which fish runs first and whose
# status it forgets.
# Each builtin costs 1 to 5 us, each function 8, each command substitution 75: hence `set -q` where `test` would read better.

# Whether this is a shell to mark; hello.
function __paneglass_start
    status is-interactive
    and string match -qr '^[A-Za-z0-9._-]+$' -- "$__PANEGLASS_NONCE"
    and isatty stdout
    or return 0
    # The user's files may have set the PATH anew.
    set -q __PANEGLASS_BIN
    and not contains -- "$__PANEGLASS_BIN" $PATH
    and set -gx PATH $PATH $__PANEGLASS_BIN
    set -l tty (path resolve /dev/stdout)
    # A name for whatever terminal this is.
    test "$tty" = /dev/tty
    and set tty (path resolve /dev/stdin)
    # A nested shell may be on another terminal. Sourced by name, the terminal is the session's from here on.
    if set -q __paneglass_nested; and test "$tty" != "$__PANEGLASS_TTY"
        return 0
    end
    set -l was $__paneglass_id
    set -g __paneglass_id "n=$__PANEGLASS_NONCE;pid=$fish_pid"
    __paneglass_value "$hostname"
    set -g __paneglass_at "host=$__paneglass_x"
    __paneglass_value "$USER"
    set -ga __paneglass_at "user=$__paneglass_x"
    set -g __paneglass_at (string join ';' -- $__paneglass_at)
    # A bash that is started from here finds its way in; shell/bash/integration.bash knows these.
    set -gx __PANEGLASS_NONCE $__PANEGLASS_NONCE
    set -gx __PANEGLASS_TTY $tty
    set -g __paneglass_dir (path resolve (status dirname)/..)
    set -l bash $__paneglass_dir/bash/integration.bash
    if test -r $bash; and not set -q PROMPT_COMMAND
        set -l quoted "'"(string replace -a "'" "'\\''" -- $bash)"'"
        set -gx __PANEGLASS_BASH "__paneglass_nested=1; [[ ! -r $quoted ]] || \\builtin . $quoted"
        set -gx PROMPT_COMMAND '{'\n'"${__paneglass_run-builtin}" eval "${__PANEGLASS_BASH-}"'\n'} 62>&2 2>/dev/null'
    end

    set -g __paneglass_b \e']133;B;'$__paneglass_id\a
    set -g __paneglass_c \e']133;C;'$__paneglass_id\a
    set -g __paneglass_end ";$__paneglass_id"\a
    # The string terminator first: output that ends in the midst of a control string would swallow the marker.
    set -g __paneglass_d \e\\\e']133;D;0;p=0'$__paneglass_end
    set -q __paneglass_wraps
    or set -g __paneglass_wraps 0
    set -g __paneglass_inside
    set -g __paneglass_ran
    set -e __paneglass_moded
    __paneglass_chdir

    function __paneglass_exec --on-event fish_preexec
        switch "$argv"
            case '*zsh*' '*fish*'
                __paneglass_nest $argv
        end
        # `read` prints a mode's prompt as well, and whoever likes may call fish_prompt.
        set -g __paneglass_inside a command
        echo -n $__paneglass_c
    end
    function __paneglass_done --on-event fish_postexec
        set -l s $status $pipestatus
        switch "$s"
            case '0 0'
                echo -n $__paneglass_d
            case '*'
                set -l p
                # `not` changes the status after its stages are done.
                switch $s[1]
                    case $s[-1]
                        set -q s[3]
                        and set p ";p="(string join , -- $s[2..])
                        or set p ";p=$s[2]"
                end
                echo -n \e\\\e"]133;D;$s[1]$p$__paneglass_end"
        end
        set -g __paneglass_ran
        set -q __paneglass_below
        and __paneglass_unnest
    end
    function __paneglass_begin --on-event fish_prompt
        set -g __paneglass_inside
        # A command may have set another prompt; an empty line cannot.
        if set -q __paneglass_ran
            set -e __paneglass_ran
            # fish forgets a function's events when it is defined anew: ours answers.
            set -g __paneglass_probe 1
            emit __paneglass_probe
            set -q __paneglass_probe
            and __paneglass_wrap_prompt
        end
        set -q __paneglass_moded
        or __paneglass_wrap_mode
        set -e __paneglass_moded
    end
    # Not when the shell reads its files again: it is the same shell.
    test "$was" = $__paneglass_id
    or printf '\e]133;P;k=h;%s;sh=fish;v=%s\a' $__paneglass_id (string match -r '^\d+\.\d+' -- $version) >&2
end

function __paneglass_chdir --on-variable PWD
    set -q __paneglass_id
    or return
    if string match -qr '^[A-Za-z0-9._/-]*$' -- $PWD
        set -g __paneglass_x $PWD
    else
        __paneglass_value "$PWD"
    end
    set -l cwd ";cwd=$__paneglass_x"
    # A reader stores an OSC up to 4 KiB.
    string match -qr '^.{3000}' -- $cwd
    and set cwd ''
    set -g __paneglass_a \e']133;A;'"$__paneglass_id;$__paneglass_at$cwd"\a
end

# Sets __paneglass_x to a marker's value: literal, or ~ and the hex of its bytes.
function __paneglass_value
    if string match -qr '^[A-Za-z0-9._-]*$' -- $argv[1]
        set -g __paneglass_x $argv[1]
        return
    end
    # The bytes of text beyond ASCII are to be had by way of a URL; what stays a character there is ASCII.
    if string match -qr '^[ -~]*$' -- $argv[1]
        set -g __paneglass_x "~"(printf %02x "'"(string split '' -- $argv[1]))
    else
        set -l bytes (string escape --style=url -- $argv[1] | string match -ra '%..|.' | string replace -r '^%' 0x)
        set -g __paneglass_x "~"(printf %02x (string replace -r '^(.)$' '\'$1' -- $bytes))
    end
end

# A zsh or a fish that is started by name reads its files through ours. Nothing else sees our ZDOTDIR and XDG_DATA_DIRS:
# installers write to the one, and programs look into the other.
function __paneglass_nest
    set -l words (string split -n ' ' -- $argv[1])
    while string match -qr '^(exec|command|[A-Za-z_]\w*=.*)$' -- $words[1]
        set -e words[1]
    end
    set -l file
    switch "$words[1]"
        case zsh '*/zsh'
            set -g __paneglass_below ZDOTDIR __PANEGLASS_ZDOTDIR $__paneglass_dir/zsh
            set file $__paneglass_dir/zsh/.zshenv
        case fish '*/fish'
            set -l dirs /usr/local/share:/usr/share
            set -qx XDG_DATA_DIRS
            and set dirs "$XDG_DATA_DIRS"
            set -g __paneglass_below XDG_DATA_DIRS __PANEGLASS_XDG $__paneglass_dir/fish/share:$dirs
            set file $__paneglass_dir/fish/share/fish/vendor_conf.d/paneglass.fish
        case '*'
            return
    end
    if not test -r $file; or string match -q "*$__paneglass_below[1]*" -- $argv[1]
        set -e __paneglass_below
        return
    end
    set -qx $__paneglass_below[1]
    and set -gx $__paneglass_below[2] "$$__paneglass_below[1]"
    # Whether there is one of the user's own to put back; a universal one comes back by itself.
    if set -qg $__paneglass_below[1]
        set -ga __paneglass_below (set -qgx $__paneglass_below[1]; and echo -- -gx; or echo -- -gu) "$$__paneglass_below[1]"
    end
    set -gx $__paneglass_below[1] $__paneglass_below[3]
    set -gx __PANEGLASS_NESTED 1
end

function __paneglass_unnest
    set -eg $__paneglass_below[1]
    set -q __paneglass_below[4]
    and set $__paneglass_below[4] $__paneglass_below[1] $__paneglass_below[5]
    set -eg $__paneglass_below[2]
    set -eg __PANEGLASS_NESTED
    set -eg __paneglass_below
end

# Wraps fish_prompt: B after it, and A before it when fish_mode_prompt, newly defined by somebody, has not printed it.
# Each wrapped function gets a name of its own, since a new fish_prompt may call a copy of the old one, which is wrapped
# itself: within another wrapper a wrapper adds nothing.
function __paneglass_wrap_prompt
    set -e __paneglass_probe
    # By the description a copy that was put back is known, as `deactivate` of a venv does.
    set -l user (functions -Dv fish_prompt | string match -r '^__paneglass_user_prompt_\d+$')
    if not set -q user[1]
        set -g __paneglass_wraps (math $__paneglass_wraps + 1)
        set user __paneglass_user_prompt_$__paneglass_wraps
        if functions -q fish_prompt
            functions -c fish_prompt $user
        else
            function $user
            end
        end
    end
    function fish_prompt --inherit-variable user --description $user --on-event __paneglass_probe
        # Up to the user's function only what leaves $status and $pipestatus alone: `set`, and a `for` of nothing.
        for probe in $__paneglass_probe
            set -e __paneglass_probe
            return
        end
        set -ga __paneglass_inside $user
        set -l lines ($user $argv)
        if not set -q __paneglass_inside[2]
            set -q lines[1]
            or set lines ''
            set -q __paneglass_moded
            or set lines[1] $__paneglass_a$lines[1]
            # After a newline at the end, which fish does not show, the marker would be a line of its own.
            set lines[-1] $lines[-1]$__paneglass_b
        end
        set -e __paneglass_inside[-1]
        string join \n -- $lines
    end
end

# Wraps fish_mode_prompt: A before it.
function __paneglass_wrap_mode
    if functions fish_mode_prompt 2>/dev/null | string match -q '*__paneglass_moded*'
        return
    end
    set -g __paneglass_wraps (math $__paneglass_wraps + 1)
    set -l user __paneglass_user_mode_$__paneglass_wraps
    if functions -q fish_mode_prompt
        functions -c fish_mode_prompt $user
    else
        function $user
        end
    end
    function fish_mode_prompt --inherit-variable user
        # Some prompts call it themselves.
        if not set -q __paneglass_inside[1]
            set -g __paneglass_moded
            echo -n $__paneglass_a
        end
        $user $argv
    end
end

__paneglass_start
functions -e __paneglass_start
