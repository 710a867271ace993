#!/usr/bin/env bash
# Random hands in the real window, on a display without a screen: keys, clicks, drags, the wheel, typed English and
# Chinese, other sizes of the window, SIGTERM and SIGKILL. Not a part of ./test: run it with a sanitized program.
#   hands.sh PROGRAM [SECONDS [SEED]]      60 seconds, a seed by the clock
# The same seed gives the same input; frames come as the machine has them. A program that ends by itself with status 0
# (Ctrl Q), or that was ended, is started again, and offers what it kept. Exit status 1, the last input and the end of
# what the program printed: it ended otherwise, or a sanitizer has found something.
set -euo pipefail
for tool in xvfb-run xauth xdotool; do
  command -v "$tool" >/dev/null || { echo "hands: expected $tool to be installed, found none" >&2 && exit 2; }
done
if [[ ${1-} != --inside ]]; then exec xvfb-run -a -s '-screen 0 1600x1200x24 -noreset' "$0" --inside "$@"; fi
program=$(readlink -f "$2") seconds=${3:-60} seed=${4:-$(date +%s)}
RANDOM=$seed
echo "hands: seed $seed, $seconds s, $program"

home=$(mktemp -d "${TMPDIR:-/tmp}/headlight-hands-XXXXXX")
said=$home/said process='' window='' events=0 starts=0 quits=0 kills=0 begin=$SECONDS
trap '[[ -z $process ]] || kill -KILL "$process" 2>/dev/null || true; rm -rf "$home"' EXIT
export HOME=$home/user XDG_CONFIG_HOME=$home/config XDG_STATE_HOME=$home/state XDG_DATA_HOME=$home/data
export XDG_CACHE_HOME=$home/cache XDG_RUNTIME_DIR=$home LANG=C.UTF-8 LIBGL_ALWAYS_SOFTWARE=1
unset LC_ALL WAYLAND_DISPLAY
mkdir -p "$HOME"
cd "$HOME"

report() {
  echo "hands: $((SECONDS - begin)) s, $events events, $starts starts, $quits ended by Ctrl Q, $kills by signals: $1"
}
# broken WHAT: what was found, and all that leads to it.
broken() {
  report "$1"
  echo "last input: ${input[*]}"
  tail -n 60 "$said"
  exit 1
} >&2

start() {
  "$program" >"$said" 2>&1 </dev/null &
  process=$! window='' starts=$((starts + 1))
  local deadline=$((SECONDS + 300))
  until window=$(xdotool search --onlyvisible --name Headlight 2>/dev/null | head -n 1) && [[ -n $window ]]; do
    kill -0 "$process" 2>/dev/null || { ended && return; }
    ((SECONDS < deadline)) || broken "expected a window, found none in 300 s"
    sleep 0.3
  done
  xdotool windowfocus "$window" 2>/dev/null || true
}

# ended [STATUS]: takes the exit status of a program that is no more; other than 0 (or STATUS) is a fault.
ended() {
  local status=0
  wait "$process" || status=$?
  process=''
  ((status == 0 || status == ${1:-0})) || broken "expected exit status 0, found $status"
  if grep -qE 'ERROR: |runtime error|WARNING: ThreadSanitizer' "$said"; then broken 'the sanitizer has found something'; fi
}

# finish SIGNAL: ends the program in the middle of what it does.
finish() {
  kills=$((kills + 1))
  kill -"$1" "$process"
  local deadline=$((SECONDS + 120))
  while kill -0 "$process" 2>/dev/null; do
    ((SECONDS < deadline)) || broken "SIG$1: expected the program to end, found it running after 120 s"
    sleep 0.1
  done
  ended $(($1 == 9 ? 137 : 0))
}

keys=(a b c d e f g h i j k l m n o p r s t u v w x y z 0 1 2 3 9 space comma period slash equal minus bracketleft bracketright
  Return Escape Escape Escape BackSpace Delete Tab Home End Prior Next Left Right Up Down F1 F2 F11 q)
modifiers=(ctrl shift alt ctrl+shift)
texts=('The cat that the dogs saw runs' 'it ' '我请李雷帮我订机票' '，' '😀𠮷é' 'a b c d e f g h' '1.5' '-0' '1e99' '../x' '把文件交给了秘书。'
  '{"text":' '[MASK]' 'They gave him a book because he asked')

somewhere() { place=($((RANDOM % width)) $((RANDOM % height))); }
width=1280 height=800 input=()
# One to eight things that a hand does, as words for xdotool.
act() {
  input=()
  local many=$((1 + RANDOM % 8)) place
  for (( ; many > 0; --many)); do
    somewhere
    case $((RANDOM % 16)) in
      0 | 1 | 2 | 3) input+=(mousemove "${place[@]}" click 1) ;;
      4) input+=(mousemove "${place[@]}" click 3) ;;
      5) input+=(mousemove "${place[@]}" click --repeat 2 --delay 30 1) ;;
      6 | 7) input+=(key "${keys[RANDOM % ${#keys[@]}]}") ;;
      8 | 9) input+=(key "${modifiers[RANDOM % ${#modifiers[@]}]}+${keys[RANDOM % ${#keys[@]}]}") ;;
      10) input+=(mousemove "${place[@]}" click --repeat $((1 + RANDOM % 9)) --delay 5 $((4 + RANDOM % 2))) ;;
      11)
        input+=(mousemove "${place[@]}" mousedown 1)
        somewhere
        input+=(mousemove "${place[@]}" sleep 0.05)
        somewhere
        input+=(mousemove "${place[@]}" mouseup 1)
        ;;
      12) input+=(mousemove "${place[@]}" sleep 0.1) ;;
      13) input+=(key ctrl+l type --delay 5 --args 1 "${texts[RANDOM % ${#texts[@]}]}") ;;
      14) input+=(type --delay 5 --args 1 "${texts[RANDOM % ${#texts[@]}]}") ;;
      15)
        ((RANDOM % 8 == 0)) || continue
        width=$((200 + RANDOM % 1400)) height=$((150 + RANDOM % 1000))
        input+=(windowsize "$window" "$width" "$height")
        ;;
    esac
    events=$((events + 1))
  done
}

start
quiet=0
while ((SECONDS - begin < seconds)); do
  if [[ -z $process ]]; then start; fi
  if [[ -z $process ]]; then quits=$((quits + 1)) && continue; fi
  act
  if ((${#input[@]})); then timeout 60 xdotool "${input[@]}" >/dev/null 2>&1 || true; fi
  if ! kill -0 "$process" 2>/dev/null; then
    ended && quits=$((quits + 1))
  elif ((RANDOM % 400 == 0)); then
    finish $((RANDOM % 2 ? 15 : 9))
  elif ((++quiet % 50 == 0)); then
    sleep 1 # answers arrive, and what has rested is drawn
    echo "hands: $((SECONDS - begin)) s, $events events"
  fi
done
[[ -z $process ]] || finish 15
report 'nothing found'
