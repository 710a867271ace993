#!/usr/bin/env bash
# Runs the command lines of a document and compares their output; docs/contributing.md states the conventions.
#   run.sh [--slow] PROGRAM SOURCE_TREE DOCUMENT…
set -euo pipefail
slow=no
if [[ ${1-} == --slow ]]; then slow=yes && shift; fi
program=$(readlink -f "$1")
bench=$(dirname "$program")/headlight_bench
tree=$(readlink -f "$2")
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/headlight-docs-XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME=$work/home XDG_CACHE_HOME=$work/home XDG_CONFIG_HOME=$work/home XDG_STATE_HOME=$work/home
export XDG_DATA_HOME=$work/home HEADLIGHT_DATA=$tree LC_ALL=C.UTF-8 built=$program bench work  # `program` is set by pyenv's python3
unset DISPLAY WAYLAND_DISPLAY
mkdir "$HOME" "$work/blocks"

faults=0
fault() {
  printf '%s\n' "$*" >&2
  faults=$((faults + 1))
}

# What the documents call CHECKPOINT, and the program as they call it.
make_folder() {
  rm -rf "$work/folder"
  mkdir "$work/folder" && cd "$work/folder"
  ln -s "$tree/assets" assets
  ln -s "$tree/tests" tests
  cp -r "$tree/tests/golden/bert" CHECKPOINT
  sed -n '/R"({/,/})"/ { s/.*R"({/{/; s/})".*/}/; p }' "$tree/tests/pair_tokenizer.h" >CHECKPOINT/tokenizer.json
  cp "$work/run" run
}
"$program" --help >"$work/help"
sed -n '/^Subcommands:/,/^$/ s/^  \([a-z]\+\) .*/\1/p' "$work/help" >"$work/commands"
if grep -qx compare "$work/commands"; then fault 'compare is listed in the help'; fi
while read -r command; do
  "$program" "$command" --help | tee "$work/command"
  (grep -oE -- '--help-[a-z]+' "$work/command" || true) | while read -r topic; do "$program" "$command" "$topic"; done
done <"$work/commands" >>"$work/help"
"$bench" --help >>"$work/help"
grep -ohE -- '--[a-z][a-z0-9-]+' "$work/help" "$tree/run" "$tree/test" "$tree/.ci/run" | sort -u >"$work/options"
window=yes
if "$program" screenshot -o "$work/none/window.png" 2>&1 | grep -q 'without the window'; then window=no; fi

cat >"$work/run" <<'END'
#!/usr/bin/env bash
# ./run of the documents: a training is a few steps of a small model, a benchmark its options alone, the window a picture.
arguments=("$@")
run=("$built")
case ${1-} in
  train)
    arguments=()
    while (($#)); do
      case $1 in
        --steps | --d-model | --num-heads | --layers | --ffn) shift ;;
        *) arguments+=("$1") ;;
      esac
      shift
    done
    arguments+=(--steps 2 --d-model 8 --num-heads 2 --layers 1 --ffn 8) ;;
  bench)
    run=("$bench")
    arguments=("${@:2}")
    [[ " $* " == *" --only "* ]] || arguments+=(--only)
    for i in "${!arguments[@]}"; do
      [[ ${arguments[i]} == --only ]] && arguments[i + 1]='a row of no such name'
    done ;;
  *)
    if ! grep -qx -- "${1-open}" "$work/commands" || [[ ${1-open} == open ]]; then
      [[ ${1-} == open ]] && arguments=("${@:2}")
      arguments=(screenshot "${arguments[@]}" --size 640x400 -o "$work/window.png")
    fi ;;
esac
if [[ $window == no && ${arguments[0]} == screenshot ]]; then exit 0; fi
"${run[@]}" "${arguments[@]}" 2>"$work/stderr"
status=$?
cat "$work/stderr" >&2
# A reader such as head may leave before the end.
if [[ $status != "${wanted:-0}" ]] && ! grep -q 'Broken pipe' "$work/stderr"; then
  printf '%s: expected exit status %s, found %s: %s\n' "${arguments[*]}" "${wanted:-0}" "$status" "$(<"$work/stderr")" \
    >>"$work/statuses"
fi
exit "$status"
END
chmod +x "$work/run"
export window

# Splits a document into $work/blocks/NNN.{sh,slow,text,file,console,other}; the first line of each is its line number.
# What a comment <!-- run … --> says is run too; a block behind <!-- not run: REASON --> is not.
split() {
  rm -f "$work/blocks/"*
  awk -v to="$work/blocks/" '
    /^```/ && !inside {
      inside = 1; language = substr($0, 4); kind = language
      if (language == "sh slow") kind = "slow"
      else if (file != "") kind = "file"
      else if (unrun) kind = "other"
      else if (language != "sh" && language != "text" && language != "console") kind = language == "" ? "console" : "other"
      name = sprintf("%s%03d.%s", to, ++count, kind)
      print NR (file == "" ? "" : " " file) >name
      file = ""
      unrun = 0
      next
    }
    /^```/ && inside == 1 { inside = 0; close(name); next }
    /^-->/ && inside == 2 { inside = 0; close(name); next }
    inside { print >name; next }
    /^<!-- run( slow)?$/ {
      inside = 2
      name = sprintf("%s%03d.%s", to, ++count, $3 == "slow" ? "slow" : "sh")
      print NR >name
      next
    }
    /^<!-- not run: / { unrun = 1; next }
    /^<!-- file: / { file = $3; next }
    NF { file = ""; unrun = 0 }
  ' "$1"
}

# Whether the lines of file $2 are those of file $1, in which … stands for anything.
matches() {
  local -a expected found
  mapfile -t expected < <(tail -n +2 "$1")
  mapfile -t found <"$2"
  local i j=0 line
  for ((i = 0; i < ${#expected[@]}; ++i)); do
    line=${expected[i]}
    if [[ $line == … ]]; then
      ((i + 1 == ${#expected[@]})) && return 0
      until ((j == ${#found[@]})) || like "${expected[i + 1]}" "${found[j]}"; do j=$((j + 1)); done
      continue
    fi
    if ((j == ${#found[@]})) || ! like "$line" "${found[j]}"; then
      printf 'line %d: expected: %s\n' "$((i + 1))" "$line"
      printf '   found: %s\n' "${found[j]-nothing}"
      return 1
    fi
    j=$((j + 1))
  done
  ((j == ${#found[@]})) && return 0
  printf 'expected the end, found: %s\n' "${found[j]}"
  return 1
}
like() {
  local pattern=$1 special
  for special in '\\' '*' '?' '['; do pattern=${pattern//"$special"/\\$special}; done
  # shellcheck disable=SC2053
  [[ $2 == ${pattern//…/*} ]]
}

run_block() {
  local block=$1 number=$2
  # A line that ends in "# exit status N" is run by itself, and its status told to ./run.
  awk 'NR > 1 {
    if (match($0, /# (without the pipe: )?exit status [0-9]+/)) {
      status = substr($0, RSTART + RLENGTH - 1, 1)
      if ($0 ~ /without the pipe/) print "export wanted=" status "; " $0 "\nexport wanted=0"
      else print "export wanted=" status "; status=0; { " substr($0, 1, RSTART - 1) "; } || status=$?; [[ $status == " status " ]]; export wanted=0"
    } else print
  }' "$block" >"$work/script"
  bash -n "$work/script" || fault "$document:$number: not a script"
  : >"$work/statuses"
  if ! (cd "$work/folder" && bash -eu "$work/script" >"$work/stdout" 2>"$work/messages"); then
    fault "$document:$number: failed: $(tail -n 3 "$work/messages")"
    return
  fi
  [[ ! -s $work/statuses ]] || fault "$document:$number: $(<"$work/statuses")"
}

links() {
  local folder link
  folder=$(dirname "$1")
  grep -oE '\]\([^)#: ]+[^):]*\)' "$1" | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
    [[ -e $folder/${link%%#*} ]] || echo "$link"
    [[ $link == *#* && -e $folder/${link%%#*} ]] || continue
    # A heading as GitHub names it.
    sed -n 's/^#\+ //p' "$folder/${link%%#*}" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g' | grep -qx -- "${link#*#}" || echo "$link"
  done
}

# The first command of a block that is not run; those with brackets or PATH are forms.
unrun() {
  grep -E '^ *(\./run|headlight) +[a-z]' "$1" | grep -vE '\[|…| PATH$' | head -n 1 || true
}

for document; do
  make_folder
  source_file=$tree/$document
  split "$source_file"
  while read -r option; do
    case $option in
      --preset | --build | --prefix | --check | --slow | --hooks | --keep-order | --pipe | --block | --sshlogin | --program | \
        --memory | --changed | --switched | --site | --card | --cflags | --libs | --compare | --table | --write | --help | --version) ;;
      *) grep -qx -- "$option" "$work/options" || fault "$document: $option: no command has this option" ;;
    esac
  done < <(grep -vE '^(cmake|cpack|parallel|sbatch|tests/)' "$source_file" | grep -oE -- '(^|[^a-z0-9-])--[a-z][a-z0-9-]+' | grep -oE -- '--[a-z].*' | sort -u)
  while read -r link; do fault "$document: $link: leads nowhere"; done < <(links "$source_file")
  last=''
  for block in "$work/blocks"/*; do
    [[ -e $block ]] || continue
    read -r number name <"$block"
    kind=${block##*.}
    case $kind in
      file) tail -n +2 "$block" >"$work/folder/$name" ;;
      sh) run_block "$block" "$number" ;;
      slow) if [[ $slow == yes ]]; then run_block "$block" "$number"; else bash -n <(tail -n +2 "$block"); fi ;;
      text)
        if [[ $last != sh && $last != slow ]]; then
          line=$(unrun "$block")
          [[ -z $line ]] || fault "$document:$number: a command that is not run: $line"
        fi
        if [[ $last == sh || ($last == slow && $slow == yes) ]]; then
          difference=$(matches "$block" "$work/stdout") || fault "$document:$number: $difference"
        fi ;;
      console)
        line=$(unrun "$block")
        [[ -z $line ]] || fault "$document:$number: a command that is not run: $line" ;;
    esac
    last=$kind
  done
done
((faults == 0)) || { echo "$faults faults" >&2; exit 1; }
