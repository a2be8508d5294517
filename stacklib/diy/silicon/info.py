"""``info.yaml`` of a submission, read: mappings, lists and plain values.

The part of YAML that such files use: two spaces a level or more, ``key: value``, lists
with dashes or in brackets, quotes, comments. What is written another way is refused
with its line.
"""

from __future__ import annotations

import re
from typing import Any


class InfoError(ValueError):
    """A file that cannot be read; names the line."""


def read_info(text: str) -> dict[str, Any]:
    """The mapping that a text holds.

    - ``text``: of ``info.yaml``.
    """
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = _bare(line)
        level = len(bare) - len(bare.lstrip())
        if bare.strip() not in ("", "---"):
            if "\t" in bare[:level]:
                raise InfoError(f"line {number}: a tab; indent with spaces")
            lines.append((number, level, bare.strip()))
    if not lines:
        raise InfoError("nothing in it; a project and its pinout are needed")
    found, rest = _mapping(lines, lines[0][1])
    if rest:
        raise InfoError(f"line {rest[0][0]}: {rest[0][2]!r} stands on no level above")
    return found


def _bare(line: str) -> str:
    """A line without its comment; one inside quotes is none."""
    kept = r"""(?:"[^"]*"|'[^']*'|["'].*|(?<!\s)#|[^"'#])*"""
    found = re.match(rf"(?!#){kept}", line)
    return found[0].rstrip() if found else ""


_Lines = list[tuple[int, int, str]]


def _mapping(lines: _Lines, level: int) -> tuple[dict[str, Any], _Lines]:
    found: dict[str, Any] = {}
    while lines and lines[0][1] == level:
        number, _, text = lines[0]
        match = re.fullmatch(r"(\"[^\"]*\"|'[^']*'|[^:\s][^:]*):(?:\s+(.*))?", text)
        if not match:
            raise InfoError(f"line {number}: {text!r}: a key and a colon are needed")
        key, value, lines = _scalar(match[1]), match[2], lines[1:]
        if str(key) in found:
            raise InfoError(f"line {number}: {key!r} stands there twice")
        if value:
            found[str(key)] = _scalar(value)
        elif lines and lines[0][2].startswith("- ") and lines[0][1] >= level:
            found[str(key)], lines = _list(lines)
        elif lines and lines[0][1] > level:
            found[str(key)], lines = _mapping(lines, lines[0][1])
        else:
            found[str(key)] = None
    return found, lines


def _list(lines: _Lines) -> tuple[list[Any], _Lines]:
    level, found = lines[0][1], []
    while lines and lines[0][1] == level and lines[0][2].startswith("- "):
        found.append(_scalar(lines[0][2][2:]))
        lines = lines[1:]
    return found, lines


def _scalar(text: str) -> Any:
    text = text.strip()
    if text[:1] in "\"'" and len(text) > 1 and text[-1] == text[0]:
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    if re.fullmatch(r"[+-]?\d[\d_]*", text):
        return int(text.replace("_", ""))
    return {"true": True, "false": False, "null": None, "~": None}.get(text, text)
