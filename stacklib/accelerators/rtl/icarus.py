"""The array's Verilog in Icarus, a second simulator, driven by cocotb."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .feed import Cycle, Matrix, feed, shape
from .tools import ToolError

BENCH = "stacklib.accelerators.rtl.bench_cocotb"


def missing() -> list[str]:
    """What a run in Icarus needs and this machine does not have."""
    programs = [name for name in ("iverilog", "vvp") if not shutil.which(name)]
    return programs + ([] if importlib.util.find_spec("cocotb") else ["cocotb"])


def simulated(verilog: str, job: object, bench: str) -> Any:
    """What a test bench tells of a job, run inside Icarus.

    - ``verilog``: its top named ``top``.
    - ``bench``: the module with the test bench, which reads and writes JSON.
    """
    if absent := missing():
        raise ToolError(f"Icarus: {', '.join(absent)} missing; see `make hdl`")
    from . import runner_cocotb

    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "top.v").write_text(verilog, "utf-8")
        (folder / "job.json").write_text(json.dumps(job), "utf-8")
        runner_cocotb.simulate(folder, bench)
        return json.loads((folder / "told.json").read_text("utf-8"))


def by_icarus(
    verilog: str, products: Sequence[tuple[Matrix, Matrix]], bits: int = 8
) -> list[list[Cycle]]:
    """Products of one size on the Verilog of an array, cycle by cycle."""
    rows, _, cols = shape(*products[0], bits)
    fed = [list(feed(a, b, bits)) for a, b in products]
    told = simulated(verilog, {"rows": rows, "cols": cols, "products": fed}, BENCH)

    def grid(flat: list[int]) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(flat[r * cols : (r + 1) * cols]) for r in range(rows))

    return [
        [Cycle(t, *(grid(flat) for flat in cycle)) for t, cycle in enumerate(product)]
        for product in told
    ]
