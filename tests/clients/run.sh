#!/bin/sh
# Official MCP clients against a real binary: both eras, over stdio and over HTTP; and the official conformance suite.
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
    for child in ${proxy-} ${server-}; do
        kill "$child" 2>/dev/null || :
        wait "$child" 2>/dev/null || :
    done
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
# The conformance suite needs a newer node than this one may be.
npm install --prefix "$scratch/suite" --silent --no-audit --no-fund --no-save \
    @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22

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

# The same over HTTP, all at one server.
"$binary" serve --tcp 0 2>"$scratch/serve" &
server=$!
until grep -q http "$scratch/serve"; do
    kill -0 "$server" || { cat "$scratch/serve" >&2; exit 1; }
done
port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/mcp$|\1|p' "$scratch/serve")
url=http://127.0.0.1:$port/mcp
PANEGLASS_TOKEN=$("$binary" token)
export PANEGLASS_TOKEN
for mode in legacy auto 2026-07-28; do
    "$scratch/venv/bin/python" "$here/job.py" "$url" "$mode"
done
for mode in v1 legacy auto 2026-07-28; do
    node "$scratch/node/job.mjs" "$url" "$mode"
done
for era in legacy modern; do
    "$scratch/node/node_modules/.bin/mcp-inspector" --cli --strict --quiet --protocol-era "$era" \
        --method tools/list --header "Authorization: Bearer $PANEGLASS_TOKEN" --output "$scratch/http-$era.json" "$url"
    cmp "$scratch/http-$era.json" "$scratch/tools-$era.json"
    echo "PASS inspector http $era"
done

# The suite cannot send a token.
node "$here/token.mjs" "$port" "$PANEGLASS_TOKEN" >"$scratch/proxy" &
proxy=$!
until [ -s "$scratch/proxy" ]; do kill -0 "$proxy"; done
for revision in 2025-11-25 2026-07-28; do
    "$scratch/suite/node_modules/.bin/node" "$scratch/suite/node_modules/.bin/conformance" server \
        --url "http://localhost:$(cat "$scratch/proxy")/mcp" --requirements "$revision" \
        --expected-failures "$here/conformance-$revision.yaml" >"$scratch/conformance" 2>&1 ||
        { cat "$scratch/conformance"; echo "FAIL conformance $revision" >&2; exit 1; }
    echo "PASS conformance $revision: $(grep '^Total' "$scratch/conformance")"
done
echo "PASS clients: all"
