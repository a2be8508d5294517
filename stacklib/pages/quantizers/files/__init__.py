"""Section 7.5: What is in the file you download?"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from stacklib import models
from stacklib.pages.quantizers.steps import MODEL
from stacklib.quantity import Quantity, counting
from stacklib.quantizers import Quantized
from stacklib.quantizers.layouts import BLOCKS
from stacklib.quantizers.scheme import fact

SCHEME, CODE_BITS = "q4_k", 4
PROMPT, TOKENS = "A warp", 24  # of the text that is continued here


# -- a block ---------------------------------------------------------------------------


def weights_of(scheme: str = SCHEME) -> Quantity:
    """Weights of a block."""
    return fact(scheme, "row", label=f"weights of a block, {scheme}")


def block(scheme: str = SCHEME) -> Quantity:
    """Bytes of a block, as the package packs it."""
    return fact(scheme, "row_bytes", "B", label=f"bytes of a block, {scheme}")


def block_bits(scheme: str = SCHEME) -> Quantity:
    """Bits of a weight in a block, scales counted."""
    found = (block(scheme) / weights_of(scheme)).to("bit")
    return found.named(f"bits of a weight, {scheme}")


def blocks() -> Quantity:
    """Blocks of a super-block, each with a scale and a least number."""
    return (weights_of() / fact(SCHEME, "block")).named("blocks of a super-block")


def code_bits() -> Quantity:
    """Bits of a code."""
    return fact(SCHEME, "code_bits", "bit", label="bits of a code of Q4_K")


def scale_bits() -> Quantity:
    """Bits of a scale, or of a least number: what two numbers in fp16 leave to both."""
    ends = 2 * fact("fp16", "bits", "bit") / blocks()
    left = fact(SCHEME, "scale_bits", "bit") - ends
    return (left / 2).named("bits of a scale of Q4_K")


def code_bytes() -> Quantity:
    """Bytes of a super-block's codes."""
    return (weights_of() * code_bits()).to("B").named("codes of a super-block")


def scale_bytes() -> Quantity:
    """Bytes of the scales and least numbers of its blocks."""
    return (2 * blocks() * scale_bits()).to("B").named("scales of a super-block")


def ends_bytes() -> Quantity:
    """Bytes of the two fp16 numbers that those are measured in."""
    return (block() - code_bytes() - scale_bytes()).named("fp16 of a super-block")


# -- large models ----------------------------------------------------------------------


def large_file(dtype: str | Quantity) -> Quantity:
    """Bytes of the weights of a large model."""
    return models.get(MODEL).weight_bytes(dtype)


# -- the file of the book's model ------------------------------------------------------


@cache
def made(scheme: str = SCHEME) -> Any:
    """The book's model in few bits."""
    from stacklib.tinylm import load
    from stacklib.tinylm.quantized import quantized

    return quantized(load(), scheme, embedding=scheme != "nvfp4")


@cache
def file_bytes() -> bytes:
    """Its file."""
    from stacklib.tinylm.gguf_model import write_model

    with tempfile.TemporaryDirectory() as folder:
        return write_model(Path(folder) / "tiny.gguf", made()).read_bytes()


@cache
def _parts() -> dict[str, int]:
    """Bytes of the file by what they are for; they add up to it."""
    tensors = made().tensors.values()
    coded = [t for t in tensors if isinstance(t, Quantized)]
    plain = [t for t in tensors if not isinstance(t, Quantized)]
    mine = [t for t in coded if t.scheme == SCHEME]
    other = [t for t in coded if t.scheme != SCHEME]
    codes = sum(t.codes.size for t in coded) * CODE_BITS // 8
    weights, held = BLOCKS[SCHEME]
    would = sum(t.codes.size * held // weights for t in other)
    found = {
        "codes": codes,
        "scales": sum(t.nbytes for t in mine) + would - codes,
        "fallback": sum(t.nbytes for t in other) - would,
        "norms": sum(t.nbytes for t in plain),
    }
    found["words and facts"] = len(file_bytes()) - sum(found.values())
    return found


@counting("{name} of the file", unit="B")
def part(name: str) -> int:
    """Bytes of a part of the file."""
    return _parts()[name]


@counting("bytes of the tensors in {scheme}", unit="B")
def held(scheme: str) -> int:
    """Bytes of the tensors that the file has in a format; ``fp32``: left alone."""
    tensors = made().tensors.values()
    if scheme == "fp32":
        return sum(t.nbytes for t in tensors if not isinstance(t, Quantized))
    return sum(
        t.nbytes for t in tensors if isinstance(t, Quantized) and t.scheme == scheme
    )


@counting("bytes of the file", unit="B")
def size() -> int:
    """Bytes of the whole file."""
    return len(file_bytes())


@counting("weights of the book's model")
def parameters() -> int:
    """Weights of the book's model."""
    return int(made().model.parameters)


def spread(bytes_: Quantity, label: str) -> Quantity:
    """Bits of a weight that some bytes of the file come to."""
    return (bytes_ / parameters()).to("bit").named(label)


def so_far(names: tuple[str, ...]) -> Quantity:
    """Bits of a weight in some parts together."""
    first, *rest = (part(name) for name in names)
    return spread(sum(rest, first), f"bits with {names[-1]}")


def whole() -> Quantity:
    """Bits of a weight by the size of the file."""
    return spread(size(), "bits by the file")


@counting("weights of the embedding")
def embedding() -> int:
    """Weights of the embedding."""
    return int(made().model.weights["model.embed_tokens.weight"].size)


@counting("matrices that fall back")
def fallbacks() -> int:
    """Matrices in another format than the file is named after."""
    return len(made().fallbacks)


@counting("length of such a row")
def row_length() -> int:
    """Length of the rows that the super-block does not divide."""
    model = made()
    return int(model.model.weights[next(iter(model.fallbacks))].shape[-1])


def texts(tokens: int = TOKENS) -> dict[str, str]:
    """The likeliest continuation of a prompt before and after four bits."""
    from stacklib.tinylm import load
    from stacklib.tinylm.forward import KVCache

    found = {}
    for name, model in {"fp32": load(), "Q4_K": made().model}.items():
        cache_ = KVCache(model.config)
        ids = [model.tokenizer.end, *model.tokenizer.encode(PROMPT)]
        given, wrote = ids, list[int]()
        for _ in range(tokens):
            wrote.append(int(model.logits(given, cache_, last_only=True)[-1].argmax()))
            given = wrote[-1:]
        found[name] = PROMPT + model.tokenizer.decode(wrote).decode("utf-8", "replace")
    return found


@counting("farthest logit, nibbles misread")
def misread() -> float:
    """How far the farthest logit moves when neighbours are read out of a byte."""
    # One matrix of the first layer is read so, and one token is looked at.
    import dataclasses

    from stacklib.quantizers import dequantize

    name = "model.layers.0.mlp.up_proj.weight"
    model, tensor = made().model, made().tensors[name]
    runs = tensor.codes.reshape(-1, 2, 32)  # blocks in low and in high nibbles
    codes = runs.swapaxes(1, 2).reshape(tensor.codes.shape)
    wrong = dequantize(dataclasses.replace(tensor, codes=codes))
    other = dataclasses.replace(model, weights=model.weights | {name: wrong})
    ids = [model.tokenizer.end, *model.tokenizer.encode(PROMPT)]
    first, second = (m.logits(ids, last_only=True)[-1] for m in (model, other))
    return float(abs(first - second).max())
