"""What an engine loses on top of an account: family E, three factors.

- Between layers: kernels that a graph does not join, and the host's part of a step.
  About as long a layer in llama.cpp, in compiled PyTorch and in serving engines.
- Grouped products: the experts' arithmetic keeps a share of the peak only, because rows
  are sorted by expert, and results are added up again: training's share, family F's.
- A runner's products with a prompt, grouped or not: ``token.runner``, two.

Runners read the cache once for every query head, where engines read it for a group;
llama.cpp's threads ask for less of 16-bit weights than an HBM delivers. A request over
HTTP is parsed, tokenized and queued before its first pass: an assumed time. The factors
were fitted on published rows (``evidence.predict.inference``).
"""

from __future__ import annotations

from typing import Any

from stacklib.hardware import efficiency, efficiency_quantity
from stacklib.models import Attention, LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import counted
from stacklib.quantity.keys import keys_of
from stacklib.roofline.bound import hierarchy

from ..token import runner
from ..token.lines import Line
from ..token.shape import ATTENTION, HEAD, PRODUCTS
from ..token.work import HOST
from .step import Step, step_of

GROUPED = "experts, sorted and uneven"
SECTION = "08-serving/estimate"
REQUEST_S = 30e-3  # from arrival to the first pass: assumed, of the usual order


def pause(layers: int) -> float:
    """Seconds of a pass that an engine loses between layers."""
    return layers * efficiency("engine_layer")


def uneven(step: Step, rows: Any) -> Any:
    """Seconds of a pass that experts take longer than at the peak."""
    return step.grouped(rows) * (1 / efficiency("expert_moving") - 1)


def again(step: Step, context: float) -> float:
    """Seconds of a runner's step that reads the cache once for every query head.

    Attention over a whole group of heads at once came later than its kernels.
    """
    kinds = step.frame.shape.attention
    grouped = [(n, a) for n, a in kinds if isinstance(a, Attention) and a.kv_heads]
    found = sum(n * (a.heads / a.kv_heads - 1) for n, a in grouped)
    return found / sum(n for n, _ in kinds) * float(step.attention(1.0, context))


def two_numbers(step: Step) -> float:
    """Seconds that a vector's product with 16-bit weights takes longer in llama.cpp.

    A thread asks for two numbers a turn (``vals_per_iter``, ggml-cuda/dmmv.cu): all
    threads that a GPU holds ask for less than an HBM delivers, or a fast GDDR with few
    of them. Zero where they ask for enough, where weights are narrow, whose kernels are
    others, and where a device is no GPU of that code.
    """
    frame, device = step.frame, step.frame.device
    if not runner.ported(device) or not way_of(frame.model, frame.dtype).numbers:
        return 0.0
    drawn = device.memory_bandwidth.si * efficiency("dram_gemm")
    slower = 1 / hierarchy.delivered(device, runner.TURN, drawn) - 1 / drawn
    parts = (frame.shape.parts[name].bytes for name in (PRODUCTS, HEAD))
    return float(sum(parts) / frame.chips * slower)


def widened(step: Step, rows: float, kernels: str = runner.INT8) -> float:
    """Seconds of a prompt's products by a runner's kernels."""
    plain = float(step.line(PRODUCTS, rows))
    return runner.products_time(step.frame, rows, plain, kernels, step.kept)


def slower(
    line: str,
    model: LanguageModel,
    on: str,
    dtype: Any,
    kv_dtype: Any,
    tp: int,
    context: int,
    rows: int,
) -> float:
    """Times that a line takes as long by a runner's kernels, of one sequence.

    - ``line``: products with the weights, or attention
    - ``context``: tokens cached before a step, which has one row; a prompt has more
    - other arguments: as ``account`` describes them
    """
    keys = (*keys_of(model, on, dtype, kv_dtype), tp, 1)
    step = step_of(keys, "engine", "calibrated")
    cached, new = float(context), float(rows)
    if line == ATTENTION and rows == 1:
        return 1 + again(step, cached) / float(step.attention(1.0, cached))
    if line == ATTENTION:
        naive = step.prompt_attention(1.0, new, software="naive")
        return float(naive / step.prompt_attention(1.0, new))
    found = float(step.line(PRODUCTS, new))
    return (widened(step, new) if rows > 1 else found + two_numbers(step)) / found


def seconds(step: Step, rows: Any, kernels: str = "") -> Any:
    """Seconds of a pass that an engine or runner's kernels lose; none at the limit."""
    if not step.fitted:
        return 0.0
    found = pause(step.frame.model.layers)
    return found if runner.way(step.frame, kernels) else found + uneven(step, rows)


def grouped_seconds(
    model: LanguageModel,
    on: str,
    dtype: Any,
    kv_dtype: Any,
    tp: int,
    ep: int,
    rows: int,
) -> float:
    """Seconds of the experts' arithmetic at the peak, of a pass of ``rows``.

    - other arguments: as ``account`` describes them
    """
    keys = (*keys_of(model, on, dtype, kv_dtype), tp, ep)
    return float(step_of(keys, "engine", "calibrated").grouped(float(rows)))


def lines(
    step: Step, rows: Any, family: str, traced: bool, kernels: str = ""
) -> tuple[Line, ...]:
    """The engine's lines of a pass, in place of the account's empty one.

    - ``family``: whose band they carry
    - ``traced``: as quantities
    - ``kernels``: a runner's for many rows, whose products have what grouping costs
    """
    frame = step.frame
    time: Any = pause(frame.model.layers)
    apart = frame.model.experts is not None and not runner.way(frame, kernels)
    more: Any = uneven(step, rows) if apart else None
    if traced:
        layers = frame.model.size("layers", "layers")
        time = (layers * efficiency_quantity("engine_layer")).named(HOST)
    if traced and more is not None:
        on = (frame.device.key, frame.dtype, frame.kv_dtype, frame.tp, frame.ep)
        asked = (frame.model, *on, int(rows))
        ideal = counted(grouped_seconds, *asked, unit="s", label=GROUPED)
        more = ideal * (1 / efficiency_quantity("expert_moving") - 1)
    words, note = "engines as published", "between layers"
    found = [Line(HOST, SECTION, t_fixed=time, family=family, regime=words, note=note)]
    if more is not None:
        found.append(Line(GROUPED, SECTION, t_fixed=more, family=family, regime=words))
    return tuple(found)
