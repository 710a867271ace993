#!/usr/bin/env bash
# The wheel of Linux, and the list of what is inside the archive: linux_wheel.sh FOLDER
# FOLDER has headlight-VERSION-Linux.tar.gz of `cpack -G TGZ`; the wheel and the list are written into it. The tag of the
# wheel names the glibc that its files ask for. Needed: objdump, patchelf, python3, dpkg.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
folder=${1:?usage: linux_wheel.sh FOLDER}
archive=$(echo "$folder"/headlight-*-Linux.tar.gz)
[[ -f $archive ]] || { echo "linux_wheel.sh: $folder: expected headlight-VERSION-Linux.tar.gz of cpack -G TGZ" >&2; exit 2; }
version=${archive##*/headlight-}
version=${version%-Linux.tar.gz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar xzf "$archive" -C "$work" --strip-components=1
"$here/wheel.py" "$work" "$folder"

# The Debian package of each library, with its version; its licence stands in the package's copyright file.
names=()
while read -r library; do
  package=$(dpkg -S "*/$library" 2>/dev/null | head -n 1 | cut -d: -f1) || true
  [[ -z $package ]] || names+=("$package")
done < <(cd "$work/lib" && find . -type f -name '*.so*' -printf '%f\n')
arguments=()
for package in $(printf '%s\n' "${names[@]}" | sort -u); do
  arguments+=("$package" "$(dpkg-query -W -f '${Version}' "$package")" NOASSERTION)
done
"$here/spdx.py" "$version" - "${arguments[@]}" >"$folder/headlight-$version-Linux.spdx.json"
