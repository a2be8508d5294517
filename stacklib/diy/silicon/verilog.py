"""A module of Verilog, as far as a checklist looks: ports, what is driven, edges.

No parser of the language. What a rule needs is found by its shape; a width that is no
number counts as all bits, so that nothing right is called wrong for it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\(\*(?!\)).*?\*\)", re.S)
# Pins of power, which the layout adds.
POWER = re.compile(r"`ifdef\s+USE_POWER_PINS\b.*?`endif", re.S)
MODULE = re.compile(
    r"\bmodule\s+\\?(\S+?)\s*(?:#\s*\(.*?\))?\s*\((.*?)\)\s*;(.*?)\bendmodule\b", re.S
)
DECLARED = re.compile(
    r"\b(input|output|inout)\b((?:\s+(?:wire|reg|logic|signed|var))*)\s*"
    r"(\[[^\]]*\])?\s*((?:(?!\b(?:input|output|inout)\b)[^;)])*)"
)
ASSIGNED = r"(?:<=|=(?!=))"


class Port(NamedTuple):
    """A port: its direction and how many bits it has; none where no number says it."""

    way: str
    width: int | None


class Module(NamedTuple):
    """One module: its ports and its text without comments."""

    name: str
    ports: dict[str, Port]
    body: str

    def driven(self, port: str, width: int = 8) -> set[int]:
        """Bits of a port that something drives."""
        text = " , ".join(t for line in self.statements() for t in targets(line))
        found = re.findall(rf"\b{port}\b\s*(\[[^\]]*\])?", text)
        return {bit for which in found for bit in _bits(which, width)}

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
    found = MODULE.findall(POWER.sub(" ", COMMENT.sub(" ", text)))
    return {
        name: Module(name, _ports(head) | _ports(body), body)
        for name, head, body in found
    }


def zero(value: str) -> bool:
    """Whether what is assigned is zero in every bit, repeated or joined ones too."""
    parts = re.sub(r"\d+\s*(?=\{)|[{}]", " ", value).split(",")
    number = r"(?:\d*\s*'s?[hHbBdDoO])?[0_]+|'0"
    return all(re.fullmatch(number, part.strip()) for part in parts)


def targets(statement: str) -> list[str]:
    """What a statement drives: left sides, and what is tied to an instance's ports."""
    asked = r"\b(?:if|while|case|casez|for)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)"
    plain = re.sub(asked, " ", statement)
    left = re.findall(rf"(\{{[^}}]*\}}|[\w$]+(?:\s*\[[^\]]*\])*)\s*{ASSIGNED}", plain)
    made = r"\\?[\w$.]+\s+(?:#\s*\(.*?\)\s*)?\\?[\w$.\[\]]+\s*\((.*)\)\s*$"
    return left or re.findall(rf"\A{made}", plain, re.S)


def _ports(text: str) -> dict[str, Port]:
    found: dict[str, Port] = {}
    for way, _, bits, names in DECLARED.findall(text):
        for name in names.split(","):
            word = name.split("=")[0].strip()
            if re.fullmatch(r"\\?[\w$]+", word):
                found[word.lstrip("\\")] = Port(way, _width(bits))
    return found


def _width(bits: str) -> int | None:
    ends = re.fullmatch(r"\[\s*(\d+)\s*:\s*(\d+)\s*\]", bits)
    return abs(int(ends[1]) - int(ends[2])) + 1 if ends else None if bits else 1


def _bits(which: str, width: int) -> range:
    ends = re.fullmatch(r"\[\s*(\d+)\s*(?::\s*(\d+)\s*)?\]", which)
    if not ends:
        return range(width)
    low, high = sorted((int(ends[1]), int(ends[2] or ends[1])))
    return range(low, high + 1)
