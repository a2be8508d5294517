"""Family J: machines built from parts, by ``diy.speed``'s steps; arrays beside them.

A row in tokens a second names cards, how many, and the software: llama.cpp and ollama
by layers, vLLM and whatever says ``tp`` or ``split=tensors`` by tensors. Links are
those in the row's words (``link=4x16+4x4``), else the card's own. A row of relative
speed is ``diy.power``'s, or that of two kinds of link (``link=nvlink vs 4x16+4x16``).
Software of before 2025 reads the cache for each query head. A processor without a card
reads weights at the share of its memory's rate that its cores draw. Refused: layers
divided between a card and its host, boards of AMD and Intel on an Arm host, where
drivers go through Vulkan, and whatever the database does not have.

Prompts go in pieces: how many cards read at once, the queues decide (``fed_in_turn``).
What crosses between cards is in 32 bits in ggml, in 16 elsewhere.

Left out: kernels of 2024 for weights of 16 bits read some 6.8 bytes a cycle and SM and
no more. Cards with GDDR need less of each SM and do not show it; an A100 and an H100 in
a slot, whose memories are about as fast, part as their cycles do, and both are late.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from stacklib import hardware
from stacklib.diy.cards import Cards
from stacklib.diy.splits import (
    FLOAT,
    PIECE,
    QUEUE,
    WIDER,
    Slotted,
    _asked,
    buffers,
    decode_time,
    prompt_time,
    steps_of,
)
from stacklib.diy.voltage import power
from stacklib.hardware import UnknownSpec
from stacklib.hardware.nvidia_smi import GIB
from stacklib.quantity import UnknownName, quoted
from stacklib.roofline.bound.decode import decode_step
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates import steady
from stacklib.serving.estimates.asked import Asked
from stacklib.serving.estimates.step import Step

from ..measurements import Measurement, Refusal
from ..systems import device_of
from . import accelerators
from .inference import _context, _tokens, kernels_of, reads_again
from .inference_rows import Run, run_of, said
from .registry import PREDICTORS, Forecast, Predict

WIDENED = "2026-01-24"  # and from here on llama.cpp asks for longer queues
SHARE, MOST = 0.9, 256.0  # vLLM's ``gpu_memory_utilization`` and ``max_num_seqs``
CORES = quoted("cpu.drawn").si  # of a memory's rate
DRAFT = "2026-02", "2026-04"  # llama.cpp's split by tensors, #19378, until merged
ARM = re.compile(r"\bPi \w+|\bPi\b|HiFive|Thelio Astra|Radxa|Minisforum MS-R1")


def split_of(row: Measurement) -> str:
    """How a row's cards share the model: ``layers``, ``tensors`` or ``copies``."""
    text = f"{row.settings};{row.software}".lower()
    if re.search(r"\bdp\d|parallel=dp", text):
        return "copies"
    if re.search(r"\btp=?\d|split=tensors|split=graph|tensor parallel", text):
        return "tensors"
    return "layers"


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: what it asks, and how cards share the model."""
    if row.metric == "relative_speed":
        return ("link",) if "link" in row.config else ("limit",)
    if row.unit != "tokens/s":
        return ("array",)
    run = run_of(row)
    if run.device.kind == "cpu":
        return "decode", "processor"
    many = run.chips
    kind = "prompt" if row.metric.startswith("prefill") else "decode"
    return kind, split_of(row) if many > 1 else "one card"


def prepare(row: Measurement) -> Predict:
    """What predicts a row of family J."""
    relative = row.metric == "relative_speed"
    if row.unit != "tokens/s" and not relative:
        return accelerators.prepare(row)
    try:
        found = _relative(row) if relative else _rig(row)
        found()
    except (UnknownSpec, UnknownName, Infeasible, LookupError, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    return found


def _relative(row: Measurement) -> Predict:
    """Speed under a limit of power, or over some links, over that under others."""
    versus = re.fullmatch(r"(\S+) vs (\S+)", str(row.config.get("link")))
    if versus:
        run = run_of(row)
        less, more = (_decoding(row, run, _joined(run, one)) for one in versus.groups())
        return lambda: Forecast(100 * less() / more(), "%", "interconnect")
    key, _ = device_of(row.system)
    told = str(row.config.get("power_limit_W"))
    watts = re.fullmatch(r"([\d.]+) vs ([\d.]+)", told)
    share = re.fullmatch(r"(\d+)%", str(row.config.get("power_limit")))
    if share and 0 < int(share[1]) < 100:
        board = hardware.get(key).tdp.si
        limits = [int(share[1]) / 100 * board, board]
    elif watts:
        limits = [float(x) for x in watts.groups()]
    else:
        raise Refusal("config does not give 'power_limit_W' as one limit vs another")
    work = row.text("work", "decode")

    def predict() -> Forecast:
        less, more = (power(key, limit, work=work).speed for limit in limits)
        return Forecast(100 * less / more, "%", "limit")

    return predict


def _joined(run: Run, links: str) -> Cards:
    """The cards of a run over ``nvlink``, or over links such as ``4x16+4x4``."""
    cards = Cards((run.device,) * run.chips, _links(links))
    return cards.swapped(bridged=links == "nvlink")


def _links(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((int(a), int(b)) for a, b in re.findall(r"(\d)x(\d+)", text))


def _decoding(row: Measurement, run: Run, cards: Cards) -> Any:
    """Steps of one sequence a second, of cards by tensors."""
    given = _asked(cards, run.model, run.dtype, "tensors", 1.0, 0.0)
    steps, _, _ = steps_of(cards, given)
    context = _context(row)
    return lambda: 1 / decode_time(cards, steps, given, 1.0, context)[0]


def _rig(row: Measurement) -> Predict:
    run, split = run_of(row), split_of(row)
    if run.device.kind == "cpu":
        return _processor(row, run)
    if ARM.search(row.system) and run.device.vendor.lower() != "nvidia":
        raise Refusal(f"{run.device.short} on an Arm host: its driver is not modelled")
    ours = row.software.startswith("llama.cpp")
    if split == "tensors" and ours and DRAFT[0] <= row.date < DRAFT[1]:
        raise Refusal(
            "llama.cpp by tensors: a draft, that one change made 1.8 x faster"
        )
    copies = run.chips if split == "copies" else 1
    cards = _cards(row, run, run.chips // copies)
    given = _asked(
        cards, run.model, run.dtype, split if copies == 1 else "tensors", 1.0, 0.0
    )
    limited = 1.0
    if watts := said(row, "power_limit_w"):
        limited = power(run.device, watts).speed
    answer = _kind(row, run, cards, given)
    return lambda: Forecast(copies * limited * answer(), "token/s", "memory")


def _processor(row: Measurement, run: Run) -> Predict:
    """Tokens a second of a processor's own cores, which wait for their memory."""
    if str(row.config.get("device")) != "CPU" or not row.metric.startswith("decode"):
        raise Refusal(f"{run.device.short} is the host: nothing is known of its card")
    given = {"on": run.device, "dtype": run.dtype, "context": int(_context(row))}
    limit = decode_step(run.model, **given).time.si
    return lambda: Forecast(CORES / limit, "token/s", "memory")


def _cards(row: Measurement, run: Run, many: int) -> Cards:
    """The cards of a row, and the links that it names."""
    links = _links(row.text("link", ""))
    if not links and re.search(r"PCIe", row.system):
        made = re.search(r"PCIe(\d)", row.system)
        lanes = re.findall(r"\bx(\d+)\b", row.system)
        links = tuple((int(made[1]), int(one)) for one in lanes) if made else ()
    return Cards((run.device,) * many, links if len(links) == many else ())


def _kind(row: Measurement, run: Run, cards: Cards, given: Asked) -> Any:
    """Tokens a second: of a prompt, of one sequence, or of as many as fit."""
    steps, _, _ = steps_of(cards, given)
    if not run.serves:  # ggml's sums cross as they are, in 32 bits
        steps = [
            replace(step, number=FLOAT, kept={}) if isinstance(step, Slotted) else step
            for step in steps
        ]
    if row.metric.startswith("prefill"):
        tokens = _tokens(row, "pp") or run.prompt
        if tokens is None:
            raise Refusal("config does not give the prompt's tokens")
        piece = int(said(row, "ubatch") or PIECE)
        asked = steps, given, tokens, piece, kernels_of(row)
        wider = row.software.startswith("llama.cpp") and row.date >= WIDENED
        queue = QUEUE * (WIDER if wider else 1)
        return lambda: tokens / prompt_time(cards, *asked, queue)
    if row.metric.startswith("decode"):
        context = _context(row)
        dated = re.search(r"\b20\d\d\b", row.software) is not None
        old = dated and reads_again(row)
        batch = said(row, "batch") or 1.0

        def together() -> float:
            seconds, _ = decode_time(cards, steps, given, batch, context, old)
            return batch / seconds

        return together
    copies = run.chips // len(cards.devices)
    return lambda: _served(row, run, steps[0], len(cards.devices), copies)


def _served(row: Measurement, run: Run, step: Step, chips: int, copies: int) -> float:
    """Tokens a second of as many requests as memory holds.

    Copies agree on their tokens before each pass (vLLM, ``set_forward_context``): who
    has no prompt to read waits for the one that does.
    """
    prompt, new = run.lengths()
    share = re.search(r"gpu_memory_utilization (0\.\d+)", row.notes)
    frame = step.frame
    room = (float(share[1]) if share else SHARE) * GIB * run.device.memory_capacity.si
    room -= frame.shape.weights / chips + buffers(frame.model)
    held = room * chips / steady.request_bytes(step, prompt + new)
    if held < 1:
        raise Refusal(f"not one request of {prompt + new:g} tokens fits")
    load = run.load(min(held, said(row, "max_num_seqs") or MOST))
    prompts = steady.most_of(load.batch / load.new, copies)
    turn = steady.step_time(step, load) + prompts * steady.added(step, load)
    return load.batch / turn


PREDICTORS["J"] = prepare
