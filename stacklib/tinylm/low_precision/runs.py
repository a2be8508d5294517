"""Training in few bits: a classifier that shows it, memory of QLoRA, stored curves.

Every product's operands and results are rounded to a format, sums are kept in fp32,
and so is a master copy of the weights: mixed precision as Micikevicius et al.
(arXiv 1710.03740, section 3) describe it. A sum is rounded to fp32 once, at its end:
the order in which a processor adds would else decide which samples come out right.
The runs of the book's own architecture that `curves` gives were made by
``python benchmarks/train_formats.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

from stacklib.models import Attention, LanguageModel, Mlp, get
from stacklib.models.formulas import Sizes
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    maximum,
    resolve,
)
from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantizers import Format
from stacklib.quantizers.scheme import fact

from ..config import DATA

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Tokens of DeepSeek-V3's largest batch, over which its loss is a mean: 15,360 sequences
# of 4,096 (arXiv 2412.19437, section 4.2).
MEAN_OVER = 15_360 * 4_096
BATCH, STEPS = 256, 150  # samples that this device computes; updates
INPUTS, HIDDEN, CLASSES, CLUSTERS = 8, 32, 4, 16
RATE, DECAYS, EPSILON = 0.02, (0.9, 0.99), 1e-8  # of Adam
FIRST_SCALE, GROWS_AFTER = 2.0**16, 20  # of a dynamic loss scale; torch: 2,000 steps
CURVES = DATA / "low_precision"


@dataclass(frozen=True, slots=True)
class ClassifierRun:
    """What training in a format came to.

    - ``fmt``: format of weights, activations and gradients.
    - ``losses``: mean loss, in nats, before each update.
    - ``accuracy``: share of unseen samples whose class is found; `chance` of a
      guess.
    - ``zeroed``: share of the gradients that are zero in the run and not in fp32.
    - ``skipped``: share of updates left out because a gradient was not finite.
    - ``scales``: the loss scale of each step.
    """

    fmt: str
    losses: tuple[float, ...]
    accuracy: float
    zeroed: float
    skipped: float
    scales: tuple[float, ...]

    @property
    def chance(self) -> float:
        """Accuracy of a guess."""
        return 1 / CLASSES


def train_classifier(
    fmt: str = "fp32",
    loss_scale: float | str = 1.0,
    seed: int = 0,
    *,
    mean_over: int = MEAN_OVER,
    steps: int = STEPS,
    master: bool = True,
) -> ClassifierRun:
    """Train two layers in a format.

    The loss is a mean over ``mean_over`` samples, of which this run computes 256 a
    step; the sum over the other devices is taken to be as many times its own. So every
    gradient is small while it is in ``fmt``, and none is in the optimizer.

    - ``fmt``: a floating-point format of ``quantizers.Format``.
    - ``loss_scale``: what the loss is multiplied by before the backward pass, and
      the gradients divided by after it. Dynamic: halved when a gradient is not
      finite, doubled after 20 steps in which all were (Micikevicius et al., 2018,
      section 3.2).
    - ``seed``: of data, first weights and order.
    - ``mean_over``, ``steps``: samples that the loss is a mean over; updates.
    - ``master``: whether the optimizer's copy of the weights is fp32, else ``fmt``.
    """
    import numpy as np

    form = Format(fmt)
    whole(mean_over=mean_over, steps=steps)
    whole(0, seed=seed)
    dynamic = loss_scale == "dynamic"
    if not dynamic:
        above_zero(loss_scale=loss_scale)
    if form.decode(form.encode(-1.0)) != -1.0:
        raise ValueError(f"fmt = {fmt!r}: gradients need a format with a sign")
    scale = FIRST_SCALE if dynamic else float(loss_scale)
    random = np.random.default_rng(seed)
    (x, y), (unseen, answers) = _samples(random)
    master_of = (lambda w: w) if master else (lambda w: _rounded(form, w))
    sizes = ((INPUTS + 1, HIDDEN), (HIDDEN, CLASSES))
    weights = [
        master_of((random.normal(size=s) / sqrt(s[0])).astype("f4")) for s in sizes
    ]
    moments: list[Any] = [np.zeros((2, *s), np.float32) for s in sizes]
    losses, scales = [], []
    zero = nonzero = skipped = taken = good = 0
    for _ in range(steps):
        at = random.integers(len(x), size=BATCH)
        loss, gradients, counts = _pass(form, weights, x[at], y[at], scale / mean_over)
        losses.append(loss)
        scales.append(scale)
        zero, nonzero = zero + counts[0], nonzero + counts[1]
        if not all(np.isfinite(g).all() for g in gradients):
            skipped, good = skipped + 1, 0
            scale = scale / 2 if dynamic else scale
            continue
        good, taken = good + 1, taken + 1
        for w, g, moment in zip(weights, gradients, moments, strict=True):
            w[:] = master_of(w - _adam(g / scale * (mean_over / BATCH), moment, taken))
        if dynamic and good % GROWS_AFTER == 0:
            scale *= 2
    right = _forward(form, weights, unseen)[-1].argmax(axis=1) == answers
    zeroed = zero / nonzero if nonzero else 0.0
    return ClassifierRun(
        form.name,
        tuple(losses),
        float(right.mean()),
        zeroed,
        skipped / steps,
        tuple(scales),
    )


def _samples(random: np.random.Generator) -> Any:
    """Points of sixteen clusters, four a class: 2,048 to learn, 1,024 unseen."""
    import numpy as np

    centres = random.normal(size=(CLUSTERS, INPUTS)) * 1.5
    parts = []
    for count in (2_048, 1_024):
        cluster = random.integers(CLUSTERS, size=count)
        points = centres[cluster] + random.normal(size=(count, INPUTS)) * 0.7
        ones = np.ones((count, 1))  # what a bias multiplies
        parts.append((np.hstack([points, ones]).astype("f4"), cluster % CLASSES))
    return parts


def _rounded(form: Format, x: NDArray[Any]) -> NDArray[Any]:
    """The nearest numbers of the format; too large ones as the format has them."""
    import numpy as np

    return np.asarray(form.decode(form.encode(x)), dtype=np.float32)


def _forward(
    form: Format, weights: list[NDArray[Any]], x: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Input, rounded weights, hidden layer and logits."""
    x = _rounded(form, x)
    first, second = (_rounded(form, w) for w in weights)
    hidden = _rounded(form, _product(x, first).clip(min=0))
    return x, first, second, hidden, _rounded(form, _product(hidden, second))


def _product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """A product whose sums are rounded to fp32 once, whatever the order of adding."""
    return (a.astype("f8") @ b.astype("f8")).astype("f4")


def _pass(
    form: Format, weights: list[NDArray[Any]], x: NDArray[Any], y: Any, share: float
) -> tuple[float, list[NDArray[Any]], tuple[int, int]]:
    """Loss; gradients of the sum of losses times ``share``; (zeroed, not zero)."""
    import numpy as np

    x, _, second, hidden, logits = _forward(form, weights, x)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        top = np.exp(logits.astype("f8") - logits.max(axis=1, keepdims=True))
        p = top / top.sum(axis=1, keepdims=True)
        rows = np.arange(len(y))
        loss = float(-np.log(p[rows, y]).mean())
        p[rows, y] -= 1
        exact = [(p * np.float32(share)).astype("f4")]
        run = [_rounded(form, exact[0])]
        alive = hidden > 0
        for chain, keep in ((exact, lambda g: g), (run, lambda g: _rounded(form, g))):
            chain.append(keep(_product(chain[0], second.T) * alive))
            chain.append(keep(_product(hidden.T, chain[0])))
            chain.append(keep(_product(x.T, chain[1])))
    zero = sum(
        int(((b == 0) & (a != 0)).sum()) for a, b in zip(exact, run, strict=True)
    )
    return loss, [run[3], run[2]], (zero, sum(int((a != 0).sum()) for a in exact))


def _adam(g: NDArray[Any], moment: NDArray[Any], taken: int) -> NDArray[Any]:
    """A step of Adam (Kingma and Ba, 2015); ``moment`` is moved on."""
    import numpy as np

    for at, (decay, seen) in enumerate(zip(DECAYS, (g, g * g), strict=True)):
        moment[at] += (1 - decay) * (seen - moment[at])
    mean, square = (
        m / (1 - decay**taken) for m, decay in zip(moment, DECAYS, strict=True)
    )
    return np.asarray(RATE * mean / (np.sqrt(square) + EPSILON), dtype=np.float32)


# -- memory of QLoRA -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QloraMemory:
    """Bytes that QLoRA holds at the worst moment of a step, part by part.

    - ``weights``, ``scales``: block matrices in NF4, and their scales, quantized
      again.
    - ``kept``: embedding, output matrix, norms and biases in the compute format.
    - ``adapters``, ``gradients``, ``optimizer``: LoRA matrices, their gradients,
      both moments of Adam; all fp32.
    - ``checkpoints``: input of every layer, kept from forward to backward.
    - ``block``: what one layer's backward keeps once its forward has run again.
    - ``buffer``: the largest matrix of a layer, dequantized.
    - ``logits``: logits in the compute format, in fp32, and their fp32 gradient.
    """

    weights: Quantity
    scales: Quantity
    kept: Quantity
    adapters: Quantity
    gradients: Quantity
    optimizer: Quantity
    checkpoints: Quantity
    block: Quantity
    buffer: Quantity
    logits: Quantity

    @property
    def parts(self) -> dict[str, Quantity]:
        """Every part by its name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def held(self) -> Quantity:
        """What stays from step to step, whatever the batch."""
        base = self.weights + self.scales + self.kept
        return (base + self.adapters + self.gradients + self.optimizer).named("held")

    @property
    def total(self) -> Quantity:
        """The most at any moment: a layer runs again, or the logits are there."""
        worst = maximum(self.block + self.buffer, self.logits)
        return (self.held + self.checkpoints + worst).named("QLoRA memory")

    def left(self, capacity: Quantity) -> Quantity:
        """What of a capacity stays free; below zero where it does not fit."""
        return (capacity - self.total).named("left")


def qlora_memory(
    model: str | LanguageModel,
    *,
    rank: int,
    batch: int,
    context: int,
    dtype: str = "bf16",
) -> QloraMemory:
    """Memory of LoRA training on a base model in NF4 with quantized scales.

    Counted as Dettmers et al. (arXiv 2305.14314, section 3) train: every matrix of
    every layer is quantized and has an adapter; each layer keeps its input only
    (gradient checkpointing). Left out: a library's workspace, gaps between
    allocations, the driver's context.

    - ``model``: dense, with one shape of attention in all layers.
    - ``rank``: of every adapter.
    - ``batch``, ``context``: sequences, and tokens in each.
    - ``dtype``: format that products run in.
    """
    model = model if isinstance(model, LanguageModel) else get(model)
    whole(rank=rank, batch=batch, context=context)
    shape, sizes = _dense(model), Sizes(model)
    a, mlp = shape
    number, fp32 = bytes_per_element(dtype), bytes_per_element("fp32")
    hidden = sizes.hidden
    layers = model.size("layers", "layers")
    queries = sizes(a.heads, "query heads") * sizes(a.head_dim, "head size")
    keys = sizes(a.kv_heads, "KV heads") * sizes(a.head_dim, "head size")
    wide = sizes(mlp.intermediate, "MLP size")
    ups = 2 if mlp.gated else 1
    linear = (2 * hidden * (queries + keys) + (ups + 1) * hidden * wide) * layers
    linear = linear.named("quantized weights")
    nf4 = fact("nf4_dq", "code_bits", "bit").to("B").named("bytes per NF4 number")
    scale = fact("nf4_dq", "scale_bits", "bit").to("B").named("bytes per scale")
    scaled = fact("nf4_dq", "block", label="numbers per scale")
    ends = 4 * hidden + 2 * queries + 2 * keys + (ups + 1) * (hidden + wide)
    low = chosen(rank, label="rank")
    adapters = (layers * low * ends).named("adapter weights")
    tokens = chosen(batch, label="batch") * chosen(context, label="context")
    # Inputs and outputs of both norms; queries, keys, values and attention's output;
    # of a gated MLP gate, its SiLU, up and their product; a row of each adapter.
    mixed = 4 * hidden + 2 * queries + 2 * keys + 2 * ups * wide
    block = mixed + (5 + ups) * low
    largest = maximum(hidden * wide, hidden * queries)
    return QloraMemory(
        weights=(linear * nf4).named("weights in NF4"),
        scales=(linear / scaled * scale).named("scales"),
        kept=((model.parameters - linear) * number).named("embeddings and norms"),
        adapters=(adapters * fp32).named("adapters"),
        gradients=(adapters * fp32).named("gradients of adapters"),
        optimizer=(2 * adapters * fp32).named("moments of Adam"),
        checkpoints=(layers * tokens * hidden * number).named("inputs of layers"),
        block=(tokens * block * number).named("one layer's activations"),
        buffer=(largest * number).named("one matrix dequantized"),
        logits=(tokens * sizes(model.vocab, "vocabulary") * (number + 2 * fp32)).named(
            "logits"
        ),
    )


def _dense(model: LanguageModel) -> tuple[Attention, Mlp]:
    """The one attention and MLP of every layer, sliding windows apart."""
    found = set()
    for block in model.kinds:
        a, m = block.attention, block.mlp
        if not isinstance(a, Attention) or not isinstance(m, Mlp) or a.gate:
            raise ValueError(
                f"{model.key}: {block.kind}: a dense model with plain attention is "
                "needed, such as llama-2-7b"
            )
        found.add((prod((a.heads, a.head_dim)), a.kv_heads, m.intermediate, m.gated))
    if len(found) > 1:
        raise ValueError(f"{model.key}: its layers differ in size: {sorted(found)}")
    first = model.kinds[0]
    assert isinstance(first.attention, Attention) and isinstance(first.mlp, Mlp)
    return first.attention, first.mlp


# -- what was run --------------------------------------------------------------------


@cache
def curves(name: str) -> dict[str, Any]:
    """A stored experiment: ``fp8``, ``qat`` or ``qlora``.

    - ``name``: a file of ``data/low_precision``, without its ending.
    """
    known = sorted(path.stem for path in CURVES.glob("*.json"))
    if name not in known:
        raise ValueError(f"curves({name!r}): stored are {', '.join(known)}")
    return json.loads((CURVES / f"{name}.json").read_text("utf-8"))


def behind(run: str, reference: str = "bf16") -> list[tuple[int, float, float, float]]:
    """Held-out nats a token that a run of ``curves("fp8")`` has over another.

    Seed by seed, so that what the seeds share cancels.

    - ``run``, ``reference``: keys of its ``runs``.

    Each has its 95 % interval over three seeds.
    """
    runs = curves("fp8")["runs"]
    one, two = (runs[resolve(name, runs, "run")] for name in (run, reference))
    pairs = list(zip(one["seeds"], two["seeds"], strict=True))
    found = []
    for at, step in enumerate(one["step"]):
        gaps = [a["held_out"][at] - b["held_out"][at] for a, b in pairs]
        found.append((step, *interval(gaps)))
    return found


def interval(values: Any) -> tuple[float, float, float]:
    """Mean of three seeds' figures and its 95 % interval, by Student's t."""
    seen = [float(v) for v in values]
    if len(seen) != 3 or not all(v == v for v in seen):
        raise ValueError(f"interval({seen}): three seeds, each a number, are needed")
    mean = sum(seen) / 3
    spread = sqrt(sum((v - mean) ** 2 for v in seen) / 2 / 3)
    p = 0.975
    half = (2 * p - 1) / sqrt(2 * p * (1 - p)) * spread
    return mean, mean - half, mean + half
