"""Rows of run.py about the reference model: the memory roof of the same run, and llama.cpp on the same file.

    LLAMA_MODULES=folder     node_modules with @node-llama-cpp/linux-x64; without it a row says so and shows ours alone
    MODEL_TOKENS=100         tokens that are made, per turn

Both run one thread, and tokens are counted per second of its CPU time: on a machine with neighbours the wall says little.
"""
import json
import os
import statistics
import subprocess
import sys
import time

if __name__ != "__main__":
    import __main__ as bench

FOREIGN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../foreign")
TOKENS = int(os.environ.get("MODEL_TOKENS", "100"))
PROMPT = 64
LIMIT = 1.3      # times llama.cpp's time, at most
LEAST_SHARE = 0.8  # of the read roof
SHAPE = ["--width", "768", "--layers", "12", "--heads", "12", "--hidden", "2048", "--vocabulary", "10240", "--context", "1024"]


def ours(model, *options):
    command = [bench.INFEROM, "lab", "model", model, "--tokens", str(TOKENS), "--prompt-tokens", str(PROMPT), "--json", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def theirs(model):
    """In a process of its own: what one loads must not stand in the other's way."""
    out = subprocess.run([sys.executable, os.path.abspath(__file__), model, str(TOKENS)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def peer_run(model, tokens):
    sys.path.insert(0, FOREIGN)
    import libllama
    peer = libllama.Llama(model, context=1024)
    feed = list(range(PROMPT))
    peer.feed(feed)  # pages come in
    peer.clear()
    began = time.process_time()
    peer.feed(feed)
    fed = time.process_time()
    peer.feed([1])
    first = time.process_time()
    for i in range(tokens):
        peer.feed([i % 256])
    print(json.dumps({"prefill": PROMPT / (fed - began), "decode": tokens / (time.process_time() - first)}))


def has_peer():
    sys.path.insert(0, FOREIGN)
    import libllama
    return libllama.folder() is not None


def roof(_):
    """The preset of a hundred million parameters: how much of what one thread can read does decoding reach?"""
    runs = [ours("huge") for _ in range(bench.REPEATS)]
    shares = [r["roof"]["share"] for r in runs]
    speed = [r["decode"]["tokens_per_cpu_s"] for r in runs]
    roofs = [r["roof"]["read_bytes_per_cpu_s"] / 1e9 for r in runs]
    bench.row(f"model huge, f16, {runs[0]['model']['parameters'] / 1e6:.1f} M parameters, decode", f"{bench.spread(speed, 1)} tokens/CPU-s",
              f"one thread reads {bench.spread(roofs, 1)} GB/s", bench.spread(shares), "holds" if statistics.median(shares) >= LEAST_SHARE
              else f"FAILS: wants {LEAST_SHARE}")


def beside(scratch, kind):
    """The same file for both, taking turns."""
    path = os.path.join(scratch, f"{kind}.gguf")
    subprocess.run([sys.executable, os.path.join(FOREIGN, "make_gguf.py"), path, "--type", kind, *SHAPE], check=True)
    name, mine, peer, ratios, prefill = f"model of huge's shape from a file, {kind}, decode", [], [], [], []
    compared = has_peer()
    for _ in range(bench.REPEATS):
        run = ours(path)
        mine.append(run["decode"]["tokens_per_cpu_s"])
        if compared:
            other = theirs(path)
            peer.append(other["decode"])
            prefill.append(run["prefill"]["tokens_per_cpu_s"] / other["prefill"])
            ratios.append(mine[-1] / peer[-1])
    os.remove(path)
    if not compared:
        bench.row(name, f"{bench.spread(mine, 1)} tokens/CPU-s", "llama.cpp: skipped, set LLAMA_MODULES", "-", "not compared")
        return
    bench.row(name, f"{bench.spread(mine, 1)} tokens/CPU-s", f"llama.cpp {bench.spread(peer, 1)}; prefill {bench.spread(prefill)}x",
              bench.spread(ratios) + "x", "holds" if statistics.median(ratios) >= 1 / LIMIT else f"FAILS: wants 1/{LIMIT}")


BENCHMARKS = {"model-roof": roof, "model-f16": lambda s: beside(s, "f16"), "model-q8_0": lambda s: beside(s, "q8_0"),
              "model-q4_0": lambda s: beside(s, "q4_0")}

if __name__ == "__main__":
    peer_run(sys.argv[1], int(sys.argv[2]))
