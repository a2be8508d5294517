"""Icarus started by cocotb's runner, with the test bench beside it."""

from __future__ import annotations

from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

from .tools import ToolError


def simulate(folder: Path) -> None:
    """Run ``top.v`` of a folder on its ``job.json``; writes ``told.json``."""
    runner = get_runner("icarus")
    runner.build(
        sources=[folder / "top.v"],
        hdl_toplevel="top",
        build_dir=folder / "build",
        log_file=folder / "build.log",
        timescale=("1ns", "1ps"),
    )
    results = runner.test(
        test_module="stacklib.accelerators.rtl.bench_cocotb",
        hdl_toplevel="top",
        build_dir=folder / "build",
        test_dir=folder,
        log_file=folder / "test.log",
        # Or its rewriting of assertions would load the package another way.
        extra_env={"COCOTB_REWRITE_ASSERTION_FILES": ""},
    )
    ran, failed = get_results(results) if results.exists() else (0, 1)
    if failed or not ran:
        raise ToolError((folder / "test.log").read_text("utf-8")[-2000:])
