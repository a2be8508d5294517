"""The cache's arithmetic beside what the log printed: equal, or by how much not.

A log rounds: 52.05 GiB are from 52.045 to 52.055, which at 2 MiB a block are six of
them. What lies inside is equal; of what does not, the ratio is told, and what has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from stacklib.models import LanguageModel
from stacklib.models.parts import LatentAttention

from .lines import LLAMA, SGLANG, VLLM
from .pages import BLOCK, Layers, NotModelled, Pages, layers_of, pages_of
from .readings import Reading, Readings

GIB = 2.0**30
HALF_STEP = 0.005  # of a figure printed with two decimals
CLOSE = 0.02  # weights: engines pad, and keep rotary tables and buffers
FORMATS = {"auto": "", "fp8": "e4m3fn", "fp8_e4m3": "e4m3fn", "fp8_e5m2": "e5m2"}
FORMATS |= {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "f16": "fp16"}
FORMATS |= {"f32": "fp32", "float8_e4m3fn": "e4m3fn", "float8_e5m2": "e5m2"}
UNKNOWN = "nothing known here has that ratio"
# printed over computed -> what has this ratio
RATIOS = {
    2.0: "twice as much: a cache of 8 bits where 16 were taken, or half the chips",
    0.5: "half as much: a cache of 16 bits where 8 were taken, or twice the chips",
    GIB / 1e9: "GiB over GB: somebody divided by 1e9 where the log divides by 2**30",
    1e9 / GIB: "GB over GiB: somebody divided by 2**30 where the log divides by 1e9",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One figure of the log, and the same computed.

    - ``what``: such as ``blocks``
    - ``low``, ``high``: computed, as far as the log's rounding tells
    - ``printed``: by the server, in ``unit``
    - ``equal``: whether it lies between them
    - ``note``: what was computed, or what may explain the difference
    """

    what: str
    low: float
    high: float
    printed: float
    unit: str
    equal: bool
    note: str
    reading: Reading

    def __str__(self) -> str:
        same = _text(self.low) == _text(self.high)
        ours = _text(self.low) if same else f"{_text(self.low)} to {_text(self.high)}"
        says = "equal" if self.equal else f"printed {_text(self.printed)}"
        unit = f" {self.unit}" if self.unit != "1" else ""
        return f"{self.what}: {ours}{unit}, {says}; {self.note}"


def _text(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def check(
    what: str,
    low: float,
    high: float,
    reading: Reading,
    note: str,
    unit: str = "1",
    why: str = UNKNOWN,
) -> Check:
    """A check; where it differs the note says by which ratio, and ``why`` if none."""
    printed = reading.value
    equal = low <= printed <= high
    if not equal:
        ratio = printed / ((low + high) / 2) if low + high else float("inf")
        known = (words for r, words in RATIOS.items() if abs(ratio / r - 1) < 0.006)
        note = f"{ratio:.3g} times; {next(known, why)}"
    return Check(what, low, high, printed, unit, equal, note, reading)


def checks_of(
    readings: Readings, model: LanguageModel, *, dtype: Any, kv_dtype: str, tp: int
) -> tuple[tuple[Check, ...], tuple[str, ...]]:
    """Every figure of the cache that the log prints, and what could not be computed.

    - ``kv_dtype``: format of the cache, as ``cache_of`` finds it
    """
    found: list[Check] = []
    said: list[str] = []
    try:
        if way := WAYS.get(readings.engine):
            found += way(readings, model, kv_dtype, tp)
    except NotModelled as why:
        said.append(str(why))
    found += [*_left(readings), *_weights(readings, model, dtype, tp)]
    return tuple(found), tuple(said)


def cache_of(readings: Readings, given: str | None, auto: str) -> str:
    """Format of the cache: as given, as printed, or what engines take by themselves."""
    printed = readings.value("kv_dtype") or readings.value("k_dtype")
    if given or not printed:
        return given or auto
    printed = printed.removeprefix("torch.")
    return FORMATS.get(printed, printed) or auto


def plan_of(readings: Readings, model: LanguageModel, kv_dtype: str, tp: int) -> Pages:
    """vLLM's blocks for this model, with the options that the log names."""
    block = int(readings.value("block", BLOCK))
    hybrid = not readings.events.get("hybrid_off")
    layers = layers_of(model, kv_dtype, tp, drafted=int(readings.value("drafted", 0)))
    return pages_of(layers, block, hybrid=hybrid)


def _vllm(
    readings: Readings, model: LanguageModel, kv_dtype: str, tp: int
) -> Iterator[Check]:
    stages = readings.value("stages", 1)
    if stages > 1 or readings.events.get("context_parallel"):
        raise NotModelled(
            "layers in stages, or tokens shared out over chips: how many blocks that "
            "makes is not described here"
        )
    plan = plan_of(readings, model, kv_dtype, tp)
    requests = _requests(readings, model, plan)
    if readings.value("draft", "None") == "None":  # its layers have blocks, too
        yield from _in_memory(readings, plan, requests, tp)
    yield from _concurrency(readings, plan, requests)


def _in_memory(
    readings: Readings, plan: Pages, requests: dict[int, int], tp: int
) -> Iterator[Check]:
    """Blocks and tokens of the memory that is printed, and memory of one request.

    Tokens are those that all tables hold; since 0.20 they are what the concurrency
    makes of the longest request (vLLM's issue 40691).
    """
    longest = readings.value("longest", 0)
    each = f"{plan.bytes:,} B a block of {plan.block} tokens"
    if plan.tables > 1:
        each += f", {plan.tables} tables a sequence"
    rules: list[Callable[[int], int]] = [plan.tokens]
    rules += [partial(_of_longest, each=one, longest=longest) for one in requests]
    for name, ways in (("blocks", [int]), ("tokens", rules)):
        printed = readings.last(name)
        found = _memory(readings, printed)
        if printed is None or not found or readings.value("override"):
            continue
        memory = min(found)
        ends = [plan.blocks((memory + e) * GIB) for e in (-HALF_STEP, HALF_STEP)]
        spans = [[way(end) for end in ends] for way in ways]
        why = UNKNOWN
        if len(found) < tp and printed.value < spans[0][0]:
            why = f"another of the {tp} chips may have had less"
        note = f"{memory:.2f} GiB at {each}"
        yield _first([check(name, a, b, printed, note, why=why) for a, b in spans])
    printed = readings.last("needed")
    if printed is not None and requests:
        note = f"{min(requests):,} blocks a request of {longest:,.0f} tokens; {each}"
        sizes = [one * plan.bytes / GIB for one in requests]
        steps = [(size - HALF_STEP, size + HALF_STEP) for size in sizes]
        yield _first([check("needed", *step, printed, note, "GiB") for step in steps])


def _of_longest(blocks: int, each: int, longest: float) -> int:
    return int(blocks / each * longest)


def _first(found: list[Check]) -> Check:
    """The first that is equal; the first of all where none is."""
    return next((one for one in found if one.equal), found[0])


def _left(readings: Readings) -> Iterator[Check]:
    """What is left of a chip's memory, where vLLM prints every part of the sum."""
    names = ("total", "utilization", "weights", "other", "activations")
    total, share, *taken = (readings.value(name) for name in names)
    printed = readings.last("cache_memory")
    if total is None or share is None or None in taken or printed is None:
        return
    left, note = total * share - sum(taken), f"{total:.2f} GiB x {share:.2f}"
    note += "".join(f" - {part:.2f}" for part in taken)
    half = (len(taken) + 2) * HALF_STEP  # each part is rounded, and the result
    yield check("memory left", left - half, left + half, printed, note, "GiB")


def _memory(readings: Readings, printed: Reading | None) -> list[float]:
    """Memory of the chips in the start that printed it; that with least decides."""
    if printed is None:
        return []
    before = [o.line for o in readings.found[printed.field] if o.line < printed.line]
    same = before[-1] if before and not printed.rank else 0
    found = readings.found.get("cache_memory", ())
    mine = [
        one.value
        for one in found
        if same < one.line <= printed.line and one.rank in ("", printed.rank)
    ]
    return mine or [one.value for one in found[-1:]]


def _requests(readings: Readings, model: LanguageModel, plan: Pages) -> dict[int, int]:
    """Blocks of one request of the longest length, and how many states it keeps."""
    longest, chunk = readings.value("longest"), readings.value("chunk")
    windows = any(one.window for one, _ in plan.groups)
    if not longest or (windows and not chunk):
        return {}
    local = model.model_type.startswith("llama4")
    asked = (int(longest), int(chunk or longest), local)
    if not any(one.state for one, _ in plan.groups):
        return {plan.needed(*asked): 1}
    more = int(readings.value("drafted", 0))
    kept = (2, 1) if readings.value("prefix_caching") == "True" else (1, 2)
    return {plan.needed(*asked, states + more): states + more for states in kept}


def _concurrency(
    readings: Readings, plan: Pages, requests: dict[int, int]
) -> Iterator[Check]:
    printed, longest = readings.last("concurrency"), readings.value("longest")
    if printed is None:
        return
    tokens = readings.value("tokens")
    blocks = readings.value("blocks")
    found = []
    for needed, states in requests.items():
        spans = [(blocks, blocks)] if blocks else []
        if tokens and not blocks:
            all_tables = tokens / plan.block * plan.tables
            spans.append((all_tables, all_tables + plan.tables - 1))
            made = -(-tokens * needed // longest)
            if _of_longest(made, needed, longest) == tokens:
                spans.append((made, made))
        note = f"{needed:,} blocks a request of {longest:,.0f} tokens"
        note += f", {states} of them states a table" if states > 1 else ""
        for low, high in spans:
            ends = low / needed - HALF_STEP, high / needed + HALF_STEP
            found.append(check("concurrency", *ends, printed, note))
    if found:
        yield _first(found)


def _sglang(
    readings: Readings, model: LanguageModel, kv_dtype: str, tp: int
) -> Iterator[Check]:
    layers = layers_of(model, kv_dtype, tp)
    if any(one.window for one in layers):
        raise NotModelled(f"{model.key}: SGLang keeps windows in a pool of their own")
    tokens = readings.value("tokens", 0)
    slots = tokens + readings.value("block", 1)
    pools = {o.line for o in readings.found.get("tokens", ()) if o.value == tokens}
    for field, part in (
        ("k_memory", "keys"),
        ("v_memory", "values"),
        ("cache_memory", "cache"),
    ):
        # a draft's pool, of as many tokens, is made after the model's
        found = (o for o in readings.found.get(field, ()) if o.line in pools)
        printed = next(found, readings.last(field))
        if printed is not None:
            each = sum(o.count * _part(o, part) for o in layers)
            yield _sized(part, slots * each, printed, f"{each:,} B a token")
    yield from _states(readings, layers_of(model, kv_dtype, tp, widths=(0, 4)), 1)


def _part(one: Any, part: str) -> int:
    sizes = {"keys": one.keys, "values": one.per_token - one.keys}
    return int(sizes.get(part, one.per_token))


def _sized(what: str, size: float, printed: Reading, note: str) -> Check:
    half = HALF_STEP if printed.unit == "GiB" else 0.0
    if "MiB" in printed.words:
        half /= 1024
    ends = (size / GIB - half, size / GIB + half)
    return check(what, *ends, printed, note, "GiB")


def _llama(
    readings: Readings, model: LanguageModel, kv_dtype: str, tp: int
) -> Iterator[Check]:
    if any(isinstance(b.attention, LatentAttention) for b in model.kinds):
        raise NotModelled(f"{model.key}: llama.cpp keeps latents in forms of its own")
    beside = {
        (one.line, field): one
        for field in ("layers", "k_memory", "v_memory", "k_dtype", "v_dtype")
        for one in readings.found.get(field, ())
    }
    for cells in readings.found.get("cells", ()):
        count = beside[cells.line, "layers"].value
        for part, letter in (("keys", "k"), ("values", "v")):
            printed = beside.get((cells.line, f"{letter}_memory"))
            kept = beside.get((cells.line, f"{letter}_dtype"))
            if printed is None or kept is None:
                continue
            layers = layers_of(model, FORMATS.get(kept.value, kept.value))
            mine = [o for o in layers if o.count == count and not o.state]
            if not mine:
                raise NotModelled(
                    f"{model.key} has no {count:.0f} layers alike: {cells}"
                )
            each = int(count) * _part(mine[0], part)
            note = f"{each:,} B a cell in {count:.0f} layers"
            yield _sized(part, cells.value * each, printed, note)
    yield from _states(readings, layers_of(model, widths=(4, 4)))


WAYS = {VLLM: _vllm, SGLANG: _sglang, LLAMA: _llama}


def _states(
    readings: Readings, layers: tuple[Layers, ...], more: int = 0
) -> Iterator[Check]:
    """Memory of the states, of ``more`` sequences than the log says."""
    printed, states = readings.last("state_memory"), readings.value("states")
    if printed is not None and states is not None:
        each = sum(one.count * one.state for one in layers)
        words = f"{each:,} B a sequence" + ", one more than the log says" * more
        yield _sized("states", (states + more) * each, printed, words)


def _weights(
    readings: Readings, model: LanguageModel, dtype: Any, tp: int
) -> Iterator[Check]:
    printed = weights_of(readings)
    if printed is None:
        return
    ours = model.weight_bytes(dtype).si / tp / GIB
    note = f"of {tp} chips" if tp > 1 else f"within {CLOSE:.0%}"
    low, high = ours * (1 - CLOSE), ours * (1 + CLOSE)
    yield check("weights a chip", low, high, printed, note, "GiB")


def weights_of(readings: Readings) -> Reading | None:
    """Memory that the weights took on one chip, or in all buffers that are named."""
    names = {one.line: one.value for one in readings.found.get("buffer", ())}
    if not names:
        return readings.last("weights")
    parts = {names[one.line]: one for one in readings.found["weights"]}
    last = list(parts.values())[-1]
    return replace(last, value=sum(one.value for one in parts.values()))
