"""Start the process an exercise runs in, watch it, and collect what it left.

Two ways in, one way out: a fresh interpreter (``spawn``) for a reader's file, and a
fork of this process (``fork``) where hundreds of files are proven one after another.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import sys
import tempfile
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
    start: Callable[[dict[str, Any], Path, int], int],
    request: dict[str, Any],
    limits: Limits,
) -> Observed:
    """Run a request of ``sandbox.run`` in the process that ``start`` makes."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stacklib-") as folder:
        place = Path(folder)
        request = completed(request, place, limits)
        read_end, write_end = os.pipe()
        pid = start(request, place, write_end)
        os.close(write_end)
        deadline = began + limits.patience + GRACE
        try:
            output = drain(read_end, deadline)
            status, killed = wait(pid, deadline)
        except BaseException:  # Ctrl-C: leave no process behind
            kill(pid)
            os.waitpid(pid, 0)
            raise
        finally:
            os.close(read_end)
        records, trace = read_report(place / "report", request["token"])
    seconds = time.monotonic() - began
    return Observed(records, trace, output, status, killed, seconds)


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


def spawn(request: dict[str, Any], place: Path, output: int) -> int:
    """Start a fresh isolated interpreter on the request; its process id."""
    (place / "request").write_text(json.dumps(request), "utf-8")
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", BOOT, str(PACKAGE)]
    # Threads of a linear-algebra library would count as address space.
    env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(place / "request"), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
    ]
    return os.posix_spawn(sys.executable, command, env, file_actions=actions)


def fork(request: dict[str, Any], place: Path, output: int) -> int:
    """Fork this process on the request; the child's process id."""
    leave = os._exit
    pid = os.fork()
    if pid:
        return pid
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        sandbox.run(request)
    finally:
        leave(70)


def drain(fd: int, deadline: float) -> str:
    """Read until the other end closes or time is up; keep the first ``SHOWN`` bytes."""
    kept, total = b"", 0
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([fd], [], [], left)[0]:
            break
        if not (data := os.read(fd, 1 << 16)):
            break
        total += len(data)
        kept += data[: SHOWN - len(kept)]
    text = kept.decode("utf-8", "replace")
    if total > len(kept):
        text += f"\n... cut here: {total:,} bytes were printed"
    return text


def wait(pid: int, deadline: float) -> tuple[int, bool]:
    """Exit status, and whether the process had to be killed."""
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), False
        time.sleep(0.002)
    kill(pid)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), True


def kill(pid: int) -> None:
    """Kill a process and the group it leads, if it came so far as to lead one."""
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


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
