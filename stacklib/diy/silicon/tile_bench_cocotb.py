"""The tile's test bench inside Icarus: input pins from a list, output pins by cycle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def pins(dut: Any) -> None:
    """Every script of ``job.json`` after a reset; what ``uo_out`` showed is told."""
    told: list[list[int]] = []
    dut.ena.value, dut.uio_in.value, dut.clk.value = 1, 0, 0
    for script in json.loads(Path("job.json").read_text("utf-8")):
        shown = []
        for n, value in enumerate([0, *script]):
            dut.rst_n.value, dut.ui_in.value = int(n > 0), value
            await Timer(1, "ns")
            shown.append(dut.uo_out.value.to_unsigned())
            for other in (dut.uio_out, dut.uio_oe):
                assert not other.value.to_unsigned()
            dut.clk.value = 1
            await Timer(1, "ns")
            dut.clk.value = 0
        told.append(shown[1:])
    Path("told.json").write_text(json.dumps(told), "utf-8")
