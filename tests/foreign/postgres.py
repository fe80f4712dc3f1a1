#!/usr/bin/env python3
"""PostgreSQL serving pgbench, recorded from the postmaster down: whole stacks, and transactions that went well.

    postgres.py BUILD_DIR [--short]

A cluster of its own in a scratch folder, on a socket only, as an unprivileged user.
"""
import glob
import os
import pwd
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../torture"))
import harness as h  # noqa: E402
from foreign import judge  # noqa: E402

TRANSACTIONS = 500 if h.SHORT else 5000
EXPECTED = {"postgres": ["PostgresMain", "exec_simple_query", "PortalRun", "ServerLoop"]}


def programs():
    """The newest server that Debian's packages brought, or what is in PATH."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin")) + [os.path.dirname(shutil.which("postgres") or "")]
    places = [p for p in found if all(os.path.exists(os.path.join(p, n)) for n in ("initdb", "postgres", "pgbench"))]
    if not places:
        print("skipped: no PostgreSQL here (Debian: postgresql)")
        sys.exit(h.SKIP)
    return places[-1]


def as_user():
    """PostgreSQL refuses root; root therefore becomes nobody."""
    if os.getuid():
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def main():
    h.need_perf_event()
    place, folder, user = programs(), h.scratch(), as_user()
    if user:
        os.chown(folder, user["user"], user["group"])
    data, quiet = os.path.join(folder, "data"), {"stdout": subprocess.DEVNULL, "cwd": folder, **user}
    subprocess.run([f"{place}/initdb", "-D", data, "-U", "bench", "-A", "trust", "--no-sync"], check=True, **quiet)
    server = subprocess.Popen([f"{place}/postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
                              stderr=subprocess.DEVNULL, **quiet)
    there = ["-h", folder, "-U", "bench"]
    try:
        while subprocess.run([f"{place}/pg_isready", *there], **quiet).returncode:
            time.sleep(0.1)
        subprocess.run([f"{place}/pgbench", *there, "-i", "-q", "postgres"], check=True, stderr=subprocess.DEVNULL, **quiet)
        path = os.path.join(folder, "run.inferom")
        recorder = h.Recorder(os.path.join(h.scratch(), "run.inferom"), "--pid", str(server.pid))
        time.sleep(1)
        said = subprocess.run([f"{place}/pgbench", *there, "-c", "4", "-t", str(TRANSACTIONS // 4), "postgres"], cwd=folder,
                              capture_output=True, text=True, **user).stdout
        recorder.process.send_signal(2)
        r = recorder.wait()
        wanted = f"number of transactions actually processed: {TRANSACTIONS}/{TRANSACTIONS}"
        h.check(wanted in said and "number of failed transactions: 0" in said, f"pgbench said {said}")
        judge("PostgreSQL with pgbench", r, EXPECTED)
    finally:
        server.send_signal(2)
        server.wait()
    h.check(server.returncode == 0, f"the server ended with {server.returncode}")
    h.finish()


main()
