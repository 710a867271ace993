#!/usr/bin/env bash
# The program for any x86-64 Linux with glibc 2.31 or later, on Debian 12: an archive and a wheel. What ./run compiled is
# linked with the glibc of Debian 11 and static libraries: Debian 12's, and what it has as shared ones alone built from its
# source packages. Libraries of OpenGL and X11 are opened when the program runs.
#   packaging/linux/build.sh [--cache FOLDER] [--jobs N] [STEP…]
#   libraries   fetched, checked, patched and compiled; each once
#   program     headlight and its library, of build/release
#   archive     headlight-VERSION-Linux.tar.gz
#   wheel       headlight-VERSION-py3-none-manylinux_2_31_x86_64.whl
# Without STEP: all of them. FOLDER, ~/.cache/headlight-linux without the option, holds sources and libraries; packages are in
# FOLDER/package.
# Needed (Debian 12) besides what ./run asks for: icu-devtools python3 curl patch xz-utils binutils libxrandr-dev
# libxinerama-dev libxcursor-dev libxi-dev
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headlight-linux
jobs=$(nproc)
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
((${#steps[@]})) || steps=(libraries program archive wheel)
build=$root/build/release
start_libraries
debian=/usr/lib/x86_64-linux-gnu

# Debian 11's glibc, unpacked, with links that stay inside.
glibc() {
  local package sum path file target
  rm -rf "$prefix/glibc"
  mkdir -p "$prefix/glibc"
  while read -r package sum path; do
    have "$cache/sources/${path##*/}" "$sum" "$path"
    dpkg-deb -x "$cache/sources/${path##*/}" "$prefix/glibc"
  done < <(grep -v '^#' "$here/sysroot.list")
  while IFS= read -r file; do
    target=$(readlink "$file")
    [[ $target != /* ]] || ln -sfr "$prefix/glibc$target" "$file"
  done < <(find "$prefix/glibc" -type l)
  gcc -O2 -fPIC -c "$here/newer.c" -o "$prefix/newer.o"
  gcc -O2 -fPIC -c "$here/glibc_data.c" -o "$prefix/glibc_data.o"
}

# GLFW calls libX11 directly: each function that it names stands in x11.c, which opens the library when the window begins.
x11() {
  nm -u "$prefix/lib/libglfw3.a" | awk '$2 ~ /^X[a-z0-9]*[A-Z]/ && $2 != "XInitThreads" { print "X11(" $2 ")" }' | sort -u >"$prefix/x11_names.h"
  [[ $(wc -l <"$prefix/x11_names.h") -gt 50 ]] || give_up 'libglfw3.a: expected names of libX11'
  gcc -O2 -I "$prefix" -c "$here/x11.c" -o "$prefix/x11.o"
}

# Debian's static ICU has all of its data.
words() {
  fetch icu
  icu_data
  printf '.section .rodata\n.globl icudt72_dat\n.balign 16\nicudt72_dat: .incbin "%s"\n.section .note.GNU-stack, "", @progbits\n' \
    "$cache/unpacked/icu/icudt72l.dat" | gcc -c -x assembler - -o "$prefix/icu_data.o"
}

libraries() {
  mkdir -p "$prefix"
  once glibc glibc "$here/sysroot.list" "$here/newer.c" "$here/glibc_data.c"
  once icu words
  once libzip libzip
  once libepoxy epoxy "$root/packaging/libraries/epoxy/CMakeLists.txt"
  once cairo cairo "$root/packaging/libraries/cairo/CMakeLists.txt"
  once glfw3 glfw
  once x11 x11 "$here/x11.c"
}

# static_of LIBRARY.so : what is linked instead.
static_of() {
  local name=${1##*/}
  name=${name%.so}
  [[ $name != libglfw ]] || name=libglfw3
  if [[ -f $prefix/lib/$name.a ]]; then echo "$prefix/lib/$name.a"; else echo "$debian/$name.a"; fi
}

# linked FILE OBJECT… : as ninja links it, but for the libraries, with these objects beside them.
linked() {
  local word line=() libraries=() name file=$1
  [[ -f $build/build.ninja ]] || give_up "$build: expected a build of ./run"
  for word in $(ninja -C "$build" -t commands "$file" | grep -F -- " -o $file " | tail -n 1); do
    case $word in
      : | '&&' | -o | "$file" | *libEGL.so) ;;
      *.so) libraries+=("$(static_of "$word")") ;;
      *) line+=("$word") ;;
    esac
  done
  for name in pixman-1 freetype png16 brotlidec brotlicommon expat uuid z; do libraries+=("$debian/lib$name.a"); done
  # GCC would look into the folders beside its own first.
  name=$prefix/glibc/usr/lib/x86_64-linux-gnu
  (cd "$build" && "${line[@]}" -o "$prefix/$file" --sysroot="$prefix/glibc" -B"$name" -L"$name" -static-libstdc++ -static-libgcc -s \
    -Wl,--start-group "${libraries[@]}" "${@:2}" -Wl,--end-group -Wl,--as-needed -lpthread -ldl -lm)
}

# The program, and the library of its Python module.
program() {
  # ./run builds the program alone; what is installed has the library too.
  cmake --build "$build" --target headlight library --parallel "$jobs" >"$cache/build.log" 2>&1 || give_up "$(tail -n 20 "$cache/build.log")"
  linked headlight "$prefix"/{newer,x11,icu_data}.o
  linked "libheadlight.so.$version" "$prefix"/{newer,glibc_data,icu_data}.o
}

# As cpack makes it, with this program.
archive() {
  local work documents
  work=$(mktemp -d)
  documents=$work/headlight-$version-Linux/share/doc/headlight
  (
    cmake --install "$build" --prefix "$work/headlight-$version-Linux"
    rm -rf "$work/headlight-$version-Linux/lib/headlight"  # linked with the libraries of this system
    install -m 755 "$prefix/headlight" "$work/headlight-$version-Linux/bin/headlight"
    install -D -m 755 "$prefix/libheadlight.so.$version" "$work/headlight-$version-Linux/lib/headlight/libheadlight.so.1"
    mkdir -p "$documents/licences"
    licences "$documents/licences"
    # shellcheck disable=SC2046  # three words a package
    "$root/packaging/spdx.py" "$version" <(grep -E '^(libzip|glfw3|libepoxy|cairo|icu) ' "$root/packaging/sources.list") \
      $(of_debian) >"$documents/headlight.spdx.json"
    cp "$documents/headlight.spdx.json" "$cache/package/headlight-$version-Linux.spdx.json"
  ) >"$cache/archive.log" 2>&1
  find "$work" -exec touch -h -d '1980-01-02 00:00 UTC' {} +
  tar c --sort=name --owner=0 --group=0 --numeric-owner -C "$work" "headlight-$version-Linux" | gzip -9n >"$cache/package/headlight-$version-Linux.tar.gz"
  rm -rf "$work"
}

wheel() {
  local work
  work=$(mktemp -d)
  tar xzf "$cache/package/headlight-$version-Linux.tar.gz" -C "$work" --strip-components=1
  "$root/packaging/wheel.py" "$work" "$cache/package" manylinux_2_31_x86_64
  rm -rf "$work"
}

for step in "${steps[@]}"; do
  case $step in
    libraries | program | archive | wheel) "$step" ;;
    *) give_up "$step: expected libraries, program, archive or wheel" ;;
  esac
done
