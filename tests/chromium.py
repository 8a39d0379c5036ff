"""A real Chromium without a screen, driven through a pipe with the DevTools protocol; needs nothing but itself."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


def find_chromium() -> str | None:
    """The program, if there is one on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


class Chromium:
    """A browser with one page. Messages of the page's console, errors and requests are collected."""

    def __init__(self, program: str):
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        # the browser reads commands from descriptor 3 and writes answers to 4
        plumbing = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        command = ["bash", "-c", plumbing, "bash", program, *FLAGS, f"--user-data-dir={self._folder.name}"]
        self._process = subprocess.Popen(
            [*command, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number, self._session = b"", 0, None
        self.errors: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, timeout: float = 60.0, **params: Any) -> dict[str, Any]:
        """One command of the protocol; events that come before its answer are taken in."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = monotonic() + timeout
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._take(answer)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def _take(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, path: Path | Any, width: int = 1100, height: int = 700, phone: bool = False) -> None:
        """Load a file and wait until the player says that it is ready."""
        self.errors.clear()
        self.requests.clear()
        scale = 2 if phone else 1
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        self.wait("document.body && document.body.classList.contains('ready')")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression on the page; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 30.0) -> None:
        """Until a JavaScript condition holds."""
        check = (
            f"new Promise((yes, no) => {{ const end = performance.now() + {1000 * seconds};"
            f" const look = () => ({condition}) ? yes(true) : performance.now() > end ? yes(false)"
            " : setTimeout(look, 20); look(); })"
        )
        end = monotonic() + seconds
        while monotonic() < end:
            try:
                if self.run(check):
                    return
            except RuntimeError:
                continue  # the page was just being replaced
        raise TimeoutError(f"waited in vain for {condition}; errors: {self.errors}")

    def press(self, key: str, code: int = 0, shift: bool = False) -> None:
        """A key on the keyboard."""
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path: Path | None = None) -> bytes:
        """What the page looks like, as PNG."""
        content = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(content)
        return content

    def close(self) -> None:
        """End the browser and remove what it wrote."""
        try:
            self._session = None
            self.call("Browser.close", timeout=10.0)
        except (OSError, RuntimeError, TimeoutError):
            self._process.kill()
        self._process.wait(20)
        os.close(self._write)
        os.close(self._read)
        self._folder.cleanup()
