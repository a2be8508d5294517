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
    for name in ("clk", "uio_in", "ui_in"):
        getattr(dut, name).value = 0
    dut.ena.value = 1
    for script in json.loads(Path("job.json").read_text("utf-8")):
        told.append([])
        dut.rst_n.value = 0
        for value in [0, *script]:
            dut.ui_in.value = value
            await Timer(1, "ns")
            told[-1].append(dut.uo_out.value.to_unsigned())
            assert not dut.uio_out.value.to_unsigned()
            assert not dut.uio_oe.value.to_unsigned()
            dut.clk.value = 1
            await Timer(1, "ns")
            dut.clk.value = 0
            dut.rst_n.value = 1
        told[-1].pop(0)
    Path("told.json").write_text(json.dumps(told), "utf-8")
