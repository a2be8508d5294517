"""Drawings of section 2.3: a scoreboard, and blocks that share out two stores."""

from stacklib import gpu
from stacklib.hardware import get
from stacklib.pages.gpu import schedule as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, bytes_per_element, counted

__all__ = ["blocks_in_two_stores", "scoreboard"]
DEVICE = "h100-sxm"
THREADS, SHARED = 256, 16  # KiB of shared memory
PORTION = 4096  # bytes of a cell of a store
# A warp's program: what each instruction writes, and which registers it needs.
PROGRAM = (
    ("LDG R0", 0, ()),
    ("LDG R1", 1, ()),
    ("FADD R2, R0", 2, (0,)),
    ("FADD R3, R1", 3, (1,)),
    ("STG R2, R3", None, (2, 3)),
)
STEPS = (  # words, issued so far, registers whose result has not come
    ("both loads issued", 2, (0, 1)),
    ("one load is back", 3, (1, 2)),
    ("both are back", 4, (2, 3)),
)


def scoreboard() -> d.Drawing:
    """Instructions in order, and the registers whose results are still to come."""
    steps = [(words, _board(issued, due)) for words, issued, due in STEPS]
    title = "An instruction waits as long as a register that it needs is on the board."
    return d.draw(steps, name="schedule-scoreboard", title=title, devices=[DEVICE])


def _board(issued: int, due: tuple[int, ...]) -> d.Node:
    rows: list[d.Node] = []
    for at, (text, _, needs) in enumerate(PROGRAM):
        waits = at == issued and any(n in due for n in needs)
        state = "issued" if at < issued else "waits" if waits else "later"
        role = {"issued": "layer-3", "waits": "layer-6"}.get(state, "muted")
        box = d.Box(f"instruction {at}", d.Name(text), role=role, lit=state == "waits")
        rows.append(d.right_of(box, d.Words(state, "start", grow=0.3), gap=6))
    cells = d.Cells(
        "registers due",
        4,
        4,
        side=(30.0, 22.0),
        gap=4.0,
        role="layer-4",
        lit=frozenset(due),
        words="registers whose result has not come are lit",
    )
    board = d.Box(
        "scoreboard",
        [
            d.line("scoreboard", bold=True),
            (d.Name("R0 R1 R2 R3"),),
            "lit: still to come",
        ],
        cells,
        role="layer-4",
        grow=0.5,
    )
    return d.flow(d.below(*rows, gap=4), board, gap=14)


def blocks_in_two_stores() -> d.Drawing:
    """The register file and shared memory of an SM, and the blocks that fit."""
    steps = [
        ("few registers", _packed(32)),
        ("more", _packed(96)),
        ("many", _packed(168)),
    ]
    title = "The store that is full first decides how many blocks an SM holds."
    return d.draw(steps, name="schedule-stores", title=title, devices=[DEVICE])


def _packed(registers: int) -> d.Node:
    device, each = get(DEVICE), bytes_per_element("fp32")
    own = stand(page, "registers", registers).named("registers per thread")
    threads = stand(page, "threads", THREADS).named("threads of a block")
    files = (own * threads * each).to("B").named("registers of a block")
    shared = stand(page, "shared", SHARED, "KiB").named("shared memory of a block")
    fit = counted(
        gpu.occupancy,
        threads=threads,
        registers=own,
        shared_bytes=1024 * SHARED,
        device=device,
        take="blocks",
        label="blocks that an SM holds",
    )
    left = _store("register file", device.registers_per_unit, files, fit)
    right = _store("shared memory", device.shared_per_unit, shared, fit)
    head = [(own, " registers per thread, ", threads, " threads: ", fit, " blocks")]
    return d.below(d.Words(head), d.flow(left, right, even=True), gap=8)


def _store(name: str, size: Quantity, each: Quantity, fit: Quantity) -> d.Box:
    """One cell for each 4 KiB; those that a block has are lit."""
    bytes_ = size.across(1).to("B").named(f"{name} of an SM")
    whole = round(bytes_.si / PORTION)
    taken = (each * fit).named(f"{name}, taken")
    used = round(taken.si / PORTION)
    cells = d.Cells(
        f"{name}, cells",
        whole,
        16,
        side=11.0,
        gap=2.0,
        role="layer-2",
        lit=frozenset(range(used)),
        dark=frozenset(range(used, whole)),
        words="what blocks have taken is lit",
    )
    told = [
        d.line(name, bold=True),
        (d.Shown(each, "KiB"), " per block"),
        (d.Shown(taken, "KiB"), " taken of ", d.Shown(bytes_, "KiB")),
    ]
    return d.Box(name, told, cells, role="layer-2")
