# shellcheck shell=sh disable=SC2154
# Puts the integration's files into the user's home on this host (paneglass install), in place of any version that is
# there, or takes them away (--remove). Before it the command has set $pg_version (empty: take away) and defined
# pg_bash DIR, pg_zsh DIR and pg_fish DIR, which write that shell's files.
set --
umask 077
pg_base=$HOME/.local/share/paneglass
pg_fail() {
    printf 'paneglass: %s\n' "$1" >&2
    rm -rf "$pg_base/.new"
    exit 1
}
if [ -n "$pg_version" ]; then
    rm -rf "$pg_base/.new"
    mkdir -p "$pg_base/.new" || pg_fail "cannot write to $pg_base"
    for pg_shell in bash zsh fish; do
        "pg_$pg_shell" "$pg_base/.new" || pg_fail "cannot write to $pg_base"
    done
fi
for pg_old in "$pg_base"/v[0-9]*; do
    [ ! -e "$pg_old" ] || rm -rf "$pg_old" || pg_fail "cannot remove $pg_old"
done
pg_who=$(id -un)@$(uname -n)
if [ -n "$pg_version" ]; then
    mv "$pg_base/.new" "$pg_base/v$pg_version" || pg_fail "cannot write to $pg_base"
    printf 'paneglass: the shell integration of %s is in %s\n' "$pg_who" "$pg_base/v$pg_version"
else
    rmdir "$pg_base" 2>/dev/null
    printf 'paneglass: the shell integration of %s is gone\n' "$pg_who"
fi
exit 0
