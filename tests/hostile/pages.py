"""Hostile pages, by a seed: those of cases.py that a browser is given."""

import copy
import json
import random

EVIL = (None, True, -1, 0, 3, 1e9, 2 ** 31, 2 ** 63, 1e300, 'x', '', '\u0000', '\ud7ff', [], {}, [1, 'x'], {'x': 1}, [[[[1]]]], 'a' * 5000)


def broken_pages(page, seed, count):
    """Pages whose model is gone and whose own numbers are others in a field: (name, page)."""
    draw = random.Random(seed)
    begin = page.index('>', page.index('id="headlight-data"')) + 1
    end = page.index('</script>', begin)
    whole = json.loads(page[begin:end])
    whole['request']['source'] = '/nothing/of-a-model'
    for i in range(count):
        data = copy.deepcopy(whole)
        of, fields = draw.choice([(data['stacks'][0], None), (data['stacks'][0], None), (data, ('schema', 'stacks', 'tokens', 'error', 'edits'))])
        field = draw.choice(fields or sorted(of))
        is_cut = isinstance(of[field], (str, list)) and draw.random() < 0.3
        of[field] = of[field][:len(of[field]) // 2] if is_cut else draw.choice(EVIL)
        yield f'{i}-{field}', page[:begin] + json.dumps(data).replace('<', '\\u003c') + page[end:]
