#!/usr/bin/env bash
# Does one thing wrong at a time in the program and says whether the tests see it.
#   run.sh BUILD_FOLDER [--changed COMMIT] [NAME…]
#                                  all mutants of the table, or those whose names contain one of these, or of files that
#                                  differ from the commit; a build folder of a clean checkout, in which ninja builds the
#                                  programs that the table names: core is tests_core; core,release are both. All mutants
#                                  stand in one build, each as a switch that is turned on while its tests run; the sources
#                                  are as they were as soon as it is built. In the end a score for each room
#   run.sh --check SOURCE_TREE     whether each line of the table still fits the sources; builds nothing
# The two texts of a mutant are expressions, or whole statements (without a declaration) that end with a semicolon.
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

is_statement() { [[ ${olds[$1]} == *\; && ${news[$1]} == *\; ]]; }

# Puts the switch of a mutant in the place of what stands there; says what is wrong where its texts cannot be exchanged.
declare -A texts=()  # of the changed files
mutate() {
  local file=${files[$1]} old=${olds[$1]} new=${news[$1]} text without is_on fault=
  [[ -n ${texts[$file]+known} ]] || texts[$file]=$(cat "$tree/$file" && printf x)
  text=${texts[$file]}
  without=${text//"$old"/}
  if ((${#text} - ${#without} != ${#old})); then fault="expected '$old' once"; fi
  if [[ $old == "$new" ]]; then fault="expected two texts, found '$old' twice"; fi
  if ! is_statement "$1" && [[ $old$new == *[\;{}]* || $old == if\ * || $old == return\ * ]]; then
    fault="expected expressions or statements, found '$old' and '$new'"
  fi
  [[ -z $fault ]] || { echo "${names[$1]}: $file: $fault" >&2 && return 1; }
  is_on="[] { static const char* const mutant_on = ::getenv(\"HEADLIGHT_MUTANT\");"
  is_on+=" return mutant_on && __builtin_strcmp(mutant_on, \"${names[$1]}\") == 0; }()"
  if is_statement "$1"; then new="{ if ($is_on) { $new } else { $old } }"; else new="($is_on ? ($new) : ($old))"; fi
  texts[$file]=${text/"$old"/"$new"}
}

if [[ $check == yes ]]; then
  faults=0
  for i in "${!names[@]}"; do mutate "$i" || faults=$((faults + 1)); done
  [[ -z $(printf '%s\n' "${names[@]}" | sort | uniq -d) ]] || { echo 'table: two mutants have one name' >&2 && faults=1; }
  ((${#names[@]} >= 120)) || { echo "expected at least 120 mutants, found ${#names[@]}" >&2 && faults=1; }
  exit $((faults > 0))
fi

wanted=()
for i in "${!names[@]}"; do
  [[ $changed == all || $'\n'$changed$'\n' == *$'\n'${files[i]}$'\n'* ]] || continue
  (($# > 0)) || wanted+=("$i")
  for name; do [[ ${names[i]} == *"$name"* ]] && wanted+=("$i") && break; done
done
declare -A filter_of=()  # a program: all tests that the wanted mutants name
for i in "${wanted[@]}"; do
  mutate "$i" || exit 2
  for program in ${kinds[i]//,/ }; do filter_of[$program]+=${filter_of[$program]+:}${filters[i]}; done
done

# The build, with the sources as they are only while it lasts.
scratch=$(mktemp -d)
declare -A originals=()
restore() {
  local file
  for file in "${!originals[@]}"; do printf %s "${originals[$file]%x}" >"$tree/$file"; done
  originals=()
}
trap 'restore; rm -rf "$scratch"' EXIT
for file in "${!texts[@]}"; do
  git -C "$tree" diff --quiet -- "$file" || { echo "$file: expected no uncommitted change" >&2 && exit 2; }
  originals[$file]=$(cat "$tree/$file" && printf x)
  printf %s "${texts[$file]%x}" >"$tree/$file"
done
programs=("${!filter_of[@]}")
ninja -C "$build" -j "$(nproc)" "${programs[@]/#/tests_}" >"$scratch/build" 2>&1 ||
  { tail -n 60 "$scratch/build" >&2 && exit 2; }
restore
built=$SECONDS

# Whether the tests of a filter pass in these programs within so many seconds, up to the first that fails.
passes() {
  local limit=$1 filter=$2 program
  shift 2
  for program; do
    timeout "$limit" "$build/tests/tests_$program" --gtest_filter="$filter" --gtest_fail_fast || return 1
  done
}

# Runs the tests of a mutant and writes what became of it.
try() {
  local said=$scratch/$1.said verdict
  local -a programs
  IFS=, read -ra programs <<<"${kinds[$1]}"
  if HEADLIGHT_MUTANT=${names[$1]} passes 120 "${filters[$1]}" "${programs[@]}" >"$said" 2>&1; then
    verdict='LIVES'
    grep -q 'Running 0 tests' "$said" && verdict='LIVES: no test has such a name'
  else
    verdict=$(grep -oE '^\[  FAILED  \] [A-Za-z_/0-9]+\.[A-Za-z_/0-9]+' "$said" | head -n 1) || true
    verdict="caught by ${verdict:-the end of the program}"
  fi
  echo "${verdict/'[  FAILED  ] '/}" >"$scratch/$1"
}

# As many programs at a time as there are processors.
in_turn() {
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || true; done
  "$@" &
}

unchanged() {
  passes 1200 "${filter_of[$1]}" "$1" >"$scratch/$1.said" 2>&1 || touch "$scratch/$1.fails"
}
for program in "${!filter_of[@]}"; do in_turn unchanged "$program"; done
wait
for program in "${!filter_of[@]}"; do
  [[ ! -e $scratch/$program.fails ]] ||
    { echo "expected all tests to pass while no mutant is on" && tail -n 20 "$scratch/$program.said" && exit 2; } >&2
done

for i in "${wanted[@]}"; do in_turn try "$i"; done
wait
live=0
declare -A tried=() caught=()  # of a room
for i in "${wanted[@]}"; do
  verdict=$(<"$scratch/$i")
  IFS=/ read -r product room _ <<<"${files[i]}"
  room=$product/$room
  tried[$room]=$((${tried[$room]-0} + 1))
  if [[ $verdict == LIVES* ]]; then live=$((live + 1)); else caught[$room]=$((${caught[$room]-0} + 1)); fi
  printf '%-42s %s\n' "${names[i]}" "$verdict"
done
((${#wanted[@]} == 0)) || printf '%s\n' "${!tried[@]}" | sort | while read -r room; do
  echo "$room: ${caught[$room]-0} of ${tried[$room]} caught"
done
echo "${#wanted[@]} mutants, $live live; built in $built s, tried in $((SECONDS - built)) s"
((live == 0))
