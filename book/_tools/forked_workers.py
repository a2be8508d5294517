"""Tests in forked processes, one a core, which run what one process has collected.

A plugin (`-p _tools.forked_workers --workers 2`). xdist starts workers anew, and each
reads and imports every test file: for all of them a third of a minute of a processor.
A fork has read them. A file stays with one worker, as its fixtures and its kernel do;
reports, warnings and counted seconds come back over a pipe. To other plugins a fork is
what a worker of xdist is: its configuration has `workerinput`.
"""

import os
import signal
import struct
import sys
import warnings
from collections.abc import Iterator
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import SimpleNamespace
from typing import Any

import pytest

from _tools import durations, progress

# Forking a process that has loaded the system's frameworks is unsafe on macOS.
POSSIBLE = sys.platform == "linux"
PLACE = struct.Struct("<I")
BUILTIN = int.__module__
# Plugins that show or keep what all workers tell.
SHOWING = ("terminalreporter", "lfplugin", "nfplugin", "stepwiseplugin")
Files = list[list[pytest.Item]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """How many."""
    said = "fork so many processes to run tests in"
    parser.addoption("--workers", metavar="N", type=int, default=1, help=said)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run what was collected in forks; None where pytest is to do so itself."""
    count = session.config.getoption("--workers")
    if count < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    files = [list(items) for _, items in groupby(session.items, lambda i: i.path)]
    workers = {worker.pipe: worker for worker in started(session, files, count)}
    try:
        while workers:
            for pipe in wait(list(workers)):
                if not workers[pipe].deliver(session):
                    workers.pop(pipe).end()
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
    finally:
        for worker in workers.values():
            os.kill(worker.pid, signal.SIGKILL)
            worker.end()
    return True


def started(session: pytest.Session, files: Files, count: int) -> list["Worker"]:
    """The workers; each takes the place of its next file from a pipe of all."""
    taking, listing = os.pipe()
    workers = []
    for _ in range(min(count, len(files))):
        ours, theirs = Pipe(duplex=False)
        if not (pid := os.fork()):
            os.close(listing)
            for pipe in (ours, *(worker.pipe for worker in workers)):
                pipe.close()
            become(session, theirs, chosen(taking, files))
        theirs.close()
        workers.append(Worker(pid, ours))
    os.close(taking)
    with open(listing, "wb") as places:
        for place in range(len(files)):
            places.write(PLACE.pack(place))
    return workers


class Worker:
    """A forked worker, seen by the process that collected."""

    def __init__(self, pid: int, pipe: Connection) -> None:
        self.pid, self.pipe = pid, pipe
        self.test = "no test"  # the one it has begun

    def deliver(self, session: pytest.Session) -> bool:
        """Do what its next message says; False after the last."""
        hook = session.config.hook
        try:
            kind, said = self.pipe.recv()
        except EOFError:
            session.shouldfail = f"a worker ended in {self.test}"
            return False
        if kind == "report":
            report = hook.pytest_report_from_serializable(
                config=session.config, data=said
            )
            hook.pytest_runtest_logreport(report=report)
        elif kind == "warning":
            hook.pytest_warning_recorded.call_historic(kwargs=said)
        elif kind == "test":
            self.test = said
        else:
            durations.pytest_testnodedown(SimpleNamespace(workeroutput=said))
        return kind != "end"

    def end(self) -> None:
        """Wait, so that its seconds count."""
        self.pipe.close()
        os.waitpid(self.pid, 0)


class Sender:
    """A plugin of a fork, which tells the process that collected."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self.config, self.pipe = config, pipe

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Should it be the last that is heard."""
        self.pipe.send(("test", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of setup, call, teardown or a part of a test."""
        hook = self.config.hook.pytest_report_to_serializable
        self.pipe.send(("report", hook(config=self.config, report=report)))

    def pytest_warning_recorded(
        self, warning_message: Any, when: str, nodeid: str, location: Any
    ) -> None:
        """As a kind of Python's own: one that a test has made cannot be sent."""
        kinds = (k for k in warning_message.category.__mro__ if k.__module__ == BUILTIN)
        kind, text = next(kinds), str(warning_message.message)
        place = (warning_message.filename, warning_message.lineno)
        sent = warnings.WarningMessage(text, kind, *place)
        said = {"warning_message": sent, "when": when, "nodeid": nodeid}
        self.pipe.send(("warning", {**said, "location": location}))


def become(session: pytest.Session, pipe: Connection, files: Iterator[Any]) -> None:
    """In the fork: a worker, to its end. Never returns."""
    code = 1
    try:
        config: Any = session.config
        config.workerinput, config.workeroutput = {}, {}
        durations.seconds.clear()
        # A process that a test spawns would import what this one was started with.
        main: Any = sys.modules["__main__"]
        main.__spec__ = None
        vars(main).pop("__file__", None)
        plugins = config.pluginmanager
        for name, plugin in plugins.list_name_plugin():
            if name in SHOWING or isinstance(plugin, progress.Progress):
                plugins.unregister(plugin)
        capture = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()  # its file is the first process's too
        capture.start_global_capturing()
        capture.suspend_global_capture()
        plugins.register(Sender(config, pipe))
        for item, following in files:
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        config.hook.pytest_sessionfinish(session=session, exitstatus=0)
        config._ensure_unconfigure()
        pipe.send(("end", config.workeroutput))
        code = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(code)


def chosen(taking: int, files: Files) -> Iterator[tuple[Any, Any]]:
    """Each test with what is needed after it: the next of its file, or the session."""
    while place := os.read(taking, PLACE.size):
        items = files[PLACE.unpack(place)[0]]
        yield from zip(items, [*items[1:], items[0].session], strict=True)
