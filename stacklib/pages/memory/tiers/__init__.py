"""Section 3.9: Where should a byte live?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.memory import Tier, drive, kv_demand
from stacklib.memory.ladder import energy
from stacklib.memory.tiers import checkpoint
from stacklib.memory.tiers.kv import KvDemand, layer_time, step_time
from stacklib.memory.tiers.mix import Mix, cheapest_mix, zipf_pages
from stacklib.memory.tiers.parts import constant
from stacklib.memory.tiers.tier import Need, break_even_interval, steps
from stacklib.models import get
from stacklib.pages.figures_of import claimed
from stacklib.quantity import Quantity, assumed, ceil, chosen, counted, maximum, one_of
from stacklib.roofline.work.moving import link_time

from . import priced

CHIP = hardware.get("h100-sxm")
SM = ("shared", "hbm", "ddr", "cxl", "nvme")
LLAMA, LATENT = "llama-3-70b", "deepseek-v3"
CONTEXT, DRIVES, GPUS = 131_072, 4, 16
ENDS = {"latency": (-1, 0), "price": (0, -1)}


# -- the tiers, from an SM ---------------------------------------------------------


@cache
def sm() -> dict[str, Tier]:
    """Tiers with the prices of before the shortage."""
    return dict(zip(SM, priced.seen("sm"), strict=True))


def column(field: str) -> list[Quantity]:
    """One field of all tiers, nearest first."""
    return [q for t in sm().values() if (q := t.field(field)) is not None]


def span(field: str) -> Quantity:
    """The far end over the near one, or the near over the far."""
    over, under = (column(field)[i] for i in ENDS[field])
    return (over / under).named("from end to end")


def small_steps() -> Quantity:
    """Bound that the two smallest steps in latency stay below."""
    two = sorted(steps(column("latency")), key=lambda q: q.si)[1]
    return chosen(2, label="a factor") if two.si < 2 else two


# -- a terabyte of Zipf pages ------------------------------------------------------


@cache
def mix(wait: float, rate: float) -> Mix:
    """The cheapest home of a terabyte with this mean wait and rate, on two tiers."""
    pages = zipf_pages(1e12, page=2**21, groups=40)
    return cheapest_mix(tuple(sm().values()), pages, Need(1e12, wait, rate), most=2)


def kept(tier: int, wait: Quantity, rate: Quantity) -> float:
    """Bytes that it keeps in its first or second tier."""
    return mix(wait.si, rate.si).sizes[tier]


def heat(wait: Quantity, rate: Quantity) -> float:
    """Share of the accesses that the first one takes."""
    return mix(wait.si, rate.si).heat[0]


def bill(wait: Quantity, rate: Quantity) -> Quantity:
    """What the mix costs: its bytes at their tiers' prices."""
    parts = [
        counted(kept, i, wait, rate, unit="B", label=f"bytes in {tier.name}")
        * tier.field("price")
        for i, tier in enumerate(mix(wait.si, rate.si).tiers)
    ]
    return sum(parts[1:], parts[0]).named("cost of the mix")


def rule(market: str) -> Quantity:
    """Gray's interval with a drive of today."""
    ssd, price = drive("micron_9550"), priced.prices(market)
    whole = ssd.capacity * price["nvme"]
    interval = break_even_interval(ssd.page, price["ddr5"], whole, ssd.reads)
    return interval.named("break-even interval")


def gray() -> Quantity:
    """The same with the prices of 1987."""
    given = ("gray_page", "gray_price", "gray_drive", "gray_reads")
    return break_even_interval(*map(constant, given))


# -- joules ------------------------------------------------------------------------


def stage(name: str) -> energy.Stage:
    """One stop of a bit's way, from circuit papers."""
    return next(s for s in energy.circuit_path(CHIP) if s.name == name)


def path(account: str, *kinds: str) -> Quantity:
    """Energy of those stops of a bit's way that are of these kinds."""
    mine = [s.per_bit for s in energy.PATHS[account](CHIP) if s.kind in kinds]
    return sum(mine[1:], mine[0]).named("energy of the path")


def off(board: energy.StepEnergy) -> Quantity:
    """The largest factor between the claim and what any account says."""
    said = claimed("data-movement-power-share")
    wide = board.share(*energy.MOVES, "control")
    return maximum(said / board.share(*energy.MOVES), wide / said)


# -- keys and values on drives -----------------------------------------------------


@cache
def top_k() -> Quantity:
    """Tokens that the sparse attention of DeepSeek-V3.2 reads in a layer."""
    take, label = "attention.indexer.top_k", "tokens picked"
    return counted(get, "deepseek-v3.2", take=take, label=label)


def demand(model: str, sparse: bool = True) -> KvDemand:
    """Keys and values of one token at a long context."""
    most = round(top_k().si) if sparse else None
    return kv_demand(model, context=CONTEXT, top_k=most)


def drives(sparse: bool) -> Quantity:
    """Drives that one sequence of Llama keeps busy; reads and bytes, the larger."""
    ssd, asked = drive("micron_9550"), demand(LLAMA, sparse)
    rate = chosen(20, "1/s", label="tokens a second")
    return ceil(maximum(asked.pages * rate / ssd.reads, asked.read * rate / ssd.read))


def layers(model: str = LLAMA) -> Quantity:
    """Layers of a model."""
    return get(model).size("layers", "layers")


def token(model: str) -> Quantity:
    """Keys and values of one token in one layer."""
    whole = get(model).kv_bytes_per_token("bf16")
    return (whole / layers(model)).named("KV of a token in a layer")


def step() -> Quantity:
    """A step of Llama-3-70B on two H100s that reads weights alone."""
    return (layers() * layer_time(LLAMA, on="h100-sxm", tp=2)).named("weights read")


def fed(compute: Quantity, drives: int, *, ahead: bool) -> float:
    """Seconds of the step with its keys and values from drives."""
    ssd, n = drive("micron_9550"), get(LLAMA).layers
    pages = demand(LLAMA).pages.si / n
    wait, rate = ssd.latency.si, drives * ssd.reads.si
    return step_time(compute.si, n, pages, rate, wait, ahead=ahead)


def written(rate: Quantity) -> Quantity:
    """Keys and values that prefill writes."""
    each = get(LLAMA).kv_bytes_per_token("bf16") / one_of("token")
    return (rate * each).named("KV written")


# -- checkpoints -------------------------------------------------------------------


def adam() -> Quantity:
    """Bytes a parameter of a checkpoint: weights and Adam."""
    why = "Mixed precision with Adam keeps it for each parameter."
    parts = [
        assumed(size, "B", f"bytes of {name}", why=why)
        for name, size in checkpoint.ADAM.items()
    ]
    return sum(parts[1:], parts[0]).named("bytes a parameter")


def copied() -> Quantity:
    """Time in which each GPU copies its share over its own PCIe."""
    each = checkpoint.checkpoint_bytes(LLAMA) / chosen(GPUS, label="GPUs")
    return link_time(each, "pcie5_x16", achieved=True)


def mtbf() -> Quantity:
    """Mean time between the interruptions that Meta saw."""
    between = constant("llama3_days") / constant("llama3_failures")
    return between.named("time between failures")


def best(cost: Quantity, between: Quantity) -> float:
    """Daly's interval in seconds."""
    return checkpoint.daly_interval(cost.si, between.si)


def daly(cost: Quantity) -> Quantity:
    """Daly's interval."""
    return counted(best, cost, mtbf(), unit="s", label="Daly's interval")


def waste(
    interval: Quantity, cost: Quantity, restart: Quantity, between: Quantity
) -> float:
    """Share of the time that is lost at an interval."""
    given = {"cost": cost.si, "restart": restart.si, "between_failures": between.si}
    return 1 - 1 / checkpoint.expected_time(interval.si, **given)


def lost(
    cost: Quantity, restart: Quantity, interval: Quantity | None = None
) -> Quantity:
    """The same, at Daly's interval or another."""
    chosen_one = daly(cost) if interval is None else interval
    return counted(waste, chosen_one, cost, restart, mtbf(), label="share lost")
