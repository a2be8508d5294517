"""The texts that ``stacklib new`` writes."""

from __future__ import annotations

import ast
import csv
import io
import json
from datetime import date
from pathlib import Path

from stacklib.evidence import ledger
from stacklib.hardware.accelerator import FIELDS
from stacklib.hardware.load import words
from stacklib.pages import CARRIES

DEVICE = """\
key = "{key}"
name = {name}
short = {name}
vendor = {vendor}
year = {year}
kind = "{kind}"
architecture = "unknown"  # one word: hopper, cdna3, tpu
compute_capability = ""  # CUDA's, such as 9.0; "" where there is none
process = "unknown"
memory_type = "unknown"
aliases = ["{alias}"]  # words that published tables use for it
link_key = ""  # its scale-up link among hardware.link_names(); "" where none
host_link_key = ""

[sources.device]
title = {title}
where = "not yet read: table and page"
seen = {today}
confidence = "recalled"  # vendor, measured, secondary, recalled or announced

# A field that no source tells is "unknown"; a field of another source names it.
[fields]
{fields}

# Dense rates. With per_unit_per_cycle (operations of one compute unit in a cycle)
# a test holds units x clock x rate to the printed peak.
[peak]
# bf16 = {{ value = ..., unit = "TFLOP/s dense", accumulate = "fp32" }}
"""

CHECKS = '''\
"""Checks of the claims of {page}."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
'''

CHECK = '''

@claim("{id}")
def {name}() -> Finding:
    """Not yet computed: return the quantity that the claim is about."""
    return Finding.open("To settle it: nobody has computed it yet.")
'''

EXERCISE = '''\
"""A square matrix.

level: {level}

Suppose a matrix of 4,096 rows and 4,096 columns in bf16. How many MB is it?

hint: Numbers times the bytes of each.
"""

from stacklib.grading import expect
from stacklib.quantity import Quantity, bytes_per_element

# ---- your answer ----


def megabytes():
    """MB of the matrix."""
    return 4096 * 4096 * 2 / 1e6


# ---- tests ----


def test_megabytes():
    expected = Quantity(4096 * 4096, "1") * bytes_per_element("bf16")
    mistakes = {{
        "A number in bf16 has two bytes.": expected / 2,
        "That is one row of it.": expected / 4096,
    }}
    expect.number(megabytes(), expected, unit="MB", mistakes=mistakes)
'''

RIGHT = """\
# ---- summed: row by row
def megabytes():
    return sum(2 * 4096 for _ in range(4096)) / 1e6


# ---- quantity: with units
from stacklib.quantity import Quantity


def megabytes():
    return Quantity(2, "B") * 4096**2
"""

WRONG = """\
# ---- binary: as MiB and MB are apart
-    return 4096 * 4096 * 2 / 1e6
+    return 4096 * 4096 * 2 / 2**20

# ---- bits: a byte is eight bits
def megabytes():
    return 16 * 4096**2 / 1e6
"""

# The units data sheets print, where they differ from the loader's SI.
PRINTED = {
    "clock": "GHz",
    "tensor_clock": "GHz",
    "memory_pin_rate": "Gbit/s",
    "memory_bandwidth": "TB/s",
    "memory_capacity": "GB",
    "l2_capacity": "MiB",
    "shared_per_unit": "KiB",
    "registers_per_unit": "KiB",
    "link": "GB/s per_direction",
    "host_link": "GB/s per_direction",
    "die_area": "mm2",
    "cloud_price": "USD/h",
}


def device(key: str, name: str, vendor: str, year: int, kind: str) -> str:
    """The spec file of a device: all that its fields could tell is unknown."""
    fields = (
        f'{field} = "unknown"  # {PRINTED.get(field, unit) or "a number"}'
        for field, (unit, _) in FIELDS.items()
    )
    return DEVICE.format(
        key=key,
        name=quoted(name),
        vendor=quoted(vendor),
        year=year,
        kind=kind,
        alias=" ".join(words(name)),
        title=quoted(f"{name}, data sheet"),
        today=date.today().isoformat(),
        fields="\n".join(fields),
    )


def quoted(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def exercise(level: str) -> str:
    """The file of an exercise: question, answer and tests."""
    return EXERCISE.format(level=level)


def ledger_with(data: bytes, cells: dict[str, str]) -> bytes:
    """The ledger with one row more, in the line ending that it has."""
    ending = "\r\n" if b"\r\n" in data else "\n"
    line = io.StringIO()
    writer = csv.writer(line, lineterminator=ending)
    writer.writerow([cells[column] for column in ledger.COLUMNS])
    gap = b"" if data.endswith(b"\n") else ending.encode()
    return data + gap + line.getvalue().encode()


def record_with(record: bytes, claim: ledger.Claim) -> bytes:
    """The record of judgements with a claim that is open, in its place or last."""
    line = io.StringIO()
    said = (claim.id, f"{claim.value:.12g}", claim.unit, "", "open")
    csv.writer(line, lineterminator="\n").writerow(said)
    lines = record.decode().splitlines(keepends=True)
    place = [n for n, old in enumerate(lines) if old.startswith(f"{claim.id},")]
    lines[place[0] if place else len(lines) : place[0] + 1 if place else None] = [
        line.getvalue()
    ]
    return "".join(lines).encode()


def module_of(pages: Path, id: str, page: str) -> Path:
    """The module of a page that holds its checks; ValueError where the claim has one.

    A page is a single module, or a folder with its checks in ``claims.py``.
    """
    for path in sorted(pages.rglob("*.py")):
        if id in CARRIES.findall(path.read_text("utf-8")):
            raise ValueError(f"claim {id!r} has its check in {path}")
    folder = pages / page
    return folder / "claims.py" if folder.is_dir() else pages / f"{page}.py"


def with_check(source: str, file: str, id: str, page: str) -> str:
    """A module of checks with one more at its end.

    Raises ValueError where the name is used, or the module is not one a check can be
    added to.
    """
    source = source or CHECKS.format(page=page)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise ValueError(f"{file}:{error.lineno}: {error.msg}; mend it first") from None
    name = id.replace("-", "_")
    name = name if name.isidentifier() else f"claim_{name}"
    names = {alias for node in tree.body for alias in bound(node)}
    if name in names:
        raise ValueError(f"{file} has a {name} already; give the claim another id")
    if missing := {"claim", "Finding"} - names:
        raise ValueError(
            f"{file} does not import {' and '.join(sorted(missing))}; "
            "add: from stacklib.evidence import Finding, claim"
        )
    return source.rstrip("\n") + "\n" + CHECK.format(id=id, name=name)


def bound(node: ast.stmt) -> list[str]:
    """Names that a statement at the top of a module binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [a.asname or a.name for a in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    return []
