"""From the breaker to the token: circuit, supply, cards, heat, and what speed is left.

A circuit gives so many watts for hours; of them a supply loses a share; cards and the
rest of the machine take what is left; their heat goes from die to sink to case to room.
A die at its limit is held there, which is one more limit of power. What a card does
under a limit is ``power``'s, what heat does ``heat``'s: here they stand one behind the
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.cost.catalogue import Component
from stacklib.hardware.accelerator import UnknownSpec
from stacklib.quantity import quoted
from stacklib.quantity.bounds import above_zero, share
from stacklib.roofline.work.fit import Infeasible

from .build import Build
from .rules_power import LOW
from .thermal import heat
from .voltage import Power, power

HOST = quoted("heat.host").si  # of a processor's design power, while cards work
RISE = quoted("heat.rise").si  # K of a die over the case's air, at the board's power
INNER = quoted("heat.inner").si  # share of it between die and sink
DIE, SINK = quoted("heat.die").si, quoted("heat.sink").si  # J/K a watt of board power
CASE, CASE_AIR = quoted("heat.case").si, quoted("heat.case_capacity").si
ROOM, ROOM_AIR = quoted("heat.room").si, quoted("heat.room_capacity").si
LIMIT = quoted("heat.limit").si  # degrees Celsius of a die
_STEPS = 240
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Curve:
    """A machine that works for hours in a closed room.

    - ``times``: seconds
    - ``die``, ``sink``, ``case``, ``room``: degrees Celsius; cards are taken as one
    - ``watts``: that all cards draw
    - ``speed``: of the slowest, over its speed without any limit
    - ``held``: seconds in which the dies were at their limit
    """

    times: tuple[float, ...]
    die: tuple[float, ...]
    sink: tuple[float, ...]
    case: tuple[float, ...]
    room: tuple[float, ...]
    watts: tuple[float, ...]
    speed: tuple[float, ...]
    held: float


@dataclass(frozen=True, slots=True)
class Chain:
    """What each link of the chain allows, and what the machine takes.

    - ``circuit``: watts that the outlet gives for hours, all circuits
    - ``supply``: watts that the supplies deliver
    - ``wall``, ``delivered``: watts drawn from the wall, and behind the supplies
    - ``limit``: watts of each card after circuit and supplies
    - ``binds``: ``circuit``, ``supply``, ``heat``, ``limit`` (set by hand) or ``work``
    - ``speed``: over that without any limit, at the end of the hours
    """

    circuit: float
    supply: float
    wall: float
    delivered: float
    limit: float
    binds: str
    speed: float
    curve: Curve


def rating(psu: Component, mains: float) -> float:
    """Watts that a supply delivers at a voltage of the outlet."""
    low = mains < LOW and "watts_low" in psu.values
    return float(psu["watts_low" if low else "watts"])


def efficiency(psu: Component) -> float:
    """Watts delivered over watts drawn, by the supply's 80 PLUS level."""
    return float(quoted(f"rig.{psu['level']}").si)


def wall(build: Build, delivered: float, *, mains: float = 120) -> float:
    """Watts from the wall for watts behind the supplies, which share them by rating.

    - raises ``Infeasible`` for more than the supplies deliver, with the sum
    """
    above_zero(delivered=delivered)
    have = sum(rating(psu, mains) for psu in build.psu)
    if delivered > have:
        raise Infeasible(
            f"{delivered:,.0f} W > {have:,.0f} W that the supplies deliver"
        )
    drawn = sum(rating(psu, mains) / efficiency(psu) for psu in build.psu)
    return delivered / have * drawn


def temperature(
    build: Build,
    hours: float,
    ambient: float,
    *,
    work: str = "decode",
    limit: float | None = None,
    mains: float = 120,
) -> Curve:
    """Die, sink, case and room over the hours that a machine works without a pause.

    Parameters
    ----------
    build : Build
        The machine; every card works, in a room with its door closed.
    hours, ambient : float
        How long, and degrees Celsius outside the room and of all at the start.
    work : str
        As ``power`` takes it.
    limit : float, optional
        Watts of each card; the build's limit, or the design power, if left out.
    mains : float
        Volts of the outlet.

    Raises
    ------
    ValueError
        For hours or degrees that are none.
    UnknownSpec
        For a card, processor or supply without the field that is needed.
    """
    cards = [_running(card, limit or build.limit, work) for card in build.gpus]
    drawn = sum(one.draw for one in cards)
    host = HOST * float(build.cpu["power"])
    lost = wall(build, drawn + host, mains=mains) - drawn - host
    board = sum(float(card["power"]) for card in build.gpus)
    made = heat(
        (INNER * RISE / board, (1 - INNER) * RISE / board, CASE, ROOM),
        (DIE * board, SINK * board, CASE_AIR, ROOM_AIR),
        (drawn, 0.0, host, lost),
        hours,
        ambient,
        most=LIMIT,
        steps=_STEPS,
    )
    die, sink, case, room = zip(*made.parts, strict=True)
    sorts = set(cards)
    speed = tuple(
        min(_held(one, watts / drawn, work) for one in sorts) for watts in made.watts
    )
    return Curve(made.times, die, sink, case, room, made.watts, speed, made.held)


def chain(
    build: Build,
    *,
    work: str = "decode",
    hours: float = 3,
    ambient: float = 22,
    mains: float = 120,
    continuous: float = 0.8,
) -> Chain:
    """What of a machine's speed is left behind breaker, supply, limit and heat.

    Parameters
    ----------
    build : Build
        The machine.
    work, hours, ambient, mains
        As ``temperature`` takes them.
    continuous : float
        Share of a breaker that may be drawn for hours.

    Raises
    ------
    Infeasible
        Where circuit or supplies do not carry the machine at its cards' lowest limit.

    Examples
    --------
    >>> rig = Build(gpus="2 x rtx_5090", cpu="7960x", board="trx50_aero_d",
    ...     memory="renegade_pro_128", psu="straight_power_12_1500",
    ...     storage="990_pro_4tb", case="enthoo_pro_2_server", cooling="xe360_tr5")
    >>> made = chain(rig)
    >>> made.binds, made.wall <= made.circuit
    ('circuit', True)
    """
    share(continuous=continuous)
    amps = quoted("rig.amps_low" if mains < LOW else "rig.amps_high").si
    circuit = mains * amps * continuous * build.circuits
    supply = sum(rating(psu, mains) for psu in build.psu)
    host = HOST * float(build.cpu["power"])
    free = [_running(card, build.limit, work) for card in build.gpus]
    binds = "limit" if any(one.throttled for one in free) else "work"
    wanted = sum(one.draw for one in free) + host
    allowed = min(supply, circuit * supply / wall(build, supply, mains=mains))
    limit = build.limit
    if wanted > allowed:
        binds = "supply" if allowed == supply else "circuit"
        limit = _shared(build, allowed - host, work, circuit, supply)
        free = [_running(card, limit, work) for card in build.gpus]
    delivered = sum(one.draw for one in free) + host
    curve = temperature(build, hours, ambient, work=work, limit=limit, mains=mains)
    if curve.held:
        binds, delivered = "heat", curve.watts[-1] + host
    drawn = wall(build, delivered, mains=mains)
    return Chain(
        circuit,
        supply,
        drawn,
        delivered,
        limit or max(one.limit for one in free),
        binds,
        curve.speed[-1],
        curve,
    )


def tokens_per_joule(tokens_per_s: float, build: Build, **told: Any) -> float:
    """Tokens a joule from the wall, after hours of work.

    Parameters
    ----------
    tokens_per_s : float
        Of the machine where nothing limits it: ``speed``'s or ``serving.estimate``'s.
    build : Build
        The machine.
    **told
        As ``chain`` takes them.

    Raises
    ------
    ValueError
        For tokens that are none.
    """
    above_zero(tokens_per_s=tokens_per_s)
    made = chain(build, **told)
    return tokens_per_s * made.speed / made.wall


def _running(card: Component, limit: float | None, work: str) -> Power:
    """A card at its limit."""
    if not card.device:
        raise UnknownSpec(f"{card.name}: no device of `hardware` stands for it")
    return power(card.device, limit, work=work)


def _held(one: Power, share_left: float, work: str) -> float:
    """Speed of a card that heat holds at a share of its draw; 0 where that is idle."""
    if share_left >= 1:
        return one.speed
    try:
        return power(one.card, one.draw * share_left, work=work).speed
    except ValueError:
        return 0.0


def _shared(
    build: Build, watts: float, work: str, circuit: float, supply: float
) -> float:
    """One limit for every card that makes them draw so many watts together."""
    least = max(float(card.get("least", 0.0)) for card in build.gpus)
    low, high = 0.0, max(float(card["power"]) for card in build.gpus)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if _drawn(build, middle, work) <= watts else (low, middle)
        )
    if low < least or not _drawn(build, low, work):
        raise Infeasible(
            f"{len(build.gpus)} cards at {low:.0f} W each, below what they run at: the "
            f"circuit gives {circuit:,.0f} W and the supplies {supply:,.0f} W"
        )
    return low


def _drawn(build: Build, limit: float, work: str) -> float:
    """Watts of all cards at a limit; 0 where one draws more without work."""
    try:
        return sum(_running(card, limit, work).draw for card in build.gpus)
    except ValueError:
        return 0.0
