#!/usr/bin/env python3
"""Our model and llama.cpp on the same files: the same tokens for a text, the same opinion of every next one.

    logits.py BUILD_DIR [--short] [--remember]

LLAMA_MODULES as in llama.py. Logits may differ by 1e-3 of their spread: the root of the mean square of the
differences, over that of the logits.

With quantised weights both programs round activations to bytes, and a sum that differs in its last bit can fall on
the other side of a half. In one layer that hardly ever happens, and there 1e-3 must hold. In deeper models every
layer makes more of it, and llama.cpp no longer agrees with itself: then our difference may be as large as the one
between two of its own ways to compute attention (f32 step by step, and its usual f16 all in one).
"""
import math
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../torture"))
import harness as h  # noqa: E402
import libllama  # noqa: E402
from tokens import TEXTS, WORDS, golden, ours_of, remember  # noqa: E402

TOLERANCE = 1e-3
OURS = os.path.join(h.BUILD, "tests/unit/model_logits")
SHAPES = {
    "f32": ["--type", "f32", "--kv-heads", "2"],
    "f16": ["--type", "f16", "--kv-heads", "1", "--width", "384", "--heads", "6"],
    "q8_0": ["--type", "q8_0", "--kv-heads", "2", "--tied", "--layers", "1"],
    "q4_0": ["--type", "q4_0", "--width", "512", "--heads", "8", "--layers", "1"],
    "q8_0 deep": ["--type", "q8_0", "--kv-heads", "2"],
    "q4_0 deep": ["--type", "q4_0", "--width", "512", "--heads", "8"],
}
def make(folder, name, options):
    path = os.path.join(folder, name + ".gguf")
    subprocess.run([sys.executable, os.path.join(HERE, "make_gguf.py"), path, *options], check=True)
    return path


def ours(path, *words, stdin=b""):
    done = subprocess.run([OURS, path, *map(str, words)], input=stdin, capture_output=True)
    h.check(done.returncode == 0, f"{path}: {done.stderr.decode()}")
    return done.stdout


def difference(got, want):
    gaps = [(g - w) ** 2 for g, w in zip(got, want)]
    return math.sqrt(sum(gaps) / sum(w * w for w in want)), math.sqrt(max(gaps)) / max(map(abs, want))


def peer_logits(peer, tokens, one_by_one):
    peer.clear()
    for some in [[t] for t in tokens] if one_by_one else [tokens]:
        peer.feed(some)
    return peer.logits()


def compare_one(kind, path, tokens, words, one_by_one):
    want = peer_logits(libllama.Llama(path, whole=True), tokens, one_by_one)
    raw = ours(path, *words, *tokens)
    if not h.check(len(raw) == 4 * len(want), f"{kind}: {len(raw)} bytes of logits for {len(want)} tokens"):
        return
    got = memoryview(raw).cast("f").tolist()
    spread, worst = difference(got, want)
    itself, _ = difference(peer_logits(libllama.Llama(path), tokens, one_by_one), want)
    allowed = max(TOLERANCE, itself) if "deep" in kind else TOLERANCE
    print(f"{kind:9} {words[0]:6} {len(tokens)} tokens: differs by {spread:.1e} of the spread, at worst {worst:.1e} of the largest; "
          f"llama.cpp from itself by {itself:.1e}", flush=True)
    h.check(spread <= allowed, f"{kind} {words[0]}: logits differ by {spread:.2e} of their spread, {allowed:.2e} is allowed")
    best = max(range(len(want)), key=want.__getitem__)
    h.check(got[best] >= max(got) - 10 * allowed * abs(want[best]), f"{kind} {words[0]}: another token is the likeliest")


def compare_logits(folder):
    dice = random.Random(7)
    for kind, options in SHAPES.items():
        path = make(folder, kind, options)
        tokens = [dice.randrange(256) for _ in range(40 if h.SHORT else 200)]
        compare_one(kind, path, tokens, ["feed"], False)
        compare_one(kind, path, tokens, ["decode", 2], True)


def compare_tokens(folder):
    """Also what tokens.json remembers of llama.cpp, for the tests of those who do not have it."""
    said = {}
    for name, options in WORDS.items():
        path = make(folder, name, options)
        peer, wrong = libllama.Llama(path), 0
        said[name] = [peer.tokens(t.encode()) for t in TEXTS]
        for t, want in zip(TEXTS, said[name]):
            got = ours_of(OURS, path, t)
            wrong += not h.check(got == want, f"{name}: {t[:40]!r} is {got[:20]}, llama.cpp says {want[:20]}")
        print(f"{name}: {len(TEXTS) - wrong} of {len(TEXTS)} texts have the same tokens", flush=True)
    if "--remember" in sys.argv:
        remember(said)
    h.check(golden() == said, "tokens.json is not what llama.cpp says now; --remember writes it anew")


def main():
    if not libllama.folder():
        print("skipped: set LLAMA_MODULES to a folder with @node-llama-cpp/linux-x64")
        sys.exit(h.SKIP)
    folder = h.scratch()
    compare_logits(folder)
    compare_tokens(folder)
    h.finish()


main()
