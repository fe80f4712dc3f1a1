"""What the tortures share: starting the recorder, watching it, and looking at what it left.

    driver.py BUILD_DIR [--short]

A torture asserts what must hold on a machine of any speed: output, exit status, counts, memory, and CPU time
of the program itself. It never asserts how long something took by the clock on the wall.
"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SHORT = "--short" in sys.argv
BUILD = os.path.abspath(next(a for a in sys.argv[1:] if not a.startswith("-")))
INFEROM = os.path.join(BUILD, "src/cli/inferom")
CROWD = os.path.join(BUILD, "tests/torture/tx-crowd")
ENDING = os.path.join(BUILD, "tests/torture/tx-ending")
BURN = os.path.join(BUILD, "tests/workloads/fx-burn-nofp")

SKIP, MOST_MIB = 77, 64
MIB = 1 << 20
problems = []


def check(holds, what):
    """Goes on after a failure: one run should tell all that is wrong."""
    if not holds:
        problems.append(what)
        print(f"WRONG: {what}", flush=True)
    return holds


def finish():
    sys.exit(f"{len(problems)} of the checks failed" if problems else 0)


def scratch(in_memory=False):
    """A folder that is gone when the driver is; in memory, where nobody waits for a disk, if there is such a place."""
    memory = "/dev/shm" if in_memory and os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="inferom-torture-", dir=memory)
    os.chmod(folder, 0o755)
    import atexit
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def need_perf_event():
    """Leaves with 77 where the kernel lets nobody sample; anything else that is wrong is ours and fails later."""
    r = record(os.path.join(scratch(), "probe.inferom"), command=["true"])
    if (r.summary and r.summary["engine"] != "perf_event") or (r.status in (4, 5) and not r.summary):
        print("skipped: perf_event_open is refused here", r.said.strip())
        sys.exit(SKIP)


def reap_orphans():
    """What outlives its parent becomes ours: the driver learns how a target of a killed recorder ended."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "becoming a subreaper")


def proc(pid, name):
    """A file of /proc/PID, or an empty text when there is none any more."""
    try:
        with open(f"/proc/{pid}/{name}") as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return ""


def status_of(pid, key):
    return next((line.split(":", 1)[1].split()[0] for line in proc(pid, "status").splitlines() if line.startswith(key + ":")), None)


def memory_mib(pid, key):
    return int(status_of(pid, key) or 0) / 1024


def cpu_s(pid):
    """User and system time of the process itself, without its children; also of one that is not reaped yet."""
    fields = proc(pid, "stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def worked_and_waited_s(pid):
    """How long its first thread has run, and stood in line for a processor, since it began."""
    ran_ns, waited_ns = (proc(pid, "schedstat").split() + ["0", "0"])[:2]
    return int(ran_ns) / 1e9, int(waited_ns) / 1e9


def stolen_s():
    """CPU time that a hypervisor kept for others, on all processors, since the start of the machine."""
    with open("/proc/stat") as f:
        return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def open_files(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def states(pid):
    """The state letter of every thread."""
    tasks = os.listdir(f"/proc/{pid}/task") if os.path.isdir(f"/proc/{pid}/task") else []
    found = [proc(pid, f"task/{tid}/stat").rpartition(")")[2].split()[:1] for tid in tasks]
    return "".join(sorted(s[0] for s in found if s))


class Recorder:
    """One `inferom record`, started and watched.

    Its peak memory is read while it runs: what wait4() tells includes the target. Pages of the files that it looks
    into (a browser engine has a hundred megabytes of symbols) are the system's to keep or drop and not counted.
    """

    def __init__(self, path, *options, command=(), stdin=subprocess.DEVNULL, wrapper=()):
        line = [*wrapper, INFEROM, "record", "--json", "-o", path, *options]
        self.path, self.peak_mib, self.most_files = path, 0.0, 0
        self.target = os.path.basename(command[0])[:15] if command else None
        self.process = subprocess.Popen(line + (["--", *command] if command else []), stdin=stdin,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.watcher.start()

    def _watch(self):
        while self.process.returncode is None and os.path.exists(f"/proc/{self.pid}"):
            self.peak_mib = max(self.peak_mib, memory_mib(self.pid, "RssAnon"))
            self.most_files = max(self.most_files, open_files(self.pid))
            time.sleep(0.05)

    def child(self):
        """The pid of the target, once it is what it was started as; None when the recorder ended before."""
        while self.process.poll() is None:
            for pid in proc(self.pid, f"task/{self.pid}/children").split():
                if proc(pid, "comm").strip() == self.target:
                    return int(pid)
            time.sleep(0.005)
        return None

    def wait(self):
        """Splits what came out into the target's part and our summary."""
        out, self.said = self.process.communicate()
        self.status = self.process.returncode
        begin = out.rfind('{\n  "file"')
        self.output = out if begin < 0 else out[:begin]
        self.summary = None if begin < 0 else json.loads(out[begin:])
        return self


def record(path, *options, command):
    return Recorder(path, *options, command=command).wait()


def report(path, *options):
    """The report as JSON and the exit status; None when there is none."""
    done = subprocess.run([INFEROM, "report", "--json", *options, path], capture_output=True, text=True)
    try:
        return json.loads(done.stdout), done.returncode, done.stderr
    except ValueError:
        return None, done.returncode, done.stderr


def plain(command):
    """What the program prints, and how it ends, when nobody watches."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return done.stdout, shell_status(done.returncode)


def shell_status(returncode):
    return 128 - returncode if returncode < 0 else returncode


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
