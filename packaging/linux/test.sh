#!/usr/bin/env bash
# The program for any Linux beside that of ./run: test.sh [--cache FOLDER] PROGRAM
# FOLDER is that of build.sh, which has made the archive and the wheel.
set -euo pipefail
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headlight-linux
if [[ ${1-} == --cache ]]; then
  cache=$(cd "$2" && pwd -P)
  shift 2
fi
here=$(readlink -f "${1:?usage: test.sh [--cache FOLDER] PROGRAM}")
work=$(mktemp -d "${TMPDIR:-/tmp}/headlight-linux-XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() {
  echo "linux: $*" >&2
  exit 1
}
tar xzf "$cache"/package/headlight-*-Linux.tar.gz -C "$work" --strip-components=1
there=$work/bin/headlight
wheel=$(echo "$cache"/package/headlight-*-py3-none-manylinux_2_31_x86_64.whl)
[[ -f $wheel ]] || fail "expected a wheel for glibc 2.31, found $(ls "$cache/package")"

library=$work/lib/headlight/libheadlight.so.1
[[ -f $library ]] || fail 'expected lib/headlight/libheadlight.so.1 in the archive'
newest=$(objdump -T "$there" "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
[[ $(printf '%s\nGLIBC_2.31\n' "$newest" | sort -V | tail -n 1) == GLIBC_2.31 ]] || fail "expected glibc 2.31 at most, found $newest"
needed=$(objdump -p "$there" "$library" | awk '$1 == "NEEDED" { print $2 }' | sort -u | tr '\n' ' ')
for name in $needed; do
  [[ $name =~ ^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so ]] || fail "expected libraries of glibc alone, found $needed"
done

# The same bytes, here and with the glibc of Debian 11.
glibc=$cache/prefix/glibc/lib/x86_64-linux-gnu
with_old() { HEADLIGHT_DATA=$work/share/headlight "$glibc/ld-linux-x86-64.so.2" --library-path "$glibc" "$there" "$@"; }
[[ $(with_old --version) == "$("$here" --version)" ]] || fail '--version: another one'
for options in 'export --text 我请李雷帮我订了去北京的机票' 'export --mask causal --with qkv,norms --text The_animal' 'heads --text 我爱' \
  'tokenize --text 我爱北京' 'export --text none --heads 99' 'figure --text 我爱北京 -o FILE.svg' 'figure --text 我爱北京 -o FILE.pdf' 'figure --text 我爱北京 -o FILE.png'; do
  for program in "$here" "$there" with_old; do
    status=0
    # shellcheck disable=SC2086
    "$program" ${options//FILE/"$work/figure"} >"$work/${program##*/}.out" 2>"$work/said" || status=$?
    echo "status $status" >>"$work/${program##*/}.out"
    [[ $options != *FILE* ]] || cat "$work"/figure.* >>"$work/${program##*/}.out"
    [[ $program != "$here" ]] || cp "$work/headlight.out" "$work/here.out"
    cmp -s "$work/here.out" "$work/${program##*/}.out" || fail "$options: other bytes ($program): $(cat "$work/said")"
    rm -f "$work"/figure.*
  done
done
# What it opens: drivers for a picture of the window.
"$there" screenshot --text 我爱 -o "$work/there.png" 2>"$work/said" && "$here" screenshot --text 我爱 -o "$work/here.png" 2>"$work/said" ||
  fail "no picture of the window: $(cat "$work/said")"
cmp -s "$work/here.png" "$work/there.png" || fail 'the picture of the window: other bytes'

# numpy is that of Debian where it is installed; else pip fetches it.
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --quiet "$wheel"
[[ $("$work/venv/bin/headlight" --version) == "$("$here" --version)" ]] || fail 'the command of the wheel: another version'
(cd / && env -u HEADLIGHT PATH=/usr/bin:/bin "$work/venv/bin/python" -c '
import headlight
answer = headlight.export("我爱北京")["attentions"]
inside = headlight.open()
assert headlight.library.library()._name.startswith(headlight.library.sys.prefix)
assert inside("我爱北京").attentions.tobytes() == answer.tobytes()
print(answer.shape)') >"$work/said" 2>&1 || fail "the module of the wheel: $(cat "$work/said")"
printf 'linux: %s, libraries %s\n' "$newest at most" "$needed"
stat -c 'linux: %s bytes: %n' "$there" "$cache"/package/*.{gz,whl}
