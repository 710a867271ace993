#!/usr/bin/env bash
# Is the house small enough to be known, and is each room named? sizes.sh SOURCE_TREE : the limits below, in lines. Each total is lowered when it
# is reached from above.
set -euo pipefail
cd "$1"
declare -A most_of=(   # a product, the modules of its pages among it
  [core]=44316 [app]=53007 [tools/train]=8513 [tools/diagnose]=7008 [tools/page]=6594 [tools/study]=3870 [tools/mcp]=671
)
most_python=4947       # of the Python module
most_of_room=6000      # without the rooms inside it
most_files=30          # of a folder
most_of_file=400
most_columns=120       # of a line
most_of_function=60    # without a comment `// Longer than 60 lines: REASON` above it
most_long_functions=3  # with one

status=0
exceeds() {
  printf 'sizes: %s: expected at most %s, found %s\n' "$1" "$2" "$3" >&2
  status=1
}
limit() { (($3 <= $2)) || exceeds "$@"; }

mapfile -t code < <(find core app tools -name '*.h' -o -name '*.cpp' | LC_ALL=C sort)
mapfile -t web < <(find tools/page/web -type f)
mapfile -t python < <(find python -name '*.py')
((${#code[@]} > 500 && ${#web[@]} > 5 && ${#python[@]} > 0)) || exceeds 'files found' 'a whole tree' "${#code[@]}"
for product in "${!most_of[@]}"; do
  limit "lines of $product" "${most_of[$product]}" \
    "$(printf '%s\n' "${code[@]}" "${web[@]}" | grep "^$product/" | xargs cat | wc -l)"
done
limit 'lines of the Python module' $most_python "$(cat "${python[@]}" | wc -l)"

while read -r what name most found; do
  exceeds "$name: $what" "$most" "$found"
done < <(wc -l "${code[@]}" | awk -v of_room=$most_of_room -v files=$most_files -v of_file=$most_of_file '
  $2 == "total" { next }
  { folder = $2; sub("/[^/]*$", "", folder); lines[folder] += $1; count[folder]++ }
  $1 > of_file { print "lines", $2, of_file, $1 }
  END {
    for (folder in lines) {
      if (lines[folder] > of_room) print "lines", folder, of_room, lines[folder]
      if (count[folder] > files) print "files", folder, files, count[folder]
    }
  }')

while IFS= read -r line; do
  exceeds "$line" "$most_columns columns" more
done < <(printf '%s
' "${code[@]}" "${web[@]}" "${python[@]}" $(find tests -name '*.h' -o -name '*.cpp') |
  LC_ALL=C.UTF-8 xargs grep -nE "^.{$((most_columns + 1)),}$" | cut -d: -f1,2)

# The README of a product names each of its rooms.
for product in "${!most_of[@]}"; do
  readme=$product/README.md
  [[ -f $readme ]] || { exceeds "$readme" 'the rooms of the product' none; continue; }
  while IFS= read -r room; do
    grep -qE "[\`/]${room##*/}\`" "$readme" || exceeds "$readme" "a line on $room" none
  done < <(printf '%s\n' "${code[@]}" | grep "^$product/" | xargs -n1 dirname | sort -u)
done

# A function of a formatted file begins in the first column, and ends with a brace there.
excused=0
while read -r at length reason; do
  if [[ $reason == reason ]]; then excused=$((excused + 1)); else exceeds "$at: lines of a function" $most_of_function "$length"; fi
done < <(awk -v most=$most_of_function '
  FNR == 1 { begin = 0 }
  /^[A-Za-z_]/ && !/;$/ && !/^(namespace|struct|class|enum|union|using|template)/ && !/^[^(]*= \{/ && !begin {
    begin = FNR; reason = before ~ /^\/\/ Longer than 60 lines: ./
  }
  /^}/ {
    if (begin && $0 == "}" && FNR - begin >= most) print FILENAME ":" begin, FNR - begin + 1, reason ? "reason" : "none"
    begin = 0
  }
  !/^template/ { before = $0 }' "${code[@]}")
limit 'functions with a reason to be long' $most_long_functions $excused
exit $status
