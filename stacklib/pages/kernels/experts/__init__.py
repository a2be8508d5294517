"""Section 4.9: How full is the last tile?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib import hardware, models
from stacklib.kernels.experts import tiles as tiled
from stacklib.kernels.experts.rounding import (
    Rounded,
    draw_counts,
    pad_waste,
    padded,
    round_tokens,
    tiny_scores,
)
from stacklib.plots.live.parts import stand
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counting,
    one_of,
    quoted,
)
from stacklib.quantity.constants import case
from stacklib.roofline.work.moving import memory_time

if TYPE_CHECKING:
    from stacklib.models.parts import Experts

MODEL, OLDER, CHIP = "deepseek-v3", "deepseek-v2", "h100_sxm"
TILE, TOKENS, FEWER, MANY = 128, case("context"), 3584, 16_384
RAGGED = 1500  # a width that is no whole number of tiles
DRAWN = 16_384  # tokens of all batches that are drawn for a mean
SMALL = {"experts": 16, "texts": 4}  # of the router on the small model's states
SMALL_TOP = 4


def experts() -> Experts:
    """The model's experts."""
    found = models.get(MODEL).experts
    assert found is not None
    return found


def of(field: str, words: str) -> Quantity:
    """A size of them as a quantity of the config."""
    model = models.get(MODEL)
    key = f"{MODEL}.{words}"
    value = getattr(experts(), field)
    return Quantity(value, label=words, source=model.source, kind="config", key=key)


def tile() -> Quantity:
    """Rows of a tile."""
    return stand(__name__, "tile", TILE).named("rows of an expert's tile")


def rows(tokens: int = TOKENS) -> Quantity:
    """Rows that a batch asks for: each token once for each of its experts."""
    asked = chosen(tokens, label="tokens") * of("top_k", "experts per token")
    return asked.named(f"rows of {tokens} tokens")


def mean(tokens: int = TOKENS) -> Quantity:
    """Tokens of an expert in the mean."""
    return (rows(tokens) / of("experts", "experts")).named(
        f"tokens per expert, {tokens}"
    )


# -- padding, three ways ---------------------------------------------------------------


def formula(tokens: int = TOKENS) -> Quantity:
    """Rows padded over rows asked for: half a tile an expert."""
    top, many = of("top_k", "experts per token"), of("experts", "experts")
    asked = chosen(tokens, label="tokens")
    return pad_waste(asked, top, many, tile()).named(f"padding foretold, {tokens}")


@counting("padding, even router, {tokens}")
def exact(tokens: int = TOKENS) -> float:
    """The same in the mean over all batches of an even router."""
    return 1 / tiled.expert_tiles(MODEL, tokens=tokens, tile=TILE).in_tokens - 1


@counting("padding, drawn, {tokens}")
@cache
def drawn(tokens: int = TOKENS) -> float:
    """The same for batches that were drawn."""
    import numpy as np

    random, many = np.random.default_rng(9), experts()
    sizes = {"tokens": tokens, "top_k": many.top_k, "experts": many.experts}
    found = [draw_counts(random, **sizes) for _ in range(DRAWN // tokens)]
    return float(sum(padded(n, TILE).sum() for n in found) / sum(map(sum, found)))


def share(waste: Quantity) -> Quantity:
    """Padding as a share of the rows that are computed."""
    return (waste / (1 + waste)).named("share of padding in the rows computed")


def computed(tokens: int = TOKENS) -> Quantity:
    """Rows that are computed, padding included."""
    return (rows(tokens) * (1 + exact(tokens))).named(f"rows computed, {tokens}")


def saved() -> Quantity:
    """Rows computed that the shorter prompt saves."""
    return (1 - computed(FEWER) / computed()).named("rows saved")


def cut_off() -> Quantity:
    """Share of the tokens that it lacks."""
    fewer, all_ = chosen(FEWER, label="fewer tokens"), chosen(TOKENS, label="tokens")
    return (1 - fewer / all_).named("share of the tokens")


def spread(tokens: int = TOKENS) -> Quantity:
    """Standard deviation of an expert's tokens under an even router."""
    part = of("top_k", "experts per token") / of("experts", "experts")
    spread = (chosen(tokens, label="tokens") * part * (1 - part)) ** 0.5
    return spread.named("standard deviation of a count")


# -- what it costs --------------------------------------------------------------------


def parameters(name: str = MODEL) -> Quantity:
    """Parameters of an expert."""
    return tiled.expert_tiles(name, tokens=1).parameters


def width(name: str = MODEL) -> Quantity:
    """Its width."""
    return tiled.expert_tiles(name, tokens=1).width


def hidden() -> Quantity:
    """The model's hidden size."""
    return tiled.expert_tiles(MODEL, tokens=1).hidden


def narrower() -> Quantity:
    """Parameters of an expert as wide as one of the older model."""
    return (3 * hidden() * width(OLDER)).named("parameters, 1,536 wide")


def all_routed(wide: bool = True) -> Quantity:
    """Parameters of all routed experts, of the model's width or the older one's."""
    total = tiled.routed_parameters(MODEL)
    return total if wide else (total * width(OLDER) / width()).named("all, narrower")


def reading() -> Quantity:
    """Time in which an expert's weights are read, bf16."""
    held = parameters() * bytes_per_element("bf16")
    return memory_time(held, CHIP).named("reading an expert")


def multiplying(tiles: int = 1) -> Quantity:
    """Time in which so many tiles of rows are multiplied at the dense peak."""
    rate = hardware.get(CHIP).peak("bf16").across(1)
    work = 2 * one_of("FLOP") * parameters() * tile() * chosen(tiles, label="tiles")
    return (work / rate).named(f"multiplying {tiles} tiles")


def free_rows() -> Quantity:
    """Rows of an expert up to which reading takes longer than multiplying."""
    return (tile() * reading() / multiplying()).named("rows that reading hides")


def free_tokens() -> Quantity:
    """Tokens of a batch with so many rows an expert."""
    return (
        free_rows() * of("experts", "experts") / of("top_k", "experts per token")
    ).named("tokens of a batch")


def size_rows() -> list[dict[str, Any]]:
    """Sizes of an expert's matrices in tiles, and one that does not fit them."""
    sizes = {
        "width, DeepSeek-V2": width(OLDER),
        "width, DeepSeek-V3": width(),
        "hidden, DeepSeek-V3": hidden(),
        "not a multiple": chosen(RAGGED, label="columns"),
    }
    return [
        {
            "size": name,
            "columns": columns,
            "tiles": (columns / tile()).named(f"tiles, {name}"),
            "used": tiled.tile_efficiency(columns, tile()).named(f"used, {name}"),
        }
        for name, columns in sizes.items()
    ]


# -- rounding --------------------------------------------------------------------------


@cache
def rounded(which: str) -> Rounded:
    """A batch rounded: ``even`` draws the model's sizes, ``tiny`` has real states."""
    if which == "tiny":
        return round_tokens(tiny_scores(**SMALL), top_k=SMALL_TOP, tile=TILE)
    import numpy as np

    many = experts()
    logits = np.random.default_rng(4).normal(size=(TOKENS, many.experts))
    gates = np.exp(logits)
    gates /= gates.sum(axis=1, keepdims=True)
    return round_tokens(gates, top_k=many.top_k, tile=TILE)


@counting("{what}, {which}")
def after(which: str, what: str) -> float:
    """What rounding of a batch found: a property of ``Rounded``, or its tokens."""
    found = rounded(which)
    if what == "tokens":
        return len(found.gates)
    if what == "left alone":
        return float((found.rounded.sum(axis=1) == 0).sum())
    # Four digits: the last ones of a product depend on how many threads made it.
    return float(f"{getattr(found, what):.4g}")


def small(what: str) -> Quantity:
    """The formula for the small router's batch, or a size of it."""
    sizes = {
        "experts": chosen(SMALL["experts"], label="experts"),
        "top_k": chosen(SMALL_TOP, label="experts per token"),
    }
    if what in sizes:
        return sizes[what]
    return pad_waste(after("tiny", "tokens"), tile=tile(), **sizes).named(
        "padding foretold, small router"
    )


def further() -> Quantity:
    """The published factor of kernel time of token rounding, on top of the rest."""
    return quoted("sonic_moe.further")


def over_scatter() -> Quantity:
    """The published factor of the whole work on Hopper."""
    return quoted("sonic_moe.over_scatter")
