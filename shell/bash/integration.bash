# shellcheck shell=bash disable=SC2154,SC2178
# paneglass shell integration for bash 4.4 and newer.
#
# Marks where prompts, command lines and output begin and end (OSC 133), so that paneglass can tell what each command
# printed and how it ended. Nothing is printed unless this shell's stderr is the session's own terminal and
# __PANEGLASS_NONCE holds the session's nonce. No process is started per prompt, nothing is typed, no history is touched.
#
#   hello  P;k=h;n=;pid=;sh=bash;v=5.2       once per shell start
#   A, B   A;n=;pid=;host=;user=;cwd=        round PS1, and P;n=;pid=;k=s with B round PS2
#   C      C;n=;pid=                         at the end of PS0
#   D      D;STATUS;p=1,0,3;n=;pid=          from PROMPT_COMMAND
# With stderr elsewhere A, B and D come from PROMPT_COMMAND, and there is no C.
#
# Names: __PANEGLASS_* are exported, __paneglass_* are not. What must hold, and why lines are as they are:
# - Functions are parsed with the user's aliases in force, and run beside functions named like builtins, under the
#   user's set -e, -u, -x, IFS and globbing options. Hence `\builtin`, and `local -` in all but __paneglass_prompt: there
#   the user's own prompt commands run, so it has no command that can fail, no local variable and no word that could split.
# - A nested bash finds the hook in PROMPT_COMMAND and the way to the code in __PANEGLASS_BASH, both from its environment.
#   Variables, unlike exported functions, come through dash, busybox and sudo -E, and cost a bash script nothing.
# - Descriptor 62 is the shell's stderr while 2 is /dev/null, so that nothing of ours is traced or complained about.

[[ $- == *i* && $- != *r* && ${__PANEGLASS_NONCE-} && ${__PANEGLASS_NONCE-} != *[!A-Za-z0-9._-]* ]] &&
    ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) || \builtin return 0

# The hook, which PROMPT_COMMAND calls before each prompt: prints D, runs the user's prompt commands, each with the $?,
# PIPESTATUS and $_ that it would have seen, and wraps the prompt strings. Does nothing when one of those calls it.
__paneglass_prompt() {
    __paneglass_s=("$_" "$?" "${PIPESTATUS[@]}")
    if [[ ${#FUNCNAME[@]} == 1 || ${FUNCNAME[*]:1} != *__paneglass_prompt* ]]; then
        __paneglass_end
        for __paneglass_p in "${__paneglass_now[@]}"; do
            # The offset is arithmetic that sets PIPESTATUS and comes to 0.
            if __paneglass_status "${__paneglass_s[0]}"; then
                \builtin eval "${__paneglass_p:__paneglass_q}" 2>&62 62>&-
            else
                \builtin eval "${__paneglass_p:__paneglass_q}" 2>&62 62>&-
            fi
        done
        __paneglass_begin
    fi
}

# Sets $? for the command after it, and $_ to its argument.
__paneglass_status() {
    \builtin return "${__paneglass_s[1]}"
}

# Before the user's prompt commands: prints D, and sets __paneglass_now to those commands and __paneglass_q for PIPESTATUS.
__paneglass_end() {
    case $- in
        *[aeuxT]*)
            \builtin local -
            \builtin set +aeuxT
            ;;
    esac
    \builtin local s="${__paneglass_s[1]}" n="${__paneglass_count@P}" p="${__paneglass_s[2]-}"
    # bash 5.3 counts one more until it has read a command while PS0 was set.
    if [[ ! $__paneglass_n && ($n == 1 || ! ${PS0+x}) ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 502)); then
        n=$((n - 1))
    fi
    __paneglass_q=0
    if ((${#__paneglass_s[@]} > 3)); then
        \builtin local i z=0
        p=
        for ((i = ${#__paneglass_s[@]} - 1; i > 1; i--)); do
            __paneglass_q="PIPESTATUS[$((i - 2))]=${__paneglass_s[i]},$__paneglass_q"
            p=${__paneglass_s[i]}${p:+,$p}
            ((z)) || z=${__paneglass_s[i]}
        done
    fi
    # Stages that do not fit the status are those of an earlier pipeline.
    [[ ! $p || ${p##*,} != "$s" && (! -o pipefail || ${z-} != "$s") ]] || s+=";p=$p"
    if [[ $__PANEGLASS_TTY -ef /dev/fd/62 || /dev/tty -ef /dev/fd/62 ]] ||
        [[ -t 62 && (! -e $__PANEGLASS_TTY || ! -e /dev/fd/62) ]]; then
        [[ $__paneglass_own ]] || __paneglass_own=1 __paneglass_ps0=- __paneglass_ps1='' __paneglass_ps2=-
    elif [[ $__paneglass_own ]]; then
        __paneglass_own='' __paneglass_ps0=- __paneglass_ps1='' __paneglass_ps2=-
    fi
    if [[ ${PROMPT_COMMAND-} != "$__paneglass_hook" || ${#PROMPT_COMMAND[@]} != 1 || ${__paneglass_user+x} ]]; then
        __paneglass_enter
    fi
    # The command number tells a command from an empty line and from Ctrl-C; a syntax error (2) does not count for bash.
    p=${__paneglass_s[1]}
    if [[ $n != "$__paneglass_n" || $p == 2 || $p != "$__paneglass_last" && $p != 130 ]] &&
        [[ $__paneglass_n && $s ]]; then
        # The string terminator first: output that ends in the midst of a control string would swallow the marker.
        __paneglass_print "\\e\\\\" "D;$s;$__paneglass_id"
    fi
    __paneglass_n=$n __paneglass_last=$p
}

# PREFIX MARKER...: prints the markers, each after the prefix, which is a part of printf's format. The prompts of a shell with its stderr elsewhere are nowhere to be
# seen, but that it prompts and how its commands ended can be told: on the terminal itself.
__paneglass_print() {
    if [[ $__paneglass_own ]]; then
        \builtin printf "$1"'\e]133;%s\a' "${@:2}" >&62
    elif [[ -w $__PANEGLASS_TTY ]]; then
        \builtin printf "$1"'\e]133;%s\a' "${@:2}" >|"$__PANEGLASS_TTY"
    fi
}

# Takes in what has become of PROMPT_COMMAND since the last prompt, then makes it look to the user's prompt commands as
# if they were in it, since some rewrite it. Empties the caller's s when the command's status is not to be known.
__paneglass_enter() {
    \builtin local IFS=$'\n' all="${PROMPT_COMMAND[*]-}" e="${PROMPT_COMMAND-}"
    __paneglass_now=("${__paneglass_user[@]}")
    if [[ ${PROMPT_COMMAND@a} == *r* ]]; then
        \builtin return 0
    elif [[ $all == "$__paneglass_view" ]]; then
        # The last round was interrupted, and bash itself runs what it left in PROMPT_COMMAND.
        __paneglass_now=()
    elif [[ $all != *"$__paneglass_hook"* ]]; then
        # Called from another's prompt command, which has replaced PROMPT_COMMAND and may set PS1 when this returns.
        __paneglass_late=1 __paneglass_ps1=''
        __paneglass_take
    elif [[ $all != "$__paneglass_hook" ]]; then
        if [[ $e == ?*"$__paneglass_hook"* ]]; then
            # What was put before the hook has run, and its status hides the command's.
            s=
            __paneglass_add first "${e%%"$__paneglass_hook"*}"
            PROMPT_COMMAND[0]=$__paneglass_hook${e#*"$__paneglass_hook"}
            all=${PROMPT_COMMAND[*]}
        fi
        # What was put after it is run by bash, and may yet rewrite PROMPT_COMMAND, until it is seen a second time.
        if [[ $all != "$__paneglass_hook" && $all != "$__paneglass_seen" ]]; then
            __paneglass_seen=$all
            \builtin return 0
        fi
        __paneglass_take
    fi
    if ((${#__paneglass_now[@]})); then
        PROMPT_COMMAND=$__paneglass_hook$'\n'${__paneglass_user[0]}
        ((${#__paneglass_user[@]} < 2)) || PROMPT_COMMAND+=("${__paneglass_user[@]:1}")
        __paneglass_view=${PROMPT_COMMAND[*]}
    fi
}

# INDEX|first COMMANDS: takes them into __paneglass_user, unless they are in it, as when the user's rc file is read again.
# IFS is the caller's newline.
__paneglass_add() {
    \builtin local c="$2"
    while [[ $c == *[!\\][$'; \t\n'] ]]; do c=${c%?}; done
    if [[ $c != *[!$': ;\t\n']* || $'\n'${__paneglass_user[*]}$'\n' == *[$'\n; ']"$c"[$'\n; ']* ]]; then
        \builtin return 0
    elif [[ $1 == first ]]; then
        __paneglass_user[0]=$c${__paneglass_user[0]+$'\n'${__paneglass_user[0]}}
    elif (($1)); then
        __paneglass_user+=("$c")
    else
        __paneglass_user[0]=${__paneglass_user[0]+${__paneglass_user[0]}$'\n'}$c
    fi
}

# Moves all but the hook from PROMPT_COMMAND to __paneglass_user.
__paneglass_take() {
    \builtin local IFS=$'\n' e i
    for i in "${!PROMPT_COMMAND[@]}"; do
        e=${PROMPT_COMMAND[i]}
        case $e in
            "$__paneglass_hook"*)
                e=${e#"$__paneglass_hook"}
                while [[ $e == [$'; \t\n']* ]]; do e=${e:1}; done
                ;;
            *) e=${e/"$__paneglass_hook"/:} ;;
        esac
        __paneglass_add "$i" "$e"
    done
    \builtin unset -v PROMPT_COMMAND
    \builtin export PROMPT_COMMAND="$__paneglass_hook"
}

# After the user's prompt commands: PROMPT_COMMAND is the hook again, and the prompt strings get their markers.
__paneglass_begin() {
    if [[ ${PS1-} == "$__paneglass_ps1" && $PWD == "$__paneglass_pwd" && $__paneglass_own && ! $__paneglass_view ]] &&
        [[ ${PS0-} == "$__paneglass_ps0" && ${PS2-} == "$__paneglass_ps2" ]]; then
        \builtin return 0
    fi
    \builtin local - IFS=$'\n' a b
    \builtin set +aeuxT
    if [[ $__paneglass_view ]]; then
        [[ ${PROMPT_COMMAND[*]-} == "$__paneglass_view" ]] || __paneglass_user=()
        __paneglass_view=
        __paneglass_take
    fi
    [[ $PWD == "$__paneglass_pwd" ]] || __paneglass_chdir
    a="A;$__paneglass_id;$__paneglass_at$__paneglass_cwd" b="B;$__paneglass_id"
    if [[ ! $__paneglass_own || $__paneglass_late ]]; then
        __paneglass_print '' "$a" "$b"
    fi
    a="\\[\\e]133;$a\\a\\]" b="\\[\\e]133;$b\\a\\]"
    if [[ $__paneglass_own && $PS1 == "$__paneglass_ps1" && $PS1 && ${PS1@a} != *r* ]]; then
        # Only the directory is new: a quicker way than __paneglass_dress.
        PS1=$a${PS1:${#__paneglass_a}}
    else
        __paneglass_dress PS1 "$a" "$b"
    fi
    [[ $PS0 == "$__paneglass_ps0" ]] || __paneglass_dress PS0 '' "\\e]133;C;$__paneglass_id\\a"
    [[ $PS2 == "$__paneglass_ps2" ]] || __paneglass_dress PS2 "\\[\\e]133;P;$__paneglass_id;k=s\\a\\]" "$b"
    __paneglass_ps0=$PS0 __paneglass_ps1=$PS1 __paneglass_ps2=$PS2 __paneglass_a=$a __paneglass_late=
}

# VARIABLE PREFIX SUFFIX: sets them round the prompt string, in place of markers of any shell; takes all off when stderr is
# not the session's terminal now. An exported prompt string would reach shells that print \e as text.
__paneglass_dress() {
    \builtin local -n v="$1"
    \builtin local p r
    if [[ $__paneglass_own && $v == "$2"*"$3" || ${v@a} == *r* ]]; then
        \builtin return 0
    fi
    while [[ $v == *'\e]133;'* && $v == *'\e]133;'[ABCP]';n='*'\a'* ]]; do
        p=${v%%'\e]133;'[ABCP]';n='*} r=${v#"${v%%'\e]133;'[ABCP]';n='*}"}
        r=${r#*'\a'}
        v=${p%'\['}${r#'\]'}
    done
    if [[ $__paneglass_own ]]; then
        # shellcheck disable=SC2163
        [[ ${v@a} != *x* ]] || \builtin export -n "$1"
        # An odd backslash at the end would take the suffix's first character with it.
        p=${v##*[!\\]}
        v=$2$v${p:0:${#p} % 2}$3
    fi
}

# Sets __paneglass_cwd to the marker's key. Of a path that must be encoded, what it does not share with the last such one.
__paneglass_chdir() {
    __paneglass_pwd=$PWD
    # No ranges: what they hold depends on the locale, and setting that costs more than all the rest.
    if [[ $PWD != *[!-./_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ]* ]]; then
        __paneglass_cwd=";cwd=$PWD"
    else
        \builtin local LC_ALL=C o="$__paneglass_hexed"
        while [[ $PWD != "$o"* ]]; do o=${o%/*}; done
        __paneglass_hex=${__paneglass_hex:0:${#o} * 2}
        __paneglass_encode "${PWD:${#o}}"
        __paneglass_hexed=$PWD __paneglass_hex+=$__paneglass_x __paneglass_cwd=";cwd=~$__paneglass_hex"
    fi
    # A reader stores an OSC up to 4 KiB.
    ((${#__paneglass_cwd} < 3000)) || __paneglass_cwd=
}

# Sets __paneglass_x to the hex of $1, a byte at a time: LC_ALL=C is the caller's.
__paneglass_encode() {
    \builtin local a i
    a=()
    # Four at a time, since each round costs; what is past the end becomes zeros, and is cut off.
    for ((i = 0; i < ${#1}; i += 4)); do
        a+=("'${1:i:1}" "'${1:i+1:1}" "'${1:i+2:1}" "'${1:i+3:1}")
    done
    \builtin printf -v __paneglass_x %02x "${a[@]}"
    __paneglass_x=${__paneglass_x:0:2 * ${#1}}
}

# Once per shell, with stderr on 62: whether this is the session's terminal; hello.
__paneglass_start() {
    \builtin local - LC_ALL=C IFS=' ' f='' t was="${__paneglass_id-}"
    \builtin set +aeuxT -f
    __paneglass_hook=$'{\n"${__paneglass_run-builtin}" eval "${__PANEGLASS_BASH-}"\n} 62>&2 2>/dev/null'
    # Field 7 of stat, after a name that may hold spaces and parentheses: the controlling terminal (proc(5)).
    \builtin read -r f </proc/self/stat
    # shellcheck disable=SC2206
    f=(${f##*) })
    t=/dev/pts/$((f[4] & 255 | f[4] >> 12 & ~255))
    if [[ ! ${__PANEGLASS_TTY+x} ]]; then
        [[ $t -ef /dev/fd/62 ]] || t=
        __PANEGLASS_TTY=$t
    elif [[ -e /dev/fd/62 && ! $__PANEGLASS_TTY -ef /dev/fd/62 ]]; then
        # A sandbox has a /dev of its own, where the number is all that is left; bwrap binds the terminal to the console.
        [[ $t == "$__PANEGLASS_TTY" && (! -e $t || /dev/tty -ef /dev/fd/62) ]] || __paneglass_run=:
        [[ ! /dev/console -ef /dev/fd/62 ]] || __PANEGLASS_TTY=/dev/console
    fi
    [[ -t 62 && ! ${PROMPT_COMMAND@a}${PS1@a}${PS0@a} == *r* ]] || __paneglass_run=:
    if [[ ${__paneglass_run-} == : ]]; then
        [[ ${PROMPT_COMMAND-} != "$__paneglass_hook" ]] || \builtin unset -v PROMPT_COMMAND
        \builtin return 1
    fi
    __paneglass_run=__paneglass_prompt
    __paneglass_id="n=$__PANEGLASS_NONCE;pid=$$"
    __paneglass_at=
    for f in 'host=\H' 'user=\u'; do
        t=${f#*=}
        t=${t@P}
        if [[ $t == *[!A-Za-z0-9._-]* ]]; then
            __paneglass_encode "$t"
            t=\~$__paneglass_x
        fi
        __paneglass_at+=${__paneglass_at:+;}${f%%=*}=$t
    done
    __paneglass_count='\#' __paneglass_n=${__paneglass_n-} __paneglass_view='' __paneglass_seen=''
    __paneglass_pwd='' __paneglass_hex='' __paneglass_hexed='' __paneglass_late='' __paneglass_ps0=- __paneglass_ps1='' __paneglass_ps2=-
    __paneglass_own=1 __paneglass_now=()
    \builtin export __PANEGLASS_NONCE __PANEGLASS_TTY __PANEGLASS_BASH
    # Not when the shell reads its files again: it is the same shell.
    if [[ $was != "$__paneglass_id" ]]; then
        __paneglass_print '' "P;k=h;$__paneglass_id;sh=bash;v=${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"
    fi
}

# A zsh or a fish that is started by name is to read our files first, and bash has no hook that sees a command before it
# runs, except the DEBUG trap, which is the user's. Aliases are in nobody's way: scripts do not see them.
__paneglass_names() {
    \builtin local n
    __paneglass_dir=${BASH_SOURCE[0]%/*}/..
    [[ $__paneglass_dir == /* ]] || __paneglass_dir=$PWD/$__paneglass_dir
    for n in zsh fish; do
        if [[ ! ${BASH_ALIASES[$n]+x} ]] && ! \builtin declare -F "$n" && \builtin type -P "$n"; then
            # shellcheck disable=SC2139
            \builtin alias "$n=__paneglass_below $n"
        fi
    done >/dev/null
}

# zsh|fish ARGUMENT...: plain when the files have gone meanwhile.
__paneglass_below() {
    if [[ $1 == zsh && -r $__paneglass_dir/zsh/.zshenv ]]; then
        [[ ${ZDOTDIR+${ZDOTDIR@a}} != *x* ]] || \builtin local -x __PANEGLASS_ZDOTDIR="$ZDOTDIR"
        ZDOTDIR=$__paneglass_dir/zsh __PANEGLASS_NESTED=1 \builtin command "$@"
    elif [[ $1 == fish && -r $__paneglass_dir/fish/share/fish/vendor_conf.d/paneglass.fish ]]; then
        [[ ${XDG_DATA_DIRS+${XDG_DATA_DIRS@a}} != *x* ]] || \builtin local -x __PANEGLASS_XDG="$XDG_DATA_DIRS"
        XDG_DATA_DIRS=$__paneglass_dir/fish/share:${__PANEGLASS_XDG:-/usr/local/share:/usr/share} __PANEGLASS_NESTED=1 \
            \builtin command "$@"
    else
        \builtin command "$@"
    fi
}

if [[ ${__paneglass_nested-} ]]; then
    # From PROMPT_COMMAND, as __PANEGLASS_BASH below has it: 62 is open.
    __paneglass_start && __paneglass_names && __paneglass_prompt
else
    # Sourced by name: whatever session this environment came from, this terminal is the session's own from here on.
    if [[ ${__paneglass_whole-} ]]; then
        # The file is about to go (ssh): nested shells get the text.
        __PANEGLASS_BASH=$(\builtin declare -f __paneglass_{prompt,status,end,print,enter,add,take,begin,dress,chdir,encode,start})
        while [[ $__PANEGLASS_BASH == *$'\n '* ]]; do
            __PANEGLASS_BASH=${__PANEGLASS_BASH//$'\n '/$'\n'}
        done
        __PANEGLASS_BASH+=$'\n__paneglass_start && __paneglass_prompt'
    else
        __paneglass_p=${BASH_SOURCE[0]}
        [[ $__paneglass_p == /* ]] || __paneglass_p=$PWD/$__paneglass_p
        \builtin printf -v __PANEGLASS_BASH '__paneglass_nested=1; [[ ! -r %q ]] || \\builtin . %q' "$__paneglass_p"{,}
    fi
    \builtin unset -v __PANEGLASS_TTY __paneglass_run
    { __paneglass_start && __paneglass_take && __paneglass_names; } 62>&2 2>/dev/null
fi
