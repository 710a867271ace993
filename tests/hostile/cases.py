"""Hostile files and requests: one set, by a seed, for the program, the Python module and pages.

A case is a SOURCE, options of a question, and the kind that it is counted as. Files are cut, flipped, too large by what
they state, not a number, of a wrong rank, type or schema; requests name what is not there. Some are right by chance:
what counts is that all three agree."""

import copy
import dataclasses
import io
import json
import os
import pathlib
import shutil
import struct
import zipfile

import numpy as np

from pages import EVIL

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / 'golden'
HUGE = (2 ** 31, 2 ** 32 - 1, 2 ** 40, 2 ** 62, 2 ** 63 - 1, 2 ** 64 - 1, 10 ** 30, -1, 0, 1e300, 0.5)


@dataclasses.dataclass
class Case:
    kind: str
    source: str
    options: dict = dataclasses.field(default_factory=dict)
    name: str = ''


def npy(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def npy_stating(descr, shape, data=b'', fortran=False, version=1):
    header = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    header += b' ' * (-(len(header) + 11) % 64) + b'\n'
    size = struct.pack('<H' if version == 1 else '<I', len(header))
    return b'\x93NUMPY' + bytes([version, 0]) + size + header + data


def npz(arrays, packed=False):
    held = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(held, **arrays)
    return held.getvalue()


def safetensors(header, data=b'', size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack('<Q', len(text) if size is None else size) + text + data


def tensors_file(arrays, metadata=None):
    header, data = {'__metadata__': metadata} if metadata else {}, b''
    for name, array in arrays.items():
        part = np.ascontiguousarray(array, np.float32).tobytes()
        header[name] = {'dtype': 'F32', 'shape': list(array.shape), 'data_offsets': [len(data), len(data) + len(part)]}
        data += part
    return safetensors(header, data)


def gguf(metadata=b'', tensors=b'', num_metadata=0, num_tensors=0, version=3, magic=b'GGUF'):
    return magic + struct.pack('<IQQ', version, num_tensors, num_metadata) + metadata + tensors


def text_of_gguf(text):
    return struct.pack('<Q', len(text)) + text


class Maker:
    """Writes the files into a folder, and collects the cases."""

    def __init__(self, folder, seed):
        self.folder, self.random, self.cases = pathlib.Path(folder), np.random.default_rng(seed), []
        rows = self.random.random((2, 2, 4, 4)).astype(np.float32)
        self.weights = rows / rows.sum(-1, keepdims=True)
        self.vectors = {'query': self.random.standard_normal((5, 8)).astype(np.float32),
                        **{f'{side}_proj.weight': self.random.standard_normal((8, 8)).astype(np.float32) for side in 'qkv'}}

    def pick(self, values):
        return values[self.random.integers(len(values))]

    def number(self, most):
        return int(self.random.integers(most))

    def add(self, kind, source, **options):
        self.cases.append(Case(kind, str(source), options, f'{kind}-{len(self.cases)}'))

    def file(self, kind, name, data, **options):
        path = self.folder / f'{len(self.cases)}-{name}'
        path.write_bytes(data if isinstance(data, bytes) else data.encode('utf-8', 'surrogatepass'))
        self.add(kind, path, **options)
        return path

    def broken(self, data):
        """Bytes cut, flipped, repeated, or with a piece of others."""
        data, how = bytearray(data), self.number(6)
        at = self.number(max(1, len(data)))
        if how == 0:
            del data[at:]
        elif how == 1:
            for _ in range(1 + self.number(8)):
                data[self.number(len(data))] ^= 1 << self.number(8)
        elif how == 2:
            data[at:at + 8] = struct.pack('<Q', self.pick([one for one in HUGE if isinstance(one, int) and 0 <= one < 2 ** 64]))
        elif how == 3:
            data[at:at] = bytes(self.random.integers(0, 256, 1 + self.number(40), dtype=np.uint8))
        elif how == 4:
            del data[at:at + 1 + self.number(16)]
        else:
            data[:min(len(data), 64)] = data[:min(len(data), 64)][::-1]
        return bytes(data)

    def evil(self, held):
        """An object with a field somewhere in it replaced, doubled or taken away."""
        held, way = copy.deepcopy(held), []
        at = held
        while isinstance(at, (dict, list)) and at:
            key = self.pick(sorted(at)) if isinstance(at, dict) else self.number(len(at))
            way.append((at, key))
            at = at[key]
            if self.number(3) == 0:
                break
        if not way:
            return held
        of, key = way[-1]
        if self.number(4) == 0:
            del of[key]
        elif self.number(6) == 0 and isinstance(of, list):
            of[key:key] = [of[key]] * self.pick([1, 2, 1000])
        else:
            of[key] = self.pick(EVIL)
        return held

    def arrays(self):
        whole = npy(self.weights)
        for name, data in {
                'empty': b'', 'magic': b'\x93NUMPX' + whole[6:], 'version': whole[:6] + b'\x09\x00' + whole[8:], 'short': whole[:-3],
                'long': whole + b'x' * 9, 'object': npy_stating('|O', (2, 2), b'\x80\x04K\x01.'), 'records': npy_stating([('a', '<f4')], (2, 2), b'\0' * 16),
                'text': npy_stating('<U3', (2, 2), b'\0' * 48), 'complex': npy(self.weights.astype(np.complex64)), 'fortran': npy(np.asfortranarray(self.weights)),
                'double': npy(self.weights.astype('>f8')), 'rank1': npy(np.ones(4)), 'rank0': npy(np.array(1.0)), 'rank6': npy(np.ones((1,) * 6)),
                'rank99': npy_stating('<f4', (1,) * 99, b'\0' * 4), 'none': npy(np.zeros((2, 2, 0, 0))), 'nan': npy(np.full((2, 2, 3, 3), np.nan)),
                'inf': npy(np.full((2, 2, 3, 3), np.inf)), 'above': npy(np.full((2, 2, 3, 3), 7.0)), 'below': npy(-self.weights),
                'bool': npy(np.ones((3, 3), bool)), 'header': b'\x93NUMPY\x02\x00' + struct.pack('<I', 2 ** 32 - 1) + b'{', 'deep': npy_stating('<f4', '(' * 3000)}.items():
            self.file('npy', f'{name}.npy', data)
        for size in HUGE:
            self.file('npy', 'huge.npy', npy_stating('<f4', f'(2, {size}, 4, 4)', b'\0' * 64))
        self.file('npy', 'product.npy', npy_stating('<f4', (2 ** 16,) * 4, b'\0' * 64))
        plain = npz({'attentions': self.weights})
        bomb = io.BytesIO()
        with zipfile.ZipFile(bomb, 'w', zipfile.ZIP_DEFLATED) as file:
            file.writestr('attentions.npy', npy_stating('<f4', (1, 1, 2 ** 14, 2 ** 14)) + b'\0' * (1 << 26))
        twice = plain[:plain.index(b'PK\x01\x02')] * 2 + plain[plain.index(b'PK\x01\x02'):]
        for name, data in {'empty': b'', 'end': plain[:-10], 'no-arrays': npz({}), 'other': npz({'x': np.ones(3)}), 'object': npz({'attentions': np.array([{}], object)}),
                           'bomb': bomb.getvalue(), 'twice': twice, 'packed': npz({'attentions': self.weights}, True)[:-40], 'two': npz({'attentions': self.weights, 'tokens': np.array(['a'])}),
                           'stacks': npz({'encoder_attentions': self.weights}), 'cross': npz({'cross_attentions': self.weights[:, :, :3], 'decoder_attentions': self.weights}),
                           'ranks': npz({'attentions': np.ones((2, 2))}), 'name': npz({'../../x': self.weights})}.items():
            self.file('npz', f'{name}.npz', data)

    def tensors(self):
        good = {'dtype': 'F32', 'shape': [1, 1, 2, 2], 'data_offsets': [0, 16]}
        for name, change in {'offset': {'data_offsets': [0, 2 ** 62]}, 'back': {'data_offsets': [16, 0]}, 'negative': {'data_offsets': [-16, 0]}, 'shape': {'shape': [1, 1, 2 ** 32, 2 ** 32]},
                             'minus': {'shape': [1, 1, -2, -2]}, 'float': {'shape': [1, 1, 2.5, 2]}, 'rank': {'shape': [4]}, 'scalar': {'shape': []}, 'dtype': {'dtype': 'F99'},
                             'number': {'dtype': 5}, 'fewer': {'data_offsets': [0, 12]}, 'bool': {'dtype': 'BOOL', 'data_offsets': [0, 4]}, 'f8': {'dtype': 'F8_E4M3', 'data_offsets': [0, 4]},
                             'complex': {'dtype': 'C64', 'data_offsets': [0, 32]}, 'many': {'shape': [1] * 200}}.items():
            self.file('safetensors', f'{name}.safetensors', safetensors({'attentions': {**good, **change}}, b'\0' * 32))
        for name, data in {'empty': b'', 'short': b'\x05', 'header': safetensors(b'{}', size=2 ** 63), 'long': safetensors(b'{}', size=2 ** 25), 'text': safetensors(b'[]'), 'cut': safetensors(b'{"a":'),
                           'deep': safetensors(b'{"a":' * 5000), 'twice': safetensors(json.dumps({'attentions': good}).encode()[:-1] + b', ' + json.dumps({'attentions': good}).encode()[1:], b'\0' * 16),
                           'none': safetensors({}), 'metadata': safetensors({'__metadata__': {'tokens': 5}, 'attentions': good}, b'\0' * 16), 'zeros': safetensors({'attentions': good}, b'\0' * 16),
                           'words': tensors_file({'attentions': self.weights}, {'tokens': '["a"]'}), 'bad-words': tensors_file({'attentions': self.weights}, {'tokens': '[' * 2000}),
                           'heads': tensors_file(self.vectors, {'num_heads': '3'}), 'zero-heads': tensors_file(self.vectors, {'num_heads': '0'}), 'no-heads': tensors_file(self.vectors),
                           'heads-text': tensors_file(self.vectors, {'num_heads': 'x'}), 'columns': tensors_file({**self.vectors, 'key': np.ones((5, 7))}, {'num_heads': '2'}),
                           'mask': tensors_file({**self.vectors, 'mask': np.ones((3, 3))}, {'num_heads': '2'}), 'nan': tensors_file({**self.vectors, 'query': np.full((5, 8), np.nan)}, {'num_heads': '2'}),
                           'large': tensors_file({**self.vectors, 'query': np.full((5, 8), 3e38)}, {'num_heads': '2'}), 'rank': tensors_file({**self.vectors, 'query': np.ones(8)}, {'num_heads': '2'}),
                           'stacks': tensors_file({'cross_attentions': self.weights, 'attentions': self.weights})}.items():
            self.file('safetensors', f'{name}.safetensors', data)

    def texts(self):
        attention = {'attention': [{'name': 'Self', 'attn': self.weights.tolist(), 'left_text': list('abcd'), 'right_text': list('abcd')}]}
        for name, data in {'empty': '', 'null': 'null', 'number': '5', 'deep': '[' * 20000, 'nan': '[[NaN, 1], [0, 1]]', 'ragged': '[[1, 2], [3]]', 'texts': '[["a", "b"]]', 'bom': '\ufeff[[1, 0], [0, 1]]',
                           'cut': json.dumps(attention)[:300], 'twice': '{"attention": 1, "attention": 2}', 'large': '[[1e999, 0]]', 'comment': '// x\n[[1]]', 'utf16': '[[1]]'.encode('utf-16'),
                           'lone': '{"a": "\\ud800"}', 'zero': '[[\0]]', 'no-attn': json.dumps({'attention': []}), 'schema': json.dumps({'schema': 'headlight.attention/9', **attention}),
                           'session': json.dumps({'schema': 'headlight.session/9', 'request': {}}), 'page': json.dumps({'schema': 'headlight.page/1'})}.items():
            self.file('json', f'{name}.json', data)
        for _ in range(25):
            self.file('attention', 'evil.json', json.dumps(self.evil(attention)))
        rows = '\n'.join(','.join(map(str, row)) for row in self.weights[0, 0])
        tidy = 'stack,layer,head,query,key,query_token,key_token,weight\nSelf,0,0,0,0,a,a,1\n'
        for name, data in {'empty': '', 'words': 'a,b\nc,d\n', 'ragged': rows + '\n1,2\n', 'nan': rows.replace('0', 'nan', 1), 'zero': '1,\0\n', 'tidy': tidy[:60], 'layer': tidy.replace('0,0,0,0', '-1,0,0,0'),
                           'large': tidy.replace('0,0,0,0', '99999999999,0,0,0'), 'cells': tidy + 'Self,0,0,1000000,1000000,a,a,1\n', 'twice': tidy + 'Self,0,0,0,0,a,a,1\n', 'quote': '"1,2\n3', 'long': '1,' * 40000,
                           'head': tidy.split('\n')[0] + '\n', 'stack': tidy.replace('Self', 'Other'), 'bytes': b'\xff\xfe1,2'}.items():
            self.file('table', f'{name}.csv', data)

    def programs_files(self):
        """Of PyTorch and llama.cpp, and pickles that would run."""
        files = sorted((GOLDEN / 'torch-files').glob('*.pt')) + sorted((GOLDEN / 'torch-files').glob('*.bin'))
        for _ in range(15 if files else 0):
            self.file('torch', 'broken.pt', self.broken(self.pick(files).read_bytes()))
        for name, data in {'empty': b'', 'run': b'cos\nsystem\n(S"touch /tmp/headlight-ran"\ntR.', 'text': b'hello', 'cut': b'\x80\x02}q', 'deep': b'\x80\x02' + b'(' * 20000, 'long': b'\x80\x02X\xff\xff\xff\x7f'}.items():
            self.file('torch', f'{name}.pt', data)
        architecture = text_of_gguf(b'general.architecture') + struct.pack('<I', 8) + text_of_gguf(b'llama')
        tensor = text_of_gguf(b'token_embd.weight') + struct.pack('<IQQIQ', 2, 2 ** 40, 2 ** 40, 0, 0)
        for name, data in {'empty': b'', 'magic': gguf(magic=b'GGUX'), 'version': gguf(version=99), 'none': gguf(), 'tensors': gguf(num_tensors=2 ** 62), 'metadata': gguf(num_metadata=2 ** 62),
                           'alone': gguf(architecture, num_metadata=1), 'text': gguf(struct.pack('<Q', 2 ** 62), num_metadata=1), 'large': gguf(architecture, tensor, 1, 1),
                           'type': gguf(text_of_gguf(b'general.architecture') + struct.pack('<I', 99), num_metadata=1),
                           'lists': gguf(text_of_gguf(b'a') + struct.pack('<I', 9) + struct.pack('<IQ', 9, 1) * 3000, num_metadata=1), 'cut': gguf(architecture, num_metadata=1)[:-3]}.items():
            self.file('gguf', f'{name}.gguf', data)

    def models(self):
        """Folders whose configuration, weights or tokenizer are wrong."""
        words = json.loads((GOLDEN / 'tokenizer-bert-uncased' / 'tokenizer.json').read_text(encoding='utf-8'))

        def folder(name, golden):
            path = self.folder / f'{len(self.cases)}-{name}'
            path.mkdir()
            for file in ('config.json', 'model.safetensors'):
                shutil.copy(GOLDEN / golden / file, path)
            return path
        for _ in range(45):
            golden = self.pick(['llama-gqa', 'bert', 'gpt2', 'marian', 'family-t5', 'family-modernbert', 'family-mixtral', 'family-bloom'])
            path = folder(golden, golden)
            config = json.loads((path / 'config.json').read_text())
            config[self.pick(sorted(config))] = self.pick([*EVIL, *HUGE])
            (path / 'config.json').write_text(json.dumps(config))
            self.add('config', path, ids='5,7,9', **({'decoder_ids': '5,7'} if golden in ('marian', 'family-t5') else {}))
        for _ in range(20):
            path = folder('weights', 'bert')
            data = (path / 'model.safetensors').read_bytes()
            (path / 'model.safetensors').write_bytes(self.broken(data if self.number(2) else data[:4000]))
            self.add('weights', path, ids='5,7,9')
        for i in range(40):
            path = folder('tokenizer', 'bert')
            (path / 'tokenizer.json').write_text(json.dumps(self.evil(words)) if i % 4 else json.dumps(words)[:self.number(2700)])
            self.add('tokenizer', path, text='the cat sat')
        for name, change in {'gone': lambda path: (path / 'model.safetensors').unlink(), 'no-config': lambda path: (path / 'config.json').unlink(), 'loop': lambda path: ((path / 'config.json').unlink(), (path / 'config.json').symlink_to('config.json')),
                             'device': lambda path: ((path / 'config.json').unlink(), (path / 'config.json').symlink_to('/dev/zero')), 'pipe': lambda path: ((path / 'model.safetensors').unlink(), os.mkfifo(path / 'model.safetensors')),
                             'folder': lambda path: ((path / 'config.json').unlink(), (path / 'config.json').mkdir()), 'pointer': lambda path: (path / 'model.safetensors').write_text('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n'),
                             'index': lambda path: ((path / 'model.safetensors').unlink(), (path / 'model.safetensors.index.json').write_text('{"weight_map": {"a": "../../../etc/passwd"}}')),
                             'html': lambda path: (path / 'config.json').write_text('<!doctype html>')}.items():
            path = folder(name, 'bert')
            change(path)
            self.add('folder', path, ids='5,7')

    def requests(self):
        """Good models, and questions that they cannot answer."""
        bert, two, other = GOLDEN / 'bert', GOLDEN / 'marian', 'shipped:decoder'
        for options in ({'ids': ''}, {'ids': '-1'}, {'ids': '999999'}, {'ids': 'x'}, {'ids': '5,,7'}, {'ids': '5', 'text': 'a'}, {'text': 'the cat'}, {'ids': '5,7', 'off': '9.9'}, {'ids': '5,7', 'off': '0.99'}, {'ids': '5,7', 'off': 'x'},
                        {'ids': '5,7', 'off': '-1.0'}, {'ids': '5,7', 'off': 'cross:0.0'}, {'ids': '5,7', 'mask': 'x'}, {'ids': '5,7', 'mask': 'window:-1'}, {'ids': '5,7', 'mask': 'window:99999999999999999999'}, {'ids': '5,7', 'mask': '/dev/zero'},
                        {'ids': '5,7', 'mask': str(self.folder)}, {'ids': '5,7', 'mask': 'nothing.npy'}, {'ids': '5,7', 'scale': 'nan'}, {'ids': '5,7', 'scale': 'inf'}, {'ids': '5,7', 'scale': '0'}, {'ids': '5,7', 'pad': '3'}, {'ids': '5,7', 'pad': '-1'},
                        {'ids': '5,7', 'pad': '2'}, {'ids': '5,7', 'dropout': '1'}, {'ids': '5,7', 'dropout': '-0.5'}, {'ids': '5,7', 'dropout': 'nan'}, {'ids': '5,7', 'token_type_ids': '0'}, {'ids': '5,7', 'token_type_ids': '0,9'},
                        {'ids': '5,7', 'decoder_ids': '5'}, {'ids': '5,7', 'target': 'a'}, {'ids': '5,7', 'text_pair': 'a'}, {'ids': '5,7', 'picture': 'nothing.png'}, {'ids': '5\n7\n', 'mask': 'causal'},
                        {'ids': ','.join(['5'] * 3000)}, {'ids': '5,7', 'softcap': '-1'}, {'ids': '5,7', 'nothing': '1'}):
            self.add('request', bert, **options)
        for options in ({'ids': '5,7'}, {'ids': '5,7', 'decoder_ids': ''}, {'ids': '5,7', 'decoder_ids': '-2'}, {'ids': '5\n7', 'decoder_ids': '5\n6\n7'}, {'ids': '5,7', 'decoder_ids': '5', 'off': 'decoder:9.9'}, {'ids': '5,7', 'decoder_ids': '5', 'off': 'cross:9.0'},
                        {'ids': '5,7', 'decoder_ids': '5', 'mask': 'causal+x'}, {'ids': '5,7', 'decoder_ids': '5', 'decoder_mask': 'none'}):
            self.add('request', two, **options)
        for options in ({'text': ''}, {'text': ' '}, {'text': '\n\n'}, {'text': 'a\n\nb'}, {'text': '我' * 200}, {'text': '\u0001\u0002'}, {'text': '我请', 'tokens': '我|你'}, {'text': '我请', 'target': 'x'}, {'text': '😀' * 20}, {'text': '我请李雷', 'off': '*.*'},
                        {'text': '我请', 'text_pair': '我'}, {'text': '我请', 'chat': '1'}, {'text': 'x' * 20000}, {'text': '我请', 'scale': '1e39'}):
            self.add('request', other, **options)
        for name in ('nothing', 'shipped:nothing', '', ' ', '/', '/dev/null', '/dev/zero', '/proc/self/mem', 'a' * 300, 'a/' * 3000, 'Qwen/nothing', 'qwen:99b', '../' * 40, 'x\ny', '\udcff', '#array=x', f'{bert}#adapter=nothing', f'{bert}#array=x'):
            self.add('source', name, ids='5')

    def masks(self):
        ok = np.tri(3, dtype=bool)
        for name, data in {'shape.npy': npy(np.ones((2, 2), bool)), 'rank.npy': npy(np.ones(3, bool)), 'nan.npy': npy(np.full((3, 3), np.nan)), 'inf.npy': npy(np.full((3, 3), np.inf)), 'half.npy': npy(np.full((3, 3), 0.5)),
                           'heads.npy': npy(np.ones((9, 3, 3), bool)), 'none.npy': npy(np.zeros((3, 3), bool)), 'empty.npy': b'', 'cut.npy': npy(ok)[:-4], 'text.npy': npy(np.full((3, 3), 'a')), 'huge.npy': npy_stating('|b1', (2 ** 31, 2 ** 31)),
                           'ragged.json': '[[1,0],[1]]', 'words.json': '[["a"]]', 'object.json': '{}', 'two.json': '[[2,0,0],[1,1,0],[1,1,1]]', 'deep.json': '[' * 3000, 'other.png': b'\x89PNG', 'batch.npy': npy(np.ones((2, 2, 3, 3), bool))}.items():
            path = self.folder / f'{len(self.cases)}-mask-{name}'
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
            self.add('mask', GOLDEN / 'bert', ids='5,7,9', mask=str(path))

    def others(self):
        """Pages and sessions, pictures, adapters."""
        session = {'schema': 'headlight.session/1', 'request': {'source': 'shipped:decoder', 'text': '我请李雷', 'mask': {'causal': True}, 'off': ['0.1']}}
        for _ in range(20):
            self.file('session', 'evil.headlight.json', json.dumps(self.evil(session)))
        for name, data in {'empty': '', 'none': '<p>hello</p>', 'cut': '<script type="application/json" id="headlight-data">{"schema":', 'null': '<script type="application/json" id="headlight-data">null</script>',
                           'schema': '<script type="application/json" id="headlight-data">{"schema": "headlight.page/9"}</script>', 'alone': '<script type="application/json" id="headlight-data">{"schema": "headlight.page/1"}</script>'}.items():
            self.file('page', f'{name}.html', data)
        for _ in range(12):
            adapter = self.folder / f'{len(self.cases)}-adapter'
            adapter.mkdir()
            config = {'peft_type': 'LORA', 'r': 2, 'lora_alpha': 4, 'target_modules': ['query'], 'base_model_name_or_path': 'x'}
            (adapter / 'adapter_config.json').write_text(json.dumps(self.evil(config)))
            names = 'base_model.model.bert.encoder.layer.0.attention.self.query.lora_{}.weight'
            (adapter / 'adapter_model.safetensors').write_bytes(tensors_file({names.format('A'): np.ones((2, 12)), names.format('B'): np.ones((12, self.pick([2, 3])))}))
            self.add('adapter', f'{GOLDEN / "bert"}#adapter={adapter}', ids='5,7')
        pictures = sorted((GOLDEN / 'pictures').glob('*.png')) + sorted((GOLDEN / 'pictures').glob('*.jpg'))
        for _ in range(12):
            path = self.folder / f'{len(self.cases)}-picture.png'
            path.write_bytes(self.broken(self.pick(pictures).read_bytes()))
            self.add('picture', GOLDEN / 'family-llava', picture=str(path), ids='5,7')

    def broken_files(self, count):
        """Whole files of every kind of array with bytes that are others."""
        whole = {'npy': npy(self.weights), 'npz': npz({'attentions': self.weights}, True), 'safetensors': tensors_file({'attentions': self.weights}, {'tokens': '["a", "b", "c", "d"]'}),
                 'vectors.safetensors': tensors_file(self.vectors, {'num_heads': '2'}), 'json': json.dumps({'attention': [{'attn': self.weights.tolist(), 'left_text': list('abcd')}]}).encode()}
        for i in range(count):
            ending = sorted(whole)[i % len(whole)]
            self.file('broken', f'broken.{ending}', self.broken(whole[ending]))


def cases(folder, seed):
    maker = Maker(folder, seed)
    for part in (maker.arrays, maker.tensors, maker.texts, maker.programs_files, maker.models, maker.requests, maker.masks, maker.others):
        part()
    maker.broken_files(max(30, 520 - len(maker.cases)))
    return maker.cases
