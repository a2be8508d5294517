"""What llama.cpp made of the book's files, as it was measured and stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stacklib.pages import figures_of
from stacklib.quantity import Quantity, counted, recorded

STEM = "gguf_texts"
FILE = f"benchmarks/results/{STEM}.json"  # rows by type
SHOWN = ("q2_k", "q4_0", "q4_k", "q5_k", "q6_k", "q8_0", "mxfp4", "nvfp4")


def of(scheme: str, what: str, unit: str = "") -> Quantity:
    """A figure of a type by its key in the stored rows, such as ``equal``."""
    return recorded(FILE, scheme, what, unit=unit, label=f"{what} of {scheme}, run")


def passages(equal: bool) -> Quantity:
    """Passages that llama.cpp cut into tokens, or those it cut as we do."""
    field, label = ("equal", "passages cut alike") if equal else ("passages",) * 2
    return recorded(FILE, "cut", field, label=label)


def types() -> Quantity:
    """Types that llama.cpp loaded."""
    return counted(len, figures_of.rows(STEM), label="types of files")


def continued() -> Quantity:
    """Tokens of each continuation."""
    return recorded(FILE, "", "tokens", label="tokens of a continuation")


def ends(best: bool) -> Quantity:
    """The fewest, or the most, equal texts of a type."""
    counts = [of(row["id"], "equal") for row in figures_of.rows(STEM)]
    found = (max if best else min)(counts, key=lambda count: count.si)
    return found.named("most equal" if best else "fewest equal")


def partings() -> Iterator[tuple[dict[str, Any], int]]:
    """Where texts part: the row of their type, and their place in ``apart``."""
    return (
        (row, at) for row in figures_of.rows(STEM) for at in range(len(row["apart"]))
    )


def parted() -> Quantity:
    """Texts that part, over all types."""
    return counted(len, [*partings()], label="texts that part")


def gaps() -> list[Quantity]:
    """Our gaps between both leading logits where texts part, the least first."""
    found = (recorded(FILE, row["id"], f"apart/{at}/ours/3") for row, at in partings())
    return sorted(found, key=lambda gap: gap.si)


def gap() -> Quantity:
    """Their median."""
    found, half = gaps(), len(gaps()) // 2
    return ((found[half] + found[~half]) / 2).named("gap where texts part")


def largest_gap() -> Quantity:
    """The largest of them."""
    return gaps()[-1].named("largest gap where texts part")
