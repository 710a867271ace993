#!/usr/bin/env bash
# The Windows program under wine, beside the Linux program of the same tree: the same bytes, the same pictures.
#   packaging/windows/test.sh [--cache FOLDER] LINUX_PROGRAM [CHECK…]
# CHECK: requests files pictures window dark recovery input two logoff refused held paths models wheel installer times;
# all of them without one; math and core, which run the tests of build.sh tests, where that has built them. FOLDER is that
# of build.sh, which has made the program, the installer and the wheel. Without wine a line names what lacks, and the exit
# status is 77.
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
if ((!${#checks[@]})); then
  checks=(requests files pictures window dark recovery input two logoff refused held paths models wheel installer times)
  [[ ! -s $cache/program/tests/tests_core.exe ]] || checks+=(math core)
fi

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
if [[ " ${checks[*]} " =~ \ (recovery|input|two|logoff|held)\  ]]; then
  x86_64-w64-mingw32-gcc-posix -O1 -s "$here/hands.c" -o "$cache/hands.exe" -lole32 || fail 'hands.c is not built'
fi
local_data=$(echo "$WINEPREFIX"/drive_c/users/*/AppData/Local)
state=$local_data/headlight

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

windows_now() { xdotool search --onlyvisible --name Headlight 2>/dev/null || true; }
find_window() { window=$(windows_now | grep -vxF "$others" | head -n 1) && [[ -n $window ]]; }
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
  others=$(windows_now)
  "$wine" "$tree/headlight.exe" "$@" >"$work/said" 2>&1 </dev/null &
  process=$!
  started+=("$process")
  disown
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

# At the first start the window has the theme that the user chose for programs of Windows; later that of its own settings.
check_dark() {
  local choice=('HKCU\Software\Microsoft\Windows\CurrentVersion\Themes\Personalize' /v AppsUseLightTheme)
  rm -rf "$state"
  "$wine" reg add "${choice[@]}" /t REG_DWORD /d 0 /f >/dev/null 2>&1 || fail 'the registry takes nothing'
  open_window
  press ctrl t
  until_true 30 'the settings to have the dark theme' holds '"theme": "dark"' "$state"
  press alt t
  until_true 30 'the settings to have the light theme' holds '"theme": "light"' "$state"
  press ctrl q
  until_true 30 'the window to end' ended
  open_window
  press ctrl t
  sleep 2
  press ctrl q
  until_true 30 'the window to end' ended
  holds '"theme": "light"' "$state" || fail 'expected the light theme that was chosen in the window to stay'
  "$wine" reg delete "${choice[@]}" /f >/dev/null 2>&1 || true
  passed "the system's dark mode at the first start, the window's own theme after it"
}

# hands WHAT… : from outside, see hands.c.
hands() { timeout 60 "$wine" "$cache/hands.exe" "$@"; }
title=Headlight

# The clipboard both ways, a text that an input method gives, a folder with a model that is dropped.
check_input() {
  local session=$work/input.headlight.json sentence='我爱北京🙂很' pasted='The old dog ran 17 miles' model=$work/'模型 1'
  cp "$root/tests/smoke/start.headlight.json" "$session"
  chmod u+w "$session"
  cp -r "$root/tests/golden/family-gptj" "$model"
  open_window open "$session"
  press ctrl l
  press ctrl a
  hands chosen "$title" "$sentence" >"$work/said" 2>&1 || fail 'a text of an input method'
  sleep 1
  press ctrl s
  until_true 30 "the saved session to hold '$sentence'" holds "$sentence" "$session"
  press ctrl l
  press ctrl a
  press ctrl c
  until_true 30 "'$sentence' in the clipboard" clipboard_is "$sentence"
  hands clipboard "$pasted" >"$work/said" 2>&1 || fail 'the clipboard takes nothing'
  press ctrl a
  press ctrl v
  sleep 1
  press ctrl s
  until_true 30 "the saved session to hold '$pasted'" holds "$pasted" "$session"
  hands drop "$title" "Z:${model//\//\\}" >"$work/said" 2>&1 || fail 'a folder is not dropped'
  until_true 30 'the kept session to name the folder that was dropped' holds '模型 1' "$state"
  press ctrl q
  until_true 30 'the window to end' ended
  passed 'a text of an input method, the clipboard both ways, a folder dropped'
}
clipboard_is() { [[ $(hands clipboard 2>"$work/said") == "$1" ]]; }

# recovered WORDS… : windows that are opened now, one for each, have them.
recovered() {
  local words sentence
  for words; do
    hands clipboard none >"$work/said" 2>&1 || fail 'the clipboard takes nothing'
    open_window
    until_true 60 'the sentence in the clipboard' copied
    echo "$sentence" >>"$work/kept"
  done
  for words; do holds "$words" "$work/kept" || fail "expected '$words' to come back, found $(cat "$work/kept")"; done
  rm -f "$work/kept"
  kill_windows
}

copied() {
  press ctrl l
  press ctrl a
  press ctrl c
  sentence=$(hands clipboard 2>"$work/said") && [[ $sentence != none ]]
}

# As the task manager ends them: at once, with nothing said.
kill_windows() {
  "$wine" taskkill /F /IM headlight.exe >/dev/null 2>&1 || true
  until_true 30 'the windows to end' no_window
}
no_window() { [[ -z $(windows_now) ]]; }

# The sentences of two windows at once, both killed.
check_two() {
  local first='One cat sat down' second='Two dogs stood up'
  rm -rf "$state"
  open_window
  press ctrl l
  xdotool type --delay 40 "$first"
  until_true 30 "'$first' to be kept" holds "$first" "$state"
  open_window
  press ctrl l
  xdotool type --delay 40 "$second"
  until_true 30 "'$second' to be kept" holds "$second" "$state"
  kill_windows
  recovered "$first" "$second"
  passed 'two windows at once: what was typed into both came back'
}

# The session of the user ends while something is typed.
check_logoff() {
  local words='A bird flew home at 9'
  rm -rf "$state"
  open_window
  press ctrl l
  xdotool type --delay 40 "$words"
  sleep 1
  "$wine" wineboot --end-session >"$work/said" 2>&1 || true
  until_true 30 'the window to end' ended
  recovered "$words"
  passed 'logged off, and what was typed came back'
}

# A folder in which nothing can be made; no OpenGL 3.3.
check_refused() {
  local status=0 options
  headlight export --text 我爱 -o 'Z:\proc\a.npz' >"$work/said" 2>&1 || status=$?
  [[ $status == 2 && $(<"$work/said") == *a.npz* ]] || fail "a folder that takes no file: expected a line and exit status 2, found $status"
  for options in "screenshot -o Z:$work/none.png" 'open'; do
    status=0
    # shellcheck disable=SC2086
    MESA_GL_VERSION_OVERRIDE=2.1 headlight $options >"$work/said" 2>&1 </dev/null || status=$?
    [[ $status == 2 && $(<"$work/said") == *3.3* ]] || fail "$options without OpenGL 3.3: expected a line that names it, found $status"
    ((1 == $(grep -cv '^screenshot: [0-9]* s' "$work/said"))) || fail "$options without OpenGL 3.3: expected one line beside the time"
  done
  passed 'a folder that takes no file and no OpenGL 3.3: a line and exit status 2'
}

# hold FILE MILLISECONDS : from now on another process has it, shared with nobody.
hold() {
  : >"$work/holds"
  timeout 60 "$wine" "$cache/hands.exe" hold "Z:$1" "$2" >"$work/holds" 2>&1 &
  until_true 30 'the file to be held' grep -q held "$work/holds"
}

# A file that is held for good is refused by a line; one that is held until a second before that is read, and replaced.
check_held() {
  local file=$work/held.npz array=$work/held.npy before errand time status=0
  headlight export --text 我爱 -o "$file" >"$work/said" 2>&1 || fail 'no file'
  before=$(sha256sum <"$file")
  /usr/bin/python3 -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read("attentions.npy"))' "$file" >"$array"
  hold "$file" 50000
  time=$EPOCHREALTIME
  headlight export "Z:$file" >/dev/null 2>"$work/said" || status=$?
  time=$(awk -v begin="$time" -v end="$EPOCHREALTIME" 'BEGIN { print int(1000 * (end - begin)) - 1000 }')
  [[ $status == 2 && $(<"$work/said") == *held.npz* ]] || fail "held for good: expected a line and exit status 2, found $status"
  kill $!
  for errand in "read $file" "read $array" "replace $file"; do
    hold "${errand#* }" "$time"
    if [[ $errand == read* ]]; then
      headlight export "Z:${errand#* }" >/dev/null 2>"$work/said" || fail "held for $time ms: $errand"
    else
      headlight export --text '我请李雷' -o "$file" >"$work/said" 2>&1 || fail "held for $time ms: $errand"
      [[ $(sha256sum <"$file") != "$before" ]] || fail 'a file that is held for a second keeps its bytes'
    fi
    wait $!
  done
  [[ -z $(find "$work" -maxdepth 1 -name '.headlight*') ]] || fail 'a temporary file is left'
  passed "a file that another process holds: for $time ms read and replaced, for good refused"
}

check_recovery() {
  local words='A cat ran home at 7'
  rm -rf "$state"
  open_window
  press ctrl l
  xdotool type --delay 40 "$words"
  until_true 30 "'$words' to be kept" holds "$words" "$state"
  kill_windows
  recovered "$words"
  passed 'killed, and what was typed came back'
}

# Paths with Chinese letters, blanks, 300 characters; a drive letter, a server's name; NUL; lines with CR LF.
check_paths() {
  local long folder shared=$WINEPREFIX/dosdevices/unc/server/share
  long=$(printf 'x%.0s' {1..120})
  folder=$work/'有 空格'/$long/$long
  mkdir -p "$folder" "$shared"
  ((${#folder} > 260)) || fail "expected a path of 260 characters, found ${#folder}"
  headlight export --text 我爱 -o "Z:${folder//\//\\}\\权重 1.npz" >"$work/said" 2>&1 || fail 'a path with Chinese letters'
  "$linux" export --text 我爱 -o "$work/here.npz"
  cmp -s "$work/here.npz" "$folder/权重 1.npz" || fail 'a path with Chinese letters: other bytes'
  [[ $(ls -A "$folder") == '权重 1.npz' ]] || fail "expected one file, found $(ls -A "$folder")"
  headlight export "Z:${folder//\//\\}\\权重 1.npz" >"$work/there" 2>"$work/said" || fail 'a path with Chinese letters is not opened'
  "$linux" export "$folder/权重 1.npz" >"$work/here" 2>"$work/here.said"
  headlight export --text 我爱 -o '\\server\share\权重.npz' >"$work/said" 2>&1 || fail 'a path of a server'
  cmp -s "$work/here.npz" "$shared/权重.npz" || fail 'a path of a server: other bytes'
  headlight export '\\server\share\权重.npz' >"$work/there" 2>"$work/said" || fail 'a path of a server is not opened'
  cp -r "$root/tests/golden/family-gptj" "$shared/模型"
  "$linux" export "$root/tests/golden/family-gptj" --ids 1,2,3 --format csv >"$work/here"
  headlight export '\\server\share\模型' --ids 1,2,3 --format csv >"$work/there" 2>"$work/said" || fail 'a model of a server is not opened'
  cmp -s "$work/here" "$work/there" || fail 'a model of a server: other bytes'
  rm -r "$shared"
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

# Models by name: in the caches of Hugging Face, which has files in place of links here, and of ModelScope.
check_models() {
  local home=$work/home there=${local_data%/AppData/Local}/.cache name
  mkdir -p "$home/.cache/huggingface/hub/models--lab--tiny"/{refs,snapshots} "$home/.cache/modelscope/hub/models/lab"
  printf abc >"$home/.cache/huggingface/hub/models--lab--tiny/refs/main"
  cp -r "$root/tests/golden/family-gptj" "$home/.cache/huggingface/hub/models--lab--tiny/snapshots/abc"
  cp -r "$root/tests/golden/family-mistral" "$home/.cache/modelscope/hub/models/lab/other"
  rm -rf "$there"
  cp -r "$home/.cache" "$there"
  for name in lab/tiny lab/other; do HOME=$home both "the model $name" export "$name" --ids 1,2,3 --format csv; done
  rm -rf "$there"
  passed 'models by name in the caches of Hugging Face and ModelScope: the same bytes'
}

# As pip puts it: the commands in one folder, their data beside it; for one user of Windows, one folder further up.
check_wheel() {
  local wheel site=$work/site user=$work/Python
  wheel=$(ls "$cache"/package/headlight-*-py3-none-win_amd64.whl)
  /usr/bin/python3 -m pip --version >/dev/null 2>&1 || fail 'expected pip to be installed (Debian: python3-pip)'
  PIP_NO_INDEX=1 /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-deps --platform win_amd64 --only-binary :all: \
    --target "$site" "$wheel" >"$work/said" 2>&1 || fail 'pip refuses the wheel'
  /usr/bin/python3 - "$wheel" >"$work/said" 2>&1 <<'PY' || fail 'the wheel: its RECORD is another one'
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(
    wheel.read(next(name for name in wheel.namelist() if name.endswith("/RECORD"))).decode()))}
assert sorted(rows) == sorted(wheel.namelist()), set(rows) ^ set(wheel.namelist())
for name, (digest, size) in rows.items():
    content = wheel.read(name)
    own = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert name.endswith("/RECORD") or (digest, size) == (own, str(len(content))), name
PY
  mkdir -p "$user/Python312"
  cp -r "$site/share" "$user/share"
  cp -r "$site/bin" "$user/Python312/Scripts"
  "$linux" export --text 我爱北京 >"$work/here"
  for folder in "$site/bin" "$user/Python312/Scripts"; do
    cmp -s "$folder/headlight.exe" "$tree/headlight.exe" || fail 'the wheel: another headlight.exe'
    timeout 120 "$wine" "$folder/headlight.com" export --text 我爱北京 >"$work/there" 2>"$work/said" || fail "the program in ${folder##*/} does not start"
    cmp -s "$work/here" "$work/there" || fail "the program in ${folder##*/}: other bytes"
  done
  # The module of the wheel, which runs this program. Python is the one here.
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$wine" "$site/bin/headlight.com" >"$work/headlight"
  chmod +x "$work/headlight"
  (cd / && HEADLIGHT=$work/headlight PYTHONPATH=$site /usr/bin/python3 -c '
import headlight, json, sys
assert headlight.__file__.startswith(sys.argv[1]), headlight.__file__
print(headlight.export("我爱北京")["attentions"].shape, [len(one["tokens"]) for one in headlight.lines(["我爱", "the cat"])])
try:
    headlight.export(source="nothing-here")
except headlight.Error as error:
    assert "nothing-here" in str(error), error' "$site") >"$work/said" 2>&1 || fail 'the module of the wheel'
  passed "the wheel: $(stat -c %s "$wheel") bytes, its list, its program in both places, its module"
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
