#!/usr/bin/env python3
"""Tokens of texts that are hard to cut, beside what llama.cpp said about them: tokens.json, written by logits.py --remember.

    tokens.py MODEL_LOGITS
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "tokens.json")
TINY = ["--width", "32", "--layers", "1", "--merges", "300"]
WORDS = {
    "gpt-2": TINY, "llama-bpe": [*TINY, "--pre", "llama-bpe"],
    "qwen2": [*TINY, "--pre", "qwen2"], "smollm": [*TINY, "--pre", "smollm"],
    "SentencePiece": [*TINY, "--words", "llama"],
}
TEXTS = ["Hello world", " leading and  double   blanks ", "it's I'll WE'VE don't", "tabs\tand\nlines\r\n\r\n  x\n\n\ny", "1234567890 3.14 x86-64 0",
         "def tensors(a, rows): return a.width // a.heads", "caf\u00e9 na\u00efve \u4e2d\u6587\u5b57 \u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u03b1\u03b2\u03b3",
         "emoji \U0001f600\U0001f468\u200d\U0001f469 \u2026 \u201cquoted\u201d \u2013 \u20ac5 \u00bd", "<|im_start|>system<|im_end|> </s> <s>",
         "\u00a0nbsp \u3000wide \u0661\u0662\u0663", "a" * 300, "%$#@!()[]{}", " ", "\n", "  \n  ", "x  ", "ab 12 cd  34\n56"]


def golden():
    with open(GOLDEN, encoding="utf-8") as f:
        return json.load(f)


def remember(said):
    with open(GOLDEN, "w", encoding="utf-8") as f:
        rows = ",\n".join(f' {json.dumps(name)}: [\n' + ",\n".join("  " + json.dumps(t) for t in lists) + "\n ]" for name, lists in said.items())
        f.write("{\n" + rows + "\n}\n")


def ours_of(program, model, text):
    out = subprocess.run([program, model, "tokens"], input=text.encode(), check=True, stdout=subprocess.PIPE).stdout
    return [int(t) for t in out.split()]


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, want in golden().items():
            path = os.path.join(folder, "words.gguf")
            subprocess.run([sys.executable, os.path.join(HERE, "make_gguf.py"), path, *WORDS[name]], check=True)
            for text, tokens in zip(TEXTS, want, strict=True):
                got = ours_of(sys.argv[1], path, text)
                if got != tokens:
                    wrong += 1
                    print(f"{name}: {text[:40]!r} is {got[:20]}, want {tokens[:20]}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
