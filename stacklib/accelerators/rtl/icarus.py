"""The array's Verilog in Icarus, a second simulator, driven by cocotb."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .feed import Cycle, Matrix, feed, shape
from .tools import ToolError


def missing() -> list[str]:
    """What a run in Icarus needs and this machine does not have."""
    programs = [name for name in ("iverilog", "vvp") if not shutil.which(name)]
    return programs + ([] if importlib.util.find_spec("cocotb") else ["cocotb"])


def simulated(
    verilog: str,
    cycles: Sequence[Mapping[str, int]],
    before: Sequence[str],
    after: Sequence[str] = (),
) -> list[list[int]]:
    """Signals of every cycle: ``before`` the edge of its clock, then those ``after``.

    - ``verilog``: its top named ``top``, its clock ``clk``.
    - ``cycles``: inputs by their names; one that is not named stays as it is.
    """
    if absent := missing():
        raise ToolError(f"Icarus: {', '.join(absent)} missing; see `make hdl`")
    from . import runner_cocotb

    job = {"cycles": cycles, "before": before, "after": after}
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "top.v").write_text(verilog, "utf-8")
        (folder / "job.json").write_text(json.dumps(job), "utf-8")
        runner_cocotb.simulate(folder)
        told: list[list[int]] = json.loads((folder / "told.json").read_text("utf-8"))
    return told


def by_icarus(
    verilog: str, products: Sequence[tuple[Matrix, Matrix]], bits: int = 8
) -> list[list[Cycle]]:
    """Products of one size on the Verilog of an array, cycle by cycle."""
    rows, _, cols = shape(*products[0], bits)
    places = [f"{r}_{c}" for r in range(rows) for c in range(cols)]
    before = [f"pe{place}.{which}_in" for which in "ab" for place in places]
    fed = [list(feed(a, b, bits)) for a, b in products]
    cycles = [dict.fromkeys(fed[0][0], 0) | {"rst": 1}]
    for edges in fed:
        cycles += [{"rst": 0, "clear": 1}, *({"clear": 0} | edge for edge in edges)]
    told = iter(simulated(verilog, cycles, before, [f"c{at}" for at in places])[1:])

    def cycle(number: int) -> Cycle:
        flat = iter(next(told))
        grids = [
            [[next(flat) for _ in range(cols)] for _ in range(rows)] for _ in "abc"
        ]
        return Cycle(number, *(tuple(map(tuple, grid)) for grid in grids))

    # The first cycle of each product clears.
    return [[cycle(t) for t in range(-1, len(edges))][1:] for edges in fed]
