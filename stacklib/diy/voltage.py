"""How fast a card is under a limit of power, by one curve of voltage and clock.

A card's draw has a part that is there whatever it does, and the energy of its steps:

    draw = static + (wanted - static) x rate / top rate x (voltage / top voltage)^2

Up to some share of its boost clock the voltage lies on its floor, and draw falls only
as fast as steps do; above, voltage rises. Of a step's time a part waits for memory,
whose clock a limit leaves alone, and ``core`` goes with the clock. So a limit costs
little at first, and much once the floor is reached. The curve was fitted on the power
caps of one RTX 3090 (club-3090, 2026, two models), its static part by process.

How much of a step goes with the clock, and what it would draw, is the kernel's affair:
``power`` takes the usual, and ``spread`` both ends of what was published.

Left out: firmware's steps of 15 MHz, and chips better than others (some 5 %). Products
with one die have their own curves: an RTX PRO 6000's server is a third faster at half.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, quoted, resolve
from stacklib.quantity.bounds import above_zero, share

FLOOR = quoted("voltage.floor").si  # share of the boost clock below which it stays
RISE = quoted("voltage.rise").si
STATIC = {  # share of the board's power that is drawn whatever it does
    "Samsung 8N": quoted("voltage.static_samsung_8n").si,
    "": quoted("voltage.static_tsmc_4n").si,
}
_STEPS = 25  # halvings of the clock: to seven digits


@dataclass(frozen=True, slots=True)
class Work:
    """What a kind of work asks of a card at the top of its clock."""

    core: float  # share of a step's time that goes with the clock
    wants: float  # what it would draw there, over the board's power
    top: float  # that clock, over the boost clock


def _work(name: str, end: str = "") -> Work:
    """The usual of a kind of work, or an end of what was published of it."""
    keys = f"{name}{end}_core", f"{name}{end}_wants", f"{name}_top"
    core, wants, top = (quoted(f"voltage.{key}").si for key in keys)
    return Work(core, wants, top)


WORK = {name: _work(name) for name in ("decode", "prompt")}
ENDS = {name: (_work(name, "_most"), _work(name, "_least")) for name in WORK}


@dataclass(frozen=True, slots=True)
class Power:
    """A card under a limit."""

    card: str
    work: str
    limit: float  # watts that it may draw
    draw: float  # watts that it draws
    clock: float  # over its boost clock
    speed: float  # steps a second, over those without a limit
    floor: float  # watts below which voltage falls no further, and speed faster


def voltage(clock: float) -> float:
    """Voltage at a clock over the boost clock, over the voltage of the floor."""
    over: float = max(clock / FLOOR - 1.0, 0.0)
    return 1.0 + RISE * over * over


def rate(clock: float, work: Work) -> float:
    """Steps a second at a clock, over those at the top clock."""
    return 1.0 / (1.0 - work.core + work.core * work.top / clock)


def power(
    card: str | Accelerator,
    limit: float | Quantity | None = None,
    *,
    work: str = "decode",
    core: float | None = None,
    wants: float | None = None,
) -> Power:
    """Clock, draw and speed of a card under a limit of power.

    Parameters
    ----------
    card : str or Accelerator
        A key of ``hardware``, or a device.
    limit : float or Quantity, optional
        Watts, as ``nvidia-smi -pl`` takes them; the board's power if left out. A limit
        above what the work wants changes nothing.
    work : str
        ``decode``: a token after the other of one sequence, by kernels that unpack four
        bits; ``prompt``: many tokens at once.
    core : float, optional
        Share of a step's time that goes with the clock, if measured; not 0.
    wants : float, optional
        Watts that the work draws where nothing limits it, if measured.

    Returns
    -------
    Power
        Its ``speed`` is relative: without a limit it is ``serving.estimate``'s.

    Raises
    ------
    ValueError
        For a limit at or below what the card draws without work.

    Examples
    --------
    >>> less = power("rtx-4090", 270)
    >>> f"{less.speed:.2f} of its speed at {less.limit / 450:.0%} of its power"
    '0.91 of its speed at 60% of its power'
    """
    made = WORK[resolve(work, WORK, "work")]
    if core is not None:
        above_zero(core=core)
        share(core=core)
        made = replace(made, core=core)
    device = hardware.get(card) if isinstance(card, str) else card
    board = float(device.tdp.si)
    static = board * STATIC.get(device.process, STATIC[""])
    given = limit.to("W").si if isinstance(limit, Quantity) else limit
    given = board if given is None else given
    wanted = made.wants * board if wants is None else wants
    for asked, value in (("wants", wanted), ("limit", given)):
        above_zero(**{asked: value})
        if value <= static:
            says = f"{device.short} draws {static:.0f} W without work"
            raise ValueError(f"{asked} = {value:g} W: {says}")
    scale = (wanted - static) / voltage(made.top) ** 2

    def draw(clock: float) -> float:
        return static + scale * rate(clock, made) * voltage(clock) ** 2

    low, high = made.top * 2.0**-30, made.top
    for _ in range(_STEPS if given < wanted else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if draw(middle) < given else (low, middle)
    at = made.top if given >= wanted else low
    speed, floor = rate(at, made), draw(FLOOR)
    return Power(device.key, work, float(given), draw(at), at, speed, floor)


def spread(
    card: str | Accelerator, limit: float | Quantity, work: str = "decode"
) -> tuple[float, float]:
    """Speed under a limit of kernels that work most, and of those that wait most.

    Of 93 published speeds nine in ten lie between, or within two points; those of a
    board at half of its die's power, an RTX PRO 6000 Max-Q, lie up to six below.

    >>> low, high = spread("rtx-3090", 250)
    >>> f"{low:.2f} to {high:.2f}"
    '0.64 to 0.98'
    """
    board = power(card, work=work).limit
    low, high = (
        power(card, limit, work=work, core=end.core, wants=end.wants * board).speed
        for end in ENDS[resolve(work, ENDS, "work")]
    )
    return low, high
