"""What a tile's makers look at before they take a design, as rules.

Each rule has an id and is asked by itself, so that one mistake is one fault. The first
dozen are those of the shuttle's own reader of ``info.yaml``; the others read the
Verilog: the ports of the top, every output bit driven, the reset low, one clock. Left
out: what only their tools can tell, timing and the layout.

Of YAML that part is read which such files use: two spaces a level or more, ``key:
value``, lists with dashes or in brackets, quotes, comments. What is written another way
is refused with its line.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from stacklib.quantity.bounds import is_whole

from .pins import PORTS
from .tapeout import TILES
from .verilog import Module, modules, zero

VERSION = 6
SIZES = (*TILES, "3x4", "4x4", "6x4", "8x4")
WORDS = ("title", "author", "description", "language")
OUTPUTS = ("uo_out", "uio_out", "uio_oe")


class InfoError(ValueError):
    """A file that cannot be read; names the line."""


class Fault(NamedTuple):
    """A rule that a submission breaks."""

    rule: str
    says: str


class Submission(NamedTuple):
    """What is handed in: the project, its pins, all of its Verilog."""

    info: Mapping[str, Any]
    sources: Mapping[str, Module]

    def section(self, name: str = "project") -> Mapping[str, Any]:
        """What stands under a key, where it is a mapping."""
        found = self.info.get(name)
        return found if isinstance(found, Mapping) else {}

    @property
    def top(self) -> Module | None:
        """The module that the project names."""
        return self.sources.get(str(self.section().get("top_module")))


def checklist(info: str | Mapping[str, Any], verilog: str) -> list[Fault]:
    """What is wrong with a submission to a shared chip, rule by rule.

    Parameters
    ----------
    info : str or mapping
        The text of ``info.yaml``, or what was read of it.
    verilog : str
        All source files, one after another.

    Returns
    -------
    list of Fault
        Empty where every rule holds; each with the rule's id and what to change.

    Raises
    ------
    InfoError
        For a text that is no ``info.yaml``, with its line, and for other types.

    Notes
    -----
    Rules on ``info.yaml``: TinyTapeout/tt-support-tools, ``project_info.py``.

    Examples
    --------
    >>> [fault.rule for fault in checklist("yaml_version: 6", "")][:3]
    ['title', 'author', 'description']
    """
    read = read_info(info) if isinstance(info, str) else info
    if not isinstance(read, Mapping) or not isinstance(verilog, str):
        raise InfoError("info is a text or a mapping, verilog a text")
    handed = Submission(read, modules(verilog))
    asked = {n: handed.top if ask in ON_TOP else handed for n, ask in RULES.items()}
    return [Fault(n, says) for n, of in asked.items() if of for says in RULES[n](of)]


def _named(found: Any) -> bool:
    return isinstance(found, str) and bool(found.strip())


def _hertz(found: Any) -> bool:
    return is_whole(found) and found >= 0


def _own(found: Any) -> bool:
    return _named(found) and bool(re.fullmatch(r"tt_um_(?!example$)\w+", found, re.A))


def _listed(found: Any) -> bool:
    return isinstance(found, list) and bool(found)


# Of a project's plain field: whether what stands there will do, and what would.
_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(WORDS, (_named, "write what it is")),
    "tiles": (lambda it: it in SIZES, f"one of {', '.join(SIZES)}"),
    "clock_hz": (_hertz, "a whole number of hertz, 0 for none"),
    "top_module": (_own, "a name of its own, tt_um_ before it"),
    "source_files": (_listed, "a list of files is needed"),
}


def _version(handed: Submission) -> Iterator[str]:
    if (found := handed.info.get("yaml_version")) != VERSION:
        yield f"yaml_version is {found!r}; write {VERSION}"


def _field(key: str, handed: Submission) -> Iterator[str]:
    right, wanted = _FIELDS[key]
    if not right(found := handed.section().get(key)):
        yield f"project.{key} is {found!r}; {wanted}"


def _pinout(handed: Submission) -> Iterator[str]:
    pins = handed.section("pinout")
    wanted = [f"{group}[{n}]" for group in ("ui", "uo", "uio") for n in range(8)]
    if missing := [pin for pin in wanted if pins.get(pin) is None]:
        yield f"pinout lacks {', '.join(missing)}; a text each, empty if unused"
    known = {*wanted, *(f"ua[{n}]" for n in range(6))}
    if other := [pin for pin in pins if pin not in known]:
        yield f"pinout has {', '.join(map(str, other))}, which is no pin; take it out"


def _pins_named(handed: Submission) -> Iterator[str]:
    found = handed.info.get("pinout")
    if isinstance(found, Mapping) and not any(found.values()):
        yield "pinout names no pin; say what each in use is for"


def _module(handed: Submission) -> Iterator[str]:
    name = handed.section().get("top_module")
    if name and handed.top is None:
        known = ", ".join(handed.sources) or "none"
        yield f"no module {name} in the sources; there are: {known}"


def _ports(top: Module) -> Iterator[str]:
    other = dict(top.ports)
    for name, way, width in PORTS:
        port = other.pop(name, None)
        if port is None:
            yield f"port {name} is missing; {way} of {width} bits"
        elif port.way != way or port.width not in (width, None):
            told = f"an {port.way} of {port.width} bits"
            yield f"port {name} is {told}; {way} of {width} is needed"
    if other:
        yield f"ports {', '.join(other)} have no pin; take them out"


def _driven(top: Module) -> Iterator[str]:
    for name in filter(top.ports.get, OUTPUTS):
        if open_ := sorted({*range(8)} - top.driven(name)):
            bits = ", ".join(f"{name}[{n}]" for n in open_)
            yield f"nothing drives {bits}; tie unused outputs to 0"


def _way(top: Module) -> Iterator[str]:
    turned, shown = top.values("uio_oe"), top.values("uio_out")
    if turned and all(map(zero, turned)) and not all(map(zero, shown)):
        yield "uio_out is driven while uio_oe is 0: nothing comes out; set uio_oe"


def _reset(handed: Submission) -> Iterator[str]:
    if handed.top is None or "rst_n" not in handed.top.ports:
        return
    body = handed.top.body
    cleared = (
        r"if\s*\(\s*rst_n\s*\)\s*(?:begin\s*)?[\w$]+(?:\s*\[[^\]]*\])?\s*<=\s*"
        r"(?:\d*'[hbd])?0+\s*;"
    )
    if ("posedge", "rst_n") in handed.top.edges() or re.search(cleared, body):
        yield "rst_n resets where it is high; it is low in reset: if (!rst_n)"
    for port in re.findall(r"\.(\w+)\s*\(\s*rst_n\s*\)", body):
        if re.fullmatch(r"(i_)?(a|s)?(rst|reset)(_i)?", port):
            yield f".{port}(rst_n) resets where rst_n is high; pass ~rst_n"
    registers = any(module.edges() for module in handed.sources.values())
    if registers and not handed.top.uses("rst_n"):
        yield "nothing uses rst_n, and there are registers; reset them"


def _clock(handed: Submission) -> Iterator[str]:
    for module in handed.sources.values():
        # Wires that are the clock, or the reset turned round.
        also = re.findall(r"(\w+)\s*=\s*(?:clk|[~!]\s*rst_n)\s*;", module.body)
        for edge, name in module.edges():
            if re.search(rf"\b{re.escape(name)}\s*<=", module.body):
                told = f"{module.name} waits for {edge} {name}, a register"
                yield f"{told}: a clock of its own; use clk and an enable"
            elif module is handed.top and name not in ("clk", "rst_n", *also):
                yield f"{module.name} waits for {edge} {name}; clk is the clock"


def _tristate(handed: Submission) -> Iterator[str]:
    for module in handed.sources.values():
        ways = {port.way for port in module.ports.values()}
        if "inout" in ways or re.search(r"'[bh][zZ]|'z\b|\binout\b", module.body):
            yield f"{module.name} lets a wire float; inside a chip nothing may: use oe"


ON_TOP = (_ports, _driven, _way)
_ON_ALL = (_pinout, _pins_named, _module, *ON_TOP, _reset, _clock, _tristate)
RULES: dict[str, Callable[[Any], Iterator[str]]] = {
    "version": _version,
    **{key: partial(_field, key) for key in _FIELDS},
    **{ask.__name__[1:]: ask for ask in _ON_ALL},
}


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
