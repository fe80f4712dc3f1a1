#!/usr/bin/env python3
"""Writes a small language model with random weights, in the GGUF format, for llama.cpp and for us to run.

    make_gguf.py OUT.gguf [--width 256] [--layers 4] [--type q8_0] [--words gpt2|llama] [--seed 1] ...

What it says is nonsense; what it does is what every model of its kind does. The vocabulary is the 256 bytes,
three marks, and as many merges as asked for, learnt from our licence (a text that does not change). Only Python's own library is needed: the
weights are random bytes with fixed exponents or scales, which is quick to make and keeps activations in range. As in
trained models, what a layer adds is small beside what it is added to (SPREADS), and norms are not all the same.
"""
import argparse
import collections
import math
import os
import random
import re
import struct

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9
ALIGN = 32
LICENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../LICENSE")
TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8}
FILE_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 7}
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
CONTROL, NORMAL, BYTE = 3, 1, 6


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key, kind, value):
    forms = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}
    return text(key) + struct.pack("<I", kind) + (text(value) if kind == STR else struct.pack(forms[kind], value))


def array(key, kind, values):
    forms = {I32: "<i", F32: "<f"}
    body = b"".join(text(v) if kind == STR else struct.pack(forms[kind], v) for v in values)
    return text(key) + struct.pack("<IIQ", ARR, kind, len(values)) + body


# Vocabularies.

def byte_names():
    """GPT-2's way to write every byte as a printable character."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    names = {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}
    return [names[b] for b in range(256)]


def learn(count, spell):
    """The pairs that occur most often in the licence, joined one after the other."""
    with open(LICENCE, encoding="utf-8") as f:
        words = collections.Counter(re.findall(r" ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+", f.read()))
    words = {tuple(spell(w)): n for w, n in words.items()}
    for _ in range(count):
        pairs = collections.Counter()
        for word, n in words.items():
            for two in zip(word, word[1:]):
                pairs[two] += n
        best = max(pairs, key=lambda two: (pairs[two], two))
        yield best
        words = {joined(word, best): n for word, n in words.items()}


def joined(word, two):
    out, i = [], 0
    while i < len(word):
        both = word[i:i + 2] == two
        out.append("".join(two) if both else word[i])
        i += 2 if both else 1
    return tuple(out)


def gpt2_words(a):
    names = byte_names()
    merges = list(learn(a.merges, lambda w: [names[b] for b in w.encode()]))
    tokens = names + MARKS + list(dict.fromkeys("".join(two) for two in merges))
    kinds = [NORMAL] * 256 + [CONTROL] * len(MARKS) + [NORMAL] * (len(tokens) - 256 - len(MARKS))
    return tokens, [pair("tokenizer.ggml.model", STR, "gpt2"), pair("tokenizer.ggml.pre", STR, a.pre),
                    array("tokenizer.ggml.token_type", I32, kinds),
                    array("tokenizer.ggml.merges", STR, [" ".join(two) for two in merges] or ["a b"]),
                    pair("tokenizer.ggml.bos_token_id", U32, 256), pair("tokenizer.ggml.eos_token_id", U32, 258),
                    pair("tokenizer.ggml.add_bos_token", BOOL, False)]


def llama_words(a):
    marks, raw = ["<unk>", "<s>", "</s>"], [f"<0x{b:02X}>" for b in range(256)]
    signs = ["\u2581", *map(chr, range(33, 127)), "\u00e9", "\u00fc", "\u4e2d"]
    pieces = ["".join(two) for two in learn(a.merges, lambda w: w.replace(" ", "\u2581"))]
    pieces = [p for p in dict.fromkeys(pieces) if not set(p) & set("\n\t")]
    tokens = marks + raw + signs + pieces
    kinds = [2, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * (len(signs) + len(pieces))
    scores = [0.0] * 259 + [-1000.0 - i for i in range(len(signs))] + [-float(i) for i in range(len(pieces))]
    return tokens, [pair("tokenizer.ggml.model", STR, "llama"), array("tokenizer.ggml.token_type", I32, kinds),
                    array("tokenizer.ggml.scores", F32, scores), pair("tokenizer.ggml.bos_token_id", U32, 1),
                    pair("tokenizer.ggml.eos_token_id", U32, 2), pair("tokenizer.ggml.unknown_token_id", U32, 0)]


def settings(a):
    tokens, words = {"gpt2": gpt2_words, "llama": llama_words}[a.words](a)
    tokens += [f"[{i}]" for i in range(len(tokens), a.vocabulary)]
    if len(tokens) > 259 and a.vocabulary:  # as many kinds and scores as tokens
        words = [padded(w, len(tokens)) for w in words]
    llama = {"context_length": a.context, "embedding_length": a.width, "block_count": a.layers, "feed_forward_length": a.hidden,
             "attention.head_count": a.heads, "attention.head_count_kv": a.kv_heads, "rope.dimension_count": a.width // a.heads,
             "vocab_size": len(tokens)}
    pairs = [pair("general.architecture", STR, "llama"), pair("general.name", STR, "random"),
             pair("general.file_type", U32, FILE_TYPES[a.type])]
    pairs += [pair("llama." + k, U32, v) for k, v in llama.items()]
    pairs += [pair("llama.attention.layer_norm_rms_epsilon", F32, 1e-5), array("tokenizer.ggml.tokens", STR, tokens),
              pair("tokenizer.chat_template", STR, CHAT)]
    return pairs + words, len(tokens)


def padded(record, n):
    """An array of numbers per token, as long as there are tokens."""
    for key, kind, filler in ("tokenizer.ggml.token_type", I32, struct.pack("<i", NORMAL)), ("tokenizer.ggml.scores", F32, struct.pack("<f", -1e6)):
        head = text(key) + struct.pack("<II", ARR, kind)
        if record.startswith(head):
            have, = struct.unpack_from("<Q", record, len(head))
            return head + struct.pack("<Q", n) + record[len(head) + 8:] + filler * (n - have)
    return record


# Weights.

# How large what comes out is, beside what goes in; the embedding's numbers themselves are about 1.
SPREADS = {"token_embd": lambda width: width ** 0.5, "attn_output": lambda _: 0.15, "ffn_down": lambda _: 0.15}


def tensors(a, rows):
    """Name and shape, the fastest dimension first, as the file wants it."""
    keys = a.width // a.heads * a.kv_heads
    yield "token_embd.weight", (a.width, rows)
    yield "output_norm.weight", (a.width,)
    if not a.tied:
        yield "output.weight", (a.width, rows)
    for i in range(a.layers):
        for name, shape in {"attn_norm": (a.width,), "attn_q": (a.width, a.width), "attn_k": (a.width, keys), "attn_v": (a.width, keys),
                            "attn_output": (a.width, a.width), "ffn_norm": (a.width,), "ffn_gate": (a.width, a.hidden),
                            "ffn_up": (a.width, a.hidden), "ffn_down": (a.hidden, a.width)}.items():
            yield f"blk.{i}.{name}.weight", shape


def floats(count, size, typical, dice):
    """Random signs and digits behind one exponent: between 1 and 2 times a power of two near what is typical."""
    digits, bias = {2: (10, 15), 4: (23, 127)}[size]
    exponent = bias + round(math.log2(typical / 1.53))
    keep, put = 1 << (8 * size - 1) | ((1 << digits) - 1), exponent << digits
    some = 1 << 14
    all_keep, all_put = (int.from_bytes(v.to_bytes(size, "little") * some, "little") for v in (keep, put))
    out = []
    for _ in range(-(-count // some)):
        bits = int.from_bytes(dice.randbytes(some * size), "little") & all_keep | all_put
        out.append(bits.to_bytes(some * size, "little"))
    return b"".join(out)[:count * size]


def bytes_of(name, shape, kind, dice):
    if len(shape) == 1:
        return struct.pack(f"<{shape[0]}f", *(dice.uniform(0.5, 1.5) for _ in range(shape[0])))
    count, columns = shape[0] * shape[1], shape[0]
    typical = SPREADS.get(name.split(".")[-2], lambda _: 1)(columns) / columns ** 0.5
    if kind in ("f32", "f16"):
        return floats(count, 4 if kind == "f32" else 2, typical, dice)
    spread, size = {"q8_0": (74, 32), "q4_0": (4.6, 16)}[kind]  # of a random signed byte, of half a byte
    # Scales differ, as in life: were they all the same, every block of activations would be full of ties to round.
    scales = [struct.pack("<e", dice.uniform(0.5, 1.5) * typical / spread) for _ in range(997)]
    blocks = (dice.randbytes(size) for _ in range(count // 32))
    if kind == "q8_0":  # nobody makes a -128 there, and llama.cpp does not expect it
        blocks = (b.replace(b"\x80", b"\x81") for b in blocks)
    return b"".join(scales[i % len(scales)] + b for i, b in enumerate(blocks))


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("out")
    a.add_argument("--width", type=int, default=256)
    a.add_argument("--layers", type=int, default=4)
    a.add_argument("--heads", type=int, default=4)
    a.add_argument("--kv-heads", type=int)
    a.add_argument("--hidden", type=int, help="twice the width when not said")
    a.add_argument("--context", type=int, default=512)
    a.add_argument("--type", choices=TYPES, default="q8_0")
    a.add_argument("--words", choices=["gpt2", "llama"], default="gpt2")
    a.add_argument("--pre", default="gpt-2", help="how words are cut")
    a.add_argument("--merges", type=int, default=0)
    a.add_argument("--vocabulary", type=int, default=0, help="fill up to so many tokens")
    a.add_argument("--tied", action="store_true", help="the embedding is the output, too")
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()
    a.hidden, a.kv_heads = a.hidden or 2 * a.width, a.kv_heads or a.heads
    dice = random.Random(a.seed)
    pairs, rows = settings(a)
    infos, bodies, offset = [], [], 0
    for name, shape in tensors(a, rows):
        body = bytes_of(name, shape, a.type, dice)
        body += b"\0" * (-len(body) % ALIGN)
        kind = TYPES["f32" if len(shape) == 1 else a.type]
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset))
        bodies.append(body)
        offset += len(body)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(infos), len(pairs)) + b"".join(pairs + infos)
    with open(a.out, "wb") as f:
        f.write(head + b"\0" * (-len(head) % ALIGN))
        f.writelines(bodies)


main()
