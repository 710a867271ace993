#!/bin/sh
# Makes the any-sentence model: texts, tokenizer, training. README.md says what is needed and how long it takes.
#
#   make.sh HEADLIGHT TREEBANKS WORK MODEL [option of headlight train …]
#
# HEADLIGHT: the program. TREEBANKS: a folder with the files of README.md. WORK: where texts and the first training are
# kept, 3 GB. MODEL: the folder of the model. Begun again after an interruption it goes on where it was.
set -eu
[ $# -ge 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d' >&2; exit 2; }
headlight=$1 treebanks=$2 work=$3 model=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)

(cd "$treebanks" && sha256sum --check --quiet "$here/treebanks.sha256") || exit 2

[ -e "$work/text/sources.tsv" ] || "$here/corpus.py" "$work/text" --debs "$work/debs"
list=$work/debs/unpacked/python3-jieba/usr/lib/python3/dist-packages/jieba/dict.txt
[ -e "$work/tokenizer.json" ] || "$here/words.py" "$work/tokenizer.json" --list "$list" --keep "$here/../../grammar.json" \
  --whole 订了 走了 --english "$work/text/en-story.txt" "$work/text/en-essay.txt" "$work/text/en-manual.txt" \
  --chinese "$work/text/zh-story.txt" "$work/text/zh-manual.txt"

[ -e "$work/copulas.conllu" ] || "$here/copulas.py" --jieba "$work/debs/unpacked/python3-jieba/usr/lib/python3/dist-packages" \
  --out "$work/copulas.conllu" "$work/text/zh-story.txt" "$work/text/zh-manual.txt"

"$here/grammar.py" "$here/../../grammar.json" "$here/mentions.json" "$work/grammar.json"
"$here/pronouns.py" "$here/pronouns.json" "$work/pronouns.conllu" 20000

tab=$(printf '\t')
while IFS=$tab read -r package version licence; do
  set -- "$@" --text-credit "$package $version: $licence"
done <<EOF
$(tail -n +2 "$work/text/sources.tsv" | cut -f 1-3 | sort -u)
EOF

# A training whose model is whole is not begun again.
whole() { [ -e "$1/model.safetensors" ] && [ ! -e "$1/resume.safetensors" ]; }

# train FOLDER STEPS OPTION …: what all trainings share; one that was interrupted goes on.
train() {
  into=$1 steps=$2
  shift 2
  resume=
  [ -e "$into/resume.safetensors" ] && resume=--resume
  "$headlight" train --name 'any sentence' --tokenizer "$work/tokenizer.json" \
    --text "$work/text/en-story.txt:1" --text "$work/text/en-essay.txt:1" --text "$work/text/en-manual.txt:1" \
    --text "$work/text/zh-story.txt:2" --text "$work/text/zh-manual.txt:1" \
    --text-credit 'words to cut Chinese by: python3-jieba 0.42.1-3: Expat' \
    --teach-credit 'UD_English-EWT, Universal Dependencies: CC BY-SA 4.0' \
    --teach-credit 'UD_Chinese-PUD, Universal Dependencies, simplified: CC BY-SA 3.0' \
    --teach-credit 'UD_Chinese-HK, Universal Dependencies, simplified: CC BY-SA 4.0' \
    --teach-credit 'UD_Chinese-CFL, Universal Dependencies, simplified: CC BY-SA 4.0' \
    --grammar "$work/grammar.json" \
    --d-model 144 --num-heads 9 --layers 4 --ffn 288 --hide 0.14 --swap 0.02 --keep 0.02 --family 0 --restore 0 \
    --batch 128 --steps "$steps" --seed 1 --half --save-every 300 -o "$into" $resume "$@"
}

# teach FOLDER STEPS BEFORE BEHIND OPTION …: what all but the first share: more Chinese, and copulas on a head of their own.
# BEFORE and BEHIND: a further treebank before or behind these, or none; what is drawn depends on their order.
teach() {
  into=$1 steps=$2 before=$3 behind=$4
  shift 4
  train "$into" "$steps" ${before:+--teach "$before"} \
    --teach "$treebanks/en_ewt-train.conllu:1" --teach "$treebanks/zh_pudsimp.conllu:4" \
    --teach "$treebanks/zh_hksimp.conllu:3" --teach "$treebanks/zh_cflsimp.conllu:3" --teach "$work/copulas.conllu:1" \
    ${behind:+--teach "$behind"} \
    --teach-credit 'Chinese copulas in sentences of the texts, found by rules over the tags of python3-jieba 0.42.1-3: Expat' \
    --teach-head 2.0=det,nummod,clf,nmod:poss --teach-head 2.1=amod --teach-head 2.2=case --teach-head 2.3=aux \
    --teach-head 2.4=mark --teach-head 2.5=compound,flat --teach-head 2.6=DP \
    --teach-head 3.0=nsubj --teach-head 3.1=obj,iobj --teach-head 3.2=advmod --teach-head 3.3=nmod,acl \
    --teach-head 3.4=obl,advcl --teach-head 3.5=xcomp,ccomp,csubj,parataxis --teach-head 3.6=conj,cc --teach-head 3.7=CO,IT \
    --teach-head 3.8=cop --teach-from 0 --teach-hide 0.15 --warmup 60 "$@"
}

# First the words, then, behind 87 % of the steps, the heads too; then the heads again, with more rest.
first=$work/first second=$work/second third=$work/third
whole "$second" || {
  whole "$first" || train "$first" 36000 \
    --teach "$treebanks/en_ewt-train.conllu:1" --teach "$treebanks/zh_pudsimp.conllu:3" \
    --teach "$treebanks/zh_hksimp.conllu:2" --teach "$treebanks/zh_cflsimp.conllu:2" --teach-weight 4 \
    --teach-from 0.87 --teach-share 0.66 --teach-grammar 0.2 --teach-rest 0.15 --teach-hide 0.1 \
    --warmup 500 --learning-rate 0.002 "$@"
  teach "$second" 1000 '' '' --from "$first" --teach-share 0.66 --teach-grammar 0.25 --teach-weight 4 --teach-rest 0.5 \
    --learning-rate 0.001 "$@"
}

# Then pronouns: first mostly these, then all together.
whole "$third" || teach "$third" 1000 '' "$work/pronouns.conllu:4" --from "$second" \
  --teach-share 0.8 --teach-grammar 0.1 --teach-weight 6 --teach-rest 0.15 --learning-rate 0.002 "$@"
teach "$model" 700 "$work/pronouns.conllu:0.6" '' --from "$third" \
  --teach-credit 'sentences with pronouns, made by pronouns.py of this project' \
  --teach-share 0.4 --teach-grammar 0.2 --teach-weight 4 --teach-rest 0.5 --learning-rate 0.001 \
  --score "$treebanks/en_ewt-dev.conllu" --score "$treebanks/zh_gsdsimp-dev.conllu" "$@"
