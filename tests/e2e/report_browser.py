#!/usr/bin/env python3
"""The report's page in a browser: it sorts, folds, fits, turns dark and prints; and no complaint in the console.

    report_browser.py INFEROM

Skipped where there is no Chromium.
"""
import os
import subprocess
import sys
import tempfile
import time

import browser

SKIP = 77
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "sample-profile.folded")
failures = []


def check(what, ok, seen):
    print(f"{'ok  ' if ok else 'FAIL'} {what}: {seen}", flush=True)
    if not ok:
        failures.append(what)


class ReportPage(browser.Page):
    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"location.href === {url!r} && document.readyState === 'complete'")
        self.settle()


browser.Page = ReportPage


def column(page, n):
    return page.js(f"[...document.querySelectorAll('#functions tbody tr')].map(r => r.cells[{n}].textContent)")


def numbers(cells):
    return [float(c.replace(" ", "").replace("%", "")) for c in cells]


def sorts(page):
    page.js("document.querySelectorAll('#functions th button')[6].scrollIntoView({block: 'center'})")
    page.press("#functions th:nth-child(7) button")
    once = numbers(column(page, 6))
    check("Total, largest first", once == sorted(once, reverse=True) and len(once) == 20, once[:3])
    page.press("#functions th:nth-child(7) button")
    twice = numbers(column(page, 6))
    check("again, smallest first", twice == sorted(twice), twice[:3])
    check("said to who cannot see it", page.js("document.querySelector('#functions th:nth-child(7)').ariaSort") == "ascending", "ascending")
    page.js("document.querySelector('#functions th:nth-child(2) button').focus()")
    page.key("Enter")
    names = column(page, 1)
    check("names, by key", names == page.js(f"{names!r}.sort((a, b) => a.localeCompare(b))"), names[:3])


def folds(page):
    closed = "document.querySelectorAll('.tree details:not([open])').length"
    before = page.js(closed)
    page.js("document.querySelector('.tree details[open] > summary').focus()")
    page.key("Enter")
    check("a key folds a function away", page.js(closed) == before + 1, page.js(closed))
    page.key("Enter")
    printed = page.call("Page.printToPDF", printBackground=True)["data"]
    check("prints", len(printed) > 20000, f"{len(printed)} characters of PDF")
    page.js("dispatchEvent(new Event('beforeprint'))")
    check("opened for printing", page.js(closed) == 0, page.js(closed))
    page.js("dispatchEvent(new Event('afterprint'))")
    check("and as before afterwards", page.js(closed) == before, page.js(closed))


def fits(page):
    for width in 1280, 400:
        page.resize(width, 900)
        page.settle()
        over = page.js("document.documentElement.scrollWidth - innerWidth")
        check(f"nothing sticks out at {width}", over <= 0, over)
    page.resize(1280, 900)


def has_two_looks(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.js(colour)
    page.emulate(dark=True)
    check("dark when dark is asked for", page.js(colour) != light, (light, page.js(colour)))


def needs_no_script(b, url):
    page = b.open("about:blank")
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.call("Page.navigate", url=url)
    deadline, html = time.monotonic() + browser.PATIENCE, ""
    while "</footer>" not in html and time.monotonic() < deadline:
        try:
            root = page.call("DOM.getDocument")["root"]["nodeId"]
            html = page.call("DOM.getOuterHTML", nodeId=root)["outerHTML"]
        except browser.Failed:
            pass  # between two documents
    check("complete without a script", html.count("<tr>") >= 21 and "<button" not in html.partition("<main>")[2].partition('id="flame"')[0],
          html.count("<tr>"))
    page.close()


def main():
    why = browser.missing()
    if why:
        print("skipped:", why)
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        subprocess.run([sys.argv[1], "report", SAMPLE, "-o", path], check=True)
        with browser.Browser() as b:
            page = b.open("file://" + path)
            check("asks for nothing but itself", set(page.requests) == {"file://" + path}, page.requests)
            for look in sorts, folds, fits, has_two_looks:
                look(page)
            check("no complaint", not page.complaints, page.complaints)
            page.close()
            needs_no_script(b, "file://" + path)
    sys.exit(1 if failures else 0)


main()
