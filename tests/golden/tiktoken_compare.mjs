// GPT-2's real vocabulary, and its successors', against OpenAI's own encoder. Run by hand, in an empty folder:
//   npm install tiktoken@1.0.22
//   node …/tests/golden/tiktoken_compare.mjs HEADLIGHT TEXTS [gpt2|cl100k_base|o200k_base]
// HEADLIGHT is the program, TEXTS a file of many lines (UTF-8). The encoding's ranks are written out as the
// tokenizer.json that they make (./ENCODING/tokenizer.json); then the lines are cut by both, id by id.
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const [program, textsPath, encodingName = 'gpt2'] = process.argv.slice(2);
const require = createRequire(process.cwd() + '/');
const { get_encoding } = require('tiktoken');
const stored = require(`tiktoken/encoders/${encodingName}.json`);

// The byte alphabet: printable Latin-1 stands for itself, the rest is counted up from U+0100.
const letters = [];
for (let byte = 0, other = 0x100; byte < 256; ++byte) {
  const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  letters.push(String.fromCodePoint(printable ? byte : other++));
}
const spelt = (latin1) => [...latin1].map((c) => letters[c.charCodeAt(0)]).join('');

const ranks = new Map();  // by bytes, as Latin-1
for (const line of stored.bpe_ranks.split('\n')) {
  const [, first, ...words] = line.split(' ');
  words.forEach((word, i) => ranks.set(Buffer.from(word, 'base64').toString('latin1'), Number(first) + i));
}

// A word of rank r was made from the two words that the merges below r leave of it.
function lastMerge(word, rank) {
  const parts = [...word];
  while (parts.length > 2) {
    let best = -1;
    let lowest = rank;
    for (let i = 0; i + 1 < parts.length; ++i) {
      const found = ranks.get(parts[i] + parts[i + 1]);
      if (found !== undefined && found < lowest) [best, lowest] = [i, found];
    }
    if (best < 0) return null;
    parts.splice(best, 2, parts[best] + parts[best + 1]);
  }
  return parts;
}

const vocab = {};
const merges = [];
for (const [word, rank] of [...ranks].sort((a, b) => a[1] - b[1])) {
  vocab[spelt(word)] = rank;
  const parts = word.length > 1 ? lastMerge(word, rank) : null;
  if (parts) merges.push(parts.map(spelt));
}
const split = { type: 'Split', pattern: { Regex: stored.pat_str }, behavior: 'Isolated', invert: false };
const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
mkdirSync(encodingName, { recursive: true });
writeFileSync(`${encodingName}/tokenizer.json`, JSON.stringify({
  version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null,
  pre_tokenizer: { type: 'Sequence', pretokenizers: [split, bytes] }, post_processor: null, decoder: null,
  model: { type: 'BPE', ignore_merges: true, vocab, merges },
}));

// All lines are one text; a token counts for the line that it begins in, the line break after it included.
const texts = readFileSync(textsPath, 'utf8').split('\n').filter((line) => line.trim() !== '');
const whole = texts.join('\n');
const answer = execFileSync(program, ['tokenize', encodingName, '--text', '-', '--format', 'json'],
  { input: whole, maxBuffer: 1 << 30 }).toString();
const encoding = get_encoding(encodingName);
const ends = [];
for (const text of texts) ends.push((ends.at(-1) ?? 0) + Buffer.byteLength(text) + 1);
function byLine(pairs) {
  const lines = texts.map(() => []);
  let line = 0;
  for (const [id, begin] of pairs) {
    while (begin >= ends[line]) ++line;
    lines[line].push(id);
  }
  return lines;
}
let at = 0;
const theirLines = byLine([...encoding.encode_ordinary(whole)].map((id) => {
  const begin = at;
  at += encoding.decode_single_token_bytes(id).length;
  return [id, begin];
}));
const ourLines = byLine(JSON.parse(answer).tokens.map((token) => [token.id, token.bytes[0]]));
let tokens = 0;
let wrong = 0;
texts.forEach((text, i) => {
  const theirs = theirLines[i];
  const ours = ourLines[i];
  tokens += theirs.length;
  if (JSON.stringify(theirs) === JSON.stringify(ours)) return;
  if (++wrong <= 5) console.log(`line ${i + 1}: ${JSON.stringify(text)}\n  theirs ${theirs}\n  ours   ${ours}`);
});
console.log(`${encodingName}: ${texts.length} texts, ${tokens} tokens, ${wrong} differ`);
process.exitCode = wrong ? 1 : 0;
