"""Checking JSON beside the processor: rates, bytes, joules, and what it saves.

A tool's answer is checked before it goes into a prompt. On a core that takes as long as
its bytes; an engine on a network card that is said to check so many answers a second
cannot check more than arrive:

    rate <= link / bytes of an answer

What a core does was measured (``benchmarks/json_check.py``): by the automaton that the
engine masks tokens with, byte by byte in Python, and by Python's own parser in C. An
automaton without a stack cannot do it: JSON nests, and each level that shall be told
apart takes states of its own (``flat_states``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib import hardware
from stacklib.quantity import Quantity, chosen, minimum, quoted, recorded
from stacklib.quantity.bounds import above_zero, at_least, whole
from stacklib.quantity.names import resolve

from ..masks.automaton import automaton
from ..masks.schema import BOOLEAN, NULL, NUMBER, STRING, whole_value
from ..masks.syntax import Pattern, choice

FILE = "benchmarks/results/json_check.json"
LINK = "ib_ndr"
CHECKS = ("parser", "automaton")  # ids of the file's rows begin with them
SIZES = (256, 1024, 4096, 16384)  # bytes of an answer, as measured


@dataclass(frozen=True, slots=True)
class Offload:
    """Answers of one size, checked by a core and by an engine on a card."""

    size: Quantity  # bytes of an answer
    time: Quantity  # seconds that a core takes for one, as measured
    engine: Quantity  # answers a second that the engine is said to check
    line: Quantity  # answers a second that the link brings
    core_power: Quantity
    engine_power: Quantity

    @property
    def core(self) -> Quantity:
        """Answers a second that a core checks."""
        return (1 / self.time).named("answers a core checks")

    @property
    def rate(self) -> Quantity:
        """Answers a second that the engine can check: no more than arrive."""
        return minimum(self.engine, self.line)

    @property
    def cores(self) -> Quantity:
        """That do as many."""
        return (self.rate / self.core).to("1")

    @property
    def core_energy(self) -> Quantity:
        """Joules of an answer on a core, all of its power counted."""
        return (self.core_power * self.time).to("J")

    @property
    def engine_energy(self) -> Quantity:
        """Joules of an answer on the engine, by its own power alone."""
        return (self.engine_power / self.rate).to("J")

    @property
    def saved(self) -> Quantity:
        """Energy of a core's answer over one of the engine's."""
        return (self.core_energy / self.engine_energy).to("1")

    def of(self, seconds: Any) -> Quantity:
        """The core's time as a share of what it is done in: what offloading can save.

        - ``seconds``: of a tool, or of a request
        """
        at_least(0.0, seconds=seconds)
        whole_time = seconds if isinstance(seconds, Quantity) else chosen(seconds, "s")
        return (self.time / (whole_time + self.time)).to("%")


def offload(
    size: int = 1024,
    *,
    check: str = "parser",
    rate: Quantity | float | None = None,
    engine_power: Quantity | float | None = None,
    core_power: Quantity | float | None = None,
    link: str = LINK,
) -> Offload:
    """What checking answers costs on a core, and on an engine on a card.

    Parameters
    ----------
    size : int
        Bytes of an answer: one of ``SIZES``, as measured.
    check : str
        How a core checks: ``parser`` (Python's own, in C) or ``automaton``.
    rate, engine_power, core_power : Quantity or float, optional
        Answers a second and watts; default what one document says of a card.
    link : str
        What brings the answers to the card.

    Raises
    ------
    ValueError
        For a size that was not measured, or rates and powers that are none.
    UnknownName
        For another way to check, or another link.
    """
    if size not in SIZES or isinstance(size, bool):
        raise ValueError(f"size = {size!r}: measured are {', '.join(map(str, SIZES))}")
    row = f"{resolve(check, CHECKS, 'check', exact=True)} {size}"
    took = recorded(FILE, row, "times_s/median", unit="s", label="time of a check")
    held = recorded(FILE, row, "bytes", unit="B", label="bytes of an answer")
    port = hardware.link(link).link_bandwidth
    return Offload(
        held,
        took,
        _given("answers checked by the engine", rate, "1/s", "dpu.rate"),
        (port / held).to("1/s"),
        _given("power of a core", core_power, "W", "dpu.core_power"),
        _given("power of the engine", engine_power, "W", "dpu.power"),
    )


def largest(rate: Quantity | None = None, link: str = LINK) -> Quantity:
    """Bytes of an answer up to which a link brings so many a second."""
    asked = quoted("dpu.rate") if rate is None else rate
    return (hardware.link(link).link_bandwidth / asked).to("B")


def flat_states(depth: int) -> int:
    """States of one automaton, without a stack, that reads JSON nested so deep.

    - ``depth``: brackets inside one another, from 0
    """
    whole(0, depth=depth)
    value: Pattern = choice(STRING, NUMBER, BOOLEAN, NULL)
    for _ in range(depth):
        value = whole_value(value, spaces=False)
    return len(automaton(value).edges)


def _given(
    label: str, value: Quantity | float | None, unit: str, quote: str
) -> Quantity:
    if value is None:
        return quoted(quote, label)
    above_zero(**{label: value})
    return value if isinstance(value, Quantity) else chosen(value, unit, label=label)
