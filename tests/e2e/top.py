#!/usr/bin/env python3
"""`inferom top` on a terminal: what it shows, what keys do, and that the terminal is as before afterwards.

    top.py INFEROM FX_BURN
"""
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys

from terminal import Terminal

inferom, fx_burn = (os.path.abspath(a) for a in sys.argv[1:3])
ENTER, LEAVE = "\033[?1049h", "\033[?1049l"
QUICK = ["--interval", "500ms", "--window", "5s"]


@contextlib.contextmanager
def burning():
    p = subprocess.Popen([fx_burn, "--seconds", "3600"], stdout=subprocess.DEVNULL)
    try:
        yield p
    finally:
        p.kill()
        p.wait()


def watching(*words, **more):
    return Terminal([inferom, "top", *QUICK, *words], **more)


def is_as_before(t, rest):
    assert t.modes() == t.modes_before, "the modes of the terminal"
    assert LEAVE in rest, f"the screen was not left: {rest!r}"
    after = rest.rpartition(LEAVE)[2]
    assert ENTER not in after and "\033[H" not in after, f"drawn after the end: {after!r}"
    assert "\033[?25h" in rest and "\033[?7h" in rest, "cursor and wrapping"


def keys_do_what_they_say():
    with burning() as p, watching("--pid", str(p.pid)) as t:
        head = t.see(ENTER, "burn_w", "burn_a", "fx-worker", f"({p.pid})", "CPU ", "memory ", "by self, every 0.5 s")
        assert t.modes() != t.modes_before, "keys come as they are typed"
        assert "samples, 0 lost" in head, head[-500:]
        for keys, text in (("t", "by total"), ("n", "by name"), ("s", "by self"), ("+", "every 1 s"), ("-", "every 0.5 s"),
                           ("\033[A\033OB", "by self"), ("f", "filter: _"), ("burn_w", "filter: burn_w_"),
                           ("\n", "only *burn_w*"), ("p", "PAUSED"), ("?", "sort by total: what was taken"),
                           ("?", "PAUSED"), ("p", "by self")):
            t.press(keys)
            t.see(text)
        frame = t.see("burn_w", "\033[J").rpartition("\033[H")[2]
        assert "burn_a" not in frame, f"the filter lets burn_a through: {frame!r}"
        t.press("f\033")  # cleared again
        t.see("burn_a")
        t.press("q")
        status, rest = t.end()
        assert status == 0, status
        is_as_before(t, rest)
        assert p.poll() is None, "the program goes on"


def windows_change_their_size():
    with burning() as p, watching("--pid", str(p.pid)) as t:
        t.see("burn_a")
        t.resize(8, 40)
        t.see("\033[H")
        t.see("\033[J")
        frames = [f for f in (t.see("\033[H", "\033[J") + t.see("\033[H", "\033[J")).split("\033[H") if "\033[J" in f]
        assert frames[-1].count("\n") < 8, f"more lines than the window has: {frames[-1]!r}"
        t.press("q")
        is_as_before(t, t.end()[1])


def signals_restore_the_terminal():
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT:
        with burning() as p, watching("--pid", str(p.pid)) as t:
            t.see("burn_a")
            t.signal(number)
            status, rest = t.end()
            is_as_before(t, rest)
            asked = number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
            assert status == 0 if asked else status != 0, f"{number!r}: status {status}"
            assert p.poll() is None, "the program goes on"


def stopping_gives_the_terminal_back():
    with burning() as p, watching("--pid", str(p.pid)) as t:
        t.see("burn_a")
        t.press("\x1a")
        t.stopped()
        assert t.modes() == t.modes_before, "stopped, the terminal is the shell's"
        t.see(LEAVE)
        t.go_on()
        t.see(ENTER, "burn_a")
        t.press("q")
        is_as_before(t, t.end()[1])


def a_terminal_that_is_gone_ends_it():
    with burning() as p, watching("--pid", str(p.pid)) as t:
        t.see("burn_a")
        t.hang_up()
        t.program.wait(120)
        assert p.poll() is None, "the program goes on"


def a_command_ends_with_the_watching():
    with watching("--", fx_burn, "--seconds", "3600") as t:
        head = t.see("burn_a", "fx-worker")
        pid = int(re.findall(r"fx-burn\S* \((\d+)\)", head)[-1])
        t.press("q")
        status, rest = t.end()
        assert status == 0, status
        is_as_before(t, rest)
        assert not os.path.exists(f"/proc/{pid}"), "the command goes on"
    with watching("--", "sh", "-c", "echo to be thrown away; exit 7") as t:
        status, rest = t.end()
        assert status == 7, status
        is_as_before(t, rest)
        assert "thrown" not in rest, rest
    with watching("--", "/nowhere/program") as t:
        status, rest = t.end()
        assert status == 3 and ENTER not in rest, (status, rest)


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
        signal.signal(number, signal.SIG_DFL)  # under nohup, or behind '&', they are ignored and would stay so
    failed = 0
    for case in (keys_do_what_they_say, windows_change_their_size, signals_restore_the_terminal,
                 stopping_gives_the_terminal_back, a_terminal_that_is_gone_ends_it, a_command_ends_with_the_watching):
        try:
            case()
            print(f"ok      {case.__name__}")
        except AssertionError as e:
            failed += 1
            print(f"failed  {case.__name__}: {e}")
    sys.exit(1 if failed else 0)


main()
