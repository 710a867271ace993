#!/usr/bin/env bash
# ./run on a machine of its own making: a small project, and a dpkg, an apt-get and a sudo that only keep a diary.
#   scripts.sh SOURCE_TREE
# shellcheck disable=SC2016  # what the stand-ins say is expanded by them
set -euo pipefail
source_tree=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/headlight-scripts-XXXXXX")
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
diary=$work/diary
installed=$work/installed

fail() {
  echo "scripts: $*" >&2
  for file in "$work/out" "$work/err" "$diary"; do
    [[ -f $file ]] && sed "s|^|  ${file##*/}: |" "$file" >&2
  done
  exit 1
}

# The machine.
mkdir "$work/bin"
fake() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
export diary installed
fake dpkg-query 'for name; do grep -qxF -- "$name" "$installed" && echo "$name installed"; done; exit 1'
fake apt-get 'echo "apt-get $*" >>"$diary"; [[ ! -e $diary.broken ]] || exit 100
[[ " $* " != *" install "* ]] || for name; do echo "$name"; done >>"$installed"'
fake sudo 'echo "sudo $*" >>"$diary"; exec "$@"'
fake id 'echo "${FAKE_ID:-0}"'
PATH=$work/bin:$PATH

# The project: prints its arguments and its standard input, and ends with status 7.
tree="$work/a tree"
mkdir -p "$tree/.ci" "$tree/core" "$tree/app" "$tree/tools"
cp "$source_tree/run" "$tree/"
cp "$source_tree/.ci/prepare" "$tree/.ci/"
printf '# list\n[core] # first\nlib-one\n  lib-two  # comment\n[window]\n[run]\nlib-three\n[tests]\nlib-four' \
  >"$tree/.ci/packages"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES CXX)
file(GLOB SOURCES CONFIGURE_DEPENDS app/*.cpp)
add_executable(headlight ${SOURCES})
add_executable(headlight_bench EXCLUDE_FROM_ALL ${SOURCES})
target_compile_definitions(headlight_bench PRIVATE BENCH)
add_dependencies(headlight_bench headlight)
END
cat >"$tree/CMakePresets.json" <<'END'
{ "version": 6, "configurePresets": [ { "name": "release", "generator": "Ninja",
  "binaryDir": "${sourceDir}/build/${presetName}", "cacheVariables": { "CMAKE_BUILD_TYPE": "Debug" } } ] }
END
program() {
  cat >"$tree/app/main.cpp" <<END
#include <iostream>
int main(int count, char** words) {
  std::cout << "$1";
#ifdef BENCH
  std::cout << " bench";
#endif
  for (int i = 1; i < count; ++i) std::cout << '[' << words[i] << ']';
  std::cout << std::cin.rdbuf();
  return 7;
}
END
}

# run ARGS… : ./run from elsewhere, with standard input; leaves out, err and status.
run() {
  status=0
  (cd / && printf 'input' | "$tree/run" "$@") >"$work/out" 2>"$work/err" || status=$?
}
answers() {
  [[ $status == 7 && $(<"$work/out") == "$1" ]] || fail "$2: expected status 7 and $1, found status $status"
}
refuses() {
  [[ $status == 2 && ! -s $work/out ]] || fail "$1: expected status 2 and an empty standard output, found $status"
}
said() { grep -qF -- "$1" "$work/err" || fail "expected on standard error: $1"; }
noted() { grep -qF -- "$1" "$diary" || fail "expected in the diary: $1"; }
nothing_noted() { [[ ! -s $diary ]] || fail "$1: expected apt-get to be left alone"; }

echo lib-two >"$installed"
: >"$diary"
program one

run --no-install
refuses 'packages missing, installing forbidden'
said 'lib-one lib-three'
[[ $(wc -l <"$work/err") == 1 ]] || fail 'installing forbidden: expected one line'
nothing_noted 'installing forbidden'

touch "$diary.broken"
run
refuses 'apt-get fails'
said 'lib-one lib-three'
rm "$diary.broken"

: >"$diary"
FAKE_ID=1000 run 'two words' --no-install ''
answers 'one[two words][--no-install][]input' 'first run'
said 'lib-one lib-three'
noted 'sudo env DEBIAN_FRONTEND=noninteractive apt-get'
noted 'install --no-install-recommends lib-one lib-three'
grep -q 'lib-two\|lib-four' "$diary" && fail 'expected only what is missing to be installed'

: >"$diary"
begin=${EPOCHREALTIME/./}
run again
spent=$(((${EPOCHREALTIME/./} - begin) / 1000))
answers 'one[again]input' 'second run'
[[ ! -s $work/err ]] || fail 'second run: expected nothing on standard error'
((spent < 1000)) || fail "second run: expected less than a second, found $spent ms"
nothing_noted 'second run'

run bench again
answers 'one bench[again]input' 'the benchmark'
said 'building'
run bench
answers 'one benchinput' 'the benchmark, second run'
[[ ! -s $work/err ]] || fail 'the benchmark, second run: expected nothing on standard error'

program two
run
answers 'twoinput' 'after an edit'
run bench
answers 'two benchinput' 'the benchmark, after an edit and a build of the program'
nothing_noted 'after an edit'

echo 'this is not C++' >"$tree/app/broken.cpp"
run
refuses 'a source that does not compile'
said 'broken.cpp'
rm "$tree/app/broken.cpp"
run
answers 'twoinput' 'after the repair'

echo 'message(FATAL_ERROR "no such library")' >>"$tree/CMakeLists.txt"
run
refuses 'a configuration that fails'
said 'no such library'
said 'lib-one lib-two lib-three'
sed -i '$d' "$tree/CMakeLists.txt"

program three
for each in 1 2 3; do
  (cd / && "$tree/run" $each </dev/null >"$work/out.$each" 2>>"$work/err" || echo $? >>"$work/out.$each") &
done
wait
for each in 1 2 3; do
  [[ $(<"$work/out.$each") == "three[$each]7" ]] || fail "three at once: found $(<"$work/out.$each")"
done

# A running program does not prevent a build.
mkfifo "$work/typed"
"$tree/run" <"$work/typed" >"$work/out.open" 2>&1 &
exec {typed}>"$work/typed"
program four
(cd / && timeout 60 "$tree/run" {typed}>&- </dev/null >"$work/out" 2>"$work/err") || status=$?
[[ $(<"$work/out") == four ]] || fail "beside an open program: expected four, found status $status"
exec {typed}>&-
wait

# On a terminal a line that moves shows the progress of a build; it is taken away before the program starts.
step() { (root=$tree && . "$tree/.ci/prepare" && step_of "$work/log" "$1"); }
printf 'Setting up lib-one (1.0) ...\n' >"$work/log"
[[ $(step 3) == 'setting up lib-one' ]] || fail "progress of packages: found $(step 3)"
printf '[3/100] Building\n' >>"$work/log"
[[ $(step 10) == '3 of 100' ]] || fail "progress at first: found $(step 10)"
printf '[20/100] Building\n' >>"$work/log"
[[ $(step 20) == '20 of 100 · about 1 min 20 s' ]] || fail "progress: found $(step 20)"
program five
script -qec "'$tree/run'" /dev/null </dev/null >"$work/out" 2>&1 || true
grep -q $'\r\033\\[Kheadlight: ' "$work/out" || fail 'on a terminal: expected a line of progress'
grep -q $'\r\033\\[Kfive' "$work/out" || fail 'on a terminal: expected the program after the line is gone'

mv "$tree" "$work/another tree"
tree="$work/another tree"
run
answers 'fiveinput' 'after the tree was moved'
ln -s "$tree/run" "$work/link"
[[ $("$work/link" linked </dev/null) == 'five[linked]' ]] || fail 'through a link: expected the same program'

# A tree of another owner is built in the user's cache.
reader=()
((EUID)) || reader=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod a+rx "$work"
chmod -R a-w,a+rX "$tree"
mkdir "$XDG_CACHE_HOME"
chmod a+rwx "$XDG_CACHE_HOME"
for each in first second; do
  status=0
  (cd / && "${reader[@]}" "$tree/run" $each </dev/null >"$work/out" 2>"$work/err") || status=$?
  [[ $status == 7 && $(<"$work/out") == "five[$each]" ]] ||
    fail "another program's tree, $each time: expected status 7 and five[$each], found status $status"
done
[[ ! -s $work/err ]] || fail "another program's tree, second time: expected nothing on standard error"
chmod -R u+w "$tree"
