"""The inside of the process an exercise runs in: limits, watchdog, tests, records.

The reader's code prints, loops, allocates and exits as it likes; what it says on
standard output is shown and never believed. Verdicts leave through a file descriptor
of their own, one JSON record a line, each with a token that only the runner knows.

Left out: this keeps mistakes from doing harm, not an attacker. Code that looks for
the descriptor and the token in its own process will find them.
"""

from __future__ import annotations

import faulthandler
import io
import json
import linecache
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, TracebackType
from typing import Any

from stacklib.grading import expect

try:
    import resource
except ImportError:  # not on Windows: the wall clock is the only limit there
    resource = None  # type: ignore[assignment]

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
CHANGE_EVENTS = ("os.remove", "os.rename", "os.truncate", "os.chmod", "os.link")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


# Whether the grader itself, not the exercise, is starting a process just now.
_tool_at_work: list[bool] = []


class Refused(RuntimeError):
    """Something an exercise may not do."""


def main() -> None:
    """Run the request that stands on standard input: entry of a fresh interpreter."""
    run(json.loads(sys.stdin.buffer.read()))


def run(request: dict[str, Any]) -> None:
    """Run one exercise and leave the process.

    The request holds ``source``, ``filename``, ``tests`` (names), ``timeout`` (s),
    ``memory`` (B), ``cwd``, ``protect`` (files and folders that may not change),
    ``report`` (the file of the records) and ``token``.
    """
    leave = os._exit
    os.setsid()
    silence(0)
    os.closerange(3, 1024)  # what a fork inherits is nothing to the exercise
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    report = os.open(request["report"], os.O_WRONLY | os.O_APPEND)
    os.chdir(request["cwd"])
    sys.stdout = sys.stderr = open_text(1)
    faulthandler.enable(report)  # a crash in C names its line too
    faulthandler.dump_traceback_later(request["timeout"], exit=True, file=report)
    limit(request["timeout"], request["memory"])
    guard(request["protect"])
    run_tests(request, sender(report, request["token"]))
    leave(0)


def run_tests(request: dict[str, Any], send: Callable[..., None]) -> None:
    """Load the file, then run each test; a record before and after."""
    filename = request["filename"]
    send(event="start", test="")
    module = sys.modules["exercise"] = ModuleType("exercise")
    module.__file__ = filename
    # gpu.launch reads a kernel's source: what runs here, which may not be what is saved
    lines = request["source"].splitlines(keepends=True)
    linecache.cache[filename] = (len(request["source"]), None, lines, filename)
    try:
        exec(compile(request["source"], filename, "exec"), module.__dict__)
    except BaseException as error:
        send(event="result", test="", **explain(error, request))
        return
    for name in request["tests"]:
        send(event="start", test=name)
        outcome = run_test(getattr(module, name), request)
        send(event="result", test=name, readings=expect.take_readings(), **outcome)
    send(event="end")


def run_test(test: Any, request: dict[str, Any]) -> dict[str, Any]:
    """State, message and line of one test."""
    try:
        test()
    except BaseException as error:
        return explain(error, request)
    return {"state": "pass", "message": "", "line": None}


def explain(error: BaseException, request: dict[str, Any]) -> dict[str, Any]:
    """What went wrong, where in the reader's file, and in which words."""
    raise_memory_limit()
    line = last_line(error.__traceback__, request["filename"])
    if isinstance(error, SyntaxError) and error.filename == request["filename"]:
        line = error.lineno
    if isinstance(error, expect.Mistake):
        return {"state": "fail", "message": str(error), "line": line}
    if isinstance(error, NotImplementedError):
        return {"state": "todo", "message": str(error) or "write it", "line": line}
    message = sentence(error, request)
    lines = request["source"].splitlines()
    if line and 0 < line <= len(lines) and (code := lines[line - 1].strip()):
        message += f"  [{code}]"
    return {"state": "error", "message": message, "line": line}


def sentence(error: BaseException, request: dict[str, Any]) -> str:
    """An exception as a reader needs it."""
    if isinstance(error, MemoryError):
        limit_text = f"{request['memory'] / 2**20:.0f} MiB"
        return f"out of memory: more than {limit_text} asked for"
    if isinstance(error, SystemExit):
        return "sys.exit ends Python before the tests have run; remove it"
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, EOFError):
        return "input() has nobody to ask here; take arguments instead"
    if isinstance(error, expect.ExpectationError):
        return f"the test itself is at fault: {error}"
    if isinstance(error, AssertionError) and not str(error):
        return "the assertion does not hold"
    text = traceback.format_exception_only(error)
    text = [t.strip() for t in text if not t.startswith("  File ")]
    if isinstance(error, SyntaxError):  # the line is shown once, by explain
        text = text[-1:]
    return "; ".join(t for t in text if t)[:2000]


def last_line(trace: TracebackType | None, filename: str) -> int | None:
    """The deepest line of a traceback that stands in the reader's file."""
    line = None
    while trace:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def sender(fd: int, token: str) -> Callable[..., None]:
    """A function that writes one record to the runner."""

    def send(**record: Any) -> None:
        data = json.dumps({"token": token, **record}).encode() + b"\n"
        while data:
            data = data[os.write(fd, data) :]

    return send


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


def guard(protect: list[str]) -> None:
    """Refuse other processes, os._exit, and any change of or in ``protect``."""
    places = tuple(os.path.realpath(place) + os.sep for place in protect)

    def within(path: Any) -> bool:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False
        real = os.path.realpath(os.fsdecode(path)) + os.sep
        return real.startswith(places)

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event in PROCESS_EVENTS and not _tool_at_work:
            raise Refused(
                f"{event}: an exercise is one process; start or stop no other"
            )
        writes = event == "open" and isinstance(args[2], int) and args[2] & WRITING
        if (writes or event in CHANGE_EVENTS) and any(map(within, args[:2])):
            raise Refused(f"{event} {args[0]}: an exercise changes no exercise file")

    def no_exit(status: int) -> None:
        raise Refused("os._exit ends Python before the tests have run; remove it")

    sys.addaudithook(audit)
    os._exit = no_exit  # type: ignore[assignment]


@contextmanager
def tool() -> Iterator[None]:
    """Let the grader start a process of its own, such as a C compiler."""
    _tool_at_work.append(True)
    try:
        yield
    finally:
        _tool_at_work.pop()


def open_text(fd: int) -> io.TextIOWrapper:
    """A text stream that holds nothing back when the process is stopped."""
    raw = os.fdopen(fd, "wb", 0, closefd=False)
    return io.TextIOWrapper(raw, "utf-8", "replace", write_through=True)


def silence(fd: int) -> None:
    """Point a descriptor at nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)
