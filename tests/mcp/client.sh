#!/usr/bin/env bash
# Does the Model Context Protocol's own client take `headlight mcp`? client.sh HEADLIGHT
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/npm.sh
. "$here/../npm.sh"
npm_folder 'the client' @modelcontextprotocol/sdk@1.20.0
mkdir given
node "$here/client.mjs" "$program" given
