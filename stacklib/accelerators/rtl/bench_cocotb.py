"""The test bench that runs inside Icarus: inputs from a list, signals by cycle."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def cycles(dut: Any) -> None:
    """Inputs of ``job.json``, and what stands before and after each edge of ``clk``."""
    job = json.loads(Path("job.json").read_text("utf-8"))
    before, after = (
        [reduce(getattr, name.split("."), dut) for name in job[when]]
        for when in ("before", "after")
    )
    told: list[list[int]] = []
    for inputs in job["cycles"]:
        for name, value in inputs.items():
            getattr(dut, name).value = value
        told.append([])
        for clock, signals in enumerate((before, after)):
            dut.clk.value = clock
            await Timer(1, "ns")
            told[-1] += [signal.value.to_signed() for signal in signals]
    Path("told.json").write_text(json.dumps(told), "utf-8")
