"""Recordings of programs nobody here wrote: what must hold for all of them."""
import harness as h

COMPLETE_SHARE = 0.995


def judge(what, recorder, expected):
    """Complete stacks, nothing lost without a word, and functions that belong there: {module: [any of these]}."""
    if not h.check(recorder.summary, f"{what}: no summary: {recorder.said}"):
        return
    s = recorder.summary
    found, status, said = h.report(recorder.path, "--top", "0")
    h.check(status == 0, f"{what}: the report ends with {status}: {said}")
    print(f"{what}: {s['samples']} samples, {s['lost']} lost, {100 * (s['complete_share'] or 0):.2f} % complete, "
          f"{s['truncated']} truncated, {s['file_bytes'] >> 10} KiB, recorder {recorder.peak_mib:.1f} MiB", flush=True)
    for f in found["functions"][:10]:
        print(f"    {100 * f['self_share']:5.1f} %  {f['function'][:70]}  {f['module']}", flush=True)
    h.check(s["samples"] > 100, f"{what}: only {s['samples']} samples")
    h.check((s["complete_share"] or 0) >= COMPLETE_SHARE, f"{what}: {s['complete_share']} of the stacks are complete")
    for module, names in expected.items():
        there = {f["function"] for f in found["functions"] if f["module"].startswith(module)}
        h.check(there & set(names), f"{what}: none of {names} in {module}, but {sorted(there)[:20]}")
