"""Start the process an exercise runs in, watch it, and collect what it left.

Two ways in, one way out: a fresh interpreter (``spawn``) for a reader's file, and a
fork of this process (``fork``) where hundreds of files are proven one after another.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacklib.grading import sandbox

# After its own watchdogs a process gets this long, in seconds, before it is killed;
# a fresh interpreter on a busy machine needs some of it to start.
GRACE = 15.0
SHOWN = 20_000  # bytes of output kept
PACKAGE = Path(__file__).resolve().parents[2]
# A process leads a group of its own: what it starts ends with it, no key reaches it.
ALONE: dict[str, Any] = {"start_new_session": True}
if sys.platform == "win32":
    ALONE = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); del sys.argv[1:]; "
    "from stacklib.grading.sandbox import main; main()"
)


@dataclass(frozen=True)
class Limits:
    """What one exercise may use: seconds of the processor, bytes of memory.

    Waiting costs no processor time: ``patience`` ends it by the clock, and is so long
    that a busy machine stops nobody who computes.
    """

    timeout: float = 10.0
    memory: int = 2 << 30

    def __post_init__(self) -> None:
        if not 0 < self.timeout < 1e6:
            raise ValueError(f"timeout {self.timeout!r} s: give seconds above 0")
        if self.memory <= 0:
            raise ValueError(f"memory {self.memory!r} B: give bytes above 0")

    @property
    def patience(self) -> float:
        """Seconds on the clock."""
        return 10 * self.timeout


@dataclass(frozen=True)
class Observed:
    """What one run left. ``status`` is the exit status, negative for a signal;
    ``trace`` is the watchdog's stack where time ran out; ``killed`` that even the
    watchdog was not obeyed.
    """

    records: tuple[dict[str, Any], ...]
    trace: str
    output: str
    status: int
    killed: bool
    seconds: float


def observe(
    start: Callable[[dict[str, Any], Path, int], Process],
    request: dict[str, Any],
    limits: Limits,
) -> Observed:
    """Run a request of ``sandbox.run`` in the process that ``start`` makes."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(
        prefix="stacklib-", ignore_cleanup_errors=True
    ) as folder:
        place = Path(folder)
        request = completed(request, place, limits)
        read_end, write_end = os.pipe()
        process = start(request, place, write_end)
        os.close(write_end)
        listener = Listener(read_end)
        listener.start()
        try:
            status, killed = wait(process, began + limits.patience + GRACE)
        except BaseException:  # Ctrl-C: leave no process behind
            kill(process)
            raise
        listener.join(1.0)  # longer only where a process of its own prints on
        records, trace = read_report(place / "report", request["token"])
    seconds = time.monotonic() - began
    return Observed(records, trace, listener.text(), status, killed, seconds)


def completed(request: dict[str, Any], place: Path, limits: Limits) -> dict[str, Any]:
    """The request with its limits, its folder to run in and its report file."""
    (place / "cwd").mkdir()
    (place / "report").touch()
    return {
        **request,
        "timeout": limits.timeout,
        "patience": limits.patience,
        "memory": limits.memory,
        "cwd": str(place / "cwd"),
        "report": str(place / "report"),
        "token": secrets.token_hex(16),
    }


@dataclass(frozen=True)
class Forked:
    """A fork, asked as a process of ``subprocess`` is."""

    pid: int

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        done, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if done else None

    def wait(self) -> int:
        """Its exit status, when it has ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)


Process = Forked | subprocess.Popen[bytes]


def spawn(request: dict[str, Any], place: Path, output: int) -> Process:
    """Start a fresh isolated interpreter on the request."""
    (place / "request").write_text(json.dumps(request), "utf-8")
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", BOOT, str(PACKAGE)]
    # Threads of a linear-algebra library would count as address space.
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with open(place / "request", "rb") as asked:
        return subprocess.Popen(
            command, env=env, stdin=asked, stdout=output, stderr=output, **ALONE
        )


def fork(request: dict[str, Any], place: Path, output: int) -> Process:
    """Fork this process on the request."""
    leave = os._exit
    pid = os.fork()
    if pid:
        return Forked(pid)
    try:
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        sandbox.run(request)
    finally:
        leave(70)


class Listener(threading.Thread):
    """Reads until nobody can print any more, and keeps the first ``SHOWN`` bytes."""

    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True)
        self.fd, self.kept, self.total = fd, b"", 0

    def run(self) -> None:
        """Read."""
        while data := os.read(self.fd, 1 << 16):
            self.total += len(data)
            self.kept += data[: SHOWN - len(self.kept)]
        os.close(self.fd)

    def text(self) -> str:
        """What was printed."""
        text = self.kept.decode("utf-8", "replace")
        cut = f"\n... cut here: {self.total:,} bytes were printed"
        return text + cut if self.total > len(self.kept) else text


def wait(process: Process, deadline: float) -> tuple[int, bool]:
    """Exit status, and whether the process had to be killed."""
    while time.monotonic() < deadline:
        status = process.poll()
        if status is not None:
            return status, False
        time.sleep(0.002)
    return kill(process), True


def kill(process: Process) -> int:
    """Kill a process and the group it leads, if it came so far as to lead one."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    except ProcessLookupError:
        pass
    return process.wait()


def read_report(path: Path, token: str) -> tuple[tuple[dict[str, Any], ...], str]:
    """The records that carry the token, and the other text: the watchdog's stack."""
    records, trace = [], []
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            trace.append(line)
            continue
        if isinstance(record, dict) and record.pop("token", None) == token:
            records.append(record)
    return tuple(records), "\n".join(trace)
