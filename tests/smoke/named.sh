#!/usr/bin/env bash
# Documents that name every command and every format name them all: named.sh PROGRAM SOURCE_TREE
set -euo pipefail
program=$1 tree=$2 faults=0 options=0

# expect WHAT PATTERN FILE : the file has a line that matches.
expect() {
  grep -qE -- "$2" "$tree/$3" && return
  echo "$3: expected $1, found none" >&2
  faults=$((faults + 1))
}

help_of() {
  "$program" "$1" --help
  for topic in $("$program" "$1" --help | grep -oE -- '--help-[a-z]+' | sort -u); do "$program" "$1" "$topic"; done
}

mapfile -t commands < <("$program" --help | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) .*/\1/p')
((${#commands[@]} > 10)) || { echo "--help: expected the list of commands, found ${commands[*]-nothing}" >&2 && exit 1; }
for command in "${commands[@]}"; do
  expect "the form of \`$command\`" "^headlight (\\[open\\]|$command) " docs/command-line.md
  expect "a row for \`$command\`" "^\\| \`$command\` \\|" docs/command-line.md
  place=docs/command-line.md
  [[ $command != train ]] || place=docs/models.md
  text=$(<"$tree/$place")
  for option in $(help_of "$command" | sed -nE 's/^  (-[a-zA-Z]|--[a-z0-9-]+).*/\1/p' | grep -vE '^(-h|--help.*)$' | sort -u); do
    options=$((options + 1))
    [[ $text =~ (^|[^a-z-])$option([^a-z-]|$) ]] && continue  # a process for each would take a minute
    echo "$place: expected the option $option of \`$command\`, found none" >&2
    faults=$((faults + 1))
  done
done
for document in "$tree"/docs/*.md; do
  for readme in README.md README.zh.md; do expect "a row for $document" "^\\| .*\\(docs/${document##*/}\\)" "$readme"; done
done

# What a SOURCE may be, and what can be written, as the help of the commands has it.
mapfile -t formats < <({
  "$program" export --help | grep '^  SOURCE'
  for command in "${commands[@]}"; do "$program" "$command" --help | grep -oE '(FILE|-o [a-z]+)\.[a-z{},.]+' || true; done
} | grep -oE '\.([a-z]+\.json|[a-z]+)\b' | sort -u)
((${#formats[@]} > 6)) || { echo "--help: expected formats of files, found ${formats[*]-none}" >&2 && exit 1; }
for format in "${formats[@]}"; do
  expect "a row for $format" "^\\| .*\`\\$format\`" docs/formats.md
done
echo "named: ${#commands[@]} commands, $options options, ${#formats[@]} formats"
exit $((faults > 0))
