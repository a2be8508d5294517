"""Run a text and say what it did, what it gave, and which slip gives just that."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from stacklib.gpu import interpreter as tl
from stacklib.gpu.interpreter import Counts
from stacklib.quantity.bounds import whole
from stacklib.quantity.names import resolve

from . import launches as on
from .cases import CASES, Case

NEAR = 1e-5  # of the largest number: float32's rounding of a stored sum


def run(*kernels: Callable[..., Any], **sizes: int) -> None:
    """Launch the kernels of a page and print what was counted, and a verdict.

    - ``kernels``: function; as the page has them, or changed.
    - ``sizes``: int; of tiles, where others than the page's are wanted.
    - raises ``UnknownName`` for a name that no text has, ``ValueError`` for a size that
      the text does not have or too few kernels, and what the program raises.
    """
    name = getattr(kernels[0], "__name__", repr(kernels[0])) if kernels else "nothing"
    case = CASES[resolve(name, CASES, what="text")]
    if len(kernels) != len(case.kernels):
        wanted = ", ".join(k.__name__ for k in case.kernels)
        raise ValueError(f"{len(kernels)} kernels: run({wanted}) is asked for")
    for size, value in sizes.items():
        resolve(size, case.sizes, what="size")
        whole(**{size: value})
    found, counts = case.launch(kernels, **{**case.sizes, **sizes})
    for count in counts:
        print(told(count))
    if name == "score":
        print("\n".join(shares(found)))
    print(verdict(case, found, counts, sizes))


def told(count: Counts) -> str:
    """What a launch asked for, in a line."""
    parts = []
    for word, bytes_ in (("reads", count.read), ("writes", count.written)):
        parts.append(f"{word} " + ", ".join(f"{n} {b:,} B" for n, b in bytes_.items()))
    if count.multiply_adds:
        parts.append(f"{count.multiply_adds:,} multiply-adds")
    if count.exponentials:
        parts.append(f"{count.exponentials:,} exponentials")
    return "; ".join(parts)


def verdict(
    case: Case,
    found: Sequence[float | None],
    counts: list[Counts],
    sizes: dict[str, int],
) -> str:
    """One sentence about a result."""
    unset = sum(x is None for x in found)
    if unset:
        return f"wrong: {unset:,} of {len(found):,} numbers were never stored"
    right, mine = case.right(), [x for x in found if x is not None]
    worst = max(range(len(right)), key=lambda i: _off(mine[i], right[i]))
    off = _off(mine[worst], right[worst])
    largest = max(map(abs, right))
    if off <= NEAR * largest:
        return praise(case, off / largest, counts, sizes)
    for sentence, slip in case.slips.items():
        given, _ = case.launch(slipped(case, *slip), **{**case.sizes, **sizes})
        if same(mine, given):
            return f"wrong: {sentence}"
    said = f"number {worst:,} is {mine[worst]:.6g}, not {right[worst]:.6g}"
    return f"wrong: not {case.what}; {said}"


def praise(case: Case, off: float, counts: list[Counts], sizes: dict[str, int]) -> str:
    """A right result, and whether it cost more bytes than the page's text."""
    _, ours = case.launch(case.kernels, **{**case.sizes, **sizes})
    for word in ("read", "written"):
        mine, least = (sum(c.total(word) for c in cs) for cs in (counts, ours))
        if mine > least:
            return f"right, but {mine:,} B are {word} where {least:,} B suffice"
    near = f", to {off:.0e} of its largest" if off else ""
    return f"right: {case.what}{near}"


def slipped(case: Case, old: str, new: str) -> list[Callable[..., Any]]:
    """The kernels of a text with a line in it changed."""
    text, names = text_of(case).replace(old, new), {"tl": tl}
    exec(compile(text, "<slip>", "exec"), names)
    return [names[k.__name__] for k in case.kernels]  # type: ignore[misc]


def text_of(case: Case) -> str:
    """The kernels as the page prints them."""
    return "\n".join(inspect.getsource(kernel) for kernel in case.kernels)


def block_of(case: Case) -> str:
    """The whole block of the page: import, kernels, run."""
    called = ", ".join(k.__name__ for k in case.kernels)
    head = "from stacklib.pages.kernels.texts import run, tl"
    return f"{head}\n\n{text_of(case)}\nrun({called})"


def same(a: Sequence[float], b: Sequence[float | None]) -> bool:
    """Whether two results are one, not-a-number included."""
    return all(
        y is not None
        and (math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-9) or (x != x and y != y))
        for x, y in zip(a, b, strict=True)
    )


def _off(x: float, right: float) -> float:
    return abs(x - right) if x == x else math.inf


def shares(found: Sequence[float | None]) -> Iterator[str]:
    """How often each token was drawn, under the softmax."""
    weights = list(map(math.exp, on.logits()))
    total, tokens = sum(weights), range(len(weights))
    drawn = [found.count(token) / on.SEEDS for token in tokens]
    for name, row in (("softmax", [w / total for w in weights]), ("drawn", drawn)):
        yield f"{name:8}" + " ".join(f"{share:6.1%}" for share in row)
