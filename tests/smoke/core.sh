#!/usr/bin/env bash
# Is the core of pages made of this source?  core.sh SOURCE_TREE BUILD_FOLDER [--take] : builds it and compares bytes; with
# --take it puts them into assets/page, with their checksums. Exit status 77, and a line, where Debian's emscripten is not
# installed.
set -euo pipefail
cd "$1"
build=$2 take=${3-}
command -v em++ >/dev/null || {
  echo 'core: emscripten is not installed: skipped'
  exit 77
}
cmake --preset web -B "$build" >/dev/null
NODE_PATH=/usr/share/nodejs cmake --build "$build" --target core still
readme=assets/page/README.md
for file in core.wasm still.wasm; do
  sum=$(sha256sum "$build/$file")
  line="| SHA-256 of \`$file\` | \`${sum%% *}\` |"
  if [[ $take == --take ]]; then
    install -m 644 "$build/$file" "assets/page/$file"
    sed -i "s/^| SHA-256 of \`$file\` .*/$line/" "$readme"
  fi
  if ! cmp "$build/$file" "assets/page/$file" || ! grep -qF "$line" "$readme"; then
    echo "core: assets/page/$file: expected the bytes that the preset web makes, and their sum in $readme (docs/page.md)" >&2
    exit 1
  fi
done
