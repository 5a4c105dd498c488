"""A page in headless Chromium, by its DevTools protocol over two pipes: no packages needed."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser with one page; `errors` has what the console and the page complained of."""

    def __init__(self, width=1440, height=900):
        self._home = tempfile.TemporaryDirectory()
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def take_pipes():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self._home.name}",
             f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=take_pipes,
            pass_fds=(3, 4, theirs_in, theirs_out))
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self._number, self._rest, self._session = 0, b"", None
        self.errors, self.requests, self._loaded = [], [], False
        page = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page["targetId"],
                                  flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def _read(self):
        while b"\0" not in self._rest:
            more = os.read(self._in.fileno(), 1 << 16)
            if not more:
                raise EOFError("the browser went away")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def send(self, method, **params):
        """One command, and its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            got = self._read()
            if got.get("id") == self._number:
                assert "error" not in got, (method, got["error"])
                return got["result"]
            self._note(got)

    def open(self, path):
        """Loads a file and waits for its load event."""
        self.errors, self.requests, self._loaded = [], [], False
        self.send("Page.navigate", url=f"file://{path}")
        while not self._loaded:
            self._note(self._read())

    def run(self, script):
        """The value of an expression in the page."""
        done = self.send("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def key(self, key):
        """Presses one key where the focus is."""
        one = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **one)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def dark(self, on=True):
        """Asks for dark colours, or light ones."""
        value = "dark" if on else "light"
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self, path):
        """A screenshot, as PNG."""
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def printed(self):
        """The page as it prints, a PDF."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        """Ends the browser."""
        self._process.terminate()
        self._process.wait(20)
        self._in.close()
        self._out.close()
        self._home.cleanup()
