#!/usr/bin/env bash
# headlight.exe on Debian 12, from nothing but Debian's packages and Debian's source packages (sources.list).
#   packaging/windows/build.sh [--cache FOLDER] [--jobs N] [STEP…]
#   libraries   fetched, checked, patched and compiled; each once
#   program     headlight.exe
#   tests       tests_core.exe, tests_math.exe
#   zip         headlight-VERSION-Windows.zip
#   installer   headlight-VERSION-Windows-setup.exe (NSIS)
# Without STEP: libraries, program, zip, installer. FOLDER, ~/.cache/headlight-windows without the option, holds sources,
# libraries and builds; packages are in FOLDER/package.
# Needed (Debian 12): g++-mingw-w64-x86-64-posix cmake ninja-build make pkg-config icu-devtools python3 curl patch xz-utils nsis zip
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headlight-windows
jobs=$(nproc)
mirror=http://deb.debian.org
host=x86_64-w64-mingw32

give_up() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 2
}

while (($#)); do
  case $1 in
    --cache) cache=$(mkdir -p "$2" && cd "$2" && pwd -P); shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    -*) give_up "$1: expected --cache FOLDER or --jobs N" ;;
    *) break ;;
  esac
done
steps=("$@")
((${#steps[@]})) || steps=(libraries program zip installer)
prefix=$cache/prefix
build=$cache/program
toolchain=(-G Ninja -D CMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -D HEADLIGHT_PREFIX="$prefix"
  -D CMAKE_BUILD_TYPE=Release)
mkdir -p "$cache"/{sources,unpacked,built,package}

# fetch PACKAGE : its files of sources.list, checked, unpacked into unpacked/PACKAGE, with Debian's patches.
fetch() {
  local package version _ sum path file part folder=$cache/unpacked/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  while read -r package version _ sum path; do
    [[ $package == "$1" ]] || continue
    file=$cache/sources/${path##*/}
    [[ -f $file ]] || curl -fsSL --retry 3 -o "$file.part" "$mirror/$path"
    [[ -f $file ]] || mv "$file.part" "$file"
    sha256sum --check --quiet - <<<"$sum  $file" || give_up "$file: expected SHA-256 $sum"
    if [[ $file == *.debian.tar.* ]]; then
      tar xf "$file" -C "$folder"
      [[ -f $folder/debian/patches/series ]] || continue
      while read -r file _; do
        [[ -z $file || $file == \#* ]] || patch --quiet -p1 -d "$folder" <"$folder/debian/patches/$file"
      done <"$folder/debian/patches/series"
    else
      part=''  # of *.orig-NAME.tar.*, a folder of that name
      [[ $file != *.orig-*.tar.* ]] || part=${file##*.orig-} part=${part%%.tar.*}
      mkdir -p "$folder/$part"
      tar xf "$file" -C "$folder/$part" --strip-components=1
    fi
  done < <(grep -v '^#' "$here/sources.list")
  [[ $(ls -A "$folder") ]] || give_up "$1: expected a line of sources.list, found none"
}

# once PACKAGE FUNCTION FILES… : unless it is built of these already.
once() {
  local stamp=$cache/built/$1 function=$2 wanted status
  wanted=$(grep "^$1 " "$here/sources.list"; declare -f "$2"; cat "${@:3}" "$here/toolchain.cmake" | sha256sum)
  [[ -f $stamp && $(<"$stamp") == "$wanted" ]] && return
  printf 'build.sh: %s\n' "${stamp##*/}" >&2
  set +e  # a function that stands in a condition would go on after an error
  (set -e; "$function") >"$stamp.log" 2>&1
  status=$?
  set -e
  ((status == 0)) || { tail -n 30 "$stamp.log" >&2; give_up "${stamp##*/}: not built (all of it: $stamp.log)"; }
  printf '%s\n' "$wanted" >"$stamp"
}

# with_cmake PACKAGE OPTIONS… : built beside its sources and installed.
with_cmake() {
  local folder=$cache/unpacked/$1
  fetch "$1"
  shift
  cmake -S "$folder" -B "$folder/_build" "${toolchain[@]}" -D CMAKE_INSTALL_PREFIX="$prefix" -D BUILD_SHARED_LIBS=OFF "$@"
  cmake --build "$folder/_build" -j "$jobs"
  cmake --install "$folder/_build"
}

# with_ours NAME OPTIONS… : by the CMakeLists.txt that stands in libraries/NAME.
with_ours() {
  cmake -S "$here/libraries/$1" -B "$cache/unpacked/_$1" "${toolchain[@]}" -D CMAKE_INSTALL_PREFIX="$prefix" \
    -D SOURCES="$cache/unpacked" "${@:2}"
  cmake --build "$cache/unpacked/_$1" -j "$jobs"
  cmake --install "$cache/unpacked/_$1"
}

# with_configure PACKAGE FOLDER OPTIONS… : the part FOLDER of it alone.
with_configure() {
  local folder=$cache/unpacked/$1 part=$2
  fetch "$1"
  shift 2
  (
    cd "$folder"
    export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig PKG_CONFIG_PATH='' PKG_CONFIG='pkg-config --static'
    ./configure --host=$host --prefix="$prefix" --disable-shared --enable-static CC=$host-gcc-posix "$@"
    make -j "$jobs" -C "$part"
    make -C "$part" install
    find . -maxdepth 2 -name '*.pc' ! -name '*uninstalled*' -exec install -m 644 -t "$prefix/lib/pkgconfig" {} +
  )
}

# Of zlib the static library alone: Debian's sources lack what its DLL needs.
zlib() {
  local folder=$cache/unpacked/zlib
  fetch zlib
  cmake -S "$folder" -B "$folder/_build" "${toolchain[@]}" -D CMAKE_INSTALL_PREFIX="$prefix"
  cmake --build "$folder/_build" -j "$jobs" --target zlibstatic
  install -D -m 644 "$folder/_build/libzlibstatic.a" "$prefix/lib/libz.a"
  install -D -m 644 -t "$prefix/include" "$folder/zlib.h" "$folder/_build/zconf.h"
  install -D -m 644 "$folder/_build/zlib.pc" "$prefix/lib/pkgconfig/zlib.pc"
}
libpng() { with_cmake libpng1.6 -D PNG_SHARED=OFF -D PNG_TESTS=OFF; }
freetype() { with_cmake freetype -D FT_DISABLE_HARFBUZZ=ON -D FT_DISABLE_BROTLI=ON -D FT_DISABLE_BZIP2=ON \
  -D FT_REQUIRE_ZLIB=ON -D FT_REQUIRE_PNG=ON; }
libzip() { with_cmake libzip -D BUILD_TOOLS=OFF -D BUILD_REGRESS=OFF -D BUILD_EXAMPLES=OFF -D BUILD_DOC=OFF \
  -D ENABLE_BZIP2=OFF -D ENABLE_LZMA=OFF -D ENABLE_ZSTD=OFF -D ENABLE_OPENSSL=OFF -D ENABLE_GNUTLS=OFF \
  -D ENABLE_MBEDTLS=OFF -D ENABLE_COMMONCRYPTO=OFF -D ENABLE_WINDOWS_CRYPTO=OFF; }
glfw() { with_cmake glfw3 -D GLFW_BUILD_EXAMPLES=OFF -D GLFW_BUILD_TESTS=OFF -D GLFW_BUILD_DOCS=OFF; }
eigen() { with_cmake eigen3 -D BUILD_TESTING=OFF -D EIGEN_BUILD_DOC=OFF -D EIGEN_BUILD_PKGCONFIG=OFF; }
nlohmann() { with_cmake nlohmann-json3 -D JSON_BuildTests=OFF; }
cli11() { with_cmake cli11 -D CLI11_BUILD_TESTS=OFF -D CLI11_BUILD_EXAMPLES=OFF -D CLI11_BUILD_DOCS=OFF; }
gtest() { with_cmake googletest; }
pixman() { with_configure pixman pixman --disable-gtk --disable-libpng --disable-openmp CFLAGS='-O2'; }
# Microsoft's snprintf rounds the numbers of SVG and PDF otherwise than Linux where two digits are as near.
cairo() {
  fetch cairo
  sed -i '/#define v*snprintf _/d' "$cache/unpacked/cairo/src/cairo-compiler-private.h"
  with_ours cairo
}

# ICU's data, cut to what core/text asks for: breaks between characters and words, normal forms, properties.
icu_data() {
  local whole=$cache/unpacked/icu/source/data/in/icudt72l.dat
  (
    cd "$cache/unpacked/icu"
    icupkg -tl -l "$whole" | grep -E '^brkitr/|^nfkc.*\.nrm$|^(uemoji|ulayout|unames)\.icu$' >kept.txt
    mkdir -p parts
    icupkg -tl -d parts -x kept.txt "$whole"
    icupkg -tl -s parts -a kept.txt new icudt72l.dat
  )
}
others() {
  fetch icu
  fetch imgui
  fetch libepoxy
  icu_data
  with_ours others -D ICU_DATA="$cache/unpacked/icu/icudt72l.dat"
}

libraries() {
  once zlib zlib
  once eigen3 eigen
  once nlohmann-json3 nlohmann
  once cli11 cli11
  once libpng1.6 libpng
  once freetype freetype
  once libzip libzip
  once glfw3 glfw
  once icu others "$here/libraries/others/CMakeLists.txt"
  once pixman pixman
  once cairo cairo "$here/libraries/cairo/CMakeLists.txt"
  once googletest gtest
}

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
  while read -r name; do
    for file in "$cache/unpacked/$name"/{LICENSE*,COPYING*,COPYRIGHT,docs/FTL.TXT,LICENSE.md,README}; do
      [[ -f $file ]] && cp "$file" "$tree/licenses/$name-${file##*/}"
    done
  done < <(grep -v '^#\|^googletest ' "$here/sources.list" | cut -d' ' -f1 | sort -u)
  cp /usr/share/doc/g++-mingw-w64-x86-64-posix/copyright "$tree/licenses/gcc-mingw-w64-copyright"
  cp /usr/share/doc/mingw-w64-x86-64-dev/copyright "$tree/licenses/mingw-w64-copyright"
  "$root/packaging/spdx.py" "$version" "$here/sources.list" >"$tree/headlight.spdx.json"
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

version=$(sed -n 's/^project(headlight VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
for step in "${steps[@]}"; do
  case $step in
    libraries) libraries ;;
    program) program headlight headlight_window ;;
    tests) tests=ON program headlight headlight_window tests_core tests_math ;;
    zip) tree && zip_of_tree ;;
    installer) installer ;;
    *) give_up "$step: expected libraries, program, tests, zip or installer" ;;
  esac
done
