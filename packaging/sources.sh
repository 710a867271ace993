# shellcheck shell=bash disable=SC2154,SC2034  # variables of the scripts that read this file
# The libraries of a program that is built for another system: Debian 12's source packages (sources.list), fetched, checked,
# patched and compiled, each once. windows/build.sh and linux/build.sh read this file with
#   root         the source tree
#   here         the folder of the script; its debian.list names what Debian compiled and the program is linked with
#   toolchain_file  of CMake; none for this system
#   cache, jobs  the folder of all that is made, compilers at a time
#   host, cc     of configure, the compiler of C
# and call start_libraries, which sets prefix and version.

# mirrors are tried one after another: packages of old releases move to the archive.
mirrors=(http://deb.debian.org http://archive.debian.org)

give_up() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 2
}

start_libraries() {
  prefix=$cache/prefix
  toolchain=(-G Ninja -D CMAKE_BUILD_TYPE=Release)
  [[ -z ${toolchain_file-} ]] || toolchain+=(-D CMAKE_TOOLCHAIN_FILE="$toolchain_file" -D HEADLIGHT_PREFIX="$prefix")
  mkdir -p "$cache"/{sources,unpacked,built,package}
  version=$(sed -n 's/^project(headlight VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
}

# have FILE SUM PATH : FILE is there, from a mirror, with this SHA-256.
have() {
  local mirror
  for mirror in "${mirrors[@]}"; do
    [[ -f $1 ]] || ! curl -fsSL --retry 3 -o "$1.part" "$mirror/$3" || mv "$1.part" "$1"
  done
  sha256sum --check --quiet - <<<"$2  $1" || give_up "$1: expected SHA-256 $2"
}

# fetch PACKAGE : its files of sources.list, checked, unpacked into unpacked/PACKAGE, with Debian's patches.
fetch() {
  local package version _ sum path file part folder=$cache/unpacked/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  while read -r package version _ sum path; do
    [[ $package == "$1" ]] || continue
    file=$cache/sources/${path##*/}
    have "$file" "$sum" "$path"
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
  done < <(grep -v '^#' "$root/packaging/sources.list")
  [[ $(ls -A "$folder") ]] || give_up "$1: expected a line of sources.list, found none"
}

# once PACKAGE FUNCTION FILES… : unless it is built of these already.
once() {
  local stamp=$cache/built/$1 function=$2 wanted status
  wanted=$(grep "^$1 " "$root/packaging/sources.list"; declare -f "$2"; cat "${@:3}" "${toolchain_file:-/dev/null}" | sha256sum)
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
  cmake --fresh -S "$root/packaging/libraries/$1" -B "$cache/unpacked/_$1" "${toolchain[@]}" -D CMAKE_INSTALL_PREFIX="$prefix" \
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
    ./configure --host="$host" --prefix="$prefix" --disable-shared --enable-static CC="$cc" "$@"
    make -j "$jobs" -C "$part"
    make -C "$part" install
    find . -maxdepth 2 -name '*.pc' ! -name '*uninstalled*' -exec install -m 644 -t "$prefix/lib/pkgconfig" {} +
  )
}

# Of zlib the static library alone: Debian's sources lack what its DLL needs, which must be there to be left out.
zlib() {
  local folder=$cache/unpacked/zlib
  fetch zlib
  mkdir -p "$folder/win32"
  : >"$folder/win32/zlib1.rc"
  cmake -S "$folder" -B "$folder/_build" "${toolchain[@]}" -D CMAKE_INSTALL_PREFIX="$prefix"
  cmake --build "$folder/_build" -j "$jobs" --target zlibstatic
  install -D -m 644 "$folder"/_build/libz*.a "$prefix/lib/libz.a"
  install -D -m 644 -t "$prefix/include" "$folder/zlib.h" "$folder/_build/zconf.h"
  install -D -m 644 "$folder/_build/zlib.pc" "$prefix/lib/pkgconfig/zlib.pc"
}
libpng() { with_cmake libpng1.6 -D PNG_SHARED=OFF -D PNG_TESTS=OFF; }
# Pictures are the same to the byte with or without SIMD, which needs an assembler.
libjpeg() { with_cmake libjpeg-turbo -D ENABLE_SHARED=OFF -D WITH_SIMD=OFF -D WITH_TURBOJPEG=OFF; }
libwebp() { with_cmake libwebp -D WEBP_BUILD_ANIM_UTILS=OFF -D WEBP_BUILD_CWEBP=OFF -D WEBP_BUILD_DWEBP=OFF \
  -D WEBP_BUILD_GIF2WEBP=OFF -D WEBP_BUILD_IMG2WEBP=OFF -D WEBP_BUILD_VWEBP=OFF -D WEBP_BUILD_WEBPINFO=OFF \
  -D WEBP_BUILD_WEBPMUX=OFF -D WEBP_BUILD_EXTRAS=OFF -D WEBP_BUILD_LIBWEBPMUX=OFF; }
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
  icu_data
  with_ours others -D ICU_DATA="$cache/unpacked/icu/icudt72l.dat"
}

epoxy() {
  fetch libepoxy
  with_ours epoxy
}

libraries() {
  once zlib zlib
  once eigen3 eigen
  once nlohmann-json3 nlohmann
  once cli11 cli11
  once libpng1.6 libpng
  once libjpeg-turbo libjpeg
  once libwebp libwebp
  once freetype freetype
  once libzip libzip
  once glfw3 glfw
  once icu others "$root/packaging/libraries/others/CMakeLists.txt"
  once libepoxy epoxy "$root/packaging/libraries/epoxy/CMakeLists.txt"
  once pixman pixman
  once cairo cairo "$root/packaging/libraries/cairo/CMakeLists.txt"
}

# of_debian : the lines of debian.list, with the version that is installed: package version licence.
of_debian() {
  local name licence
  while read -r name licence; do
    printf '%s %s %s\n' "$name" "$(dpkg-query -W -f '${Version}' "$name")" "$licence"
  done < <(grep -v '^#' "$here/debian.list")
}

# licences FOLDER : those of the libraries.
licences() {
  local name file
  while read -r name _; do
    cp -L "/usr/share/doc/$name/copyright" "$1/$name-copyright"
  done < <(grep -v '^#' "$here/debian.list")
  while read -r name; do
    for file in "$cache/unpacked/$name"/{LICENSE*,COPYING*,COPYRIGHT,docs/FTL.TXT,LICENSE.md,README}; do
      [[ ! -f $file ]] || cp "$file" "$1/$name-${file##*/}"
    done
  done < <(grep -v '^#\|^googletest ' "$root/packaging/sources.list" | cut -d' ' -f1 | sort -u)
}
