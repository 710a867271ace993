#!/usr/bin/env bash
# Builds the fuzz program with clang and libFuzzer and lets each of its targets look for trouble, from its seeds and what earlier
# calls found:
#   tests/fuzz/run.sh [SECONDS [TARGET…]]      60 seconds each; a TARGET is a name as in `json`, by default all
# HEADLIGHT_FUZZ_BUILD is the build folder (build/fuzz), CLANG the compiler (clang++). What breaks a target is kept as
# build/fuzz/found/TARGET/…, and the exit status is 1; put the file among the seeds once it is mended.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${HEADLIGHT_FUZZ_BUILD:-$source/build/fuzz}
clang=${CLANG:-clang++}
seconds=${1:-60}
shift || true

if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "tests/fuzz/run.sh: SECONDS: expected a number from 1 on, found $seconds" >&2
  exit 2
fi
if ! command -v "$clang" > /dev/null; then
  echo "tests/fuzz/run.sh: compiler: expected clang with libFuzzer (Debian: apt install clang), found no $clang" >&2
  exit 2
fi

targets=()
for file in "$source"/tests/fuzz/*_fuzz.cpp; do
  name=$(basename "$file" _fuzz.cpp)
  if [[ $# -eq 0 || " $* " == *" $name "* ]]; then targets+=("$name"); fi
done
if [[ ${#targets[@]} -eq 0 || ( $# -gt 0 && ${#targets[@]} -ne $# ) ]]; then
  echo "tests/fuzz/run.sh: TARGET: expected names of tests/fuzz/NAME_fuzz.cpp, found $*" >&2
  exit 2
fi

cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Debug -DHEADLIGHT_GUI=OFF \
  -DHEADLIGHT_FUZZ=ON -DCMAKE_UNITY_BUILD=ON -DHEADLIGHT_SANITIZE=address,undefined,fuzzer-no-link > /dev/null
cmake --build "$build" --target fuzz

broken=0
for name in "${targets[@]}"; do
  found=$build/found/$name corpus=$build/corpus/$name
  mkdir -p "$found" "$corpus"
  # The files that the test suite begins from (tests/CMakeLists.txt).
  seeds=$(mktemp -d)
  find "$source/tests/fuzz/seeds" "$source"/tests/golden/{tensors-*,pictures} -type f \
    \( -path "*/seeds/$name/*" -o -path "*/golden/*.$name" \) |
    while read -r file; do cp "$file" "$seeds/$(echo "${file#"$source"/tests/}" | tr / -)"; done
  before=$(find "$found" -type f | wc -l)
  log=$found/../$name.log
  # A reader is bounded in time and memory: an input of a few kilobytes takes neither 10 seconds nor 1 GB at once.
  "$build/tests/fuzz" "$name" -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=1024 -rss_limit_mb=2048 \
    -max_len=16384 -artifact_prefix="$found/" -print_final_stats=1 "$corpus" "$seeds" > "$log" 2>&1 || true
  rm -r "$seeds"
  after=$(find "$found" -type f | wc -l)
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
  if [[ $after -gt $before || -z $runs ]]; then
    broken=1
    echo "$name: broken; see $log"
    grep -m 3 -E '^==|ERROR|SUMMARY|runtime error' "$log" || true
  else
    echo "$name: $runs inputs in $seconds s, at most $peak MB, nothing found"
  fi
done
exit $broken
