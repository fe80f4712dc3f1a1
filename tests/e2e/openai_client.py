#!/usr/bin/env python3
"""The OpenAI project's own Python client chats with `inferom lab server`, and streams.

    openai_client.py INFEROM FOLDER

The client (PyPI: openai) is installed into a virtual environment in FOLDER, once; where that is not possible the
test is skipped, and says why. INFEROM_NO_NETWORK=1 does not even try.
"""
import os
import signal
import subprocess
import sys
import venv

INFEROM, FOLDER = map(os.path.abspath, sys.argv[1:3])
SKIP = 77
ENVIRONMENT = os.path.join(FOLDER, "openai-client")
PYTHON = os.path.join(ENVIRONMENT, "bin", "python")

# What a user of the client writes.
PROGRAM = r"""
import sys
import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="none", max_retries=0)
model = client.models.list().data[0].id
assert client.models.retrieve(model).owned_by == "inferom"
ask = dict(model=model, messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}], max_tokens=20, seed=3)

whole = client.chat.completions.create(**ask)
text = whole.choices[0].message.content
assert text and whole.choices[0].message.role == "assistant" and whole.choices[0].finish_reason in ("stop", "length"), whole
assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens, whole.usage

chunks = list(client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **ask))
assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == text, chunks
assert chunks[-1].usage == whole.usage, chunks[-1]
assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == [whole.choices[0].finish_reason]

plain = dict(model=model, prompt="Once upon a time", max_tokens=10, temperature=0)
said = client.completions.create(**plain).choices[0].text
assert "".join(c.choices[0].text for c in client.completions.create(stream=True, **plain)) == said
assert client.completions.create(stop=said[4:6], **plain).choices[0].text == said[:said.index(said[4:6])]

for error, wrong in ((openai.BadRequestError, dict(ask, temperature=9)), (openai.NotFoundError, dict(ask, model="gpt-4")),
                     (openai.BadRequestError, dict(ask, n=2)),
                     (openai.BadRequestError, dict(ask, messages=[{"role": "user", "content": "x" * 10000}]))):
    try:
        client.chat.completions.create(**wrong)
        raise SystemExit(f"not refused: {error}")
    except error as e:
        assert e.body["message"] and e.request_id, e.body
print("openai", openai.__version__, "agrees")
"""


def skip(why):
    print("skipped:", why)
    sys.exit(SKIP)


def install():
    try:
        if not os.path.exists(PYTHON):
            venv.create(ENVIRONMENT, with_pip=True)
    except (OSError, subprocess.SubprocessError, SystemExit) as e:  # Debian without python3-venv ends the program
        skip(f"no virtual environment can be made: {e}")
    if subprocess.run([PYTHON, "-c", "import openai"], stderr=subprocess.DEVNULL).returncode == 0:
        return
    try:
        done = subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "20", "openai"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        skip("the PyPI package openai does not arrive")
    if done.returncode:
        skip(f"the PyPI package openai cannot be installed: {done.stdout.strip().splitlines()[-1:]}")


def main():
    if os.environ.get("INFEROM_NO_NETWORK"):
        skip("INFEROM_NO_NETWORK is set")
    install()
    server = subprocess.Popen([INFEROM, "lab", "server", "medium", "--port", "0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        if not line:
            said = server.stderr.read()
            skip(said) if "this build has no HTTP server" in said else sys.exit(said)
        done = subprocess.run([PYTHON, "-c", PROGRAM, line.split()[-1] + "/v1"])
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=60)
    finally:
        server.kill()
    assert (server.returncode, said) == (0, ""), (server.returncode, said)
    sys.exit(done.returncode)


main()
