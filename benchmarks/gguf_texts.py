"""The book's model in every type of llama.cpp, continued by llama.cpp and by us.

    pip install llama-cpp-python      # not among the pinned packages; extra `bench`
    python benchmarks/gguf_texts.py   # -> results/gguf_texts.json

Twenty prompts are handed over as token ids, and both take the likeliest token 64 times.
Our decoder rounds activations as llama.cpp does, and both keep keys and values in
fp32. Sums are added in another order, so that now and then an activation falls on the
other side of a half way; where the texts part, both leading logits and their gap are
kept. Besides, llama.cpp cuts passages into tokens by the vocabulary of the file.
"""

import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import host_common

from stacklib.quantizers.gguf_file import TYPES
from stacklib.roofline.host import measure as host
from stacklib.sweep import progress
from stacklib.tinylm import load
from stacklib.tinylm.corpus import evaluation_text
from stacklib.tinylm.gguf_model import continued, write_model
from stacklib.tinylm.quantized import QuantizedLM, quantized

STEM = "gguf_texts"
PROMPTS, BEFORE, TOKENS = 20, 24, 64
PASSAGES, LONG = 300, 300  # passages that both cut into tokens, and their characters
FP32 = 0  # ggml_type


def prompts() -> list[list[int]]:
    """The first ids of held-out documents, behind the end of another."""
    tiny = load()
    found = []
    for document in evaluation_text():
        ids = tiny.tokenizer.encode(document.text[:400])[:BEFORE]
        found.append([tiny.tokenizer.end, *ids])
    while len(found) < PROMPTS:  # further on in the same documents
        text = evaluation_text()[len(found) % len(evaluation_text())].text
        at = 997 * len(found) % max(len(text) - 400, 1)
        ids = tiny.tokenizer.encode(text[at : at + 400])[:BEFORE]
        found.append([tiny.tokenizer.end, *ids])
    return found[:PROMPTS]


def by_llama_cpp(path: Path, reads: list[list[int]]) -> tuple[list[Any], list[Any]]:
    """Greedy continuations, and the logits of each step."""
    import llama_cpp
    import numpy as np

    model = llama_cpp.Llama(
        str(path),
        n_ctx=512,
        n_threads=1,
        logits_all=True,
        verbose=False,
        type_k=FP32,
        type_v=FP32,
        flash_attn=False,
    )
    texts, logits = [], []
    for ids in reads:
        model.reset()
        model.eval(ids)
        text, seen = [], []
        for _ in range(TOKENS):
            last = np.array(model.scores[model.n_tokens - 1])
            seen.append(last)
            text.append(int(last.argmax()))
            model.eval([text[-1]])
        texts.append(text)
        logits.append(seen)
    return texts, logits


def cut(path: Path) -> dict[str, int]:
    """Passages that llama.cpp cuts into the same tokens as we do."""
    import llama_cpp

    model = llama_cpp.Llama(str(path), n_ctx=512, verbose=False)
    texts = [document.text for document in evaluation_text()]
    equal, ours = 0, load().tokenizer
    for number in range(PASSAGES):
        text = texts[number % len(texts)]
        at = 997 * number % max(len(text) - LONG, 1)
        passage = text[at : at + LONG].encode()
        theirs = model.tokenize(passage, add_bos=False, special=False)
        equal += ours.encode(passage) == theirs
    return {"passages": PASSAGES, "equal": equal}


def compared(made: QuantizedLM, path: Path, reads: list[list[int]]) -> dict[str, Any]:
    """One scheme: how many continuations agree, and where the others part."""
    theirs, their_logits = by_llama_cpp(path, reads)
    apart, gaps = [], []
    for number, ids in enumerate(reads):
        ours, logits = continued(made, ids, TOKENS)
        same = [a == b for a, b in zip(ours, theirs[number], strict=True)]
        agreed = same.index(False) if False in same else TOKENS
        for step in range(min(agreed + 1, TOKENS)):
            gap = abs(logits[step] - their_logits[number][step]).max()
            gaps.append(float(gap))
        if agreed < TOKENS:
            a, b = ours[agreed], theirs[number][agreed]
            mine, other = logits[agreed], their_logits[number][agreed]
            apart.append(
                {
                    "prompt": number,
                    "step": agreed,
                    "ours": [a, *leading(mine, a, b)],
                    "theirs": [b, *leading(other, b, a)],
                }
            )
    return {
        "id": made.scheme,
        "nbytes": made.nbytes,
        "bits": round(made.bits, 6),
        "fallbacks": made.fallbacks,
        "prompts": len(reads),
        "equal": len(reads) - len(apart),
        "nearest_logit": float(f"{min(gaps):.3g}"),  # before anything turned over
        "farthest_logit": round(max(gaps), 6),
        "apart": apart,
        "first": theirs[0],
    }


def leading(logits: Any, first: int, second: int) -> list[float]:
    """The logits of both tokens, and their gap."""
    one, two = float(logits[first]), float(logits[second])
    return [round(x, 5) for x in (one, two, one - two)]


def measure() -> dict[str, Any]:
    """Every type of llama.cpp that we write."""
    watch, tiny, reads, rows = host.Watch(), load(), prompts(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in progress(list(TYPES), len(TYPES), "types"):
            made = quantized(tiny, name, embedding=name != "nvfp4")
            path = write_model(Path(folder) / f"{name}.gguf", made)
            tokens = cut(path)
            rows.append(compared(made, path, reads))
            row = rows[-1]
            print(
                f"{name}: {row['equal']} of {row['prompts']} equal, "
                f"logits within {row['farthest_logit']:.2g}"
            )
    return host_common.head(
        STEM,
        None,
        watch,
        driver="none",
        rows=rows,
        tokens=TOKENS,
        cut=tokens,
        versions=host.versions() | {"llama-cpp-python": version("llama-cpp-python")},
        why_no_prediction="a comparison of two decoders, token by token",
    )


if __name__ == "__main__":
    host_common.save(host_common.HERE, STEM, measure())
