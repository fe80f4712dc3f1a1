#!/usr/bin/env python3
"""`inferom lab server`, by its clients: good ones, many at once, rude ones and those that go away.

    lab_server.py CASE INFEROM

Every case starts a server of its own on any free port. Nothing is timed; waiting is for events.
"""
import concurrent.futures
import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

CASE, INFEROM = sys.argv[1], os.path.abspath(sys.argv[2])
SKIP = 77
PATIENCE_S = 120
WORK = tempfile.TemporaryDirectory()


class Stream:
    """A stream whose first event was read."""
    def __init__(self, connection, response):
        self.connection, self.response = connection, response

    def rest(self):
        return self.response.read()

    def close(self):
        self.response.close()  # both hold the socket
        self.connection.close()


class Server:
    def __init__(self, *options, before=()):
        self.process = subprocess.Popen([*before, INFEROM, "lab", "server", "--port", "0", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True)
        line = self.process.stdout.readline()
        if not line:
            said = self.process.stderr.read()
            print(said)
            sys.exit(SKIP if "this build has no HTTP server" in said else 1)
        self.port = int(line.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def end(self, how=signal.SIGINT):
        """Asks it to end; its status and what it said on standard error."""
        os.kill(self.process.pid, how)
        return self.ended()

    def ended(self):
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said

    def ask(self, method, path, body=None, **fields):
        """Status, fields and body of one request."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        text = body if isinstance(body, (bytes, type(None))) else json.dumps(body)
        c.request(method, path, text, {k.replace("_", "-"): v for k, v in fields.items()})
        r = c.getresponse()
        got = r.read()
        c.close()
        return r.status, r.headers, got

    def json(self, path, body=None, **fields):
        status, _, got = self.ask("GET" if body is None else "POST", path, body, **fields)
        assert status == 200, (status, got)
        return json.loads(got)

    def refusal(self, path, body):
        status, _, got = self.ask("POST", path, body)
        error = json.loads(got)["error"]
        assert set(error) == {"message", "type", "param", "code"} and error["message"], error
        return status, error

    def raw(self, sent):
        """All that the server says to these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as s:
            try:
                s.sendall(sent)
            except (ConnectionResetError, BrokenPipeError):
                pass
            got = b""
            try:
                while part := s.recv(65536):
                    got += part
            except ConnectionResetError:
                pass
            return got

    def open_stream(self, body):
        """A stream, up to its first event."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        c.request("POST", "/v1/completions", json.dumps(dict(body, stream=True)))
        r = c.getresponse()
        assert r.status == 200 and r.headers["Content-Type"] == "text/event-stream", r.status
        assert r.readline().startswith(b"data: ") and r.readline() == b"\n"
        return Stream(c, r)

    def wait_until(self, what):
        """Until /health says so."""
        end = time.monotonic() + PATIENCE_S
        while (health := self.json("/health")) and not what(health):
            assert time.monotonic() < end, health
            time.sleep(0.01)
        return health


def events(raw):
    """The JSON of each event of a stream that is complete."""
    blocks = raw.decode().split("\n\n")
    assert blocks.pop() == "" and all(b.startswith("data: ") for b in blocks), raw[-200:]
    assert blocks.pop() == "data: [DONE]", raw[-200:]
    return [json.loads(b[6:]) for b in blocks]


def streamed(server, path, body):
    status, fields, got = server.ask("POST", path, dict(body, stream=True))
    assert status == 200 and fields["Content-Type"] == "text/event-stream", (status, got)
    return events(got)


def text_of(chunks):
    choices = [c["choices"][0] for c in chunks if c["choices"]]
    return "".join(c["delta"].get("content", "") if "delta" in c else c["text"] for c in choices)


PROMPT = {"prompt": "Once upon a time", "max_tokens": 40, "temperature": 0.8, "seed": 7}
CHAT = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}], "max_tokens": 12, "seed": 3}


def answers():
    """Shapes, counts, ids, ends."""
    with Server("medium") as s:
        model = s.json("/v1/models")["data"][0]
        assert model["id"] == "medium" and model["object"] == "model" and model["meta"]["n_params"] == 3454464, model
        assert s.json("/v1/models/medium") == model
        assert s.json("/health") == {"status": "ok", "running": 0, "waiting": 0}

        whole = s.json("/v1/chat/completions", dict(CHAT, model="medium"))
        assert whole["object"] == "chat.completion" and whole["id"].startswith("chatcmpl-") and whole["model"] == "medium", whole
        choice = whole["choices"][0]
        assert choice["index"] == 0 and choice["message"]["role"] == "assistant" and choice["finish_reason"] == "length", choice
        u, t = whole["usage"], whole["timings"]
        assert u["completion_tokens"] == 12 == t["predicted_n"] and u["prompt_tokens"] == t["prompt_n"] > 10, (u, t)
        assert u["total_tokens"] == u["prompt_tokens"] + 12, u
        assert t["prompt_ms"] > 0 and abs(t["predicted_per_second"] * t["predicted_per_token_ms"] - 1000) < 60, t

        chunks = streamed(s, "/v1/chat/completions", dict(CHAT, stream_options={"include_usage": True}))
        assert {c["object"] for c in chunks} == {"chat.completion.chunk"} and len({c["id"] for c in chunks}) == 1, chunks
        assert chunks[0]["choices"][0]["delta"]["role"] == "assistant" and chunks[0]["choices"][0]["delta"]["content"], chunks[0]
        assert [c["usage"] for c in chunks[:-1]] == [None] * (len(chunks) - 1)
        assert chunks[-1]["choices"] == [] and chunks[-1]["usage"] == u, chunks[-1]
        assert chunks[-2]["choices"][0] == {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "length"}, chunks[-2]
        assert chunks[-2]["timings"]["predicted_n"] == 12, chunks[-2]
        assert text_of(chunks) == choice["message"]["content"], chunks

        plain = s.json("/v1/completions", PROMPT)
        assert plain["object"] == "text_completion" and plain["id"].startswith("cmpl-"), plain
        assert text_of(streamed(s, "/v1/completions", PROMPT)) == plain["choices"][0]["text"]
        assert s.json("/v1/completions", {"prompt": "a"})["usage"]["completion_tokens"] <= 16  # the API's default

        status, fields, _ = s.ask("POST", "/v1/completions", PROMPT, X_Request_Id="mine-1")
        assert (status, fields["X-Request-Id"]) == (200, "mine-1")
        ids = [s.ask("POST", "/v1/completions", PROMPT, X_Request_Id=bad)[1]["X-Request-Id"] for bad in ("", "a b", "x" * 65, "<script>")]
        assert len(set(ids)) == 4 and all(len(i) == 16 for i in ids), ids
        assert s.end() == (0, ""), "it ends well"


def stop_texts():
    """An answer ends where a stop text would begin, and never shows a part of it; whole and streamed."""
    with Server("small", "--temperature", "0") as s:
        body = {"prompt": "Once upon", "max_tokens": 40}
        free = s.json("/v1/completions", body)["choices"][0]
        assert free["finish_reason"] == "length" and len(free["text"]) >= 20, free
        for at, stops in ((5, free["text"][5:9]), (3, [free["text"][30:33], free["text"][3:4]]), (0, free["text"][:2])):
            asked = dict(body, stop=stops)
            first = min(free["text"].index(one) for one in ([stops] if isinstance(stops, str) else stops))
            assert first <= at
            whole = s.json("/v1/completions", asked)
            assert whole["choices"][0]["text"] == free["text"][:first] and whole["choices"][0]["finish_reason"] == "stop", (stops, whole)
            assert whole["usage"]["completion_tokens"] < 40, whole["usage"]
            chunks = streamed(s, "/v1/completions", asked)
            assert text_of(chunks) == free["text"][:first] and chunks[-1]["choices"][0]["finish_reason"] == "stop", chunks
        assert s.json("/v1/completions", dict(body, stop="never said by it"))["choices"][0]["text"] == free["text"]


def same_as_model():
    """The text of a seed is that of `lab model`, and the same beside others."""
    for seed, temperature in ((7, "0.8"), (1, "0")):
        words = ["small", "--seed", str(seed), "--temperature", temperature]
        told = subprocess.run([INFEROM, "lab", "model", *words, "--prompt", PROMPT["prompt"], "--tokens", "40", "--json"],
                              check=True, stdout=subprocess.PIPE).stdout
        want = json.loads(told)["text"]
        with Server(*words) as s:
            body = {"prompt": PROMPT["prompt"], "max_tokens": 40, "ignore_eos": True}
            assert s.json("/v1/completions", body)["choices"][0]["text"] == want
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                said = list(pool.map(lambda n: s.json("/v1/completions", dict(body, **({} if n % 2 else {"seed": 99, "temperature": 1}))), range(16)))
            assert {a["choices"][0]["text"] for a in said[1::2]} == {want}


def malformed():
    """What the API refuses, as the API refuses it. test_openai.c has the long list."""
    with Server("small") as s:
        rows = [
            (400, None, "invalid_json", b"{"),
            (400, None, "invalid_json", b""),
            (400, None, "invalid_json", b"\xff\x00\x1b["),
            (400, None, "invalid_json", b"[" * 100000),
            (400, "prompt", None, {"prompt": None}),
            (400, "temperature", None, {"prompt": "a", "temperature": -1}),
            (400, "n", "unsupported_value", {"prompt": "a", "n": 1000000}),
            (400, "prompt", None, {"prompt": ""}),
            (400, "prompt", "context_length_exceeded", {"prompt": "a" * 64}),
            (400, "prompt", "context_length_exceeded", {"prompt": "a" * 1000}),
            (400, "prompt", "context_length_exceeded", {"prompt": "a" * 4000000, "stream": True}),
            (404, "model", "model_not_found", {"prompt": "a", "model": "<script>\x1b[31m" + "x" * 4000}),
        ]
        for status, param, code, body in rows:
            got, error = s.refusal("/v1/completions", body)
            assert (got, error["param"], error["code"]) == (status, param, code), (body if len(str(body)) < 99 else "long", got, error)
        assert s.refusal("/v1/chat/completions", {"prompt": "a"})[1]["param"] == "messages"
        crowd = {"messages": [{"role": "user", "content": ""}] * 100000}
        assert s.refusal("/v1/chat/completions", crowd)[1]["code"] == "context_length_exceeded"
        assert s.ask("GET", "/v1/completions")[0] == 405 and s.ask("POST", "/v1/completion", {})[0] == 404
        assert json.loads(s.ask("GET", "/nowhere")[2])["error"]["type"] == "not_found_error"
        assert s.json("/v1/completions", {"prompt": "a" * 63})["usage"]["completion_tokens"] == 1  # the last place of the context
        assert s.end() == (0, "")


HOST = b"Host: localhost\r\n"
POST = b"POST /v1/completions HTTP/1.1\r\n" + HOST
NEXT = b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"
BODY = b'{"prompt":"a","max_tokens":1}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)

# Status (0: hung up without a word), and the bytes. test_http_head.c has the long list; here they go over the wire.
RUDE = [
    (200, POST + LENGTH + b"\r\n" + BODY + NEXT),  # well-formed, and the second request is not answered
    (200, POST + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED + NEXT),
    (400, POST + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED + NEXT),
    (400, POST + b"Transfer-Encoding: chunked\r\n" + LENGTH + b"\r\n0\r\n\r\n" + NEXT),
    (400, POST + b"Content-Length: 0\r\n" + LENGTH + b"\r\n" + NEXT),
    (400, POST + LENGTH + LENGTH + b"\r\n" + BODY + NEXT),
    (400, POST + b"Content-Length: 29, 29\r\n\r\n" + BODY + NEXT),
    (400, POST + b"Content-Length: +29\r\n\r\n" + BODY + NEXT),
    (400, POST + b"Content-Length: 29\x00\r\n\r\n" + BODY + NEXT),
    (400, POST + b"Content-Length : 29\r\n\r\n" + BODY + NEXT),
    (400, POST + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKED + NEXT),
    (501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKED + NEXT),
    (400, POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n" + CHUNKED + NEXT),
    (400, POST + b"X: y\r\n Content-Length: 29\r\n\r\n" + BODY + NEXT),
    (400, POST + b"Content-Len: 29\r\n gth\r\n\r\n" + BODY + NEXT),
    (400, POST.replace(b"\r\n", b"\n") + b"Content-Length: 29\n\n" + BODY + NEXT),
    (400, POST + b"X: a\nContent-Length: 29\r\n\r\n" + BODY + NEXT),
    (400, POST + b"X: a\rContent-Length: 29\r\n\r\n" + BODY + NEXT),
    (413, POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n" + BODY + NEXT),
    (400, POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n" + BODY + NEXT),
    (400, POST + b"Transfer-Encoding: chunked\r\n\r\n1d\r\n" + BODY + b"XX" + NEXT),
    (413, POST + b"Content-Length: 99999999999\r\n\r\n" + BODY),
    (413, POST + b"Content-Length: 18446744073709551616\r\n\r\n" + BODY),
    (413, POST + b"Content-Length: 9000000\r\n\r\n" + b"x" * 9000000),
    (431, b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    (431, b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 1000000 + b"\r\n\r\n"),
    (431, b"GET / HTTP/1.1\r\n" + HOST + b"a:b\r\n" * 200 + b"\r\n"),
    (400, b"GET http://169.254.169.254/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, b"CONNECT localhost:22 HTTP/1.1\r\n" + HOST + b"\r\n"),
    (403, b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
    (403, b"GET /health HTTP/1.1\r\n" + HOST + b"Origin: http://evil.example\r\n\r\n"),
    (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"),
    (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    (0, b""),
    (0, b"GET / HT"),
    (0, POST + b"Content-Length: 29\r\n\r\n{"),
]


def rude():
    """Bytes that would be read in two ways, or for ever: one answer, in JSON, and an end."""
    with Server("small") as s:
        for status, sent in RUDE:
            if not status:
                with socket.create_connection(("127.0.0.1", s.port)) as c:
                    c.sendall(sent)
                continue
            got = s.raw(sent)
            shown = (status, sent[:120], got[:200])
            assert got.startswith(b"HTTP/1.1 %d " % status), shown
            assert got.count(b"HTTP/1.1 ") == 1, shown  # whatever followed was not taken for a request
            assert b"Connection: close" in got, shown
            if status != 200 and b"application/json" in got:
                assert json.loads(got.split(b"\r\n\r\n", 1)[1])["error"]["message"], shown
        s.wait_until(lambda h: not h["running"] and not h["waiting"])
        assert s.json("/v1/completions", PROMPT)["choices"]
        assert s.end() == (0, "")


def slow():
    """Two thousand that say half a request, and one that says a whole one: it is answered."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    crowd = 2000 if most == resource.RLIM_INFINITY else min(2000, most - 100)
    with Server("small") as s:
        before = peak_kib(s)
        lazy = []
        for n in range(crowd):
            lazy.append(socket.create_connection(("127.0.0.1", s.port)))
            lazy[-1].sendall(b"GET /health HT" if n % 2 else POST + LENGTH + b"\r\n{")
            if n % 100 == 99:
                assert s.json("/v1/completions", dict(PROMPT, max_tokens=2))["choices"]
        grown = peak_kib(s) - before
        print(f"{crowd} connections: {grown} KiB more")
        assert grown < 32 * 1024, grown
        for c in lazy:
            c.close()
        assert s.end() == (0, "")


def peak_kib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def hundred_streams():
    """A hundred at once: every one is complete, and says what it says alone."""
    with Server("medium", "--parallel", "24") as s:
        bodies = [dict(PROMPT, prompt=f"Stream {n % 10}", seed=n % 5, max_tokens=60) for n in range(100)]
        alone = {}
        for b in bodies:
            key = (b["prompt"], b["seed"])
            alone[key] = alone.get(key) or s.json("/v1/completions", b)["choices"][0]["text"]
        assert len(set(alone.values())) == 10
        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            said = list(pool.map(lambda b: streamed(s, "/v1/completions", b), bodies))
        for b, chunks in zip(bodies, said):
            assert text_of(chunks) == alone[b["prompt"], b["seed"]], b
            assert chunks[-1]["choices"][0]["finish_reason"] in ("stop", "length"), chunks[-1]
        assert s.json("/health") == {"status": "ok", "running": 0, "waiting": 0}
        assert s.end() == (0, "")


LONG = {"prompt": "a", "max_tokens": 500, "ignore_eos": True}


def queue_is_bounded():
    """One is answered, one waits, the next is told to come again; when there is room, it is taken."""
    with Server("large", "--parallel", "1", "--queue", "1") as s:
        first = s.open_stream(LONG)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            second = pool.submit(s.json, "/v1/completions", dict(LONG, max_tokens=1))
            s.wait_until(lambda h: (h["running"], h["waiting"]) == (1, 1))
            status, fields, got = s.ask("POST", "/v1/completions", LONG)
            error = json.loads(got)["error"]
            assert (status, fields["Retry-After"], error["type"], error["code"]) == (429, "1", "rate_limit_error", "queue_full"), got
            first.close()
            assert second.result()["usage"]["completion_tokens"] == 1
        assert s.json("/v1/completions", dict(LONG, max_tokens=1))["choices"]


def turns_are_fair():
    """Who comes later and wants little is not kept waiting by who wants much."""
    with Server("large") as s:
        long = s.open_stream(LONG)
        for _ in range(3):
            assert s.json("/v1/completions", dict(LONG, max_tokens=3))["usage"]["completion_tokens"] == 3
        assert s.wait_until(lambda h: h["running"] <= 1)["running"] == 1  # the long one goes on
        assert len(events(long.rest())) > 400
        long.close()


def gone_clients():
    """Those that leave, before the first word or in the middle, free what they had."""
    with Server("large") as s:
        for _ in range(5):
            s.open_stream(LONG).close()
        waiting = http.client.HTTPConnection("127.0.0.1", s.port)
        waiting.request("POST", "/v1/completions", json.dumps(LONG))  # not a stream: nothing is ever written to it
        s.wait_until(lambda h: h["running"] >= 1)
        waiting.close()
        s.wait_until(lambda h: not h["running"] and not h["waiting"])
        assert s.end() == (0, "")


def interrupted():
    """Ctrl-C while streams go on: each is told so, nobody takes it for complete, and the status is 0."""
    for how in (signal.SIGINT, signal.SIGTERM):
        with Server("large", "--parallel", "2") as s:
            streams = [s.open_stream(LONG) for _ in range(2)]
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                third = pool.submit(s.ask, "POST", "/v1/completions", LONG)
                s.wait_until(lambda h: h["waiting"] == 1)
                assert s.end(how) == (0, "")
                status, _, got = third.result()
            assert status == 503 and json.loads(got)["error"]["code"] == "shutting_down", got
            for stream in streams:
                last = [b for b in stream.rest().split(b"\n\n") if b][-1]
                assert json.loads(last[6:])["error"]["code"] == "shutting_down", last
                stream.close()


def recorded():
    """A recording of the server splits by request: who asked for more tokens took more of the processor."""
    told = json.loads(subprocess.run([INFEROM, "doctor", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    if next(f for f in told if f["name"] == "cpu sampling")["state"] == "off":
        print("skipped: no CPU sampling here")
        sys.exit(SKIP)
    os.chdir(WORK.name)
    with Server("medium", before=[INFEROM, "record", "--rate", "999", "-o", "run.inferom", "--"]) as s:
        asked = {"much": 110, "little": 20}
        for id_, tokens in asked.items():
            for _ in range(20):
                s.json("/v1/completions", dict(LONG, max_tokens=tokens), X_Request_Id=id_)
        os.killpg(s.process.pid, signal.SIGINT)  # Ctrl-C is for both, the server and who records it
        status, said = s.ended()
        assert status == 0, said
    took = {}
    for id_ in asked:
        took[id_] = {}
        for phase in "prefill", "decode":
            answer = subprocess.run([INFEROM, "report", "run.inferom", "--json", "--request", id_, "--phase", phase],
                                    stdout=subprocess.PIPE, check=True).stdout
            took[id_][phase] = sum(f["self"] for f in json.loads(answer)["functions"])
    print(took)
    assert took["much"]["decode"] > 2 * took["little"]["decode"] > 0, took
    assert took["much"]["decode"] > 3 * took["much"]["prefill"], took


def heap():
    """What the server allocates for each request is the same each time, nothing of it stays, and a token needs none at all."""
    os.chdir(WORK.name)
    asked, tokens = 30, 10
    with Server(before=[INFEROM, "record", "--heap=exact", "-o", "run.inferom", "--"]) as s:
        for i in range(asked):
            s.json("/v1/completions", dict(LONG, max_tokens=tokens), X_Request_Id=f"q-{i}")
        os.killpg(s.process.pid, signal.SIGINT)
        status, said = s.ended()
        if "sampling is not possible" in said:
            print(said)
            sys.exit(SKIP)
        assert status == 0, said
    found = json.loads(subprocess.run([INFEROM, "report", "run.inferom", "--heap", "--json"], stdout=subprocess.PIPE, check=True).stdout)["heap"]
    phases = {r["phase"]: (r["times"], r["allocations"]) for r in found["phases"]}
    print(phases, found["requests"][:3], found["leaked"])
    assert phases["prefill"] == (asked, 0) and phases["sample"] == (asked * tokens, 0) and phases["decode"] == (asked * (tokens - 1), 0), phases
    each = {r["request"]: (r["allocations"], r["alloc_bytes"], r["live_bytes"]) for r in found["requests"]}
    assert len(each) == asked and len({each[f"q-{i}"] for i in range(2, asked)}) == 1 and each["q-9"][0] > 0 == each["q-9"][2], each
    assert found["leaked"]["turns"] == asked and found["leaked"]["a"]["paths"] == 0, found["leaked"]
    subprocess.run([INFEROM, "report", "run.inferom", "--leaks", "--leak-grade", "a", "--fail-on-leaks"], check=True, stdout=subprocess.DEVNULL)


CASES = [answers, stop_texts, same_as_model, malformed, rude, slow, hundred_streams, queue_is_bounded, turns_are_fair, gone_clients,
         interrupted, recorded, heap]
next(c for c in CASES if c.__name__ == CASE)()
print("ok")
