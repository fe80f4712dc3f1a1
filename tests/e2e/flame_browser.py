#!/usr/bin/env python3
"""The SVG flame graph in a browser: zoom, reset, search, keys; and no complaint in the console.

    flame_browser.py INFEROM

A second script is added to a copy of the picture. It does what a hand would do and writes down what it then sees,
and the browser prints the document. Skipped where there is no Chromium.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDED = "main;decode;softmax;exp 30\nmain;decode;matmul 40\nmain;load;softmax 10\nmain;load 15\nmain 5\n"

# exp is inside softmax, and both match "softmax|exp": 30 + 10 of 100, not 70.
HAND = r"""
const seen = {}, W = () => Number(document.querySelector("svg").getAttribute("width")) - 20;
const frames = [...document.querySelectorAll(".frames > g")];
const named = (name) => frames.filter((g) => g.querySelector("title").textContent.split("\n")[0] === name);
const shown = (g) => g.style.display !== "none";
const share = (g) => Number(g.querySelector("rect").getAttribute("width")) / W();
const round = (x) => Math.round(x * 1000) / 1000;
const click = (g) => g.querySelector("rect").dispatchEvent(new MouseEvent("click", {bubbles: true}));
const key = (k) => document.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
const field = document.querySelector(".controls input"), status = document.querySelector(".controls span");
const type = (text) => { field.value = text; field.dispatchEvent(new Event("input", {bubbles: true})); };
const [main] = named("main"), [decode] = named("decode"), [load] = named("load"), [matmul] = named("matmul");

seen.fits = round(share(frames[0]));
seen.decode = round(share(decode));
click(decode);
seen.zoomed = [round(share(decode)), round(share(main)), shown(load), main.classList.contains("up"), round(share(matmul))];
seen.button = document.querySelector(".controls button").style.display;
document.querySelector(".controls button").click();
seen.reset = [round(share(decode)), shown(load), main.classList.contains("up")];
type("softmax|exp");
seen.search = [status.textContent, frames.filter((g) => g.classList.contains("hit")).length];
type("SOFT");
seen.any_case = status.textContent;
type("(");
seen.wrong = [status.textContent, field.style.borderColor !== ""];
type("nowhere");
seen.none = status.textContent;
key("Escape");
seen.escaped = [status.textContent, field.value, frames.some((g) => g.classList.contains("hit"))];
key("ArrowUp"); key("ArrowUp"); key("ArrowUp"); key("ArrowRight");
seen.at = document.querySelector(".details").textContent.split(" ")[0];
key("ArrowLeft"); key("Enter");
seen.by_key = [round(share(decode)), shown(load)];
key("Escape");
seen.back = round(share(decode));
matmul.querySelector("rect").dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
seen.details = document.querySelector(".details").textContent;
const result = document.createElementNS("http://www.w3.org/2000/svg", "text");
result.setAttribute("class", "result");
result.textContent = JSON.stringify(seen);
document.documentElement.append(result);
"""

WANT = {
    "fits": 1, "decode": 0.7, "zoomed": [1, 1, False, True, 0.571], "button": "", "reset": [0.7, True, False],
    "search": ["3 frames, 40.00 %", 3], "any_case": "2 frames, 40.00 %", "wrong": ["", True], "none": "0 frames, 0.00 %",
    "escaped": ["", "", False], "at": "load", "by_key": [1, False], "back": 0.7,
    "details": "matmul  ·  total 40 samples, 40.00 %  ·  self 40 samples, 40.00 %",
}


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("skipped: there is no Chromium here")
        return 77
    with tempfile.TemporaryDirectory(prefix="inferom-flame-") as scratch:
        profile, picture = os.path.join(scratch, "in.folded"), os.path.join(scratch, "in.svg")
        with open(profile, "w", encoding="ascii") as out:
            out.write(FOLDED)
        subprocess.run([os.path.abspath(sys.argv[1]), "flame", profile, "-o", picture], check=True, stdout=subprocess.DEVNULL)
        with open(picture, encoding="utf-8") as file:
            svg = file.read()
        with open(picture, "w", encoding="utf-8") as out:
            out.write(svg.replace("</svg>", f"<script><![CDATA[{HAND}]]></script></svg>"))
        run = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                              f"--user-data-dir={scratch}/browser", "--window-size=1000,400", "--dump-dom", "file://" + picture],
                             capture_output=True, text=True, timeout=240)
    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'class="result">([^<]*)<', run.stdout)
    if not found:
        print(run.stdout[-2000:], run.stderr[-2000:])
        return 1
    seen = json.loads(found.group(1))
    wrong = [k for k in WANT if seen.get(k) != WANT[k]]
    for k in wrong:
        print(f"{k}: {seen.get(k)!r}, want {WANT[k]!r}")
    print(*complaints, sep="\n")
    return 1 if wrong or complaints else 0


sys.exit(main())
