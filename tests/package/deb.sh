#!/bin/bash
# Makes a Debian package of the tree and a binary, installs it, runs what it installs, and removes it again.
#
# usage: deb.sh BINARY [--system]
# Installs into a folder that is removed; with --system, which needs root, into this machine.
set -euo pipefail

binary=$(realpath "$1")
system=${2-}
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
cleanup() {
    if [ "$system" ]; then
        dpkg --purge paneglass >/dev/null 2>&1 || true
    fi
    rm -rf -- "$scratch"
}
trap cleanup EXIT

fail() {
    printf 'FAIL %s\n' "$1" >&2
    exit 1
}

tree=$scratch/tree
install -D -m 755 "$binary" "$tree/usr/bin/paneglass"
# Debian has the symbols in packages of their own.
strip "$tree/usr/bin/paneglass" 2>/dev/null || true
for page in man/*.[157]; do
    section=${page##*.}
    mkdir -p "$tree/usr/share/man/man$section"
    gzip -9n <"$page" >"$tree/usr/share/man/man$section/${page##*/}.gz"
done
install -D -m 644 shell/completions/paneglass.bash "$tree/usr/share/bash-completion/completions/paneglass"
install -D -m 644 shell/completions/_paneglass "$tree/usr/share/zsh/vendor-completions/_paneglass"
install -D -m 644 shell/completions/paneglass.fish "$tree/usr/share/fish/vendor_completions.d/paneglass.fish"
install -D -m 644 README.md "$tree/usr/share/doc/paneglass/README.md"
install -D -m 644 LICENSE "$tree/usr/share/doc/paneglass/copyright"
find "$tree" -type d -exec chmod 755 {} +

# What of the C library it was linked with, for the dependency.
depends='tmux (>= 3.2~)'
needed=$(LC_ALL=C readelf -d "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
    case $library in
    libc.so.6)
        newest=$(LC_ALL=C readelf -V "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
        depends="libc6 (>= ${newest#GLIBC_}), $depends"
        ;;
    libgcc_s.so.1) depends="libgcc-s1, $depends" ;;
    ld-linux*) ;;
    *) fail "no package is known for $library" ;;
    esac
done

mkdir "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: paneglass
Version: $("$binary" version | cut -d' ' -f2)
Architecture: $(dpkg --print-architecture)
Maintainer: nobody <nobody@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Depends: $depends
Recommends: bash
Section: utils
Priority: optional
Description: real, lasting terminals for AI agents, over MCP
 Each terminal is a tmux pane that lasts between calls and that a person can
 watch and type into at the same moment. What a pane prints is kept, cut into
 one region per command with its exact exit status, and searched.
CONTROL
package=$scratch/paneglass.deb
dpkg-deb --root-owner-group --build "$tree" "$package" >/dev/null
files=$(dpkg-deb --contents "$package" | awk '{ print $2, $6 }')

# Everything belongs to root, and only the program may be run.
while read -r owner path; do
    [ "$owner" = root/root ] || fail "$path belongs to $owner"
done <<<"$files"
[ "$(find "$tree/usr" -type f -perm /111 -printf '%P\n')" = bin/paneglass ] || fail "more than the program may be run"

if [ "$system" ]; then
    root=
    dpkg=(dpkg)
    "${dpkg[@]}" --install "$package" >/dev/null
else
    root=$scratch/root
    mkdir -p "$root/var/lib/dpkg/"{info,updates}
    touch "$root/var/lib/dpkg/"{status,available}
    # tmux and the C library are this machine's own.
    dpkg=(dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless --log="$scratch/log")
    "${dpkg[@]}" --install "$package" >/dev/null 2>&1
fi
"${dpkg[@]}" --status paneglass | grep -qx 'Status: install ok installed' || fail "it is not installed"

# As a user who has only what the package brought.
home=$scratch/home
mkdir "$home"
run=(env -i PATH="$root/usr/bin:/usr/bin:/bin" HOME="$home" TMPDIR="$scratch")
"${run[@]}" paneglass version
"${run[@]}" paneglass demo >"$scratch/demo" || { cat "$scratch/demo"; fail "the demo"; }
grep -q 'exit 0 (pipe 1 0)' "$scratch/demo" || fail "the demo shows no pipeline"
[ -z "$(ls -A "$home")" ] || fail "the demo left something: $(ls -A "$home")"
for page in man/*.[157]; do
    installed=$root/usr/share/man/man${page##*.}/${page##*/}.gz
    gzip -dc "$installed" | cmp -s - "$page" || fail "$installed is not $page"
done

"${dpkg[@]}" --purge paneglass >/dev/null 2>&1
for path in $(dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { print $6 }'); do
    [ ! -e "$root/${path#./}" ] || fail "$path is still there"
done
if [ ! "$system" ]; then
    left=$(find "$root" -mindepth 1 -not -path "$root/var*")
    [ -z "$left" ] || fail "left behind: $left"
fi
printf 'installed, run and removed: %s\n' "$(grep -c . <<<"$files") paths, depends on $depends"
