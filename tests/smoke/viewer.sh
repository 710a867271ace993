#!/usr/bin/env bash
# The program without a tool answers as the whole one does, and says which tool a command would need:
# viewer.sh VIEWER PROGRAM
set -euo pipefail
viewer=$1 program=$2
fail() {
  echo "viewer: $*" >&2
  exit 1
}
question=(export --text 'the cat sat on the mat' --random --seed 3)
cmp <("$viewer" "${question[@]}") <("$program" "${question[@]}") || fail 'another answer than the whole program'
for words in train:train claims:train diagnose:diagnose check:diagnose page:page site:page patch:study study:study mcp:mcp; do
  command=${words%:*} tool=${words#*:} status=0
  said=$("$viewer" "$command" 2>&1 >/dev/null) || status=$?
  [[ $status == 2 && $said == *"this build has no $tool tool"* && $(wc -l <<<"$said") == 1 ]] ||
    fail "$command: expected one line that names the tool $tool, found status $status: $said"
  "$viewer" --help | grep -q "^  $command " && fail "$command: expected in no help"
done
echo viewer: ok
