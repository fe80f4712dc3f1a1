#!/usr/bin/env python3
"""Writes a small language model with random weights, in the GGUF format, for llama.cpp to run.

    make_gguf.py OUT.gguf [--width 256] [--layers 4] [--seed 1]

What it says is nonsense; what it does is what every model of its kind does. The vocabulary is the 256 bytes
and three marks. Only Python's own library is needed: the weights are 8-bit blocks (Q8_0) of random bytes,
which is quick to make, and the scale keeps activations in range.
"""
import argparse
import random
import struct

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9
TYPE_F32, TYPE_Q8_0 = 0, 8
BLOCK, ALIGN, HEADS = 32, 32, 4
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CHAT = "{% for m in messages %}{{ m['content'] }}{% endfor %}"


def text(s):
    raw = s.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key, kind, value):
    forms = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}
    return text(key) + struct.pack("<I", kind) + (text(value) if kind == STR else struct.pack(forms[kind], value))


def array(key, kind, values):
    body = b"".join(text(v) if kind == STR else struct.pack("<i", v) for v in values)
    return text(key) + struct.pack("<IIQ", ARR, kind, len(values)) + body


def byte_names():
    """GPT-2's way to write every byte as a printable character."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    names = {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}
    return [names[b] for b in range(256)]


def settings(width, layers, vocabulary):
    llama = {"context_length": 512, "embedding_length": width, "block_count": layers, "feed_forward_length": 2 * width,
             "attention.head_count": HEADS, "attention.head_count_kv": HEADS, "rope.dimension_count": width // HEADS,
             "vocab_size": len(vocabulary)}
    pairs = [pair("general.architecture", STR, "llama"), pair("general.name", STR, "random"), pair("general.file_type", U32, 7)]
    pairs += [pair("llama." + k, U32, v) for k, v in llama.items()]
    pairs += [pair("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
              pair("tokenizer.ggml.model", STR, "gpt2"), pair("tokenizer.ggml.pre", STR, "gpt-2"),
              array("tokenizer.ggml.tokens", STR, vocabulary),
              array("tokenizer.ggml.token_type", I32, [1] * 256 + [3] * len(MARKS)),
              array("tokenizer.ggml.merges", STR, ["a b"]),
              pair("tokenizer.ggml.bos_token_id", U32, 256), pair("tokenizer.ggml.eos_token_id", U32, 258),
              pair("tokenizer.ggml.add_bos_token", BOOL, False), pair("tokenizer.chat_template", STR, CHAT)]
    return pairs


def tensors(width, layers, rows):
    """Name and shape, the fastest dimension first, as the file wants it."""
    yield "token_embd.weight", (width, rows)
    yield "output_norm.weight", (width,)
    yield "output.weight", (width, rows)
    for i in range(layers):
        for name, shape in {"attn_norm": (width,), "attn_q": (width, width), "attn_k": (width, width), "attn_v": (width, width),
                            "attn_output": (width, width), "ffn_norm": (width,), "ffn_gate": (width, 2 * width),
                            "ffn_up": (width, 2 * width), "ffn_down": (2 * width, width)}.items():
            yield f"blk.{i}.{name}.weight", shape


def bytes_of(shape, dice):
    if len(shape) == 1:
        return struct.pack("<f", 1.0) * shape[0]
    scale = struct.pack("<e", 1 / (74 * shape[0] ** 0.5))  # 74: the spread of a random signed byte
    blocks = shape[0] * shape[1] // BLOCK
    return b"".join(scale + dice.randbytes(BLOCK) for _ in range(blocks))


def main():
    a = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    a.add_argument("out")
    a.add_argument("--width", type=int, default=256)
    a.add_argument("--layers", type=int, default=4)
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()
    dice, vocabulary = random.Random(a.seed), byte_names() + MARKS
    pairs = settings(a.width, a.layers, vocabulary)
    infos, bodies, offset = [], [], 0
    for name, shape in tensors(a.width, a.layers, len(vocabulary)):
        body = bytes_of(shape, dice)
        body += b"\0" * (-len(body) % ALIGN)
        kind = TYPE_F32 if len(shape) == 1 else TYPE_Q8_0
        infos.append(text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset))
        bodies.append(body)
        offset += len(body)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(infos), len(pairs)) + b"".join(pairs + infos)
    with open(a.out, "wb") as f:
        f.write(head + b"\0" * (-len(head) % ALIGN) + b"".join(bodies))


main()
