"""The models that drawn questions are asked of, and the texts, ids and files that each reads."""

import json
import pathlib
import re
import shutil

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / 'golden'


class Source:
    """A model, and questions that it can be asked."""

    def __init__(self, words, arch, layers, heads, texts=None, vocabulary=0, two=None):
        self.words, self.arch, self.layers, self.heads, self.texts, self.vocabulary = words, arch, layers, heads, texts, vocabulary
        self.two = arch == 'encoder-decoder' if two is None else two

    def question(self, draw, longer=False):
        if self.arch == 'tensors':
            return []
        if self.arch == 'picture':
            return ['--picture', str(GOLDEN / 'pictures' / draw.pick('2-8.png', 'jpeg-RGB.jpeg', 'source.png'))]
        if self.arch == 'own':
            return self.own_numbers(draw)
        if self.texts:
            text, other, way = draw.pick(*self.texts), draw.pick(*self.texts), draw.number(0, 12 if 'shipped' in self.words[0] else 5)
            if way == 0 and ('chats' in self.words[0] or draw.number(0, 6) == 0):
                return ['--chat', draw.pick('user:', 'system:', '') + text, *draw.pick([], ['--chat', 'assistant:' + other])]
            target = ['I asked Li', 'I asked him', 'we help', ''][draw.number(0, 3) + (way == 1)]
            target = draw.pick(['--target', target], ['--target-tokens', target.replace(' ', '|')]) if self.two else []
            if way == 2:
                return ['--tokens', text.replace(' ', '|'), *target]
            pair = ['--text-pair', other] if way == 3 and ('pairs' in self.words[0] or draw.number(0, 6) == 0) else []
            return ['--text', text + ('\n' + other if longer and not self.two else ''), *pair, *target]
        ids = lambda: ','.join(str(one) for one in [5, *(draw.number(5, self.vocabulary) for _ in range(draw.number(2, 6)))])
        first = ids()
        types = ['--token-type-ids', re.sub(r'\d+', lambda _: str(draw.number(0, 2)), first)] if draw.number(0, 15) == 0 else []
        picture = ['--picture', str(GOLDEN / 'pictures/2-8.png')] if draw.number(0, 30) == 0 else []
        return ['--ids', first + ('\n' + ids() if longer and not self.two else ''), *types, *picture, *(['--decoder-ids', ids()] if self.two else [])]

    def own_numbers(self, draw):
        """Attention without a model, of matrices in files."""
        tokens, width = draw.number(1, 5), draw.number(1, 4)

        def matrix(name, rows, columns, named=False):
            lines = [' '.join([*([f'w{row}'] if named else []), *(f'{draw.random.random():.2f}' for _ in range(columns))]) for row in range(rows)]
            return [f'--{name}', draw.file(f'{name}-{draw.number(0, 9)}.txt', '\n'.join(lines) + '\n')]
        words = matrix('x', tokens, width, draw.number(0, 2) == 0) if draw.number(0, 4) else []
        for name in ('w-q', 'w-k', *draw.pick((), ('w-v',), ('w-v', 'w-o'))) if words else ():
            words += matrix(name, draw.pick(*[width] * 9, width + 1), width)
        for name in draw.pick(('scores',), ('weights',), ('scores', 'weights')) if not words or draw.number(0, 6) == 0 else ():
            words += matrix(name, tokens, tokens)
        return words


def checkpoints(folder):
    """Models of tests/golden with tokenizers: one that takes pairs, one that reads turns of a conversation."""
    pairs, chats = folder / 'pairs', folder / 'chats'
    shutil.copytree(GOLDEN / 'bert', pairs)
    text = (GOLDEN.parent / 'pair_tokenizer.h').read_text()
    (pairs / 'tokenizer.json').write_text(text[text.index('R"(') + 3:text.index(')";')])
    shutil.copytree(GOLDEN / 'family-qwen2-padded', chats)
    tokenizer = json.loads((chats / 'tokenizer.json').read_text())
    tokenizer['model']['vocab'] = {word: id for word, id in tokenizer['model']['vocab'].items() if id < 20}
    tokenizer['added_tokens'] = [{'id': id, 'content': text, 'special': True, 'single_word': False, 'lstrip': False, 'rstrip': False,
                                  'normalized': False} for id, text in ((20, '<|im_start|>'), (21, '<|im_end|>'))]
    (chats / 'tokenizer.json').write_text(json.dumps(tokenizer))
    return [Source([str(pairs)], 'encoder', 2, 4, ('the cat sat', 'it was tired', 'the cat was playing it'), 0, False),
            Source([str(chats)], 'decoder', 2, 2, ('w0 w1 w2', 'w3 w1 w0 w5', 'w7'), 0, False),
            Source(['shipped:shapes'], 'picture', 2, 4)]


def sources(folder):
    zh = '我请李雷帮我喝了最好的', '我请李雷帮我看了最好的', '我请李雷帮我订了去北京的机票', '李雷去北京'
    en = 'the cat sat on the mat', 'the small dog gave it to her', 'the teacher will help', 'the day is red'
    all_ = [Source(['shipped:decoder'], 'decoder', 2, 8, zh), Source(['shipped:encoder'], 'encoder', 2, 8, zh),
            Source(['shipped:translator'], 'encoder-decoder', 2, 4, ('我请李雷', '我请他', '他帮我们')),
            Source(['shipped:any-sentence'], 'encoder', 4, 9, en)]
    for golden in sorted(GOLDEN.glob('*')):
        config, case = golden / 'config.json', golden / 'case.json'
        if not config.exists() or not case.exists():
            continue
        config = json.loads(config.read_text())
        config = {**config.get('text_config', {}), **config}
        two = any('decoder' in name for name in json.loads(case.read_text()))
        name = lambda *names: next((config[n] for n in names if n in config), 2)
        all_.append(Source([str(golden)], 'encoder-decoder' if two else 'golden',
                           name('num_hidden_layers', 'n_layer', 'encoder_layers', 'num_layers', 'n_layers'),
                           name('num_attention_heads', 'n_head', 'encoder_attention_heads', 'num_heads', 'n_heads'), None,
                           name('vocab_size'), two))
    for arch in ('decoder', 'encoder', 'encoder-decoder'):
        for _ in range(3):
            all_.append(Source(['--random', '--arch', arch], arch, 2, 4, en))
    return all_ + checkpoints(folder) + 3 * [Source([], 'own', 1, 1)] + [Source([str(GOLDEN / name)], 'tensors', 1, 3) for name in (
        'tensors-self-6/input.safetensors', 'tensors-cross-4x6/input.safetensors', 'tensors-causal-7/expected.npz')]
