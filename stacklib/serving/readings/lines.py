"""What servers print: rows of ``data/lines.toml``, with patterns made of them.

A row names the server, words that only such a line has, and patterns: the first must
match, the others may. Groups are fields; an ending names the unit printed.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
# of so many characters at most, or a hostile line takes the square of its length
NUMBER = r"-?[\d,]{0,24}\.?\d{1,24}(?:e[-+]?\d{1,3})?"
WORD = r"[^'\",)\s]{1,200}"
VLLM, SGLANG, LLAMA, OURS = "vllm", "sglang", "llama.cpp", "stacklib"
NAMES = {VLLM: "vLLM", SGLANG: "SGLang", LLAMA: "llama.cpp", OURS: "stacklib"}
PREFIXES = {name.replace(".", ""): name for name in NAMES}  # of metrics
NEGATIVE = ("cache_memory",)  # what may be below zero: nothing is left
_GROUP = re.compile(r"(?<!\?P)<(\w+)>")


@dataclass(frozen=True, slots=True)
class Row:
    """A line that one server prints; ``event`` counts it as one of these."""

    engine: str
    words: str
    patterns: tuple[re.Pattern[str], ...]
    event: str


def toml(name: str) -> dict[str, Any]:
    """A table beside this file."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


TABLE = toml("lines")
TEXTS = frozenset(TABLE["texts"])


def _row(engine: str, words: str, given: list[str]) -> Row:
    event = given[0].removeprefix("event: ") if given[0].startswith("event: ") else ""
    options = [
        rf"\b{name}'?(?:=|: )'?<{field}>"
        for name, field in TABLE["options"].get(engine, {}).items()
    ]
    patterns = [re.escape(words)] if event else [p for p in given if p != "options"]
    patterns += options if "options" in given else []
    made = (re.compile(_GROUP.sub(_group, one)) for one in patterns)
    return Row(engine, words, tuple(made), event)


def _group(found: re.Match[str]) -> str:
    return f"(?P<{found[1]}>{WORD if found[1] in TEXTS else NUMBER})"


ROWS = tuple(
    _row(engine, words, given)
    for engine, rows in TABLE["lines"].items()
    for words, given in rows.items()
)
