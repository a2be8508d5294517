"""``info.yaml`` of a submission, read: mappings, lists and plain values.

The part of YAML that such files use: two spaces a level or more, ``key: value``, lists
with dashes or in brackets, quotes, comments. What is written another way is refused
with its line.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any, NamedTuple


class InfoError(ValueError):
    """A file that cannot be read; names the line."""


class Line(NamedTuple):
    """One that says something."""

    number: int
    level: int  # spaces before its text
    text: str


def read_info(text: str) -> dict[str, Any]:
    """The mapping that the text of an ``info.yaml`` holds."""
    lines: deque[Line] = deque()
    for number, line in enumerate(text.splitlines(), 1):
        bare = _bare(line)
        level = len(bare) - len(bare.lstrip())
        if bare.strip() not in ("", "---"):
            if "\t" in bare[:level]:
                raise InfoError(f"line {number}: a tab; indent with spaces")
            lines.append(Line(number, level, bare.strip()))
    if not lines:
        raise InfoError("nothing in it; a project and its pinout are needed")
    found = _mapping(lines)
    if lines:
        number, _, said = lines[0]
        raise InfoError(f"line {number}: {said!r} stands on no level above")
    return found


def _bare(line: str) -> str:
    """A line without its comment; one inside quotes is none."""
    kept = r"""(?:"[^"]*"|'[^']*'|["'].*|(?<!\s)#|[^"'#])*"""
    found = re.match(rf"(?!#){kept}", line)
    return found[0].rstrip() if found else ""


def _mapping(lines: deque[Line]) -> dict[str, Any]:
    """Takes from the lines what stands on the level of the first."""
    found: dict[str, Any] = {}
    level = lines[0].level
    while lines and lines[0].level == level:
        number, _, text = lines.popleft()
        match = re.fullmatch(r"(\"[^\"]*\"|'[^']*'|[^:\s][^:]*):(?:\s+(.*))?", text)
        if not match:
            raise InfoError(f"line {number}: {text!r}: a key and a colon are needed")
        key = _scalar(match[1])
        if str(key) in found:
            raise InfoError(f"line {number}: {key!r} stands there twice")
        found[str(key)] = _scalar(match[2]) if match[2] else _below(lines, level)
    return found


def _below(lines: deque[Line], level: int) -> Any:
    """Of a key without a value: the list or the mapping in the next lines, if any."""
    inner = lines[0].level if lines else -1
    if inner > level and not lines[0].text.startswith("- "):
        return _mapping(lines)
    items = []
    while lines and lines[0].level == inner >= level and lines[0].text[:2] == "- ":
        items.append(_scalar(lines.popleft().text[2:]))
    return items or None


def _scalar(text: str) -> Any:
    text = text.strip()
    if text[:1] in "\"'" and len(text) > 1 and text[-1] == text[0]:
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    if re.fullmatch(r"[+-]?\d[\d_]*", text):
        return int(text.replace("_", ""))
    return {"true": True, "false": False, "null": None, "~": None}.get(text, text)
