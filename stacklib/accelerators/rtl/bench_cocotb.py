"""The test bench that runs inside Icarus: edges in, operands and sums out, by cycle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def products(dut: Any) -> None:
    """Every product of ``job.json``, one after another."""
    job = json.loads(Path("job.json").read_text("utf-8"))
    places = [(r, c) for r in range(job["rows"]) for c in range(job["cols"])]
    inside = [getattr(dut, f"pe{r}_{c}") for r, c in places]
    shown = [[getattr(pe, w) for pe in inside] for w in ("a_in", "b_in")]
    sums = [getattr(dut, f"c{r}_{c}") for r, c in places]

    def values(signals: list[Any]) -> list[int]:
        return [signal.value.to_signed() for signal in signals]

    async def cycle() -> list[list[int]]:
        dut.clk.value = 0
        await Timer(1, "ns")
        operands = [values(signals) for signals in shown]
        dut.clk.value = 1
        await Timer(1, "ns")
        return [*operands, values(sums)]

    for name in job["products"][0][0]:
        getattr(dut, name).value = 0
    dut.rst.value = 1
    await cycle()
    dut.rst.value = 0
    told: list[Any] = []
    for edges in job["products"]:
        dut.clear.value = 1
        await cycle()
        dut.clear.value = 0
        told.append([])
        for edge in edges:
            for name, value in edge.items():
                getattr(dut, name).value = value
            told[-1].append(await cycle())
    Path("told.json").write_text(json.dumps(told), "utf-8")
