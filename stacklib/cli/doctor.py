"""``stacklib doctor``: what is installed, what for, and how to get the rest."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import shutil
from dataclasses import dataclass
from typing import Any

from .arguments import add_formats, as_table, columns, emit, show_table

MISSING = "not found"


@dataclass(frozen=True)
class Piece:
    """A package or a program: other names it goes by, its use, how to get it."""

    name: str
    use: str
    get: str
    names: tuple[str, ...] = ()
    chapter: str = ""

    @property
    def purpose(self) -> str:
        """Its use, with the chapters that need it."""
        return f"{self.use} (chapter {self.chapter})" if self.chapter else self.use


CUDA = "with NVIDIA's CUDA toolkit, https://developer.nvidia.com/cuda-downloads"
BOOK = "make book"
PACKAGES = (
    Piece("numpy", "simulators and kernels on the CPU", "pip install numpy"),
    Piece(
        "numba",
        "the same, compiled; without it they are slower, not different",
        "pip install numba",
    ),
    Piece("pandas", "tables of the book", BOOK),
    Piece("matplotlib", "figures of the book", BOOK),
    Piece(
        "torch",
        "reference kernels; real ones with a GPU; its profiler writes timelines",
        "https://pytorch.org, the build for your card",
        chapter="4",
    ),
    Piece(
        "triton",
        "GPU kernels; without a GPU set TRITON_INTERPRET=1",
        "comes with torch for CUDA; else pip install triton",
        chapter="4",
    ),
    Piece("jupyter-book", "building the book", BOOK),
    Piece(
        "playwright", "opening the built book in a browser, in the tests", "make test"
    ),
)
PROGRAMS = (
    Piece(
        "gcc",
        "C compiler, for intrinsics and the exercises in C",
        "apt install gcc; brew install gcc; or clang",
        ("gcc", "cc", "clang"),
        "1",
    ),
    Piece(
        "g++",
        "C++ compiler, for torch.compile on the CPU",
        "apt install g++; or clang++",
        ("g++", "c++", "clang++"),
        "4",
    ),
    Piece("nvcc", "CUDA C++ to PTX to SASS", CUDA, chapter="2, 4"),
    Piece(
        "nvidia-smi",
        "clocks, power, topology and driver of an NVIDIA GPU",
        "with NVIDIA's driver",
        chapter="2, 6",
    ),
    Piece(
        "nsys",
        "timeline of a program on an NVIDIA GPU: where it waits",
        "Nsight Systems, with the CUDA toolkit or from NVIDIA's site",
        chapter="1, 4",
    ),
    Piece(
        "ncu",
        "counters of one kernel on an NVIDIA GPU: bytes, stalls, conflicts",
        "Nsight Compute, with the CUDA toolkit or from NVIDIA's site",
        chapter="2, 3, 4",
    ),
    Piece(
        "rocminfo",
        "what an AMD GPU says of itself",
        "with ROCm, https://rocm.docs.amd.com",
        chapter="5",
    ),
    Piece(
        "py-spy",
        "where a running Python program spends its time",
        "pip install py-spy",
        chapter="1, 8",
    ),
    Piece(
        "chromium",
        "browser tests",
        "apt install chromium; or set CHROMIUM to a Chrome",
        ("chromium", "chromium-browser", "google-chrome", "chrome"),
    ),
)


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser = subparsers.add_parser("doctor")
    add_formats(parser)
    parser.set_defaults(func=run)


def _package(piece: Piece) -> str:
    try:
        return importlib.metadata.version(piece.name)
    except importlib.metadata.PackageNotFoundError:
        return MISSING


def _program(piece: Piece) -> str:
    """Path of the first of its names that is on the search path."""
    found = filter(None, map(shutil.which, piece.names or (piece.name,)))
    return next(found, MISSING)


def cuda() -> str:
    """Whether GPU code can run here, told from names and versions: torch is slow to
    import, and this must not be.
    """
    if not shutil.which("nvidia-smi"):
        return "no NVIDIA driver: GPU parts run as models and in interpreters"
    version = _package(next(piece for piece in PACKAGES if piece.name == "torch"))
    if version == MISSING:
        return "an NVIDIA driver, and no torch to use it"
    if version.endswith("+cpu"):
        return f"an NVIDIA driver, and torch {version} built without CUDA"
    return f"an NVIDIA driver and torch {version}"


def run(args: argparse.Namespace) -> int:
    """Print versions and paths; what is missing costs only what it is for."""
    from stacklib.hardware.this_machine import read_machine

    machine = read_machine()
    packages = {piece.name: _package(piece) for piece in PACKAGES}
    programs = {piece.name: _program(piece) for piece in PROGRAMS}
    found = {**packages, **programs}
    pieces = (*PACKAGES, *PROGRAMS)
    missing = [piece for piece in pieces if found[piece.name] == MISSING]
    if args.json:
        emit(
            {
                "python": platform.python_version(),
                "machine": machine.as_dict(),
                "cuda": cuda(),
                "packages": packages,
                "programs": programs,
                "purpose": {piece.name: piece.purpose for piece in pieces},
                "missing": {piece.name: piece.get for piece in missing},
            }
        )
        return 0
    rows = [(p.name, found[p.name], p.purpose) for p in pieces]
    if as_table(args):
        show_table(args, ("piece", "found", "use"), rows)
        return 0
    print(f"Python {platform.python_version()} on {machine.text()}")
    print(f"GPU: {cuda()}")
    print(columns(rows))
    if missing:
        print("\nTo get what is missing:")
        print(columns([(f"  {piece.name}", piece.get) for piece in missing]))
    print("\nNothing here is needed to read the book; the core needs Python alone.")
    return 0
