"""The bar of a token's account, at the head of a section and at its foot."""

from __future__ import annotations

from typing import Any

from stacklib.pages import chain
from stacklib.pages.chain.posts import READ, TOKEN
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity
from stacklib.serving.token.lines import Account, Line

__all__ = ["after", "before"]
# In the order of a bar: how each line is called there, and its layer of the stack.
ROLES = {
    "products with the weights": ("weights", "layer-2"),
    "output matrix": ("output matrix", "layer-2"),
    "attention over the cache": ("attention", "layer-2"),
    "norms and the like": ("norms", "layer-4"),
    "launches and pauses": ("launches", "layer-4"),
    "sampling": ("sampling", "layer-4"),
    "exchanges": ("exchanges", "layer-5"),
    "host": ("host", "layer-6"),
}


def before(section: str) -> d.Drawing:
    """The account as a section finds it, the lines that it is about lit."""
    rows = _cases(section, after=False)
    scale = max((a.total() for _, a in rows), key=lambda q: q.si)
    bars = [_bar(section, case, a, scale, "so far") for case, a in rows]
    return _draw(section, "before", "The token as this section finds it.", bars)


def after(section: str) -> d.Drawing:
    """The account as the section leaves it, over the one that it found."""
    rows = []
    for case, left in _cases(section, after=True):
        found = chain.account(section, after=False, case=case)
        moved = left.total().text() != found.total().text()
        rows.append((case, left, "now" if moved else "still"))
        rows += [(case, found, "before")] if moved else []
    scale = max((a.total() for _, a, _ in rows), key=lambda q: q.si)
    bars = [_bar(section, case, a, scale, when) for case, a, when in rows]
    return _draw(section, "after", "The token as this section leaves it.", bars)


def _cases(section: str, *, after: bool) -> list[tuple[str, Account]]:
    """The account that the section is about, and before it the token's."""
    cases = dict.fromkeys((TOKEN, chain.post(section).case))
    return [(case, chain.account(section, after=after, case=case)) for case in cases]


def _bar(section: str, case: str, found: Account, scale: Quantity, when: str) -> d.Node:
    """One account: its sum, and what the lit lines take of it."""
    post = chain.post(section)
    lit = post.lit if post.case == case and when != "before" else ()
    whole = found.total().named(f"{case} {when}, {chain.number(section)}")
    own = when if post.case == TOKEN else f"{case}, {when}"
    told: list[Any] = [f"{own}: ", d.Shown(whole)]
    if lit:
        lines = [found[name] for name in lit]
        told += _lit(lines, lit, chain.number(section))
    words = d.line(*told, role="muted" if when == "before" else "ink")
    high = 6.0 if when == "before" else 12.0
    return d.Bar(f"{case} {when}", parts(found, lit), scale, [words], high)


def _lit(lines: list[Line], names: tuple[str, ...], number: str) -> list[Any]:
    """What the lit lines are called, and their time."""
    name = ", ".join(ROLES[n][0] for n in names)
    if names == READ:  # once attention is predicted it is more than its bytes
        name = "weights, attention" if any(x.family for x in lines) else "reading"
    timed = [line.time for line in lines if line.time is not None]
    if not timed:
        return [f"; {name}: not counted yet"]
    time = sum(timed[1:], timed[0])
    if all(x.t_bytes is None and x.t_fixed is None for x in lines):
        name = "arithmetic"
    if len(timed) == 1:
        name = ROLES[next(x.name for x in lines if x.time is not None)][0]
    return [f"; {name} ", d.Shown(time.named(f"{name} of it, {number}"))]


def parts(found: Account, lit: tuple[str, ...]) -> tuple[Any, ...]:
    """Of a bar: its lines that are counted, some of them lit."""
    times = {name: found[name].time for name in ROLES}
    return tuple(
        (words, times[name], role, name in lit)
        for name, (words, role) in ROLES.items()
        if times[name] is not None
    )


def _draw(section: str, which: str, title: str, bars: list[d.Node]) -> d.Drawing:
    """Named by the section: numbers are told apart by it."""
    name = f"token-{section.replace('/', '-')}-{which}"
    return d.draw(d.below(*bars, gap=6), name=name, title=title, devices=[chain.DEVICE])
