#!/usr/bin/env bash
# Does the Model Context Protocol's own client take `headlight mcp`? client.sh HEADLIGHT : installs the client into a folder of
# its own. Without node, npm or their registry nothing is tested, which a line says.
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
skip() {
  printf 'skipped: %s\n' "$1"
  exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || skip 'node or npm is not installed'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 240 npm install --prefix . --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.20.0 >npm.log 2>&1 ||
  skip 'the client cannot be had from the registry of npm'
mkdir given
node "$here/client.mjs" "$program" given
