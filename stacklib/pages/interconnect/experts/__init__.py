"""Section 6.12: What does it cost to send a token to its experts?"""

from __future__ import annotations

import json
from functools import cache
from statistics import median
from typing import Any

from stacklib import hardware, models
from stacklib.evidence import ledger
from stacklib.interconnect.experts.count import count, expect
from stacklib.interconnect.experts.dispatch import pxn, token_bytes
from stacklib.interconnect.experts.route import Routing, route_experts
from stacklib.models.parts import Experts
from stacklib.pages.figures_of import measured
from stacklib.plots.live.parts import stand
from stacklib.quantity import (
    Quantity,
    chosen,
    counted,
    counting,
    maximum,
    one_of,
    quoted,
    recorded,
)
from stacklib.quantity.files import PACKAGE
from stacklib.roofline.work.moving import link_time, moving_time

RECORD = "stacklib/pages/interconnect/experts/dispatch_run.json"
MODEL, CHIP, FULL_CHIP, NIC = "deepseek-v3", "h800_sxm", "h100_sxm", "ib_ndr"
TOKENS, NODE, HEADER, BLOCK = 128, 8, 16, 128
EXPERTS, TOP, LIMIT = 256, 8, 4  # of a layer; of a token; nodes it may go to
TRAINED = 64  # ranks over which the experts of a layer lay in training
# Rows of the published dispatches and combines by ranks; another's, 256, is a claim.
ROWS = {8: "D-0200", 16: "D-0204", 64: "D-0212", 128: "D-0216"}
BACK = {8: "D-0202", 32: "D-0210", 64: "D-0214", 128: "D-0218", 256: "D-0222"}
NORMAL = {32: "D-0196", 64: "D-0198"}
LARGEST = 256
WAYS = {"expert": "one per expert", "rank": "one per GPU", "node": "one per node"}


# -- links -----------------------------------------------------------------------------


def nvlink() -> Quantity:
    """Bytes a second, one direction, that NVLink of the measured machines reaches."""
    return quoted("deepep.nvlink")


def lanes(chip: str = CHIP) -> Quantity:
    """NVLink of a chip by its data sheet, one direction."""
    return hardware.get(chip).link


def nic() -> Quantity:
    """The network port of each GPU, one direction."""
    return hardware.link(NIC).per_direction


# -- copies and bytes ------------------------------------------------------------------


def hidden() -> Quantity:
    """Numbers of a token."""
    return models.get(MODEL).size("hidden", "hidden size")


def of(field: str, words: str) -> Quantity:
    """A number of its experts, from the config."""
    model = models.get(MODEL)
    key = f"{MODEL}.{words}"
    value = getattr(model.experts, field)
    return Quantity(value, label=words, source=model.source, kind="config", key=key)


def tokens() -> Quantity:
    """Tokens that each GPU dispatches at once."""
    return stand(__name__, "tokens", TOKENS).named("tokens of a GPU")


def token(kind: str = "dispatch", header: int = HEADER) -> Quantity:
    """Bytes of a copy: FP8 and scales on the way there, BF16 on the way back."""
    made: Quantity
    if kind == "dispatch":
        made = token_bytes(hidden(), "fp8", BLOCK, header)
    else:
        made = token_bytes(hidden(), "bf16", None)
    return made.named(f"bytes of a copy, {kind}, header of {header}")


def _copies_words(
    part: str, ranks: int, once: str, limit: int | None, experts: int, top: int
) -> str:
    words = f"copies, {part}, {ranks} GPUs, {WAYS[once]}, limit {limit}"
    return words if (experts, top) == (EXPERTS, TOP) else f"{words}, {top} of {experts}"


@counting(_copies_words)
def copies(
    part: str = "network",
    ranks: int = LARGEST,
    once: str = "expert",
    limit: int | None = None,
    *,
    experts: int = EXPERTS,
    top: int = TOP,
) -> float:
    """Mean copies of a token that take one way, under a router without preferences."""
    case = {"experts": experts, "top_k": top, "ranks": ranks, "ranks_per_node": NODE}
    return getattr(expect(**case, once=once, top_nodes=limit), part)


def sent(part: str, ranks: int, kind: str = "dispatch", **how: Any) -> Quantity:
    """Bytes that a GPU sends one way in an exchange."""
    moved = tokens() * copies(part, ranks, **how) * token(kind)
    return moved.named(f"bytes, {part}, {ranks} GPUs, {kind}")


def floor(ranks: int, kind: str = "dispatch") -> Quantity:
    """Least time of an exchange: the slower of NVLink and the port."""
    least = moving_time(sent("nvlink", ranks, kind), nvlink())
    if ranks > NODE:
        least = maximum(least, link_time(sent("network", ranks, kind), NIC))
    return least.named(f"least time, {ranks} GPUs, {kind}").to("µs")


def pure_rdma() -> Quantity:
    """The same for eight GPUs, were all their copies to leave through the port."""
    time = link_time(sent("nvlink", NODE), NIC)
    return time.named("least time, 8 GPUs, all through the port").to("µs")


# -- beside what was measured ----------------------------------------------------------


def took(ranks: int, kind: str = "dispatch") -> Quantity:
    """The published time of an exchange."""
    if kind == "dispatch" and ranks == LARGEST:
        return ledger.get("deepep-dispatch-256").quantity().to("µs")
    return measured((ROWS if kind == "dispatch" else BACK)[ranks]).to("µs")


@counting("beyond the least time, without {without} GPUs", unit="s", shown="µs")
def fixed(without: int = 0) -> float:
    """What other sizes' dispatches take beyond their least time, in the median."""
    more = [took(r).si - floor(r).si for r in ROWS if r != without]
    return float(f"{median(more):.4g}")


def foretold(ranks: int, kind: str = "dispatch") -> Quantity:
    """Least time and the fixed part of the other sizes, never of this one's own."""
    whole = floor(ranks, kind) + fixed(ranks if kind == "dispatch" else 0)
    return whole.named(f"{kind} foretold, {ranks} GPUs")


@counting("largest error, {kind}")
def off(kind: str) -> float:
    """The largest error, its sign dropped."""
    sizes = (*ROWS, LARGEST) if kind == "dispatch" else tuple(BACK)
    return max(abs(foretold(r, kind).si / took(r, kind).si - 1) for r in sizes)


def rows() -> list[dict[str, Any]]:
    """Dispatches by size: least, foretold, published."""
    return [
        {
            "GPUs": chosen(r, label="GPUs"),
            "least": floor(r),
            "predicted": foretold(r),
            "published": took(r),
        }
        for r in (*ROWS, LARGEST)
    ]


# -- the port that seems too fast ------------------------------------------------------


_PARTS = ("nodes", "network", "nvlink")


@counting("seeming rate, {ranks} GPUs", unit="B/s", shown="GB/s")
def seeming(ranks: int) -> float:
    """Rate that a full port seems to have if copies for the own node count too."""
    part = {p: copies(p, ranks, "node", LIMIT).si for p in _PARTS}
    near, far = moving_time(part["nvlink"], nvlink()), link_time(part["network"], NIC)
    return part["nodes"] / max(near, far)


def seen(ranks: int) -> Quantity:
    """The published one."""
    return measured(NORMAL[ranks])


# -- three ways ------------------------------------------------------------------------


@cache
def dispatched() -> dict[str, Any]:
    """The run between processes: its case, and copies by way of sending."""
    return json.loads((PACKAGE.parent / RECORD).read_text("utf-8"))


@cache
def routing() -> Routing:
    """The choices of that run."""
    case = dispatched()["case"]
    return route_experts(
        case["tokens"], experts=case["experts"], top_k=case["top_k"], seed=case["seed"]
    )


def _case(key: str) -> int:
    return dispatched()["case"][key]


def by_formula(once: str) -> float:
    """Copies over the network that a router without preferences makes in the mean."""
    case = {k: _case(k) for k in ("experts", "top_k", "ranks", "ranks_per_node")}
    return expect(**case, once=once).network


def as_drawn(once: str) -> float:
    """The same of a routing that was drawn."""
    case = {k: _case(k) for k in ("ranks", "ranks_per_node")}
    return count(routing(), **case, once=once).copies.network


def three_ways() -> list[dict[str, Any]]:
    """Copies over the network by way of sending: formula, drawn, between processes."""
    return [
        {
            "copies": words,
            "formula": counted(by_formula, once, label=f"network copies, {words}"),
            "drawn": counted(as_drawn, once, label=f"network copies drawn, {words}"),
            "processes": recorded(
                RECORD,
                f"runs/{once}",
                "network",
                label=f"network copies between processes, {words}",
            ),
        }
        for once, words in WAYS.items()
    ]


def case(key: str) -> Quantity:
    """A size of it."""
    return recorded(RECORD, "case", key, label=f"{key} of the run")


# -- skew, messages --------------------------------------------------------------------

SKEW, DRAWN = 0.5, 1024


@counting("busiest GPU over mean, skew {skew}")
def busiest(skew: float, ranks: int = TRAINED) -> float:
    """Copies that the busiest GPU receives over the mean one's."""
    drawn = route_experts(DRAWN, experts=EXPERTS, top_k=TOP, skew=skew, seed=1)
    return count(drawn, ranks=ranks, ranks_per_node=NODE).imbalance


@counting(
    lambda together: (
        f"messages of a port, {('gathered' if together else 'each by itself')}"
    )
)
def messages(*, together: bool) -> float:
    """Messages of a GPU's port in an all-to-all, without and with PXN."""
    return pxn(1.0, ranks=TRAINED, ranks_per_node=NODE, together=together).count


@counting(
    lambda together: (
        f"bytes of a port, {('gathered' if together else 'each by itself')}"
    )
)
def port_bytes(*, together: bool) -> float:
    """Bytes of its port, in what goes from one GPU to another."""
    return pxn(1.0, ranks=TRAINED, ranks_per_node=NODE, together=together).network


# -- a training step -------------------------------------------------------------------


def moe_layers() -> Quantity:
    """Layers that have experts."""
    model = models.get(MODEL)
    ((number, block),) = (
        found for found in enumerate(model.kinds) if isinstance(found[1].mlp, Experts)
    )
    return Quantity(
        model.count(number),
        label=f"layers ({block.kind})",
        source=model.source,
        kind="config",
        key=f"{MODEL}.layers ({block.kind})",
    )


def exchanged(limit: int | None = LIMIT, once: str = "node") -> Quantity:
    """Bytes of a token in training: there and back, forward and backward."""
    twice = chosen(2, label="forward and backward")
    both = token(header=0) + token("combine")
    moved = twice * moe_layers() * copies("network", TRAINED, once, limit) * both
    return moved.named(f"bytes of a token in training, {WAYS[once]}, limit {limit}")


def sending(limit: int | None = LIMIT, once: str = "node") -> Quantity:
    """Time of that."""
    time = link_time(exchanged(limit, once), NIC)
    return time.named(f"exchange of a token, {WAYS[once]}, limit {limit}").to("µs")


def computing(dtype: str = "bf16") -> Quantity:
    """Time of a token's arithmetic at the dense peak: six operations a parameter."""
    six = chosen(6, label="operations a parameter") * one_of("FLOP")
    work = six * models.get(MODEL).active_parameters
    peak = hardware.get(CHIP).peak(dtype).across(1)
    return (work / peak).named(f"arithmetic of a token, {dtype}").to("µs")


def share(dtype: str = "bf16") -> Quantity:
    """Share of the exchange where nothing overlaps."""
    part = sending() / (sending() + computing(dtype))
    return part.named(f"share of the exchange, {dtype}")


def step() -> Quantity:
    """A GPU's time for a token, as published: hours for a trillion tokens."""
    hours = quoted("deepseek_v3.hours")
    many = quoted("deepseek_v3.tokens")
    return (hours / many).named("a GPU's time for a token, published").to("µs")


def of_step() -> Quantity:
    """The exchange over that."""
    return (sending() / step()).named("exchange over the published time")
