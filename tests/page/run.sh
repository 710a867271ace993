#!/usr/bin/env bash
# The pages in one browser:  run.sh PROGRAM BROWSER [OPTIONS…]; exit status 77, and a line, where something is not there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
command -v python3 >/dev/null || {
  echo 'page: python3 is not installed: skipped'
  exit 77
}
exec python3 "$here/page_test.py" "$1" "$here/../golden" --browser "$2" "${@:3}"
