"""The vocabulary beside a checkpoint as the facts of a GGUF file.

``tokenizer.json`` with byte-level pairs (GPT-2's, which Llama 3 and Qwen use) is
written; which way texts are cut into words before is known by its pattern.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from stacklib.models.reading import load, shown

from .opened import Checkpoint

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
    for text, at in _field(path, model, "vocab", dict).items():
        _put(path, tokens, kinds, at, text, NORMAL)
    for each in _field(path, table, "added_tokens", list):
        told = each if isinstance(each, dict) else {}
        special = CONTROL if told.get("special") else USER
        _put(path, tokens, kinds, told.get("id"), told.get("content"), special)
    word, times = Counter(tokens).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{path}: the word {word!r} has {times} ids")
    merges = [_merge(path, each) for each in _field(path, model, "merges", list)]
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


def _field(path: Any, table: dict[str, Any], name: str, kind: type) -> Any:
    found = table.get(name)
    if found is not None and not isinstance(found, kind):
        raise ValueError(
            f"{path}: {name} = {shown(found)}: a {kind.__name__} is needed"
        )
    return found or kind()


def _merge(path: Any, pair: Any) -> str:
    """Two words that become one, as a text with one blank; releases have both forms."""
    parts = pair.split(" ") if isinstance(pair, str) else pair
    whole = isinstance(parts, list) and len(parts) == 2
    if not whole or not all(isinstance(p, str) and p and " " not in p for p in parts):
        raise ValueError(f"{path}: merges has {shown(pair)}: two words are needed")
    return " ".join(parts)


def _put(
    path: Any, tokens: list[str], kinds: list[int], at: Any, text: Any, kind: int
) -> None:
    if isinstance(at, bool) or not isinstance(at, int) or not isinstance(text, str):
        raise ValueError(f"{path}: the word {text!r} has the id {at!r}")
    if text.encode("utf-8", "replace").decode() != text:  # JSON has halves of letters
        raise ValueError(f"{path}: the word {text!r} is no text")
    if not 0 <= at < len(tokens):
        raise ValueError(
            f"{path}: the word {text!r} has the id {at}; config.json has "
            f"vocab_size = {len(tokens)}"
        )
    # a word that is added may stand in place of the table's
    if tokens[at] != text and kinds[at] in (kind, CONTROL, USER):
        raise ValueError(f"{path}: {tokens[at]!r} and {text!r} have the id {at}")
    tokens[at], kinds[at] = text, kind
