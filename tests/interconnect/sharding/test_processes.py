"""Processes that belong together: what they print, and what is left when one dies."""

import importlib.util
import json
import os
import sys

import pytest

from stacklib.interconnect.sharding.processes import run_ranks


def _program(body: str) -> list[str]:
    return [sys.executable, "-S", "-c", f"import os, sys, time\n{body}"]


def test_each_rank_prints_its_line():
    told = run_ranks(_program("print(list(map(int, sys.argv[1:3])))"), 2, limit_s=20)
    assert told == [[0, 2], [1, 2]]


def test_a_rank_that_dies_is_named_and_none_is_left(tmp_path):
    note = f"open({str(tmp_path)!r} + '/' + sys.argv[1], 'w').write(str(os.getpid()))"
    body = f"{note}\nif sys.argv[1] == '1': os._exit(9)\ntime.sleep(60)"
    # Not by the limit, which would be told as ranks that are late.
    with pytest.raises(RuntimeError, match="rank 1 ended with 9"):
        run_ranks(_program(body), 2, limit_s=30)
    for file in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)


def test_those_that_are_late_are_named():
    body = "time.sleep(60 * int(sys.argv[1]))\nprint(0)"
    with pytest.raises(TimeoutError, match=r"ranks \[1\]"):
        run_ranks(_program(body), 2, limit_s=6)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)
@pytest.mark.parametrize("kind", ["ddp", "fsdp", "tensor", "ours"])
def test_a_training_run_equals_one_process_and_ends_when_a_peer_dies(kind, tmp_path):
    case = {"kind": "alone", "steps": 3, "batch": 4, "tokens": 32, "rate": 1e-3}
    file = tmp_path / "case.json"
    module = "stacklib.interconnect.sharding.worker_torch"
    program = [sys.executable, "-m", module, str(file)]

    def run(world: int, **more: object) -> list[dict]:
        file.write_text(json.dumps(case | {"length": 5000} | more))
        return run_ranks(program, world, limit_s=600)

    (one,) = run(1)
    many = run(2, kind=kind)
    for rank in many:
        assert rank["losses"] == pytest.approx(one["losses"], rel=1e-5)
    with pytest.raises(RuntimeError, match=r"rank \d ended"):
        run(2, kind=kind, dies=1)
