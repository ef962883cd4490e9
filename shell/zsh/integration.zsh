# paneglass shell integration for zsh 5.3 and newer.
#
# Marks where prompts, command lines and output begin and end (OSC 133), so that paneglass can tell what each command
# printed and how it ended. Nothing is printed unless this shell's terminal is the session's own and __PANEGLASS_NONCE
# holds the session's nonce. No process is started per prompt, nothing is typed, no history is touched.
#
#   hello  P;k=h;n=;pid=;sh=zsh;v=5.9        once per shell start
#   A, B   A;n=;pid=;host=;user=;cwd=        round PS1, and P;n=;pid=;k=s with B round PS2
#   C      C;n=;pid=                         from preexec
#   end    P;n=;pid=;k=e                     in PROMPT_EOL_MARK: here the output ends. What follows, up to D, is the filler
#                                            with which zsh makes the prompt begin on a line of its own
#   D      D;STATUS;p=1,0,3;n=;pid=          from precmd
#
# Names: __PANEGLASS_* are exported, __paneglass_* are not. Why lines are as they are:
# - The functions run under the options that are in force below, whatever the user's are, since zsh remembers those of
#   `emulate -c` with each function that it defines: no tracing, no errexit, text taken by bytes.
# - Markers go to $TTY, where zsh prompts whatever its descriptors are.
# - While a command runs the prompt strings are the user's own: what he prints or exports of them is clean.

if [[ -z ${__paneglass_reading-} ]]; then
    __paneglass_reading=${${(%):-%x}:A}
    'builtin' 'emulate' zsh -o no_aliases -o no_xtrace -o no_err_exit -o no_err_return -o no_multibyte -o extended_glob \
        -c '\builtin source "$__paneglass_reading"'
    'builtin' 'unset' __paneglass_reading __paneglass_nested
    'builtin' 'return' 0
fi

[[ -o interactive && -n $__PANEGLASS_NONCE && $__PANEGLASS_NONCE != *[^A-Za-z0-9._-]* ]] || return 0

__paneglass_print() {
    print -rn -- $'\e]133;'$1$'\a' >|$__paneglass_tty
}

# First of the precmd functions: D, before the others print anything.
__paneglass_end() {
    local s=$? p=${(j:,:)pipestatus} z
    # Called from a widget, as some themes do: no command has ended.
    if zle; then
        return 0
    fi
    __paneglass_unnest
    # Stages that do not fit the status are those of an earlier pipeline. The right-most failure is pipefail's.
    z=${${p//,0/}##*,}
    [[ -n $__paneglass_ran && ( ${p##*,} == $s || $z == $s ) ]] || p=
    # A line that ran no command has a status only as a syntax error. Ctrl-C (130) enters none.
    if [[ -n $__paneglass_ran || -n $__paneglass_entered && $s != 0 && $s != 130 ]]; then
        # The string terminator first: output that ends in the midst of a control string would swallow the marker.
        print -rn -- $'\e\\\e]133;D;'"$s${p:+;p=$p};$__paneglass_id"$'\a' >|$__paneglass_tty
    fi
    __paneglass_ran= __paneglass_entered=
}

# Last of them: the prompt strings are as they will be shown, and get their markers.
__paneglass_begin() {
    [[ $PWD == $__paneglass_pwd ]] || __paneglass_chdir
    __paneglass_shown=
    __paneglass_hooks
    if (( __paneglass_lost > 1 )) || [[ ! -o prompt_percent ]]; then
        # A theme sets PS1 after this, or %{ %} would be shown: A now, and B when the line editor starts.
        __paneglass_print $__paneglass_a
        __paneglass_shown=1
    elif [[ $PS1 == $__paneglass_clean1 && $PS2 == $__paneglass_clean2 && -n $__paneglass_ps1 ]]; then
        PS1=$__paneglass_ps1 PS2=$__paneglass_ps2
    elif [[ $PS1 != $__paneglass_ps1 || $PS2 != $__paneglass_ps2 ]]; then
        __paneglass_dress PS1 $__paneglass_a
        __paneglass_clean1=$__paneglass_x __paneglass_ps1=$PS1
        __paneglass_dress PS2 "P;$__paneglass_id;k=s"
        __paneglass_clean2=$__paneglass_x __paneglass_ps2=$PS2
    fi
    # Used before precmd, and with prompt_percent on: by the next command.
    if [[ ${PROMPT_EOL_MARK-} != $__paneglass_mark* ]]; then
        PROMPT_EOL_MARK=$__paneglass_mark${PROMPT_EOL_MARK-%B%S%#%s%b}
    fi
}

# The line editor starts: B, and A as well, when PS1 was set by somebody after __paneglass_begin.
__paneglass_line() {
    if [[ -n $__paneglass_in_line ]]; then
        return 0
    fi
    local __paneglass_in_line=1
    if [[ $CONTEXT == start && $PS1 != *$__paneglass_b* ]]; then
        if [[ -z $__paneglass_shown ]]; then
            (( __paneglass_lost += 1 ))
            __paneglass_print $__paneglass_a
        fi
        __paneglass_print "B;$__paneglass_id"
        # Perhaps the precmd functions were dropped.
        __paneglass_unnest
        __paneglass_hooks
    fi
    if (( ${+widgets[__paneglass_line_user]} )); then
        zle __paneglass_line_user -- "$@"
    fi
}

# A command line is about to run: the user's own prompt strings, and C.
__paneglass_exec() {
    if [[ $PS1 == $__paneglass_ps1 && $PS2 == $__paneglass_ps2 ]]; then
        PS1=$__paneglass_clean1 PS2=$__paneglass_clean2
    else
        __paneglass_undress PS1
        __paneglass_undress PS2
    fi
    __paneglass_ran=1 __paneglass_entered= __paneglass_shown=
    [[ $1 != *(zsh|fish)* ]] || __paneglass_nest "$1"
    __paneglass_print "C;$__paneglass_id"
}

# A zsh or a fish that is started by name reads its files through ours. Nothing else sees our ZDOTDIR and XDG_DATA_DIRS:
# installers write to the one, and programs look into the other.
__paneglass_nest() {
    local words=("${(z)1}") name=ZDOTDIR
    while [[ $words[1] == (exec|command|nocorrect|noglob|[[:alpha:]_][[:alnum:]_]#=*) ]]; do
        shift words
    done
    case ${words[1]:t} in
        zsh) ;;
        fish) name=XDG_DATA_DIRS ;;
        *) return 0 ;;
    esac
    if [[ $1 != *$name* ]]; then
        __paneglass_below=($name "${(Pt)name}" "${(P)name}")
        if [[ $name == ZDOTDIR && -r $__paneglass_dir/zsh/.zshenv ]]; then
            [[ $__paneglass_below[2] != *export* ]] || export __PANEGLASS_ZDOTDIR=$ZDOTDIR
            export ZDOTDIR=$__paneglass_dir/zsh __PANEGLASS_NESTED=1
        elif [[ $name == XDG_DATA_DIRS && -r $__paneglass_dir/fish/share/fish/vendor_conf.d/paneglass.fish ]]; then
            [[ $__paneglass_below[2] != *export* ]] || export __PANEGLASS_XDG=$XDG_DATA_DIRS
            export XDG_DATA_DIRS=$__paneglass_dir/fish/share:${__PANEGLASS_XDG:-/usr/local/share:/usr/share} __PANEGLASS_NESTED=1
        fi
    fi
}

__paneglass_unnest() {
    if (( ${+__PANEGLASS_NESTED} )); then
        unset $__paneglass_below[1] __PANEGLASS_ZDOTDIR __PANEGLASS_XDG __PANEGLASS_NESTED
        if [[ -n $__paneglass_below[2] ]]; then
            typeset -g "$__paneglass_below[1]=$__paneglass_below[3]"
            [[ $__paneglass_below[2] != *export* ]] || export $__paneglass_below[1]
        fi
    fi
}

# A line was entered, which may yet be no command.
__paneglass_enter() {
    [[ $1 != *[^[:space:]]* ]] || __paneglass_entered=1
    return 0
}

# Puts the hooks in their places: D before the other precmd functions, the prompt strings after them, C last.
__paneglass_hooks() {
    local all="$precmd_functions $preexec_functions $zshaddhistory_functions ${widgets[zle-line-init]-}"
    if [[ $all == $__paneglass_hooked ]]; then
        return 0
    fi
    precmd_functions=(__paneglass_end ${precmd_functions:#__paneglass_(end|begin)} __paneglass_begin)
    preexec_functions=(${preexec_functions:#__paneglass_exec} __paneglass_exec)
    zshaddhistory_functions=(${zshaddhistory_functions:#__paneglass_enter} __paneglass_enter)
    if [[ ${widgets[zle-line-init]-} != user:__paneglass_line ]]; then
        if (( ${+widgets[zle-line-init]} )); then
            zle -A zle-line-init __paneglass_line_user
        fi
        zle -N zle-line-init __paneglass_line
    fi
    __paneglass_hooked="$precmd_functions $preexec_functions $zshaddhistory_functions ${widgets[zle-line-init]-}"
}

# NAME MARKER: sets the marker and B round a prompt string, in place of those of any shell, and __paneglass_x to it without.
__paneglass_dress() {
    local v=${${(P)1-}//$~__paneglass_any/} t
    __paneglass_x=$v
    if [[ ${(Pt)1} == *readonly* ]]; then
        return 0
    fi
    # An odd percent sign at the end would take the marker's brace with it.
    t=${v##*[^%]}
    (( $#t % 2 == 0 )) || v+=%
    typeset -g $1=$'%{\e]133;'$2$'\a%}'$v$__paneglass_b
}

__paneglass_undress() {
    if [[ ${(Pt)1} != *readonly* && ${(P)1-} == *$__paneglass_b* ]]; then
        typeset -g $1=${${(P)1}//$~__paneglass_any/}
    fi
}

# Sets __paneglass_cwd to the marker's key. Of a path that must be encoded, what it does not share with the last such one.
__paneglass_chdir() {
    __paneglass_pwd=$PWD
    if [[ $PWD != *[^A-Za-z0-9._/-]* ]]; then
        __paneglass_cwd=";cwd=$PWD"
    else
        local o=$__paneglass_hexed
        while [[ $PWD != $o* ]]; do
            o=${o%/*}
        done
        __paneglass_hex=${__paneglass_hex[1,2*$#o]}
        __paneglass_encode ${PWD[$#o+1,-1]}
        __paneglass_hex+=$__paneglass_x __paneglass_hexed=$PWD __paneglass_cwd=";cwd=~$__paneglass_hex"
    fi
    # A reader stores an OSC up to 4 KiB.
    (( $#__paneglass_cwd < 3000 )) || __paneglass_cwd=
    __paneglass_a="A;$__paneglass_id;$__paneglass_at$__paneglass_cwd" __paneglass_ps1=
}

# Sets __paneglass_x to the hex of the bytes of $1.
__paneglass_encode() {
    __paneglass_x=
    [[ -z $1 ]] || printf -v __paneglass_x %02x "${(@)${(s::)1}/#/'}"
}

# Once per shell: whether this is the session's terminal; hello.
() {
    local stat t at was=${__paneglass_id-}
    # Field 7 of stat, after a name that may hold spaces and parentheses: the controlling terminal (proc(5)).
    { read -r stat </proc/self/stat } 2>/dev/null
    stat=${${=stat##*\) }[5]}
    t=/dev/pts/$(( (stat & 255) | (stat >> 12 & ~255) ))
    if [[ -z ${__paneglass_nested-} ]]; then
        # Sourced, or a session's first: whatever environment this came from, the terminal is the session's from here on.
        __PANEGLASS_TTY=$TTY
    elif [[ ! $TTY -ef ${__PANEGLASS_TTY-} ]]; then
        # Another terminal, unless this is a sandbox with a /dev of its own, where the number is all that is left.
        [[ ! -e $__PANEGLASS_TTY && $t == $__PANEGLASS_TTY ]] || return 0
    fi
    # After su the terminal's own file is another user's.
    typeset -g __paneglass_tty=$TTY
    [[ -w $TTY ]] || __paneglass_tty=/dev/tty
    if [[ ! -w $__paneglass_tty || ${(t)PS1} == *readonly* ]]; then
        return 0
    fi
    typeset -g __paneglass_id="n=$__PANEGLASS_NONCE;pid=$$" __paneglass_at= __paneglass_dir=${__paneglass_reading:h:h}
    for t in host=${(%):-%M} user=${(%):-%n}; do
        at=${t#*=}
        if [[ $at == *[^A-Za-z0-9._-]* ]]; then
            __paneglass_encode $at
            at="~$__paneglass_x"
        fi
        __paneglass_at+=${__paneglass_at:+;}${t%%=*}=$at
    done
    typeset -g __paneglass_b=$'%{\e]133;B;'$__paneglass_id$'\a%}' __paneglass_mark=$'%{\e]133;P;'$__paneglass_id$';k=e\a%}'
    typeset -g __paneglass_any=$'%{\e]133;[ABP];n=[^%]#\a%}' __paneglass_pwd= __paneglass_hex= __paneglass_hexed= __paneglass_shown= __paneglass_in_line=
    typeset -g __paneglass_ran=${__paneglass_ran-} __paneglass_entered= __paneglass_hooked=
    typeset -g __paneglass_clean1= __paneglass_clean2= __paneglass_ps1= __paneglass_ps2=
    typeset -gi __paneglass_lost=0
    typeset -ga __paneglass_below=()
    typeset -gx __PANEGLASS_NONCE __PANEGLASS_TTY
    # A bash that is started from here finds its way in; shell/bash/integration.bash knows these.
    t=$__paneglass_dir/bash/integration.bash
    if [[ -r $t && -z ${PROMPT_COMMAND-} ]]; then
        typeset -gx __PANEGLASS_BASH="__paneglass_nested=1; [[ ! -r ${(qq)t} ]] || \\builtin . ${(qq)t}"
        typeset -gx PROMPT_COMMAND=$'{\n"${__paneglass_run-builtin}" eval "${__PANEGLASS_BASH-}"\n} 62>&2 2>/dev/null'
    fi
    # Not when the shell reads its files again: it is the same shell.
    [[ $was == $__paneglass_id ]] || __paneglass_print "P;k=h;$__paneglass_id;sh=zsh;v=${(M)ZSH_VERSION##[0-9]##.[0-9]##}"
    __paneglass_hooks
}
