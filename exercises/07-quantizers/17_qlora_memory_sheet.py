"""A memory sheet for QLoRA.

level: derive
project: P7.6

Does a step of QLoRA on Llama-2-7B fit on a card for games, with `24` GB? The matrices
of the layers are frozen in NF4, and each has an adapter of two thin matrices that
learn.

- `nf4_bits(group, second)`: bits of a weight. `group` weights share a scale of `8`
  bits, and `second` such scales share another, in fp32: this is double quantization.
- `adapter_weights(matrices, layers, rank)`: numbers in all adapters. `matrices` are the
  pairs (outputs, inputs) of one layer; an adapter has `rank` rows as long as an input
  and `rank` columns as long as an output.
- `learning_bytes(adapters)`: bytes of so many adapter weights, of their gradients and
  of Adam's moments, all in fp32.
- `activation_bytes(layers, tokens, hidden, vocabulary)`: bytes at the worst moment,
  which is the end of the forward pass. The input of every layer is kept in bf16; the
  rest of a layer is computed again in the backward pass. The logits are there in bf16,
  in fp32, and once more as their gradient in fp32.
- `step_bytes(matrices, layers, others, rank, tokens, hidden, vocabulary)`: bytes of a
  step. `others` is how many parameters are not frozen in NF4 but in bf16. Groups are of
  `64` weights, second groups of `256` scales.

The tests hold your sheet to the book's, for Llama-2-7B and two ranks.

hint: Only what learns has a state: how many moments, beside the weight and its
gradient? Ask of every shared number among how many it is divided, and of the logits how
many copies exist at the same time.
"""

from stacklib import models
from stacklib.grading import expect
from stacklib.tinylm.low_precision.runs import qlora_memory

# ---- your answer ----


def nf4_bits(group, second):
    """Bits of a weight in NF4 with double quantization."""
    return 4 + 8 / group + 32 / (group * second)


def adapter_weights(matrices, layers, rank):
    """Numbers in the adapters of all layers."""
    return layers * rank * sum(rows + columns for rows, columns in matrices)


def learning_bytes(adapters):
    """Bytes of adapters, gradients and moments."""
    return (1 + 1 + 2) * 4 * adapters


def activation_bytes(layers, tokens, hidden, vocabulary):
    """Bytes of layers' inputs and logits."""
    return tokens * (layers * hidden * 2 + vocabulary * (2 + 4 + 4))


def step_bytes(matrices, layers, others, rank, tokens, hidden, vocabulary):
    """Bytes of a step of QLoRA."""
    frozen = layers * sum(rows * columns for rows, columns in matrices)
    base = frozen * nf4_bits(64, 256) / 8 + 2 * others
    learned = learning_bytes(adapter_weights(matrices, layers, rank))
    return base + learned + activation_bytes(layers, tokens, hidden, vocabulary)


# ---- tests ----

LLAMA = models.get("llama-2-7b")
WIDE, UP, LAYERS, WORDS = 4096, 11008, 32, 32000
MATRICES = [(WIDE, WIDE)] * 4 + [(UP, WIDE), (UP, WIDE), (WIDE, UP)]
FROZEN = LAYERS * sum(a * b for a, b in MATRICES)
OTHERS = round(LLAMA.parameters.si) - FROZEN


def test_nf4_bits():
    expect.function_matches(
        nf4_bits,
        lambda group, second: (group * second * 4 + second * 8 + 32) / (group * second),
        [
            {"group": 64, "second": 256},
            {"group": 16, "second": 8},
            {"group": 32, "second": 2},
        ],
        unit="bit",
        rel=1e-4,
        mistakes={
            "The scales of the first level are in fp32 there; double quantization "
            "makes them 8 bits.": lambda group, second: 4 + 32 / group,
            "The codes alone: the scales are stored, too.": lambda group, second: 4.0,
            "The scales of the scales are left out.": (
                lambda group, second: 4 + 8 / group
            ),
            "A second scale is shared by all weights of its scales, not by as many "
            "weights as it has scales.": (
                lambda group, second: 4 + 8 / group + 32 / second
            ),
        },
    )


SHAPES = [
    {"matrices": [(8, 6), (5, 8)], "layers": 3, "rank": 2},
    {"matrices": [(64, 64), (16, 64)], "layers": 2, "rank": 16},
    {"matrices": MATRICES, "layers": LAYERS, "rank": 64},
]


def thin(matrices, layers, rank, out=True, into=True, times=None):
    """Adapter by adapter, or a part of it."""
    total = 0
    for _ in range(layers if times is None else times):
        for rows, columns in matrices:
            total += rank * rows * out + rank * columns * into
    return total


def test_adapter_weights():
    expect.function_matches(
        adapter_weights,
        thin,
        SHAPES,
        rel=1e-6,
        mistakes={
            "Those are the adapters of one layer.": lambda **c: thin(**c, times=1),
            "An adapter is two matrices; yours has the one at the inputs.": (
                lambda **c: thin(**c, out=False)
            ),
            "An adapter is two matrices; yours has the one at the outputs.": (
                lambda **c: thin(**c, into=False)
            ),
            "As many as there are frozen weights: adapters are thin.": (
                lambda matrices, layers, rank: (
                    layers * sum(rows * columns for rows, columns in matrices)
                )
            ),
        },
    )


def test_learning_bytes():
    expect.function_matches(
        learning_bytes,
        lambda adapters: 16 * adapters,
        [{"adapters": n} for n in (1000, 39_976_960)],
        unit="B",
        rel=1e-6,
        mistakes={
            "Three numbers for each weight: with its gradient and Adam's two moments "
            "there are four.": lambda adapters: 12 * adapters,
            "Half of it: all four numbers are there, and in fp32.": (
                lambda adapters: 8 * adapters
            ),
            "The adapters alone: what learns has gradients and moments.": (
                lambda adapters: 4 * adapters
            ),
        },
    )


ROOMS = [
    {"layers": 32, "tokens": 4096, "hidden": 4096, "vocabulary": 32000},
    {"layers": 3, "tokens": 10, "hidden": 64, "vocabulary": 500},
]


def activations(layers, tokens, hidden, vocabulary, inputs=2, logits=(2, 4, 4)):
    """Token by token what is kept of it."""
    return sum(
        inputs * hidden * layers + sum(size * vocabulary for size in logits)
        for _ in range(tokens)
    )


def test_activation_bytes():
    expect.function_matches(
        activation_bytes,
        activations,
        ROOMS,
        unit="B",
        rel=1e-6,
        mistakes={
            "The logits in one format: three copies are there.": (
                lambda **c: activations(**c, logits=(2,))
            ),
            "The gradient of the logits is left out.": (
                lambda **c: activations(**c, logits=(2, 4))
            ),
            "The logits are left out.": lambda **c: activations(**c, logits=()),
            "Inputs of layers are kept in bf16.": (
                lambda **c: activations(**c, inputs=4)
            ),
            "The input of one layer: each layer keeps its own.": (
                lambda layers, **c: activations(1, **c)
            ),
        },
    )


GIVEN = {
    "matrices": MATRICES,
    "layers": LAYERS,
    "others": OTHERS,
    "hidden": WIDE,
    "vocabulary": WORDS,
}


def whole(rank, tokens, code=0.5, scales=True, kept=2, trained=0):
    """The book's sheet, with what a slip changes."""
    sheet = qlora_memory(LLAMA, rank=rank, batch=1, context=tokens)
    second = sheet.scales.si if scales else 0
    moved = sheet.weights.si * (code / 0.5 - 1) + sheet.kept.si * (kept / 2 - 1)
    return sheet.total.si - sheet.scales.si + second + moved + trained * FROZEN


def test_step_bytes():
    sheets = {(r, t): whole(r, t) for r in (16, 64) for t in (2048, 4096)}
    expect.function_matches(
        lambda rank, tokens: step_bytes(rank=rank, tokens=tokens, **GIVEN),
        lambda rank, tokens: sheets[rank, tokens],
        [{"rank": r, "tokens": t} for r, t in sheets],
        unit="B",
        rel=1e-4,
        mistakes={
            "Frozen weights have no gradients; yours do, in bf16.": (
                lambda rank, tokens: whole(rank, tokens, trained=2)
            ),
            "Frozen weights have no gradients and no moments; yours do, in fp32.": (
                lambda rank, tokens: whole(rank, tokens, trained=12)
            ),
            "Embedding, output matrix and norms are left out.": (
                lambda rank, tokens: whole(rank, tokens, kept=0)
            ),
            "The scales are left out.": (
                lambda rank, tokens: whole(rank, tokens, scales=False)
            ),
        },
    )
    for rank in (16, 64):
        expect.reading(f"rank {rank}, of 24 GB", f"{sheets[rank, 4096] / 1e9:.2f} GB")
