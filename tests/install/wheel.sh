#!/usr/bin/env bash
# A wheel of this build, installed into an environment of its own, answers in process: wheel.sh BUILD_FOLDER
# Without python3-venv or numpy it is skipped (77), where it may be.
set -euo pipefail
build=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/headlight wheel XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
  echo "wheel: $*" >&2
  exit 1
}
/usr/bin/python3 -c 'import ensurepip, numpy, pip, venv' 2>/dev/null || {
  echo 'skipped: python3-venv, python3-pip or python3-numpy is not installed'
  [[ -z ${HEADLIGHT_NO_SKIP-}${CI-} ]] || exit 1
  exit 77
}
cmake --install "$build" --prefix "$work/tree" >/dev/null
platform=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))')
wheel=$(/usr/bin/python3 "$root/packaging/wheel.py" "$work/tree" "$work/out" "$platform")
/usr/bin/python3 -m venv --system-site-packages "$work/own"  # numpy is the system's
"$work/own/bin/pip" install --quiet --no-index --no-deps "$wheel"
rm -rf "$work/tree"

cd /
unset HEADLIGHT HEADLIGHT_DATA HEADLIGHT_LIBRARY PYTHONPATH
cat >"$work/ask.py" <<'PY'
import os
import sys
from pathlib import Path

import headlight

own = str(Path(sys.prefix).resolve())
inside = headlight.open("shipped:decoder")
answer = inside("我请李雷", mask="causal", off=["1.3"])
mapped = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "headlight" in line and "/" in line}
for file in ("lib/headlight/libheadlight.so.1", "share/headlight/assets/models/decoder/model.safetensors"):
    assert f"{own}/{file}" in mapped, (file, mapped)
assert headlight.__file__.startswith(own)
for name in ("py.typed", "__init__.pyi", "widget.js"):
    assert (Path(headlight.__file__).parent / name).is_file(), name
os.environ["HEADLIGHT_LIBRARY"] = ""
process = headlight.open("shipped:decoder")("我请李雷", mask="causal", off=["1.3"])
assert answer.keys() == process.keys() and len(answer.keys()) > 6, answer.keys()
for name in answer.keys():
    assert answer[name].tobytes() == process[name].tobytes(), name
print("wheel:", len(answer.keys()), "arrays, the same bytes as by process")
PY
"$work/own/bin/python" "$work/ask.py" || fail 'headlight.open answers otherwise'
"$work/own/bin/headlight" --version >/dev/null
"$work/own/bin/pip" uninstall --quiet --yes headlight
left=$(cd "$work/own" && find . -path '*headlight*' -type f)
[[ -z $left ]] || fail "uninstalled: expected no file left, found $left"
