"""Forked kernels are as new ones: nothing of one is in another, and none is left."""

import os
import re

import pytest
from _tools import durations, kernels
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory

pytestmark = pytest.mark.skipif(
    not kernels.POSSIBLE, reason="forked kernels: not run (this system forks unsafely)"
)
STATE = """
import numpy, os, random, sys
seen = [k for k in ("planted", "PLANTED") if k in {**globals(), **os.environ}]
planted, os.environ["PLANTED"] = 1, "1"
numpy.planted = getattr(numpy, "planted", 0) + 1
print([seen, numpy.planted, os.getcwd(), len(sys.argv), sys.path[:2]])
print(numpy.random.rand(), random.random(), os.getpid())
"""


@pytest.fixture(scope="module")
def forking():
    """Kernel managers of this process fork, by the servers that notebooks may use."""
    factory = KernelProvisionerFactory.instance()
    before = factory.default_provisioner_name
    kernels.pytest_configure()
    yield
    factory.default_provisioner_name = before
    if before != kernels.NAME:
        kernels.Provisioner.close()


class Running:
    """A kernel that runs code and gives what it prints."""

    def __init__(self, folder) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder))
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=600)

    def run(self, code: str) -> list[str]:
        out = []

        def hook(message):
            content = message["content"]
            out.extend(content.get("text", content.get("evalue", "")).splitlines())

        self.client.execute_interactive(code, output_hook=hook, timeout=600)
        return out

    def end(self) -> int:
        """Its number, once it is gone."""
        number = self.manager.provisioner.pid
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        return number


def test_a_kernel_has_its_folder_its_chance_and_nothing_of_the_one_before(
    forking, tmp_path
):
    states, draws = [], []
    before = durations.unwaited
    for _ in range(2):
        kernel = Running(tmp_path)
        state, drawn = kernel.run(STATE)
        states.append(state)
        draws += drawn.split()
        number = kernel.end()
        assert number == int(drawn.split()[-1])  # the kernel itself, not its parent
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
    assert states[0] == states[1]
    assert states[0].startswith(f"[[], 1, '{tmp_path}', 4, ")
    assert "_tools" not in states[0].split("[")[-1]
    assert len({*draws}) == 6
    assert durations.unwaited - before > 0.1  # what the two have cost is counted


def test_a_loop_that_never_ends_is_stopped_and_the_kernel_goes_on(forking, tmp_path):
    kernel = Running(tmp_path)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_CPU, ({0}, -1))"
    kernel.run(
        f"import time; used = int(time.process_time())\n{limit.format('used + 1')}"
    )
    told = kernel.run("while True: pass")
    assert "CPU seconds" in "".join(told)
    kernel.run(limit.format(10_000))
    assert kernel.run("print(1 + 1)") == ["2"]
    kernel.end()


def test_another_environment_has_another_server(forking, tmp_path, monkeypatch):
    asked = "import os\nprint(os.environ.get('OMP_NUM_THREADS'), os.getppid())"
    usual, known = Running(tmp_path), dict(kernels.Provisioner.servers)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    # A server whose tree has no notebooks imports little, which is quick.
    bare = tmp_path / "book" / "_tools" / kernels.SERVER.name
    bare.parent.mkdir(parents=True)
    text = kernels.SERVER.read_text()
    bare.write_text(re.sub(r"(?s)WARM = .*?\n\)", "WARM = ('numpy',)", text))
    monkeypatch.setattr(kernels, "SERVER", bare)
    other = Running(tmp_path)
    told = [kernel.run(asked)[0].split() for kernel in (usual, other)]
    threads, parents = zip(*told, strict=True)
    assert threads[0] != threads[1] == "3" and parents[0] != parents[1]
    servers = kernels.Provisioner.servers
    last = {env: servers.pop(env) for env in set(servers) - set(known)}
    monkeypatch.setattr(kernels.Provisioner, "servers", last)
    kernels.Provisioner.close()  # servers take their kernels with them
    with pytest.raises(ProcessLookupError):
        os.kill(other.manager.provisioner.pid, 0)
    usual.end()
