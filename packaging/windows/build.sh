#!/usr/bin/env bash
# headlight.exe on Debian 12, from nothing but Debian's packages and Debian's source packages (../sources.list).
#   packaging/windows/build.sh [--cache FOLDER] [--jobs N] [STEP…]
#   libraries   fetched, checked, patched and compiled; each once
#   program     headlight.exe
#   tests       tests_core.exe, tests_math.exe
#   zip         headlight-VERSION-Windows.zip
#   installer   headlight-VERSION-Windows-setup.exe (NSIS)
#   wheel       headlight-VERSION-py3-none-win_amd64.whl
# Without STEP: libraries, program, zip, installer, wheel. FOLDER, ~/.cache/headlight-windows without the option, holds sources,
# libraries and builds; packages are in FOLDER/package.
# Needed (Debian 12): g++-mingw-w64-x86-64-posix cmake ninja-build make pkg-config icu-devtools python3 curl patch xz-utils nsis zip
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headlight-windows
jobs=$(nproc)
host=x86_64-w64-mingw32
cc=$host-gcc-posix
toolchain_file=$here/toolchain.cmake
# shellcheck source=packaging/sources.sh
. "$root/packaging/sources.sh"

while (($#)); do
  case $1 in
    --cache) cache=$(mkdir -p "$2" && cd "$2" && pwd -P); shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    -*) give_up "$1: expected --cache FOLDER or --jobs N" ;;
    *) break ;;
  esac
done
steps=("$@")
((${#steps[@]})) || steps=(libraries program zip installer wheel)
build=$cache/program
start_libraries

program() {
  cmake -S "$root" -B "$build" "${toolchain[@]}" -D CMAKE_UNITY_BUILD=ON -D HEADLIGHT_TESTS="${tests:-OFF}" >"$build.log" 2>&1 ||
    { tail -n 30 "$build.log" >&2; give_up "cmake failed (all of it: $build.log)"; }
  cmake --build "$build" -j "$jobs" --target "$@" >>"$build.log" 2>&1 ||
    { grep -E 'error|FAILED' "$build.log" | head -n 30 >&2; give_up "not built (all of it: $build.log)"; }
}

# tree : what is packed, in package/Headlight.
tree() {
  local tree=$cache/package/Headlight name file
  rm -rf "$tree"
  mkdir -p "$tree"/{share/headlight/assets,licenses}
  cp "$build/headlight.exe" "$build/headlight.com" "$tree"
  $host-strip "$tree"/headlight.{exe,com}
  (cd "$root" && find assets shaders -type f ! -path 'assets/desktop/*' ! -path 'assets/readme/*' -print0 | sort -z |
    xargs -0 cp --parents -t "$tree/share/headlight")
  cp "$root/LICENSE" "$tree/LICENSE.txt"
  cp "$here/README.txt" "$tree/README.txt"
  licences "$tree/licenses"
  # shellcheck disable=SC2046  # three words a package
  "$root/packaging/spdx.py" "$version" "$root/packaging/sources.list" $(of_debian) >"$tree/headlight.spdx.json"
  cp "$tree/headlight.spdx.json" "$cache/package/headlight-$version-Windows.spdx.json"
}

# Files in the order of their names, with one time: the same build makes the same archive.
zip_of_tree() {
  local file=$cache/package/headlight-$version-Windows.zip
  rm -f "$file"
  find "$cache/package/Headlight" -exec touch -h -d '1980-01-02 00:00 UTC' {} +
  (cd "$cache/package" && find Headlight -type f | LC_ALL=C sort | TZ=UTC zip -q -9 -X -@ "$file")
}

installer() {
  makensis -V2 -D"VERSION=$version" -D"TREE=$cache/package/Headlight" \
    -D"OUT=$cache/package/headlight-$version-Windows-setup.exe" "$here/installer.nsi"
}

for step in "${steps[@]}"; do
  case $step in
    libraries) libraries ;;
    program) program headlight headlight_window ;;
    tests) once googletest gtest && tests=ON program headlight headlight_window tests_core tests_math ;;
    zip) tree && zip_of_tree ;;
    installer) installer ;;
    wheel) "$root/packaging/wheel.py" "$cache/package/Headlight" "$cache/package" win_amd64 ;;
    *) give_up "$step: expected libraries, program, tests, zip, installer or wheel" ;;
  esac
done
