"""Stages as processes over sockets: one loss, and an end when a stage dies."""

import importlib.util
import json
import sys

import pytest

from stacklib.interconnect.sharding.processes import run_ranks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("torch") is None, reason="torch is not installed"
    ),
]


@pytest.mark.parametrize(
    ("schedule", "chunks"), [("gpipe", 1), ("1f1b", 2), ("zb-h1", 1)]
)
def test_two_stages_equal_one_and_end_when_a_stage_dies(schedule, chunks, tmp_path):
    case = {"microbatches": 4, "sequences": 1, "tokens": 32, "steps": 2}
    file = tmp_path / "case.json"
    module = "stacklib.interconnect.sharding.stage_worker_torch"
    program = [sys.executable, "-m", module, str(file)]

    def run(stages: int, **more: object) -> list[dict]:
        shape = {"stages": stages, "length": 5000}
        file.write_text(json.dumps(case | shape | more))
        return run_ranks(program, stages, limit_s=100)

    (one,) = run(1, schedule="turns", chunks=2)
    both = run(2, schedule=schedule, chunks=chunks)
    for step in range(2):
        loss = sum(rank["losses"][step] for rank in both)
        assert loss == pytest.approx(one["losses"][step], rel=1e-6)
    square = sum(rank["square"] for rank in both)
    assert square == pytest.approx(one["square"], rel=1e-5)
    with pytest.raises(RuntimeError, match=r"rank \d ended"):
        run(2, schedule=schedule, chunks=chunks, dies=1)
