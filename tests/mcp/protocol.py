#!/usr/bin/python3
"""`headlight mcp` as an agent has it: protocol.py PROGRAM TESTS

A transcript of every method and tool, answers compared with those of the commands; then all that an agent must not reach,
and lines that are no messages. A server that ends before its input does is a fault."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, TESTS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
TOOLS = ['models', 'ask', 'heads', 'why', 'lens', 'patch', 'diagnose', 'figure']
HELLO = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'test', 'version': '1'}}


def command(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=False, timeout=120).stdout.decode()


class Server:
    """A server of these folders; what it is sent is answered line by line."""

    def __init__(self, *folders, **environment):
        self.process = subprocess.Popen([PROGRAM, 'mcp', *map(str, folders)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=os.environ | environment)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()

    def line(self, line):
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b'\n')
        self.process.stdin.flush()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def raw(self, line):
        self.line(line)
        return self.answer()

    def ask(self, method, **params):
        self.number += 1
        answer = self.raw(json.dumps({'jsonrpc': '2.0', 'id': self.number, 'method': method, 'params': params}))
        assert answer['id'] == self.number and answer['jsonrpc'] == '2.0', answer
        return answer

    def call(self, tool, **arguments):
        return self.ask('tools/call', name=tool, arguments=arguments)['result']

    def text(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert result['isError'] is False, result
        return result['content'][0]['text']

    def refusal(self, tool, **arguments):
        result = self.call(tool, **arguments)
        assert result['isError'] is True and len(result['content']) == 1, str(result)[:300]
        line = result['content'][0]['text']
        assert '\n' not in line, line
        return line


class Protocol(unittest.TestCase):
    def setUp(self):
        self.base = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.base)
        self.folder, self.outside = self.base / 'given', self.base / 'outside'
        self.outside.mkdir()
        shutil.copytree(TESTS / 'golden/family-opt', self.folder / 'opt')
        shutil.copytree(TESTS / 'golden/tensors-self-6', self.folder / 'own')
        shutil.copytree(TESTS / 'golden/family-opt', self.outside / 'secret')

    def test_begins_with_the_revision_that_both_know(self):
        for asked, given in (('2024-11-05',) * 2, ('2025-03-26',) * 2, ('2025-06-18',) * 2, ('1999-01-01', '2025-06-18')):
            with Server() as server:
                result = server.ask('initialize', **{**HELLO, 'protocolVersion': asked})['result']
                self.assertEqual(result['protocolVersion'], given)
                self.assertEqual((result['serverInfo']['name'], result['capabilities']), ('headlight', {'tools': {}}))
                server.line('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
                self.assertEqual(server.ask('ping')['result'], {})
                self.assertEqual(server.ask('resources/list')['error']['code'], -32601)

    def test_a_call_that_is_cancelled_ends_and_others_do_not_wait(self):
        def call(number, tool, arguments, **more):
            server.line(json.dumps({'jsonrpc': '2.0', 'id': number, 'method': 'tools/call',
                                    'params': {'name': tool, 'arguments': arguments, **more}}))

        def cancel(request):
            server.line(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/cancelled',
                                    'params': {'requestId': request, 'reason': 'late'}}))
        long = {'source': 'shipped:decoder', 'ids': [5 + at % 90 for at in range(8000)], 'effect': True}
        with Server() as server:
            call(7, 'heads', long, _meta={'progressToken': 'a'})
            call(8, 'ask', {'text': 'the cat sat'})
            call(9, 'ask', {'text': 'the cat'})
            self.assertEqual(server.ask('ping')['result'], {})      # while the call runs
            said = [server.answer(), server.answer()]
            self.assertEqual([one['method'] for one in said], ['notifications/progress'] * 2)
            self.assertEqual([one['params']['progressToken'] for one in said], ['a', 'a'])
            self.assertGreater(said[1]['params']['progress'], said[0]['params']['progress'])
            begin = time.monotonic()
            for request in (8, 'other', None, 7):      # one that waits, none, none, the one that runs
                cancel(request)
            answer = server.answer()
            while 'method' in answer:      # of the time before
                answer = server.answer()
            self.assertEqual(answer['id'], 9)
            self.assertLess(time.monotonic() - begin, 5)
            cancel(9)      # too late
            self.assertEqual(server.ask('ping')['result'], {})

    def test_schemas_are_those_of_the_table_of_options(self):
        with Server(self.folder) as server:
            tools = {tool['name']: tool['inputSchema'] for tool in server.ask('tools/list')['result']['tools']}
        self.assertEqual(list(tools), TOOLS)
        question = json.loads(command('export', '--help-request', '--format', 'json'))
        text = {one['option'][2:].replace('-', '_') for one in question
                if one['group'] == 'What is asked' or one['group'].startswith('The attention')}
        text -= {'adapter', 'as_stored', 'part', 'sentence', 'step', 'array', 'axes', 'grid'}
        for tool in TOOLS[1:]:
            schema = tools[tool]
            self.assertEqual(schema['additionalProperties'], False)
            self.assertTrue(all(one['description'] for one in schema['properties'].values()))
            if tool != 'diagnose':
                self.assertEqual(text - schema['properties'].keys(), set(), tool)
                self.assertIn('source', schema['properties'])
        self.assertEqual([tools[name]['required'] for name in ('why', 'diagnose', 'figure', 'ask')], [['head'], ['a'], ['output'], []])
        kinds = {name: tools['ask']['properties'][name]['type'] for name in ('text', 'scale', 'pad', 'chat_open', 'off')}
        self.assertEqual(kinds, {'text': 'string', 'scale': 'number', 'pad': 'integer', 'chat_open': 'boolean', 'off': 'array'})

    def test_tools_answer_as_the_commands_do(self):
        cat = ['--text', 'the cat sat']
        drink, watch = '我请李雷帮我喝了最好的', '--text 我请李雷帮我看了最好的'
        with Server(self.folder) as server:
            self.assertEqual(server.text('ask', text='the cat sat', mask='causal', only=['1.2', '3.0'], off=['0.1']), command(
                'export', *cat, '--mask', 'causal', '--only', '1.2,3.0', '--off', '0.1'))
            self.assertEqual(server.text('heads', text='the cat sat', sort='entropy', ascending=True),
                             command('heads', *cat, '--sort', 'entropy', '--ascending', '--format', 'json'))
            self.assertEqual(server.text('why', text='the cat sat', head='1.2', query=2, key=0),
                             command('why', *cat, '--head', '1.2', '--query', '2', '--key', '0', '--format', 'json'))
            self.assertEqual(server.text('lens', source='shipped:decoder', text='我请李雷帮', top=3, answers=['我', '他']), command(
                'lens', 'shipped:decoder', '--text', '我请李雷帮', '--top', '3', '--answers', '我,他', '--format', 'json'))
            self.assertEqual(server.text('patch', source='shipped:decoder', text=drink, **{'from': watch}, at='heads'), command(
                'patch', 'shipped:decoder', '--text', drink, '--from', watch, '--at', 'heads', '--format', 'json'))
            expected = str(self.folder / 'own/expected.npz')
            self.assertEqual(server.text('diagnose', a='own/expected.npz', b=expected), command(
                'diagnose', expected, expected, '--format', 'json').replace(expected, 'own/expected.npz', 1))
            for text in ('-x', '--only=0.1', '"a', '[b]', "it's = %s"):
                self.assertEqual(server.text('ask', text=text, only=['0.0']), command('export', '--text=' + text, '--only', '0.0'))
            whole = json.loads(server.text('ask', source='opt', ids=[5, 9, 7]))
            row = json.loads(server.text('ask', source='opt', ids=[5, 9, 7], row=2))
            for head, one in zip(whole['attention'][0]['attn'][1], row['attention'][0]['attn'][1]):
                self.assertEqual([head[2]], one)
            self.assertEqual(row['tokens'], whole['tokens'])
            self.assertTrue(any('warning' in one['text'] for one in server.call('ask', random=True, text='a')['content'][1:])
                            or server.refusal('ask', random=True, text='a'))

    def test_models_are_those_of_the_folders(self):
        with Server(self.folder, HF_HUB_CACHE=str(self.outside)) as server:
            models = {one['source']: one for one in json.loads(server.text('models'))['models']}
            self.assertTrue(models['shipped:decoder']['opens'])
            at = models[str(self.folder / 'opt')]
            self.assertEqual((at['opens'], at['layers'], at['heads'], at['family']), (True, 2, 4, 'opt'))
            self.assertFalse(any('outside' in source for source in models))
            self.assertIn('attention', server.text('ask', source=at['source'], ids=[5, 9]))
        with Server(self.folder / 'opt') as server:
            self.assertIn(str(self.folder / 'opt'), server.text('models'))
            self.assertIn('attention', server.text('ask', source='.', ids=[5, 9]))

    def test_figure_writes_there_alone(self):
        (self.folder / 'link.svg').symlink_to(self.outside / 'through.svg')
        (self.folder / 'there').symlink_to(self.outside)
        with Server(self.folder) as server:
            result = server.call('figure', text='the cat sat', head='1.2', view='head', output='a.png')
            picture = (self.folder / 'a.png').read_bytes()
            self.assertEqual(base64.b64decode(result['content'][1]['data']), picture)
            for name in ('../b.svg', str(self.outside / 'b.svg'), 'link.svg', 'there/b.svg', 'opt/../../b.svg'):
                self.assertIn('the folders of this server', server.refusal('figure', text='a b', output=name), name)
            self.assertIn('.svg', server.refusal('figure', text='a b', output='opt/config.json'))
            server.text('figure', text='a b', output=str(self.folder / 'opt/c.svg'))
        self.assertEqual([one.name for one in self.outside.iterdir()], ['secret'])
        self.assertTrue((self.folder / 'opt/c.svg').stat().st_size > 1000)
        with Server() as server:
            self.assertIn('the folders of this server', server.refusal('figure', text='a b', output='/tmp/headlight-mcp.svg'))

    def test_what_lies_outside_is_not_read(self):
        secret, link = self.outside / 'secret', self.folder / 'link'
        link.symlink_to(secret)
        (self.folder / 'part').mkdir()
        for name in ('config.json', 'tokenizer.json'):
            if (secret / name).exists():
                shutil.copy(secret / name, self.folder / 'part')
        (self.folder / 'part/model.safetensors').symlink_to(next(secret.glob('*.safetensors')))
        (self.outside / 'mask.json').write_text('[[1,0],[1,1]]')
        (self.folder / 'mask.json').symlink_to(self.outside / 'mask.json')
        session = json.loads((TESTS / 'smoke/start.headlight.json').read_text())
        session['document' if 'document' in session else 'request'] = {'source': str(secret), 'ids': [5, 9]}
        (self.folder / 'other.headlight.json').write_text(json.dumps(session))
        with Server(self.folder) as server:
            for source in (str(secret), '../outside/secret', 'link', 'link/config.json', 'opt/../../outside/secret', 'part',
                           '/etc/passwd', '/proc/self/environ', str(self.outside), 'other.headlight.json', str(secret) + '#ids=stored',
                           'opt#adapter=' + str(secret)):
                line = server.refusal('ask', source=source, ids=[5, 9])
                self.assertNotIn('secret/model', line)
                self.assertIn('the folders of this server', line, source)
                if source[0] in '/.':
                    self.assertTrue(line.startswith(source.partition('#')[0] + ': '), line)
            for mask in (str(self.outside / 'mask.json'), 'mask.json', '../outside/mask.json'):
                self.assertIn('the folders of this server', server.refusal('ask', source='opt', ids=[5, 9], mask=mask))
            for other in (f'{secret} --ids 5,9', 'link --ids 5,9'):
                self.assertIn('the folders of this server',
                              server.refusal('patch', source='opt', ids=[5, 9], **{'from': other}, at='heads'))
            self.assertIn('the folders of this server', server.refusal('diagnose', a='own/expected.npz', b='../outside/mask.json'))
            self.assertIn('the folders of this server', server.refusal('heads', source='opt', ids=[5, 9], against=str(secret)))
            self.assertEqual(len(server.call('ask', source='opt', ids=[5, 9])['content']), 1)
            (self.folder / 'opt/generation_config.json').unlink(missing_ok=True)
            (self.folder / 'opt/tokenizer.json').symlink_to(secret / 'config.json')       # counts as missing
            self.assertIn('the folders of this server', server.call('ask', source='opt', ids=[5, 9])['content'][-1]['text'])
            (self.folder / 'opt/tokenizer.json').unlink()
            for source in ('-o', '--output=x.json', '-', 'opt\0'):
                server.refusal('ask', source=source, ids=[5, 9])
            self.assertIn('expected', server.refusal('ask', source='opt', output='x.json', ids=[5, 9]))
            self.assertIn('expected', server.refusal('ask', text='-'))     # standard input is the protocol's
        with Server() as server:
            self.assertIn('the folders of this server', server.refusal('ask', source=str(self.folder / 'opt'), ids=[5, 9]))
        self.assertEqual(sorted(one.name for one in self.folder.iterdir()),
                         ['link', 'mask.json', 'opt', 'other.headlight.json', 'own', 'part'])

    def test_without_folders_errors_are_those_of_the_question(self):
        with Server() as server:
            for arguments, line in (({'text': ''}, 'text: tokens: expected at least one'), ({'off': ['9.9']}, '--off: layer: expected 0 to'),
                                    ({'ids': [999999]}, 'found 999999'), ({'mask': 'bogus'}, '--mask: expected'),
                                    ({'text': '-'}, 'standard input'), ({'text': 'a\nb', 'row': 0}, 'row: expected one sentence'),
                                    ({'text': 'a', 'row': True}, 'row: expected a whole number from 0, found true')):
                refusal = server.refusal('ask', **arguments)
                self.assertIn(line, refusal)
                self.assertNotIn('the folders of this server', refusal)
            answer = server.call('ask', text='the cat', only=['0.0'], row=0)
            self.assertEqual(len(answer['content']), 1, answer)
            self.assertIn('/outside: expected a place below', server.refusal('ask', source='/outside', text='a'))
            longer = json.loads(server.text('ask', source='shipped:translator', text='我', target='I love the old house', row=2))
            self.assertEqual([len(stack['attn'][0][0]) for stack in longer['attention']], [0, 1, 1])

    def test_wrong_arguments_are_one_line(self):
        with Server(self.folder) as server:
            for arguments in ({'text': 5}, {'text': None}, {'text': ['a']}, {'text': {}}, {'ids': 'a'}, {'ids': [1.5]}, {'ids': [[1]]},
                              {'off': '1.2'}, {'off': [7]}, {'scale': 'x'}, {'scale': True}, {'pad': 1e300}, {'pad': -1}, {'nothing': 1},
                              {'text': 'a', 'row': 99}, {'text': 'a', 'row': -1}, {'text': 'a', 'row': 'x'}, {'text': 'a', 'row': 10**30},
                              {'text': 'a\0b'}, {'source': 'nowhere'}, {'ids': [10**30]}, {'chat': ['x']}, {'text': 'a', 'mask': ''}):
                self.assertTrue(server.refusal('ask', **arguments), arguments)
            self.assertIn('262144', server.refusal('ask', text='a b c d e f g h i j ' * 6))
            self.assertIn('head', server.refusal('why', text='a b'))
            for name in ('nothing', None, 5, ['ask'], {'a': 1}):
                self.assertEqual(server.ask('tools/call', name=name)['error']['code'], -32602)
            self.assertEqual(server.ask('tools/call', name='ask', arguments=[1])['error']['code'], -32602)
            self.assertEqual(server.ask('initialize')['error']['code'], -32602)
            self.assertEqual(server.ask('ping')['result'], {})

    def test_lines_that_are_no_messages_have_one_error(self):
        with Server() as server:
            deep = '{"jsonrpc":"2.0","id":1,"method":"ping","params":' + '[' * 100000 + ']' * 100000 + '}'
            for line in ('nonsense', '{', '"', '\\', 'nul', '{"a":1,"a":2}', '{} {}', b'\xff\xfe', b'{"id":"\xc3\x28"}', deep, '[' * 1000):
                answer = server.raw(line)
                self.assertEqual((answer['id'], answer['error']['code']), (None, -32700), line[:40])
            for line in ('{}', '[]', '5', 'null', '"ping"', 'true', '{"method":"ping","id":1}', '{"jsonrpc":"1.0","method":"ping","id":1}',
                         '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":1,"method":5}', '{"jsonrpc":2.0,"id":1,"method":"ping"}'):
                answer = server.raw(line)
                self.assertEqual((answer['id'], answer['error']['code']), (None, -32600), line)
            for bad in ('null', '1.5', 'true', '{}', '[1]', '1e3'):
                answer = server.raw('{"jsonrpc":"2.0","method":"ping","id":%s}' % bad)
                self.assertEqual((answer['id'], answer['error']['code']), (None, -32600), bad)
            for good in ('0', '-7', '9223372036854775807', '18446744073709551615', '""', '"é\\u0000"', '"' + 'x' * 100000 + '"'):
                answer = server.raw('{"jsonrpc":"2.0","method":"ping","id":%s}' % good)
                self.assertEqual((answer['id'], answer['result']), (json.loads(good), {}))
            answer = server.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"' + b'x' * (64 << 20) + b'"}')
            self.assertEqual((answer['id'], answer['error']['code']), (None, -32600))
            for silent in ('', '   ', '{"jsonrpc":"2.0","method":"anything"}', '{"jsonrpc":"2.0","id":4,"result":{}}',
                           '{"jsonrpc":"2.0","id":4,"error":{"code":1}}', '[{"jsonrpc":"2.0","method":"x"}]'):
                server.line(silent)
            self.assertEqual(server.ask('ping')['result'], {})
            batch = server.raw('[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},5]')
            self.assertEqual([one['id'] for one in batch], [1, None])
            self.assertEqual(server.raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}')['error']['code'], -32602)

    def test_folders_must_be_there(self):
        for name in (self.base / 'none', self.folder / 'opt/config.json'):
            ran = subprocess.run([PROGRAM, 'mcp', str(name)], input=b'', capture_output=True, check=False, timeout=60)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr.count(b'\n')), (2, b'', 1))

    def test_a_reader_that_goes_ends_it(self):
        process = subprocess.Popen([PROGRAM, 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        self.assertEqual(process.wait(60), 0)
        process.stdin.close()


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
