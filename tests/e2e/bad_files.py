#!/usr/bin/env python3
"""Bad profiles, row by row, and the one line each of them earns.

    bad_files.py INFEROM

one_line.py says how a row is judged.
"""
import gzip
import json
import sys

from one_line import LIMIT, MALFORMED, UNSUPPORTED, check

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope(*profiles, frames=("a", "b")):
    return json.dumps({"$schema": SCHEMA, "shared": {"frames": [{"name": f} for f in frames]},
                       "profiles": list(profiles)}).encode()


def sampled(samples, weights):
    return {"type": "sampled", "name": "t", "unit": "none", "startValue": 0, "endValue": 9,
            "samples": samples, "weights": weights}


def evented(*events):
    return {"type": "evented", "name": "t", "unit": "none", "startValue": 0, "endValue": 9,
            "events": [{"type": kind, "frame": frame, "at": at} for kind, frame, at in events]}


WHOLE_GZIP = gzip.compress(b"\x0a\x04\x08\x01\x10\x02" + b"\x32\x00\x32\x03cpu\x32\x02ns" * 40, mtime=0)

#    file                 content                                                     status       what is said about it
ROWS = [
    ("empty",             b"",                                                        MALFORMED,   "empty: there is no profile in it"),
    ("text",              b"hello world, this is a text\n",                           MALFORMED,   "not a profile in any format this program reads ('inferom formats' lists them)"),
    ("zeros",             bytes(5000),                                                MALFORMED,   "not a profile in any format this program reads ('inferom formats' lists them)"),

    ("no-count",          b"a;b 1\na;b\n",                                            MALFORMED,   "line 2: no count after the stack"),
    ("half-count",        b"a;b 1\na;b 1x\n",                                         MALFORMED,   "line 2: '1x' is not a count"),
    ("no-stack",          b"a;b 1\n 7\n",                                             MALFORMED,   "line 2: no stack before the count"),
    ("too-large",         b"a;b 99999999999999999999\n",                              MALFORMED,   "line 1: '99999999999999999999' is not a count"),
    ("sum-too-large",     b"a;b 9223372036854775807\na 1\n",                          LIMIT,       "the values of 'samples' add up past 2^63"),

    ("cut.json",          speedscope(sampled([[0]], [1]))[:-30],                      MALFORMED,   "profile 1 't': line 1: the input ends inside a text"),
    ("no-frame.json",     speedscope(sampled([[7]], [1])),                            MALFORMED,   "profile 1 't': frame 7 does not exist: there are 2, counted from 0"),
    ("weights.json",      speedscope(sampled([[0], [1]], [1])),                       MALFORMED,   "profile 1 't': 2 samples, but 1 weights"),
    ("weight.json",       speedscope(sampled([[0]], ["x"])),                          MALFORMED,   "profile 1 't': line 1: expected a number, found a text"),
    ("nesting.json",      speedscope(evented(("O", 0, 1), ("C", 1, 2))),              MALFORMED,   "profile 1 't': event 2 closes frame 1, but the innermost open one is 0"),
    ("backwards.json",    speedscope(evented(("O", 0, 5), ("C", 0, 2))),              MALFORMED,   "profile 1 't': event 2 goes back in time"),
    ("kind.json",         speedscope({"type": "blended"}),                            UNSUPPORTED, "profile 1: neither \"sampled\" nor \"evented\""),
    ("name.json",         speedscope(frames=[1]),                                     MALFORMED,   "line 1: expected a text, found a number"),

    ("cut.gz",            WHOLE_GZIP[:25],                                            MALFORMED,   "the compressed data ends at byte 25, too early"),
    ("broken.gz",         b"\x1f\x8b\x08\x00garbage, garbage",                        MALFORMED,   "broken compressed data at byte 14"),
    ("checksum.gz",       WHOLE_GZIP[:-8] + bytes(8),                                 MALFORMED,   f"broken compressed data at byte {len(WHOLE_GZIP) - 4}"),
    ("text.gz",           gzip.compress(b"hello world, a text\n", mtime=0),           MALFORMED,   "broken field before byte 20 of the message"),
    ("no-string.pb",      b"\x0a\x04\x08\x63\x10\x63\x32\x00",                        MALFORMED,   "sample type 1: string 99 does not exist: there are 1"),

    ("cut.stats",         b"{)\x03z\x04a.py",                                         MALFORMED,   "ends inside a value, at byte 9"),
    ("key.stats",         b"{)\x01z\x01a)\x000",                                      MALFORMED,   "function 1: a key that is not (file, line, function)"),
    ("ring.stats",        b"\xfb)\x03z\x01ar\x00\x00\x00\x000",                       MALFORMED,   "a reference to nothing at byte 11"),
    ("magic.inferom",     b"\x89INFEROM",                                             MALFORMED,   "ends inside its header: 8 of 32 bytes are there"),
    ("head.inferom",      b"\x89INFEROM\r\n\x1a\n\x01\x00",                           MALFORMED,   "ends inside its header: 14 of 32 bytes are there"),
]

VERBS = "report", "runs show", "convert -o out.folded"

check(sys.argv[1], {name: content for name, content, _, _ in ROWS},
      [(f"{verb} {name}", status, f"inferom {verb.split(' -')[0]}: {name}: {says}")
       for name, _, status, says in ROWS for verb in VERBS])
