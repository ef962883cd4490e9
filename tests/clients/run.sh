#!/bin/sh
# Official MCP clients against a real binary: both eras, over stdio.
#
# usage: tests/clients/run.sh BINARY
#
# Needs python3 with venv, node 20 or newer with npm, cc, make, tmux and bash, and the two package registries.
# Installs into a temporary directory, which goes at the end together with the tmux server in it.
set -eu

[ $# -eq 1 ] || { echo "usage: $0 BINARY" >&2; exit 2; }
binary=$(realpath -- "$1")
here=$(dirname -- "$(realpath -- "$0")")

for program in python3 node npm cc make tmux bash; do
    command -v "$program" >/dev/null || { echo "FAIL clients: $program is not installed" >&2; exit 1; }
done

# Short: a socket's path has at most 107 bytes.
scratch=$(mktemp -d /tmp/pgc.XXXXXX)
clean_up() {
    if [ -n "$(find "$scratch/tmux" -type s 2>/dev/null)" ]; then
        TMUX_TMPDIR=$scratch/tmux tmux -L paneglass kill-server 2>/dev/null || :
    fi
    rm -rf -- "$scratch"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check 'mcp==2.3.0'
mkdir "$scratch/node"
cp -- "$here/job.mjs" "$scratch/node/"
npm install --prefix "$scratch/node" --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/inspector@2.12.0

# From here on nothing of the user's own takes part.
mkdir -m 700 "$scratch/home" "$scratch/run" "$scratch/tmux"
export HOME="$scratch/home" XDG_RUNTIME_DIR="$scratch/run" TMUX_TMPDIR="$scratch/tmux"
export PANEGLASS_HOME="$scratch/state" PANEGLASS_SOCKET=paneglass
export LC_ALL=C.UTF-8 SHELL=/bin/bash NO_COLOR=1
unset TMUX TMUX_PANE

for mode in legacy auto 2026-07-28; do
    "$scratch/venv/bin/python" "$here/job.py" "$binary" "$mode"
done
for mode in v1 legacy auto 2026-07-28; do
    node "$scratch/node/job.mjs" "$binary" "$mode"
done
for era in legacy modern; do
    "$scratch/node/node_modules/.bin/mcp-inspector" --cli --strict --quiet --protocol-era "$era" \
        --method tools/list --output "$scratch/tools-$era.json" "$binary"
    echo "PASS inspector $era: tools/list is portable"
done
# The annotations, names and schemas that the two eras show must not differ.
python3 - "$scratch/tools-legacy.json" "$scratch/tools-modern.json" <<'PYTHON'
import json, sys
legacy, modern = (json.load(open(path))["tools"] for path in sys.argv[1:])
assert legacy and legacy == modern, "the eras list different tools"
PYTHON
echo "PASS clients: all"
