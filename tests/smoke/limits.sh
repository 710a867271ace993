#!/usr/bin/env bash
# Limits are kept while an input is read, not behind it: limits.sh PROGRAM
set -euo pipefail
program=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/headlight-limits-XXXXXX")
process=
trap '[[ -z $process ]] || kill -KILL "$process" 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"
export HEADLIGHT_PROGRESS=0
fail() {
  echo "limits: $*" >&2
  exit 1
}

# refused WHY WORDS… : the program ends by itself with status 2 and one line, which is in the file `err`.
refused() {
  local why=$1 status=0
  shift
  timeout 60 "$program" "$@" >out 2>err </dev/null || status=$?
  [[ $status == 2 && $(wc -l <err) == 1 && ! -s out ]] ||
    fail "$* ($why): expected status 2 and one line, found $status: $(head -c 300 err)"
}

# An endless standard input is read no further than its limit: the writer is stopped long before its 128 MiB.
for words in 'export --text -' 'tokenize --text -' 'export --x -'; do
  text='a b c '
  [[ $words != *--x* ]] || text=$'1 2\n'
  status=()
  # shellcheck disable=SC2086
  yes "$text" | head -c 134217728 | timeout 60 "$program" $words >out 2>err || status=("${PIPESTATUS[@]}")
  [[ ${status[1]-0} == 141 && ${status[2]-0} == 2 ]] ||
    fail "$words: expected status 2 before 128 MiB were read, found ${status[*]-0}: $(head -c 300 err)"
done

# What is no file is refused by every reader, instead of being waited for.
mkdir folder
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
while read -r ending words; do
  for kind in fifo device socket folder; do
    file=a$kind$ending
    case $kind in
      fifo) [[ -e $file ]] || mkfifo "$file" ;;
      device) ln -sf /dev/zero "$file" ;;
      *) ln -sfn "$kind" "$file" ;;
    esac
    # shellcheck disable=SC2086
    refused "a $kind" ${words//FILE/"$file"}
  done
done <<'READERS'
.json export FILE
.npz export FILE
.safetensors export FILE
.pt export FILE
.html export FILE
.headlight.json export FILE
.numbers.json export FILE
.csv export --x FILE
.npy export --x FILE
.json export --text a --mask FILE
.npy export --text a --mask FILE
.npz diagnose FILE FILE
.json diagnose FILE FILE
.html check FILE
.lesson.json check FILE
.csv check --x FILE
.conllu claims shipped:any-sentence --treebank FILE
.conllu heads shipped:any-sentence --relations --treebank FILE
.csv why shipped:decoder --pairs FILE --layer 0 --head 0 --query 0 --key 0
.jsonl study FILE
.jsonl study FILE --format npz
.jsonl figure FILE -o study.svg
.csv patch shipped:decoder --at heads --pairs FILE --resume kept.jsonl
.txt train -o trained --steps 1 --text FILE
.safetensors train -o trained --steps 1 --from FILE
READERS
mkdir study
mkfifo study/rows-0-of-1.jsonl
for words in 'study study' 'study study --format npz' 'figure study -o study.svg'; do
  # shellcheck disable=SC2086
  refused 'a study whose file is a fifo' $words
done

# Where memory is short for the processors there are, every line of many at once is answered all the same.
seq 300 | sed 's/.*/the & cat/' >lines
(ulimit -v $((1500000 * $(nproc))) && "$program" export --text - --lines --jobs 1024 <lines >out 2>err) ||
  fail "300 lines in 1.5 GB a processor: $(head -c 300 err)"
[[ $(wc -l <out) == 300 ]] && ! grep -q '"error"' out || fail "300 lines in 1.5 GB a processor: $(grep -m 1 '"error"' out | head -c 300)"

# Ctrl C ends the measurement behind a training as it ends the training: what there is stays, and is taken up again.
train=(train --steps 1 --batch 1 --d-model 64 --num-heads 2 --layers 4 --threads 1 -o model)
"$program" "${train[@]}" >out 2>err </dev/null &
process=$!
for ((i = 0; i < 600; ++i)); do
  ! grep -q 'step 1 of 1' err || break
  sleep 0.05
done
kill -INT "$process"
status=0
wait "$process" || status=$?
process=
[[ $status == 0 && -s model/resume.safetensors ]] && grep -q 'stopped; the same command with --resume' err ||
  fail "a training that is interrupted while it is measured: expected status 0 and what it goes on from, found $status: $(<err)"
"$program" "${train[@]}" --resume 2>err || fail "a measurement that is taken up again: $(<err)"
[[ ! -e model/resume.safetensors ]] && grep -q '"scores"' model/training.json || fail 'expected the scores of a measurement that was taken up again'

# A page takes no more memory than its numbers: one that only states 2^28 of them is refused, in 800 MB.
"$program" page model --text '我 爱 北京' -o page.html 2>err || fail "a page: $(<err)"
rm -r model
python3 - <<'PYTHON'
import json, re
page = open("page.html", encoding="utf-8").read()
found = re.search(r'(<script[^>]*id="headlight-data"[^>]*>)(.*?)(</script>)', page, re.S)
data = json.loads(found[2])
stack = data["stacks"][0]
tokens = len(data[stack["queries"]])
stack.update(layers=128, heads=128, kv_heads=128, d_k=2**28 // (128 * 128 * 2 * tokens), scale=1, q=[], k=[])
for key in set(stack) - {"layers", "heads", "kv_heads", "d_k", "scale", "q", "k", "number", "name", "queries", "keys"}:
    del stack[key]
text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
open("large.html", "w", encoding="utf-8").write(page[:found.start(2)] + text + page[found.end(2):])
PYTHON
(
  ulimit -v 800000
  refused 'a page that only states its numbers' export large.html
)
grep -q 'bytes in base64' err || fail "a page that only states its numbers: expected its missing bytes to be named, found $(<err)"

# A fault of the program is one line with its version, command and options, and leaves the output as it was.
if ! grep -qa __asan_init "$program"; then  # the sanitizers report a fault themselves
  for fault in SEGV BUS ABRT FPE ILL; do
    echo before >kept.json
    mkfifo sentences
    "$program" export --text - -o kept.json <sentences >out 2>err &
    process=$!
    exec 3>sentences
    echo 'a secret sentence' >&3
    for _ in $(seq 100); do [[ $(tr '\0' ' ' <"/proc/$process/cmdline") == *export* ]] && break; sleep .02; done
    sleep .2
    kill -s "$fault" "$process"
    status=0
    wait "$process" 2>/dev/null || status=$?
    process=
    exec 3>&-
    rm sentences
    [[ $status == $((128 + $(kill -l "$fault"))) && $(wc -l <err) == 1 && ! -s out && $(<kept.json) == before ]] ||
      fail "SIG$fault: expected the signal, one line and the output as it was, found $status: $(head -c 300 err)"
    grep -qE "^headlight [0-9.]+: export --text --output: a fault of the program ended it \(SIG$fault\); files[a-z ]+$" err ||
      fail "SIG$fault: $(<err)"
  done
  # … also where the stack is full, whose handler runs on a stack of its own: the program needs one of these.
  overflowed=
  for kilobytes in 64 96 128 160 192 224 256 320 400; do
    status=0
    (ulimit -s $kilobytes && exec "$program" export --text 我请李雷 -o stack.json) 2>err &
    wait $! 2>/dev/null || status=$?
    [[ $status == 0 || $status == 2 || $status == 139 ]] || fail "a stack of $kilobytes kB: found $status: $(<err)"
    if grep -qE '^headlight [0-9.]+: export [a-z -]+: a fault of the program ended it \(SIGSEGV\)' err; then overflowed=yes; fi
    rm -f stack.json
  done
  [[ $overflowed ]] || fail "a small stack: expected the line of a fault, found none: $(<err)"
fi
