"""PTX, the instructions of a GPU that does not exist: a parser, and static counts.

PTX has registers without end and one type in every opcode. The parser takes what
``nvcc`` writes for one kernel; `run_ptx` runs it. NVIDIA, "Parallel Thread Execution
ISA", version 9.0, sections 4 and 9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from stacklib.quantity.bounds import is_whole

_DIRECTIVES = (".version", ".target", ".address_size", ".file", ".section", ".pragma")
_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


class PtxError(ValueError):
    """PTX that is wrong, or that this book's interpreter does not know."""


@dataclass(frozen=True, slots=True)
class PtxInstruction:
    """One PTX instruction."""

    opcode: str  # with its types, such as ``ld.global.f32``
    operands: tuple[str, ...]
    guard: str  # predicate register it depends on; or empty
    negated: bool  # whether it runs where the predicate is false
    line: int  # in the PTX text from 1
    source_line: int  # in the CUDA source, 0 if none is named

    @property
    def text(self) -> str:
        """As PTX writes it."""
        guard = f"@{'!' * self.negated}{self.guard} " if self.guard else ""
        return f"{guard}{self.opcode} {', '.join(self.operands)}".strip()


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block: entered only at its first instruction, left only at its last."""

    name: str
    start: int  # index of the first instruction
    length: int  # instructions


@dataclass(frozen=True, slots=True)
class Kernel:
    """A parsed kernel."""

    name: str  # of the kernel
    target: str  # such as ``sm_80``
    params: tuple[tuple[str, str], ...]  # name and type of each parameter
    shared: dict[str, int]  # variable -> offset in shared memory
    shared_bytes: int
    code: tuple[PtxInstruction, ...]
    labels: dict[str, int]  # name -> index of the instruction behind it

    def blocks(self) -> tuple[Block, ...]:
        """Basic blocks in the order of the text."""
        starts = {0: "entry"} | {at: name for name, at in self.labels.items()}
        for at, instruction in enumerate(self.code[:-1]):
            if instruction.opcode.startswith(("bra", "ret")):
                starts.setdefault(at + 1, "")
        order = sorted(at for at in starts if at < len(self.code))
        found: list[Block] = []
        label, since = "", 0
        for at, end in zip(order, [*order[1:], len(self.code)], strict=True):
            label, since = (starts[at], 0) if starts[at] else (label, since + 1)
            name = label.removeprefix("$L__") + (f"+{since}" if since else "")
            found.append(Block(name, at, end - at))
        return tuple(found)

    def count(self, times: Mapping[str, int]) -> int:
        """Instructions executed when each block runs so many times."""
        lengths = {block.name: block.length for block in self.blocks()}
        for name, runs in times.items():
            if name not in lengths or not is_whole(runs) or runs < 0:
                raise PtxError(
                    f"{name!r}: {runs!r} times; blocks of {self.name} are "
                    f"{', '.join(lengths)}, each run 0 or more times"
                )
        # A block left out never ran.
        return sum(lengths[name] * runs for name, runs in times.items())


def parse(text: str) -> Kernel:
    """The kernel in a PTX text."""
    names = re.findall(r"\.entry\s+([\w$]+)", text)
    if len(names) != 1:
        raise PtxError(f"{len(names)} kernels ({', '.join(names)}): one is needed")
    found = re.search(r"^\s*\.target\s+(\w+)", text, re.M)
    params: list[tuple[str, str]] = []
    shared: dict[str, int] = {}
    size = source_line = 0
    code: list[PtxInstruction] = []
    labels: dict[str, int] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("//")[0].strip()
        if line == "}":  # what follows describes sources for debuggers
            break
        if not line or line in "{}()" or line.startswith((".reg", *_DIRECTIVES)):
            continue
        if ".entry" in line:
            line = line.partition("(")[2].rstrip(") {")
        if place := re.match(r"\.loc\s+(\d+)\s+(\d+)", line):
            inlined = re.search(r"inlined_at 1 (\d+)", line)
            own = place[1] == "1"
            source_line = int(place[2] if own else inlined[1] if inlined else 0)
        elif param := re.match(r"\.param\s+\.(\w+).*?([\w$]+),?$", line):
            params.append((param[2], param[1]))
        elif variable := re.match(
            r"\.shared\s+\.align\s+(\d+)\s+\.[bfus](\d+)\s+([\w$]+)(?:\[(\d+)\])?;",
            line,
        ):
            align = int(variable[1])
            shared[variable[3]] = -(-size // align) * align
            one = _SIZES[variable[2]]
            size = shared[variable[3]] + one * int(variable[4] or 1)
        elif label := re.fullmatch(r"([$\w]+):", line):
            labels[label[1]] = len(code)
        elif line:
            code.append(_instruction(line, number, source_line))
    return Kernel(
        names[0],
        found[1] if found else "",
        tuple(params),
        shared,
        size,
        tuple(code),
        labels,
    )


def _instruction(line: str, number: int, source_line: int) -> PtxInstruction:
    shape = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*([^;]*);", line)
    if shape is None:
        raise PtxError(f"line {number}: {line!r} is no instruction this parser reads")
    # commas inside braces or brackets do not part operands
    operands = re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", shape[4])
    return PtxInstruction(
        shape[3], tuple(operands), shape[2] or "", bool(shape[1]), number, source_line
    )
