#!/usr/bin/env bash
# Is the core of pages made of this source?  core.sh SOURCE_TREE BUILD_FOLDER : builds it and compares bytes; exit status
# 77, and a line, where Debian's emscripten is not installed.
set -euo pipefail
source=$1 build=$2
command -v em++ >/dev/null || {
  echo 'core: emscripten is not installed: skipped'
  exit 77
}
cd "$source"
cmake --preset web -B "$build" >/dev/null
NODE_PATH=/usr/share/nodejs cmake --build "$build"
for file in core.wasm still.wasm; do
  cmp "$build/$file" "assets/page/$file" || {
    echo "core: assets/page/$file: expected the bytes that the preset web makes (docs/page.md)" >&2
    exit 1
  }
  sum=$(sha256sum "assets/page/$file")
  grep -q "${sum%% *}" assets/page/README.md || {
    echo "core: assets/page/README.md: expected ${sum%% *} of $file" >&2
    exit 1
  }
done
