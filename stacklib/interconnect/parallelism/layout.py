"""A layout: how many ways each parallelism cuts a model, and what may be cut so.

Chips are numbered with tensor parallelism innermost, then context, then data, then
pipeline, as Megatron-LM does: the exchange that sends most has the shortest way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from stacklib.interconnect.pipelines.closed import SCHEDULES
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .shape import Shape
from .split import read

RECOMPUTE = {"none": 0.0, "selective": 0.0, "full": 1.0}
_COUNTS = ("dp", "tp", "pp", "ep", "cp", "micro", "interleave")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a model and its batch are cut over chips.

    Parameters
    ----------
    dp, tp, pp, cp : int or array
        Ways by which batch (data), matrices (tensor), layers (pipeline) and tokens of a
        sequence (context) are cut; their product is the number of chips.
    ep : int or array
        Ways by which experts are cut, among the chips of data and context parallelism.
    etp : int or array, optional
        Ways by which each expert's matrices are cut: as ``tp`` where it is not told.
        Where fewer, chips of tensor parallelism hold experts of their own.
    sequence : bool
        Whether what tensor parallelism would keep on each of its chips (norms,
        residuals) is cut by tokens.
    zero : int
        What data parallelism cuts too: 1 optimizer, 2 gradients, 3 weights (FSDP).
    micro : int or array
        Sequences of a microbatch.
    interleave : int or array
        Pieces in which a pipeline's stage holds its layers.
    schedule : str
        A pipeline's order of work: ``1f1b``, ``gpipe``, ``zb-h1``, ``zb-h2`` or
        ``dualpipe``, which runs expert parallelism's exchanges beside products and
        dispatches in their format.
    split : str or sequence of int, optional
        Layers of each of a pipeline's pp x interleave parts, in the order in which a
        token passes them, or Megatron-LM's text (``Ett|ttt|tL``). Without it, the
        split whose slowest stage is the fastest, embedding and head counted.
    later : int
        Layers that predict further tokens (multi-token prediction), behind the others.
    recompute : str or float
        What backward computes again: ``none``; ``selective``, what is large and cheap
        (scores where they are written; else norms, the activation, and heads that
        latents expand to); ``full``; or the share of the layers' forward.
    overlap : bool or float
        Whether exchanges of tensor and expert parallelism run beside products, or
        which share of them does.

    Raises
    ------
    ValueError
        For counts below one, a zero that is none of 0 to 3, and a split that cannot
        be read.

    Examples
    --------
    >>> Layout(dp=2, tp=8, pp=4).chips
    64
    >>> Layout(pp=3, split="Ett|ttt|L").split
    (2, 3, 0)
    """

    dp: Any = 1
    tp: Any = 1
    pp: Any = 1
    ep: Any = 1
    cp: Any = 1
    sequence: Any = False
    zero: Any = 0
    micro: Any = 1
    interleave: Any = 1
    recompute: Any = "none"
    overlap: Any = False
    schedule: str = "1f1b"
    split: Any = None
    later: int = 0
    etp: Any = None

    def __post_init__(self) -> None:
        for name in _COUNTS if self.etp is None else (*_COUNTS, "etp"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                if getattr(value, "shape", ()) == ():
                    whole(**{name: value})
                    value = int(value)
                elif not (value >= 1).all():
                    raise ValueError(f"{name} has counts below one")
                else:
                    value = value * 1.0  # so that no product of counts runs over
                object.__setattr__(self, name, value)
        if isinstance(self.recompute, str) and self.recompute not in RECOMPUTE:
            told = resolve(self.recompute, RECOMPUTE, "recomputation")
            object.__setattr__(self, "recompute", told)
        if self.schedule not in SCHEDULES:
            told = resolve(self.schedule, SCHEDULES, "pipeline schedule")
            object.__setattr__(self, "schedule", told)
        whole(0, later=self.later)
        if isinstance(self.split, str):
            object.__setattr__(self, "split", read(self.split))
        elif self.split is not None:
            try:
                split = tuple(self.split)
            except TypeError:
                raise ValueError(
                    f"split = {self.split!r}: layers of each part, or a text, is needed"
                ) from None
            for at, many in enumerate(split):
                whole(0, **{f"layers of part {at} of the split": many})
            object.__setattr__(self, "split", tuple(map(int, split)))
        share = self.overlap
        if isinstance(share, str) or not _all((share >= 0) & (share <= 1)):
            raise ValueError(f"overlap = {share!r}: yes, no or a share from 0 to 1")
        if self.split is not None and any(
            getattr(one, "shape", ()) for one in (self.pp, self.interleave)
        ):
            raise ValueError(
                "a split is one layout's, and pp or interleave is an array"
            )
        zero = self.zero
        if not (zero in range(4) if isinstance(zero, int) else _all(zero < 4)):
            raise ValueError(f"zero = {zero!r}: 0, 1, 2 or 3")

    @property
    def chips(self) -> Any:
        """How many chips it takes."""
        return self.dp * self.tp * self.pp * self.cp

    @property
    def inner(self) -> Any:
        """Ways by which an expert's matrices are cut."""
        return self.tp if self.etp is None else self.etp

    @property
    def again(self) -> Any:
        """Share of the layers' forward that backward computes again."""
        chosen = self.recompute
        return RECOMPUTE[chosen] if isinstance(chosen, str) else chosen

    @property
    def lean(self) -> bool:
        """Whether what is large and cheap is computed again, not kept."""
        return self.recompute == "selective"

    def text(self) -> str:
        """The cuts in words, those by one left out."""
        said = [f"{n} {getattr(self, n)}" for n in ("tp", "cp", "ep", "pp", "dp")]
        cuts = [word for word in said if not word.endswith(" 1")] or ["one chip"]
        cuts += [f"micro {self.micro}"]
        if self.etp is not None:
            cuts.append(f"etp {self.etp}")
        if self.interleave > 1:
            cuts.append(f"interleave {self.interleave}")
        if self.schedule != "1f1b":
            cuts.append(self.schedule)
        if self.later:
            cuts.append(f"later {self.later}")
        if self.zero:
            cuts.append(f"zero {self.zero}")
        if self.recompute not in ("none", 0):
            cuts.append(f"recompute {self.recompute}")
        return ", ".join(cuts)


_SPELLED = {
    "vp": "interleave",
    "vpp": "interleave",
    "vs": "interleave",
    "mbs": "micro",
    "mtp": "later",
    "sp": "sequence",
}
_TOLD = ("recompute", "schedule", "overlap", "sequence")


def read_layout(text: str, chips: int, split: str | None = None) -> Layout:
    """A layout from its words, as ``Layout.text`` says them: ``tp 8, pp 16, zero 1``.

    - ``dp`` is what fills the chips unless it is said; activations are cut by tokens
      where tensor parallelism is, unless ``sequence 0`` is said.
    - raises ``ValueError`` for words that are none of a layout's.

    >>> read_layout("tp 8, pp=4, vpp 2, dualpipe", 64).dp
    2
    """
    said: dict[str, Any] = {"split": split}
    for word in filter(None, re.split(r"[,;\s]*[,;]\s*", text.strip().lower())):
        name, _, value = re.sub(r"[=_\s]+", " ", word).strip().partition(" ")
        glued = re.fullmatch(r"([a-z]+)(\d+)", name)
        if not value and glued and glued[1] != "1f":
            name, value = glued[1], glued[2]
        name = _SPELLED.get(name, name)
        if not value and name.replace(" ", "-") in SCHEDULES:
            name, value = "schedule", name
        if name not in _COUNTS and name not in (*_TOLD, "zero", "later", "etp"):
            raise ValueError(
                f"layout {text!r}: {word!r} is none of a layout's words, such as tp 8, "
                "pp 16, ep 64, interleave 2, zero 1, recompute full, dualpipe"
            )
        if name in ("recompute", "schedule"):
            said[name] = value.replace(" ", "-")
        elif not value.isdecimal():
            raise ValueError(f"layout {text!r}: {word!r} needs a whole number")
        else:
            said[name] = int(value)
    for name in ("sequence", "overlap"):
        if name in said:
            said[name] = bool(said[name])
    found = Layout(**said)
    said.setdefault("sequence", found.tp > 1)
    if "dp" not in said:
        ways = found.tp * found.pp * found.cp
        if chips % ways:
            raise ValueError(
                f"layout {text!r}: its {ways} ways do not fill {chips} chips"
            )
        said["dp"] = chips // ways
    return Layout(**said)


def _all(condition: Any) -> bool:
    return bool(condition.all() if hasattr(condition, "all") else condition)


def faults(layout: Layout, shape: Shape, chips: Any, batch: Any, length: int) -> Any:
    """What a layout may fail to divide: whether it does, and what to say then."""
    tp, cp, ep, dp = layout.tp, layout.cp, layout.ep, layout.dp
    yield layout.chips != chips, "it fills {0.chips} chips, and there are {1}"
    yield shape.heads % tp != 0, "tp = {0.tp} does not divide {2.heads} heads"
    yield (
        (shape.kv_heads % tp != 0) & (tp % shape.kv_heads != 0),
        "tp = {0.tp} and {2.kv_heads} heads of keys do not divide each other",
    )
    parts = layout.pp * layout.interleave
    yield (
        parts > len(shape.pattern) + 2,
        "pp = {0.pp} times interleave = {0.interleave} makes more parts than "
        "{2.layers} layers, embedding and head",
    )
    yield length % cp != 0, "cp = {0.cp} does not divide {4} tokens"
    yield (
        batch % (dp * layout.micro) != 0,
        "dp = {0.dp} times micro = {0.micro} does not divide a batch of {3} sequences",
    )
    yield (
        (layout.interleave > 1) & (layout.pp == 1),
        "interleave = {0.interleave} needs a pipeline, and pp = {0.pp}",
    )
    if layout.split is not None:
        yield from _split_faults(layout, shape, parts)
    if layout.schedule != "1f1b":
        yield from _schedule_faults(layout, batch // (dp * layout.micro))
    if not (type(ep) is int and ep == 1):
        yield (
            (shape.experts or 1) % ep != 0,
            "ep = {0.ep} does not divide {2.experts} experts",
        )
        yield (
            (dp * cp * tp) % (ep * layout.inner) != 0,
            "ep = {0.ep} x etp = {0.inner} does not divide tp = {0.tp} x dp = {0.dp} x "
            "cp = {0.cp}",
        )
    if layout.etp is not None:
        yield tp % layout.etp != 0, "etp = {0.etp} does not divide tp = {0.tp}"


def _split_faults(layout: Layout, shape: Shape, parts: Any) -> Any:
    """What may be wrong with a split that is told."""
    split = layout.split
    said = "+".join(map(str, split))
    yield (
        parts != len(split),
        f"split = {said} has {len(split)} parts, and pp = {{0.pp}} times interleave = "
        "{0.interleave} needs as many",
    )
    yield (
        sum(split) != len(shape.pattern),
        f"split = {said} holds {sum(split)} layers, and there are {len(shape.pattern)}",
    )
    empty = [at for at, many in enumerate(split[1:-1], 1) if not many]
    yield bool(empty), f"split = {said}: part {empty[:1]} in the middle has no layer"


def _schedule_faults(layout: Layout, many: Any) -> Any:
    """What a schedule that is not 1F1B asks of pieces and microbatches."""
    name, pp = layout.schedule, layout.pp
    if name != "gpipe":
        yield (
            layout.interleave != 1,
            "schedule = {0.schedule} holds layers in one piece, and interleave = "
            "{0.interleave}",
        )
    if name == "dualpipe":
        yield pp % 2 != 0, "dualpipe pairs stages, and pp = {0.pp} is odd"
        yield many % 2 != 0, "dualpipe runs half of the microbatches each way"
    least = {
        "gpipe": 1,
        "1f1b": 1,
        "zb-h1": pp,
        "zb-h2": 2 * pp - 1,
        "dualpipe": 2 * pp,
    }
    yield (
        many < least[name],
        "schedule = {0.schedule} on pp = {0.pp} stages has too few microbatches",
    )


def hold(layout: Layout, shape: Shape, chips: Any, batch: Any, length: int) -> Any:
    """Whether each layout of an array fails to divide; a single one raises."""
    bad: Any = False
    for wrong, words in faults(layout, shape, chips, batch, length):
        if wrong is False or wrong is True or getattr(wrong, "shape", ()) == ():
            if wrong:
                said = words.format(layout, chips, shape, batch, length)
                raise ValueError(f"{shape.name}, layout {layout.text()}: {said}")
        else:
            bad = bad | wrong
    return bad
