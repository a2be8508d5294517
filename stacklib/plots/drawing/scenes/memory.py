"""Inside memory: a stack, a bank and its row buffer, a set of a cache."""

from __future__ import annotations

from stacklib.hardware import Accelerator, get, stack_generation
from stacklib.hardware.warp_rules import rule
from stacklib.memory.dram.parts import DramPart
from stacklib.quantity import Quantity, chosen, log2

from ..marks import Clip, Measured, Opened, Pipe
from ..nodes import Box, Cells, Node, Nothing, Words
from ..parts import memory
from ..picture import Drawing, draw
from ..relate import below, flow, right_of
from ..words import Shown, an, line


def hbm_opened(on: str | Accelerator, name: str = "hbm-opened") -> Drawing:
    """A stack in section, one of its channels, one of that channel's banks."""
    device = get(on) if isinstance(on, str) else on
    scene = flow(
        _stack(device),
        Nothing((14.0, 10.0), grow=0),
        _channels(device),
        Opened("channels[7]", "its banks"),
        _banks(memory.part_of(device)),
        gap=0,
    )
    title = (
        f"One stack of {an(device)} is many narrow memories: channels that work apart, "
        "each with banks that work apart."
    )
    return draw(scene, name=name, title=title, devices=[device.key])


def _stack(device: Accelerator) -> Box:
    per = memory.per_stack(device, device.memory_capacity, "capacity")
    dies = memory.dies_high(device)
    inside = Measured(
        memory.cut_stack(device), [(dies, " DRAM"), "dies"], side="left", bracket=True
    )
    told = [line("a stack, cut", bold=True), (per, ", on a base die")]
    return Box("one stack", told, inside, role=memory.STORE)


def _channels(device: Accelerator) -> Box:
    made = stack_generation(device.memory_type)
    channels = made.memory.channels
    cells = Cells(
        "channels",
        round(channels.si),
        4,
        side=(20.0, 15.0),
        gap=4.0,
        role=memory.STORE,
        lit=frozenset({7}),
    )
    rate = memory.per_stack(device, device.memory_bandwidth, "bandwidth")
    told = [
        line(channels, " channels", bold=True),
        (made.memory.pins, " pins"),
        ("together ", rate),
    ]
    return Box("its channels", told, cells, role=memory.STORE)


def _banks(part: DramPart) -> Box:
    told = [
        line("a pseudo-channel", bold=True),
        (part.bank_count, " banks"),
        (part.bandwidth, ", by ", part.burst),
    ]
    return Box("its banks", told, memory.banks_of(part), role=memory.STORE)


def dram_bank(on: str | Accelerator, name: str = "dram-bank") -> Drawing:
    """A bank in three steps: a row into the buffer, a burst out of it, the row back."""
    device = get(on) if isinstance(on, str) else on
    part = memory.part_of(device)
    steps = [
        (
            "activate",
            _bank(part, memory.bank_array(3), memory.sense_amplifiers(), "tRCD"),
        ),
        (
            "read",
            _bank(part, memory.bank_array(3), memory.sense_amplifiers(column=6), "CL"),
        ),
        (
            "precharge",
            _bank(part, memory.bank_array(), memory.sense_amplifiers(), "tRP"),
        ),
    ]
    title = (
        "A bank moves a whole row into its row buffer before the first byte of it can "
        "be read."
    )
    return draw(steps, name=name, title=title, devices=[device.key])


def _bank(part: DramPart, cells: Cells, buffer: Cells, now: str) -> Node:
    row = Shown(part.row, "KiB")
    wire = Pipe(
        "row buffer",
        "pins",
        part.bandwidth,
        part.bandwidth,
        (part.burst, " per burst"),
        down=(True, True),
        least=34.0,
    )
    inside = below(
        Words([("a row: ", row)]),
        cells,
        Words("sense amplifiers: the row buffer"),
        buffer,
        wire,
        Box("pins", [("pins, ", part.bandwidth)], role="layer-5"),
        gap=5,
    )
    bank = Box(
        "bank",
        line("one of ", part.bank_count, " banks", bold=True),
        inside,
        role=memory.STORE,
    )
    return flow(bank, _clocks(part, now), gap=18)


def _clocks(part: DramPart, now: str) -> Node:
    """What a read of a closed row waits for, one after the other."""
    told = (
        ("tRCD", part.rcd, "activate: the row to the amplifiers"),
        ("CL", part.cl, "read: from the buffer to the pins"),
        ("burst", part.burst_time, "burst: the data on the pins"),
        ("tRP", part.rp, "precharge: the row closed"),
    )
    whole = part.rcd + part.cl + part.burst_time + part.rp
    clips: list[Node] = []
    at = chosen(0, "ns", "begin")
    for name, takes, words in told:
        label = [line(words, bold=name == now), (f"{name} ", takes)]
        clips.append(
            Clip(
                name,
                at,
                at + takes,
                whole,
                label,
                grow=0,
                role="layer-4" if name == now else memory.STORE,
            )
        )
        at = at + takes
    return below(*clips, gap=14)


def cache_set(
    on: str | Accelerator, kib: float = 128, ways: int = 4, name: str = "cache-set"
) -> Drawing:
    """How an address finds its line: offset, set and tag; then the ways of the set."""
    device = get(on) if isinstance(on, str) else on
    size = chosen(kib, "KiB", "size of the cache")
    held, word = chosen(ways, label="ways"), rule("line")
    sets = (size / (held * word)).to("1").named("sets")
    scene = below(_address(word, sets), _sets(size, sets, held, word), gap=16)
    title = "The address says where a line may stand; only its tag is compared."
    return draw(scene, name=name, title=title, devices=[device.key])


def _address(word: Quantity, sets: Quantity) -> Node:
    """Tag, set and offset, with their bits."""
    offset = log2((word / chosen(1, "B", "a byte")).to("1")).named("bits of the offset")
    index = log2(sets).named("bits of the set")
    whole = chosen(48, label="bits of an address")
    tag = (whole - index - offset).named("bits of the tag")
    fields = (
        ("tag", tag, "layer-6"),
        ("set", index, "layer-4"),
        ("offset", offset, "layer-5"),
    )
    boxes = [
        Box(name, [line(name, bold=True), (bits, " bits")], role=role, grow=bits.si)
        for name, bits, role in fields
    ]
    return right_of(*boxes, gap=0)


def _sets(size: Quantity, sets: Quantity, ways: Quantity, word: Quantity) -> Node:
    told = [line("cache of ", size, bold=True), (sets, " sets")]
    column = Cells(
        "sets", 8, 1, side=(90.0, 7.0), role=memory.STORE, lit=frozenset({3})
    )
    line_box = Box(
        "line",
        [(word, " in sectors"), ("of ", rule("sector"))],
        Cells(
            "sectors",
            round((word / rule("sector")).si),
            side=(24.0, 14.0),
            role=memory.STORE,
            lit=frozenset({1}),
        ),
        role=memory.STORE,
    )
    set_ = Box(
        "the set",
        [
            line("the set, opened", bold=True),
            (ways, " ways: as many tags"),
            "are compared at once",
        ],
        memory.cache_ways(round(ways.si), lit=frozenset({round(ways.si) - 1})),
        role="layer-4",
    )
    cache = Box("cache", told, column, role=memory.STORE)
    return flow(
        cache,
        Opened("sets[3]", "the set"),
        set_,
        Opened(f"ways[{round(ways.si) - 1}]", "line"),
        line_box,
        gap=0,
    )
