"""What NVIDIA's compiler made of the book's kernels, as recorded.

The record holds PTX and machine code of the sources in ``data/compiled``; it was made
by ``benchmarks/compile_record.py``. `recompiled` makes the same anew where the compiler
is installed, and `tests/gpu/code/test_compiled.py` holds one against the other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.quantity import resolve

from .ptx import Kernel, parse
from .sass import Sass, read
from .toolchain import KERNELS, to_cubin, to_ptx

PTX_FOR = ("80", "120")  # virtual architectures; machine code is made from the first
TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120")


@dataclass(frozen=True, slots=True)
class Compiled:
    """One kernel on its way through the compiler."""

    name: str  # of the kernel
    target: str  # such as ``sm_90``
    source: str  # CUDA C++
    ptx_text: str  # what ``nvcc`` wrote
    ptx: Kernel
    sass: Sass  # what ``ptxas`` made of it for this target
    registers: int  # a thread
    shared_bytes: int  # a block


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the assembler says to an instruction on one target."""

    accepted: bool  # whether it assembles
    text: str  # the machine instruction it became, or the refusal


@cache
def record() -> dict[str, Any]:
    """The record as it stands in the file."""
    found: dict[str, Any] = json.loads((KERNELS / "record.json").read_text("utf-8"))
    return found


def kernels() -> tuple[str, ...]:
    """Names of the kernels that are recorded."""
    return tuple(record()["kernels"])


@cache
def compiled(kernel: str, target: str = "sm_90") -> Compiled:
    """A kernel's source, PTX and machine code, as recorded.

    Parameters
    ----------
    kernel : str
        One of `kernels`.
    target : str
        One of ``TARGETS``.

    Raises
    ------
    UnknownName
        For another kernel or target.

    Examples
    --------
    >>> found = compiled("twice", "sm_90")
    >>> found.registers, len(found.ptx.code), len(found.sass.useful)
    (10, 18, 17)
    """
    name = resolve(kernel, record()["kernels"], "kernel")
    on = resolve(target, TARGETS, "target")
    kept = record()["kernels"][name]
    made = kept["sass"][on]
    text = ptx_text(name)
    return Compiled(
        name,
        on,
        source(name),
        text,
        parse(text),
        read(made["code"]),
        made["registers"],
        made["shared_bytes"],
    )


def source(kernel: str) -> str:
    """CUDA source of a kernel."""
    name = resolve(kernel, record()["kernels"], "kernel")
    return (KERNELS / f"{name}.cu").read_text(encoding="utf-8")


def ptx_text(kernel: str, capability: str = PTX_FOR[0]) -> str:
    """Recorded PTX of a kernel for a virtual architecture, ``80`` or ``120``."""
    name = resolve(kernel, record()["kernels"], "kernel")
    kept = record()["kernels"][name]["ptx"]
    return "\n".join(kept[resolve(capability, kept, "virtual architecture")]) + "\n"


def recompiled(kernel: str, target: str = "sm_90") -> tuple[str, list[tuple[int, int]]]:
    """PTX and machine code made now by the installed compiler."""
    name = resolve(kernel, record()["kernels"], "kernel")
    ptx = to_ptx(name, PTX_FOR[0])
    return ptx, list(to_cubin(ptx, resolve(target, TARGETS, "target")).words)


def probes() -> tuple[str, ...]:
    """PTX instructions whose acceptance by target is recorded."""
    return tuple(record()["probes"])


def accepted(instruction: str, target: str) -> Verdict:
    """What ``ptxas`` says to a PTX instruction on a target, as recorded.

    Parameters
    ----------
    instruction : str
        One of `probes`.
    target : str
        Such as ``sm_100a``: the letter opens instructions of this architecture alone.

    Raises
    ------
    UnknownName
        For another instruction or target.

    Examples
    --------
    >>> accepted("wgmma.mma_async", "sm_100a").accepted
    False
    """
    known = record()["probes"]
    found = known[resolve(instruction, known, "recorded instruction")]
    said = found[resolve(target, found, "recorded target")]
    return Verdict("became" in said, said.get("became") or said.get("refused", ""))
