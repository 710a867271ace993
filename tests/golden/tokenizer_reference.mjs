// What Hugging Face's own tokenizers answer, for tokenizer-rules/cases.json and pairs.json, whose texts are two each. Run
// by hand, in an empty folder:
//   npm install tokenizers@0.23.2
//   node …/tests/golden/tokenizer_reference.mjs …/tests/golden/tokenizer-rules/cases.json [--write]
// Without --write it only says how many of the stored answers are the library's.
import { createRequire } from 'node:module';
import { readFileSync, writeFileSync } from 'node:fs';

const [path, option] = process.argv.slice(2);
const { Tokenizer } = createRequire(process.cwd() + '/')('tokenizers');
const cases = JSON.parse(readFileSync(path, 'utf8'));

let same = 0;
let count = 0;
for (const { name, json, answers } of cases.tokenizers) {
  const tokenizer = Tokenizer.fromString(JSON.stringify(json));
  const given = [];
  for (const text of cases.texts) {
    const [first, second] = Array.isArray(text) ? text : [text, null];
    const encoding = await tokenizer.encode(first, second, { addSpecialTokens: true });
    const types = second === null ? {} : { types: encoding.getTypeIds() };
    given.push({ ids: encoding.getIds(), tokens: encoding.getTokens(), ...types });
  }
  given.forEach((answer, i) => {
    ++count;
    if (JSON.stringify(answer) === JSON.stringify(answers?.[i])) ++same;
    else if (answers) console.log(`${name}: text ${i}: stored answer differs`);
  });
  Object.assign(cases.tokenizers.find((each) => each.name === name), { answers: given });
}
console.log(`${same} of ${count} answers are stored`);
if (option === '--write') {
  const lines = cases.tokenizers.map((each) => '  ' + JSON.stringify(each));
  writeFileSync(path, `{"texts": ${JSON.stringify(cases.texts)},\n "tokenizers": [\n${lines.join(',\n')}\n]}\n`);
}
