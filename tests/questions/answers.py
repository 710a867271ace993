"""Answers read back: the numbers of each format, in the same order."""

import csv
import io
import json
import re

import numpy as np


def strict(text):
    """JSON, one answer or one behind another; a number that is none is refused."""
    def refuse(word):
        raise ValueError(word)
    decoder, all_, text = json.JSONDecoder(parse_constant=refuse), [], text.strip()
    while text:
        one, end = decoder.raw_decode(text)
        all_.append(one)
        text = text[end:].lstrip()
    return all_


def safetensors(data):
    size = int.from_bytes(data[:8], 'little')
    header = json.loads(data[8:8 + size])
    kinds = {'F32': '<f4', 'F16': '<f2', 'I64': '<i8', 'BOOL': '?'}
    return {name: np.frombuffer(data[8 + size:][slice(*one['data_offsets'])], kinds[one['dtype']]).reshape(one['shape'])
            for name, one in header.items() if name != '__metadata__'}


def flat(values):
    return np.array([np.nan if value in (None, '') else float(value) for value in values])


STATISTICS = 'mean', 'median', 'lower_quartile', 'upper_quartile', 'low', 'high', 'n'


def numbers(draw, form, data):
    """What an answer says, by the name of the number: in the same order in every format."""
    command, study = draw.command, '--pairs' in draw.chosen
    if form == 'json':
        answers = strict(data.decode())
        if study:
            return {name: flat(cell.get(name) for cell in answers[0]['cells']) for name in STATISTICS}
        if command == 'export':
            sentences = [one for answer in answers for one in answer.get('batch', [answer])]
            return {'weights': np.concatenate([np.asarray(stack['attn'], np.float32).ravel() for one in sentences
                                               for stack in one['attention']])}
        if command == 'lens':
            layers = [layer for answer in answers for layer in answer['layers']]
            return {'probability': flat(word['probability'] for layer in layers for word in layer['top']),
                    'metric': flat(layer['metric'] for layer in layers if 'metric' in layer),
                    'logit': flat(term['logit'] for answer in answers for term in answer['attribution'])}
        if command == 'why':
            return {'term': flat(term['value'] for answer in answers for term in answer['terms'])}
        if command == 'patch':
            return {name: flat(cell.get(name) for cell in answers[0]['cells']) for name in ('restored', 'lost', 'estimate')
                    if any(name in cell for cell in answers[0]['cells'])}
        rows = answers[0]['heads']
        return {name: flat(row.get(name) for row in rows) for name in sorted({name for row in rows for name in row})
                if isinstance(next(row[name] for row in rows if name in row), (int, float)) and name != 'sink_key'}
    if form == 'csv':
        rows = list(csv.DictReader(io.StringIO(data.decode())))
        if any(None in row or None in row.values() for row in rows):
            raise ValueError('a row of another length')
        if study:
            return {name: flat(row[name] for row in rows) for name in STATISTICS}
        if command == 'export':
            return {'weights': flat(row['weight'] for row in rows)}
        if command == 'lens':
            return {what: flat(row['value'] for row in rows if row['what'].removeprefix('uncapped_') == what) for what in ('probability', 'metric', 'logit')}
        if command == 'why':
            return {'term': flat(row['value'] for row in rows)}
        texts = {'stack', 'token', 'learned', 'name', 'patched', 'part', 'composes_with'} | ({'layer', 'head', 'neuron'} if command == 'patch' else set())
        return {name: flat(row[name] for row in rows) for name in (rows[0] if rows else ()) if name not in texts}
    arrays = data if isinstance(data, dict) else safetensors(data) if form == 'safetensors' else dict(np.load(io.BytesIO(data)))
    if command in ('lens', 'why') and '0.ids' in arrays or '0.terms' in arrays:
        names = {name.split('.', 1)[1] for name in arrays}
        sentences = sorted({int(name.split('.')[0]) for name in arrays})
        arrays = {name: np.concatenate([arrays[f'{at}.{name}'].ravel() for at in sentences]) for name in names}
    if study:
        names = [str(name) for name in arrays['statistics']]
        return {name: arrays['summary'][:, names.index(name)] for name in STATISTICS[:-1]} | {'n': arrays['n']}
    if command == 'export':
        of = ('encoder_attentions', 'decoder_attentions', 'cross_attentions', 'attentions')
        sentences = sorted({name.split('.')[0] for name in arrays if name.split('.')[0].isdigit()}, key=int) or ['']
        names = [(sentence + '.' if sentence else '') + name for sentence in sentences for name in of]
        return {'weights': np.concatenate([arrays[name].ravel() for name in names if name in arrays])}
    if command == 'lens':
        return {'probability': arrays['probabilities'].ravel(), 'metric': arrays.get('measured', np.zeros(0)).ravel(),
                'logit': arrays.get('attribution', np.zeros(0)).ravel()}
    if command == 'why':
        return {'term': arrays['terms'].ravel()}
    if command == 'patch':
        names = {'restored': 'restored', 'lost': 'lost', 'estimate': 'estimate', 'estimate_lost': 'estimate',
                 'patched_restored': 'lost' if 'estimate_lost' in arrays else 'restored'}
        return {name: arrays[array].ravel() for array, name in names.items() if array in arrays}
    columns = [str(name) for name in arrays['columns']]
    of = {'layer': arrays['heads'][:, 0], 'head': arrays['heads'][:, 1]} if 'heads' in arrays else {}
    return of | {name: arrays['measures'][:, at] for at, name in enumerate(columns)}


def is_error(line):
    return re.search(r'expected .*found |expected .*, not |not expected|required|requires|excludes|: ', line) is not None
