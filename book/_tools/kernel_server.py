"""A process that has imported what kernels need, and forks one for each request.

It is given the numbers of two sockets: clients come to one, and when the other ends, it
ends with all its kernels. See `_tools.kernels`.
"""

import contextlib
import gc
import importlib
import json
import os
import re
import resource
import runpy
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Used by many notebooks and slow to import; none starts a thread by it.
WARM = (
    "IPython.extensions.storemagic",
    "ipykernel.debugger",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "pandas",
    "psutil",
    "torch",
)
LIMIT = 300  # CPU seconds of a kernel: only a loop that never ends needs more
IMPORT = re.compile(r'"((?:from|import) stacklib[^"\\(]*)')


def warm() -> None:
    """Import what notebooks import, and read the devices that most of them list."""
    for module in WARM:
        importlib.import_module(module)
    texts = [path.read_text("utf-8") for path in ROOT.glob("chapters/*/*.ipynb")]
    for line in {line for text in texts for line in IMPORT.findall(text)}:
        with contextlib.suppress(ImportError):  # the notebook's own test will say so
            exec(line, {})
    hardware = importlib.import_module("stacklib.hardware")
    for name in hardware.names():
        hardware.get(name)


def serve(held: socket.socket, listening: socket.socket) -> None:
    """Fork a kernel for each request, tell of those that ended, until it is let go."""
    running: set[int] = set()
    clients: dict[socket.socket, Any] = {}
    while held not in (ready := select.select([held, listening, *clients], [], [])[0]):
        for channel in ready:
            if channel is listening:
                client, _ = listening.accept()
                clients[client] = client.makefile("rw")
            elif line := clients[channel].readline():
                reply = answer(json.loads(line), running, [held, listening, *clients])
                clients[channel].write(json.dumps(reply) + "\n")
                clients[channel].flush()
            else:
                clients.pop(channel).close()
                channel.close()
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def answer(
    asked: dict[str, Any], running: set[int], channels: list[socket.socket]
) -> dict[str, Any]:
    """The reply to one line; each is answered before its client sends the next."""
    if "poll" not in asked:
        running.add(pid := forked(asked, channels))
        return {"pid": pid}
    if reply := ended(asked["poll"]):
        running.discard(asked["poll"])
    return reply


def ended(pid: int) -> dict[str, float]:
    """Exit code and CPU seconds of a kernel; empty while it runs."""
    found, status, usage = os.wait4(pid, os.WNOHANG)
    if not found:
        return {}
    cost = usage.ru_utime + usage.ru_stime
    return {"code": os.waitstatus_to_exitcode(status), "cpu": cost}


def forked(asked: dict[str, Any], channels: list[socket.socket]) -> int:
    """A new kernel's number, once it leads a process group of its own."""
    ready, leads = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        for ours in (ready, leads, *(channel.fileno() for channel in channels)):
            os.close(ours)
        become(asked)
    os.close(leads)
    os.read(ready, 1)  # nothing comes: the other end is closed
    os.close(ready)
    return pid


def become(asked: dict[str, Any]) -> None:
    """In the fork: the kernel that the command would have started. Never returns."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGXCPU, too_long)
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, resource.RLIM_INFINITY))
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"], JPY_PARENT_PID=str(os.getppid()))
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 2) if asked["quiet"] else (0,):
            os.dup2(null, stream)
        # The standard library's generator is seeded anew by the fork, this one is not.
        sys.modules["numpy"].random.seed()
        module, *sys.argv[1:] = asked["command"]
        if not any("log" in argument for argument in sys.argv[1:]):
            sys.argv.append("--log-level=ERROR")  # or each warns of its plain sockets
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def too_long(*_: object) -> None:
    """The cell that runs fails, and says why."""
    raise TimeoutError(f"the notebook needs more than {LIMIT} CPU seconds")


if __name__ == "__main__":
    sys.path.pop(0)  # this file's folder: a kernel's path does not have it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client decides
    # As a kernel sets it before its first cell; read when matplotlib is imported.
    backend = os.environ.get("MPLBACKEND")
    os.environ["MPLBACKEND"] = backend or "module://matplotlib_inline.backend_inline"
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or its import warns
    warm()
    gc.freeze()  # so that a fork's collector copies no page of it
    gc.set_threshold(200_000, 50, 50)
    serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))
