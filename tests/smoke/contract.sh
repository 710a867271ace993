#!/usr/bin/env bash
# What scripts rely on stays: every command, option and choice that was ever promised is in the help. contract.sh PROGRAM
# A line: a command, then what its help (`--help` and its further pages) names. Lines are added, never taken away.
set -euo pipefail
program=$1 faults=0 promises=0

help_of() {
  "$program" "$1" --help
  for topic in $("$program" "$1" --help | grep -oE -- '--help-[a-z]+' | sort -u); do "$program" "$1" "$topic"; done
}

declare -A helps  # of commands, asked once
while read -r command promised; do
  if [[ -z ${helps[$command]-} ]] && ! helps[$command]=$(help_of "$command"); then
    echo "$command: expected a command, found none" >&2
    faults=$((faults + 1))
    continue
  fi
  for word in $promised; do
    promises=$((promises + 1))
    [[ ${helps[$command]} =~ (^|[^a-z-])${word//./\\.}([^a-z-]|$) ]] && continue  # a process for each would take a minute
    echo "$command --help: expected $word, found none" >&2
    faults=$((faults + 1))
  done
done <<'PROMISED'
open --text --text-pair --target --tokens --ids --decoder-ids --token-type-ids --random --arch --d-model --num-heads --layers --ffn
open --position --norm --activation --seed --no-bias --mask --pad --scale --dropout --off --threads .safetensors .npz .headlight.json .html
open --sentence --array --axes
heads --sentence --step --array --axes
figure --range --grid --mask-true
screenshot --range --grid --mask-true
open --range --grid --reduce
heads --reduce
export -o --format json npz safetensors csv --with qkv scores --special show hide renormalize --only --dtype --lines --jobs --threads
export --reduce mean max sum rollout heads layers tokens words sentences
figure --reduce
figure -o --view head flow patch lens writers matrix --layer --head --matrix --row --column --width --threshold --heads
figure --colours --theme --language --font --no-caption --metric --answers --query
screenshot -o --size --view --boxes --language
heads --sort --ascending --against --format text csv json --effect --from --to --above --relations --test-seed --pairs --metric --answers
heads --baseline --at-layers --at-heads
patch --baseline all
export qk ov
heads copying composition
heads --off-as --probe --query --control --baseline --resume --shard --gather --gather-partial
explain --layer --head --query --key --format --against
train --steps --d-model --num-heads --layers --seed -o --resume --overwrite
tokenize --text --format
next --top --token --format
similarity --with --format
generate --count --temperature
check --format --picture reference.npz
diagnose --tolerance --format --num-heads
models --format
what PATH
report MODEL --threads
page -o --only --live --view lens patch --against
site -o --language --theme
code --dialect numpy einsum matmul module --layer -o --block
why --layer --head --query --key --format text csv json npz --pairs --sink
lens --top --format --pairs --answers --metric --query --resume
patch --from --at heads residual ffn pattern q k v --at-layers --at-heads --at-tokens --format --pairs --metric logit-difference
open --timings --lesson --step
patch probability kl rank --answers --query --direction --control --from-head --to --align --normalise --resume --shard --gather
patch --gather-partial --estimate
figure --view study
study --slurm --format
claims --treebank --format text json
mcp FOLDER
PROMISED

# Names that are in no help.
for view in grid layers; do
  "$program" figure --view "$view" --text 'a b' -o "${TMPDIR:-/tmp}/contract-$$.svg" || faults=$((faults + 1))
done
rm -f "${TMPDIR:-/tmp}/contract-$$.svg"
"$program" compare --help >/dev/null || faults=$((faults + 1))
"$program" --version >/dev/null || faults=$((faults + 1))
echo "contract: $promises promises"
exit $((faults > 0))
