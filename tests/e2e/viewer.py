"""The flame viewer in a real browser, against profiles whose truth is known.

    viewer.py INFEROM CASE ...          exit status 77: no browser here, or a build without the viewer
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import browser
import flame_boxes
import viewer_data

SKIPPED = 77


class Bench:
    """One browser, one scratch folder, and pages made on demand."""

    def __init__(self, inferom, chromium, folder):
        self.inferom, self.chromium, self.folder, self.pages = inferom, chromium, folder, []

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        return path

    def page(self, name, content, *options, fragment="", **looks):
        profile = self.write(name, content)
        html = os.path.join(self.folder, name + ".html")
        subprocess.run([self.inferom, "flame", profile, "-o", html, *options], check=True, stdout=subprocess.DEVNULL)
        return self.open(html, fragment, **looks)

    def open(self, html, fragment="", **looks):
        page = self.chromium.open(f"file://{html}{fragment}", **looks)
        page.html = html
        self.pages.append(page)
        return page

    def threads(self, *options, **looks):
        return self.page("run.speedscope.json", viewer_data.speedscope(viewer_data.THREADS), *options, **looks)

    def server(self, *options, **looks):
        return self.page("server.pb", viewer_data.pprof(viewer_data.SERVER, viewer_data.MODULES), *options, **looks)

    def difference(self, *options, **looks):
        after = self.write("after.folded", viewer_data.AFTER)
        return self.page("before.folded", viewer_data.BEFORE, "--diff", after, *options, **looks)

    def quiet(self):
        """No page complained, and none asked for anything but itself."""
        for page in self.pages:
            same("console", page.complaints, [])
            elsewhere = [url for url in page.requests if not url.startswith(("file://", "blob:null/", "blob:file://"))]
            same("requests", elsewhere, [])
            files = {url.split("#")[0] for url in page.requests if url.startswith("file://")}
            same("files", files, {"file://" + page.html})


def same(what, got, want):
    if got != want:
        raise AssertionError(f"{what}: {str(got)[:600]!r}, want {str(want)[:600]!r}")


def near(what, got, want, by):
    if abs(got - want) > by:
        raise AssertionError(f"{what}: {got}, want {want} within {by}")


def holds(what, text, part):
    if part not in text:
        raise AssertionError(f"{what}: {part!r} is not in {text!r}")


def shares(page, which="flame"):
    """Name and share of each visible frame of one level per name, from its width."""
    frames = page.frames(which)
    whole = max(f["w"] for f in frames)
    return {f["name"]: f["w"] / whole for f in reversed(frames)}


def beside(page, name):
    """The names on the level of a frame, from left to right."""
    level = page.frame(name)["y"]
    return [f["name"] for f in sorted(page.frames(), key=lambda f: f["x"]) if f["y"] == level]


def rows(page, selector="#view-table"):
    """The table: {function: {self, total}} as texts."""
    cells = page.js(f"[...document.querySelectorAll('{selector} tbody tr')].map(r => [...r.children].map(c => [...c.querySelectorAll('b, button')]"
                    ".map(e => e.textContent).join(' ')))")
    return {row[2]: (row[0].replace("\u202f", " "), row[1].replace("\u202f", " ")) for row in cells}


# The promises.

def one_file(b):
    """F2: one file, no network; a click zooms and reset restores."""
    page = b.threads()
    whole = {f["name"]: round(f["w"], 3) for f in page.frames()}
    holds("summary", page.text("#summary"), "8 samples")
    holds("summary", page.text("#summary"), "150 ms")
    with open(page.html) as f:
        html = f.read()
    same("addresses in the page", re.findall(r"https?://[^\"' <)]+", html.replace("http://www.w3.org/2000/svg", "")), [])
    holds("policy", html, "default-src 'none'; script-src 'sha256-")
    page.click_frame("worker")
    holds("path", page.text("#crumbs"), "worker")
    page.press("#reset")
    same("after reset", {f["name"]: round(f["w"], 3) for f in page.frames()}, whole)
    same("path", page.js("document.getElementById('crumbs').hidden"), True)


def zoom(b):
    """F3: a click on a frame makes it fill the width; its callers stay, also full."""
    page = b.threads()
    width = page.frame("all")["w"]
    near("decode before", page.frame("decode")["w"] / width, 55 / 150, 0.002)
    page.click_frame("decode")
    for name in "decode", "main", "all":
        near(name, page.frame(name)["w"], width, 1.5)
    near("softmax in decode", page.frame("softmax")["w"] / width, 10 / 55, 0.003)
    same("prefill is out of sight", [f for f in page.frames() if f["name"] == "prefill"], [])
    holds("details", page.text("#details"), "55.0 ms")
    page.key("Backspace")
    near("main after one step out", page.frame("main")["w"], width, 1.5)
    near("decode in main", page.frame("decode")["w"] / width, 55 / 100, 0.003)
    page.js("history.back()")
    page.wait("document.getElementById('crumbs').textContent.includes('decode')")
    page.settle()
    near("decode after going back", page.frame("decode")["w"], width, 1.5)
    page.key("Escape")
    near("decode after escape", page.frame("decode")["w"] / width, 55 / 150, 0.002)
    near("widths", page.frame("prefill")["w"] / width, 30 / 150, 0.002)


def searching(b):
    """F4: matches are marked, their summed share counts nested ones once."""
    page = b.threads()
    page.key("/")
    page.type("softmax")
    page.wait("document.getElementById('hits').textContent !== ''")
    same("softmax", page.text("#hits"), "20.0 %")
    page.js("document.getElementById('search').value = ''")
    for text, share in {"decode|softmax": "50.0 %", "EVAL": "no match", "eval": "10.0 %", "^main$": "66.7 %", "mat.ul": "73.3 %", "m(": "no match"}.items():
        page.app(f"app.set({{search: {json.dumps(text)}}})")
        same(text, page.text("#hits"), share)
    page.app("app.set({search: 'matmul'})")
    page.click_frame("decode")
    same("kept while zooming", page.text("#hits"), "73.3 % (72.7 % of the frame)")
    page.key("0")
    names = []
    for _ in range(5):
        page.key("n")
        names.append(page.app("app.main.selected"))
    same("matches one after the other", (len(set(names[:4])), names[4] == names[0]), (4, True))
    page.key("N")
    same("and back", page.app("app.main.selected"), names[3])
    page.press("#tab-table")
    same("the table has matches only", list(rows(page)), ["matmul"])


def names_are_text(b):
    """F9: names of any kind are shown as text, in every view and in the export."""
    page = b.page("hostile.folded", viewer_data.hostile())
    shown = {f["name"] for f in page.frames()}
    for name in viewer_data.HOSTILE:
        want = {"\x1b[31mred\x1b[0m": "\\x1b[31mred\\x1b[0m", "\xff\xfe": "\\xff\\xfe", "a\tb": "a\\x09b"}.get(name, name)
        holds("frames", shown, want)
    for tab in "table", "sandwich", "flame":
        page.press("#tab-" + tab)
    page.press("#tab-flame")
    page.key("ArrowUp", 3)
    page.key("f")
    page.key("e")
    svg = page.downloaded("hostile.folded.svg")
    xml.etree.ElementTree.fromstring(svg)
    same("nothing ran", page.js("[window.hacked, document.images.length, document.scripts.length, document.querySelectorAll('img').length]"),
         [None, 0, 1, 0])
    same("no markup from names", page.js("document.querySelectorAll('main script, #tip script, header script').length"), 0)


def tip(b):
    """F10: the tip says what the report says."""
    page = b.threads()
    told = json.loads(subprocess.run([b.inferom, "report", os.path.join(b.folder, "run.speedscope.json"), "--json", "--tree"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    of = {n["function"]: n for n in reversed(told["tree"])}
    for name in "decode", "prefill", "worker":
        f = page.frame(name)
        page.move(f["x"] + f["w"] / 2, f["y"] + 8)
        text = page.text("#tip")
        holds(name, text, name)
        holds(name, text, f"{of[name]['total'] / 1e6:.1f} ms · {of[name]['total'] / 1.5e6:.1f} % of all")
        own = of[name]["self"]
        holds(name, text, f"Self{own / 1e6:.2f} ms" if own else "Self0 s")
        holds(name, text, f"{name}.c:7")
    page.click_frame("main")
    f = page.frame("decode")
    page.move(f["x"] + 20, f["y"] + 8)
    holds("zoomed", page.text("#tip"), "55.0 % of the zoomed frame")
    page.move(2, 2)
    same("gone with the pointer", page.js("document.getElementById('tip').hidden"), True)


def export(b):
    """F11: the picture as SVG and PNG, the stacks as folded text; all of what is seen."""
    page = b.threads(fragment="#thread=2")
    page.press("#export")
    page.press("[data-export=svg]")
    svg = xml.etree.ElementTree.fromstring(page.downloaded("run.speedscope.json.svg"))
    space = "{http://www.w3.org/2000/svg}"
    boxes = {t.text.split("\n")[0]: float(r.get("width")) for r in svg.iter(space + "rect") for t in r.iter(space + "title")}
    same("frames", sorted(boxes), ["all", "matmul", "softmax", "worker"])
    near("matmul", boxes["matmul"] / boxes["all"], 30 / 50, 0.002)
    drawn = {f["name"]: f["w"] for f in page.frames()}
    for name, width in boxes.items():
        near("as on the screen: " + name, width, drawn[name], 0.01)
    page.press("#export")
    page.press("[data-export=folded]")
    same("folded", sorted(page.downloaded("run.speedscope.json.folded").decode().split("\n")),
         ["", "worker;matmul 30000000", "worker;softmax 20000000"])
    page.press("#export")
    page.press("[data-export=png]")
    holds("png", page.downloaded("run.speedscope.json.png")[:8], b"\x89PNG\r\n\x1a\n")


def difference(b):
    """F12: b made slower is orange in b only; what is new and what is gone is seen."""
    page = b.difference("--diff-by", "value")

    def colours():
        return dict(page.app("(() => { const s = app.main.current; return app.frames().map(f => [f.name, s.paint.css[s.paint.of(f.node)]]) })()"))

    orange, blue, grey = "#f08a24", "#1f6fb2", "#d9d9d9"
    now = colours()
    same("a is as it was", now["a"], grey)
    same("b is more", now["b"], orange)
    same("c is gone", now["c"], blue)
    same("d is new", now["d"], "#d35f00")
    same("main only has them in it", (now["main"], now["all"]), (grey, grey))
    page.app("app.set({of: 'total'})")
    same("all that is in main is more", colours()["main"], "#fdb863")
    page.app("app.set({of: 'cause'})")
    whole = 1000 + 1000 + 400 + 300
    for name, width in {"a": 1000, "b": 1000, "c": 400, "d": 300}.items():
        near("union: " + name, shares(page)[name], width / whole, 0.002)
    holds("label of what is gone", page.app("app.main.current.label(app.frames().find(f => f.name === 'c').node)"), "− c")
    page.app("app.set({layout: 'after'})")
    near("after: b", shares(page)["b"], 1000 / 2300, 0.002)
    same("after: c has no width", [f for f in page.frames() if f["name"] == "c"], [])
    page.app("app.set({layout: 'union', swap: true})")
    same("the other way round, c is new", colours()["c"], "#d35f00")
    page.app("app.set({swap: false, palette: 'red-green'})")
    same("red on request", colours()["b"], "#e8604f")
    f = page.frame("b")
    page.move(f["x"] + 9, f["y"] + 8)
    for part in "Before500", "After1 000", "+500", "more":
        holds("tip of b", page.text("#tip"), part)
    page.press("#tab-table")
    same("b in the table", rows(page)["b"], ("+500", "+500"))
    same("c in the table", rows(page)["c"], ("gone", "gone"))
    page.app("app.set({by: 'share'})")
    near("share of b", float(rows(page)["b"][0].strip("+ %")), 100 * (1000 / 2300 - 500 / 1900), 0.06)
    page.app("app.set({tab: 'sandwich', function: app.model.profile.functions.name.indexOf('c')})")
    same("callers of what is gone", {f["name"] for f in page.frames("callers")}, {"c", "main"})


def difference_by_part(b):
    """F12: both runs are split in the same way, and parts are those of the same name."""
    after = b.write("after.pb", viewer_data.in_parts(1))
    orange, new, grey = "#f08a24", "#d35f00", "#d9d9d9"
    for by, nobody in ("phase", "(in no phase)"), ("request", "(for no request)"), ("scope", "(in no scope)"):
        page = b.page("before.pb", viewer_data.in_parts(0), "--diff", after, "--by", by, "--diff-by", "value")
        rows = page.app("(() => { const s = app.main.current; return app.frames().map(f => [f.name, f.w, s.paint.css[s.paint.of(f.node)]]) })()")
        works = sorted((round(w), css) for name, w, css in rows if name == "work")
        whole = next(w for name, w, _ in rows if name == "all")
        wide = {part: whole * max(ms) / 4800 for part, ms in viewer_data.PARTS.items()}
        for (got, css), part, want in zip(works, ("<sample>", "prefill", "decode"), (new, grey, orange)):
            near(f"by {by}: {part} is as wide as it is on the larger side", got, wide[part], 1.5)
            same(f"by {by}: work in {part}", css, want)
        roots = {name: w for name, w, _ in rows}
        near(f"by {by}: those that say nothing", roots[nobody], wide[None], 1.5)
        for part in ("prefill", "decode", "<sample>"):
            near(f"by {by}: the root {part}", roots[part], wide[part], 1.5)
        same(f"by {by}: scopes stand in scopes", "serve" in roots, by == "scope")


def judged_as_in_the_svg(b):
    """F12: the browser says of each frame what the program says, by value and by share, frame by frame."""
    before, after = viewer_data.two_runs()
    first, second = b.write("first.folded", before), b.write("second.folded", after)
    for by in "value", "share":
        for of in "cause", "self", "total":
            svg = os.path.join(b.folder, "judged.svg")
            options = "--diff", second, "--diff-by", by, "--diff-of", of
            subprocess.run([b.inferom, "flame", first, "-o", svg, *options, "--min-share", "0"], check=True, stdout=subprocess.DEVNULL)
            want = {"/".join(box.path): box.fill for box in flame_boxes.boxes(svg)}
            page = b.page("first.folded", before, *options)
            got = page.app("(() => { const l = app.main.layout, p = app.main.current.paint, names = app.model.profile.functions.name, out = {};"
                           " for (let i = 0; i < l.trie.n; i++) { const path = []; for (let n = i; n > 0; n = l.trie.parent[n]) path.unshift(names[l.trie.fn[n]]);"
                           " out[path.join('/')] = p.css[p.of(i)]; } return out; })()")
            same(f"frames, {by}", sorted(got), sorted(want))
            del got[""], want[""]  # "all" has no change of its own in the one, and no colour in the other
            same(f"colours, by {by} of {of}", {k: (got[k], want[k]) for k in got if got[k] != want[k]}, {})
            same("some have changed, some have not", 3 <= len(set(got.values())), True)


# The other views.

def inverted(b):
    page = b.threads()
    page.key("i")
    wide = shares(page)
    near("matmul", wide["matmul"], 110 / 150, 0.002)
    near("softmax", wide["softmax"], 30 / 150, 0.002)
    near("prefill called it", wide["prefill"], 30 / 150, 0.002)
    holds("chips", page.text("#chips"), "inverted")
    page.press(".chip")
    near("back", shares(page)["main"], 100 / 150, 0.002)


def sandwich(b):
    page = b.threads()
    page.click_frame("matmul")
    page.key("s")
    same("the function", page.text("#sandwich-name"), "matmul")
    callers = {f["name"]: f["w"] for f in reversed(page.frames("callers"))}
    whole = callers["matmul"]
    for name, value in {"prefill": 30, "decode": 40, "eval": 10, "worker": 30}.items():
        near("caller " + name, callers[name] / whole, value / 110, 0.003)
    same("callees", {f["name"] for f in page.frames("callees")}, {"matmul"})
    eval_ = page.app("app.model.profile.functions.name.indexOf('eval')")
    page.app(f"app.set({{function: {eval_}}})")
    callees = {f["name"]: f["w"] for f in reversed(page.frames("callees"))}
    near("apply in eval", callees["apply"] / callees["eval"], 10 / 15, 0.003)
    holds("table beside it", rows(page, "#sandwich-table")["eval"], "10.0 %")


def table(b):
    page = b.threads(fragment="#tab=table")
    got = rows(page)
    same("heaviest first", list(got)[0], "matmul")
    same("self and total", {n: got[n] for n in ("matmul", "decode", "eval", "main")},
         {"matmul": ("73.3 %", "73.3 %"), "decode": ("3.3 %", "36.7 %"), "eval": ("3.3 %", "10.0 %"), "main": ("0.0 %", "66.7 %")})
    page.press("thead th.name button")
    same("by name", list(rows(page))[:3], ["apply", "decode", "eval"])
    page.press("thead th.total button")
    same("by total", list(rows(page))[:3], ["matmul", "main", "decode"])
    same("says so", page.js("document.querySelector('th.total').getAttribute('aria-sort')"), "descending")
    same("a real table", page.js("[document.querySelectorAll('#view-table table').length, document.querySelectorAll('#view-table th[scope=row]').length]"), [1, 7 + 1])


def selecting(b):
    """Threads, phases, requests; focus, drop, hide; recursion; names and time."""
    page = b.threads()
    page.press("#options")
    page.app("app.set({thread: app.model.profile.threads.findIndex(t => t.name === 'worker') + 1})")
    near("softmax of the worker", shares(page)["softmax"], 20 / 50, 0.003)
    same("nobody else", sorted(shares(page)), ["all", "matmul", "softmax", "worker"])
    page.app("app.set({thread: 0, roots: 'thread'})")
    same("threads as roots", beside(page, "prefill"), ["decode", "prefill", "eval", "matmul", "softmax"])
    near("the worker's root", max(f["w"] for f in page.frames() if f["name"] == "worker") / page.frame("all")["w"], 50 / 150, 0.003)
    page.app("app.set({roots: 'none', focus: 'softmax'})")
    near("with softmax: worker", shares(page)["worker"], 20 / 30, 0.003)
    page.app("app.set({focus: '', drop: 'matmul'})")
    near("without matmul: decode", shares(page)["decode"], 15 / 40, 0.003)
    page.app("app.set({drop: '', hide: '^eval$'})")
    same("eval is hidden", "eval" in shares(page), False)
    near("its time is main's", page.app("app.main.layout.trie.self[0][app.frames().find(f => f.name === 'main').node]"), 5e6, 1)
    page.app("app.set({hide: '', recursion: true})")
    evals = [f for f in page.frames() if f["name"] == "eval"]
    same("eval in eval is one, in apply it is another", len(evals), 2)
    page.app("app.set({recursion: false, order: 'name'})")
    same("by name", beside(page, "prefill"), ["decode", "eval", "prefill", "matmul", "softmax"])
    page.app("app.set({order: 'time'})")
    same("in time, threads are frames", beside(page, "prefill"), ["prefill", "decode", "eval", "softmax", "matmul"])
    near("time is width", page.frame("prefill")["w"] / page.frame("all")["w"], 30 / 150, 0.003)


def labelled(b):
    page = b.server()
    page.app("app.set({phase: app.model.profile.phases.indexOf('decode') + 1})")
    near("decode: memcpy", shares(page)["memcpy"], 200 / 300, 0.003)
    page.app("app.set({request: app.model.profile.requests.indexOf('r-1') + 1})")
    near("decode of r-1: matmul", shares(page)["matmul"], 1, 0.003)
    page.app("app.set({phase: 0, request: 0, system: true})")
    same("no libc", "memcpy" in shares(page), False)
    near("serve keeps its time", shares(page)["serve"], 750 / 1000, 0.003)
    page.app("app.set({request: app.model.profile.requests.indexOf('r-2') + 1, phase: app.model.profile.phases.indexOf('prefill') + 1})")
    same("nothing left, and said", page.js("document.getElementById('nothing').hidden"), False)


def keyboard(b):
    """Everything by keys alone."""
    page = b.threads()
    page.js("document.getElementById('flame').focus()")
    page.key("ArrowUp")
    page.key("ArrowUp")
    holds("in", page.text("#details"), "main")
    page.key("ArrowUp")
    holds("the widest callee", page.text("#details"), "decode")
    page.key("ArrowRight")
    holds("its neighbour", page.text("#details"), "prefill")
    page.key("ArrowDown")
    holds("out", page.text("#details"), "main")
    said = page.js("(() => { const t = document.getElementById('flame'); const at = document.getElementById(t.getAttribute('aria-activedescendant'));"
                   " return [t.getAttribute('role'), at.getAttribute('role'), at.getAttribute('aria-level'), at.getAttribute('aria-selected'), at.textContent]; })()")
    same("for screen readers", said[:4], ["tree", "treeitem", "2", "true"])
    holds("for screen readers", said[4].replace("\u202f", " "), "main, Total: 100 ms · 66.7 % of all")
    page.key("Enter")
    near("zoomed", page.frame("main")["w"], page.frame("all")["w"], 1.5)
    page.key("u")
    near("and back", shares(page)["main"], 100 / 150, 0.003)
    for key, field, want in (("i", "invert", True), ("i", "invert", False), ("x", "up", False), ("o", "order", "name"), ("r", "recursion", True),
                             ("l", "system", True), ("2", "tab", "sandwich"), ("3", "tab", "table"), ("1", "tab", "flame"), ("t", "theme", "dark")):
        page.key(key)
        same("key " + key, page.app("app.state." + field), want)
    page.key("?")
    same("help", page.js("document.getElementById('help').open"), True)
    page.key("Escape")
    same("closed", page.js("document.getElementById('help').open"), False)
    page.key("/")
    page.type("eval")
    page.wait("document.getElementById('hits').textContent !== ''")
    page.key("Enter")
    same("in the box, keys are letters", page.app("app.state.search"), "eval")
    page.key("Escape")
    same("cleared", page.app("app.state.search"), "")
    near("icicle: the root on top", page.frame("all")["y"], min(f["y"] for f in page.frames()), 0.5)


def looks(b):
    """Dark and light, as the system or as asked; small screens; sharp ones; exact colours."""
    page = b.threads(dark=True)
    same("as the system", page.js("getComputedStyle(document.body).backgroundColor"), "rgb(22, 24, 28)")
    page.emulate(dark=False)
    page.settle()
    same("the system changes its mind", page.js("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
    page.app("app.set({theme: 'dark'})")
    same("as asked", page.js("getComputedStyle(document.body).backgroundColor"), "rgb(22, 24, 28)")
    for width in 400, 1280:
        page.resize(width, 800, 2)
        page.settle()
        for tab in "sandwich", "table", "flame":
            page.press("#tab-" + tab)
            same(f"nothing beyond the edge, {width} pixels, {tab}", page.js("document.documentElement.scrollWidth"), width)
        same("as many dots as the screen has", page.js("document.querySelector('#flame canvas').width > 1.9 * document.querySelector('#flame canvas').clientWidth"), True)
    seen = {}
    for scheme in "hot", "cold", "rainbow", "monochrome":
        page.app(f"app.set({{colours: '{scheme}'}})")
        seen[scheme] = page.app("app.frames().map(f => [f.name, f.x, f.w, app.main.current.paint.css[app.main.current.paint.of(f.node)]])")
    same("only colours differ", len({json.dumps([row[:3] for row in rows_]) for rows_ in seen.values()}), 1)
    of = {name: css for name, _, _, css in reversed(seen["hot"])}
    same("hot", {n: of[n] for n in ("main", "eval", "apply")}, {"main": "#ff3030", "eval": "#ff8000", "apply": "#ff8000"})
    zones = b.page("zones.folded", "a 12\nb 6\nc 3\nd 1.5\ne 0.5\nf 77\n", "--scheme", "hot")
    of = dict(zones.app("app.frames().map(f => [f.name, app.main.current.paint.css[app.main.current.paint.of(f.node)]])"))
    same("zones", [of[n] for n in "abcde"], ["#ff3030", "#ff8000", "#ffaa00", "#ffcc00", "#ffff00"])


def permalink(b):
    page = b.threads()
    page.app("app.set({search: 'matmul', order: 'name', colours: 'cold', theme: 'dark', thread: 1, up: false})")
    page.click_frame("decode")
    page.wait("location.hash.includes('zoom=')")
    fragment = page.js("location.hash")
    again = b.open(page.html, fragment)
    same("the same state", again.app("app.state"), page.app("app.state"))
    same("the same picture", again.frames(), page.frames())
    b.open(page.html, "#tab=nowhere&order=%00&thread=999999&zoom=1.2.3.4~9&window=9-1&up=maybe&constructor=1")


def opened_as_asked(b):
    """What was said on the command line is how the page opens."""
    page = b.threads("--inverted", "--icicle", "--scheme", "cold", "--theme", "dark", "--order", "name", "--title", "A <b>title</b>")
    state = page.app("app.state")
    same("state", {k: state[k] for k in ("invert", "up", "colours", "theme", "order")},
         {"invert": True, "up": False, "colours": "cold", "theme": "dark", "order": "name"})
    same("title", (page.text("h1"), page.js("document.title")), ("A <b>title</b>", "A <b>title</b>"))
    told = b.threads("--by", "thread", "--merge-recursion").app("app.state")
    same("roots, recursion, colours", (told["roots"], told["recursion"], told["colours"]), ("thread", True, "auto"))
    one = b.page("one.folded", "all_alone 1\n")
    near("one frame", one.frame("all_alone")["w"], one.frame("all")["w"], 0.5)


CASES = {f.__name__.replace("_", "-"): f for f in (
    one_file, zoom, searching, names_are_text, tip, export, difference, difference_by_part, judged_as_in_the_svg, inverted, sandwich, table, selecting, labelled, keyboard, looks,
    permalink, opened_as_asked)}


def has_viewer(inferom):
    told = subprocess.run([inferom, "--version", "--verbose"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return "viewer: on" in told


def main():
    inferom, *names = sys.argv[1:]
    why = browser.missing() or (None if has_viewer(inferom) else "this build has no viewer (Debian: esbuild)")
    if why:
        print("skipped:", why)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as chromium:
        for name in names or CASES:
            bench = Bench(os.path.abspath(inferom), chromium, folder)
            try:
                CASES[name](bench)
                bench.quiet()
            except (AssertionError, browser.Failed) as e:
                print(f"{name}: {e}")
                return 1
            for page in bench.pages:
                page.close()
            print(name, "as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
