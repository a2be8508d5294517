"""``nvidia-smi topo -m`` read: how each pair of devices of a machine is connected.

A matrix of devices (GPUs, network cards) with a word for each pair, then columns of
processors and memory near to each GPU, a legend, and the names of the cards. The
columns changed over the years: ``NUMA Affinity`` and ``GPU NUMA ID`` came late, cards
stood by name (``mlx5_0``) before they were ``NIC0``, and ``SYS`` was ``SOC``. What is
pasted from a page, with spaces for tabs, is read as well.

What the words mean is in the legend that nvidia-smi prints. Lines that a terminal has
wrapped are put together again. ``nvidia-smi topo -p2p`` prints a second matrix, of who
may read and write whose memory; it is taken where it stands before or behind the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from stacklib.quantity import resolve

from .topo_reading import WAYS, Names, TopoReading

COLUMNS = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")
_SHORT = {"NUMA": "NUMA Affinity", "CPU": "CPU Affinity"}  # typed by hand
_DEVICE = re.compile(r"[A-Za-z][\w.:-]*")
_CELL = re.compile(r"\b(X|NV[1-9]\d*|PIX|PXB|PHB|NODE|SYS|SOC)\b")
_ACCESS = re.compile(r"X|OK|NS|CNS|GNS|TNS|DR|U")
_NO_BYTES = re.compile(r"topo\s+-p2p\s+[na]\b")  # of NVLinks, and of atomics
_OTHERS = (
    "ROCm System",
    "Link Type between two GPUs",
    "LINK TYPE TABLE",
    "ACCESS TABLE",
)
_SAMPLES = Path(__file__).parent / "data" / "topo"


class TopoError(ValueError):
    """Text that ``nvidia-smi topo -m`` does not print; names the line."""


def read_topo(text: str) -> TopoReading:
    """Devices of a machine and how they are connected.

    Parameters
    ----------
    text : str
        What ``nvidia-smi topo -m`` printed, its legend too if it is there. Lines that
        begin with ``#`` are comments; what stands before the matrix is passed over.

    Raises
    ------
    TopoError
        For no matrix, a word that is none of its legend, a row that is missing, too
        short or given twice, and two devices connected in one way here and another
        there; the message names the line.

    Examples
    --------
    >>> reading = read_topo(topo_sample("four_cards"))
    >>> reading.between("GPU0", "GPU1"), reading.crosses_socket()[0]
    ('NODE', ('GPU0', 'GPU2'))
    """
    if not isinstance(text, str):
        raise TopoError(f"{text!r}: the text that nvidia-smi topo -m printed is needed")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)  # the header is underlined
    plain = re.sub(r"(?m)^[ ]*[|>]+|\|", " ", plain)  # quoted, or made a table
    if any(word in plain for word in _OTHERS):
        raise TopoError(
            "this is a table of rocm-smi or amd-smi: nvidia-smi topo -m is read; for "
            "AMD's boxes ask for a collective by device, such as mi300x"
        )
    lines = [
        (at, line)
        for at, line in enumerate(plain.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    if not lines:
        raise TopoError("nothing to read: give the output of nvidia-smi topo -m")
    starts = [i for i, (_, line) in enumerate(lines) if _is_header(line)]
    tells = [i for i in starts if _is_access(lines, i)]
    start = next((i for i in starts if i not in tells), None)
    if start is None:
        at, line = lines[0]
        if tells:
            raise TopoError(
                f"line {lines[tells[0]][0]}: a matrix of access says no way; give the "
                "output of nvidia-smi topo -m in the same file"
            )
        raise TopoError(
            f"line {at}, {line.strip()!r}: no line of devices such as GPU0 GPU1 ... "
            "comes; give the output of nvidia-smi topo -m"
        )
    ends = sorted([*tells, start, len(lines)])
    parts = {a: _unwrapped(lines[a:b]) for a, b in pairwise(ends)}
    reading = _matrix(parts[start], lines[-1][0])
    told: dict[Names, str] = {}
    for i in tells:
        if i and _NO_BYTES.search(lines[i - 1][1]):
            continue
        told |= _access(parts[i], reading.gpus, told)
    return replace(reading, access=told)


def _matrix(lines: list[tuple[int, str]], last: int) -> TopoReading:
    """The reading of lines that begin with a header."""
    devices, columns = _header(*lines[0])
    rows: dict[str, tuple[int, list[str], dict[str, str]]] = {}
    rest = iter(lines[1:])
    for at, line in rest:
        if _ends(line):
            break
        if len(rows) == len(devices) and not _CELL.search(line):
            break  # a prompt, or what else was copied with the matrix
        name, cells, near = _row(at, line, devices, columns)
        if name in rows:
            raise TopoError(f"line {at}: {name} has a row on line {rows[name][0]} too")
        rows[name] = at, cells, near
    return _made(devices, rows, dict(_cards(rest)), last)


def _ends(line: str) -> bool:
    """Whether a line is none of a matrix."""
    return line.strip().startswith(("Legend", "NIC Legend", "```"))


def _unwrapped(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Lines of a matrix and what follows, with pieces of a wrapped one put together.

    A piece begins with no device that the header names; the header's own pieces come
    before the first row.
    """
    header, rest = list(lines[:1]), list(lines[1:])
    while rest and not _ends(rest[0][1]) and not _starts_row(rest[0][1]):
        if not _is_piece(rest[0][1]):
            break
        at, line = header.pop()
        header.append((at, f"{line} {rest.pop(0)[1].strip()}"))
    named = set(header[0][1].split())
    wide = max(1, sum(map(bool, map(_DEVICE.fullmatch, named))))
    found: list[tuple[int, str]] = []
    for i, (at, line) in enumerate(rest):
        first, *more = line.split()
        short = found and len(found[-1][1].split()) <= wide
        piece = first not in named and all(
            _CELL.fullmatch(word) or re.fullmatch(r"N/A|[\d,-]+", word)
            for word in (first, *more)
        )
        if _ends(line):
            return [*header, *found, *rest[i:]]
        if short and piece:
            found[-1] = found[-1][0], f"{found[-1][1]} {line.strip()}"
        else:
            found.append((at, line))
    return [*header, *found]


def _starts_row(line: str) -> bool:
    """Whether a device and a way, or a word of access, begin a line."""
    words = line.split()
    return len(words) > 1 and bool(
        _DEVICE.fullmatch(words[0])
        and (_CELL.fullmatch(words[1]) or _ACCESS.fullmatch(words[1]))
    )


def _is_piece(line: str) -> bool:
    """Whether a line has nothing but devices and names of columns."""
    words = line.split()
    columns = {"CPU", "NUMA", "GPU", "Affinity", "ID"}
    return all(w in columns or re.fullmatch(r"[A-Za-z_]+\d\w*", w) for w in words)


def _is_access(lines: list[tuple[int, str]], start: int) -> bool:
    """Whether words of access stand under a header, and no ways."""
    for _, line in lines[start + 1 : start + 3]:
        words = line.split()[1:]
        if any(word != "X" and _ACCESS.fullmatch(word) for word in words):
            return True
    return False


def _access(
    lines: list[tuple[int, str]], gpus: tuple[str, ...], told: Mapping[Names, str]
) -> dict[Names, str]:
    """Words of a matrix of access; a pair that one of several forbids is forbidden."""
    at, line = lines[0]
    names = line.split()
    if set(names) != set(gpus):
        raise TopoError(
            f"line {at}, {line.strip()!r}: access of other GPUs than {gpus}"
        )
    found: dict[Names, str] = {}
    for at, line in lines[1:]:
        if _ends(line):
            break
        name, *words = line.split()
        if name not in names:
            break
        if len(words) != len(names):
            raise TopoError(f"line {at}: {len(words)} entries under {len(names)} GPUs")
        for other, word in zip(names, words, strict=True):
            if not _ACCESS.fullmatch(word) or (word == "X") != (name == other):
                raise TopoError(
                    f"line {at}, {name} to {other}: {word!r} is none of OK, NS, CNS, "
                    "GNS, TNS, DR, U, and X for a GPU and itself"
                )
            if word != "X" and told.get((name, other), "OK") == "OK":
                found[name, other] = word
    if len(found) < len(names) * (len(names) - 1) and not told:
        raise TopoError(f"line {at}: the matrix of access ends without all its rows")
    return found


def _is_header(line: str) -> bool:
    """Whether a line begins with a GPU and says no way to any."""
    words = line.split()
    first = bool(words) and re.fullmatch(r"GPU\d+", words[0]) is not None
    return first and not any(_CELL.fullmatch(word) for word in words)


def _header(at: int, line: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Devices and the columns after them."""
    words = line.split()
    ends = [i for i, word in enumerate(words) if word in ("CPU", "NUMA", "GPU")]
    devices = words[: min(ends, default=len(words))]
    tail = " ".join(words[len(devices) :])
    columns = [name for name in COLUMNS if name in tail]
    if tail in _SHORT or tail == "CPU Affinity NUMA":
        columns = [_SHORT[word] for word in ("CPU", "NUMA") if word in tail.split()]
        tail = " ".join(columns)
    if tail != " ".join(columns) or not all(map(_DEVICE.fullmatch, devices)):
        raise TopoError(
            f"line {at}, {line.strip()!r}: names of devices, and after them only "
            f"{', '.join(COLUMNS)} are known"
        )
    if len(set(devices)) < len(devices):
        raise TopoError(f"line {at}, {line.strip()!r}: a device stands there twice")
    return tuple(devices), tuple(columns)


def _row(
    at: int, line: str, devices: tuple[str, ...], columns: tuple[str, ...]
) -> tuple[str, list[str], dict[str, str]]:
    """A row's device, its cells, and what stands in the columns after them."""
    name, *words = line.split()
    if name not in devices:
        raise TopoError(
            f"line {at}, {line.strip()!r}: {name!r} is no device of the first line"
        )
    cells, tail = words[: len(devices)], words[len(devices) :]
    for other, cell in zip(devices, cells, strict=False):
        if not _CELL.fullmatch(cell):
            raise TopoError(
                f"line {at}, {name} to {other}: {cell!r} is none of X, NV#, "
                f"{', '.join([*WAYS][1:])}"
            )
    if not columns and not any(map(_CELL.fullmatch, tail)):
        tail = []  # notes of who pasted it
    if len(cells) < len(devices) or len(tail) > len(columns):
        raise TopoError(
            f"line {at}, {line.strip()!r}: {len(words)} entries under {len(devices)} "
            f"devices and {len(columns)} columns"
        )
    if line.count("\t") >= len(devices):  # its place tells the column of an entry
        spaced = [part.strip() for part in line.split("\t")]
        tail = spaced[spaced.index(name) + 1 + len(devices) :]
    return name, cells, dict(zip(columns, tail, strict=False))


def _cards(lines: Iterator[tuple[int, str]]) -> Iterator[Names]:
    """Names of the network cards, from the second legend."""
    for _, line in lines:
        found = re.fullmatch(r"\s*(NIC\d+)\s*:\s*(\S+)\s*", line)
        if found:
            yield found[1], found[2]


def _made(
    devices: tuple[str, ...],
    rows: Mapping[str, tuple[int, list[str], dict[str, str]]],
    cards: Mapping[str, str],
    last: int,
) -> TopoReading:
    """Rows put together; each pair must be told alike in both."""
    for name in devices:
        if name not in rows:
            raise TopoError(f"line {last}: the text ends without a row of {name}")
    ways: dict[Names, str] = {}
    for one in devices:
        at, cells, _ = rows[one]
        for other, cell in zip(devices, cells, strict=True):
            if (cell == "X") != (one == other):
                raise TopoError(
                    f"line {at}: {one} to {other} is {cell!r}; X is for a device and "
                    "itself"
                )
            if one == other:
                continue
            back = ways.get((other, one), cell)
            if back != cell:
                raise TopoError(
                    f"line {at}: {one} to {other} is {cell}, and on line "
                    f"{rows[other][0]} it is {back}"
                )
            ways[one, other] = cell
    near = {one: rows[one][2] for one in devices if one.startswith("GPU")}
    return TopoReading(
        devices,
        ways,
        _column(near, "CPU Affinity"),
        _column(near, "NUMA Affinity"),
        cards,
    )


def _column(near: Mapping[str, Mapping[str, str]], name: str) -> dict[str, str]:
    """A column by GPU, where it says anything."""
    told = {gpu: columns.get(name, "") for gpu, columns in near.items()}
    return {gpu: entry for gpu, entry in told.items() if entry not in ("", "N/A")}


def topo_samples() -> tuple[str, ...]:
    """Names of the sample outputs."""
    return tuple(sorted(path.stem for path in _SAMPLES.glob("*.txt")))


def topo_sample(name: str) -> str:
    """A sample output, written in the format of nvidia-smi for this book."""
    found = resolve(name, topo_samples(), "sample")
    return (_SAMPLES / f"{found}.txt").read_text()
