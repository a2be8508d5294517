"""What an exercise may use and change: limits of the system, a hook that refuses.

The hook sees what Python itself does with files, processes and sockets. Code in C
passes it by.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    import resource
except ImportError:  # not on Windows: time is the only limit there
    resource = None  # type: ignore[assignment]

UNLIMITED = "note: this system limits no memory; an exercise is stopped by time alone"
# Room left to report a MemoryError, and the largest file an answer may write.
SPARE, LARGEST_FILE = 64 << 20, 64 << 20
PROCESS_EVENTS = (
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "os.system",
    "os.kill",
    "os.killpg",
    "subprocess.Popen",
    "pty.spawn",
)
# Events that change a file, and where their arguments name an open folder to look from.
CHANGE_EVENTS = {
    "os.remove": 1,
    "os.rmdir": 1,
    "os.mkdir": 2,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
    "os.chmod": 2,
    "os.chown": 3,
    "os.utime": 3,
    "os.truncate": 2,
    "shutil.rmtree": 1,
    "sqlite3.connect": 1,
}
NETWORK_EVENTS = (
    "socket.connect",
    "socket.bind",
    "socket.sendto",
    "socket.sendmsg",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
)
PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


# Whether the grader itself, not the exercise, is starting a process just now.
_tool_at_work: list[bool] = []


class Refused(PermissionError):
    """Something an exercise may not do."""


def limit(timeout: float, memory: int) -> None:
    """Set limits on CPU seconds, address space beyond today's, files and cores."""
    if resource is None:
        return
    seconds = math.ceil(timeout) + 1
    space = address_space() + memory
    lower(resource.RLIMIT_CPU, seconds, seconds + 1)
    lower(resource.RLIMIT_FSIZE, LARGEST_FILE, LARGEST_FILE)
    lower(resource.RLIMIT_CORE, 0, 0)
    lower(resource.RLIMIT_AS, space, space + SPARE)


def lower(which: int, soft: int, hard: int) -> None:
    """Set one limit, no higher than the one in force."""
    try:
        now = resource.getrlimit(which)[1]
        if now != resource.RLIM_INFINITY:
            soft, hard = min(soft, now), min(hard, now)
        resource.setrlimit(which, (soft, hard))
    except (OSError, ValueError):  # a system without this limit
        pass


def raise_memory_limit() -> None:
    """Open the spare room, so that the report of a MemoryError fits."""
    if resource is not None:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        lower(resource.RLIMIT_AS, hard, hard)


def address_space() -> int:
    """Bytes of address space this process has mapped; 0 where it cannot be told."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def guard(place: str) -> None:
    """Refuse other processes, the network, os._exit, and changes outside ``place``."""
    home = os.path.realpath(place) + os.sep

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if _tool_at_work:
            return
        if event in PROCESS_EVENTS:
            raise Refused(
                f"{event}: an exercise is one process; start or stop no other"
            )
        if event in NETWORK_EVENTS:
            raise Refused(f"{event}: an exercise reaches no network")
        for path in changed(event, args):
            if not allowed(path, home):
                raise Refused(
                    f"{event} {path}: an exercise writes only in the empty folder "
                    "that it runs in"
                )

    def no_exit(status: int) -> None:
        raise Refused("os._exit ends Python before the tests have run; remove it")

    sys.addaudithook(audit)
    os._exit = no_exit  # type: ignore[assignment]


def changed(event: str, args: tuple[Any, ...]) -> Iterator[str]:
    """The real paths that an event is about to change."""
    if event == "open":
        paths, folder = args[:1] if args[2] and args[2] & WRITING else (), ""
    elif event in CHANGE_EVENTS:
        # What a symbolic link points at is not changed by it.
        paths = args[1:2] if event == "os.symlink" else args[:2]
        folder = opened(args[CHANGE_EVENTS[event] :])
    else:
        return
    for path in paths:
        if isinstance(path, (str, bytes, os.PathLike)):
            yield os.path.realpath(os.path.join(folder, os.fsdecode(path)))


def opened(folders: tuple[Any, ...]) -> str:
    """The path of an open folder that names are looked up in; empty for none."""
    for folder in folders[:1]:
        if isinstance(folder, int) and folder >= 0:
            try:
                return os.readlink(f"/proc/self/fd/{folder}")
            except OSError:
                return os.sep  # it cannot be told, and so is not its own
    return ""


def allowed(path: str, home: str) -> bool:
    """Whether an exercise may write here: its folder, nothing, or compiled code."""
    cache = path.startswith(PACKAGE + os.sep) and "__pycache__" in path
    return f"{path}{os.sep}".startswith(home) or path == os.devnull or cache


@contextmanager
def tool() -> Iterator[None]:
    """Let the grader start a process of its own, such as a C compiler."""
    _tool_at_work.append(True)
    try:
        yield
    finally:
        _tool_at_work.pop()
