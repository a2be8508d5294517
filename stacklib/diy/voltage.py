"""How fast a card is under a limit of power, by one curve of voltage and clock.

A card's draw has a part that is there whatever it does, and the energy of its steps:

    draw = static + (wanted - static) x rate / top rate x (voltage / top voltage)^2

Up to some share of its boost clock the voltage lies on its floor, and draw falls only
as fast as steps do; above, voltage rises. Of a step's time a part waits for memory,
whose clock a limit leaves alone, and ``core`` goes with the clock. So a limit costs
little at first, and much once the floor is reached. The curve was fitted on the table
of one RTX 3090, its static part by process; other cards are predicted from it.

Left out: steps of 15 MHz at which firmware holds a clock, and chips better than others
(some 5 %). Two products with one die may have curves of their own: of an RTX PRO 6000
the server's is a third faster at half of its power than the workstation's.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, quoted, resolve
from stacklib.quantity.bounds import above_zero

FLOOR = quoted("voltage.floor").si  # share of the boost clock below which it stays
RISE = quoted("voltage.rise").si
STATIC = {  # share of the board's power that is drawn whatever it does
    "Samsung 8N": quoted("voltage.static_samsung_8n").si,
    "": quoted("voltage.static_tsmc_4n").si,
}
_STEPS = 34  # halvings of the clock: to ten digits


@dataclass(frozen=True, slots=True)
class Work:
    """What a kind of work asks of a card at the top of its clock.

    - ``core``: share of a step's time that goes with the clock
    - ``wants``: what it would draw there, over the board's power
    - ``top``: that clock, over the boost clock
    """

    core: float
    wants: float
    top: float


WORK = {
    name: Work(*(quoted(f"voltage.{name}_{x}").si for x in ("core", "wants", "top")))
    for name in ("decode", "prompt")
}


@dataclass(frozen=True, slots=True)
class Power:
    """A card under a limit.

    - ``limit``, ``draw``: watts that it may draw, and that it does
    - ``clock``: over its boost clock
    - ``speed``: steps a second, over those without a limit
    - ``floor``: watts below which voltage falls no further, and speed faster than power
    """

    card: str
    work: str
    limit: float
    draw: float
    clock: float
    speed: float
    floor: float

    @property
    def throttled(self) -> bool:
        """Whether the limit lowers the clock."""
        return self.speed < 1.0

    @property
    def per_watt(self) -> float:
        """Speed over draw, as a multiple of that without a limit is its use."""
        return self.speed / self.draw


def voltage(clock: float) -> float:
    """Voltage at a clock over the boost clock, over the voltage of the floor."""
    over: float = max(clock / FLOOR - 1.0, 0.0)
    return 1.0 + RISE * over * over


def rate(clock: float, work: Work) -> float:
    """Steps a second at a clock, over those at the top clock."""
    return 1.0 / (1.0 - work.core + work.core * work.top / clock)


def draw(clock: float, board: float, work: Work, static: float) -> float:
    """Watts at a clock of a board whose power is ``board``."""
    risen = (voltage(clock) / voltage(work.top)) ** 2
    return board * (static + (work.wants - static) * rate(clock, work) * risen)


def static_share(device: Accelerator) -> float:
    """Share of a board's power that it draws whatever it does, by process."""
    process = device.fields.get("process")
    return STATIC.get(str(process.value) if process else "", STATIC[""])


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
        Its ``speed`` is relative: what the card does without a limit is
        ``serving.estimate``'s.

    Raises
    ------
    ValueError
        For a limit at or below what the card draws without work, and for numbers that
        are none.

    Notes
    -----
    Voltage and clock: the power caps of club-3090 (2026), one RTX 3090, two models.

    Examples
    --------
    >>> less = power("rtx-4090", 270)
    >>> f"{less.speed:.2f} of its speed at {less.limit / 450:.0%} of its power"
    '0.91 of its speed at 60% of its power'
    """
    device = hardware.get(card) if isinstance(card, str) else card
    board = float(device.tdp.si)
    made = WORK[resolve(work, WORK, "work")]
    if core is not None:
        if not 0 < core <= 1:
            raise ValueError(f"core = {core!r}: a share above 0, up to 1, is needed")
        made = Work(core, made.wants, made.top)
    if wants is not None:
        above_zero(wants=wants)
        made = Work(made.core, wants / board, made.top)
    static = static_share(device)
    least = static * board
    if made.wants <= static:
        raise ValueError(
            f"wants = {made.wants * board:.0f} W: {device.short} draws {least:.0f} W "
            "without work"
        )
    given = board if limit is None else watts(limit)
    if given <= least:
        raise ValueError(
            f"limit = {given:g} W: {device.short} draws {least:.0f} W without work"
        )
    clock = _clock(given, board, made, static)
    return Power(
        device.key,
        work,
        given,
        draw(clock, board, made, static),
        clock,
        rate(clock, made),
        draw(FLOOR, board, made, static),
    )


def watts(value: float | Quantity) -> float:
    """A number of watts, or a quantity of power, as a float."""
    if isinstance(value, Quantity):
        value = value.to("W").si
    above_zero(limit=value)
    return float(value)


def _clock(limit: float, board: float, work: Work, static: float) -> float:
    """The highest clock whose draw is within a limit."""
    if limit >= work.wants * board:
        return work.top
    low, high = work.top * 2.0**-30, work.top
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if draw(middle, board, work, static) < limit:
            low = middle
        else:
            high = middle
    return low
