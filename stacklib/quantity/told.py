"""What a reader is told of a number, derived from its derivation alone."""

from __future__ import annotations

from collections.abc import Iterator

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
ORDER = ("claimed", "measured", "predicted", "simulated", "spec", "exact")


def exact(call: str) -> bool:
    """Whether a count was made without a run: a length, a sum, a product of shapes."""
    return call.startswith(("len(", "sum(", COUNT))


def told(q: Quantity) -> str:
    """How ``q`` was come by: *spec*, *exact*, *simulated*, *predicted*, *measured*
    or *claimed*; for a leaf also *chosen* and *assumed*.

    A model's stamp makes a prediction. Sums and products of data-sheet values are
    predictions too as soon as they say how long, how much energy or how much money; a
    ratio or a total of them is still the data sheet's. A cost or a time that is made
    of a claim and something else is our prediction from that claim. Arithmetic on
    counts, givens and constants is exact, and as soon as an assumption is among them
    assumed.
    """
    if q.family:
        return "predicted"
    if q.kind == "counted" and exact(q.note):
        return "exact"
    if q.kind == "counted" and {*map(told, q.inputs)} == {"measured"}:
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
    word = told(part)
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


def bare(q: Quantity) -> list[Quantity]:
    """The leaves that do not say what they are, repeats left out."""
    found: list[Quantity] = []
    seen: set[int] = set()

    def visit(part: Quantity) -> None:
        if id(part) in seen:
            return
        seen.add(id(part))
        if part.kind == "bare":
            found.append(part)
        for below in parts(part):
            visit(below)

    visit(q)
    return found


def refuse_bare(name: str, q: Quantity) -> None:
    """ValueError, with labels and the remedy, where the book would show typed numbers.

    ``name``: what is shown, as the message calls it.
    """
    unknown = bare(q)
    if unknown:
        leaves = ", ".join(repr(leaf) for leaf in unknown[:4])
        raise ValueError(
            f"{name}: {leaves}: a typed number; say what it is with chosen(), "
            "assumed(why=), counted() or constant()"
        )


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
    seen: set[int] = set()
    todo = [q]
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if len(found := sorted(wholes(part))) > 1:
            raise ValueError(
                f"{name}: a sum over lines of two accounts, {found[0]!r} and "
                f"{found[1]!r}: put the line into one of them with Account.with_()"
            )
        todo.extend(parts(part))
