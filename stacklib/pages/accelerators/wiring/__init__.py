"""Section 5.8: can the model be the wiring."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import accelerators, cost, hardware, models, serving, tinylm
from stacklib.accelerators.products import rom_budget
from stacklib.accelerators.products.mask_rom import Parts
from stacklib.accelerators.products.rom_lines import adding_time, wired
from stacklib.accelerators.rtl.netlist import TRANSISTORS
from stacklib.cost.tokens import electricity
from stacklib.pages import chain
from stacklib.quantity import (
    Quantity,
    ceil,
    chosen,
    constant,
    counted,
    log2,
    one_of,
    quoted,
    recorded,
)
from stacklib.quantizers import quantize
from stacklib.serving import Account

MODEL, GPU, CHIP = "llama-3.1-8b", "h200", "taalas-hc1"
CONTEXT, BATCH = 1024, 256  # as the published rate was measured; a full GPU
WIRED = "benchmarks/results/rtl_wired.json"
MATRIX, SCHEME = "model.layers.0.self_attn.k_proj.weight", "q4_0"


def chip() -> Any:
    """The chip that is a model."""
    return hardware.get(CHIP)


def weights() -> Quantity:
    """Weights of its model."""
    return models.get(MODEL).parameters


def rate() -> Quantity:
    """Tokens a second of the chip for one user, as its maker has them."""
    return quoted("taalas.rate")


def on_gpu(batch: int = 1) -> Quantity:
    """Tokens a second of so many users on a GPU, by the account of one step."""
    step = serving.account(MODEL, GPU, "bf16", batch=batch, context=CONTEXT).total()
    users = chosen(batch, "token", label="tokens of a step, one a user")
    return (users / step).named(f"tokens per second, {batch} users on an H200")


def times() -> Quantity:
    """The chip over that GPU, one user."""
    return (rate() / on_gpu()).named("over the roofline, one user")


def full() -> Quantity:
    """A full GPU over the chip."""
    return (on_gpu(BATCH) / rate()).named("a full GPU over one user's chip")


# -- the budget ------------------------------------------------------------------------


def each() -> Quantity:
    """Transistors that the chip has for each weight."""
    found = rom_budget.per_weight(chip().transistors, weights())
    return found.named("transistors per weight")


def sum_bits() -> Quantity:
    """Bits of a sum over a row: of the input, of the weight, and of so many terms."""
    inputs = models.get(MODEL).size("hidden", "hidden size")
    given = chosen(8, label="bits of an input") + chosen(4, label="bits of a weight")
    return (given + ceil(log2(inputs))).named("bits of a sum")


def adder() -> Quantity:
    """Transistors of an adder of that width."""
    cell = quoted("full_adder.transistors")
    return (sum_bits() * cell).named("transistors of an adder")


def sharing() -> Quantity:
    """Weights that have to share one adder."""
    left = (each() - chosen(1, label="transistor of a weight")).named("left per weight")
    return (adder() / left).named("weights that share an adder")


def adders() -> Quantity:
    """Adders of the chip, as many weights to each."""
    return (weights() / sharing()).named("adders of the chip")


def made_of(row: str, label: str) -> Quantity:
    """Transistors of what synthesis stored, by kind of cell."""
    kinds = [k for k in TRANSISTORS if k != "DFF"]
    cells = [recorded(WIRED, row, f"cells/{kind}") for kind in kinds]
    sizes = [chosen(TRANSISTORS[k], label=f"transistors of {k}") for k in kinds]
    each = [c * size for c, size in zip(cells, sizes, strict=True)]
    return sum(each[1:], each[0]).named(label)


def wires() -> Quantity:
    """Transistors per weight of a part of the tiny matrix, synthesised as wires."""
    all_of = made_of("wired", "a matrix as wires, synthesised")
    count = recorded(WIRED, "wired", "weights")
    return (all_of / count).named("transistors per weight, synthesised")


def products(model: str) -> Quantity:
    """Products of a token that wait for one another: four a layer, and one."""
    layers = models.get(model).size("layers", "layers")
    four = chosen(4, label="products of a layer in turn")
    return (layers * four + 1).named("products in turn")


def clock() -> Quantity:
    """Supposed: nobody publishes it."""
    return chosen(1, "GHz", label="clock, supposed")


def token(model: str = MODEL) -> Quantity:
    """Seconds of the sums of a token: every adder in turn for the weights it serves."""
    turns = sharing() * one_of("cycle")
    found = adding_time(turns, products(model), clock())
    return found.to("s").named("sums of a token")


def roof() -> Quantity:
    """Tokens a second by those sums."""
    return (one_of("token") / token()).named("tokens per second by the sums")


def without_reading() -> Account:
    """The token's account, its products with weights as wires."""
    return wired(chain.account("05-accelerators/wiring"), token(chain.MODEL))


def left() -> Quantity:
    """The token where nothing of the model is read."""
    return without_reading().total().named("a token that reads no weights")


def launches() -> Quantity:
    """Launches and pauses in it."""
    return without_reading()["launches and pauses"].time


def chips() -> Quantity:
    """Chips of that size for the weights of the token's model."""
    more = models.get(chain.MODEL).parameters / weights()
    return ceil(more).named("chips for its weights")


# -- a matrix of the tiny model --------------------------------------------------------


@cache
def matrix() -> Any:
    """One matrix of the tiny model in four bits: (inputs, outputs), without scales."""
    import numpy as np

    codes = quantize(tinylm.load("tiny").weights[MATRIX], SCHEME).codes
    signed = np.asarray(codes).astype(int) - 8
    return signed.reshape(len(signed), -1).T


def chosen_equals() -> int:
    """Largest difference of routing and multiplying, over a hundred inputs."""
    import numpy as np

    w, draw = matrix(), np.random.default_rng(8)
    rom = accelerators.mask_rom(w)
    inputs = draw.integers(-128, 128, (100, len(w)))
    return int(max(np.abs(rom.multiply(x) - x @ w).max() for x in inputs))


def parts(what: str) -> Quantity:
    """Counted of that matrix: ``crossings``, ``products``, ``additions``, ..."""
    if chosen_equals():
        raise ValueError("routing and multiplying differ")
    return counted(wiring_of, take=what, label=f"{what} of a matrix")


def wiring_of() -> Parts:
    """Parts of the matrix as wires."""
    found: Parts = accelerators.mask_rom(matrix()).parts()
    return found


def codes() -> Quantity:
    """Products that stand ready for an input."""
    return counted(ready, label="products of an input")


def ready() -> int:
    """Levels of a weight of four bits."""
    return len(accelerators.mask_rom([[0]], 4).levels)


def parallel() -> Quantity:
    """Transistors per weight of that matrix if every sum had its own adder."""
    bits = counted(wiring_of, take="adder_bits", label="bits of its widest sum")
    cell = quoted("full_adder.transistors")
    per = parts("additions") / parts("weights")
    crossing = parts("crossings") / parts("weights")
    return (crossing + per * bits * cell).named("transistors per weight, all at once")


# -- power, cache, a model's life ------------------------------------------------------


def joules() -> Quantity:
    """Energy of a token on the chip."""
    return (quoted("taalas.power") / rate()).named("energy of a token")


def gpu_joules(batch: int = BATCH) -> Quantity:
    """Energy of a token on a GPU of so many users, at its design power."""
    watts = hardware.get(GPU).tdp.across(1)
    return (watts / on_gpu(batch)).named(f"energy of a token, {batch} users")


def kv_token() -> Quantity:
    """Bytes of the cache for a token of context."""
    return models.get(MODEL).kv_bytes_per_token("bf16")


def thousand() -> Quantity:
    """Transistors of SRAM for the cache of a thousand tokens."""
    cell = chosen(rom_budget.SRAM_CELL, label="transistors of a bit of SRAM")
    bits = kv_token() * constant("byte") / one_of("bit")
    tokens = chosen(1000, label="tokens of context")
    return (tokens * bits * cell).named("transistors for a thousand tokens")


def thousand_share() -> Quantity:
    """Of the chip's."""
    return (thousand() / chip().transistors).named("share of the chip's transistors")


def longest() -> Quantity:
    """Tokens of context if all that the weights leave were cache."""
    rest = chip().transistors - weights()
    return (1000 * rest / thousand()).named("longest context")


def die() -> Quantity:
    """A good die, at the dearer end."""
    found: Quantity = cost.die(chip().die_area, node="n6").cost.high
    return found


def once() -> Quantity:
    """What masks and design of a model cost, supposed."""
    return chosen(30e6, "USD", label="masks and design, supposed")


def busy() -> Quantity:
    """Share of a year in which a chip works, supposed."""
    return chosen(0.5, label="share of the time in use, supposed")


def gpu_price() -> Quantity:
    """A million tokens on a rented GPU that is full."""
    rent = hardware.get(GPU).cloud_price.across(1)
    return (rent / on_gpu(BATCH)).to("USD/Mtoken").named("a million tokens, rented GPU")


def own_price() -> Quantity:
    """A million on the chip: its die over a year, and electricity."""
    tokens = rate() * one_of("year") * busy()
    power = electricity().high * joules()
    found = die() / tokens + power
    return found.to("USD/Mtoken").named("a million tokens, the chip")


def chip_years() -> Quantity:
    """Years of one chip until a model's masks have paid."""
    tokens = rom_budget.break_even_tokens(once(), gpu_price(), own_price())
    yearly = rate() * one_of("year") * busy()
    return (tokens / yearly).named("chip-years to break even")


def rise(bits: int) -> Quantity:
    """By how much published perplexities of the token's model rise, 3 or 4 bits."""
    from stacklib.pages.quantizers.quality import ladders

    row = {3: "G-0056", 4: "G-0063"}[bits]
    return ladders.rise(row, "llama.cpp, Llama-3-70B")
