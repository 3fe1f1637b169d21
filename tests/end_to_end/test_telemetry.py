"""Serving opens no network socket and writes no file: nothing phones home."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Runs in an interpreter of its own; a thread looks at the process's sockets every millisecond.
WATCH = """
import os, re, sys, threading, time
from pathlib import Path

def network_inodes():
    tables = (Path(f"/proc/self/net/{kind}") for kind in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"))
    return {line.split()[9] for table in tables if table.exists() for line in table.read_text().splitlines()[1:]}

def own_inodes():
    found = set()
    for entry in os.listdir("/proc/self/fd"):
        try:
            found |= set(re.findall(r"socket:\\[(\\d+)\\]", os.readlink(f"/proc/self/fd/{entry}")))
        except OSError:
            continue
    return found

seen = set()
stopping = threading.Event()
def watch():
    while not stopping.wait(0.001):
        seen.update(own_inodes() & network_inodes())
watcher = threading.Thread(target=watch)
watcher.start()
try:
    exec(sys.argv[1])
    time.sleep(0.5)
finally:
    stopping.set()
    watcher.join()
print("sockets", len(seen))
"""
SERVE = """
from fastapi.testclient import TestClient
from app.main import create_app
from app.settings import Settings
with TestClient(create_app(Settings())) as client:
    body = {"text": "Good morning.", "source": "en", "target": "fr", "attention": {}}
    assert client.post("/translate", json=body).status_code == 200
"""
A_SOCKET = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.bind(("127.0.0.1", 0))
    time.sleep(0.2)
"""


def watched(code: str, folder: Path) -> str:
    """Runs ``code`` where home, temporary files and the working directory are folders in ``folder``."""
    home, temporary, working = (folder / name for name in ("home", "temporary", "working"))
    for one in (home, temporary, working):
        one.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "PYTEST"))}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary)}
    environment |= {"PYTHONPATH": str(Path(__file__).parent.parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(
        [sys.executable, "-c", WATCH, code], capture_output=True, text=True, env=environment, cwd=working, timeout=120
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


@pytest.mark.skipif(not Path("/proc/self/net/udp").exists(), reason="needs Linux's /proc")
def test_the_watch_sees_a_socket(tmp_path: Path) -> None:
    assert watched(A_SOCKET, tmp_path) == "sockets 1"


@pytest.mark.skipif(not Path("/proc/self/net/udp").exists(), reason="needs Linux's /proc")
def test_serving_opens_no_socket_and_writes_no_file(tmp_path: Path) -> None:
    assert watched(SERVE, tmp_path) == "sockets 0"
    assert [path for path in tmp_path.rglob("*") if path.parent != tmp_path] == []
