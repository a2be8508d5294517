"""The suite's kernels, forked from a process that has imported what they need.

A plugin. A kernel started anew imports for over a second before its first cell, a
hundred times in a run. A fork holds what was imported and nothing that another notebook
has done. `make execute` and `make test-all` start every kernel anew, as a reader's
Jupyter does, so that no notebook lives by an import that was made for it.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from _tools import durations

SERVER = Path(__file__).with_name("kernel_server.py")
NAME = "forked"
# Differs from test to test, and is nothing that an import reads.
VOLATILE = {"PYTEST_CURRENT_TEST", "JPY_SESSION_NAME"}
# Forking a process that has loaded the system's frameworks is unsafe on macOS.
POSSIBLE = sys.platform == "linux"


class Server:
    """The warmed process of one environment, for this process and for its forks."""

    def __init__(self, env: dict[str, str]) -> None:
        self.owner = os.getpid()
        self.unwaited = 0.0  # CPU seconds of its kernels that have ended
        self.lines: dict[int, Any] = {}  # of each process that asks
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("")  # Linux finds a name
            listening.listen()
            self.address = listening.getsockname()
            ours, theirs = socket.socketpair()
            self.held = ours  # it ends with this end
            keep = [theirs.fileno(), listening.fileno()]
            command = [sys.executable, str(SERVER), *map(str, keep)]
            self.process = subprocess.Popen(
                command, env=env, cwd="/", pass_fds=keep, stdout=subprocess.DEVNULL
            )
            theirs.close()

    def ask(self, **asked: Any) -> dict[str, Any]:
        """One request and its reply."""
        if (mine := os.getpid()) not in self.lines:
            with socket.socket(socket.AF_UNIX) as asking:
                asking.connect(self.address)
                self.lines[mine] = asking.makefile("rw")  # keeps it open
        lines = self.lines[mine]
        lines.write(json.dumps(asked) + "\n")
        lines.flush()
        if not (told := lines.readline()):
            raise RuntimeError(f"{SERVER.name} has ended")
        return json.loads(told)

    def close(self) -> None:
        """End it with the kernels that still run; wait, so that all of them count."""
        if lines := self.lines.pop(os.getpid(), None):
            lines.close()
        self.held.close()
        if self.owner == os.getpid():
            self.process.wait()
            durations.unwaited -= self.unwaited


class Forked:
    """A forked kernel, used as `subprocess.Popen` is."""

    stdin = stdout = stderr = None

    def __init__(self, server: Server, **asked: Any) -> None:
        self.server = server
        self.pid: int = server.ask(**asked)["pid"]
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        if self.returncode is None and (told := self.server.ask(poll=self.pid)):
            self.returncode = told["code"]
            durations.unwaited += told["cpu"]
            self.server.unwaited += told["cpu"]
        return self.returncode

    def wait(self) -> int:
        """The exit code, once it has ended."""
        while (code := self.poll()) is None:
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        """Where its process group is gone already."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Provisioner(LocalProvisioner):
    """Has kernels of this very Python forked; starts others as ever."""

    servers: ClassVar[dict[frozenset[tuple[str, str]], Server]] = {}

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Fork in place of a start."""
        if cmd[:2] != [sys.executable, "-m"]:
            return await super().launch_kernel(cmd, **kwargs)
        cwd, env = str(kwargs.get("cwd") or Path.cwd()), kwargs["env"]
        server = self.serving(lasting(env))
        quiet = kwargs.get("stderr") is not None
        self.process = Forked(server, command=cmd[2:], cwd=cwd, env=env, quiet=quiet)
        self.pid = self.pgid = self.process.pid
        self.cwd = cwd
        return self.connection_info

    @classmethod
    def serving(cls, env: dict[str, str]) -> Server:
        """The server of an environment: imports have read it."""
        key = frozenset(env.items())
        if key not in cls.servers:
            cls.servers[key] = Server(env)
        return cls.servers[key]

    @classmethod
    def close(cls) -> None:
        """End the servers, which hand their seconds to this process as a child's."""
        while cls.servers:
            cls.servers.popitem()[1].close()


def pytest_configure() -> None:
    """From here on every kernel manager of this process forks."""
    if POSSIBLE:
        factory = KernelProvisionerFactory.instance()
        place = f"{__name__}:{Provisioner.__name__}"
        entry = EntryPoint(NAME, place, factory.GROUP_NAME)
        factory.provisioners[NAME] = entry
        factory.default_provisioner_name = NAME


def pytest_collection_finish(session: pytest.Session) -> None:
    """One server for all workers that this process is to fork."""
    workers = session.config.getoption("--workers", 1)
    if (
        POSSIBLE
        and workers > 1
        and any(i.path.suffix == ".ipynb" for i in session.items)
    ):
        Provisioner.serving(lasting(os.environ))


def lasting(env: Mapping[str, str]) -> dict[str, str]:
    """What does not differ from test to test."""
    return {name: value for name, value in env.items() if name not in VOLATILE}


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Before the total is printed."""
    Provisioner.close()
