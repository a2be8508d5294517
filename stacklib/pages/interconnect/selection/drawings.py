"""The drawing of section 6.4: the board of algorithms and protocols, two sizes."""

from stacklib.interconnect.selection import constants as c
from stacklib.pages.interconnect import selection as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity

__all__ = ["board"]

WAY, SWITCH, OUT = "layer-3", "layer-2", "muted"


def board() -> d.Drawing:
    """Every candidate with its time; what is taken is lit."""
    steps = [
        ("for a token", _frame(page.size())),
        ("for a prompt", _frame(page.size(page.TOKENS))),
    ]
    title = (
        "The selector times every pair of algorithm and protocol and takes the least."
    )
    return d.draw(steps, name="selection-board", title=title)


def _frame(of: Quantity) -> d.Node:
    """All candidates for one size."""
    taken = page.chosen_by(of.si)
    best = taken.algorithm, taken.protocol
    asked = d.Box(
        "the call",
        [
            d.line(
                "all-reduce of ",
                d.Shown(of, "KiB" if of.si < 1e6 else "MiB"),
                bold=True,
            )
        ],
        role="muted",
    )
    groups = [
        _algorithm("ring", "ring", tuple(c.PROTOCOLS), of, best),
        _algorithm("tree", "tree", tuple(c.PROTOCOLS), of, best),
        _algorithm("nvls", "in the switches", ("simple",), of, best),
    ]
    refused = d.Box(
        "out of the question",
        [
            d.line("out of the question here", bold=True),
            d.line("PAT: not for sums to all"),
            d.line("CollNet, NVLS tree: more nodes"),
            d.line("switches: Simple only"),
        ],
        role=OUT,
    )
    told = d.Words([d.line("lit: the least time, taken", role="muted")])
    return d.below(asked, d.grid([*groups, refused], (2, 1)), told, gap=8)


def _algorithm(
    algorithm: str,
    words: str,
    protocols: tuple[str, ...],
    of: Quantity,
    best: tuple[str, str],
) -> d.Node:
    boxes = []
    for protocol in protocols:
        name = (algorithm, protocol)
        boxes.append(
            d.Box(
                f"{words}, {page.PROTOCOLS[protocol]}",
                [
                    d.line(page.PROTOCOLS[protocol], bold=True),
                    d.line(d.Shown(page.candidate("time", name, of), "µs")),
                ],
                role=SWITCH if algorithm == "nvls" else WAY,
                lit=name == best,
            )
        )
    role = SWITCH if algorithm == "nvls" else WAY
    inside = d.right_of(*boxes, gap=6, even=True)
    return d.Box(words, [d.line(words, bold=True)], inside, role=role)
