# shellcheck shell=sh disable=SC2154
# Starts the user's login shell with the integration, on another host or in another place (paneglass ssh, into). Its files
# stand in a private directory that goes again: bash and fish remove it once they are loaded, zsh at its end.
#
# Before it the command has set $pg_via (ssh or into), __PANEGLASS_NONCE and what PANEGLASS_SSH_ENV carries; after it come
# pg_bash DIR, pg_zsh DIR and pg_fish DIR, which write that shell's files, as far as they have room, and the call of pg_enter.
# No name of ours reaches the shell's environment but that of the nonce.
set --

# Sets pg_shell to the user's login shell, and pg_name to its name.
pg_find_shell() {
    pg_shell=${SHELL-}
    if [ "$pg_via" = into ]; then
        # SHELL is that of the outer place.
        pg_me=$(id -u)
        pg_shell=$({ getent passwd "$pg_me" || grep "^[^:]*:[^:]*:$pg_me:" /etc/passwd; } 2>/dev/null | head -n 1)
        pg_shell=${pg_shell##*:}
    fi
    for pg_shell in "$pg_shell" /bin/bash /bin/sh; do
        case $pg_shell in
        */nologin | */false | '') ;;
        *) if [ -x "$pg_shell" ]; then break; fi ;;
        esac
    done
    pg_name=${pg_shell##*/}
}

# Makes the directory with the shell's files, and sets pg_dir to it; fails when no place takes them.
pg_make_dir() {
    trap 'rm -rf "$pg_dir"' EXIT
    trap 'exit 129' HUP
    trap 'exit 143' TERM
    # Meant for the shell, which gets them too; not to be ignored, or it would inherit that.
    trap : INT QUIT
    for pg_at in "${TMPDIR-}" /tmp /dev/shm "${XDG_RUNTIME_DIR-}" /var/tmp "$HOME"; do
        # The path stands in files and arguments of three shells.
        case $pg_at in
        *[!A-Za-z0-9/._-]*) ;;
        /*)
            pg_dir=$(mktemp -d "$pg_at/paneglass.XXXXXXXXXX" 2>/dev/null)
            if [ -z "$pg_dir" ]; then
                pg_dir=$pg_at/paneglass.$$
                mkdir -m 700 "$pg_dir" 2>/dev/null || continue
            fi
            if (umask 077 && "pg_$pg_name" "$pg_dir") 2>/dev/null; then return; fi
            rm -rf "$pg_dir"
            ;;
        esac
    done
    return 1
}

pg_plain() {
    printf 'paneglass: a plain shell: %s\n' "$1" >&2
    unset __PANEGLASS_NONCE
    exec "$pg_shell" -l
}

pg_enter() {
    pg_find_shell
    SHELL=$pg_shell
    export SHELL
    unset ZDOTDIR
    if [ "$pg_via" = ssh ] && [ ! -e "$HOME/.hushlogin" ]; then
        # sshd shows it only where it starts the login shell itself.
        cat /run/motd.dynamic /etc/motd 2>/dev/null
    fi
    case $pg_name in
    bash | zsh | fish) ;;
    *) pg_plain "there is no integration for $pg_name" ;;
    esac
    command -v "pg_$pg_name" >/dev/null || pg_plain "the command has no room for the integration of $pg_name"
    pg_make_dir || pg_plain 'no directory for temporary files takes any'
    case $pg_name in
    bash) "$pg_shell" --rcfile "$pg_dir/bash/rc" ;;
    zsh) ZDOTDIR=$pg_dir/zsh "$pg_shell" -l ;;
    fish) "$pg_shell" -l -C "source $pg_dir/fish/integration.fish; command rm -rf $pg_dir" ;;
    esac
    exit
}
