#!/usr/bin/env bash
# The Windows program under wine, beside the Linux program of the same tree: the same bytes, the same pictures.
#   packaging/windows/test.sh [--cache FOLDER] LINUX_PROGRAM [CHECK…]
# CHECK: requests files pictures window recovery paths installer times; all of them without one. math and core run the tests
# of build.sh tests. FOLDER is that of build.sh, which has made the program and the installer. Without wine the script says so and ends with 77.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headlight-windows
if [[ ${1-} == --cache ]]; then
  cache=$(cd "$2" && pwd -P)
  shift 2
fi
linux=$(readlink -f "${1:?usage: test.sh [--cache FOLDER] LINUX_PROGRAM [CHECK…]}")
shift
wine=$(command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null || true)
skip() {
  echo "windows: skipped: $*"
  exit 77
}
[[ -n $wine ]] || skip 'wine64 is not installed (Debian: wine64)'
for tool in Xvfb xdotool; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
tree=$cache/package/Headlight
[[ -f $tree/headlight.com ]] || skip "there is no $tree/headlight.com: packaging/windows/build.sh makes it"
checks=("$@")
((${#checks[@]})) || checks=(requests files pictures window recovery paths installer times)

work=$(mktemp -d "${TMPDIR:-/tmp}/headlight-windows-XXXXXX")
started=()
finish() {
  local process
  for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
  WINEPREFIX=$cache/wine wineserver64 -k 2>/dev/null || WINEPREFIX=$cache/wine /usr/lib/wine/wineserver64 -k 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
fail() {
  echo "windows: $*" >&2
  [[ ! -s $work/said ]] || tail -n 5 "$work/said" | sed 's/^/  it said: /' >&2
  exit 1
}
passed() { printf 'windows: %s (%d s)\n' "$*" "$SECONDS"; }

export WINEPREFIX=$cache/wine WINEDEBUG=-all WINEDLLOVERRIDES='winemenubuilder.exe=d;mscoree,mshtml=' LIBGL_ALWAYS_SOFTWARE=1 LC_ALL=C.UTF-8
Xvfb :97 -screen 0 2600x1700x24 -noreset >/dev/null 2>&1 &
started+=($!)
export DISPLAY=:97
until xdotool getdisplaygeometry >/dev/null 2>&1; do sleep 0.2; done
[[ -d $WINEPREFIX/drive_c ]] || "$wine" wineboot -i >/dev/null 2>&1
# The fonts of Linux, so that the pictures can be compared.
fonts=$WINEPREFIX/drive_c/windows/Fonts
for font in /usr/share/fonts/truetype/wqy/wqy-microhei.ttc /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf \
  /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf; do
  [[ ! -f $font ]] || cp -n "$font" "$fonts"
done
state=$(echo "$WINEPREFIX"/drive_c/users/*/AppData/Local/headlight)

# headlight ARGUMENTS… : the console program.
headlight() { timeout 120 "$wine" "$tree/headlight.com" "$@"; }

# both NAME ARGUMENTS… : the same arguments here and there; what goes to standard output is the same.
both() {
  local name=$1 here_status=0 there_status=0
  shift
  "$linux" "$@" >"$work/here" 2>"$work/here.said" <"${input:-/dev/null}" || here_status=$?
  headlight "$@" >"$work/there" 2>"$work/said" <"${input:-/dev/null}" || there_status=$?
  [[ $here_status == "$there_status" ]] || fail "$name: expected exit status $here_status, found $there_status: $*"
  cmp -s "$work/here" "$work/there" || fail "$name: other bytes: $* ($(cmp "$work/here" "$work/there" 2>&1))"
}

sentences() {
  python3 - "$root/assets/samples.json" <<'PY'
import json, sys
for sample in json.load(open(sys.argv[1], encoding="utf-8")):
    for text in (sample["text"], sample.get("target")):
        if text:
            print(text.replace("\n", " "))
PY
}

# tests NAME : a program of GoogleTest, but for the tests of tests_left_out.
tests() {
  [[ -f $cache/program/tests/$1.exe ]] || fail "$1.exe: expected build.sh tests to have made it"
  "$wine" "$cache/program/tests/$1.exe" --gtest_brief=1 --gtest_filter="-$(grep -v '^#' "$here/tests_left_out" | tr '\n' ':')" \
    >"$work/said" 2>&1 || fail "$1: $(grep -a '^\[  FAILED' "$work/said" | head -n 12 | tr '\r\n' '  ')"
  passed "$1: $(grep -a '^\[  PASSED' "$work/said" | tr -d '\r')"
}
check_math() { tests tests_math; }
check_core() { tests tests_core; }

# 200 requests: what is asked, then how it is asked.
check_requests() {
  local count=0 text options
  [[ $(headlight --version | tr -d '\r') == "$("$linux" --version)" ]] || fail '--version: another one'
  sentences >"$work/sentences"
  # Sentences that the samples do not have: their words in pairs.
  { cat "$work/sentences"; awk '{ for (i = 1; i < NF && i < 12; ++i) print $i, $(i + 1) }' "$work/sentences"; } | head -n 170 >"$work/lines"
  for options in '' '--mask causal' '--layers 2 --seed 7 --random'; do
    # shellcheck disable=SC2086  # several words
    input=$work/lines both lines export --lines $options
  done
  count=$((3 * $(wc -l <"$work/lines")))
  while IFS= read -r text; do
    for options in 'export' 'export --mask causal --with qkv,norms' 'heads' 'tokenize' 'next --mask causal'; do
      # shellcheck disable=SC2086
      both "request $count" $options --text "$text"
      count=$((count + 1))
    done
  done < <(head -n 7 "$work/sentences")
  ((count >= 200)) || fail "expected 200 requests, found $count"
  passed "$count requests: the same bytes"
}

check_files() {
  local file
  for file in a.npz a.safetensors a.json a.csv a.svg a.pdf a.png a.html; do
    local command=(export --with qkv)
    [[ $file != *.csv ]] || command=(export)
    [[ $file != *.svg && $file != *.pdf && $file != *.png ]] || command=(figure)
    [[ $file != *.html ]] || command=(page)
    "$linux" "${command[@]}" --text '那只动物没有过马路，因为它太累了。' -o "$work/here-$file"
    headlight "${command[@]}" --text '那只动物没有过马路，因为它太累了。' -o "$work/there-$file" >"$work/said" 2>&1 ||
      fail "$file: expected a file"
    # cairo tells parts of fonts apart by six letters, which it makes of a long of 32 bits on Windows.
    [[ $file != *.pdf ]] || sed -i 's/[A-Z]\{6\}+/+/' "$work/here-$file" "$work/there-$file"
    cmp -s "$work/here-$file" "$work/there-$file" || fail "$file: other bytes"
  done
  passed 'npz, safetensors, json, csv, svg, pdf, png, html: the same bytes, but for the names of parts of fonts in pdf'
}

# Each view, both themes, both languages; pictures may differ in the last place of the driver's arithmetic.
check_pictures() {
  local view options name differing
  mkdir -p "${HEADLIGHT_PICTURES:=$work/pictures}"
  for view in heads head text glance relations inside diagram flow train compare code; do
    for options in '--theme light --size 1440x900' '--theme dark --language zh --size 2560x1600'; do
      [[ $view != compare ]] || options+=' --mask causal'
      name=$view-${options##*size }
      name=${name//[^a-z0-9-]/_}
      # shellcheck disable=SC2086
      "$linux" screenshot --text '我请李雷帮我订了去北京的机票' --view "$view" $options -o "$work/here.png" 2>"$work/here.said" || true
      # shellcheck disable=SC2086
      headlight screenshot --text '我请李雷帮我订了去北京的机票' --view "$view" $options \
        -o "$HEADLIGHT_PICTURES/$name.png" >"$work/said" 2>&1 || fail "picture of $view: expected one"
      differing=$("$here/pixels.py" "$work/here.png" "$HEADLIGHT_PICTURES/$name.png") || fail "picture of $view $options: $differing"
      passed "picture of $view $options: $differing"
    done
  done
}

find_window() { window=$(xdotool search --onlyvisible --name Headlight 2>/dev/null | head -n 1) && [[ -n $window ]]; }
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < deadline)) || fail "expected $what, found nothing of it in time"
    sleep 0.3
  done
}
press() {
  local i
  for ((i = 1; i <= $#; ++i)); do xdotool keydown "${!i}"; done
  sleep 0.4
  for ((i = $#; i > 0; --i)); do xdotool keyup "${!i}"; done
  sleep 0.4
}
open_window() {
  "$wine" "$tree/headlight.exe" "$@" >"$work/said" 2>&1 </dev/null &
  process=$!
  started+=("$process")
  window=
  until_true 90 'a window named Headlight' find_window
  xdotool windowfocus "$window" || true
  sleep 2
}
ended() { ! kill -0 "$process" 2>/dev/null; }
holds() { grep -rqF "$1" "$2" 2>/dev/null; }

check_window() {
  local session=$work/saved.headlight.json sentence='The quick fox sees 42 dogs'
  cp "$root/tests/smoke/start.headlight.json" "$session"
  chmod u+w "$session"
  open_window open "$session"
  press ctrl l
  xdotool type --delay 60 "$sentence"
  sleep 1
  press ctrl s
  until_true 30 "the saved session to hold '$sentence'" holds "$sentence" "$session"
  press ctrl q
  until_true 30 'the window to end' ended
  passed 'the window: opened, typed into, saved, ended'
}

check_recovery() {
  local words='A cat ran home at 7'
  rm -rf "$state"
  open_window
  press ctrl l
  xdotool type --delay 40 "$words"
  until_true 30 "'$words' to be kept" holds "$words" "$state"
  # As the task manager ends it: at once, with nothing said.
  "$wine" taskkill /F /IM headlight.exe >/dev/null 2>&1 || true
  until_true 30 'the window to end' ended
  open_window
  sleep 2
  press ctrl l
  press ctrl a
  press ctrl c
  until_true 30 'the recovered text' holds "$words" "$state"
  press ctrl q
  until_true 30 'the window to end' ended
  passed 'killed, and what was typed came back'
}

# Paths with Chinese letters, blanks, 200 characters; a drive letter; NUL; lines with CR LF.
check_paths() {
  local long folder
  long=$(printf 'x%.0s' {1..120})
  folder=$work/'有 空格'/$long/$long
  mkdir -p "$folder"
  headlight export --text 我爱 -o "Z:${folder//\//\\}\\权重 1.npz" >"$work/said" 2>&1 || fail 'a path with Chinese letters'
  "$linux" export --text 我爱 -o "$work/here.npz"
  cmp -s "$work/here.npz" "$folder/权重 1.npz" || fail 'a path with Chinese letters: other bytes'
  [[ $(ls -A "$folder") == '权重 1.npz' ]] || fail "expected one file, found $(ls -A "$folder")"
  headlight export "Z:${folder//\//\\}\\权重 1.npz" >"$work/there" 2>"$work/said" || fail 'a path with Chinese letters is not opened'
  "$linux" export "$folder/权重 1.npz" >"$work/here"
  headlight export --text 我爱 --format json -o NUL >"$work/said" 2>&1 || fail 'NUL'
  printf '我爱\r\nthe cat\r\n' >"$work/crlf"
  input=$work/crlf both 'lines with CR LF' export --lines
  # Over a file that is there, and one that may not be written.
  headlight export --text '我请李雷' -o "$folder/权重 1.npz" >"$work/said" 2>&1 || fail 'a file is not replaced'
  [[ $(ls -A "$folder") == '权重 1.npz' ]] || fail "expected one file, found $(ls -A "$folder")"
  chmod a-w "$folder/权重 1.npz"
  ! headlight export --text 我爱 -o "$folder/权重 1.npz" >"$work/said" 2>&1 || fail 'a read-only file was replaced'
  headlight export --text 我爱 -o "$work/none/a.npz" >"$work/said" 2>&1 && fail 'a file in no folder'
  passed 'paths, NUL, CR LF, read-only files'
}

registry() { "$wine" reg export HKCU "Z:$work/registry" /y >/dev/null 2>&1; iconv -f UTF-16 -t UTF-8 "$work/registry" 2>/dev/null || cat "$work/registry"; }

check_installer() {
  local setup folder
  setup=$(ls "$cache"/package/headlight-*-Windows-setup.exe)
  folder=$WINEPREFIX/drive_c/installed
  rm -rf "$folder"
  "$wine" "$setup" /S '/D=C:\installed' >"$work/said" 2>&1 || fail 'the installer failed'
  [[ -f $folder/headlight.exe && -f $folder/uninstall.exe ]] || fail "expected the program, found $(ls "$folder" 2>&1)"
  diff -rq "$tree" "$folder" >"$work/said" || true
  [[ $(cat "$work/said") == "Only in $folder: uninstall.exe" ]] || fail 'the installed files are other ones'
  [[ $("$wine" "$folder/headlight.com" --version | tr -d '\r') == "$("$linux" --version)" ]] || fail 'the installed program does not start'
  [[ -n $(find "$WINEPREFIX/drive_c/users" -name 'Headlight.lnk') ]] || fail 'expected an entry of the start menu'
  registry | grep -i 'Headlight.File' >/dev/null || fail 'expected the types of files'
  "$wine" "$folder/uninstall.exe" /S '_?=C:\installed' >"$work/said" 2>&1 || fail 'the uninstaller failed'
  rm -f "$folder/uninstall.exe"  # with _? it cannot remove itself
  [[ ! -e $folder || -z $(ls -A "$folder") ]] || fail "left behind: $(find "$folder" | head)"
  [[ -z $(find "$WINEPREFIX/drive_c/users" -name 'Headlight.lnk') ]] || fail 'left behind: the entry of the start menu'
  ! registry | grep -i 'headlight' >"$work/said" || fail 'left behind in the registry'
  passed 'the installer installs, and its uninstaller leaves nothing'
}

# seconds COMMAND… : the best of five.
seconds() {
  local best=999 i begin
  for i in 1 2 3 4 5; do
    begin=$EPOCHREALTIME
    "$@" >/dev/null 2>&1 </dev/null
    best=$(awk -v a="$begin" -v b="$EPOCHREALTIME" -v best="$best" 'BEGIN { t = b - a; printf "%.3f", t < best ? t : best }')
  done
  echo "$best"
}

check_times() {
  printf 'windows: s     Linux  wine\n'
  printf 'windows: start %s  %s\n' "$(seconds "$linux" --version)" "$(seconds headlight --version)"
  printf 'windows: ten tokens, exported %s  %s\n' "$(seconds "$linux" export --text 我请李雷帮我订了去北京的机票)" \
    "$(seconds headlight export --text 我请李雷帮我订了去北京的机票)"
  stat -c 'windows: %s bytes: %n' "$tree"/headlight.{exe,com} "$cache"/package/*.{zip,exe}
}

for check in "${checks[@]}"; do "check_$check"; done
