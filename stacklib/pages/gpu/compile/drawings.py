"""Drawings of section 2.4: from a line to a word of bits, and the clock in the code."""

from typing import Any

from stacklib import hardware
from stacklib.gpu.code.compiled import compiled
from stacklib.gpu.code.sass import BYTES
from stacklib.pages.gpu import compile as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, counted, one_of

__all__ = ["a_line_to_bits", "the_clock_in_the_code"]
CONTROL = range(105, 122)  # bits of an instruction that say when
WORD = 8 * BYTES


def a_line_to_bits() -> d.Drawing:
    """CUDA, PTX, machine code, and one instruction of it opened."""
    made = compiled("twice", "sm_90")
    useful = made.sass.useful
    ptx = page.read(made.ptx.code, "PTX instructions")
    code = page.read(useful, "machine instructions")
    adds = [i for i, at in enumerate(useful) if at.text.startswith("FADD")]
    source = d.Box(
        "CUDA",
        [d.line("CUDA", bold=True), ("a line of ", page.line_bytes())],
        role="layer-4",
    )
    middle = d.Box(
        "PTX",
        [d.line("PTX", bold=True), (ptx, " instructions")],
        d.Cells("of PTX", len(made.ptx.code), 6, side=9.0, role="layer-6"),
        role="layer-6",
    )
    last = d.Box(
        "SASS",
        [d.line("SASS", bold=True), (code, " instructions")],
        d.Cells(
            "of SASS",
            len(useful),
            6,
            side=9.0,
            role="layer-3",
            lit=frozenset(adds),
            words="the one that computes is lit",
        ),
        role="layer-3",
    )
    bits = d.Cells(
        "bits",
        WORD,
        (32, 32),
        side=6.6,
        gap=1.2,
        role="layer-3",
        lit=frozenset(CONTROL),
        words="the bits that say when are lit",
    )
    size = page.made("sass.size", "machine code and padding", "B").to("bit")
    each = size / page.read(made.sass.code, "instructions and padding") / one_of("bit")
    word = d.Box(
        "word",
        [
            d.line("one instruction: ", each.named("bits"), " bits", bold=True),
            (page.read(CONTROL, "bits of control"), " of them say when"),
        ],
        bits,
        role="layer-3",
    )
    stages = d.flow(source, middle, last)
    scene = d.below(stages, d.Opened(f"of SASS[{min(adds)}]", "word"), word, gap=4)
    title = "One line becomes a dozen and more instructions; one of them computes."
    return d.draw(scene, name="compile-stages", title=title)


def issue_times() -> list[tuple[str, float, float]]:
    """Each instruction of `twice`, when it may issue and when its result is there."""
    load = hardware.level("h100-sxm", "dram").known("cycles").si
    clock = 0.0
    opens: dict[int, float] = {}
    told = []
    for at in compiled("twice", "sm_90").sass.useful:
        said = at.control
        clock = max([clock, *(opens.get(n, 0.0) for n in said.waits)])
        global_load = at.text.startswith("LDG")
        end = clock + (load if global_load else max(said.stall, 1))
        if said.arms_result is not None:
            opens[said.arms_result] = end
        told.append((at.text, clock, end))
        clock += said.stall
    return told


def the_clock_in_the_code() -> d.Drawing:
    """The end of `twice` on a line of time: who waits for whom."""
    rows: list[d.Node] = []
    every = issue_times()
    first, issue, end = len(every) - 5, 1, 2
    latest = max(range(first, len(every)), key=lambda n: every[n][end])
    whole = _cycles((first, issue), (latest, end), "cycles drawn")
    for number, (text, _, _) in enumerate(every[first:]):
        at = first + number
        opcode = text.removeprefix("@P0 ").split()[0]
        took = _cycles((at, issue), (at, end), f"cycles of {opcode}, {number}")
        told = [
            (
                d.Name(opcode),
                f" {WORDS.get(opcode, 'addresses')}, ",
                took,
                " cycles" if took.si > 1 else " cycle",
            )
        ]
        clip = d.Clip(
            f"{opcode} {'abcde'[number]}",
            _cycles((first, issue), (at, issue), f"issue of {opcode}, {number}"),
            _cycles((first, issue), (at, end), f"end of {opcode}, {number}"),
            whole,
            told,
            role="layer-2" if opcode.startswith("LDG") else "layer-3",
            grow=0,
        )
        rows.append(clip)
    title = "The load opens a barrier; the addition waits for it, by a bit of its own."
    opened = d.Edge(
        "LDG.E a",
        "FADD c",
        "barrier",
        arrow="end",
        ports=("right", "right"),
        role="layer-2",
        lit=True,
    )
    scene = d.joined(d.below(*rows, gap=10), opened, margin=(66.0, 0.0))
    return d.draw(scene, name="compile-clock", title=title)


WORDS = {
    "LDG.E": "fetches the number",
    "FADD": "adds it to itself",
    "STG.E": "stores the sum",
    "EXIT": "leaves",
}


def cycles_between(one: tuple[int, int], two: tuple[int, int]) -> float:
    """Cycles between two times of `issue_times`, each a row and a column of it."""
    times: list[Any] = issue_times()
    return float(times[two[0]][two[1]] - times[one[0]][one[1]])


def _cycles(one: tuple[int, int], two: tuple[int, int], label: str) -> Quantity:
    return counted(cycles_between, one, two, label=label)
