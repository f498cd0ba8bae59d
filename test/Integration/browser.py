"""A headless Chromium for tests of pages; tests that need it are skipped where it is not installed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars"]


class Browser:
    def __init__(self, folder: Path):
        selenium = pytest.importorskip("selenium.webdriver")
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if not chromium or not driver:
            pytest.skip("needs the packages chromium and chromium-driver")
        options = selenium.ChromeOptions()
        options.binary_location = chromium
        for flag in [*FLAGS, f"--user-data-dir={folder / 'profile'}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
        self.driver.set_page_load_timeout(60)

    def open(self, page: Path, width: int = 1200, scheme: str = "light"):
        """Opens a page in a window of a width, for a reader who prefers light or dark."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get(f"file://{page}")
        # Charts are drawn once their widths are known.
        self.run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))")

    def run(self, script: str, *arguments):
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        return self.run("return [...document.querySelectorAll(arguments[0])].map(element => element.textContent)", selector)

    def hover(self, selector: str, x: float, y: float) -> str:
        """Moves the mouse to a place of an element, in shares of its size; what the box beside the mouse says."""
        left, top, width, height = self.run(
            "const one = document.querySelector(arguments[0]); one.scrollIntoView({block: 'center'});"
            "const box = one.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]", selector)
        self.mouse("mouseMoved", left + x * width, top + y * height)
        return self.run("return document.getElementById('tip').style.display === 'none' ? '' : document.getElementById('tip').textContent")

    def drag(self, selector: str, start: tuple[float, float], end: tuple[float, float]):
        self.hover(selector, *start)
        left, top, width, height = self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.left, box.top, box.width, box.height]",
            selector)
        places = [(left + x * width, top + y * height) for x, y in (start, end)]
        self.mouse("mousePressed", *places[0], button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", *places[1], button="left", buttons=1)
        self.mouse("mouseReleased", *places[1], button="left", buttons=0, clickCount=1)

    def mouse(self, kind: str, x: float, y: float, **button):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **button})

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def close(self):
        self.driver.quit()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    one = Browser(tmp_path_factory.mktemp("browser"))
    yield one
    one.close()
