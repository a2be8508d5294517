"""Parts of memory: stacks, dies, channels, banks, rows, cache sets."""

from __future__ import annotations

from stacklib.hardware import Accelerator
from stacklib.memory.dram.parts import DramPart, dram_part
from stacklib.memory.stack.builds import builds_of
from stacklib.quantity import Quantity, counted

from ..nodes import Cells, Layers

STORE = "layer-2"
BASE = "layer-1"  # silicon that carries


def dies_high(device: Accelerator) -> Quantity:
    """DRAM dies on each other, as capacity and bandwidth let us infer."""
    return counted(
        builds_of,
        device.key,
        label=f"{device.short} DRAM dies of a stack",
        take="found[0].height",
    )


def stack(device: Accelerator, name: str, lit: bool = False) -> Layers:
    """A stack from the side: a base die, and DRAM dies upon it."""
    dies = round(dies_high(device).si)
    layers = ((BASE, 4.0), *[(STORE, 2.4)] * dies)
    shown = frozenset(range(1, dies + 1)) if lit else frozenset()
    return Layers(name, layers, 56.0, lit=shown)


def per_stack(device: Accelerator, whole: Quantity, words: str) -> Quantity:
    """What one stack has of what the device has."""
    one = whole.across(1) / device.memory_stacks
    return one.named(f"{device.short} {words} of a stack")


def part_of(device: Accelerator) -> DramPart:
    """A channel of a device's memory, at the rate of its pins."""
    rate = device.memory_pin_rate.across(1)
    return dram_part(device.memory_type).at(rate)


def cut_stack(device: Accelerator, lit: frozenset[int] = frozenset()) -> Layers:
    """A stack in section: vias run from the base die through all dies."""
    dies = round(dies_high(device).si)
    layers = ((BASE, 16.0), *[(STORE, 9.0)] * dies)
    words = "a base die below, vias through all dies"
    return Layers("stack", layers, 130.0, words, lit, vias=9)


def bank_array(row: int = -1, columns: int = 16, rows: int = 7) -> Cells:
    """Cells of a bank: a word line a row, a bit line a column; ``row`` is open."""
    first = row * columns
    lit = frozenset(range(first, first + columns)) if row >= 0 else frozenset()
    return Cells(
        "cells",
        columns * rows,
        columns,
        side=11.0,
        gap=3.0,
        role=STORE,
        lit=lit,
        words="a word line for each row, a bit line for each column",
    )


def sense_amplifiers(full: bool = False, column: int = -1, columns: int = 16) -> Cells:
    """The row buffer: one amplifier a bit line; ``column`` is being read."""
    lit = frozenset(range(columns)) if full else frozenset()
    lit = frozenset({column, column + 1}) if column >= 0 else lit
    return Cells(
        "row buffer",
        columns,
        columns,
        side=(11.0, 14.0),
        gap=3.0,
        role="layer-4",
        lit=lit,
        words="one sense amplifier at each bit line",
    )


def banks_of(part: DramPart, lit: frozenset[int] = frozenset()) -> Cells:
    """The banks behind one channel."""
    groups = round(part.groups.si)
    return Cells(
        "banks",
        round(part.bank_count.si),
        2 * groups,
        side=11.0,
        gap=3.0,
        role=STORE,
        lit=lit,
    )


def cache_ways(
    ways: int, name: str = "ways", lit: frozenset[int] = frozenset()
) -> Cells:
    """The lines of one set, side by side."""
    return Cells(name, ways, ways, side=(18.0, 18.0), gap=3.0, role=STORE, lit=lit)
