// The protocol's own client (@modelcontextprotocol/sdk) with the server of this program: client.mjs HEADLIGHT FOLDER
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [program, folder] = process.argv.slice(2);
const require = createRequire(process.cwd() + '/');
const load = (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/client/' + name)).href);
const { Client } = await load('index.js');
const { StdioClientTransport } = await load('stdio.js');

const client = new Client({ name: 'test', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: program, args: ['mcp', folder], stderr: 'ignore' }));
const expect = (what, good) => {
  if (!good) throw new Error(what);
  console.log('good: ' + what);
};
const { tools } = await client.listTools();
expect(`${tools.length} tools: ${tools.map((tool) => tool.name).join(' ')}`, tools.length === 8);
const ask = async (name, args) => client.callTool({ name, arguments: args });
const models = JSON.parse((await ask('models', {})).content[0].text).models;
expect(`${models.length} models`, models.some((model) => model.source === 'shipped:decoder'));
const answer = JSON.parse((await ask('ask', { text: 'the cat sat', only: ['1.2'] })).content[0].text);
expect('rows that sum to 1', answer.attention[0].attn[0][0].every((row) => Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5));
for (const [name, args] of [['heads', { text: 'the cat sat' }], ['why', { text: 'the cat sat', head: '1.2', query: 2, key: 0 }],
  ['lens', { source: 'shipped:decoder', text: '我请李雷帮' }],
  ['patch', { source: 'shipped:decoder', text: '我请李雷帮我喝了最好的', from: '--text 我请李雷帮我看了最好的', at: 'heads' }]])
  expect(name, Object.keys(JSON.parse((await ask(name, args)).content[0].text)).length > 0);
const picture = await ask('figure', { text: 'the cat sat', output: 'picture.png' });
expect('a picture', picture.content[1].type === 'image' && picture.content[1].mimeType === 'image/png');
const refused = await ask('ask', { source: '/etc/passwd', text: 'x' });
expect(refused.content[0].text, refused.isError === true);
await client.ping();
const stop = new AbortController();
const ids = Array.from({ length: 3000 }, (_, at) => 5 + at % 90);
const seconds = [];
const onprogress = ({ progress }) => { if (seconds.push(progress) === 2) stop.abort('enough'); };
const ended = await client.callTool({ name: 'heads', arguments: { source: 'shipped:decoder', ids, effect: true } }, undefined,
  { signal: stop.signal, onprogress }).then(() => null, (error) => String(error));
expect(`a call that is cancelled after ${seconds.join(' and ')} s: ${ended}`, ended !== null && seconds.length === 2);
expect('the next call is answered', JSON.parse((await ask('models', {})).content[0].text).models.length > 0);
const fails = await ask('nothing', {}).then(() => null, (error) => error.code);
expect('no such tool: ' + fails, fails === -32602);
await client.close();
