#!/usr/bin/env bash
# Headlight.app in a zip, on a Mac with Homebrew. It is built and not tested; nobody vouches for it with a signature, so that the
# first start needs: xattr -dr com.apple.quarantine Headlight.app
#   macos.sh FOLDER             for the processor of that Mac, and a wheel
#   macos.sh --join ARM64.zip X86_64.zip FOLDER   of two such zips one for both processors
# GCC of Homebrew compiles it, and GLFW and Dear ImGui of the sources that Windows is built from; it compiles for one
# processor at a time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/.." && pwd -P)
version=$(sed -n 's/^project(headlight VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")

# packed APP FOLDER NAME : signed for this Mac alone, as its processor asks for, and zipped.
packed() {
  codesign --force --deep --sign - "$1"
  ditto -c -k --keepParent "$1" "$2/headlight-$version-macOS-$3-not-tested.zip"
}

if [[ ${1-} == --join ]]; then
  mkdir -p "$4"
  work=$(mktemp -d)
  for part in arm64 x86_64; do
    ditto -x -k "$2" "$work/$part"
    shift
  done
  app=$work/arm64/Headlight.app
  for part in arm64 x86_64; do
    (cd "$work/$part/Headlight.app/Contents" && find MacOS Frameworks -type f | LC_ALL=C sort) >"$work/$part.files"
  done
  diff "$work/arm64.files" "$work/x86_64.files" >&2 || { echo 'macos.sh: expected the same files for both processors' >&2; exit 2; }
  while IFS= read -r file; do
    lipo -create "$app/Contents/$file" "$work/x86_64/Headlight.app/Contents/$file" -output "$work/both"
    mv "$work/both" "$app/Contents/$file"
  done <"$work/arm64.files"
  lipo "$app/Contents/MacOS/headlight" -verify_arch arm64 x86_64
  packed "$app" "$2" universal
  exit
fi

mkdir -p "${1:?usage: macos.sh FOLDER}"
folder=$(cd "$1" && pwd -P)
parts=(gcc eigen nlohmann-json cli11 icu4c libzip cairo fontconfig freetype jpeg-turbo libpng libepoxy webp)  # of which something is inside
brew install --quiet cmake ninja pkg-config dylibbundler "${parts[@]}"
gcc=$(find "$(brew --prefix gcc)/bin" -name 'gcc-[0-9]*' | sort -V | tail -n 1)
export CC=$gcc CXX=${gcc/gcc-/g++-} PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(brew --prefix icu4c)/lib/pkgconfig:$(brew --prefix zlib)/lib/pkgconfig

# source_of NAME : the sources of the version and sum of packaging/sources.list, in FOLDER/NAME.
source_of() {
  local sum path
  read -r _ _ _ sum path < <(grep "^$1 .*orig" "$here/sources.list")
  curl -fsSL -o "$folder/$1.tar" "http://deb.debian.org/$path"
  [[ $(shasum -a 256 "$folder/$1.tar" | cut -d' ' -f1) == "$sum" ]]
  rm -rf "${folder:?}/$1" && mkdir -p "$folder/$1"
  tar xf "$folder/$1.tar" -C "$folder/$1" --strip-components=1
}
# Objective C needs Apple's compiler.
source_of glfw3
cmake -S "$folder/glfw3" -B "$folder/glfw3/_build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$folder/prefix" \
  -D CMAKE_C_COMPILER=/usr/bin/cc -D BUILD_SHARED_LIBS=ON -D CMAKE_INSTALL_NAME_DIR="$folder/prefix/lib" -D GLFW_BUILD_EXAMPLES=OFF -D GLFW_BUILD_TESTS=OFF -D GLFW_BUILD_DOCS=OFF
cmake --build "$folder/glfw3/_build" && cmake --install "$folder/glfw3/_build"
source_of imgui
cat >"$folder/imgui/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(imgui CXX)
find_package(glfw3 REQUIRED)
file(GLOB PARTS *.cpp misc/cpp/*.cpp)
add_library(imgui STATIC ${PARTS} backends/imgui_impl_glfw.cpp backends/imgui_impl_opengl3.cpp)
target_include_directories(imgui PRIVATE . $<TARGET_PROPERTY:glfw,INTERFACE_INCLUDE_DIRECTORIES>)
install(TARGETS imgui)
file(GLOB HEADERS *.h misc/cpp/*.h)
install(FILES ${HEADERS} DESTINATION include/imgui)
install(DIRECTORY backends DESTINATION include/imgui FILES_MATCHING PATTERN imgui_impl_*.h)
file(CONFIGURE OUTPUT imgui.pc @ONLY CONTENT "Name: imgui\nDescription: Dear ImGui\nVersion: 1.86\nCflags: -I@CMAKE_INSTALL_PREFIX@/include/imgui\nLibs: -L@CMAKE_INSTALL_PREFIX@/lib -limgui\n")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/imgui.pc DESTINATION lib/pkgconfig)
CMAKE
cmake -S "$folder/imgui" -B "$folder/imgui/_build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$folder/prefix" \
  -D CMAKE_PREFIX_PATH="$folder/prefix"
cmake --build "$folder/imgui/_build" && cmake --install "$folder/imgui/_build"
PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig:$PKG_CONFIG_PATH

cmake --preset release -S "$root" -B "$folder/program" -D HEADLIGHT_TESTS=OFF -D ICU_ROOT="$(brew --prefix icu4c)"
cmake --build "$folder/program" --target headlight
app=$folder/Headlight.app
rm -rf "$app" && mkdir -p "$app/Contents/MacOS" "$app/Contents/share/headlight"
cp "$folder/program/headlight" "$app/Contents/MacOS/"
cp -R "$root/assets" "$root/shaders" "$app/Contents/share/headlight/"
rm -rf "$app/Contents/share/headlight/assets/desktop" "$app/Contents/share/headlight/assets/readme"
# Those of GCC are named by @rpath, for which dylibbundler would ask.
dylibbundler -od -b -x "$app/Contents/MacOS/headlight" -d "$app/Contents/Frameworks" -p @executable_path/../Frameworks \
  -s "$(brew --prefix gcc)/lib/gcc/current"
documents=$app/Contents/share/doc/headlight
mkdir -p "$documents/licences"
for part in "${parts[@]}"; do
  find -L "$(brew --prefix "$part")" -maxdepth 1 \( -name 'LICENSE*' -o -name 'COPYING*' \) -type f | while IFS= read -r file; do
    cp "$file" "$documents/licences/$part-${file##*/}"
  done
done
cp "$folder/imgui/LICENSE.txt" "$documents/licences/imgui-LICENSE.txt"
cp "$folder/glfw3/LICENSE.md" "$documents/licences/glfw3-LICENSE.md"
inside=()
while IFS= read -r word; do inside+=("$word"); done < <(brew list --versions "${parts[@]}" | awk '{ print $1; print $2; print "NOASSERTION" }')
"$here/spdx.py" "$version" - "${inside[@]}" imgui 1.86 MIT glfw3 3.3.8 Zlib >"$documents/headlight.spdx.json"
cp "$documents/headlight.spdx.json" "$folder/headlight-$version-macOS-$(uname -m).spdx.json"
cat >"$app/Contents/Info.plist" <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
<key>CFBundleName</key><string>Headlight</string>
<key>CFBundleExecutable</key><string>headlight</string>
<key>CFBundleIdentifier</key><string>headlight</string>
<key>CFBundlePackageType</key><string>APPL</string>
<key>CFBundleShortVersionString</key><string>$version</string>
<key>NSHighResolutionCapable</key><true/>
</dict></plist>
PLIST
"$app/Contents/MacOS/headlight" --version
packed "$app" "$folder" "$(uname -m)"
wheel=$("$here/wheel.py" "$app/Contents" "$folder" "macosx_$(sw_vers -productVersion | cut -d. -f1)_0_$(uname -m)")
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet "$wheel"
"$folder/venv/bin/headlight" --version
