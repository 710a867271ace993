#!/usr/bin/env bash
# Changes one line of the program at a time and says whether the tests see it.
#   run.sh BUILD_FOLDER [--changed COMMIT] [--switched] [NAME…]
#                                  all mutants of the table, or those whose names contain one of these, or of files that
#                                  differ from the commit; a build folder of a clean checkout, in which ninja builds the
#                                  programs that the table names: core is tests_core; core,release are both. In the end a
#                                  score for each folder. --switched: those whose two texts are expressions, all in one
#                                  build, each switched on while its tests run: a build for all instead of two for each
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
switched=no
if [[ ${1-} == --switched ]]; then switched=yes && shift; fi

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
  ((${#names[@]} >= 120)) || { echo "expected at least 120 mutants, found ${#names[@]}" >&2 && faults=1; }
  exit $((faults > 0))
fi

# Whether the tests of a filter pass in each of these programs.
passes() {
  local filter=$1 program
  shift
  for program; do timeout 300 "$build/tests/tests_$program" --gtest_filter="$filter" || return 1; done
}

declare -A originals=()  # of the changed files
restore() {
  local file
  for file in "${!originals[@]}"; do printf %s "${originals[$file]%x}" >"$tree/$file"; done
  originals=()
}
trap restore EXIT

# Whether the texts of a mutant can stand on the two sides of a `?`.
is_expression() {
  local both=${olds[$1]}${news[$1]}
  [[ $both != *[\;{}]* && ${olds[$1]} != if\ * && ${olds[$1]} != return\ * ]]
}

# Writes a mutant into its file: instead of what stands there, or as a switch beside it.
mutate() {
  local file=${files[$1]} text new=${news[$1]} chosen='::getenv("HEADLIGHT_MUTANT")'
  if [[ -z ${originals[$file]+known} ]]; then
    git -C "$tree" diff --quiet -- "$file" || { echo "$file: expected no uncommitted change" >&2 && exit 2; }
    originals[$file]=$(content "$tree/$file")
  fi
  text=$(content "$tree/$file")
  [[ $switched == no ]] || new="($chosen && ::atoi($chosen) == $1 ? ($new) : (${olds[$1]}))"
  [[ $text == *"${olds[$1]}"* ]] || { echo "${names[$1]}: does not fit $file" >&2 && exit 2; }
  text=${text/"${olds[$1]}"/"$new"}
  printf %s "${text%x}" >"$tree/$file"
}

builds() { ninja -C "$build" "${@/#/tests_}" >"$build/mutant.log" 2>&1; }

# Runs the tests of a mutant, which is built, and prints what became of it.
verdict_of() {
  local verdict programs
  IFS=, read -ra programs <<<"${kinds[$1]}"
  if HEADLIGHT_MUTANT=$1 passes "${filters[$1]}" "${programs[@]}" >"$build/mutant.log" 2>&1; then
    verdict='LIVES'
    grep -q 'Running 0 tests' "$build/mutant.log" && verdict='LIVES: no test has such a name'
    live=$((live + 1))
  else
    verdict="caught by $(grep -oE '^\[  FAILED  \] [A-Za-z_/0-9]+\.[A-Za-z_0-9]+' "$build/mutant.log" | sed 's/.*\] //' | sort -u | wc -l)"
  fi
  count_as "$1" "$verdict"
}

live=0 count=0
declare -A tried=() caught=()  # of a folder
count_as() {
  local room
  room=$(dirname "${files[$1]}")
  count=$((count + 1))
  tried[$room]=$((${tried[$room]-0} + 1))
  [[ $2 == LIVES* ]] || caught[$room]=$((${caught[$room]-0} + 1))
  printf '%-42s %s\n' "${names[$1]}" "$2"
}

wanted=()
for i in "${!names[@]}"; do
  [[ $changed == all || $'\n'$changed$'\n' == *$'\n'${files[i]}$'\n'* ]] || continue
  [[ $switched == no ]] || is_expression "$i" || continue
  (($# > 0)) || wanted+=("$i")
  for name; do [[ ${names[i]} == *"$name"* ]] && wanted+=("$i") && break; done
done
if [[ $switched == yes ]]; then
  declare -A unchanged=()  # the filters of a program
  for i in "${wanted[@]}"; do
    mutate "$i"
    for program in ${kinds[i]//,/ }; do unchanged[$program]+=${unchanged[$program]+:}${filters[i]}; done
  done
  builds "${!unchanged[@]}" || { cat "$build/mutant.log" && exit 2; }
  for program in "${!unchanged[@]}"; do
    passes "${unchanged[$program]}" "$program" >"$build/mutant.log" 2>&1 ||
      { echo "expected all tests to pass while no mutant is on" && tail -n 20 "$build/mutant.log" && exit 2; } >&2
  done
  for i in "${wanted[@]}"; do verdict_of "$i"; done
else
  for i in "${wanted[@]}"; do
    mutate "$i"
    IFS=, read -ra programs <<<"${kinds[i]}"
    if builds "${programs[@]}"; then verdict_of "$i"; else count_as "$i" 'does not compile'; fi
    restore
  done
fi
((count == 0)) || printf '%s\n' "${!tried[@]}" | sort | while read -r room; do
  echo "$room: ${caught[$room]-0} of ${tried[$room]} caught"
done
echo "$count mutants, $live live"
((live == 0))
