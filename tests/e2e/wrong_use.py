#!/usr/bin/env python3
"""Wrong use, row by row: a bad command line or a bad file, and the one line it earns.

    wrong_use.py INFEROM

one_line.py says how a row is judged.
"""
import sys

from one_line import MALFORMED, NOT_FOUND, USAGE, check

FILES = {
    "ok.folded": b"main;decode 3\n",
    "empty": b"",
    "no-count.folded": b"main;decode 3\nmain;decode\n",
    "binary": bytes(range(256)) * 4,
    "unknown-key.json": b'{\n  "report": {\n    "tpo": 50\n  }\n}\n',
    "unknown-verb.json": b'{"reprot": {"top": 50}}\n',
    "wrong-type.json": b'{"report": {\n"top": "many"}}\n',
    "too-large.json": b'{"report": {"top": 99999999999}}\n',
    "bad-choice.json": b'{"report": {"sort": "slef"}}\n',
    "twice.json": b'{"color": "never",\n "color": "auto"}\n',
    "cut.json": b'{"report": {\n"top": 5',
    "more.json": b'{"color": "never"}\n{}\n',
    "list.json": b'["report"]\n',
    "not-a-list.json": b'{"report": {"include": [1]}}\n',
    "escape\x1b[31m": b"main;decode\n",
}

#    command line                        status      what it says on standard error
ROWS = [
    # No verb, or none we know.
    ("",                                 USAGE,      "inferom: which verb? ('inferom help' lists them)"),
    ("reprot ok.folded",                 USAGE,      "inferom: no verb 'reprot' (did you mean 'report'?)"),
    ("frobnicate",                       USAGE,      "inferom: no verb 'frobnicate' ('inferom help' lists them)"),
    ("REPORT ok.folded",                 USAGE,      "inferom: no verb 'REPORT' ('inferom help' lists them)"),
    ("help reprot",                      USAGE,      "inferom help: no verb 'reprot' (did you mean 'report'?)"),
    ("help report formats",              USAGE,      "inferom help: one word too many: 'formats'"),
    ("config reprot",                    USAGE,      "inferom config: no verb 'reprot' (did you mean 'report'?)"),
    ("runs shwo ok.folded",              USAGE,      "inferom: no verb 'runs shwo' (did you mean 'runs show'?)"),
    ("help runs shwo",                   USAGE,      "inferom help: no verb 'runs shwo' (did you mean 'runs show'?)"),
    ("--verbose",                        USAGE,      "inferom: --verbose goes with --version"),
    ("--top 5 report ok.folded",         USAGE,      "inferom: unknown option '--top' (did you mean '--log'?)"),

    # Options that are not there, or not like that.
    ("report --tpo 5 ok.folded",         USAGE,      "inferom report: unknown option '--tpo' (did you mean '--top'?)"),
    ("report --json=maybe ok.folded",    USAGE,      "inferom report: --json: 'maybe' is not true or false"),
    ("report --no-json=1 ok.folded",     USAGE,      "inferom report: --no-json takes no value"),
    ("report --no-top ok.folded",        USAGE,      "inferom report: unknown option '--no-top'"),
    ("report -q ok.folded",              USAGE,      "inferom report: unknown option '-q'"),
    ("report --inclu x ok.folded",       USAGE,      "inferom report: unknown option '--inclu' (did you mean '--include'?)"),
    ("config --explian",                 USAGE,      "inferom config: unknown option '--explian' (did you mean '--explain'?)"),
    ("config report --tpo 5",            USAGE,      "inferom config: unknown option '--tpo' (did you mean '--top'?)"),

    # Values.
    ("report ok.folded --top",           USAGE,      "inferom report: --top needs N"),
    ("report --waits ok.folded",         USAGE,      "inferom report: --waits: the profile has no waits ('inferom record --off-cpu' records them)"),
    ("report ok.folded -n",              USAGE,      "inferom report: -n needs N"),
    ("report --top 5x ok.folded",        USAGE,      "inferom report: --top: '5x' is not a whole number"),
    ("report --top -5 ok.folded",        USAGE,      "inferom report: --top: '-5' is not a whole number"),
    ("report -n5x ok.folded",            USAGE,      "inferom report: -n: '5x' is not a whole number"),
    ("report --top= ok.folded",          USAGE,      "inferom report: --top: '' is not a whole number"),
    ("report --width 5 ok.folded",       USAGE,      "inferom report: --width: 5 is outside 20..10000"),
    ("report --sort slef ok.folded",     USAGE,      "inferom report: --sort: 'slef' is not one of self, total, name (did you mean 'self'?)"),
    ("report --from soon ok.folded",     USAGE,      "inferom report: --from: 'soon' is not a time such as 10ms or 1.5s"),
    ("--log loud formats",               USAGE,      "inferom: --log: 'loud' is not one of error, warn, info, debug"),
    ("formats --color sometimes",        USAGE,      "inferom formats: --color: 'sometimes' is not one of auto, always, never"),
    ("help --completion tcsh",           USAGE,      "inferom help: --completion: 'tcsh' is not one of none, bash, zsh, fish (did you mean 'bash'?)"),
    ("INFEROM_REPORT_TOP=x report ok.folded", USAGE, "inferom report: INFEROM_REPORT_TOP: 'x' is not a whole number"),
    ("INFEROM_COLOR=x formats",          USAGE,      "inferom: INFEROM_COLOR: 'x' is not one of auto, always, never"),

    ("lab server --port 99999",          USAGE,      "inferom lab server: --port: 99999 is outside 0..65535"),
    ("lab server --temperature warm",    USAGE,      "inferom lab server: --temperature: 'warm' is not a number from 0 up"),
    ("lab server --parallel 0",          USAGE,      "inferom lab server: --parallel: 0 is outside 1..4096"),
    ("lab server smal",                  NOT_FOUND,  "inferom lab server: there is no model 'smal'; there are small, medium, large and huge, and any .gguf file (did you mean 'small'?)"),

    # Words.
    ("convert",                          USAGE,      "inferom convert: IN is missing (usage: inferom convert [options] IN)"),
    ("convert ok.folded b",              USAGE,      "inferom convert: one word too many: 'b' (usage: inferom convert [options] IN)"),
    ("runs show",                        USAGE,      "inferom runs show: FILE is missing (usage: inferom runs show [options] FILE)"),
    ("runs show --jsno ok.folded",       USAGE,      "inferom runs show: unknown option '--jsno' (did you mean '--json'?)"),
    ("doctor now",                       USAGE,      "inferom doctor: one word too many: 'now' (usage: inferom doctor [options])"),
    ("doctor --jsno",                    USAGE,      "inferom doctor: unknown option '--jsno' (did you mean '--json'?)"),
    ("formats now",                      USAGE,      "inferom formats: one word too many: 'now' (usage: inferom formats [options])"),

    # Formats and files.
    ("convert ok.folded --to foldde",    NOT_FOUND,  "inferom convert: --to: no format 'foldde' (did you mean 'folded'?)"),
    ("convert nothing.folded --to folded", NOT_FOUND, "inferom convert: nothing.folded: No such file or directory"),
    ("convert . --to folded",            USAGE,      "inferom convert: .: this is a directory, not a file"),
    ("convert ok.folded -o no/where.folded", NOT_FOUND, "inferom convert: creating no/where.folded: No such file or directory"),
    ("convert ok.folded --to folded -o .", USAGE,    "inferom convert: .: this is a directory, not a file"),
    ("convert empty -o out.folded",      MALFORMED,  "inferom convert: empty: empty: there is no profile in it"),
    ("convert binary -o out.folded",     MALFORMED,  "inferom convert: binary: not a profile in any format this program reads ('inferom formats' lists them)"),
    ("convert no-count.folded -o out.folded", MALFORMED, "inferom convert: no-count.folded: line 2: no count after the stack"),
    ("convert $'escape\\x1b[31m' -o out.folded", MALFORMED, "inferom convert: escape\\x1b[31m: line 1: no count after the stack"),

    ("report nothing.folded",            NOT_FOUND,  "inferom report: nothing.folded: No such file or directory"),
    ("report empty",                     MALFORMED,  "inferom report: empty: empty: there is no profile in it"),
    ("report no-count.folded",           MALFORMED,  "inferom report: no-count.folded: line 2: no count after the stack"),
    ("runs show binary",                 MALFORMED,  "inferom runs show: binary: not a profile in any format this program reads ('inferom formats' lists them)"),

    # Settings files.
    ("--config nothing.json formats",    NOT_FOUND,  "inferom: nothing.json: No such file or directory"),
    ("INFEROM_CONFIG=nothing.json formats", NOT_FOUND, "inferom: nothing.json: No such file or directory"),
    ("formats --config .",               USAGE,      "inferom: .: this is a directory, not a file"),
    ("formats --config unknown-key.json", USAGE,     "inferom: unknown-key.json: line 3: no setting 'report.tpo' (did you mean 'report.top'?)"),
    ("formats --config unknown-verb.json", USAGE,    "inferom: unknown-verb.json: line 1: no setting 'reprot' (did you mean 'report'?)"),
    ("formats --config wrong-type.json", USAGE,      "inferom: wrong-type.json: line 2: report.top: a number is needed, not a text"),
    ("formats --config too-large.json",  USAGE,      "inferom: too-large.json: line 1: report.top: 99999999999 is outside 0..1000000000"),
    ("formats --config bad-choice.json", USAGE,      "inferom: bad-choice.json: line 1: report.sort: 'slef' is not one of self, total, name (did you mean 'self'?)"),
    ("formats --config twice.json",      USAGE,      "inferom: twice.json: line 2: 'color' again; it is already in line 1"),
    ("formats --config not-a-list.json", USAGE,      "inferom: not-a-list.json: line 1: report.include: a list of texts is needed, not a number"),
    ("formats --config cut.json",        MALFORMED,  "inferom: cut.json: line 2: expected ',' or '}', found the end of the input"),
    ("formats --config more.json",       MALFORMED,  "inferom: more.json: line 2: expected nothing more, found '{'"),
    ("formats --config list.json",       MALFORMED,  "inferom: list.json: line 1: expected an object, found an array"),
    ("formats --config binary",          MALFORMED,  "inferom: binary: line 1: expected a value, found byte 0x00"),
]

check(sys.argv[1], FILES, ROWS)
