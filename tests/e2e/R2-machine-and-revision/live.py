"""The report says which machine, compiler and revision a recording is about; each beside what somebody else says."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

import re  # noqa: E402
import shutil  # noqa: E402


def git(*words):
    env = dict(os.environ, HOME=os.getcwd(), GIT_CONFIG_NOSYSTEM="1")
    return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], env=env, check=True,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def checkout():
    """A checkout with one commit, two changed files and one that git does not know."""
    git("init", "-q", ".")
    for name in "abc":
        with open(name, "w") as f:
            f.write(name)
    git("add", "a", "b", "c")
    git("commit", "-q", "-m", "x")
    for name in "ab", "bb", "new":
        with open(name[0] if len(name) == 2 else name, "w") as f:
            f.write("changed")


def lines_of(path, key):
    with open(path) as f:
        return next((line.partition(":")[2].strip() for line in f if line.startswith(key)), None)


need_sampling()
has_git = shutil.which("git") is not None
if has_git:
    checkout()
program = fixture("fx-burn-nofp")
r = Recording([program, "--seconds", 1])
told = r.report()["system"]
page = subprocess.run([INFEROM, "report", "--format", "md", r.path], check=True, stdout=subprocess.PIPE, text=True).stdout
block = dict(re.findall(r"^- \*\*(.+?):\*\* (.*)$", page.partition("## System Information")[2].partition("\n## ")[0], re.M))

for title in "OS", "Architecture", "CPU Cores", "CPU Model", "SIMD", "Memory", "Governor", "Compiler", "Revision":
    check(f"{title} has a line", title in block, block.get(title))
check("architecture", told["architecture"] == os.uname().machine, told["architecture"])
check("kernel", os.uname().release in told["os"], told["os"])
check("CPU model", told["cpu_model"] == lines_of("/proc/cpuinfo", "model name"), told["cpu_model"])
check("cores", int(told["cpu_cores"]) == os.sysconf("SC_NPROCESSORS_ONLN"), told["cpu_cores"])
flags = (lines_of("/proc/cpuinfo", "flags") or lines_of("/proc/cpuinfo", "Features") or "").split()
check("SIMD words are flags of the CPU", set((told["simd"] or "").split()) <= set(flags), told["simd"])
check("AVX2 is told when it is there", ("avx2" in (told["simd"] or "").split()) == ("avx2" in flags), told["simd"])
gib = int(lines_of("/proc/meminfo", "MemTotal").split()[0]) / 1024 / 1024
check("memory", abs(float(told["memory"].split()[0]) - gib) < 0.01 * gib, told["memory"])
governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
want = open(governor).read().strip() if os.path.exists(governor) else None
check("governor", told["governor"] == want, told["governor"])
with open(program, "rb") as f:
    check("compiler is in the program itself", (told["compiler"] or "").encode() in f.read() and told["compiler"], told["compiler"])
if has_git:
    head = git("rev-parse", "HEAD")
    # On a busy machine git may take longer than we wait for it: then the count is missing, never wrong.
    check("revision", told["revision"] in (head + " (2 changed files)", head), told["revision"])
else:
    check("no revision", told["revision"] is None, told["revision"])
check("the name of the host is nowhere", os.uname().nodename not in page or len(os.uname().nodename) < 4, "searched")
done()
