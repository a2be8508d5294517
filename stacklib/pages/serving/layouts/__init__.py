"""Section 8.10: Which machine, which layout, which engine?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.evidence.calibrate import engines as published
from stacklib.hardware.errors import error_band
from stacklib.pages.chain import posts
from stacklib.pages.chain.posts import ANSWER, CONTEXT, DEVICE, MODEL, TP
from stacklib.quantity import Quantity, chosen, counted, counting, quoted, stamp
from stacklib.serving.layouts import copies, engines
from stacklib.serving.layouts.layout import AGGREGATED, DISAGGREGATED, Layout
from stacklib.serving.layouts.search import FAMILY, Search, search
from stacklib.serving.prices.silicon import decode_silicon

GPUS, PROMPT, NEW, DTYPE = TP, CONTEXT, ANSWER, "bf16"
LIMITS = {"ttft": posts.FIRST, "tpot": 0.05}
FIRST = "E_prefill/first token"
MACHINES = ("h100_sxm", "h200_sxm", "b200_sxm", "mi300x")
ONE, TWO = AGGREGATED, DISAGGREGATED
POOLS = {ONE: "one pool", TWO: "two pools"}
UNITS = {"ttft": "s", "tpot": "s", "tokens_per_gpu": "token/s", "batch": ""}
FAMILIES = {"ttft": FIRST, "tpot": FAMILY, "tokens_per_gpu": FAMILY}
SMALL_BATCH = 16  # sequences of a chip that is to decode cheaply
BUILD_MIN, HOURS, SHARED = 10, 24, 3072  # minutes of a build; served; tokens shared


@cache
def found(tpot: float = LIMITS["tpot"]) -> Search:
    """All layouts of the running model on eight chips of the running case."""
    limits = LIMITS | {"tpot": tpot}
    return search(MODEL, gpus=GPUS, on=DEVICE, traffic=(PROMPT, NEW), slo=limits)


@cache
def compared() -> Search:
    """The same on as many chips of other kinds."""
    return search(MODEL, gpus=GPUS, on=MACHINES, traffic=(PROMPT, NEW), slo=LIMITS)


def layout(kind: str = "", tp: int = 0) -> Layout:
    """The best layout that keeps the limits.

    - ``kind``: of one pool or of two; else of any
    - ``tp``: chips that share a copy which writes; else any number
    """
    return next(
        row
        for row in found().kept
        if kind in ("", row.kind) and row.pool and tp in (0, row.pool.tp)
    )


def value(what: str, kind: str = "", tp: int = 0) -> float:
    """What a layout does, in SI units: ``ttft``, ``tpot``, ``tokens_per_gpu``, ...

    - ``kind``, ``tp``: whose, as ``layout`` takes them
    """
    row = layout(kind, tp)
    if what in UNITS and what != "batch":
        return float(getattr(row, what))
    pool = row.prefill if what.startswith("read") else row.pool
    assert pool is not None
    return float(getattr(pool, what.removeprefix("read_")))


def of(what: str, kind: str = "", tp: int = 0) -> Quantity:
    """The same as a number of the page."""
    words = " ".join(filter(None, [what.replace("_", " "), POOLS.get(kind, "")]))
    unit = UNITS.get(what, "")
    label = f"{words}, {tp} chips" if tp else f"{words}, best"
    got = counted(value, what, kind, tp, unit=unit, label=label)
    return stamp(got, FAMILIES[what]) if what in FAMILIES else got


# -- what is added up ------------------------------------------------------------------


def copy(tp: int) -> copies.Copy:
    """One copy of the model."""
    return copies.copy_of(found().asked, DEVICE, DTYPE, tp, 1)


def seconds(what: str, tp: int, batch: int) -> float:
    """A ``step`` of a copy, what a ``prompt`` adds to it, or reading one ``alone``."""
    one = copy(tp)
    load = copies.steady.Load(batch, PROMPT, NEW)
    if what == "alone":
        return copies.steady.prompt_time(one.step, PROMPT)
    how = {"step": copies.steady.step_time, "prompt": copies.steady.added}
    return how[what](one.step, load)


def part(what: str, tp: int = 0, batch: int = 0) -> Quantity:
    """The same as a number; of the best single pool where nothing is named."""
    best = layout(ONE).pool
    assert best is not None
    asked = what, tp or best.tp, batch or best.batch
    label = {"step": "a step", "prompt": "a prompt on it", "alone": "a prompt alone"}
    time = counted(seconds, *asked, unit="s", label=label[what])
    return stamp(time, FIRST if what == "alone" else FAMILY)


def by_hand() -> Quantity:
    """Tokens a second a GPU of the best single pool: the napkin's."""
    batch, new = of("batch", ONE), chosen(NEW, label="tokens written")
    chips = of("tp", ONE)
    time = part("step") + batch / new * part("prompt")
    token = chosen(1, "token", label="a token of each")
    return (batch * token / time / chips).named("tokens a second a GPU").to("token/s")


@counting("readers busy", family=FIRST)
def busy() -> float:
    """Share of the time that the readers of the best two pools read."""
    row = layout(TWO)
    assert row.prefill is not None
    each = seconds("alone", row.prefill.tp, 1)
    return row.tokens_per_s / NEW * each / row.prefill.copies


def weights() -> Quantity:
    """Bytes of the weights."""
    return models.get(MODEL).weight_bytes(DTYPE)


def memory() -> Quantity:
    """Bytes that one chip holds."""
    return hardware.get(DEVICE).memory_capacity.across(1)


def median() -> Quantity:
    """Median error of a token among others, on rows never seen."""
    return counted(error_band, FAMILY, take="median", label="median error")


def peers(kind: str) -> Quantity:
    """What aiconfigurator's own search found, in a run of ours."""
    return quoted(f"aiconfigurator.{POOLS[kind].replace(' ', '_')}")


def rows() -> list[dict[str, Any]]:
    """The best of every kind of layout."""
    listed = []
    for row in found().leaders[:7]:
        assert row.pool is not None
        asked = row.kind, row.pool.tp
        reads = row.prefill
        first = layout(*asked) is row
        if not first:
            continue
        listed.append(
            {
                "layout": POOLS[row.kind],
                "copies that write": of("copies", *asked),
                "chips of each": of("tp", *asked),
                "copies that read": of("read_copies", *asked) if reads else None,
                "chips of each, reading": of("read_tp", *asked) if reads else None,
                "first token": of("ttft", *asked),
                "a token": of("tpot", *asked),
                "tokens a second a GPU": of("tokens_per_gpu", *asked),
            }
        )
    return listed


def about() -> dict[str, Any]:
    """What the guard is told of those rows."""
    listed = rows()
    chips = [int(row["chips of each"].si) for row in listed]
    kinds = {words: kind for kind, words in POOLS.items()}
    batch = [
        int(of("batch", kinds[row["layout"]], n).si)
        for row, n in zip(listed, chips, strict=True)
    ]
    told = {"device": DEVICE, "dtype": DTYPE, "model": MODEL, "evidence": "predicted"}
    return told | {"chips": chips, "batch": batch}


# -- which machine ---------------------------------------------------------------------


def machine_value(device: str, what: str = "tokens_per_gpu") -> float:
    """Tokens a second a GPU of a machine's best layout.

    - ``what``: or how far the best machine is ``apart`` from it, and ``needed``
    """
    if what != "tokens_per_gpu":
        return float(getattr(_against(device), what))
    rows_ = (row for row in compared().kept if row.device == device)
    return next(rows_).tokens_per_gpu


def _against(device: str) -> Any:
    return next(one for one in compared().against if one.other == device)


def machine(device: str, what: str = "tokens_per_gpu") -> Quantity:
    """The same as a number."""
    unit = "token/s" if what == "tokens_per_gpu" else ""
    got = counted(machine_value, device, what, unit=unit, label=f"{what}, {device}")
    return stamp(got, FAMILY)


def silicon() -> list[dict[str, Any]]:
    """Chips by what a million tokens cost at a small batch, cheapest first."""
    listed = []
    for one in decode_silicon(MODEL, SMALL_BATCH):
        if one.cost is None or one.flop_per_byte is None:
            continue
        listed.append(
            {
                "chip": hardware.get(one.device).short,
                "chips": chosen(one.chips, label=f"chips, {one.device}"),
                "at the lowest quotes": one.cost.low,
                "at the highest": one.cost.high,
                "operations a byte": one.flop_per_byte,
            }
        )
    return listed[:8]


# -- which engine ----------------------------------------------------------------------


def gain() -> Quantity:
    """What TensorRT-LLM's tokens gain over vLLM's, each against one estimate."""
    over = counted(published.slower, "vLLM", "TensorRT-LLM", label="vLLM's times")
    return (over - 1).named("gain over vLLM")


def stands(engine: str, take: str = "middle") -> Quantity:
    """Published times of a token over the estimate's; or how many ``rows``."""
    label = f"{take}, {engine}"
    return counted(published.standing, engine, take=take, label=label)


@cache
def rules(users: int = 49, shared: int = SHARED) -> list[engines.Rule]:
    """The rules for the best copy of the page."""
    pool = layout(ONE).pool
    assert pool is not None
    return engines.rules(
        MODEL,
        DEVICE,
        users=users,
        prompt=PROMPT,
        shared=shared,
        hours=float(HOURS),
        build=chosen(BUILD_MIN, "min", label="a build"),
        gain=gain(),
        dtype=DTYPE,
        tp=pool.tp,
    )


def rule(engine: str, **asked: int) -> engines.Rule:
    """One of them."""
    return next(one for one in rules(**asked) if one.engine == engine)


def engine_rows() -> list[dict[str, Any]]:
    """Engines, when to take them, and the figure behind it."""
    figures = {
        "llama.cpp": "tokens of a batch over those of one",
        "vLLM": "tokens of a batch over those of one",
        "SGLang": "first token, cold over found",
        "TensorRT-LLM": "hours until a build is repaid",
        "TGI": "maintained only",
    }
    listed = []
    for one in rules():
        figure = one.figure
        if figure is not None and one.engine == "TensorRT-LLM":
            figure = (figure / chosen(1, "h", label="an hour")).named("hours")
        many = stands(one.engine, "rows")
        listed.append(
            {
                "engine": one.engine,
                "take it for": one.when,
                "figure": figures[one.engine],
                "here": figure,
                "published over estimated": stands(one.engine) if many.si else None,
                "rows": many,
            }
        )
    return listed
