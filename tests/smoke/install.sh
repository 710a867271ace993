#!/usr/bin/env bash
# An installed program is whole: install.sh BUILD_FOLDER
set -euo pipefail
build=$1
prefix=$(mktemp -d "${TMPDIR:-/tmp}/headlight install XXXXXX")
trap 'rm -rf "$prefix"' EXIT

fail() {
  echo "install: $*" >&2
  exit 1
}

cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/headlight share/headlight/assets share/headlight/shaders share/applications/headlight.desktop \
  share/icons/hicolor/scalable/apps/headlight.svg; do
  [[ -e $prefix/$file ]] ||
    fail "expected $file under the prefix, found $(cd "$prefix" && find . -type f | tr '\n' ' ')"
done

cd /
unset HEADLIGHT_DATA
version=$("$prefix/bin/headlight" --version) || fail "--version: expected exit status 0, found $?"
[[ $version =~ [0-9]+\.[0-9]+\.[0-9]+ ]] || fail "--version: expected a version, found '$version'"

# Where /proc is not mounted, and the source is not there either.
source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
hide() { unshare --map-root-user --mount sh -c 'mount -t tmpfs none /proc && mount -t tmpfs none "$0" && exec "$@"' "$source" "$@"; }
if hide true 2>/dev/null; then
  hide "$prefix/bin/headlight" export --text '机票' -o "$prefix/export.json" || fail 'without /proc: export failed'
  grep -q '"text":"机票"' "$prefix/export.json" || fail 'without /proc: expected the token 机票'
fi
