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
from stacklib.quantity import quoted
from stacklib.quantity.bounds import above_zero, share
from stacklib.roofline.work.fit import Infeasible

from .build import Build
from .rules_power import LOW
from .thermal import heat
from .voltage import Power, power

KEYS = "host rise inner die sink case case_capacity room room_capacity room_size limit"
HOST, RISE, INNER, DIE, SINK, CASE, CASE_AIR, ROOM, ROOM_AIR, SQUARE, LIMIT = (
    quoted(f"heat.{name}").si for name in KEYS.split()
)
_STEPS = 240
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Curve:
    """A machine that works for hours in a closed room; its cards are taken as one."""

    times: tuple[float, ...]  # seconds
    die: tuple[float, ...]  # degrees Celsius, as of the other parts
    sink: tuple[float, ...]
    case: tuple[float, ...]
    room: tuple[float, ...]
    watts: tuple[float, ...]  # that all cards draw
    speed: tuple[float, ...]  # of the slowest, over its speed without any limit
    held: float  # seconds in which the dies were at their limit


@dataclass(frozen=True, slots=True)
class Chain:
    """What each link of the chain allows, and what the machine takes."""

    circuit: float  # watts that the outlet gives for hours, all circuits
    supply: float  # watts that the supplies deliver
    wall: float  # watts drawn from the wall
    delivered: float  # watts behind the supplies
    limit: float  # watts of each card after circuit and supplies
    binds: str  # ``circuit``, ``supply``, ``heat``, ``limit`` (by hand) or ``work``
    speed: float  # over that without any limit, at the end of the hours
    curve: Curve


def rating(psu: Component, mains: float) -> float:
    """Watts that a supply delivers at a voltage of the outlet."""
    low = mains < LOW and "watts_low" in psu.values
    return float(psu["watts_low" if low else "watts"])


def wall(build: Build, delivered: float, *, mains: float = 120) -> float:
    """Watts from the wall for watts behind the supplies, which share them by rating.

    - raises ``Infeasible`` for more than the supplies deliver, with the sum
    """
    above_zero(delivered=delivered, mains=mains)
    have = sum(rating(psu, mains) for psu in build.psu)
    shares = ((psu, quoted(f"rig.{psu['level']}").si) for psu in build.psu)
    drawn = sum(rating(psu, mains) / share for psu, share in shares)
    if delivered > have:
        raise Infeasible(f"{delivered:,.0f} W > {have:,.0f} W that supplies deliver")
    return float(delivered / have * drawn)


def temperature(
    build: Build,
    hours: float,
    ambient: float,
    *,
    work: str = "decode",
    limit: float | None = None,
    mains: float = 120,
    room: float = SQUARE,
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
    room : float
        Square metres of the closed room.

    Raises
    ------
    ValueError
        For hours, degrees or square metres that are none.
    Infeasible
        Where dies stay too hot although their cards do no work.
    UnknownSpec
        For a card, processor or supply without the field that is needed.
    """
    above_zero(room=room)
    cards = _running(build, limit or build.limit, work)
    drawn, host = sum(one.draw for one in cards), _host(build)
    lost = wall(build, drawn + host, mains=mains) - drawn - host
    board = sum(float(card["power"]) for card in build.gpus)
    inner, outer = INNER * RISE / board, (1 - INNER) * RISE / board
    resistances = inner, outer, CASE, ROOM * SQUARE / room
    capacities = DIE * board, SINK * board, CASE_AIR, ROOM_AIR * room / SQUARE
    parts = resistances, capacities, (drawn, 0.0, host, lost)
    made = heat(*parts, hours, ambient, most=LIMIT, steps=_STEPS)
    left = [watts / drawn for watts in made.watts]
    speed = tuple(min(_held(one, share) for one in {*cards}) for share in left)
    if not min(speed):
        outside = f"{room:g} m2, {ambient:g} C outside"
        says = f"dies pass {LIMIT:.0f} C though their cards do no work: {outside}"
        raise Infeasible(says)
    die, sink, case, air = zip(*made.parts, strict=True)
    return Curve(made.times, die, sink, case, air, made.watts, speed, made.held)


def chain(
    build: Build,
    *,
    work: str = "decode",
    hours: float = 3,
    ambient: float = 22,
    mains: float = 120,
    continuous: float = 0.8,
    room: float = SQUARE,
) -> Chain:
    """What of a machine's speed is left behind breaker, supply, limit and heat.

    Parameters
    ----------
    build : Build
        The machine.
    work, hours, ambient, mains, room
        As ``temperature`` takes them.
    continuous : float
        Share of a breaker that may be drawn for hours.

    Raises
    ------
    Infeasible
        Where circuit or supplies do not carry the machine at its cards' lowest limit.

    Examples
    --------
    >>> rig = Build(gpus="6 x rtx_3090", cpu="7960x", board="trx50_aero_d",
    ...     memory="renegade_pro_128", psu=["evga_1600_p2"] * 2,
    ...     storage="990_pro_4tb", case="enthoo_pro_2_server", cooling="xe360_tr5")
    >>> made = chain(rig)
    >>> made.binds, made.wall <= made.circuit
    ('circuit', True)
    """
    share(continuous=continuous)
    above_zero(continuous=continuous)
    amps = quoted("rig.amps_low" if mains < LOW else "rig.amps_high").si
    circuit = mains * amps * continuous * build.circuits
    supply, host = sum(rating(psu, mains) for psu in build.psu), _host(build)
    limit, cards = build.limit, _running(build, build.limit, work)
    binds = "limit" if any(one.speed < 1 for one in cards) else "work"
    allowed = min(supply, circuit * supply / wall(build, supply, mains=mains))
    if sum(one.draw for one in cards) + host > allowed:
        binds = "supply" if allowed == supply else "circuit"
        if not (limit := _shared(build, allowed - host, work)):
            each = f"{len(cards)} cards at {(allowed - host) / len(cards):.0f} W each"
            gives = f"circuit gives {circuit:,.0f} W and the supplies {supply:,.0f} W"
            raise Infeasible(f"{each}, below what they run at: the {gives}")
        cards = _running(build, limit, work)
    told: dict[str, Any] = {"work": work, "limit": limit, "mains": mains, "room": room}
    curve = temperature(build, hours, ambient, **told)
    binds, limit = "heat" if curve.held else binds, max(one.limit for one in cards)
    delivered = curve.watts[-1] + host
    drawn, speed = wall(build, delivered, mains=mains), curve.speed[-1]
    return Chain(circuit, supply, drawn, delivered, limit, binds, speed, curve)


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


def _host(build: Build) -> float:
    """Watts of the processor while cards work."""
    return HOST * float(build.cpu["power"])


def _running(build: Build, limit: float | None, work: str) -> list[Power]:
    """Each card at its limit."""
    return [power(card.device, limit, work=work) for card in build.gpus]


def _held(one: Power, left: float) -> float:
    """Speed of a card that heat holds at a share of its draw; 0 where that is idle."""
    if left >= 1:
        return one.speed
    try:
        return power(one.card, one.draw * left, work=one.work).speed
    except ValueError:
        return 0.0


def _shared(build: Build, watts: float, work: str) -> float:
    """One limit for all cards so that they draw so many watts; 0 where none does."""
    low = max(float(card.get("least", 0.0)) for card in build.gpus)
    high, found = max(float(card["power"]) for card in build.gpus), 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        try:
            fits = sum(one.draw for one in _running(build, middle, work)) <= watts
            found = middle if fits else found
        except ValueError:  # less than a card draws without work
            fits = True
        low, high = (middle, high) if fits else (low, middle)
    return found
