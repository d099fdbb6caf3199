"""Headless Chromium driven over its debugging pipe: opens a page, measures it, photographs it, prints it.

Run as a program it photographs a page: `python -m tests.browser PAGE.html OUT_DIRECTORY`.
"""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_TIMEOUT = 60.0
A4 = {"paperWidth": 8.27, "paperHeight": 11.69}


class Tab:
    """One page in the browser. `events` are all messages it sent, in order."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        self._session = ""

    def attach(self) -> None:
        """Open an empty page and listen to what it logs and loads."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its answer."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + _TIMEOUT
        while b"\0" not in self._rest:
            if not select.select([self._receive], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._receive, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, page: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file in a window of a size and theme, and wait until it is loaded."""
        self.size(width, height)
        self.theme(dark)
        self.events.clear()
        self.visit(page.as_uri())

    def visit(self, url: str) -> None:
        """Go to an address and wait until it is loaded; earlier events stay."""
        start = len(self.events)
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events[start:]):
            self.events.append(self._read())

    def wait(self, script: str, seconds: float = _TIMEOUT) -> Any:
        """Value of a JavaScript expression as soon as it is true."""
        until = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {script}")
            time.sleep(0.05)
        return value

    def click(self, selector: str) -> None:
        """Click the middle of the first element a CSS selector finds."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        if place is None:
            raise LookupError(f"nothing on the page is {selector}")
        for kind in ("mousePressed", "mouseReleased"):
            x, y = place
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def size(self, width: int, height: int) -> None:
        """Set the window's size in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def theme(self, dark: bool, media: str = "") -> None:
        """Choose the colour scheme, and the medium when it is not the screen."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def run(self, script: str) -> Any:
        """Value of a JavaScript expression, from outside the page's own rights."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str, code: int, modifiers: int = 0) -> None:
        """Press and release one key; modifiers are 1 for Alt, 2 for Control, 8 for Shift, added up."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": "\r"} if key == "Enter" and kind == "keyDown" and not modifiers else {}
            pressed = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers, **extra}
            self.call("Input.dispatchKeyEvent", type=kind, **pressed)

    def write(self, text: str) -> None:
        """Put text into the field that has the focus."""
        self.call("Input.insertText", text=text)

    def photograph(
        self, path: Path, *, whole: bool = True, clip: tuple[int, int, int, int] | None = None
    ) -> Path:
        """Save the page, or x, y, width, height of it, as PNG."""
        params: dict[str, Any] = {"format": "png", "captureBeyondViewport": whole or clip is not None}
        if clip:
            params["clip"] = dict(zip(("x", "y", "width", "height"), clip, strict=True)) | {"scale": 1}
        elif whole:
            content = self.call("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "scale": 1} | {k: content[k] for k in ("width", "height")}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **params)["data"]))
        return path

    def print(self, path: Path) -> Path:
        """Save the page as a PDF on A4, as the page's own styles ask."""
        data = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True, **A4)["data"]
        path.write_bytes(base64.b64decode(data))
        return path

    def tree(self) -> list[dict[str, Any]]:
        """What a screen reader is told: nodes with role and name."""
        nodes: list[dict[str, Any]] = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node for node in nodes if not node.get("ignored")]

    def complaints(self) -> list[str]:
        """What the console said: logs, security violations, exceptions."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in kinds]

    def requests(self) -> list[str]:
        """Addresses the page asked for."""
        wanted = (event for event in self.events if event.get("method") == "Network.requestWillBeSent")
        return [event["params"]["request"]["url"] for event in wanted]


@contextmanager
def chromium() -> Iterator[Tab]:
    """A browser with one tab; it and its profile are gone at the end."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert binary, "no Chromium: run scripts/system-deps.sh"
    to_browser, from_browser = os.pipe(), os.pipe()
    theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_browser[0], from_browser[1])]

    def place() -> None:
        os.dup2(theirs[0], 3)
        os.dup2(theirs[1], 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [binary, *_OPTIONS, f"--user-data-dir={profile}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=place,
            close_fds=False,
        )
        for end in (*theirs, to_browser[0], from_browser[1]):
            os.close(end)
        try:
            tab = Tab(to_browser[1], from_browser[0])
            tab.attach()
            yield tab
        finally:
            process.terminate()
            process.wait(timeout=30)
            os.close(to_browser[1])
            os.close(from_browser[0])


def photograph(page: Path, out: Path) -> list[Path]:
    """Light, dark, phone and print pictures of a page."""
    out.mkdir(parents=True, exist_ok=True)
    made = []
    with chromium() as tab:
        for name, width, dark in (("light", 1280, False), ("dark", 1280, True), ("phone", 390, False)):
            tab.open(page, width=width, height=900, dark=dark)
            made.append(tab.photograph(out / f"{page.stem}-{name}.png"))
        tab.open(page)
        made.append(tab.print(out / f"{page.stem}-print.pdf"))
    return made


if __name__ == "__main__":
    for path in photograph(Path(sys.argv[1]).resolve(), Path(sys.argv[2])):
        print(path)
