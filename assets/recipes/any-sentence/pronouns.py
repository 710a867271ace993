#!/usr/bin/env python3
"""Makes sentences in which a pronoun stands for a noun, out of pronouns.json.

  pronouns.py DATA OUT.conllu N     sentences that teach: of one relation, IT, from the pronoun to its noun

N times for each language a frame is drawn, two nouns for it, and the rest; where the frame lets either noun be the right
one, both sentences are made. What is said of the right noun does not fit the other, unless their pronouns differ (she, it) or
the frame decides (told … that she: the first). Words behind '|' in DATA and frames that are held_out teach nothing.
pronoun_scores.py measures with them: `words` has only such nouns, and such states and verbs where there are any; `frames` has
only such frames, with the other words; `none` neither.
No sentence holds two nouns that `apart` names. The same DATA and N give the same bytes.
"""
import json
import random
import re
import sys


class Again(Exception):
    """What was drawn does not go together."""


def phrases(words):
    """Words; or phrases, where there is a ; between them."""
    return [part.strip() for part in words.split(';' if ';' in words else None) if part.strip()]


class Language:
    """One language of DATA: its words, those that are held out or the others."""

    def __init__(self, name, data, hold_out):
        self.chinese, self.data, self.hold_out = name == 'zh', data, hold_out
        self.frames = [f for f in data['frames'] if bool(f.get('held_out')) == (hold_out == 'frames')]
        self.nouns = {kind: self.some(words) for kind, words in data['nouns'].items()}
        self.names = {kind: self.some(words) for kind, words in data['names'].items()}
        self.said = {key: {kind: set() for kind in data['nouns']} for key in ('states', 'deeds')}  # what fits a kind
        for key, table in self.said.items():
            for one in data[key]:
                for kind in self.kinds(one['fits']): table[kind].update(*map(phrases, self.sides(one['words'])))
        for kinds, words in data['also'].items():
            for kind in self.kinds(kinds): self.said['states'][kind].update(words.split())
        self.used = {key: {w for one in data[key] for w in self.some(one['words'])} for key in self.said}
        self.kept = {key: {w for one in data[key] for w in phrases(self.sides(one['words'])[1])} for key in self.said}

    @staticmethod
    def sides(words):
        """What teaches, and what is held out; phrases remain phrases."""
        teaches, _, kept = words.partition('|')
        return teaches, kept + (';' if ';' in teaches and kept else '')

    def some(self, words):
        teaches, kept = self.sides(words)
        return phrases(kept if self.hold_out == 'words' else teaches) or phrases(teaches)

    def kinds(self, names):
        """The kinds of nouns that names and groups of them stand for, each once."""
        found = []
        for name in names.split():
            found += self.kinds(self.data['groups'][name]) if name in self.data['groups'] else \
                list(self.data['nouns']) if name == 'any' else [name]
        return list(dict.fromkeys(found))


class Scene:
    """A frame with its nouns A, B and C, and all that both sentences of a pair share."""

    def __init__(self, language, rng):
        self.language, self.data, self.rng, self.drawn = language, language.data, rng, {}
        self.frame = frame = rng.choices(language.frames, [f.get('share', 1) for f in language.frames])[0]
        self.kind, self.verb = {}, None
        if 'A>B' in frame['words']:
            entry = rng.choice(self.data['verbs'])
            self.kind = {role: rng.choice(language.kinds(entry[side])) for role, side in (('A', 'from'), ('B', 'to'))}
            self.verb = rng.choice(language.some(entry['words']))
        kinds = frame.get('kinds', 'any any').split()
        for role, names in zip('AB', kinds):
            if names != 'none' and role not in self.kind: self.kind[role] = rng.choice(language.kinds(names))
        if 'third' in frame: self.kind['C'] = rng.choice(language.kinds(frame['third']))
        if frame.get('same') and not self.verb and kinds[0] == kinds[1]: self.kind['B'] = self.kind['A']
        if frame.get('parts') and not self.parts(frame.get('target', 'A')): raise Again
        self.named, self.plural, self.noun, self.gender = {}, {}, {}, {}
        for role, kind in self.kind.items():
            self.named[role] = kind in language.names and rng.random() < .35
            self.plural[role] = not self.named[role] and rng.random() < .3 and kind not in self.data.get('mass', '').split()
            self.noun[role] = rng.choice((language.names if self.named[role] else language.nouns)[kind])
            self.gender[role] = {'man': 'he', 'woman': 'she', 'person': rng.choice(['he', 'she'])}.get(kind, 'it')
        if frame.get('same') and 'B' in self.kind:
            self.plural['B'] = self.plural['A'] and not self.named['B']
            if self.kind['A'] == self.kind['B'] == 'person': self.gender['B'] = self.gender['A']
            if self.pronoun('A') != self.pronoun('B'): raise Again
        nouns = {re.split(':', noun)[-1].split('/')[0] for noun in self.noun.values()}
        if len(nouns) < len(self.noun): raise Again
        # Where the form of the pronoun decides, little is learnt: fewer of those.
        if 'B' in self.kind and self.pronoun('A') != self.pronoun('B') and rng.random() < .4: raise Again
        if any(set(pair.split()) <= nouns for pair in self.data['apart']): raise Again

    def sentences(self):
        """The sentences, with the role of the right noun; None: the pronoun stands for none of them."""
        targets = [None] if self.frame.get('rest') else [self.frame['target']] if 'target' in self.frame else ['A', 'B']
        return [(self.sentence(target), target) for target in targets]

    def sentence(self, target):
        """[(word, a role, 'it' or '')]."""
        words = []
        for item in re.findall(r'\{[^}]*\}|[^{} ]+', self.frame['words']):
            if item[0] != '{':
                words.append((item, ''))
                continue
            name, _, about = re.sub(r'\bX\b', target or 'A', item[1:-1]).partition(':')
            if name[1:] in ('.the', '.The'): words += self.noun_phrase(name[0], name.endswith('.The'))
            elif name in ('sub', 'obj', 'pos'): words += self.pronoun_words(name, about)
            else: words += [(word.replace('_', ' '), '') for word in self.chosen(name, about, target)]
        return words if self.language.chinese else [(words[0][0][0].upper() + words[0][0][1:], words[0][1])] + words[1:]

    def once(self, key, options):
        """Drawn once for both sentences of a pair."""
        if key not in self.drawn: self.drawn[key] = self.rng.choice(list(options))
        return self.drawn[key]

    def pronoun(self, role):
        chinese = self.language.chinese
        return f'they {self.gender[role] if chinese or self.gender[role] == "it" else ""}' if self.plural[role] else self.gender[role]

    def parts(self, role):
        """What the noun has: its leg, its roof."""
        return [part for kinds, words in self.data['parts'].items() if self.kind[role] in self.language.kinds(kinds)
                for part in words.split()]

    def noun_phrase(self, role, first):
        noun = self.noun[role]
        if self.named[role]: return [(noun, role)]
        if self.language.chinese:
            measure, _, noun = noun.partition(':')
            this = self.once('this ' + role, ['那', '那', '这'])
            if self.plural[role]: return [(this + '些', ''), (noun, role)]
            return [(this + measure, ''), (noun, role)] if self.once('bare ' + role, range(4)) else [(noun, role)]
        singular, _, plural = noun.partition('/')
        many = plural or (singular[:-1] + 'ies' if re.search('[^aeiou]y$', singular) else
                          singular + ('es' if re.search('(s|x|ch|sh)$', singular) else 's'))
        adjective = [(self.once('adjective ' + role, self.data['adjectives'].split()), '')] \
            if self.once('has adjective ' + role, range(5)) == 0 else []
        article = self.once('article ' + role, ['the', 'the', 'the', 'some' if self.plural[role] else
                                                'the' if self.kind[role] in self.data['mass'].split() else 'a'])
        if article == 'a' and (adjective[0][0] if adjective else singular)[0] in 'aeiou': article = 'an'
        return [(article.capitalize() if first else article, '')] + adjective + [(many if self.plural[role] else singular, role)]

    def pronoun_words(self, name, about):
        role, up = about[0], about.endswith('.Up')
        if self.language.chinese:
            word = {'it': '它', 'he': '他', 'she': '她'}[self.gender[role]] + ('们' if self.plural[role] else '')
            return [(word, 'it')] + ([('的', '')] if name == 'pos' else [])
        cases = {'it': 'it it its', 'he': 'he him his', 'she': 'she her her', 'they': 'they them their'}
        word = cases[self.pronoun(role).split()[0]].split()[('sub', 'obj', 'pos').index(name)]
        return [(word.capitalize() if up else word, 'it')]

    def chosen(self, name, about, target):
        """The words of a slot that is neither noun nor pronoun."""
        data, other = self.data, {'A': 'B', 'B': 'A'}.get(about[-1:])
        if name in ('neg', 'past'): return self.verb_words(name, about)
        if name == 'was':
            pair = self.once('was', ['was/were'] * 7 + ['is/are'] * 2 + ['looked/looked', 'seemed/seemed', 'felt/felt'])
            return [pair.split('/')[self.plural[about]]]
        if name in ('state', 'deed'): return self.agreeing(self.saying(name + 's', about, other), about, name == 'deed')
        if name in ('blame', 'guilt'):
            entry = data['blame'][0 if target == 'A' else 1]
            said = self.rng.choice(self.language.some(entry['verb' if name == 'blame' else 'words']))
            return self.agreeing(said, target, name == 'guilt')
        if name == 'rival':
            rivals = data['fits_in'] if self.frame['rivals'] == 'fits_in' else self.once('rival', data['rivals'])
            return [self.rng.choice(rivals['first' if target == 'A' else 'second'].split())]
        if name == 'done':
            role, fits = about[-1], lambda entry, role: self.kind[role] in self.language.kinds(entry['fits'])
            entries = [entry for entry in data['done_to'] if fits(entry, role)
                       and not (fits(entry, other) and self.pronoun(role) == self.pronoun(other))]
            return [self.any_of(self.language.some(self.any_of(entries)['words']))]
        if name == 'part':
            mine = self.parts(about)
            if self.frame.get('apart') or ('target' not in self.frame and self.pronoun('A') == self.pronoun('B')):
                mine = [part for part in mine if part not in self.parts(other)]
            return [self.any_of(mine)]
        if name == 'plan': return self.any_of(self.language.some(data['plans'])).split()
        chosen = self.once(f'{name}:{about}' if about else name, self.language.some(data[name]))
        return [] if chosen == '_' else chosen.split()

    def any_of(self, options):
        if not options: raise Again
        return self.rng.choice(options)

    def agreeing(self, said, role, is_verb):
        if is_verb and self.plural[role] and said.startswith('was '): said = 'were ' + said[4:]
        return said.split()

    def verb_words(self, name, about):
        verb = self.once('rival', self.data['rivals'])['verb'] if about == 'rivals' else \
            self.once('fits', phrases(self.data['fits_in']['verb'])) if about == 'fits' else self.verb
        if self.language.chinese:
            return [verb + '了'] if name == 'past' else [verb] if about == 'fits' else [self.once('no', self.data['neg'].split()), verb]
        base, _, past = verb.partition('/')
        if name == 'past': return past.split()
        no = self.once('no', self.data['neg'].split())
        if self.plural['A']: no = no.replace("doesn't", "don't")
        return no.replace('_', ' ').split() + (past if no == 'never' and past else base).split()

    def saying(self, key, role, other):
        """A state or a deed of the noun `role` that does not fit the other."""
        said, used, kept = self.language.said[key], self.language.used[key], self.language.kept[key]
        fitting = set(said[self.kind[role]])
        if other in self.kind:
            if self.frame.get('both'): fitting &= said[self.kind[other]]
            elif self.pronoun(role) == self.pronoun(other) or self.rng.random() < .5: fitting -= said[self.kind[other]]
        only_held_out = self.language.hold_out == 'words' and key == 'states'
        return self.any_of(sorted(fitting & used) or ([] if only_held_out else sorted(fitting - kept)))


def conllu(words, target, chinese):
    """The noun has the pronoun's arc; both are marked PRON: what else they may find is not known here."""
    at = {role: i + 1 for i, (_, role) in enumerate(words) if role}
    lines = []
    for i, (word, role) in enumerate(words):
        it = role == 'it' and target
        behind = i + 1 == len(words) or chinese or words[i + 1][0] in '.,?'
        tag = 'PRON' if it or role == target else 'X'
        lines.append(f'{i + 1}\t{word}\t_\t_\t{tag}\t_\t{at[target] if it else 0}\t{"IT" if it else "_"}\t_\t'
                     f'{"SpaceAfter=No" if behind else "_"}\n')
    return ''.join(lines) + '\n'


def marked(words, target, chinese):
    """As pronoun_scores.py reads it."""
    text = ''
    for word, role in words:
        space = '' if chinese or not text or word in '.,?' else ' '
        form = {'it': '*{}*', target: '{{{}}}', {'A': 'B', 'B': 'A'}[target]: '({})'}.get(role, '{}')
        text += space + form.format(word)
    return text + '\n'


def sentences(data, pairs, seed=1, hold_out=None):
    """Each once: sentences that teach, in CoNLL-U; or marked, those that `hold_out` names."""
    done = {}
    for name in ('en', 'zh'):
        language = Language(name, data[name], hold_out)
        rng = random.Random(f'{seed} {name} {hold_out}')
        for _ in range(pairs):
            while True:
                try:
                    made = Scene(language, rng).sentences()
                    break
                except Again:
                    continue
            for words, target in made:
                if hold_out and not target: continue
                done[(marked if hold_out else conllu)(words, target, language.chinese)] = None
    return list(done)


def read(path):
    with open(path, encoding='utf-8') as file: return json.load(file)


def main():
    if len(sys.argv) != 4: sys.exit(__doc__)
    done = sentences(read(sys.argv[1]), int(sys.argv[3]))
    with open(sys.argv[2], 'w', encoding='utf-8') as out: out.writelines(done)
    print(len(done), 'sentences', file=sys.stderr)


if __name__ == '__main__':
    main()
