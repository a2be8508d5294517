"""``stacklib doctor``: what is installed and what each piece is for."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import shutil
from typing import Any

from .arguments import add_json, columns, emit

PACKAGES = {
    "numpy": "simulators and kernels on the CPU",
    "numba": "the same, compiled; without it they are slower, not different",
    "pandas": "tables of the book",
    "matplotlib": "figures of the book",
    "torch": "reference kernels; real ones with a GPU",
    "triton": "GPU kernels",
    "jupyter-book": "building the book",
    "playwright": "opening the built book in a browser, in the tests",
}
PROGRAMS = {
    "gcc": "C intrinsics of chapter 1",
    "nvcc": "CUDA C++ to PTX to SASS",
    "nvidia-smi": "clocks, power and driver of an NVIDIA GPU",
    "nsys": "timeline of a program on an NVIDIA GPU",
    "ncu": "counters of one kernel on an NVIDIA GPU",
    "py-spy": "where a running Python program spends its time",
    "chromium": "browser tests",
}


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "doctor", help="what is installed here and what it is for"
    )
    add_json(parser)
    parser.set_defaults(func=run)


def _package(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not found"


def run(args: argparse.Namespace) -> int:
    """Print versions and paths; what is missing costs only what it is for."""
    from stacklib.hardware.this_machine import read_machine

    machine = read_machine()
    packages = {name: _package(name) for name in PACKAGES}
    programs = {name: shutil.which(name) or "not found" for name in PROGRAMS}
    if args.json:
        emit(
            {
                "python": platform.python_version(),
                "machine": machine.as_dict(),
                "packages": packages,
                "programs": programs,
            }
        )
        return 0
    print(f"Python {platform.python_version()} on {machine.text()}")
    rows = [(n, packages[n], PACKAGES[n]) for n in PACKAGES]
    rows += [(n, programs[n], PROGRAMS[n]) for n in PROGRAMS]
    print(columns(rows))
    print("Nothing here is needed to read the book; the core needs Python alone.")
    return 0
