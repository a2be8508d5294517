"""The exchange of experts, live: tokens, top-k, GPUs, a limit on nodes, and skew."""

from __future__ import annotations

from typing import Any

from stacklib.interconnect.experts.count import ONCE, count, expect
from stacklib.interconnect.experts.dispatch import token_bytes
from stacklib.interconnect.experts.route import route_experts
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted, here
from stacklib.plots.marks import Spec, axis, chart, line
from stacklib.plots.spec import readout

EXPERTS, HIDDEN, NODE = 256, 7168, 8
NVLINK, PORT = 160e9, 50e9  # of an H800 and its port, one direction, as reached
RANKS = (8, 16, 32, 64, 128, 256)
DRAWN = 192  # tokens routed for the busiest GPU
NAMES = {"expert": "one per expert", "rank": "one per GPU", "node": "one per node"}


def controls() -> list[dict[str, Any]]:
    """Controls of ``explore``."""
    return [
        choices.slider("tokens", "Tokens of a GPU", (16, 32, 64, 128, 512, 4096), 128),
        choices.slider("top_k", "Experts of a token", (1, 2, 4, 6, 8, 12), 8),
        choices.slider("ranks", "GPUs that hold the experts", RANKS, 64),
        choices.slider("limit", "Nodes a token may go to", (1, 2, 3, 4, 8, 32), 4),
        choices.slider("skew", "Skew of the router", (0, 0.1, 0.25, 0.5, 1), 0),
    ]


def wide_enough(top_k: int, ranks: int, limit: int) -> int:
    """The limit, or the fewest nodes that hold a token's experts."""
    nodes = max(1, ranks // NODE)
    return min(nodes, max(limit, -(-top_k // (EXPERTS // nodes))))


def least(tokens: int, top_k: int, ranks: int, limit: int, once: str) -> float:
    """Microseconds of a dispatch by bytes alone, no GPU busier than another."""
    case = {"experts": EXPERTS, "top_k": top_k, "ranks": ranks, "ranks_per_node": NODE}
    limit = wide_enough(top_k, ranks, limit)
    copies = expect(**case, once=once, top_nodes=limit)
    size = tokens * token_bytes(HIDDEN, header=16)
    return 1e6 * size * max(copies.nvlink / NVLINK, copies.network / PORT)


def busiest(top_k: int, ranks: int, limit: int, skew: float) -> float:
    """Copies of the busiest GPU over the mean, drawn."""
    nodes = ranks // NODE
    drawn = route_experts(
        DRAWN,
        experts=EXPERTS,
        top_k=top_k,
        skew=skew,
        groups=nodes,
        top_groups=wide_enough(top_k, ranks, limit),
        seed=1,
    )
    return count(drawn, ranks=ranks, ranks_per_node=NODE).imbalance


def explore(*, tokens: int, top_k: int, ranks: int, limit: int, skew: float) -> Spec:
    """Least time of a dispatch against the GPUs that hold the experts."""
    lines = {
        once: [least(tokens, top_k, r, limit, once) for r in RANKS] for once in ONCE
    }
    mine = {once: rows[RANKS.index(ranks)] for once, rows in lines.items()}
    best = min(mine, key=lambda once: mine[once])
    uneven = busiest(top_k, ranks, limit, skew) if skew else 1.0
    times = [
        readout(
            once,
            NAMES[once].capitalize().replace("gpu", "GPU"),
            counted(us * 1e-6, NAMES[once], "s").to("µs"),
        )
        for once, us in mine.items()
    ]
    return chart(
        f"By bytes, {NAMES[best]} is the quickest here.",
        x=axis(
            "GPUs that hold the experts",
            log=True,
            ticks=RANKS,
            names=[str(r) for r in RANKS],
        ),
        y=axis("A dispatch, at least (µs)"),
        marks=[
            *(
                line(RANKS, us, NAMES[once], "predicted", at="key")
                for once, us in lines.items()
            ),
            here(ranks, mine[best] * uneven, "your busiest GPU"),
        ],
        readouts=[
            *times,
            readout(
                "nodes",
                "Nodes of a token, at most",
                counted(wide_enough(top_k, ranks, limit), "nodes of a token"),
            ),
            readout("uneven", "Busiest GPU over the mean", counted(uneven, "busiest")),
            readout(
                "busy",
                "The quickest, busiest GPU",
                counted(mine[best] * uneven * 1e-6, "busiest GPU's dispatch", "s").to(
                    "µs"
                ),
            ),
        ],
    )
