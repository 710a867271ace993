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
