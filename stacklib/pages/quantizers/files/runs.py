"""What llama.cpp made of the book's files, as it was measured and stored."""

from __future__ import annotations

import json
from functools import cache
from statistics import median
from typing import Any

from stacklib.evidence import results
from stacklib.quantity import Quantity, counted, counting

SHOWN = ("q2_k", "q4_0", "q4_k", "q5_k", "q6_k", "q8_0", "mxfp4", "nvfp4")


@cache
def stored() -> dict[str, Any]:
    """``benchmarks/results/gguf_texts.json``: rows by type."""
    path = results.root() / "benchmarks" / "results" / "gguf_texts.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found["rows"] = {row["id"]: row for row in found["rows"]}
    return found


def _of(scheme: str, what: str) -> float:
    return float(stored()["rows"][scheme][what])


def of(scheme: str, what: str, unit: str = "") -> Quantity:
    """A figure of a type by its key in the stored rows, such as ``equal``."""
    return counted(_of, scheme, what, unit=unit, label=f"{what} of {scheme}, run")


@counting(lambda equal: "passages cut alike" if equal else "passages")
def passages(equal: bool) -> int:
    """Passages that llama.cpp cut into tokens, or those it cut as we do."""
    return int(stored()["cut"]["equal" if equal else "passages"])


@counting("types of files")
def types() -> int:
    """Types that llama.cpp loaded."""
    return len(stored()["rows"])


@counting("tokens of a continuation")
def continued() -> int:
    """Tokens of each continuation."""
    return int(stored()["tokens"])


@counting(lambda best: "most equal" if best else "fewest equal")
def ends(best: bool) -> int:
    """The fewest, or the most, equal texts of a type."""
    counts = [row["equal"] for row in stored()["rows"].values()]
    return int(max(counts) if best else min(counts))


def partings() -> list[tuple[float, float, float]]:
    """Where texts part: our gap of both leading logits, theirs, and the farthest."""
    return [
        (one["ours"][3], one["theirs"][3], row["farthest_logit"])
        for row in stored()["rows"].values()
        for one in row["apart"]
    ]


@counting("texts that part")
def parted() -> int:
    """Texts that part, over all types."""
    return len(partings())


@counting("gap where texts part")
def gap() -> float:
    """Median of our gap between both leading logits where texts part."""
    return median(ours for ours, _, _ in partings())


@counting("largest gap where texts part")
def largest_gap() -> float:
    """The largest such gap."""
    return max(ours for ours, _, _ in partings())
