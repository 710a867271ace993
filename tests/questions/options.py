"""Which options go together: the formats of each command, what it cannot be without, and what is drawn seldom."""

FORMATS = {'export': ('json', 'csv', 'npz', 'safetensors'), 'lens': ('json', 'csv', 'npz', 'text'),
           'why': ('json', 'csv', 'npz', 'text'), 'patch': ('json', 'csv', 'npz', 'text'),
           'heads': ('json', 'csv', 'npz', 'text'), 'next': ('json', 'text'), 'generate': ('json', 'text'),
           'explain': ('json', 'text'), 'tokenize': ('json', 'text'), 'claims': ('json', 'text'),
           'figure': ('svg', 'pdf'), 'page': ('html',), 'code': ('py',)}
OFTEN = ('patch', 'patch', 'patch', 'heads', 'heads', 'lens', 'why', 'export', 'export', 'figure', 'figure', 'page')
# Options that a question has (Source.question) or that `ask` adds, and those that read the fonts of this machine, open a
# device or score a corpus.
LEFT_OUT = {'--help', '--output', '--format', '--font', '--relations', '--test-seed', '--validation-seed',
            '--sentences', '--scrambled', '--grammar', '--text', '--tokens', '--ids', '--text-pair',
            '--token-type-ids', '--target', '--target-tokens', '--decoder-ids', '--picture', '--chat', '--x', '--w-q', '--w-k', '--w-v',
            '--w-o', '--scores', '--weights'}
HELD = {'--array', '--axes', '--sentence', '--step', '--grid'}
SHAPE = {'--random', '--arch', '--d-model', '--num-heads', '--num-kv-heads', '--head-dim', '--layers', '--encoder-layers', '--ffn',
         '--position', '--rotary-columns', '--softcap', '--sinks', '--norm', '--norm-type', '--activation', '--gated', '--bias',
         '--no-bias', '--untied', '--seed'}
# Options that go with few questions: drawn where what belongs together is not asked.
SELDOM = {'--chat-open', '--adapter', '--gather', '--gather-partial', '--shard', '--by', '--live', '--treebank', '--most'}
# Of figures: what a view cannot be without, and the options that it reads of those that not all read.
OF_VIEW = {'heads': ('', '--own-range --colours --fold --range --heads --order --ascending --only-layers --maps --reduce'),
           'glance': ('', '--own-range --colours --fold --range --heads --order --ascending --only-layers --maps --reduce'),
           'head': ('', '--own-range --colours --fold --range --maps --reduce'),
           'text': ('', '--colours --fold --range --query --queries --keys --mean'), 'sentence': ('', '--query --key'),
           'inside': ('', '--query --key'), 'writers': ('', '--query --key'), 'lens': ('', '--query --answers'), 'diagram': ('', '--query'),
           'matrix': ('--matrix', '--row --column'), 'flow': ('', '--fold --threshold --heads'),
           'compare': ('--against', '--own-range --colours --fold --align'), 'changes': ('--against', '--own-range --colours --query --key --align'),
           'patch': ('--against', '--query --answers --at --metric --align')}
OF_VIEWS = {option for needed, read in OF_VIEW.values() for option in (needed + ' ' + read).split()} | {'--view', '--from', '--to', '--pair'}
NEEDED = {'why': ('--head', '--query', '--key'), 'explain': ('--head', '--query', '--key'), 'patch': ('--at', '--from')}
