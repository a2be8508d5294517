"""A start-up log, its periodic lines, or ``/metrics``, read into numbers."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from functools import lru_cache

from stacklib.quantity import resolve

from .lines import DATA, NAMES, NEGATIVE, PREFIXES, ROWS, TABLE, TEXTS, Row
from .readings import Reading, Readings

KEEP = 2000  # readings of one field: a server that ran for weeks repeats itself
QUOTED = 300  # characters of a line that are kept
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RANK = re.compile(r"\b(?:EngineCore_DP|Engine 0*|DP)(\d+)")
_METRIC = re.compile(r"(?:ray_)?[a-z]+[:_](\w+)(?:\{(.*)\})? +(\S+)(?: +\d+)?$")
# as Prometheus keeps a name, which has no colon, and as Ray hands it on
_KEPT = rf"^[ \t]*(?:ray_)?({'|'.join(PREFIXES)})_\w{{1,99}}(?:\{{.*\}})? [-+.\de]+$"
_STORED = re.compile(_KEPT, re.MULTILINE)
_LABEL = re.compile(r'(\w{1,99})="((?:[^"\\]|\\.)*)"')
_GROUPS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.|$)")  # where a comma parts thousands
_SHARES = ("usage", "hit_rate", "pool_usage")
MIDDLE = ".,e+-"  # of a number: behind the digits of one that a text's end cuts short


class LogError(ValueError):
    """Text that no server known here printed; quotes the line."""


class _Found:
    """What has been read so far, by server."""

    def __init__(self) -> None:
        self.fields: dict[str, dict[str, deque[Reading]]] = defaultdict(dict)
        self.events: dict[str, Counter[str]] = defaultdict(Counter)
        self.buckets: dict[str, dict[tuple[str, float], float]] = defaultdict(dict)
        self.unread: deque[Reading] = deque(maxlen=KEEP)
        self.first: dict[str, Reading] = {}

    def add(self, engine: str, reading: Reading) -> None:
        self.first.setdefault(engine, reading)
        of = self.fields[engine].setdefault(reading.field, deque(maxlen=KEEP))
        of.append(reading)


def read_log(text: str) -> Readings:
    """What a server printed: its start-up log, its periodic lines, its ``/metrics``.

    vLLM, SGLang, llama.cpp's server and the book's own. Lines of others stand between
    them as they like; prefixes, colours and line ends do not matter. A log that says GB
    and divides by 2**30 is read as GiB, and the line is kept as printed.

    Parameters
    ----------
    text : str
        All of it, or the end.

    Returns
    -------
    Readings
        Each number with its line; lines of another version are quoted in ``unread``.

    Raises
    ------
    LogError
        When no line is one of these servers', or when lines of two of them are.

    Examples
    --------
    >>> from stacklib.serving.readings.read import log_sample
    >>> found = read_log(log_sample("vllm"))
    >>> found.engine, found.value("tokens"), found.last("cache_memory").line
    ('vllm', 426368.0, 8)
    """
    if not isinstance(text, str):
        raise LogError(f"{type(text).__name__}: a server's text is needed")
    if "\0" in text:
        raise LogError("not text: it holds bytes that no log does")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    found, lines = _Found(), 1
    place = 0
    for start, rows in _lines(text, found):
        lines += text.count("\n", place, start)
        place = start
        end = text.find("\n", start)
        line = text[start : len(text) if end < 0 else end].strip()
        if isinstance(rows, str):
            _metric(found, rows, line, lines, cut=end < 0)
        else:
            _log(found, rows, line, lines, cut=end < 0)
    if not found.first:
        raise LogError(_nothing(text, found))
    if len(found.first) > 1:
        (one, a), (two, b) = list(found.first.items())[:2]
        raise LogError(f"two servers: {NAMES[one]}, {a}; {NAMES[two]}, {b}; split them")
    (engine,) = found.first
    return Readings(
        engine,
        {name: tuple(ones) for name, ones in found.fields[engine].items()},
        dict(found.events[engine]),
        tuple(found.unread),
        text.count("\n") + (not text.endswith("\n")),
        {name: _added(ones) for name, ones in found.buckets.items()},
    )


def _lines(text: str, found: _Found) -> Iterator[tuple[int, str | list[Row]]]:
    """Where lines start that a row or a prefix names, in order; one pass for each.

    Of a row that repeats the latest ``KEEP``; all are counted.
    """
    hits: dict[int, list[Row]] = defaultdict(list)
    metrics: dict[int, str] = {}
    for one in ROWS:
        for start in deque(_each(text, one.words), maxlen=KEEP):
            hits[start].append(one)
        if one.event and (count := sum(1 for _ in _each(text, one.words))):
            found.events[one.engine][one.event] += count
    for prefix, engine in PREFIXES.items():
        for start in _each(text, f"{prefix}:"):
            if not text[start : text.find(prefix, start)].strip():
                metrics[start] = engine
    for stored in _STORED.finditer(text):
        metrics[stored.start()] = PREFIXES[stored[1]]
    for start in sorted(hits.keys() | metrics.keys()):
        yield start, metrics[start] if start in metrics else hits[start]


def _each(text: str, words: str) -> Iterator[int]:
    """Where lines start that hold the words."""
    at = text.find(words)
    while at >= 0:
        yield text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        at = -1 if end < 0 else text.find(words, end)


def _added(buckets: dict[tuple[str, float], float]) -> tuple[tuple[float, float], ...]:
    """Buckets of all engines behind one address together."""
    total: dict[float, float] = defaultdict(float)
    for (_, end), count in buckets.items():
        total[end] += count
    return tuple(total.items())


# -- lines of a log --------------------------------------------------------------------


@lru_cache(maxsize=512)
def _field(group: str) -> tuple[str, str, float]:
    """The field, the unit and the factor of a group's name."""
    for ending, (unit, factor) in TABLE["endings"].items():
        if group.endswith(ending):
            return group.removesuffix(ending), unit, factor
    return group, TABLE["units"].get(group, "1"), 1.0


def _log(found: _Found, rows: list[Row], line: str, number: int, cut: bool) -> None:
    words = line[:QUOTED]
    rank = _RANK.search(line)
    where = (number, words, rank[1] if rank else "")
    read = False
    for row in rows:
        matches = [pattern.search(line) for pattern in row.patterns]
        if not matches[0]:
            continue
        read = True
        for match in filter(None, matches):
            for group, text in match.groupdict().items():
                field, unit, factor = _field(group)
                value = _value(field, text, factor)
                inside = "" if field in TEXTS else MIDDLE
                if cut and not line[match.end(group) :].strip(inside):  # may go on
                    value = None
                if value is None:
                    found.unread.append(Reading("", text, "", *where))
                else:
                    found.add(row.engine, Reading(field, value, unit, *where))
        if row.event:
            found.add(row.engine, Reading(f"{row.event}_line", 1.0, "1", *where))
    if not read:
        found.unread.append(Reading("", words, "", *where))


def _value(field: str, text: str, factor: float) -> float | str | None:
    """The number, or the word; None for what cannot be."""
    if field in TEXTS:
        return text
    try:
        point = "" if _GROUPS.match(text) else "."
        value = float(text.replace(",", point)) * factor
    except ValueError:
        return None
    fits = math.isfinite(value) and (value >= 0 or field in NEGATIVE)
    return value if fits and (field not in _SHARES or value <= 1) else None


# -- lines of /metrics -----------------------------------------------------------------


def _metric(found: _Found, engine: str, line: str, number: int, cut: bool) -> None:
    match = _METRIC.match(line)
    if cut and not line.endswith(".0"):  # a count that ends so is whole
        match = None
    where = (number, line[:QUOTED])
    if not match:
        found.unread.append(Reading("", line[:QUOTED], "", *where))
        return
    name = match[1]
    labels: dict[str, str] = dict(_LABEL.findall(match[2] or ""))
    if labels.get("priority"):  # a share of what stands without one as well
        return
    rank = labels.get("engine") or labels.get("dp_rank") or ""
    if name == "cache_config_info":
        for label, field in TABLE["labels"].items():
            given = _value(field, labels.get(label, ""), 1.0)
            if given not in (None, ""):
                found.add(engine, Reading(field, given, "1", *where, rank))
        return
    family, _, part = name.rpartition("_")
    histogram = TABLE["histograms"].get(family)
    field = TABLE["metrics"][engine].get(name.removesuffix("_total"), "")
    if histogram and part in ("sum", "count"):
        field = f"{histogram}_{part}"
    elif not field and not (histogram and part == "bucket"):
        return  # one of the many that nothing here asks for
    value = _value(field, match[3], 1.0)
    if value is None or isinstance(value, str):
        found.unread.append(Reading("", line[:QUOTED], "", *where))
    elif histogram and part == "bucket":
        end = labels.get("le", "")
        if end == "+Inf" or _value("", end, 1.0) is not None:
            found.buckets[histogram][rank, float(end)] = value
    elif field:
        unit = "s" if field.endswith("_sum") else TABLE["units"].get(field, "1")
        found.add(engine, Reading(field, value, unit, *where, rank, metric=True))


def _nothing(text: str, found: _Found) -> str:
    known = "vLLM, SGLang, llama.cpp and the book's server"
    if found.unread:
        return f"{found.unread[0]!s}: not as {known} print it; another version?"
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            quoted = f"line {number}: {line.strip()[:QUOTED]!r}"
            return f"{quoted}: no line here is one that {known} print"
    return "nothing to read: give a server's log, or what its /metrics answers"


# -- samples ---------------------------------------------------------------------------


def log_samples() -> tuple[str, ...]:
    """Names of the sample logs."""
    return tuple(sorted(path.stem for path in DATA.glob("*.txt")))


def log_sample(name: str) -> str:
    """A log in a server's format, with numbers made for this book: no recording.

    - ``name``: one of ``log_samples()``
    - raises ``UnknownName`` for another
    """
    key = resolve(name, log_samples(), "sample log")
    return (DATA / f"{key}.txt").read_text(encoding="utf-8")
