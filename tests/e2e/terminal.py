"""A person at a terminal, for tests: a pseudo-terminal with a program on it.

    with Terminal([inferom, "top", ...], rows=24, columns=100) as t:
        t.see("burn_w")
        t.press("q")
        t.end()
        assert t.modes() == t.modes_before

Waiting is for something to happen, never for a time; PATIENCE only ends a test that hangs.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

PATIENCE_S = 120


class Terminal:
    def __init__(self, command, rows=24, columns=100, **more):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.modes_before = self.modes()
        self.shown = ""

        def take_the_terminal():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.program = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave,
                                        start_new_session=True, preexec_fn=take_the_terminal, **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        for fd in self.master, self.slave:
            if fd >= 0:
                os.close(fd)

    def modes(self):
        return termios.tcgetattr(self.slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self, wait_s):
        if select.select([self.master], [], [], wait_s)[0]:
            self.shown += os.read(self.master, 65536).decode(errors="replace")
            return True
        return False

    def see(self, *texts):
        """Wait until all of them have been shown after what was seen last time; then forget that."""
        deadline = time.monotonic() + PATIENCE_S
        while not all(text in self.shown for text in texts):
            if time.monotonic() > deadline or (not self._read(1) and self.program.poll() is not None):
                raise AssertionError(f"not seen: {texts}\nstatus {self.program.poll()}, last shown: {self.shown[-3000:]!r}")
        seen, self.shown = self.shown, ""
        return seen

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """Its exit status, minus the signal's number when one ended it, and the rest of what it showed."""
        deadline = time.monotonic() + PATIENCE_S
        while self.program.poll() is None:
            self._read(0.1)
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end; last shown: {self.shown[-2000:]!r}")
        while self._read(0):
            pass
        return self.program.returncode, self.shown

    def stopped(self):
        """Wait until it has been stopped by Ctrl-Z."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            self._read(0.05)
            with open(f"/proc/{self.program.pid}/stat", encoding="utf-8", errors="replace") as f:
                if f.read().rpartition(")")[2].split()[0] == "T":
                    return
            if time.monotonic() > deadline:
                raise AssertionError("it does not stop")

    def hang_up(self):
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def signal(self, number):
        self.program.send_signal(number)

    def go_on(self):
        self.signal(signal.SIGCONT)
