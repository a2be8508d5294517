"""The drawing of section 7.7: a group of keys, a group of values, and what waits."""

from stacklib import models
from stacklib.pages.quantizers import kv as page
from stacklib.plots import drawing as d
from stacklib.plots.live.parts import stand
from stacklib.quantity import chosen

__all__ = ["a_page_of_the_cache"]
CHANNELS, TOKENS, WAITING = 32, page.GROUP, 5  # that are drawn
KEYS, VALUES = "layer-3", "layer-4"


def a_page_of_the_cache() -> d.Drawing:
    """Tokens down, channels across: who shares a scale, and who waits for one."""
    title = "Keys share a scale down a channel, values across a token."
    parts = d.flow(_keys(), _values(), gap=14, even=True)
    return d.draw(parts, name="q-kv-page", title=title, devices=[page.CHIP])


def _grid(name: str, lit: set[int], role: str) -> d.Cells:
    return d.Cells(
        name,
        CHANNELS * TOKENS,
        CHANNELS,
        side=(5.4, 3.8),
        gap=1.2,
        role=role,
        lit=frozenset(lit),
        words="tokens down, channels across",
    )


def _keys() -> d.Node:
    column = {token * CHANNELS + 9 for token in range(TOKENS)}
    scales = d.Cells(
        "scales of the keys",
        CHANNELS,
        CHANNELS,
        side=(5.4, 9.0),
        gap=1.2,
        role="layer-6",
        lit=frozenset({9}),
        words="a least number and a step for each channel",
    )
    waiting = d.Cells(
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
        d.line("keys of a head", bold=True),
        ("a group: one channel, ", group, " tokens"),
    ]
    inside = d.below(
        scales, _grid("codes of the keys", column, KEYS), waiting, gap=6, grow=0
    )
    return d.below(
        d.Box("keys", told, inside, role=KEYS),
        d.Box(
            "tail", "last tokens wait, in bf16, until the group is full", role="muted"
        ),
        gap=6,
    )


def _values() -> d.Node:
    row = {11 * CHANNELS + channel for channel in range(CHANNELS)}
    scales = d.Cells(
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
        d.line("values of a head", bold=True),
        ("a group: one token, ", group, " of ", size, " channels"),
    ]
    inside = d.right_of(
        _grid("codes of the values", row, VALUES), scales, gap=8, grow=0
    )
    bits = d.Shown(page.stored_bits(4), "bit")
    return d.below(
        d.Box("values", told, inside, role=VALUES),
        d.Words(
            [
                (
                    "codes of ",
                    d.Shown(stand(page, "bits", 4, "bit").named("bits of a code")),
                    ", with their scales ",
                    bits,
                )
            ]
        ),
        d.Box(
            "nobody", "a token is complete at once: nobody waits", role="muted", grow=0
        ),
        gap=6,
    )
