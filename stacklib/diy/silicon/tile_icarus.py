"""The tile's Verilog in Icarus, a second simulator, its pins driven by cocotb."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from stacklib.accelerators.rtl.icarus import missing
from stacklib.accelerators.rtl.tools import ToolError

BENCH = "stacklib.diy.silicon.tile_bench_cocotb"


def by_icarus(verilog: str, scripts: Sequence[Sequence[int]]) -> list[list[int]]:
    """What ``uo_out`` shows in every cycle of every script.

    - ``verilog``: of a tile, its top named ``top``.
    """
    if absent := missing():
        raise ToolError(f"Icarus: {', '.join(absent)} missing; see `make hdl`")
    from stacklib.accelerators.rtl import runner_cocotb

    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "top.v").write_text(verilog, "utf-8")
        (folder / "job.json").write_text(json.dumps([list(s) for s in scripts]))
        runner_cocotb.simulate(folder, BENCH)
        told: list[list[int]] = json.loads((folder / "told.json").read_text("utf-8"))
    return told
