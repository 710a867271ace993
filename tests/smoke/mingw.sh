#!/usr/bin/env bash
# Does core compile for Windows?  mingw.sh SOURCE_TREE [ROOM…] : each room of core (base) one file, and what
# it asks of Windows file by file, with mingw-w64 and those of Debian's headers that are the same for every system. Nothing is
# linked: packaging/windows/build.sh does that. base holds all that core asks of a system; the other rooms take minutes.
set -euo pipefail
cd "$1"
rooms=("${@:2}")
((${#rooms[@]})) || rooms=(base)
compiler=$(command -v x86_64-w64-mingw32-g++-posix) ||
  { echo 'mingw: skipped: x86_64-w64-mingw32-g++-posix is not installed (Debian: g++-mingw-w64-x86-64-posix)'; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/headlight-mingw-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/headers"
ln -s /usr/include/{nlohmann,unicode,zip.h,zipconf.h,zlib.h,zconf.h} "$work/headers"
flags=(-std=c++20 -fsyntax-only -D_WIN32_WINNT=0x0A00 -mavx512f -mavx512dq -mavx2 -mfma -Wall -Wextra -Werror -Wno-format
  -Wno-format-extra-args -Wno-restrict -I core -isystem "$work/headers" -isystem /usr/include/eigen3)

for room in "${rooms[@]}"; do
  [[ -d core/$room ]] || { echo "mingw: core/$room: expected a room, found none" >&2; exit 1; }
  while IFS= read -r file; do
    unit=${room//\//_}  # headers of Windows define common words as macros, and kernels define the same names
    case $file in */windows/* | */kernels_*) unit+=_$(basename "$file" .cpp) ;; esac
    printf '#include "%s"\n' "$PWD/$file" >>"$work/$unit.cpp"
  done < <(find "core/$room" -maxdepth 1 -name '*.cpp'; find "core/$room/windows" -name '*.cpp' 2>/dev/null || true)
done
printf '%s\0' "$work"/*.cpp | xargs -0 -n 1 -P "$(nproc)" "$compiler" "${flags[@]}"
