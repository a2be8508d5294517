"""Annex to section 7.3: which rule for a shared exponent loses least, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from stacklib.quantity import counting
from stacklib.quantizers import Format
from stacklib.quantizers.blocks import IMPLIED, RULES, scale_codes, scale_values
from stacklib.quantizers.error_integral import expected_error

ELEMENTS = ("e2m1", "e3m0", "e2m3", "e3m2", "e4m3fn", "e5m2", "int8")
BLOCKS = (8, 16, 32, 64, 128)
SOURCES = ("normal", "laplace", "student_3", "model")
PHASES = tuple(2 ** (k / 8) for k in range(8))  # sizes of numbers within an octave
STORE = Path(__file__).with_name("atlas.json")
TIE = 0.01  # rules whose squared errors are this near are called equal


def by_integral(element: str, block: int, rule: str, distribution: str) -> float:
    """Squared error over the mean square, all sizes within an octave alike."""
    found = [expected_error(element, block, rule, distribution, s) for s in PHASES]
    return float(np.mean(found))


def coded(x: Any, element: str, block: int, rule: str) -> Any:
    """Rows of numbers through an element and an exponent for each block of a row."""
    blocks = np.ascontiguousarray(x, np.float32).reshape(-1, block)
    size = np.abs(blocks).max(axis=1)
    scale = scale_values()[scale_codes(size, element, rule)][:, None]
    scaled = blocks / scale
    if element == "int8":
        codes = np.clip(np.rint(scaled * IMPLIED), -127, 127)
        return (codes / IMPLIED * scale).reshape(x.shape)
    form = Format(element)
    inside = np.clip(scaled, -form.largest, form.largest)
    return (form.decode(form.encode(inside)) * scale).reshape(x.shape)


def by_run(x: Any, element: str, block: int, rule: str) -> float:
    """The same of given numbers, by coding them."""
    off = (coded(x, element, block, rule) - x).astype(np.float64)
    return float((off**2).sum() / (x.astype(np.float64) ** 2).sum())


@cache
def matrices() -> tuple[Any, ...]:
    """Matrices of the book's own model whose rows are whole blocks."""
    from stacklib.tinylm import load

    found = (w for w in load().weights.values() if w.ndim == 2)
    return tuple(w for w in found if w.shape[1] % max(BLOCKS) == 0)


def of_the_model(element: str, block: int, rule: str) -> float:
    """Squared error of all matrices together over their squares."""
    off = total = 0.0
    for w in matrices():
        square = float((w.astype(np.float64) ** 2).sum())
        off += by_run(w, element, block, rule) * square
        total += square
    return off / total


def computed(element: str, block: int, rule: str, source: str) -> float:
    """An entry of the atlas."""
    if source == "model":
        return of_the_model(element, block, rule)
    return by_integral(element, block, rule, source)


def entries() -> Iterator[tuple[str, int, str, str]]:
    """What the atlas holds."""
    for element in ELEMENTS:
        for block in BLOCKS:
            for rule in RULES:
                for source in SOURCES:
                    yield element, block, rule, source


def write() -> None:
    """Compute the atlas anew; half a minute."""
    found = {" ".join(map(str, e)): float(f"{computed(*e):.6g}") for e in entries()}
    STORE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


@cache
def atlas() -> dict[str, float]:
    """Squared errors by ``element block rule source``."""
    return json.loads(STORE.read_text("utf-8"))


def error(element: str, block: int, rule: str, source: str) -> float:
    """Squared error over the mean square, from the atlas."""
    return atlas()[f"{element} {block} {rule} {source}"]


def best(element: str, block: int, source: str) -> tuple[str, ...]:
    """The rules that lose least, with those that are equal within ``TIE``."""
    found = {rule: error(element, block, rule, source) for rule in RULES}
    least = min(found.values())
    return tuple(rule for rule, value in found.items() if value <= least * (1 + TIE))


@counting("{rule} over the best, {element}, {block}, {source}")
def worse(element: str, block: int, source: str, rule: str = "floor") -> float:
    """Root of a rule's squared error over that of the best."""
    least = min(error(element, block, r, source) for r in RULES)
    return float((error(element, block, rule, source) / least) ** 0.5)


@counting("fields of {rule}, {source}")
def wins(rule: str, source: str) -> int:
    """Fields of the atlas in which a rule is among the best."""
    return sum(rule in best(e, b, source) for e in ELEMENTS for b in BLOCKS)
