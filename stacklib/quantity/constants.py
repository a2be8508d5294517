"""The constants of the book, and the sizes of the case that runs through it.

Physical and mathematical ones are one table, the case's another: they are chosen once,
and whatever a page calls chosen of ``case("context")`` names the row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .names import resolve


@dataclass(frozen=True, slots=True)
class Constant:
    """One row: its value, what it is called, and its source where it has one."""

    value: float
    unit: str
    label: str
    source: tuple[str, str, str, str] | None = None


CONSTANTS = {
    "multiply_add": Constant(2, "FLOP", "FLOP per multiply-add"),
    "multiply_add_op": Constant(2, "OP", "OP per multiply-add"),
    "fma_operands": Constant(3, "", "operands a multiply-add reads"),
    "byte": Constant(8, "bit/B", "bits of a byte"),
    "million": Constant(1e6, "", "a million"),
    "doubling": Constant(2, "", "a doubling"),
    "disc": Constant(math.pi / 4, "", "a disc over the square around it"),
    "triangle": Constant(0.5, "", "half of a square"),
    "fit": Constant(1e9, "", "hours of the unit FIT"),
    "year": Constant(365.25 * 86400, "s", "a year"),
    "months": Constant(12, "", "months of a year"),
}


# -- the case --------------------------------------------------------------------------

CASE = "case/"  # how the key of a size of the case begins


class Size(int):
    """A whole number that knows its row."""

    key: str


class Share(float):
    """The same, of a number that is no whole one."""

    key: str


def keyed(value: float, key: str) -> float:
    """A number that names its record."""
    made = Size(value) if float(value).is_integer() else Share(value)
    made.key = key
    return made


@dataclass(frozen=True, slots=True)
class Row:
    """A size of the case, and why it is that."""

    value: int
    why: str


SIZES = {
    "context": Row(4096, "tokens of a prompt, and of a conversation cached"),
    "chips": Row(8, "GPUs of a server, which share the model"),
    "readers": Row(64, "conversations at once, when many read"),
    "long": Row(131_072, "tokens of a long conversation: the model's longest"),
    "million": Row(1_000_000, "tokens of the longest context that is sold"),
    "block": Row(16, "tokens of a block of the cache"),
    "cable": Row(10, "metres from a port to a switch, or between two switches"),
    "outlet": Row(120, "volts of the reader's outlet"),
    "machines": Row(4, "machines of a fleet, of so many GPUs each"),
    "answer": Row(512, "tokens of an answer of tonight's benchmark"),
    "written": Row(256, "tokens of an answer of the simulated traffic"),
    "step": Row(512, "tokens of a step, at most, where prompts come in pieces"),
    "first": Row(2, "seconds in which a first token is promised"),
    "drawn": Row(4, "tokens of a block small enough to be drawn"),
    "slots": Row(128, "answers that one machine writes at once, at most"),
    "home": Row(8, "conversations at once on a machine at home"),
    "work": Row(3, "hours that a machine works without a pause"),
    "bitline": Row(256, "cells on a bitline whose currents are summed"),
    "outliers": Row(64, "how many times larger two channels are made"),
}


def case(name: str) -> Size:
    """A size of the case, by its row: ``case("chips").key`` is ``case/chips``."""
    name = resolve(name, tuple(SIZES), "size of the case")
    made = Size(SIZES[name].value)
    made.key = CASE + name
    return made
