"""Estimated registers and shared memory beside what Triton and ``ptxas`` gave.

``compiled.csv`` holds what Triton 3.7.1 made of programs of the corpus for five
generations (`compile_triton`). Scratch of sums and transposes, 1 KiB at most here, is
left out of the estimate, as are the barriers of Blackwell's loads.
"""

import csv
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import corpus  # noqa: E402
import sizes  # noqa: E402

from stacklib import gpu  # noqa: E402

with open(HERE / "compiled.csv") as file:
    ROWS = list(csv.DictReader(file))
SPILLED = 64  # bytes of a thread; fewer are no matter of the tiles
ODD = ("matmul_grouped", "BLOCK_M=128 BLOCK_N=128 BLOCK_K=32", "8", "2")  # two buffers


def estimated(row):
    case = sizes.case_of(row)
    try:
        report = gpu.launch_tiles(
            getattr(corpus, case.program),
            case.grid,
            *case.args,
            device=sizes.DEVICES[row["capability"]],
            num_warps=int(row["warps"]),
            num_stages=int(row["stages"]),
            check=False,
            **case.words,
        ).report
    except ValueError as wrong:  # more than a unit has
        assert "B of shared memory >" in str(wrong)
        return None
    return report


def odd(row):
    name, blocks, warps, stages = ODD
    own = (row["program"], row["sizes"][: len(blocks)], row["warps"], row["stages"])
    return own == (name, blocks, warps, stages) and row["capability"] in "80 89 120"


def held(rows):
    """Compare rows; the ratios of registers where nothing spilled."""
    ratios = []
    for row in rows:
        report = estimated(row)
        if report is None:
            continue
        asked = int(row["shared"])
        assert odd(row) or abs(report.shared_bytes - asked) <= 1024, row
        if int(row["spill"]) > SPILLED:
            assert report.registers >= 200, row
        else:
            ratios.append(report.registers / int(row["registers"]))
    return np.array(ratios)


def test_some_programs_as_compiled():
    ratios = held(ROWS[3::40])
    assert 0.8 <= np.median(ratios) <= 1.2


@pytest.mark.slow
def test_every_program_as_compiled():
    ratios = held(ROWS)
    assert 0.9 <= np.median(ratios) <= 1.1
    assert np.mean((ratios > 0.7) & (ratios < 1.5)) > 0.8


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed"
)
def test_the_table_is_what_triton_compiles(tmp_path):
    few, out = tmp_path / "few.csv", tmp_path / "out.csv"
    lines = (HERE / "compiled.csv").read_text().splitlines()
    few.write_text("\n".join([lines[0], *lines[2::40]]) + "\n")
    runner = [sys.executable, str(HERE / "compile_triton.py"), str(few), str(out)]
    done = subprocess.run(runner, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert out.read_text() == few.read_text()
