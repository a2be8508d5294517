"""A module of Verilog, as far as a checklist looks: ports, what is driven, edges.

No parser of the language. What a rule needs is found by its shape; a width that is no
number counts as all bits, so that nothing right is called wrong for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\(\*(?!\)).*?\*\)", re.S)
# Pins of power, which the layout adds.
POWER = re.compile(r"`ifdef\s+USE_POWER_PINS\b.*?`endif", re.S)
MODULE = re.compile(
    r"\bmodule\s+(\\?\S+?)\s*(#\s*\(.*?\))?\s*\((.*?)\)\s*;(.*?)\bendmodule\b", re.S
)
DECLARED = re.compile(
    r"\b(input|output|inout)\b((?:\s+(?:wire|reg|logic|signed|var))*)\s*"
    r"(\[[^\]]*\])?\s*((?:(?!\b(?:input|output|inout)\b)[^;)])*)"
)
ASSIGNED = r"(?:<=|=(?!=))"


@dataclass(frozen=True)
class Port:
    """A port: its direction and how many bits it has; none where no number says it."""

    way: str
    width: int | None


@dataclass(frozen=True)
class Module:
    """One module: its ports and its text without comments."""

    name: str
    ports: dict[str, Port]
    body: str

    def driven(self, port: str, width: int = 8) -> set[int]:
        """Bits of a port that something drives."""
        found: set[int] = set()
        for statement in self.statements():
            for target in targets(statement):
                for match in re.finditer(rf"\b{port}\b\s*(\[[^\]]*\])?", target):
                    found |= _bits(match[1], width)
        return found

    def statements(self) -> list[str]:
        """Between semicolons, declarations of ports and registers left out."""
        parts = (part.strip() for part in self.body.split(";"))
        declared = r"(input|output|inout|reg|wire|logic|integer|parameter|localparam)\b"
        return [p for p in parts if p and not re.match(declared, p)]

    def values(self, port: str) -> list[str]:
        """What a port or bits of it are given, as it is written."""
        given = rf"\b{port}\s*(?:\[[^\]]*\])?\s*{ASSIGNED}\s*([^;]+)"
        # Of several in one assign, what stands before the next.
        more = r",\s*[\w$]+\s*(?:\[[^\]]*\])?\s*=(?!=)"
        return [re.split(more, v)[0].strip() for v in re.findall(given, self.body)]

    def uses(self, port: str) -> bool:
        """Whether its text names a port other than to declare it."""
        said = re.sub(r"\b(?:input|output|inout)\b[^;]*;", " ", self.body)
        return bool(re.search(rf"\b{port}\b", said))

    def edges(self) -> list[tuple[str, str]]:
        """Edges that something waits for: which, and of what."""
        return re.findall(r"\b(posedge|negedge)\s+([\w.\[\]]+)", self.body)


def modules(text: str) -> dict[str, Module]:
    """Every module of a text by its name."""
    plain = POWER.sub(" ", COMMENT.sub(" ", text))
    found = {}
    for name, _, header, body in MODULE.findall(plain):
        found[name.lstrip("\\")] = Module(
            name.lstrip("\\"), _ports(header) | _ports(body), body
        )
    return found


def zero(value: str) -> bool:
    """Whether what is assigned is zero in every bit, repeated or joined ones too."""
    parts = re.sub(r"\d+\s*(?=\{)", " ", value).replace("{", " ").replace("}", " ")
    number = r"(?:\d*\s*'s?[hHbBdDoO])?[0_]+|'0"
    found = [part.strip() for part in parts.split(",")]
    return all(re.fullmatch(number, part) for part in found)


def targets(statement: str) -> list[str]:
    """What a statement drives: left sides, and what is tied to an instance's ports."""
    plain = re.sub(
        r"\b(?:if|while|case|casez|for)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)",
        " ",
        statement,
    )
    left = re.findall(rf"(\{{[^}}]*\}}|[\w$]+(?:\s*\[[^\]]*\])*)\s*{ASSIGNED}", plain)
    if left:
        return left
    made = re.match(
        r"\\?[\w$.]+\s+(?:#\s*\(.*?\)\s*)?\\?[\w$.\[\]]+\s*\((.*)\)\s*$", plain, re.S
    )
    return [made[1]] if made else []


def _ports(text: str) -> dict[str, Port]:
    found: dict[str, Port] = {}
    for way, _, bits, names in DECLARED.findall(text):
        for name in names.split(","):
            word = name.split("=")[0].strip()
            if re.fullmatch(r"\\?[\w$]+", word):
                found[word.lstrip("\\")] = Port(way, _width(bits))
    return found


def _width(bits: str) -> int | None:
    if not bits:
        return 1
    ends = re.fullmatch(r"\[\s*(\d+)\s*:\s*(\d+)\s*\]", bits)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None


def _bits(which: str, width: int) -> set[int]:
    if not which:
        return set(range(width))
    ends = re.fullmatch(r"\[\s*(\d+)\s*(?::\s*(\d+)\s*)?\]", which)
    if not ends:
        return set(range(width))
    one, other = int(ends[1]), int(ends[2] or ends[1])
    return set(range(min(one, other), max(one, other) + 1))
