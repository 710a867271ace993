#!/usr/bin/env bash
# Many lines shared out among processes by GNU parallel come back as one process gives them: parallel.sh PROGRAM
set -euo pipefail
program=$1

fail() {
  echo "parallel: $*" >&2
  exit 1
}

if ! command -v parallel >/dev/null; then  # not installed: skipped, which CI forbids
  [[ -z ${HEADLIGHT_NO_SKIP-}${CI-} ]] || fail 'expected GNU parallel to be installed, found none'
  exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/headlight-parallel-XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work

# Sentences of several lengths, each one different, so that a line out of its place is seen.
for ((i = 0; i < 60; ++i)); do
  echo "我请李雷帮我订了去北京的机票$(printf '，我请李雷%.0s' $(seq $((i % 4)))) $i"
done >"$work/lines"

"$program" export --text - --lines <"$work/lines" >"$work/one"
[[ $(wc -l <"$work/one") == 60 ]] || fail "one process: expected 60 lines, found $(wc -l <"$work/one")"

# The line of docs/command-line.md, in smaller blocks.
parallel --keep-order --pipe --block 500 --jobs 3 "$program" export --text - --lines --threads 1 <"$work/lines" >"$work/many"
cmp "$work/one" "$work/many" || fail 'expected the same bytes of several processes as of one, found others'

# … and that it shared them out at all.
parts=$(parallel --keep-order --pipe --block 500 --jobs 3 wc -l <"$work/lines" | wc -l)
((parts > 1)) || fail "expected several blocks, found $parts"
