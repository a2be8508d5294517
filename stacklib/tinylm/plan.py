"""What training a model costs, worked out before it runs: FLOPs, seconds, bytes.

Counted: every product forward and twice back, attention's products over the pairs a
causal mask leaves, the passes of everything elementwise, and the optimizers. Times
are bounds from the measured roofline of a machine, one operation after the other.
Left out: waiting for the other core, what a library loses below its best product,
reading the text, and measuring the held-out loss on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from stacklib.roofline import HostRoofline, bound_time, predict_gemm

from .config import Config, shapes

__all__ = ["Step", "TrainingMemory", "step_operations", "step_time", "training_memory"]

SIZE = 4  # bytes of an fp32 number
ROUNDS = 5  # of Newton-Schulz in Muon
PAIRS_BACK = 2.5  # attention's five products backward, over its two forward
# Numbers read and written for each number of the array, by torch's elementwise calls.
NORM, ROTARY, GATE, ADD, LOSS_FORWARD, LOSS_BACK = 7, 9, 5, 3, 3, 5
ELEMENTWISE_BACK = 2  # each pass back reads and writes about twice its forward's
MUON, ADAMW, CLIP = 11, 7, 3


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a training step."""

    name: str  # ``product``, ``attention``, ``elementwise`` or ``optimizer``
    kind: str
    flops: float  # done
    bytes: float  # moved
    product: tuple[int, ...] = ()
    count: int = 1  # how often it runs in a step


def linear_layers(config: Config) -> Iterator[tuple[str, int, int, int]]:
    """Name, outputs, inputs and number of each kind of weight matrix."""
    first = "model.layers.0."
    for name, shape in shapes(config).items():
        if name.startswith(first) and len(shape) == 2:
            yield name.removeprefix(first), *shape, config.num_hidden_layers
    yield "head", config.vocab_size, config.hidden_size, 1


def attention_flops(config: Config, batch: int, tokens: int) -> float:
    """Both products of causal attention, forward, one layer."""
    pairs = batch * tokens * (tokens + 1) / 2
    return 4.0 * pairs * config.num_attention_heads * config.head_dim


def forward_flops(config: Config, batch: int, tokens: int) -> float:
    """Products with weights and attention of one forward pass over a batch."""
    weights = sum(n * k * count for _, n, k, count in linear_layers(config))
    pairs = config.num_hidden_layers * attention_flops(config, batch, tokens)
    return 2.0 * batch * tokens * weights + pairs


def step_operations(
    config: Config, batch: int, tokens: int, *, teacher: Config | None = None
) -> list[Step]:
    """Everything one update does."""
    if batch < 1 or tokens < 1:
        raise ValueError(f"batch = {batch}, tokens = {tokens}: at least 1 is needed")
    steps = [*_pass(config, batch, tokens, back=True), *_optimizers(config)]
    if teacher is not None:
        steps += _pass(teacher, batch, tokens, back=False)
    return steps


def _pass(config: Config, batch: int, tokens: int, *, back: bool) -> Iterator[Step]:
    m, layers = batch * tokens, config.num_hidden_layers
    for name, n, k, count in linear_layers(config):
        for each in [(m, n, k), (m, k, n), (k, n, m)] if back else [(m, n, k)]:
            moved = SIZE * (each[0] * each[1] + each[1] * each[2] + each[0] * each[2])
            yield Step(name, "product", 2.0 * prod(each), moved, each, count)
    pairs = attention_flops(config, batch, tokens) * (1 + PAIRS_BACK * back)
    yield Step("attention", "attention", pairs, 0.0, (), layers)
    for name, numbers, once, times in _elementwise(config):
        passes = once * (1 + ELEMENTWISE_BACK * back)
        moved = SIZE * m * numbers * passes
        yield Step(name, "elementwise", m * numbers * passes, moved, (), times)
    passes = LOSS_FORWARD + LOSS_BACK * back
    logits = m * config.vocab_size * passes
    yield Step("loss", "elementwise", logits, SIZE * logits)


def _elementwise(config: Config) -> Iterator[tuple[str, int, int, int]]:
    """Name, numbers a token, numbers moved for each, and how often."""
    layers = config.num_hidden_layers
    heads = config.num_attention_heads + config.num_key_value_heads
    yield "norm", config.hidden_size, NORM, 2 * layers + 1
    yield "rotary", heads * config.head_dim, ROTARY, layers
    yield "gate", config.intermediate_size, GATE, layers
    yield "residual", config.hidden_size, ADD, 2 * layers


def _optimizers(config: Config) -> Iterator[Step]:
    blocks = others = 0
    for name, shape in shapes(config).items():
        size = prod(shape)
        if len(shape) == 2 and "layers" in name:
            short, long = sorted(shape)
            # x @ x.T, its square, and their sum times x
            cost = ROUNDS * (4.0 * short**2 * long + 2.0 * short**3)
            yield Step("orthogonal", "optimizer", cost, 0.0)
            blocks += size
        else:
            others += size
    moved = SIZE * (blocks * (MUON + CLIP) + others * (ADAMW + CLIP))
    yield Step("update", "optimizer", float(moved / SIZE), moved)


def step_time(steps: list[Step], host: HostRoofline, kind: str = "") -> float:
    """Seconds of the operations under a machine's measured roofline."""
    chosen = [step for step in steps if kind in ("", step.kind)]
    return sum(step.count * _seconds(step, host) for step in chosen)


def _seconds(step: Step, host: HostRoofline) -> float:
    if step.product:
        m, n, k = step.product
        return float(predict_gemm(m, n, k, "fp32", host).time.si)
    peak = host.peak("fp32").si
    if not step.bytes:
        return float(step.flops / peak)
    bandwidth = host.bandwidth_at(step.bytes, "triad").si
    return float(bound_time(step.flops, step.bytes, peak, bandwidth))


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """Bytes that training holds."""

    weights: int
    gradients: int
    optimizer: int
    activations: int  # kept from forward to backward
    recomputed: int


def training_memory(config: Config, batch: int, tokens: int) -> TrainingMemory:
    """Bytes of training in fp32, with and without recomputation (4.23).

    A norm keeps its input, the normalised numbers and its output (the next product's
    operand); attention its queries, keys, values (repeated for each query head, as
    torch's CPU kernel wants them), output, and one sum a row; SwiGLU both factors,
    the gate before its sigmoid, and the product; the loss its log-probabilities.
    """
    m, h = batch * tokens, config.hidden_size
    queries = config.num_attention_heads * config.head_dim
    norm = 3 * h + 1
    mixed = 4 * queries + config.num_attention_heads
    block = 2 * norm + mixed + 4 * config.intermediate_size
    top = norm + config.vocab_size
    parameters = blocks = 0
    for name, shape in shapes(config).items():
        parameters += prod(shape)
        blocks += prod(shape) if len(shape) == 2 and "layers" in name else 0
    layers = config.num_hidden_layers
    return TrainingMemory(
        weights=SIZE * parameters,
        gradients=SIZE * parameters,
        optimizer=SIZE * (blocks + 2 * (parameters - blocks)),
        activations=SIZE * m * (layers * block + top),
        recomputed=SIZE * m * (layers * h + max(block, top)),
    )
