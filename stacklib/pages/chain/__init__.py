"""The token's account through the book: where a section finds it, and leaves it.

>>> from stacklib.pages import chain
>>> chain.account("04-kernels/fusion").total().text("ms")  # as it finds it
'7.04 ms'
>>> chain.account("04-kernels/fusion", after=True).total().text("ms")
'5.8 ms'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from stacklib import serving
from stacklib.quantity import Quantity, resolve
from stacklib.serving.token.account import SECTIONS
from stacklib.serving.token.lines import Account, Line

from .posts import (
    ATTENTION,
    CONTEXT,
    DEVICE,
    EXCHANGES,
    KERNELS,
    MODEL,
    NORMS,
    POSTS,
    PROMPT,
    READ,
    SAMPLING,
    START,
    TOKEN,
    TP,
    Post,
    Put,
)

__all__ = [
    "ATTENTION",
    "EXCHANGES",
    "KERNELS",
    "NORMS",
    "READ",
    "SAMPLING",
    "account",
    "number",
    "post",
    "time",
]

PAIR = 2  # chips on which the book begins, the fewest that hold the model
FIRST = next(iter(POSTS))


def post(section: str) -> Post:
    """What a section does; UnknownName with the nearest for any other."""
    return POSTS[resolve(section, POSTS, "section", exact=True)]


def number(section: str) -> str:
    """The number of a section, ``4.1``."""
    post(section)
    folder = section.partition("/")[0]
    beside = [name for name in POSTS if name.startswith(folder)]
    return f"{int(folder[:2])}.{beside.index(section) + 1}"


@cache
def account(
    section: str, *, after: bool = False, case: str = TOKEN, on: str = DEVICE
) -> Account:
    """The account as a section finds it, or leaves it.

    - ``section``: folder and file, ``04-kernels/launches``
    - ``after``: as it leaves it
    - ``case``: ``"a token"`` of one sequence with 4,096 cached, ``"a prompt"`` of them
    - ``on``: eight of this device; some lines are counted on H100s alone
    """
    post(section)
    case = resolve(case, START, "case", exact=True)
    if case == TOKEN and section == FIRST and not after:
        return _computing(on)
    puts: dict[str, Put] = dict(START[case])
    for name, one in POSTS.items():
        if name == section and not after:
            break
        puts |= one.puts if one.case == case else {}
        if name == section:
            break
    prompt = CONTEXT if case == PROMPT else None
    own = serving.account(MODEL, on, "bf16", TP, context=CONTEXT, prompt=prompt)
    return replace(own, lines=tuple(_lines(own, puts, on)), mode="counted so far")


def _computing(on: str) -> Account:
    """Arithmetic alone, on a pair of chips: where the first section begins."""
    own = serving.account(MODEL, on, "bf16", PAIR, context=CONTEXT)
    lines = tuple(
        replace(line, t_bytes=None) if line.name in READ else _later(line)
        for line in own.lines
    )
    return replace(own, lines=lines, mode="counted so far")


def _lines(own: Account, puts: dict[str, Put], on: str) -> Iterator[Line]:
    for line in own.lines:
        if line.name not in puts:
            yield _later(line)
            continue
        found = puts[line.name](on)
        if isinstance(found, Quantity):
            found = replace(line, t_bytes=None, t_arithmetic=None, t_fixed=found)
        yield replace(found, whole="")


def _later(line: Line) -> Line:
    """A line that no section has counted yet: what it covers is missing."""
    return Line(line.name, SECTIONS[line.name], note="not counted yet")


def time(
    section: str, *names: str, after: bool = True, case: str = TOKEN, on: str = DEVICE
) -> Quantity:
    """Seconds of some lines, or of all, as a section leaves (or finds) them."""
    found = account(section, after=after, case=case, on=on)
    if not names:
        return found.total()
    times = [found[name].time for name in names if found[name].time is not None]
    if not times:
        raise ValueError(f"{', '.join(names)}: not counted yet in {section}")
    return sum(times[1:], times[0]).named(", ".join(names))
