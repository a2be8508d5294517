"""What a value stands on: computed, looked up, read back, or from memory.

A verdict of *reproduced* is for what was computed. A tree that hands on one figure of
our database has agreed with that figure's source; so has a printed product divided by
its own printed factors. A figure from memory agrees with nobody.
"""

from __future__ import annotations

from collections.abc import Iterable

from stacklib.quantity import Quantity

FACTS = ("spec", "config", "measured", "claimed")
GIVEN = (*FACTS, "counted", "chosen", "assumed")
PICKS = ("max", "min")
# A product that a sheet prints, and those of its own fields that it is made of.
FACTORS = {
    "peak": ("compute_units", "clock", "tensor_clock"),
    "memory_bandwidth": ("memory_pins", "memory_pin_rate"),
    "bandwidth": ("pins", "pin_rate", "width"),
    "max_threads_per_unit": ("max_warps_per_unit",),
}


def facts(tree: Quantity) -> list[Quantity]:
    """Its leaves that were read somewhere, each once."""
    return _distinct(leaf for leaf in tree.leaves() if leaf.kind in FACTS)


def _distinct(leaves: Iterable[Quantity]) -> list[Quantity]:
    found: dict[tuple[str, str, float], Quantity] = {}
    for leaf in leaves:
        found.setdefault((leaf.key, leaf.label if not leaf.key else "", leaf.si), leaf)
    return list(found.values())


def looked_up(tree: Quantity) -> list[Quantity]:
    """The fact that a tree only hands on; none where it computes.

    One fact, in other units or times constants, is handed on; so is the least or the
    largest of several facts.
    """
    if tree.op in PICKS:
        parts = [looked_up(part) for part in tree.inputs]
        best = next(n for n, part in enumerate(tree.inputs) if part.si == tree.si)
        return parts[best] if all(parts) else []
    if len(tree.inputs) == 2 and tree.inputs[1].kind == "constant":
        return looked_up(tree.inputs[0])
    given = _distinct(leaf for leaf in tree.leaves() if leaf.kind in GIVEN)
    return given if len(given) == 1 and given[0].kind in FACTS else []


def read_back(tree: Quantity) -> list[Quantity]:
    """A sheet's product that the tree divides by the sheet's own factors; none else."""
    if len(tree.inputs) == 2 and tree.inputs[1].kind == "constant":
        return read_back(tree.inputs[0])
    if tree.op != "/":
        return []
    read = [leaf.key for leaf in facts(tree)]
    printed = {subject for key in read if (subject := _of_product(key)[0])}
    return [
        product
        for product in facts(tree.inputs[0])
        for subject, of in [_of_product(product.key)]
        if printed == {subject}
        if any(f"{subject}.{name}" in read for name in FACTORS[of])
    ]


def _of_product(key: str) -> tuple[str, str]:
    """``h100-sxm`` and ``peak`` of the key of a printed product; else empty."""
    subject, _, name = key.partition(".")
    of = name.partition(".")[0]
    return (subject, of) if of in FACTORS else ("", "peak")


def of_document(tree: Quantity, title: str) -> bool:
    """Whether every fact under it is a figure of one document: its own arithmetic."""
    read = facts(tree)
    return bool(read) and all(
        leaf.source is not None and leaf.source.title == title for leaf in read
    )


def recalled(tree: Quantity) -> list[Quantity]:
    """Its leaves that rest on memory alone: no document was read for them."""
    return _distinct(leaf for leaf in tree.leaves() if _remembered(leaf))


def _remembered(leaf: Quantity) -> bool:
    return leaf.source is not None and leaf.source.confidence == "recalled"


def from_memory(tree: Quantity) -> bool:
    """Whether it has facts, and every one of them is recalled."""
    read = facts(tree)
    return bool(read) and all(map(_remembered, read))
