"""What a tile's makers look at before they take a design, as rules.

Each rule has an id and is asked by itself, so that one mistake is one fault. The first
dozen are those of the shuttle's own reader of ``info.yaml``; the others read the
Verilog: the ports of the top, every output bit driven, the reset low, one clock. Left
out: what only their tools can tell, timing and the layout.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .info import InfoError, read_info
from .pins import PORTS
from .tapeout import TILES
from .verilog import Module, modules, zero

VERSION = 6
TALLER = ("3x4", "4x4", "6x4", "8x4")
GROUPS = ("ui", "uo", "uio")
OUTPUTS = ("uo_out", "uio_out", "uio_oe")


class Fault(NamedTuple):
    """A rule that a submission breaks."""

    rule: str
    says: str


class Submission(NamedTuple):
    """What is handed in: the project, its pins, all of its Verilog."""

    info: Mapping[str, Any]
    sources: Mapping[str, Module]

    @property
    def project(self) -> Mapping[str, Any]:
        """Its section, or nothing."""
        found = self.info.get("project")
        return found if isinstance(found, Mapping) else {}

    @property
    def top(self) -> Module | None:
        """The module that the project names."""
        return self.sources.get(str(self.project.get("top_module")))


Rule = Callable[[Submission], Iterator[str]]
RULES: dict[str, Rule] = {}


def rule(name: str) -> Callable[[Rule], Rule]:
    """Enters a rule under an id."""

    def enter(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return enter


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
    return [Fault(name, says) for name, ask in RULES.items() for says in ask(handed)]


@rule("version")
def _version(handed: Submission) -> Iterator[str]:
    found = handed.info.get("yaml_version")
    if found != VERSION:
        yield f"yaml_version is {found!r}; write {VERSION}"


def _text(key: str) -> Rule:
    def ask(handed: Submission) -> Iterator[str]:
        found = handed.project.get(key)
        if not isinstance(found, str) or not found.strip():
            yield f"project.{key} is {found!r}; write what it is"

    return ask


for _key in ("title", "author", "description", "language"):
    RULES[_key] = _text(_key)


@rule("tiles")
def _tiles(handed: Submission) -> Iterator[str]:
    found = handed.project.get("tiles")
    if found not in (*TILES, *TALLER):
        yield f"project.tiles is {found!r}; one of {', '.join((*TILES, *TALLER))}"


@rule("clock_hz")
def _clock_hz(handed: Submission) -> Iterator[str]:
    found = handed.project.get("clock_hz")
    if not isinstance(found, int) or isinstance(found, bool) or found < 0:
        yield f"project.clock_hz is {found!r}; a whole number of hertz, 0 for none"


@rule("top_module")
def _top_module(handed: Submission) -> Iterator[str]:
    found = handed.project.get("top_module")
    if not isinstance(found, str) or not re.fullmatch(r"tt_um_[A-Za-z0-9_]+", found):
        yield f"project.top_module is {found!r}; a name that begins with tt_um_"
    elif found == "tt_um_example":
        yield "project.top_module is the template's; give it a name of its own"


@rule("source_files")
def _source_files(handed: Submission) -> Iterator[str]:
    found = handed.project.get("source_files")
    if not isinstance(found, list) or not found:
        yield f"project.source_files is {found!r}; a list of files is needed"


@rule("pinout")
def _pinout(handed: Submission) -> Iterator[str]:
    found = handed.info.get("pinout")
    pins = found if isinstance(found, Mapping) else {}
    wanted = [f"{group}[{n}]" for group in GROUPS for n in range(8)]
    if missing := [pin for pin in wanted if pins.get(pin) is None]:
        yield f"pinout lacks {', '.join(missing)}; a text each, empty if unused"
    known = {*wanted, *(f"ua[{n}]" for n in range(6))}
    if other := [pin for pin in pins if pin not in known]:
        yield f"pinout has {', '.join(map(str, other))}, which is no pin; take it out"


@rule("pins_named")
def _pins_named(handed: Submission) -> Iterator[str]:
    found = handed.info.get("pinout")
    if isinstance(found, Mapping) and not any(found.values()):
        yield "pinout names no pin; say what each in use is for"


@rule("module")
def _module(handed: Submission) -> Iterator[str]:
    name = handed.project.get("top_module")
    if name and handed.top is None:
        known = ", ".join(handed.sources) or "none"
        yield f"no module {name} in the sources; there are: {known}"


@rule("ports")
def _ports(handed: Submission) -> Iterator[str]:
    if handed.top is None:
        return
    ports = handed.top.ports
    wanted = {name: (way, width) for name, way, width in PORTS}
    for name, (way, width) in wanted.items():
        port = ports.get(name)
        if port is None:
            yield f"port {name} is missing; {way} of {width} bits"
        elif port.way != way or port.width not in (width, None):
            yield (
                f"port {name} is an {port.way} of {port.width} bits; {way} of {width} "
                "is needed"
            )
    if other := [name for name in ports if name not in wanted]:
        yield f"ports {', '.join(other)} have no pin; take them out"


@rule("driven")
def _driven(handed: Submission) -> Iterator[str]:
    for name in OUTPUTS:
        if handed.top is None or name not in handed.top.ports:
            continue
        if open_ := sorted({*range(8)} - handed.top.driven(name)):
            bits = ", ".join(f"{name}[{n}]" for n in open_)
            yield f"nothing drives {bits}; tie unused outputs to 0"


@rule("way")
def _way(handed: Submission) -> Iterator[str]:
    if handed.top is None:
        return
    turned, shown = (handed.top.values(name) for name in ("uio_oe", "uio_out"))
    if turned and all(map(zero, turned)) and not all(map(zero, shown)):
        yield "uio_out is driven while uio_oe is 0: nothing comes out; set uio_oe"


@rule("reset")
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


@rule("clock")
def _clock(handed: Submission) -> Iterator[str]:
    for module in handed.sources.values():
        for edge, name in module.edges():
            made = re.search(rf"\b{re.escape(name)}\s*<=", module.body)
            if made:
                yield (
                    f"{module.name} waits for {edge} {name}, a register: a clock of "
                    "its own; use clk and an enable"
                )
            elif module is handed.top and name not in ("clk", "rst_n"):
                yield f"{module.name} waits for {edge} {name}; clk is the clock"


@rule("tristate")
def _tristate(handed: Submission) -> Iterator[str]:
    for module in handed.sources.values():
        if re.search(r"'[bh][zZ]|'z\b|\binout\b", module.body) or any(
            port.way == "inout" for port in module.ports.values()
        ):
            yield f"{module.name} lets a wire float; inside a chip nothing may: use oe"
