"""The drawing of section 7.7: a group of keys, a group of values, and what waits."""

from __future__ import annotations

from stacklib import models
from stacklib.pages.quantizers import kv as page
from stacklib.plots.drawing import (
    Box,
    Cells,
    Drawing,
    Node,
    Shown,
    Words,
    below,
    draw,
    flow,
    line,
    right_of,
)
from stacklib.quantity import chosen

__all__ = ["a_page_of_the_cache"]
CHANNELS, TOKENS, WAITING = 32, page.GROUP, 5  # that are drawn
KEYS, VALUES = "layer-3", "layer-4"


def a_page_of_the_cache() -> Drawing:
    """Tokens down, channels across: who shares a scale, and who waits for one."""
    title = "Keys share a scale down a channel, values across a token."
    parts = flow(_keys(), _values(), gap=14, even=True)
    return draw(parts, name="q-kv-page", title=title, devices=[page.CHIP])


def _grid(name: str, lit: set[int], role: str) -> Cells:
    return Cells(
        name,
        CHANNELS * TOKENS,
        CHANNELS,
        side=(5.4, 3.8),
        gap=1.2,
        role=role,
        lit=frozenset(lit),
        words="tokens down, channels across",
    )


def _keys() -> Node:
    column = {token * CHANNELS + 9 for token in range(TOKENS)}
    scales = Cells(
        "scales of the keys",
        CHANNELS,
        CHANNELS,
        side=(5.4, 9.0),
        gap=1.2,
        role="layer-6",
        lit=frozenset({9}),
        words="a least number and a step for each channel",
    )
    waiting = Cells(
        "tokens that wait",
        CHANNELS * WAITING,
        CHANNELS,
        side=(5.4, 9.0),
        gap=1.2,
        role=KEYS,
        dark=frozenset(range(CHANNELS * WAITING)),
        words="in bf16",
    )
    group = chosen(page.GROUP, label="tokens of a group")
    told = [
        line("keys of a head", bold=True),
        ("a group: one channel, ", group, " tokens"),
    ]
    inside = below(
        scales, _grid("codes of the keys", column, KEYS), waiting, gap=6, grow=0
    )
    return below(
        Box("keys", told, inside, role=KEYS),
        Box("tail", "last tokens wait, in bf16, until the group is full", role="muted"),
        gap=6,
    )


def _values() -> Node:
    row = {11 * CHANNELS + channel for channel in range(CHANNELS)}
    scales = Cells(
        "scales of the values",
        TOKENS,
        1,
        side=(9.0, 3.8),
        gap=1.2,
        role="layer-6",
        lit=frozenset({11}),
        words="a least number and a step for each token",
    )
    group = chosen(page.GROUP, label="channels of a group")
    size = models.get(page.MODEL).size("head_dim", "head size")
    told = [
        line("values of a head", bold=True),
        ("a group: one token, ", group, " of ", size, " channels"),
    ]
    inside = right_of(_grid("codes of the values", row, VALUES), scales, gap=8, grow=0)
    bits = Shown(page.stored_bits(4), "bit")
    return below(
        Box("values", told, inside, role=VALUES),
        Words(
            [
                (
                    "codes of ",
                    Shown(chosen(4, "bit", "bits of a code")),
                    ", with their scales ",
                    bits,
                )
            ]
        ),
        Box(
            "nobody", "a token is complete at once: nobody waits", role="muted", grow=0
        ),
        gap=6,
    )
