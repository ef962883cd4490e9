# shellcheck shell=bash
# Completions of paneglass for bash, as `paneglass completions bash` prints them.

_paneglass_sessions() {
    paneglass list 2>/dev/null | {
        read -r _
        while read -r name _; do printf '%s\n' "$name"; done
    }
}

_paneglass() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local flags='' words='' kind=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        command='' before=''
    fi
    case "$command $before" in
    'serve --socket') kind='file' ;;
    'serve --host') kind='' ;;
    'serve --join-url') kind='' ;;
    'connect --actor') kind='' ;;
    'connect --socket') kind='file' ;;
    'join --invitation') kind='' ;;
    'join --via') kind='program' ;;
    'cook --cols') kind='' ;;
    'cook --rows') kind='' ;;
    'cook --resize') kind='' ;;
    'cook --tmux') kind='' ;;
    'shell --dir') kind='file' ;;
    *)
        case $command in
        '') flags='--no-bridge --toolsets --version --help' words='demo doctor serve connect token devices join reach list logs attach call cook ssh into install shell completions skill version link' ;;
        demo)
            flags='--help' words='' kind=''
            ;;
        doctor)
            flags='--json --help' words='' kind=''
            ;;
        serve)
            flags='--socket --tcp --host --devices --join-url --print-unit --help' words='' kind=''
            ;;
        connect)
            flags='--actor --socket --help' words='' kind=''
            ;;
        token)
            flags='--help' words='' kind=''
            ;;
        devices)
            flags='--json --help' words='list revoke' kind=''
            ;;
        join)
            flags='--invitation --insecure --via --help' words='--via' kind=''
            ;;
        reach)
            flags='--help' words='' kind=''
            ;;
        list)
            flags='--json --help' words='' kind=''
            ;;
        logs)
            flags='--dry-run --json --help' words='keep default delete-on-close delete due sweep' kind='session'
            ;;
        attach)
            flags='--help' words='' kind='session'
            ;;
        call)
            flags='--json --help' words='' kind=''
            ;;
        cook)
            flags='--cols --rows --resize --screen --tmux --help' words='' kind='file'
            ;;
        ssh)
            flags='--print --help' words='' kind=''
            ;;
        into)
            flags='--print --help' words='' kind='program'
            ;;
        install)
            flags='--remove --print --help' words='' kind=''
            ;;
        shell)
            flags='--dir --help' words='bash zsh fish' kind=''
            ;;
        completions)
            flags='--help' words='bash zsh fish' kind=''
            ;;
        skill)
            flags='--plugin --help' words='' kind='file'
            ;;
        version)
            flags='--verbose --help' words='' kind=''
            ;;
        link)
            flags='--help' words='' kind=''
            ;;
        esac
        ;;
    esac
    case $kind in
    session) words+=" $(_paneglass_sessions)" ;;
    file)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        ;;
    program) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
    esac
    [[ $current == -* ]] && words=$flags
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _paneglass paneglass
