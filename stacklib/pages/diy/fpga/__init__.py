"""Section 9.6: What does an FPGA cost you?"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from stacklib import diy, models
from stacklib.diy.silicon import block, glyphs, tiles
from stacklib.diy.silicon.devices import FAMILIES, Choice, device, weigh
from stacklib.diy.silicon.fixed import flat, run, run_many
from stacklib.diy.silicon.frame import on_arrays
from stacklib.diy.silicon.pipeline import Design, room, tile_cycles
from stacklib.evidence import results
from stacklib.pages.chain.posts import MODEL
from stacklib.quantity import Quantity, ceil, chosen, counted, counting, recorded

FIRST, MIDDLE, LARGE, CARD = "up5k", "zynq_7020", "k26", "u50"
SHOWN = (FIRST, "hx8k", "ecp5_85f", "artix_100t", MIDDLE, "cyclone_v", LARGE, CARD)
UNSEEN, SEED = 2000, 7  # digits that no weight was fitted to
TOKENS = 12  # of the block
ON_CARD = 1  # week to bring a network to a card
TILES_CARD = "tt_blackhole_p150"
ACROSS, DOWN = 12, 10  # cores of a row and of a column that share what is read
ASKED = ("operations", "memory", "price", "weeks", "effort")
PRODUCTS = 64  # of tiles, in the kernel that is run


@cache
def design(on: str = FIRST) -> Design:
    """The network that reads digits, on a device."""
    return diy.fpga(diy.small_cnn(), on)


def told(what: str, on: str = FIRST) -> Quantity:
    """Interval, latency, frames a second or time of one frame."""
    return design(on).quantities()[what]


def digits(on: str = FIRST) -> Quantity:
    """Digits a second."""
    second = chosen(1, "s", label="a second")
    return (told("frames", on) * second).named(
        f"digits a second on {design(on).device.name}"
    )


@counting("numbers of a digit before layer {layer}")
def numbers(layer: int) -> int:
    """Dots, and what each layer gives."""
    return prod(diy.small_cnn().shapes()[layer])


def passed(layer: int, on: str = FIRST) -> Quantity:
    """Bytes a second that enter a layer; behind the last, sums of 32 bits."""
    width = 4 if layer == len(diy.small_cnn().layers) else 1
    size = numbers(layer) * chosen(width, "B", label="bytes of a number")
    return (size * told("frames", on)).to("MB/s").named(f"into layer {layer + 1}")


def sides(layer: int, on: str = FIRST) -> list[Quantity]:
    """Rows and columns of a layer's array."""
    return [
        counted(
            design, on, take=f"engines[{layer}].{take}", label=f"{name} of the array"
        )
        for take, name in (("rows", "rows"), ("cols", "columns"))
    ]


@counting("cycles of layer {layer}", unit="cycle")
def cycles(layer: int, on: str = FIRST) -> int:
    """Of one digit."""
    return design(on).engines[layer].cycles


def first_layer() -> list[Quantity]:
    """Windows, kernels and products per sum of the first layer."""
    labels = enumerate(("windows", "kernels", "products of a sum"))
    return [counted(design, take=f"engines[0][{i}]", label=x) for i, x in labels]


@counting("cycles of a tile of the first layer", unit="cycle")
def tile() -> int:
    """One more than its last product."""
    engine = design().engines[0]
    return tile_cycles(engine.depth, engine.rows, engine.cols)


@counting("products of a digit")
def products() -> int:
    """Of all three layers."""
    return sum(diy.small_cnn().products())


@counting("places that {on} holds")
def places(on: str = FIRST) -> int:
    """Multiply-adders in blocks, then in look-up tables."""
    return room(device(on))


@counting("cycles if every place worked in every cycle", unit="cycle")
def hoped() -> int:
    """Products over places, rounded up."""
    return -(-sum(diy.small_cnn().products()) // room(device(FIRST)))


@cache
def unseen() -> Any:
    """Digits that no weight was fitted to: dots, and what each is."""
    return glyphs.glyphs(UNSEEN, SEED)


@counting("digits read right, of those unseen")
def right() -> float:
    """A share, by the whole numbers that every way below computes."""
    images, digits = unseen()
    answers = run_many(diy.small_cnn(), images)[-1].reshape(UNSEEN, 10).argmax(1)
    return float((answers == digits).mean())


@counting("numbers of a digit that agree, loops with arrays tile by tile")
def agree() -> int:
    """Of every layer of one digit."""
    network, image = diy.small_cnn(), glyphs.glyphs(1, 5)[0][0]
    frame = on_arrays(network, design().engines, image)
    both = zip(map(flat, run(network, image)), map(flat, frame.layers), strict=True)
    return sum(a == b for one, other in both for a, b in zip(one, other, strict=True))


def synthesis(kind: str) -> Quantity:
    """Megahertz that the tool reports for a 2 x 2 array, by blocks or by tables."""
    of = results.file("silicon"), f"up5k-{kind}", "megahertz"
    return recorded(*of, unit="MHz", label=f"clock by the tool, {kind}")


@counting("share of the places' cycles in use, {on}")
def used(on: str = FIRST) -> float:
    """Products over those that the places could do."""
    return design(on).used


def row(on: str) -> dict[str, Any]:
    """A device of the table."""
    of = device(on)
    return {
        "device": of.name,
        "board": of.price.middle.named(f"a board with {of.name}"),
        "blocks": of.dsps,
        "places": places(on),
        "ceiling": of.ceiling,
        "interval": told("interval", on),
        "digits a second": digits(on),
        "in use": used(on),
    }


def more_digits() -> Quantity:
    """Digits a second of the large board over those of the small one."""
    return (digits(LARGE) / digits()).named("digits of a second, large over small")


def over(what: str, on: str = LARGE, base: str = FIRST) -> Quantity:
    """A device over another: ``dsps`` or ``ceiling``."""
    ratio = getattr(device(on), what) / getattr(device(base), what)
    return ratio.named(f"{what}, {on} over {base}")


@counting("products of a transformer's block")
def block_products() -> int:
    """For twelve tokens of width 32."""
    return block.drawn_block().products(TOKENS)


@counting("error of the block in fixed point, of the floats' spread")
def block_error(seed: int = 0) -> float:
    """Root of the mean square."""
    import numpy as np

    made = block.drawn_block(seed=seed)
    draw = np.random.default_rng(seed)
    tokens = np.rint(draw.normal(0, 1 << block.FRACTION, (TOKENS, made.width)))
    exact = block.float_block(made, tokens)
    ours = block.run_arrays(made, tokens.astype(int)) / (1 << block.FRACTION)
    return float(((ours - exact) ** 2).mean() ** 0.5 / exact.std())


def token(on: str) -> Quantity:
    """Cycles of a token's products on all multipliers of a device's blocks."""
    of = device(on)
    each = of.dsps * FAMILIES[of.family] / chosen(1, "cycle", label="a cycle")
    all_of_it = models.get(MODEL).active_parameters / each
    return all_of_it.named(f"cycles of a token's products on {of.name}")


def wait(on: str) -> Quantity:
    """The same in seconds."""
    return (token(on) / device(on).clock).to("s").named(f"a token on {device(on).name}")


def fight(by_hls: bool = False) -> Choice:
    """A board with memory of its own against a card for games."""
    return weigh(CARD, weeks=ON_CARD, by_hls=by_hls)


def sides_of_fight() -> list[dict[str, Any]]:
    """The rows of both."""
    return [{"on": one[0], **dict(zip(ASKED, one[1:], strict=True))} for one in fight()]


def computing() -> Quantity:
    """Cycles in which a core multiplies two tiles."""
    return tiles.computing(TILES_CARD)


def reading(shared: bool = True, kept: int = 1) -> Quantity:
    """Cycles in which a core gets two tiles; ``shared``: read once a row and column."""
    return tiles.reading(TILES_CARD, (ACROSS, DOWN) if shared else (1, 1), kept)


@counting("cycles of the kernel, {slots} places in each buffer", unit="cycle")
def kernel(slots: int, shared: bool = True, kept: int = 1) -> float:
    """Reader and arithmetic over circular buffers, stepped."""
    return tiles.stepped(reading(shared, kept).si, computing().si, PRODUCTS, slots)


@counting("the same in closed form", unit="cycle")
def by_hand(slots: int, shared: bool = True, kept: int = 1) -> float:
    """By the slower of both."""
    return tiles.by_hand(reading(shared, kept).si, computing().si, PRODUCTS, slots)


def enough() -> Quantity:
    """The side from which on a core waits for no tile."""
    return ceil(reading() / computing()).named("side of the square of sums kept")
