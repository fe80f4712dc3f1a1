"""Prompts reach the chat whole, whatever lines they have; and every answer has its TIMING_STATS line."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from recording import *  # noqa: E402

COLUMNS = ("row_index timestamp_iso timestamp_unix prompt_tokens kv_len completion_tokens generated_tokens prefill_seconds elapsed_seconds "
           "tokens_per_second prompt_start_to_prompt_start_seconds max_context_tokens max_kv_size repetition_window loop_detection_mode "
           "prefill_start_offset memory_architecture memory_device_name memory_max_buffer_length "
           "memory_max_recommended_working_set_size memory_memory_size memory_resource_limit").split()


def stream(prompts):
    """As the original writes it; only a line of backslashes alone has one more."""
    lines = lambda p: "".join(("\\" if set(x) == {"\\"} else "") + x + "\n" for x in p.split("\n"))
    return "".join("\\\n" + lines(p) + "\\\n" for p in prompts) + "q\n"


def chat(text, *options):
    return subprocess.run([INFEROM, "lab", "chat", "small", "--max-tokens", "4", *options], input=text, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def rows(text):
    lines = [line.split("\t") for line in text.splitlines() if line.startswith("TIMING_")]
    check("one header, in front", [x[0] for x in lines] == ["TIMING_STATS_HEADER"] + ["TIMING_STATS"] * (len(lines) - 1), [x[0] for x in lines])
    check("columns", lines[0][1:] == COLUMNS, lines[0][1:])
    return [dict(zip(COLUMNS, x[1:])) for x in lines[1:]]


# The model has a token for each byte, so the count of tokens is the length of what arrived, and of the form around it.
PROMPTS = ["q", "\\", "one\nq\ntwo", "\\\\\n\\\n", "", " tail ", "\n\nq", "caf\u00e9"]
FORM = len("user: " + "\n" + "assistant:")
for prompt in PROMPTS:
    r = rows(chat(stream([prompt])).stderr)
    check(f"{prompt!r} arrives", [int(x["prompt_tokens"]) - FORM for x in r] == [len(prompt.encode())], [x["prompt_tokens"] for x in r])

done_ = chat(stream(["first", "second"]) + "never\n")
r = rows(done_.stderr)
check("two answers, then the end", len(r) == 2 and done_.returncode == 0 and len(done_.stdout.splitlines()) >= 2, done_.stdout)
check("answers", all(x["generated_tokens"] == x["completion_tokens"] == "4" for x in r), r)
check("numbered from 1", [x["row_index"] for x in r] == ["1", "2"], r)
check("what was said before is not evaluated again", (int(r[0]["prefill_start_offset"]), int(r[1]["prefill_start_offset"])) == (0, FORM + 5 + 4), r)
check("times", all(0 < float(x["prefill_seconds"]) <= float(x["elapsed_seconds"]) for x in r), r)
check("tokens per second", all(abs(float(x["tokens_per_second"]) * float(x["elapsed_seconds"]) - 4) < 0.01 for x in r), r)
check("starts", (r[0]["prompt_start_to_prompt_start_seconds"], float(r[1]["prompt_start_to_prompt_start_seconds"]) > 0) == ("None", True), r)
check("time of day", r[0]["timestamp_iso"].endswith("Z") and abs(float(r[0]["timestamp_unix"]) - time.time()) < 600, r[0]["timestamp_iso"])

typed = chat("Hello\n\nHow are you?\nq\n")
check("lines that were typed", len(rows(typed.stderr)) == 2, typed.stderr[-80:])
again = chat("Hello\n\nHow are you?\nq\n")
check("the same answers again", again.stdout == typed.stdout, again.stdout)
check("a limit", len(rows(chat(stream(["a", "b", "c"]), "--limit", "2").stderr)) == 2, "")
check("the end is the end", len(rows(chat("Hello").stderr)) == 1, "")
half = chat("a\n\\\nhalf a prompt\n")
check("half a prompt", half.returncode == 6 and "begins in line 2" in half.stderr and len(rows(half.stderr)) == 1, half.stderr[-100:])
long = chat("x" * 500 + "\n")
check("what does not fit is said", "do not fit" in long.stderr and long.returncode == 0, long.stderr[:100])

# Ctrl-C, while it waits for somebody to type.
child = subprocess.Popen([INFEROM, "lab", "chat", "small", "--timings", "t.tsv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
child.stdin.write("Hello\n")
child.stdin.flush()
child.stdout.readline()  # it has answered
child.send_signal(signal.SIGINT)
_, said = child.communicate()
check("stopped: exit status", child.returncode == 130, (child.returncode, said))
with open("t.tsv") as f:
    check("stopped: the timings are there", len(rows(f.read())) == 1, said)
missing = chat("a\n", "--timings", "nowhere/t.tsv")
check("no such folder", missing.returncode == 3 and "nowhere" in missing.stderr, missing.stderr)
done()
