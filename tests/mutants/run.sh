#!/usr/bin/env bash
# Changes one line of the program at a time and says whether the tests see it.
#   run.sh BUILD_FOLDER [--changed COMMIT] [NAME…]
#                                  all mutants of the table, or those whose names contain one of these, or of files that
#                                  differ from the commit; a build folder of a clean checkout, in which ninja builds the
#                                  programs that the table names: core is tests_core; core,release are both. In the end a
#                                  score for each room
#   run.sh --check SOURCE_TREE     whether each line of the table still fits the sources; builds nothing
# A mutant that the tests do not see is a test that is missing, or a line that changes nothing. Exit status 1: some live.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
tree=$(cd "$here/../.." && pwd -P)
check=no
if [[ ${1-} == --check ]]; then check=yes && tree=$(readlink -f "$2"); else build=$(readlink -f "$1"); fi
shift $(($# > 1 && ${#check} == 3 ? 2 : 1))
changed=all
if [[ ${1-} == --changed ]]; then changed=$(git -C "$tree" diff --name-only "$2") && shift 2; fi

names=() files=() olds=() news=() kinds=() filters=()
while IFS= read -r line; do
  [[ -z $line || $line == '#'* ]] && continue
  line=${line//'\|'/$'\x01'}
  fields=()
  while [[ $line == *' | '* ]]; do
    fields+=("${line%%' | '*}")
    line=${line#*' | '}
  done
  fields+=("$line")
  ((${#fields[@]} == 5)) || { echo "table: expected five fields, found ${#fields[@]}: ${fields[0]}" >&2 && exit 2; }
  fields=("${fields[@]//$'\x01'/|}")
  names+=("${fields[0]}") files+=("${fields[1]}") olds+=("${fields[2]}") news+=("${fields[3]}")
  kinds+=("${fields[4]%% *}") filters+=("${fields[4]#* }")
done <"$here/table"

content() { cat "$1" && printf x; }

# How often $2 stands in the text $1.
times() {
  local rest=$1 count=0
  while [[ $rest == *"$2"* ]]; do
    rest=${rest#*"$2"}
    count=$((count + 1))
  done
  echo "$count"
}

if [[ $check == yes ]]; then
  faults=0
  for i in "${!names[@]}"; do
    found=$(times "$(<"$tree/${files[i]}")" "${olds[i]}") || found=0
    ((found == 1)) && [[ ${olds[i]} != "${news[i]}" ]] && continue
    echo "${names[i]}: ${files[i]}: expected '${olds[i]}' once, found it $found times" >&2
    faults=$((faults + 1))
  done
  ((${#names[@]} >= 40)) || { echo "expected at least 40 mutants, found ${#names[@]}" >&2 && faults=1; }
  exit $((faults > 0))
fi

# Whether the tests of a filter pass in each of these programs.
passes() {
  local filter=$1 program
  shift
  for program; do timeout 300 "$build/tests/tests_$program" --gtest_filter="$filter" || return 1; done
}

mutated=''
restore() { [[ -z $mutated ]] || { printf %s "${original%x}" >"$tree/$mutated" && mutated=''; }; }
trap restore EXIT
live=0 count=0
declare -A tried=() caught=()  # of a room
for i in "${!names[@]}"; do
  wanted=$(($# == 0))
  for name; do [[ ${names[i]} == *"$name"* ]] && wanted=1; done
  file=${files[i]}
  [[ $changed == all || $'\n'$changed$'\n' == *$'\n'$file$'\n'* ]] || wanted=0
  ((wanted)) || continue
  git -C "$tree" diff --quiet -- "$file" || { echo "$file: expected no uncommitted change" >&2 && exit 2; }
  original=$(content "$tree/$file")
  mutant=${original/"${olds[i]}"/"${news[i]}"}
  [[ $mutant != "$original" ]] || { echo "${names[i]}: does not fit $file" >&2 && exit 2; }
  mutated=$file
  printf %s "${mutant%x}" >"$tree/$file"
  IFS=, read -ra programs <<<"${kinds[i]}"
  if ! ninja -C "$build" "${programs[@]/#/tests_}" >"$build/mutant.log" 2>&1; then
    grep -qE '(error|FAILED):' "$build/mutant.log" && verdict='does not compile'
  elif passes "${filters[i]}" "${programs[@]}" >"$build/mutant.log" 2>&1; then
    verdict='LIVES'
    grep -q 'Running 0 tests' "$build/mutant.log" && verdict='LIVES: no test has such a name'
    live=$((live + 1))
  else
    verdict="caught by $(grep -oE '^\[  FAILED  \] [A-Za-z_/0-9]+\.[A-Za-z_0-9]+' "$build/mutant.log" | sed 's/.*\] //' | sort -u | wc -l)"
  fi
  restore
  count=$((count + 1))
  room=$(cut -d/ -f1,2 <<<"$file")
  tried[$room]=$((${tried[$room]-0} + 1))
  [[ $verdict == LIVES* ]] || caught[$room]=$((${caught[$room]-0} + 1))
  printf '%-36s %s\n' "${names[i]}" "$verdict"
done
((count == 0)) || printf '%s\n' "${!tried[@]}" | sort | while read -r room; do
  echo "$room: ${caught[$room]-0} of ${tried[$room]} caught"
done
echo "$count mutants, $live live"
((live == 0))
