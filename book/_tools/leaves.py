"""Stored leaves against the records they name: specs, configs, results.

A leaf of a stored derivation carries the key of its record, such as
`h100-sxm.memory_bandwidth`, `nvlink/nvlink-4.lanes` or `llama-3-70b.layers`. Here each
key is looked up anew; a value that differs is a stale leaf. A leaf that was read from a
result file is stale when the file is not the one that was read.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import stacklib
from _tools import prose
from _tools.prose import Block
from _tools.said import Cell
from stacklib import hardware, models
from stacklib.cost import catalogue, data, making
from stacklib.evidence import ledger
from stacklib.hardware import stacks
from stacklib.hardware.microarchitectures import constants
from stacklib.hardware.sourced import read_toml
from stacklib.hardware.stacks import accesses, base_dies, via_counts
from stacklib.hardware.warp_rules import KNOWN, rule
from stacklib.interconnect.failures.cluster import CAUSES
from stacklib.interconnect.selection import constants as nccl
from stacklib.kernels.plan.published import GAINS
from stacklib.kernels.schedule.rules import RULES
from stacklib.memory.dram.cell import cell_facts
from stacklib.memory.dram.parts import dram_names, dram_part
from stacklib.memory.tiers import parts
from stacklib.models.database import row
from stacklib.pages import figures_of
from stacklib.pages.memory.dram import published
from stacklib.pages.memory.ladder import chases
from stacklib.plots.live.parts import STAND, stands
from stacklib.quantity import Quantity, constant, quoted
from stacklib.quantity.constants import CASE, CONSTANTS, SIZES
from stacklib.quantity.records import QUOTED, quotes, stored
from stacklib.quantity.say import digest
from stacklib.quantity.store import load
from stacklib.quantity.told import MARK, READ, told, under
from stacklib.quantity.units import parse
from stacklib.tinylm import model as tinylm

SAME = 1e-9
HERE = "benchmarks/results/host_roofline.json"
OWN = "tinylm-"  # how keys of the book's own models begin
AGAIN = "run make numbers, then make execute"
MEASURED = re.compile(r"[A-K]-(?:\d{4}|F\d+)")  # ids of published measurements
RECORDED = ("spec", "config")  # kinds of leaf that name a record


class NoRecord(LookupError):
    """A key that names no record of the book."""


@cache
def current(key: str) -> float:
    """The present SI value of a record; NoRecord for a key that names nothing."""
    if MARK in key:
        if (point := _points().get(key)) is not None:
            return point.si
        file, row, field, *unit = key.split(MARK)
        return stored(file, row, field) * parse("".join(unit) or "1").factor
    if key.startswith(QUOTED):
        return quoted(key.removeprefix(QUOTED)).si
    head, slash, place = key.partition("/")
    if key.startswith(STAND):
        return ends(key)[0]
    if key.startswith(CASE) and place in SIZES:
        return float(SIZES[place].value)
    if key in CONSTANTS:
        return constant(key).si
    if head == "claims":
        return ledger.get(place).quantity().si
    if head == "factors":
        return hardware.efficiency_quantity(place).si
    if head == "rows":
        return _row(place)
    if slash and "." not in head:
        if key not in _records():
            raise NoRecord(f"no record is called {key}")
        return _records()[key]
    if MEASURED.fullmatch(key):
        return _measured(key)
    device, _, field = key.partition(".")
    if device.replace("-", "_") in hardware.names() or device in hardware.names():
        return _device(device, field)
    return _config(*_split(key))


@cache
def document(key: str) -> str:
    """The document that a record is from; nothing of those that have none."""
    if key.startswith(QUOTED):
        return quotes()[key.removeprefix(QUOTED)].document
    if MARK in key:
        file, point = key.split(MARK)[0], _points().get(key)
        own = "" if file == HERE else file  # whose title says which machine it was
        return point.source.title if point is not None and point.source else own
    if MEASURED.fullmatch(key):
        return figures_of.row(key).source
    device, _, field = key.partition(".")
    if device.replace("-", "_") in hardware.names():
        found = hardware.get(device)
        peak = found.peaks.get(field.removeprefix("peak."))
        made = peak.rate if peak else found.fields.get(field)
        return made.source.title if made is not None and made.source else ""
    if "/" in key:
        found = (q.source for q in _tables() if q.key == key and q.source)
        return next((source.title for source in found), "")
    own = "." not in key or key.startswith(OWN)
    return "" if own else _model(_split(key)[0]).source.title


def ends(key: str) -> list[float]:
    """Both ends of a claim that is a range, all that a control can stand at; or none.

    Both have one key.
    """
    head, _, place = key.partition("/")
    if key.startswith(STAND):
        page, control, *unit = place.split("/", 2)
        size = parse("".join(unit) or "1").factor
        return [x * size for x in stands(page, control) if not isinstance(x, str)]
    claim = ledger.get(place) if head == "claims" else None
    return [claim.quantity(end).si for end in claim.ends or ()] if claim else []


def _measured(id: str) -> float:
    """A row of the published measurements."""
    try:
        return figures_of.measured(id).si
    except StopIteration:
        raise NoRecord(f"no measurement is called {id}") from None


def _row(place: str) -> float:
    """A value of a TOML file of the package: its path, then the names on the way."""
    path, _, names = place.partition(".toml/")
    try:
        value: Any = read_toml(Path(stacklib.__file__).parent / f"{path}.toml")
        for name in names.split("/"):
            value = value[int(name) if isinstance(value, list) else name]
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise NoRecord(f"rows/{place} names no value") from error
    return float(value["value"] if isinstance(value, dict) else value)


def _device(device: str, field: str) -> float:
    found = hardware.get(device)
    if field.startswith("peak."):
        peak, _, rest = field.removeprefix("peak.").partition(".")
        made = getattr(found.peaks[peak], rest or "rate")
    else:
        made = found.fields.get(field)
    if made is None:
        raise NoRecord(f"{device} has no {field}")
    return float(getattr(made, "si", made))


@cache
def _points() -> dict[str, Quantity]:
    """Every point of a published curve by its key, which names no unit."""
    return {point.key: point for point in (*published.rates(), *chases.points())}


@cache
def _tables() -> list[Quantity]:
    """Every value of the files beside the devices."""
    tables: list[Iterable[Quantity | None]] = [
        *(hardware.link(name).fields.values() for name in hardware.link_names()),
        *(hardware.memory(name).fields.values() for name in hardware.memory_names()),
        [one.quantity for one in constants()],
        *(row.fields.values() for row in stacks._generations().values()),
        *accesses().values(),
        [hardware.stack_fact(name) for name in stacks._raw()["facts"]],
        map(rule, KNOWN),
        map(published.fact, published.facts()),
        *(dram_part(name).fields.values() for name in dram_names()),
        *(parts.drive(name).fields.values() for name in parts.drive_names()),
        map(parts.constant, parts.constant_names()),
        cell_facts().values(),
        data.recorded(),
        catalogue.recorded(),
        *(
            [q.value for q in making.fact(table, key).quotes]
            for table in making.tables()
            for key in making.keys(table)
        ),
        [die.node for die in base_dies()],
        (nccl.constant(*place) for place in nccl.places()),
        *([count.a_die, count.a_stack] for count in via_counts()),
    ]
    return [q for table in tables for q in table if q is not None]


@cache
def _records() -> dict[str, float]:
    """These by key, and what the rooms keep in tables of their own."""
    gains = {
        f"gains/{name}/{end}": getattr(gain, end)
        for name, gain in GAINS.items()
        for end in ("low", "high")
    }
    rules = {f"generations/{n}/published": r.published for n, r in RULES.items()}
    causes = Counter[str]()
    for cause in CAUSES:
        causes[f"causes/{cause.part}"] += cause.count
    return {**{q.key: q.si for q in _tables()}, **gains, **rules, **causes}


def _split(key: str) -> tuple[str, str]:
    ours = [f"{OWN}{path.parent.name}" for path in tinylm.DATA.glob("*/config.json")]
    known = (one for one in (*models.names(), *ours) if key.startswith(f"{one}."))
    name = max(known, key=len, default="")
    if not name:
        raise NoRecord(f"no record is called {key}")
    return name, key.removeprefix(f"{name}.")


def _model(name: str) -> models.LanguageModel:
    return models.get(name) if not name.startswith(OWN) else _own(name)


@cache
def _own(name: str) -> models.LanguageModel:
    path = tinylm.DATA / name.removeprefix(OWN) / "config.json"
    return models.from_hf_config(path, key=name)


@cache
def _sizes(name: str) -> dict[str, set[float]]:
    """Every size that a model's formulas take from its config, by label."""
    model = _model(name)
    made = [
        model.parameters,
        model.active_parameters,
        model.kv_bytes(256, "bf16"),
        model.attention_flops(256),
        model.attention_flops_per_token_pair,
    ]
    if not name.startswith(OWN):
        published = models.published(name)
        made += [published.total, published.active]
    found: dict[str, set[float]] = {}
    for leaf in (leaf for q in made if q is not None for leaf in q.leaves()):
        if leaf.key:
            found.setdefault(leaf.key.removeprefix(f"{name}."), set()).add(leaf.si)
    return found


def _config(name: str, label: str) -> float:
    values = _sizes(name).get(label, set())
    if len(values) == 1:
        return next(iter(values))
    value = getattr(_model(name), label.replace(" ", "_"), None)
    if isinstance(value, int | float):
        return float(value)
    raise NoRecord(f"{name} has no one size {label!r}")


def stale(said: Iterable[Cell]) -> Iterator[str]:
    """The leaves of stored derivations that are no longer what their records say."""
    for cell in said:
        for file, read in cell.stored.get("files", {}).items():
            if digest(file) != read:
                yield f"{cell.place}: {file} is not the file that was read; {AGAIN}"
        for node in cell.nodes:
            fault = _fault(node)
            if fault:
                yield f"{cell.place}: {fault}; {AGAIN}"


Named = tuple[dict[str, str], re.Pattern[str]]  # by key, and what finds them


@cache
def _called() -> tuple[Named, Named]:
    """What a sentence calls each device, H100, and each model, Llama-3-70B."""
    chips = {k.replace("_", "-"): hardware.get(k).short for k in hardware.names()}
    chips = {key: short.split()[0] for key, short in chips.items()}
    short = {n for n in chips.values() if len(n) > 2 and re.search(r"\d", n)}
    found = {name: row(name)["name"].replace(" ", "-") for name in models.names()}
    return (chips, _any_of(short)), (found, _any_of({*found.values()}))


def _any_of(names: set[str]) -> re.Pattern[str]:
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    either = "|".join(name.replace(r"\-", "[ -]") for name in longest)
    return re.compile(rf"(?<![\w-])({either})(?:s(?!\w)|(?![\w.]*\w|-\w))")


@cache
def _told(text: str, which: int) -> set[str]:
    """The devices, or the models, that a text names."""
    names = _called()[which][1].findall(text)
    return {name.replace(" ", "-") for name in names}


def named(text: str) -> list[str]:
    """The devices and the models that a text names."""
    return sorted(_told(text, 0) | _told(text, 1))


@cache
def _of(key: str, which: int) -> str:
    """What a sentence calls the device, or the model, that a key begins with."""
    called, _ = _called()[which]
    known = (name for name in called if key.startswith(f"{name}."))
    return called.get(max(known, key=len, default=""), "")


def _stands(cell: Cell, which: int) -> list[set[str]]:
    """The devices, or the models, under each node of a cell; inputs come first."""
    found: list[set[str]] = []
    for node in cell.nodes:
        own = {_of(node.get("key", ""), which)} - {""}
        found.append(own.union(*(found[i] for i in node.get("inputs", ()))))
    return found


def elsewhere(said: Iterable[Cell], blocks: Iterable[Block] = ()) -> Iterator[str]:
    """Numbers and leaves that name a device or a model, and stand on others alone.

    And sentences of ``blocks`` with one number, which name another than its own.
    """
    under: list[dict[str, set[str]]] = [{}, {}]
    for cell, which in product(said, range(2)):
        found, numbers = _stands(cell, which), cell.stored["numbers"].items()
        under[which].update((name, found[x["node"]]) for name, x in numbers)
        read = ((node, at) for at, node in enumerate(cell.nodes) if node.get("key"))
        texts = [(node.get("label", ""), at) for node, at in read]
        named = [(f"{n}: {x['what']}", x["node"]) for n, x in numbers]
        for text, at in [*texts, *named]:
            if fault := _alone(text, found[at], which):
                yield f"{cell.place}: {text!r} {fault}"
    for block in blocks:
        told = [w for w in range(2) if "](#q:" in block.text and _told(block.text, w)]
        for start, end in prose.sentences(block.text) if told else ():
            links = list(prose.LINK.finditer(block.text, start, end))
            text = prose.LINK.sub(" ", block.text[start:end])
            for which in told if len(links) == 1 else ():
                stands = under[which].get(links[0]["name"], set())
                if fault := _alone(text, stands, which):
                    yield f"{block}: {prose.sentence_at(block.text, start)!r} {fault}"


def _alone(text: str, stands: set[str], which: int) -> str:
    names = _told(text, which) if stands else set()
    if not names or names & stands:
        return ""
    told, under = (" and ".join(sorted(each)) for each in (names, stands))
    return f"is told of {told} and stands on {under} alone"


def misnamed(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Rows of tables and figures that are named after another device than theirs."""
    for entry in entries:
        for one in entry["rows"]:
            told, device = _told(str(one["row"]), 0), one["device"] or ""
            own = _called()[0][0].get(device.replace("_", "-"))
            if own and told and own not in told:
                yield f"{entry['name']}: {one['row']!r} is of {device}"


_ONE = re.compile(r"\b(?:one|each|per|a) (?:way|direction)\b", re.I)
_BOTH = re.compile(r"\bboth (?:ways|directions)\b|\bbidirectional", re.I)
_SEEN = re.compile(r"measured\b(?! (?:over|less|against))", re.I)


def unmeasured(said: Iterable[Cell]) -> Iterator[str]:
    """Numbers that a sentence begins to call measured, and that a model made."""
    for cell in said:
        for name, number in cell.stored["numbers"].items():
            if _SEEN.match(number["what"]):
                word = told(cell.quantities[number["node"]])
                if word not in ("measured", "claimed", "simulated"):
                    yield f"{cell.place}: {name} is called measured and is {word}"


# Numbers that are told as read and whose records cancel: why.
CANCEL = {
    "hierarchy_waves.share_of_the_sms_that_is_busy": "a whole wave",
    "caches_set.bits_of_the_tag": "the line's bits are in the set's or the offset's",
    "swept.whole_fits": "the fastest tile over itself",
    "links.bits": "one rate, read twice",
    "sharding.more": "one model's bytes over its bytes",
}


def idle(said: Iterable[Cell]) -> Iterator[str]:
    """Numbers that are told as read, and that no record moves which they show."""
    for cell in said:
        numbers, now = cell.stored["numbers"].items(), cell.quantities
        told_ = {n: told(now[x["node"]]) for n, x in numbers if now[x["node"]].inputs}
        if not {*READ} & {*told_.values()}:
            continue
        smooth = [n | {"op": "max"} if n.get("op") == "ceil" else n for n in cell.nodes]
        pairs = [
            (load(nodes, _elsewhere(way)), still)
            for nodes in (smooth, cell.nodes)
            for still in [load(nodes)]
            for way in (1, -1)
        ]
        for name, word in ((n, w) for n, w in told_.items() if w in READ):
            at = cell.stored["numbers"][name]["node"]
            same = all(math.isclose(a[at].si, b[at].si) for a, b in pairs)
            runs = any(q.kind == "counted" and q.inputs for q in under(now[at]))
            if same and not runs and name not in CANCEL:
                yield f"{cell.place}: {name} is told {word}, and nothing read moves it"


def _elsewhere(way: int) -> Callable[[str, float], float]:
    """Records a few per cent higher or lower, each by a share of its own."""

    def moved(key: str, si: float) -> float:
        by = way * (0.02 + zlib.crc32(key.encode()) / 2**36)
        return si if key.startswith((STAND, CASE)) else si * (1 + by) or by

    return moved


def turned(said: Iterable[Cell]) -> Iterator[str]:
    """Rates of a link that are told of one direction and count both, or the reverse."""
    for cell in said:
        for name, number in cell.stored["numbers"].items():
            unit, what = cell.nodes[number["node"]].get("unit", ""), number["what"]
            one, both = _ONE.search(what), _BOTH.search(what)
            if (one and "bidirectional" in unit) or (both and "per_direction" in unit):
                words = (one or both or [""])[0]
                yield f"{cell.place}: {name} is told {words!r} and is in {unit}"


def _fault(node: dict[str, Any]) -> str:
    key, label = node.get("key", ""), node.get("label", "a leaf")
    if node.get("kind") in RECORDED and not key:
        return f"{label!r} is {node['kind']} and names no record"
    kept = key.startswith((QUOTED, "nccl/", ledger.CLAIMS)) or MARK in key
    if not key or (node.get("kind") == "claimed" and not kept):
        return ""  # a quoted figure is under a key of its own, and in no table
    try:
        now = min([current(key), *ends(key)], key=lambda end: abs(end - node["si"]))
    except (LookupError, ValueError) as error:
        return f"{label!r}: {error}"
    title, holds = node.get("source", [""])[0], document(key)
    if title and holds and title != holds:
        return f"{label!r} is told of {title!r}, but {key} is from {holds!r}"
    place, line = node.get("source", [])[1:3], quotes().get(key.removeprefix(QUOTED))
    if key.startswith(QUOTED) and line and place != [line.source.where, line.seen]:
        return f"{label!r} is told of {place}, but {key} of {line.place!r}"
    if abs(now - node["si"]) <= SAME * abs(now):
        return ""
    unit = node["unit"]
    return f"{label!r} is {node['si']:.6g} (SI, of {unit}), but {key} is {now:.6g}"
