"""A server with the bundled model on a port of its own, and a browser to open its page with."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def address(browser: Any) -> Iterator[str]:
    """Depends on the browser, so that no server is started where there is none."""
    port = free_port()
    environment = {**os.environ, "VITRAIL_PORT": str(port), "VITRAIL_LOG_LEVEL": "warning"}
    server = subprocess.Popen([sys.executable, "-m", "app"], cwd=ROOT, env=environment)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(SECONDS)


def wait_until_ready(address: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/health/ready", timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server did not become ready")


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """A fresh page; whatever it complains about fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=address)
    context.set_default_timeout(SECONDS * 1000)
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert complaints == []
