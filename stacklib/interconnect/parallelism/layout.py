"""A layout: how many ways each parallelism cuts a model, and what may be cut so.

Chips are numbered with tensor parallelism innermost, then context, then data, then
pipeline, as Megatron-LM does: the exchange that sends most has the shortest way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .shape import Shape

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
    sequence : bool
        Whether what tensor parallelism would keep on each of its chips (norms,
        residuals) is cut by tokens.
    zero : int
        What data parallelism cuts too: 1 optimizer, 2 gradients, 3 weights (FSDP).
    micro : int or array
        Sequences of a microbatch.
    interleave : int or array
        Pieces in which a pipeline's stage holds its layers.
    recompute : str or float
        What backward computes again: ``none``; ``selective``, what is large and cheap
        (scores where they are written; else norms and the activation); ``full``; or
        the share of the layers' forward.
    overlap : bool or float
        Whether exchanges of tensor and expert parallelism run beside products, or
        which share of them does.

    Raises
    ------
    ValueError
        For counts below one, and a zero that is none of 0 to 3.

    Examples
    --------
    >>> Layout(dp=2, tp=8, pp=4).chips
    64
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

    def __post_init__(self) -> None:
        for name in _COUNTS:
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                if getattr(value, "shape", ()) == ():
                    whole(**{name: value})
                elif not (value >= 1).all():
                    raise ValueError(f"{name} has counts below one")
        if isinstance(self.recompute, str):
            resolve(self.recompute, RECOMPUTE, "recomputation")
        zero = self.zero
        if not (zero in range(4) if isinstance(zero, int) else _all(zero < 4)):
            raise ValueError(f"zero = {zero!r}: 0, 1, 2 or 3")

    @property
    def chips(self) -> Any:
        """How many chips it takes."""
        return self.dp * self.tp * self.pp * self.cp

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
        if self.interleave > 1:
            cuts.append(f"interleave {self.interleave}")
        if self.zero:
            cuts.append(f"zero {self.zero}")
        if self.recompute not in ("none", 0):
            cuts.append(f"recompute {self.recompute}")
        return ", ".join(cuts)


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
    yield (
        shape.layers % (layout.pp * layout.interleave) != 0,
        "pp = {0.pp} times interleave = {0.interleave} does not divide {2.layers} "
        "layers",
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
    if not (type(ep) is int and ep == 1):
        yield (
            (shape.experts or 1) % ep != 0,
            "ep = {0.ep} does not divide {2.experts} experts",
        )
        yield (
            (dp * cp) % ep != 0,
            "ep = {0.ep} does not divide dp = {0.dp} x cp = {0.cp}",
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
