"""The vocabulary beside a checkpoint as the facts of a GGUF file.

``tokenizer.json`` with byte-level pairs (GPT-2's, which Llama 3 and Qwen use) is
written; which way texts are cut into words before is known by its pattern.
"""

from __future__ import annotations

from typing import Any

from stacklib.models.reading import load

from .checkpoints import Checkpoint

_LONGEST = 64_000_000  # bytes of a tokenizer.json
NORMAL, CONTROL, USER, UNUSED = 1, 3, 4, 5  # llama.h, enum llama_token_type
# what a pattern that cuts words has and the others have not, and llama.cpp's name of it
_CUTS = ((r"\p{N}{1,3}", "llama-bpe"), (r"|\p{N}|", "qwen2"))
_PLAIN = "default"


def vocabulary(checkpoint: Checkpoint) -> tuple[dict[str, Any], str]:
    """Facts of the vocabulary, none where there is none, and what became of it."""
    path = checkpoint.folder / "tokenizer.json"
    if not path.is_file():
        return {}, "no vocabulary: there is no tokenizer.json in the folder"
    table = load(path, _LONGEST)[0]
    model = table.get("model")
    level = "ByteLevel" in repr(table.get("pre_tokenizer"))
    if not isinstance(model, dict) or model.get("type") != "BPE" or not level:
        return {}, "no vocabulary: tokenizer.json has no byte-level pairs"
    size = checkpoint.sizes["vocab_size"]
    tokens = [f"[PAD{n}]" for n in range(size)]
    kinds = [UNUSED] * size
    for text, at in _pairs(model.get("vocab")):
        _put(path, tokens, kinds, at, text, NORMAL)
    for each in table.get("added_tokens") or ():
        special = CONTROL if each.get("special") else USER
        _put(path, tokens, kinds, each.get("id"), each.get("content"), special)
    merges = [m if isinstance(m, str) else " ".join(m) for m in model.get("merges", ())]
    cut = repr(table.get("pre_tokenizer")).replace("\\\\", "\\")
    pre = next((name for mark, name in _CUTS if mark in cut), _PLAIN)
    facts: dict[str, Any] = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": kinds,
    }
    if merges:
        facts["tokenizer.ggml.merges"] = merges
    for name in ("bos", "eos"):
        at = checkpoint.config.get(f"{name}_token_id")
        at = at[0] if isinstance(at, list) and at else at
        if isinstance(at, int) and not isinstance(at, bool) and 0 <= at < size:
            facts[f"tokenizer.ggml.{name}_token_id"] = at
    return facts, f"vocabulary of {size:,} words, cut as {pre}"


def _pairs(vocab: Any) -> list[tuple[str, Any]]:
    return list(vocab.items()) if isinstance(vocab, dict) else []


def _put(
    path: Any, tokens: list[str], kinds: list[int], at: Any, text: Any, kind: int
) -> None:
    if isinstance(at, bool) or not isinstance(at, int) or not isinstance(text, str):
        raise ValueError(f"{path}: the word {text!r} has the id {at!r}")
    if not 0 <= at < len(tokens):
        raise ValueError(
            f"{path}: the word {text!r} has the id {at}; config.json has "
            f"vocab_size = {len(tokens)}"
        )
    tokens[at], kinds[at] = text, kind
