#!/bin/bash
# Runs the behaviours of bash and fish with versions that this Debian does not have: takes those of other releases from
# its own package archive, unpacks them into a temporary folder, and puts each first on the PATH of the tests. Nothing is
# installed. Needs apt, patchelf and the programs of the tests. Run by hand; arguments: the shells, else all.
#
#   tests/shell/versions.sh [bash-5.1 bash-5.3 fish-4.0 fish-new]
set -euo pipefail
cd "$(dirname "$0")/../.."

# NAME RELEASE PACKAGE...
known="
bash-5.1 bullseye bash libc6 libtinfo6
bash-5.3 forky bash libc6 libtinfo6
fish-4.0 trixie fish fish-common libc6 libgcc-s1 libpcre2-32-0 libpcre2-8-0
fish-new forky fish fish-common libc6 libgcc-s1 libpcre2-32-0 libpcre2-8-0
"
wanted=" ${*:-bash-5.1 bash-5.3 fish-4.0 fish-new} "

scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
chmod 755 "$scratch"
mkdir -p "$scratch/state/lists/partial" "$scratch/cache/archives/partial"
archive=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' --include='*.list' --include='*.sources' /etc/apt | sed -n 1p)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
while read -r name release _; do
    if [[ -n $name && $wanted == *" $name "* ]]; then
        printf 'deb [signed-by=%s] %s %s main\n' "$keys" "${archive% }" "$release"
    fi
done <<<"$known" | sort -u >"$scratch/sources"
cat >"$scratch/apt.conf" <<END
Dir::State "$scratch/state";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "$scratch/cache";
Dir::Etc::sourcelist "$scratch/sources";
Dir::Etc::sourceparts "-";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
APT::Sandbox::User "root";
END
export APT_CONFIG="$scratch/apt.conf"
apt-get update -qq

failed=0
while read -r name release packages; do
    [[ -n $name && $wanted == *" $name "* ]] || continue
    shell=${name%-*}
    root=$scratch/$name
    mkdir -p "$root/debs" "$root/path"
    for package in $packages; do
        (cd "$root/debs" && apt-get download -qq "$package/$release")
    done
    for deb in "$root"/debs/*.deb; do
        dpkg -x "$deb" "$root"
    done
    # With its own C library, wherever that is.
    program=$(find "$root" -path "*/bin/$shell" -type f)
    loader=$(find "$root" -path "*/lib/*/ld-linux-x86-64.so.2" | sed -n 1p)
    libraries=$(find "$root" -name '*.so.*' -printf '%h\n' | sort -u | paste -sd:)
    patchelf --set-interpreter "$loader" --set-rpath "$libraries" "$program"
    # fish looks for its functions beside itself when its folder of settings is there, too.
    [[ $shell != fish ]] || { mkdir -p "$root/usr/etc" && ln -sfn "$root/etc/fish" "$root/usr/etc/fish"; }
    ln -s "$program" "$root/path/$shell"
    printf '\n=== %s: %s\n' "$name" "$("$root/path/$shell" --version | head -n 1)"
    APT_CONFIG='' PATH="$root/path:$PATH" cargo test --locked --test main "shell::${shell:0:1}" || failed=1
done <<<"$known"
exit "$failed"
