#!/usr/bin/env bash
# An installed libheadlight answers as the program does: run.sh BUILD_FOLDER PROGRAM MODEL_FOLDER
# The library is installed into an empty prefix; tests/install/rows.cpp is built there by CMake, with the shared library and
# with the archive, and by pkg-config; the rows that it prints equal those of `headlight export`. What heads_off.cpp prints is
# `headlight heads --effect`, what write.cpp writes is an export.
set -euo pipefail
build=$1 program=$2 model=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/headlight library XXXXXX")
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

# The document shows these programs.
for shown in ask.c rows.cpp heads_off.cpp write.cpp; do
  awk -v mark="<!-- file: $shown -->" '$0 == mark { now = 1; next } now && /^```/ { if (++fence == 2) exit; next } now' \
    "$here/../../docs/library.md" | cmp - "$here/$shown"
done
cmake --install "$build" --component library --prefix "$prefix" >/dev/null
cmake -S "$here" -B "$work/cmake" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_BUILD_TYPE=Debug >"$work/log" 2>&1 &&
  cmake --build "$work/cmake" -j 2 >>"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
lib=$(dirname "$(find "$prefix" -name libheadlight.so)")
(
  cd "$work"
  PKG_CONFIG_PATH=${lib#"$work/"}/pkgconfig pkg-config --cflags --libs headlight >flags
  read -ra flags <flags
  c++ -o rows_pc "$here/rows.cpp" "${flags[@]}"
  PKG_CONFIG_PATH=${lib#"$work/"}/pkgconfig pkg-config --cflags --libs headlight-c >flags
  read -ra flags <flags
  cc -std=c99 -Wall -Wextra -Wpedantic -Werror -o ask "$here/ask.c" "${flags[@]}"
)

# What libheadlight.so shows, and how large what callers allocate is, are those of the last release: lines of abi.txt are
# added, never taken away.
nm -D --defined-only "$lib/libheadlight.so" | awk '$2 == "T" { print $3 } $2 !~ /[TA]/ { print "expected functions alone, found " $3 }' |
  LC_ALL=C sort | diff "$here/abi.txt" - || { echo 'libheadlight.so: expected the symbols of abi.txt, found others' >&2; exit 1; }
readelf -d "$lib/libheadlight.so" | grep -q 'SONAME.*\[libheadlight\.so\.1\]'
printf '#include <headlight.h>\ntypedef char e[sizeof(headlight_error) == 4032 ? 1 : -1], v[sizeof(headlight_view) == 80 ? 1 : -1];\n' |
  cc -std=c99 -fsyntax-only -I "$prefix/include" -x c -

text='我请李雷帮我订了去北京的机票'
"$program" export "$model" --text "$text" --mask causal --only 0.1 --format json >"$work/export.json"
for rows in cmake/rows cmake/rows_static rows_pc; do
  LD_LIBRARY_PATH=$lib "$work/$rows" "$model" "$text" >"$work/rows"
  python3 - "$work/export.json" "$work/rows" "$rows" <<'PY'
import json
import struct
import sys

def single(x):
    return struct.pack("<f", float(x))

attention = json.load(open(sys.argv[1]))["attention"][0]["attn"][0][0]
expected = [[single(x) for x in row] for row in attention]
found = [[single(x) for x in line.split()] for line in open(sys.argv[2])]
if len(found) < 8 or found != expected:
    sys.exit(f"{sys.argv[3]}: expected the rows of headlight export, found others")
PY
done
"$program" heads "$model" --text "$text" --mask causal --effect --format json >"$work/heads.json"
LD_LIBRARY_PATH=$lib "$work/cmake/heads_off" "$model" "$text" >"$work/off"
python3 - "$work/heads.json" "$work/off" <<'PY'
import json
import sys

expected = {f"{one['layer']}.{one['head']}": one["effect"] for one in json.load(open(sys.argv[1]))["heads"]}
found = dict(line.split() for line in open(sys.argv[2]))
if expected.keys() != found.keys() or any(abs(expected[head] - float(found[head])) > 1e-6 for head in expected):
    sys.exit(f"heads_off: expected the effects of headlight heads {expected}, found {found}")
PY
"$program" export "$model" --text "$text" --mask causal --with qkv,scores -o "$work/expected.npz"
LD_LIBRARY_PATH=$lib "$work/cmake/write" "$model" "$text" "$work/written.npz"
cmp "$work/expected.npz" "$work/written.npz"
LD_LIBRARY_PATH=$lib "$work/ask" "$model" "$text" >"$work/asked"
cmp "$work/asked" "$work/rows"
if LD_LIBRARY_PATH=$lib "$work/ask" "$work" x 2>"$work/error"; then exit 1; fi
grep -q '^not_a_model: ' "$work/error"
if LD_LIBRARY_PATH=$lib "$work/cmake/rows" "$work" x 2>"$work/error"; then exit 1; fi
grep -q 'config.json' "$work/error"
