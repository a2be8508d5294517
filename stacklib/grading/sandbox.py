"""The inside of the process an exercise runs in: watchdog, tests, records.

The reader's code prints, loops, allocates and exits as it likes; what it says on
standard output is shown and never believed. Verdicts leave through a file descriptor
of their own, one JSON record a line, each with a token that only the runner knows.
The answer and the book's tests run in one process and in two namespaces: neither
overwrites a name of the other's, and an answer cannot call what the tests compare with.

Left out: this keeps mistakes from doing harm, not an attacker. Code that looks for
the descriptor and the token in its own process will find them, and what is written in
C writes and connects unseen.
"""

from __future__ import annotations

import faulthandler
import io
import json
import linecache
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from stacklib.grading import expect
from stacklib.grading.guards import Refused, guard, limit, raise_memory_limit

# What a test raises that is given another kind of thing than it asked for.
KINDS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
OF_ANOTHER_KIND = "{} is of another kind than the docstring asks for"
OVERTIME = 75  # exit status of a process that took too long, without signals
TIMED = {OVERTIME} | {-getattr(signal, n, 0) for n in ("SIGPROF", "SIGXCPU")} - {0}
NEEDS_NUMPY = "NumPy is not installed, and this exercise needs it: pip install numpy"


def main() -> None:
    """Run the request that stands on standard input: entry of a fresh interpreter."""
    run(json.loads(sys.stdin.buffer.read()))


def run(request: dict[str, Any]) -> None:
    """Run one exercise and leave the process.

    The request holds ``source`` (the reader's file) and ``answer`` (its text above the
    tests), ``filename``, ``book`` (the book's text without its answer), ``book_name``,
    ``tests`` (names, and where they begin in the reader's file), ``timeout`` (s of
    processor time), ``patience`` (s on the clock), ``memory`` (B), ``cwd``, ``report``
    (the file of the records) and ``token``.
    """
    leave = os._exit
    silence(0)
    os.closerange(3, 1024)  # what a fork inherits is nothing to the exercise
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    report = os.open(request["report"], os.O_WRONLY | os.O_APPEND)
    os.chdir(request["cwd"])
    tempfile.tempdir = request["cwd"]
    sys.stdout = sys.stderr = open_text(1)
    faulthandler.enable(report)  # a crash in C names its line too
    watchdogs(request["timeout"], request["patience"], report)
    limit(request["timeout"], request["memory"])
    guard(os.getcwd())
    run_tests(request, sender(report, request["token"]))
    leave(0)


def watchdogs(seconds: float, patience: float, report: int) -> None:
    """End this process after so many seconds of the processor, or of patience on the
    clock for one that only waits; its stack goes into the report.
    """
    faulthandler.dump_traceback_later(patience, exit=True, file=report)
    if hasattr(signal, "setitimer"):
        faulthandler.register(signal.SIGPROF, report, all_threads=False, chain=True)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        return
    leave, end = os._exit, time.process_time() + seconds

    def look() -> None:  # C code that lets no other thread run is left to the clock
        while time.process_time() < end:
            time.sleep(0.05)
        faulthandler.dump_traceback(report)
        leave(OVERTIME)

    threading.Thread(target=look, daemon=True).start()


def run_tests(request: dict[str, Any], send: Callable[..., None]) -> None:
    """Load the answer, then run each of the book's tests; a record before and after."""
    filename = request["filename"]
    send(event="start", test="")
    module = sys.modules["exercise"] = ModuleType("exercise")
    module.__file__ = filename
    # gpu.launch reads a kernel's source: what runs here, which may not be what is saved
    lines = request["source"].splitlines(keepends=True)
    linecache.cache[filename] = (len(request["source"]), None, lines, filename)
    try:
        exec(compile(request["answer"], filename, "exec"), module.__dict__)
        tests = dict(module.__dict__)
        exec(compiled(request["book"], request["book_name"]), tests)
    except BaseException as error:
        send(event="result", test="", **explain(error, request, ""))
        return
    for name in request["tests"]:
        send(event="start", test=name)
        outcome = run_test(tests, name, request)
        send(event="result", test=name, readings=expect.take_readings(), **outcome)
    send(event="end")


@lru_cache(maxsize=1)  # a fork finds what its parent has rehearsed
def compiled(source: str, name: str) -> CodeType:
    """The book's tests."""
    return compile(source, name, "exec")


def run_test(
    tests: dict[str, Any], name: str, request: dict[str, Any]
) -> dict[str, Any]:
    """State, message and line of one test."""
    try:
        tests[name]()
    except BaseException as error:
        if isinstance(error, NameError) and error.name in tests:
            error.add_note(f"{error.name} belongs to the tests, not to your answer")
        told = explain(error, request, name)
        if told["message"] == OF_ANOTHER_KIND:
            given = last_given(tests, name, request["filename"])
            told["message"] = OF_ANOTHER_KIND.format(given)
        return told
    return {"state": "pass", "message": "", "line": None}


def last_given(tests: dict[str, Any], name: str, filename: str) -> str:
    """The call of the answer that a test broke behind and what it gave, found by
    running the test once more.
    """
    seen = ["what came back"]

    def watch(frame: FrameType, event: str, value: object) -> None:
        code = frame.f_code
        if event == "return" and code.co_filename == filename and code.co_name in tests:
            seen[0] = f"{code.co_name}: {expect.clip(value)}"

    sys.setprofile(watch)
    try:
        tests[name]()
    except BaseException:  # as before
        pass
    finally:
        sys.setprofile(None)
    return seen[0]


def explain(error: BaseException, request: dict[str, Any], test: str) -> dict[str, Any]:
    """What went wrong, where in the reader's file, and in which words."""
    raise_memory_limit()
    line = last_line(error.__traceback__, request["filename"])
    if isinstance(error, SyntaxError) and error.filename == request["filename"]:
        line = error.lineno
    in_answer, line = line is not None, line or request["tests"].get(test)
    if isinstance(error, expect.Mistake):
        return {"state": "fail", "message": str(error), "line": line}
    if isinstance(error, NotImplementedError):
        return {"state": "todo", "message": str(error) or "write it", "line": line}
    if test and not in_answer and isinstance(error, KINDS):
        # The book's own test broke on it: its innards say nothing to the reader.
        return {"state": "fail", "message": OF_ANOTHER_KIND, "line": line}
    message = sentence(error, request)
    lines = request["source"].splitlines() if in_answer else ()
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
    if isinstance(error, ModuleNotFoundError) and error.name == "numpy":
        return NEEDS_NUMPY
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


def open_text(fd: int) -> io.TextIOWrapper:
    """A text stream that holds nothing back when the process is stopped."""
    raw = os.fdopen(fd, "wb", 0, closefd=False)
    return io.TextIOWrapper(raw, "utf-8", "replace", write_through=True)


def silence(fd: int) -> None:
    """Point a descriptor at nothing."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd)
    os.close(null)
