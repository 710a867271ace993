#!/usr/bin/env bash
# Headlight.app in a zip, on a Mac with Homebrew: macos.sh FOLDER. For the processor of that Mac. It is built
# and not tested; nothing signs it, so that the first start needs: xattr -dr com.apple.quarantine Headlight.app
# GCC of Homebrew compiles it, and Dear ImGui, whose C++ must be of the same library.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/.." && pwd -P)
mkdir -p "${1:?usage: macos.sh FOLDER}"
folder=$(cd "$1" && pwd -P)
version=$(sed -n 's/^project(headlight VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
brew install --quiet gcc cmake ninja pkg-config eigen nlohmann-json cli11 icu4c libzip cairo fontconfig freetype libpng glfw libepoxy dylibbundler
gcc=$(find "$(brew --prefix gcc)/bin" -name 'gcc-[0-9]*' | sort -V | tail -n 1)
export CC=$gcc CXX=${gcc/gcc-/g++-} PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(brew --prefix icu4c)/lib/pkgconfig:$(brew --prefix zlib)/lib/pkgconfig

# Dear ImGui of the version and sum of packaging/windows/sources.list.
read -r _ _ _ sum path < <(grep '^imgui .*orig' "$here/windows/sources.list")
curl -fsSL -o "$folder/imgui.tar.xz" "http://deb.debian.org/$path"
[[ $(shasum -a 256 "$folder/imgui.tar.xz" | cut -d' ' -f1) == "$sum" ]]
rm -rf "$folder/imgui" && mkdir -p "$folder/imgui"
tar xf "$folder/imgui.tar.xz" -C "$folder/imgui" --strip-components=1
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
cmake -S "$folder/imgui" -B "$folder/imgui/_build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$folder/prefix"
cmake --build "$folder/imgui/_build" && cmake --install "$folder/imgui/_build"
PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig:$PKG_CONFIG_PATH

cmake --preset release -S "$root" -B "$folder/program" -D HEADLIGHT_TESTS=OFF -D ICU_ROOT="$(brew --prefix icu4c)"
cmake --build "$folder/program" --target headlight
app=$folder/Headlight.app
rm -rf "$app" && mkdir -p "$app/Contents/MacOS" "$app/Contents/share/headlight"
cp "$folder/program/headlight" "$app/Contents/MacOS/"
cp -R "$root/assets" "$root/shaders" "$app/Contents/share/headlight/"
rm -rf "$app/Contents/share/headlight/assets/desktop" "$app/Contents/share/headlight/assets/readme"
dylibbundler -od -b -x "$app/Contents/MacOS/headlight" -d "$app/Contents/Frameworks" -p @executable_path/../Frameworks
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
ditto -c -k --keepParent "$app" "$folder/headlight-$version-macOS-$(uname -m)-not-tested.zip"
versions_of() { brew list --versions "$@" | awk '{ print $1; print $2; print "NOASSERTION" }'; }
inside=()
while IFS= read -r word; do inside+=("$word"); done < <(versions_of eigen nlohmann-json cli11 icu4c libzip cairo fontconfig \
  freetype libpng glfw libepoxy)
"$here/spdx.py" "$version" - "${inside[@]}" imgui 1.86 MIT >"$folder/headlight-macOS.spdx.json"
