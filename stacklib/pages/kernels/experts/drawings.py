"""The drawing of section 4.9: tiles of experts, padded and rounded."""

from stacklib.pages.kernels import experts as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import model
from stacklib.quantity import counting

__all__ = ["padded_and_rounded"]
SHOWN, CELL, MOST = 5, 32, 6  # experts drawn; rows of a cell; tiles of an expert


def padded_and_rounded() -> d.Drawing:
    """Experts of a real batch: a tile is cells, those of padding are dark."""
    steps = [("padded", _batch(0)), ("rounded", _batch(1))]
    title = "Each expert pads its last tile, or rounds its tokens to whole tiles."
    return d.draw(steps, name="expert-tiles", title=title)


@counting(lambda expert, after: f"tokens, {_name(expert)}, {after}")
def tokens_of(expert: int, after: int) -> int:
    """Tokens of an expert of the small router, before and after rounding."""
    return int(page.rounded("tiny").counts[after][expert])


def _name(expert: int) -> str:
    return f"expert {'ABCDEFGH'[expert]}"


def _batch(after: int) -> d.Node:
    words = "rounded" if after else "padded"
    rows = [_expert(n, after) for n in range(SHOWN)]
    if after:
        foot = d.line(
            "no padding; other choices: ",
            d.Shown(page.after("tiny", "pairs_changed"), "%", 2),
            bold=True,
        )
    else:
        foot = d.line(
            "padding over rows asked for: ",
            d.Shown(page.after("tiny", "waste"), "%", 3),
            bold=True,
        )
    told = [d.line(f"tokens of the first experts, {words}", bold=True)]
    key = ("a group of cells: a tile of ", page.tile(), " rows; faint: padding")
    return d.below(
        d.Box("experts", told, d.below(*rows, gap=4), role=model.TOKEN),
        d.Words([foot, d.line(*key, role="muted")]),
        gap=6,
    )


def _expert(expert: int, after: int) -> d.Node:
    name, tokens = _name(expert), tokens_of(expert, after)
    count, label = int(tokens.si), d.Words([d.line(tokens)], "start")
    wide, phone = (
        d.right_of(
            label, *(_tile(name, n, count, side) for n in range(MOST)), gap=4, grow=0
        )
        for side in ((17.0, 12.0), (7.4, 10.0))
    )
    return d.Either(wide, phone)


def _tile(name: str, number: int, count: int, side: tuple[float, float]) -> d.Node:
    """A tile of an expert, or the room of one that it does not need."""
    each, gap = page.TILE // CELL, 0.7
    across = each
    left = count - number * page.TILE
    if left <= 0:
        return d.Nothing((across * (side[0] + gap) - gap, side[1]), grow=0)
    full = min(each, left // CELL)
    return d.Cells(
        f"{name}, tile {'abcdef'[number]}",
        each,
        across,
        side=side,
        gap=gap,
        role=model.TOKEN,
        lit=frozenset(range(full)),
        dark=frozenset(range(full, each)),
        words="rows",
    )
