"""What is wrong with a machine that stands there, and the tokens that mending gives.

Each finding is a rule of its own: a link below its slot, a slot below its card, a limit
of power, heat, a supply that brakes, a way through memory. Cards with one fault are one
finding. What mending gives is ``speed`` of the rig as it would be, over ``speed`` as it
is, with the band.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stacklib.interconnect.networks.pcie import WORDS, slot
from stacklib.quantity.bounds import whole
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates.asked import SPLITS

from .build import table
from .cards import Link, own_link
from .findings import Finding
from .rig import Card, Rig
from .splits import Speed, speed
from .voltage import WORK, rate

HELD = {  # rule: reasons that nvidia-smi gives for a low clock
    "heat": ("SW Thermal Slowdown", "HW Thermal Slowdown"),
    "brake": ("HW Power Brake Slowdown", "HW Slowdown"),
}
SLOW = {name for names in HELD.values() for name in names}
COMMANDS = {
    "links": "nvidia-smi --query-gpu=name,utilization.gpu,pcie.link.gen.current,"
    "pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max --format=csv   "
    "# under load: the current ones as the highest",
    "clocks": "nvidia-smi -q -d POWER,CLOCK,PERFORMANCE   # under load",
    "ways": "nvidia-smi topo -m",
}
TOLD = table("faults", "key")
DECODING = ("decode", "low", "high")  # rates of a run


class Fault(NamedTuple):
    """What one card shows: a row of words, and what mending changes of the card."""

    key: str
    sum: str
    changes: dict[str, Any] | None  # None: it cannot be decided
    words: dict[str, Any]  # that stand in the row's

    def ailment(self, cards: list[int], name: str) -> Ailment:
        """Of the cards that show it, without what mending gives."""
        row, numbers = TOLD[self.key], ", ".join(map(str, cards))
        says = row["says"].format(**self.words)
        if cards:
            says = f"card{'s' * (len(cards) > 1)} {numbers}: {says}"
        todo = row["todo"].format(**self.words)
        return Ailment(
            row["rule"],
            "undecided" if self.changes is None else "broken",
            says,
            self.sum,
            name,
            (),
            todo=todo.replace("{cards}", numbers.replace(" ", "")),
            command=COMMANDS[row["command"]],
        )


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
        now, after = self.now, self.after
        return after.decode - now.decode if now and after else 0.0


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
        now = running(rig, workload, split, context)
    except Infeasible as wrong:
        says, name = "the workload does not fit", rig.hands[0].name
        return [Ailment("fits", "broken", says, str(wrong), name, ())]
    groups: dict[tuple[str, str, str], tuple[Fault, list[int]]] = {}
    for at, card in enumerate(rig.hands):
        for fault in (*_links(card), *_clocks(card)):
            key = card.name, fault.key, fault.sum
            groups.setdefault(key, (fault, []))[1].append(at)
    found: list[Ailment] = []
    for (name, *_), (fault, which) in groups.items():
        one = fault.ailment(which, name)
        if fault.changes is not None:
            mended = rig.with_cards(which, **fault.changes)
            after = running(mended, workload, now.split, context)
            one = replace(one, now=now, after=after)
        found.append(one)
    if rig.topo and rig.path == WORDS[-1] and not rig.cards.bridged:
        after = running(rig, workload, now.split, context, path="PHB")
        far = Fault("path", "SYS between the farthest pair", {}, {})
        one = far.ailment([], rig.hands[0].name)
        found.append(replace(one, now=now, after=after))
    return [*sorted(found, key=lambda one: -one.gives)]


def running(
    rig: Rig, workload: str, split: str | None, context: int, **swapped: Any
) -> Speed:
    """A workload by a split, or by the faster, at the clocks that the cards keep."""
    runs, wrong = list[Speed](), list[ValueError]()
    cards = rig.cards.swapped(limit=None, **swapped)
    for one in (split,) if split else SPLITS:
        try:
            made = speed(cards, workload, split=one, context=context)
            runs.append(_slowed(made, rig))
        except ValueError as no:
            wrong.append(no)
    if not runs:  # a sum that does not fit says more than a split that is none
        raise max(wrong, key=lambda no: isinstance(no, Infeasible))
    return max(runs, key=lambda run: run.decode)


def _slowed(run: Speed, rig: Rig) -> Speed:
    """A run at the clocks that limits, heat and brakes leave the cards.

    By tensors all wait for the slowest; by layers each is slow for its own part.
    """
    left = {}
    for kind, work in WORK.items():
        shares = [card.limited(kind) for card in rig.hands]
        for at, card in enumerate(rig.hands):
            if card.clock and SLOW & {*card.reasons}:
                clock = rate(min(card.clock, work.top), work)
                shares[at] = min(shares[at], clock)
        alone = len(shares) / sum(1 / share for share in shares)
        left[kind] = min(shares) if run.split == "tensors" else alone
    rates = {one: getattr(run, one) * left["decode"] for one in DECODING}
    return replace(run, prompt=run.prompt * left["prompt"], **rates)


def _links(card: Card) -> Iterator[Fault]:
    """Links below their slot, and slots below their card."""
    (gen, lanes), (most_gen, most), own = card.link, card.most, own_link(card.device)
    at = card.works[0]
    if not card.told:
        yield Fault("untold", f"taken for PCIe {gen} x{lanes}", None, {})
    if lanes < most:
        sum_ = f"x{lanes} < x{most}: {_rate((at, lanes))} of {_rate((at, most))}"
        words = {"lanes": lanes, "most": most}
        yield Fault("lanes", sum_, {"link": (gen, most)}, words)
    if gen < most_gen and card.busy:
        sum_ = f"{_rate((gen, lanes))} < {_rate((most_gen, lanes))}"
        words = {"gen": gen, "most": most_gen}
        yield Fault("generation", sum_, {"link": (most_gen, lanes)}, words)
    elif gen < most_gen:
        load = "at rest" if card.busy is False else "under a load that is not told"
        sum_ = f"PCIe {gen} now, {most_gen} at most"
        yield Fault("rest", sum_, None, {"load": load})
    if slot(*card.most) < slot(*own):
        sum_ = f"{_rate(card.most)} < {_rate(own)}"
        yield Fault("slot", sum_, {"link": own, "most": own}, {})


def _clocks(card: Card) -> Iterator[Fault]:
    """Limits of power, heat, and a supply that brakes."""
    board = float(card.device.tdp.si)
    if card.limit is not None and card.limit < board:
        sum_ = f"{card.limit:.0f} W < {board:.0f} W"
        yield Fault("limit", sum_, {"limit": None}, {"board": board})
    for rule, names in HELD.items():
        hot = rule == "brake" and "HW Thermal Slowdown" in card.reasons
        if mine := [name for name in names if name in card.reasons and not hot]:
            clock = "" if card.clock is None else f"; clock {card.clock:.0%} of boost"
            yield Fault(rule, ", ".join(mine) + clock, {"reasons": ()}, {})


def _rate(link: Link) -> str:
    return f"{slot(*link) / 1e9:.1f} GB/s"
