#!/usr/bin/env bash
# The real window, on a display without a screen: a sentence is typed, the session saved, the window closed; and
# another one ends by a signal.
#   window.sh PROGRAM SESSION_FILE
set -euo pipefail

fail() {
  echo "window: $*" >&2
  [[ -s ${said-} ]] && sed 's/^/  the program said: /' "$said" >&2
  exit 1
}

for tool in xvfb-run xauth xdotool; do
  command -v "$tool" >/dev/null || fail "expected $tool to be installed, found none"
done

# First, the message without a display; then the rest of this script once more, with a display.
if [[ ${1-} != --inside ]]; then
  status=0
  line=$(env -u DISPLAY -u WAYLAND_DISPLAY "$1" 2>&1 >/dev/null </dev/null) || status=$?
  [[ $status == 2 ]] || fail "without a display: expected exit status 2, found $status: $line"
  [[ $line == *'./run export'* && $line != *$'\n'* ]] ||
    fail "without a display: expected one line that names ./run export, found: $line"
  exec xvfb-run -a -s '-screen 0 1280x1024x24 -noreset' "$0" --inside "$@"
fi
program=$2
fixture=$3
sentence='The quick fox sees 42 dogs'
last_words='A cat ran home at 7'
before_fault='Two red birds sing 9 songs'

home=$(mktemp -d "${TMPDIR:-/tmp}/headlight-window-XXXXXX")
said=$home/said
process=
trap '[[ -z $process ]] || { kill -KILL "$process"; wait "$process"; } 2>/dev/null || true; rm -rf "$home"' EXIT
export HOME=$home XDG_CONFIG_HOME=$home/config XDG_STATE_HOME=$home/state XDG_DATA_HOME=$home/data
export XDG_CACHE_HOME=$home/cache XDG_RUNTIME_DIR=$home
export LANG=C.UTF-8 LIBGL_ALWAYS_SOFTWARE=1
unset LC_ALL WAYLAND_DISPLAY

session=$home/saved.headlight.json
cp "$fixture" "$session" || fail "expected a session to open, found none at $fixture"
chmod u+w "$session"
grep -qF "$sentence" "$session" && fail "the session to open already holds the sentence that is to be typed"

"$program" open "$session" >"$said" 2>&1 </dev/null &
process=$!

alive() { kill -0 "$process" 2>/dev/null; }

# until_true SECONDS WHAT COMMAND… : waits for a command to succeed while the program lives.
until_true() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    alive || fail "expected $what, found that the program had ended"
    ((SECONDS < deadline)) || fail "expected $what, found nothing of it in time"
    sleep 0.2
  done
}

# A key is held for a moment, so that a slow frame sees it go down before it goes up.
press() {
  local i
  for ((i = 1; i <= $#; ++i)); do xdotool keydown "${!i}"; done
  sleep 0.4
  for ((i = $#; i > 0; --i)); do xdotool keyup "${!i}"; done  # a letter that outlives its Ctrl is typed
  sleep 0.4
}

find_window() { window=$(xdotool search --onlyvisible --name Headlight 2>/dev/null | head -n 1) && [[ -n $window ]]; }
# begin WHAT : starts the program without arguments and waits for its window.
begin() {
  "$program" >"$said" 2>&1 </dev/null &
  process=$!
  window=
  until_true 60 "$1" find_window
}
saved() { grep -qF "$sentence" "$session"; }
ended() { ! alive; }

# What was loaded is there and drawn: keys that are pressed before that meet no frame of their own.
rests() {
  local before
  before=$(ps -o cputimes= -p "$process")
  sleep 1
  [[ $before == "$(ps -o cputimes= -p "$process")" ]]
}

# ends_well WHY [SECONDS]: waits for the program to end with status 0.
ends_well() {
  local deadline=$((SECONDS + ${2:-20}))
  until ended; do
    ((SECONDS < deadline)) || fail "$1: expected the program to end, found it running"
    sleep 0.2
  done
  local status=0
  wait "$process" || status=$?
  process=
  [[ $status == 0 ]] || fail "$1: expected exit status 0, found $status"
}

until_true 60 'a window named Headlight' find_window
xdotool windowfocus --sync "$window"
until_true 60 'a window at rest' rests

xdotool windowsize --sync "$window" 1100 760
press ctrl l
xdotool type --delay 60 "$sentence"
sleep 1
press ctrl s
until_true 20 "the saved session to hold '$sentence'" saved

press ctrl q
ends_well Ctrl+Q

# The next window is as large as the last one was.
as_large() { xdotool getwindowgeometry "$window" | grep -qF '1100x760'; }
begin 'a second window'
until_true 20 'a window of 1100x760, as the last one was left' as_large
xdotool windowfocus --sync "$window"
until_true 60 'a window at rest' rests

# What was typed up to the moment in which the desktop ends the program is kept for the next window.
press ctrl l
xdotool type --delay 20 "$last_words"
kill -TERM "$process"
ends_well SIGTERM
grep -rqF "$last_words" "$XDG_STATE_HOME" ||
  fail "expected '$last_words' to be kept, found $(grep -rhoE '"text": "[^"]*"' "$XDG_STATE_HOME" || echo nothing)"

# An idle window sleeps for 10 s at most; a signal ends it at once, not at the end of that sleep. Its start had a time line,
# and asked for nothing else: what was typed before is there again.
"$program" --timings >"$said" 2>&1 </dev/null &
process=$!
window=
until_true 60 'a third window' find_window
answered() { grep -qF 'first answer on the screen' "$said"; }
until_true 60 'a time line up to the first answer' answered
lines=$(sed -E 's/^ *[0-9]+\.[0-9] ms  //' "$said" | paste -sd ';')
[[ $lines == *'options and source;window;words, samples, lessons, shaders;state;first frame;first answer on the screen'* ]] ||
  fail "--timings: expected the parts of a start in their order, found $lines"
sort -nc "$said" || fail "--timings: expected times that ascend, found $(<"$said")"
sleep 3
kill -TERM "$process"
ends_well 'SIGTERM to an idle window' 5
grep -rqF "$last_words" "$XDG_STATE_HOME" || fail "expected '$last_words' to be kept by a window that was asked for --timings"

# A fault of the program says so, and the next window has what was typed.
begin 'a window that will end by a fault'
xdotool windowfocus --sync "$window"
until_true 60 'a window at rest' rests
press ctrl l
xdotool type --delay 20 "$before_fault"
is_kept() { grep -rqF "$before_fault" "$XDG_STATE_HOME"; }
until_true 20 "'$before_fault' to be kept" is_kept
kill -SEGV "$process"
status=0
wait "$process" 2>/dev/null || status=$?
process=
if ! grep -qa __asan_init "$program"; then  # the sanitizers report a fault themselves
  [[ $status == 139 ]] || fail "a fault: expected the signal, found $status"
  grep -qE '^headlight [0-9.]+: open: a fault of the program ended it \(SIGSEGV\)' "$said" || fail "a fault: expected its line"
fi
begin 'a window after the fault'
is_restored() { grep -sqF "$before_fault" "$XDG_STATE_HOME"/headlight/autosave-"$process"*.headlight.json; }
until_true 30 "'$before_fault' to be restored" is_restored
kill -TERM "$process"
ends_well 'SIGTERM after the fault'

# A display that is lost ends the program; every key that had come is kept.
Xvfb -displayfd 3 -screen 0 1280x1024x24 -noreset 3>"$home/display" >/dev/null 2>&1 &
display=$!
process=$display
until_true 20 'a display of its own' test -s "$home/display"
DISPLAY=:$(<"$home/display")
begin 'a fourth window'
xdotool windowfocus --sync "$window"
until_true 60 'a window at rest' rests
press ctrl l
xdotool type --delay 20 "$sentence"
sleep 0.5
kill -KILL "$display"
wait "$process" || true
process=
grep -rqF "$sentence" "$XDG_STATE_HOME" || fail "a lost display: expected '$sentence' to be kept, found none of it"
