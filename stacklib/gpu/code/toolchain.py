"""NVIDIA's compiler, where it is installed: CUDA to PTX, PTX to machine code.

``nvcc`` writes PTX, ``ptxas`` turns PTX into a cubin, an ELF file whose section
``.text.<kernel>`` holds the machine code; this module reads that section itself.
Nothing here is needed to read what was recorded (`compiled`).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

KERNELS = Path(__file__).parent / "data" / "compiled"


class CompileError(RuntimeError):
    """What the compiler said when it refused."""


@dataclass(frozen=True, slots=True)
class Cubin:
    """One kernel as ``ptxas`` left it."""

    words: tuple[tuple[int, int], ...]
    registers: int  # a thread, as ``ptxas -v`` says
    shared_bytes: int  # a block
    seconds: float  # wall time of the whole ``ptxas`` process
    own_seconds: float  # what it says it spent on the kernel itself
    data: bytes  # the ELF file


@cache
def version() -> str:
    """Version of ``nvcc`` and ``ptxas`` on the path, such as ``13.0.88``; or empty."""
    if not (shutil.which("nvcc") and shutil.which("ptxas")):
        return ""
    said = subprocess.run(["nvcc", "--version"], capture_output=True, text=True)
    found = re.search(r"V(\d+\.\d+\.\d+)", said.stdout)
    return found[1] if found else ""


def source_sha256(kernel: str, folder: Path = KERNELS) -> str:
    """SHA-256 of a kernel's CUDA source."""
    return hashlib.sha256((folder / f"{kernel}.cu").read_bytes()).hexdigest()


def to_ptx(kernel: str, capability: str, sources: Path = KERNELS) -> str:
    """PTX of one of our kernels, by ``nvcc``."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "k.ptx"
        _run(
            [
                "nvcc",
                f"-arch=compute_{capability}",
                "-lineinfo",
                "-ptx",
                str(sources / f"{kernel}.cu"),
                "-o",
                str(out),
            ]
        )
        text = out.read_text(encoding="utf-8")
    # folders differ from machine to machine, names of files do not
    return re.sub(r'(\.file\s+\d+ )"[^"]*/([^"/]+)".*', r'\1"\2"', text)


def to_cubin(ptx: str, target: str, lines: bool = True) -> Cubin:
    """Machine code of a PTX text with one kernel, by ``ptxas``."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "k.ptx", Path(folder) / "k.cubin"
        path.write_text(ptx, encoding="utf-8")
        command = ["ptxas", f"-arch={target}", "-v", str(path), "-o", str(out)]
        start = time.perf_counter()
        said = _run([*command, "-lineinfo"] if lines else command)
        seconds = time.perf_counter() - start
        data = out.read_bytes()
    registers = re.search(r"Used (\d+) registers", said)
    shared = re.search(r"(\d+) bytes smem", said)
    own = re.search(r"Compile time = ([\d.]+) ms", said)
    return Cubin(
        machine_code(data),
        int(registers[1]) if registers else 0,
        int(shared[1]) if shared else 0,
        seconds,
        float(own[1]) / 1e3 if own else 0.0,
        data,
    )


def _run(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        raise CompileError(
            f"{command[0]} is not on the path; the recorded output needs none: "
            "gpu.compiled(kernel, target)"
        )
    done = subprocess.run(command, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode:
        said = re.sub(r"\S*/(k\.ptx|\w+\.cu)", r"\1", said)
        raise CompileError(said.strip())
    return said


def machine_code(elf: bytes) -> tuple[tuple[int, int], ...]:
    """The instructions in the first ``.text.`` section of a cubin."""
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError(f"{elf[:5]!r}: no 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names_at = struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    names = rows[names_at][4]
    for name, _, _, _, at, length in rows:
        start = names + name
        if elf[start : elf.index(b"\0", start)].startswith(b".text."):
            if length % 16:
                raise ValueError(f"machine code of {length} B: no multiple of 16")
            return tuple(struct.iter_unpack("<QQ", elf[at : at + length]))
    raise ValueError("no section .text.<kernel>")
