"""What is wrong with a machine that stands there, and the tokens that mending gives.

Each finding is a rule of its own: a link below its slot, a slot below its card, a limit
of power, heat, a supply that brakes, a way through memory. What mending gives is
``speed`` of the rig as it would be, over ``speed`` as it is, with the band.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from stacklib.interconnect.networks.pcie import WORDS, slot
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates.asked import SPLITS

from .cards import Cards, own_link
from .findings import Finding
from .rig import Card, Rig
from .splits import Speed, speed
from .voltage import WORK, rate

HEAT = ("SW Thermal Slowdown", "HW Thermal Slowdown")
Mended = tuple["Ailment", Callable[[Rig], Cards] | None]
BRAKE = ("HW Power Brake Slowdown", "HW Slowdown")


@dataclass(frozen=True, slots=True)
class Ailment(Finding):
    """A finding of a rig, and what mending it gives.

    - ``now``, ``after``: the workload as the rig is, and as it would be
    - ``todo``: what to do; ``command``: what would prove this wrong
    """

    now: Speed | None = None
    after: Speed | None = None
    todo: str = ""
    command: str = ""

    @property
    def gives(self) -> float:
        """Tokens a second more."""
        if self.now is None or self.after is None:
            return 0.0
        return self.after.decode - self.now.decode


def diagnose(
    rig: Rig, workload: str, *, split: str | None = None, context: int = 4096
) -> list[Finding]:
    """What keeps a rig below what its cards can do, the costliest first.

    Parameters
    ----------
    rig : Rig
        Of ``read_rig``.
    workload : str
        A model and its format: ``"llama-3-70b:q4_k_m"``.
    split : str, optional
        ``"layers"`` or ``"tensors"``; the faster one where it is left out.
    context : int
        Tokens cached.

    Returns
    -------
    list of Finding
        Each an ``Ailment``: with the sum, what to do, and the tokens a second that it
        gives. Empty where every card runs as it should. A workload that does not fit
        is the only finding.

    Raises
    ------
    UnknownName
        For a model or a format that is not known.

    Examples
    --------
    >>> from stacklib.diy.rig import read_rig
    >>> from stacklib.hardware.nvidia_smi import smi_sample
    >>> rig = read_rig(smi=smi_sample("rtx4090_riser"))
    >>> [found.rule for found in diagnose(rig, "qwen3-14b:q4_k_m")]
    ['link-lanes', 'link-generation']
    """
    whole(context=context)
    try:
        now, how = _best(rig.cards, workload, split, context)
    except Infeasible as wrong:
        says, name = "the workload does not fit", rig.hands[0].name
        return [Ailment("fits", "broken", says, str(wrong), name, ())]
    found: list[Ailment] = []
    for at, card in enumerate(rig.hands):
        for one, mended in (*_links(at, card), *_clocks(at, card)):
            if mended is None:
                found.append(one)
                continue
            after, _ = _best(mended(rig), workload, how, context)
            if one.rule in ("heat", "brake"):
                found.append(replace(one, now=_slowed(now, rig), after=after))
            else:
                found.append(replace(one, now=now, after=after))
    found += _paths(rig, now, context)
    found.sort(key=lambda one: -one.gives)
    return list(found)


def _best(
    cards: Cards, workload: str, split: str | None, context: int
) -> tuple[Speed, str]:
    """A workload by a split, or by the faster."""
    runs: list[tuple[Speed, str]] = []
    wrong: ValueError | None = None
    for one in (split,) if split else SPLITS:
        try:
            runs.append((speed(cards, workload, split=one, context=context), one))
        except ValueError as no:
            wrong = no if wrong is None or isinstance(no, Infeasible) else wrong
    if not runs:
        assert wrong is not None
        raise wrong
    return max(runs, key=lambda run: run[0].decode)


def _slowed(now: Speed, rig: Rig) -> Speed:
    """The workload at the clock of the slowest card that heat or a brake holds."""
    work = WORK["decode"]
    shares = [
        min(1.0, rate(min(card.clock, work.top), work))
        for card in rig.hands
        if card.clock and {*card.reasons} & {*HEAT, *BRAKE}
    ]
    left = min(shares, default=1.0)
    return replace(
        now, decode=now.decode * left, low=now.low * left, high=now.high * left
    )


def _links(at: int, card: Card) -> Iterator[Mended]:
    """Links below their slot, and slots below their card."""
    check = "nvidia-smi -q -d PCIE   # under load: width and generation now as at most"
    gen, lanes = card.link
    most_gen, most = card.most
    if lanes < most:
        yield (
            _linked(
                "link-lanes",
                f"card {at} runs on {lanes} of its {most} lanes",
                f"x{lanes} < x{most}: {_rate(gen, lanes)} of {_rate(gen, most)}",
                card,
                "seat card and riser anew; look for a drive that shares the lanes",
                check,
            ),
            lambda rig: _relinked(rig, at, (rig.hands[at].works[0], most)),
        )
    if gen < most_gen and card.busy:
        yield (
            _linked(
                "link-generation",
                f"card {at} runs at PCIe {gen} where {most_gen} is possible",
                f"{_rate(gen, lanes)} < {_rate(most_gen, lanes)}",
                card,
                "set the slot's generation in the BIOS; an older riser forces it",
                check,
            ),
            lambda rig: _relinked(rig, at, (most_gen, rig.hands[at].works[1])),
        )
    elif gen < most_gen:
        yield (
            Ailment(
                "link-generation",
                "undecided",
                f"card {at} rests, and a link at rest trains down",
                f"PCIe {gen} now, {most_gen} at most",
                card.name,
                (),
                todo="read it again while a model runs",
                command=check,
            ),
            None,
        )
    own = own_link(card.device)
    if slot(*card.most) < slot(*own):
        yield (
            _linked(
                "slot",
                f"the slot of card {at} is narrower than the card",
                f"{_rate(*card.most)} < {_rate(*own)}",
                card,
                "move the card to a wider slot",
                check,
            ),
            lambda rig: _relinked(rig, at, own),
        )


def _clocks(at: int, card: Card) -> Iterator[Mended]:
    """Limits of power, heat, and a supply that brakes."""
    board = float(card.device.tdp.si)
    check = "nvidia-smi -q -d POWER,CLOCK,PERFORMANCE   # under load"
    if card.limit is not None and card.limit < board:
        yield (
            _linked(
                "limit",
                f"card {at} is limited below its board's power",
                f"{card.limit:.0f} W < {board:.0f} W",
                card,
                f"nvidia-smi -i {at} -pl {board:.0f}, if supply and circuit carry it",
                check,
            ),
            lambda rig: rig.with_card(at, limit=None).cards,
        )
    for rule, names, words, todo in (
        ("heat", HEAT, "is held back by heat", "more air, or a lower limit of power"),
        ("brake", BRAKE, "is held back by its supply", "check plugs and the supply"),
    ):
        if mine := [name for name in names if name in card.reasons]:
            clock = "" if card.clock is None else f"; clock {card.clock:.0%} of boost"
            yield (
                _linked(
                    rule,
                    f"card {at} {words}",
                    ", ".join(mine) + clock,
                    card,
                    todo,
                    check,
                ),
                lambda rig: rig.cards,
            )


def _linked(
    rule: str, says: str, sum_: str, card: Card, todo: str, command: str
) -> Ailment:
    return Ailment(
        rule, "broken", says, sum_, card.name, (), todo=todo, command=command
    )


def _relinked(rig: Rig, at: int, link: tuple[int, int]) -> Cards:
    links = list(rig.cards.links)
    links[at] = link
    return rig.as_(tuple(links))


def _rate(generation: int, lanes: int) -> str:
    return f"{slot(generation, lanes) / 1e9:.1f} GB/s"


def _paths(rig: Rig, now: Speed, context: int) -> Iterator[Ailment]:
    """A way that leaves the processor's socket."""
    if rig.topo is None or len(rig.hands) < 2 or rig.cards.bridged:
        return
    if rig.path == WORDS[-1]:
        near = rig.cards.swapped(path="PHB")
        try:
            after = speed(near, now.model, split=now.split, context=context)
        except ValueError:
            return
        yield Ailment(
            "path",
            "broken",
            "two cards are on different sockets",
            "SYS between the farthest pair",
            rig.hands[0].name,
            (),
            now=now,
            after=after,
            todo="move the cards to slots of one processor",
            command="nvidia-smi topo -m",
        )
