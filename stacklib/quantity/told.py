"""What a reader is told of a number, derived from its derivation alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .core import Quantity
from .meeting import Comparison

# A leaf's kind, in the reader's word.
WORDS = {
    "spec": "spec",
    "config": "spec",
    "measured": "measured",
    "claimed": "claimed",
    "chosen": "chosen",
    "assumed": "assumed",
    "counted": "simulated",
    "constant": "exact",
    "bare": "bare",
}
MARK = "#"  # in the key of a value of a result file, before its row and its field
COUNT = "counted from its shapes"  # a count that no run made: it is exact
# The word of a sum is that of its weakest part.
ORDER = ("claimed", "predicted", "measured", "simulated", "spec", "exact")
PICKS = ("min", "max", "where")
SMALL = 64  # a whole number up to here is of a formula, whatever its unit
READ = ("claimed", "measured", "spec")


def exact(call: str) -> bool:
    """Whether a count was made without a run: a length, a sum, a product of shapes."""
    return call.startswith(("len(", "sum(", COUNT))


def told(q: Quantity) -> str:
    """How ``q`` was come by: *spec*, *exact*, *simulated*, *predicted*, *measured*
    or *claimed*; for a leaf also *chosen* and *assumed*.

    A model's stamp makes a prediction. Sums and products of data-sheet values are
    predictions too as soon as they say how long, how much energy or how much money; a
    ratio or a total of them is still the data sheet's. A cost or a time that is made
    of a claim and something else is our prediction from that claim, and so is a
    measurement that a typed number scales, shifts or replaces. Arithmetic on counts,
    givens and constants is exact, and as soon as an assumption is among them assumed.
    """
    word = _word(q)
    return "predicted" if word == "measured" and _adjusted(q) else word


def _word(q: Quantity) -> str:
    if q.family:
        return "predicted"
    if q.kind == "counted" and exact(q.note):
        return "exact"
    if q.kind == "counted" and {*map(_word, q.inputs)} == {"measured"}:
        return "measured"  # a run over rows of a record
    if not q.inputs or q.kind == "counted":
        return WORDS.get(q.kind, q.kind)
    words = {_inside(part) for part in parts(q)}
    if "assumed" in words:
        if words <= {"assumed", "exact"}:
            return "assumed"
        words = words - {"assumed"} | {"predicted"}
    found = next(word for word in ORDER if word in words)
    times = any(q.shown.dimension(name) > 0 for name in ("s", "J", "USD"))
    ours = words - {"claimed", "exact"}
    if found == "claimed" and ours and (times or ours & {"predicted", "simulated"}):
        return "predicted"
    return "predicted" if found == "spec" and times else found


def exact_count(q: Quantity) -> bool:
    """Whether a number is a whole one without a unit, and neither measured nor a
    model's: every digit of it counts.
    """
    plain = not q.shown.dims and not q.shown.symbol and q.si.is_integer()
    return plain and told(q) not in ("predicted", "measured", "assumed")


def _inside(part: Quantity) -> str:
    word = _word(part)
    if part.kind == "measured" and MARK not in part.key:  # of the database
        return "spec" if {".", "/"} & {*part.key} else word
    return {"chosen": "exact", "bare": "predicted"}.get(word, word)


def parts(q: Quantity) -> Iterator[Quantity]:
    """The inputs of a number, those of its comparisons too."""
    for part in q.inputs:
        yield from part.inputs if isinstance(part, Comparison) else (part,)


def families(q: Quantity) -> set[str]:
    """The prediction families whose error bands a number carries."""
    if q.family:
        return {q.family}
    return {family for part in parts(q) for family in families(part)}


def under(q: Quantity) -> Iterable[Quantity]:
    """A number and everything under it, each once, inputs before what they make."""
    found: dict[int, Quantity] = {}

    def visit(part: Quantity) -> None:
        if id(part) not in found:
            for below in parts(part):
                visit(below)
            found[id(part)] = part

    visit(q)
    return found.values()


def bare(q: Quantity) -> list[Quantity]:
    """The leaves that do not say what they are, repeats left out."""
    return [part for part in under(q) if part.kind == "bare"]


def of_a_formula(value: float) -> bool:
    """Whether a whole number belongs to a formula: small, of two or ten, or a part."""
    size = max(abs(value), 1 / abs(value)) if value else 1.0
    near = (2.0 ** round(math.log2(size)), 10.0 ** round(math.log10(size)))
    return size <= SMALL or any(math.isclose(size, one) for one in near)


def refuse_bare(name: str, q: Quantity) -> None:
    """ValueError, with labels and the remedy, where the book would show typed numbers.

    That is a leaf which says nothing of itself, what was read times a share that nobody
    named, and a model's stamp on nothing that it was asked.
    ``name``: what is shown, as the message calls it.
    """
    unknown = bare(q)
    if unknown:
        told = ", ".join(repr(leaf) for leaf in unknown[:4])
        raise ValueError(
            f"{name}: {told}: a typed number; say what it is with chosen(), "
            "assumed(why=), counted() or constant()"
        )
    leaves = list(q.leaves())
    if all(leaf.kind == "constant" for leaf in leaves):
        for leaf in (
            one for one in leaves if not one.label and not of_a_formula(one.si)
        ):
            raise ValueError(
                f"{name}: {leaf!r}: a typed number of a unit; say what it is with "
                "chosen(), assumed(why=) or counted()"
            )
    if families(q) and {leaf.kind for leaf in leaves} <= {"chosen", "constant"}:
        raise ValueError(
            f"{name}: {q!r} carries the band of {min(families(q))} and stands on typed "
            "numbers alone; give what its model was asked"
        )
    word = _word(q)
    scaled = _scaled(q, _unnamed, sums=word == "measured") if word in READ else ()
    for part, share in scaled:
        raise ValueError(
            f"{name}: {part!r}: what was read, times {share:.6g}, a typed number; say "
            "what scales it with chosen() or assumed(why=)"
        )


def _unnamed(q: Quantity) -> bool:
    plain = q.kind == "constant" and not (q.label or q.shown.dims)
    return plain and q.si != math.pi


def _given(q: Quantity) -> bool:
    """A number that the page chose, or one that is made of such alone."""
    kinds = {leaf.kind for leaf in q.leaves()}
    return kinds <= {"chosen", "constant"} and bool(q.shown.dims or "chosen" in kinds)


def _adjusted(q: Quantity) -> bool:
    """Whether a given of the page scales, shifts or replaces a measurement in it."""
    for part in under(q):
        sums = [p for p in parts(part) if part.op in ("+", "-") and p.si]
        picked = [p for p in parts(part) if part.op in PICKS and p.si == part.si]
        given = any(map(_given, sums)) or (picked and all(map(_given, picked)))
        if given and any(leaf.kind == "measured" for leaf in part.leaves()):
            return True
    return next(_scaled(q, _free), None) is not None


def _free(q: Quantity) -> bool:
    return _unnamed(q) or (q.kind == "chosen" and not q.shown.dims)


def _scaled(
    q: Quantity, free: Callable[[Quantity], bool], sums: bool = True
) -> Iterator[tuple[Quantity, float]]:
    """Products of what was read with typed numbers that come to no whole number, nor to
    one part of a whole one: each with what they come to.

    ``free``: which leaves are such numbers. ``sums``: whether what is taken twice in a
    sum counts as one product, a share of it less.
    """
    known: dict[int, tuple[float, dict[Any, int]]] = {}  # these, and other factors
    read: set[Any] = set()  # factors that hold what was read
    for part in under(q):
        name = part.key or id(part)
        inputs = [known[id(below)] for below in parts(part)]
        share, factors = 1.0, {name: 1}
        if free(part):
            share, factors = part.si, {}
        elif part.op in ("*", "/"):
            (share, first), (other, second) = inputs
            power = 1 if part.op == "*" else -1
            both = {
                n: first.get(n, 0) + power * second.get(n, 0) for n in first | second
            }
            share *= other**power
            factors = {n: times for n, times in both.items() if times}
        elif sums and part.op in ("+", "-") and inputs[0][1] == inputs[1][1]:
            share = inputs[0][0] + inputs[1][0] * (1 if part.op == "+" else -1)
            factors = inputs[0][1]
        elif WORDS.get(part.kind) in READ or any(read & {*f} for _, f in inputs):
            read.add(name)
        if part.label and not read & {*factors} and not free(part):
            share, factors = 1.0, {name: 1}  # a number that somebody named
        known[id(part)] = share, factors
        if read & {*factors} and share and not (_whole(share) or _whole(1 / share)):
            yield part, share


def _whole(share: float) -> bool:
    return math.isclose(share, round(share), rel_tol=1e-9)


def wholes(q: Quantity) -> set[str]:
    """The accounts whose lines a sum adds up, as often as it takes each."""
    if q.whole or q.op not in ("+", "*"):
        return {q.whole} - {""}
    like = [p for p in parts(q) if q.op == "+" or p.shown.dims == q.shown.dims]
    return {whole for part in like for whole in wholes(part)}


def refuse_mixed(name: str, q: Quantity) -> None:
    """ValueError, naming both, for a sum over lines of two accounts.

    ``name``: what is shown, as the message calls it.
    """
    for part in under(q):
        if len(found := sorted(wholes(part))) > 1:
            raise ValueError(
                f"{name}: a sum over lines of two accounts, {found[0]!r} and "
                f"{found[1]!r}: put the line into one of them with Account.with_()"
            )
