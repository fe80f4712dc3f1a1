"""A headless Chromium, driven over its debugging pipe: messages are JSON, each ended by a NUL byte.

    with Browser() as b:
        page = b.open("file:///.../flame.html", width=1280, height=800)
        page.click(x, y)
        page.key("ArrowUp")
        page.js("document.title")
        assert not page.complaints

Needs nothing but Chromium. `missing()` says why there is none, or None.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
PATIENCE = 120  # seconds for one answer, on a machine that is busy with other things


def program():
    return next((found for found in map(shutil.which, NAMES) if found), None)


def missing():
    return None if program() else "no Chromium here (Debian: chromium)"


class Failed(Exception):
    pass


class Browser:
    """The browser, with a profile folder of its own that goes with it."""

    def __init__(self, *options):
        self.options = options

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True)
        to_read, self.write_fd = os.pipe()
        self.read_fd, to_write = os.pipe()
        command = [program(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-extensions", "--disable-background-networking", "--disable-sync",
                   "--disable-component-update", "--force-color-profile=srgb", "--hide-scrollbars", "--mute-audio",
                   f"--user-data-dir={self.home.name}", *self.options, "about:blank"]
        # The browser reads from 3 and writes to 4, whatever those are here.
        script = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(["bash", "-c", script, "bash", *command], pass_fds=(to_read, to_write),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, HOME=self.home.name))
        os.close(to_read)
        os.close(to_write)
        self.waiting = b""
        self.last_id = 0
        self.events = []
        self.listeners = []
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_fd)
        os.close(self.read_fd)
        self.home.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.waiting:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise Failed("the browser does not answer")
            piece = os.read(self.read_fd, 1 << 20)
            if not piece:
                raise Failed("the browser has ended")
            self.waiting += piece
        message, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_fd, data):]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error'].get('message')}")
                return answer.get("result", {})
            for listener in self.listeners:
                listener(answer)

    def open(self, url, width=1280, height=800, scale=1, dark=False, reduced_motion=True):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, session, target, url, (width, height, scale), dark, reduced_motion)


KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Backspace": (8, ""), "Tab": (9, ""), "ArrowLeft": (37, ""), "ArrowUp": (38, ""),
        "ArrowRight": (39, ""), "ArrowDown": (40, ""), "Home": (36, "")}


class Page:
    def __init__(self, browser, session, target, url, size, dark, reduced_motion):
        self.browser, self.session, self.target = browser, session, target
        self.complaints = []  # what the console said, and errors
        self.requests = []    # addresses asked for, besides the page itself
        self.downloads = tempfile.TemporaryDirectory(prefix="downloads", ignore_cleanup_errors=True)
        browser.listeners.append(self.heard)
        for domain in "Page", "Runtime", "Network", "Log":
            self.call(domain + ".enable")
        browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.downloads.name, eventsEnabled=True)
        self.resize(*size)
        self.emulate(dark, reduced_motion)
        self.go(url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def heard(self, message):
        if message.get("sessionId") != self.session:
            return
        params = message.get("params", {})
        kind = message.get("method")
        if kind == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{params['type']}: {[a.get('value', a.get('description')) for a in params['args']]}")
        elif kind == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details.get("text")))
        elif kind == "Log.entryAdded":
            self.complaints.append(f"{params['entry']['level']}: {params['entry']['text']}")
        elif kind == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def emulate(self, dark=False, reduced_motion=True):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def go(self, url):
        """Opens an address and waits until the viewer is there and has drawn."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        del self.requests[:], self.complaints[:]
        self.call("Page.navigate", url=url)
        self.wait("!!window.inferometer && document.readyState === 'complete'")
        self.js("window.inferometer.then(() => true, () => false)")
        self.settle()

    def settle(self):
        """Two frames later everything that was asked for has been drawn."""
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise Failed(answer["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return answer["result"].get("value")

    def app(self, expression):
        """With `app` as the viewer."""
        return self.js(f"window.inferometer.then(app => ({expression}))")

    def wait(self, condition):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if self.js(condition):
                    return
            except Failed:
                pass  # between two documents
            if time.monotonic() > deadline:
                raise Failed("never true: " + condition)
            time.sleep(0.02)

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def click(self, x, y, modifiers=0):
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        self.settle()

    def press(self, selector):
        """Clicks in the middle of an element, as a hand would."""
        x, y = self.js(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                       " return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        self.click(x, y)

    def key(self, key, times=1):
        code, text = KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key))
        for _ in range(times):
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, text=text, windowsVirtualKeyCode=code)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).textContent").replace("\u202f", " ")

    def frames(self, which="flame"):
        return self.app(f"app.frames({json.dumps(which)})")

    def frame(self, name, which="flame"):
        found = [f for f in self.frames(which) if f["name"] == name]
        if not found:
            raise Failed(f"no frame '{name}' among {[f['name'] for f in self.frames(which)]}")
        return found[0]

    def click_frame(self, name, which="flame"):
        f = self.frame(name, which)
        self.click(f["x"] + f["w"] / 2, f["y"] + 8)

    def downloaded(self, name):
        """The bytes of a file the page gave us, once they are all there."""
        path = os.path.join(self.downloads.name, name)
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if time.monotonic() > deadline:
                raise Failed(f"no {name}, but {os.listdir(self.downloads.name)}")
            self.js("0")
            time.sleep(0.02)
        with open(path, "rb") as f:
            return f.read()

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def metrics(self):
        self.call("Performance.enable")
        return {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}

    def close(self):
        self.browser.listeners.remove(self.heard)
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.downloads.cleanup()
