#!/usr/bin/env python3
"""llama.cpp under node, answering with a random model: whole stacks, and the same tokens as without us.

    llama.py BUILD_DIR [--short]

LLAMA_MODULES is a node_modules folder with node-llama-cpp and @node-llama-cpp/linux-x64 in it, as made by
npm install --ignore-scripts --omit=optional node-llama-cpp @node-llama-cpp/linux-x64
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../torture"))
import harness as h  # noqa: E402
from foreign import judge  # noqa: E402

TOKENS = 30 if h.SHORT else 200
EXPECTED = {"libllama": ["llama_decode", "llama_context::decode(llama_batch const&)"],
            "libggml-cpu": ["ggml_vec_dot_q8_0_q8_0", "ggml_compute_forward_mul_mat", "ggml_graph_compute_thread"]}


def main():
    modules = os.environ.get("LLAMA_MODULES")
    if not modules or not shutil.which("node"):
        print("skipped: set LLAMA_MODULES to a folder with node-llama-cpp, and have node")
        sys.exit(h.SKIP)
    h.need_perf_event()
    folder = h.scratch()
    model = os.path.join(folder, "random.gguf")
    subprocess.run([sys.executable, os.path.join(HERE, "make_gguf.py"), model, "--width", "512"], check=True)
    command = ["node", os.path.join(HERE, "llama.mjs"), os.path.abspath(modules), model, str(TOKENS)]
    want, status = h.plain(command)
    h.check(status == 0 and len(want.split()) == TOKENS, f"llama.cpp does not run here: {status}, {want!r}")
    r = h.record(os.path.join(folder, "llama.inferom"), command=command)
    h.check((r.output, r.status) == (want, status), f"said {r.output!r} and ended with {r.status}, without us {want!r}")
    judge("llama.cpp under node", r, EXPECTED)
    h.finish()


main()
