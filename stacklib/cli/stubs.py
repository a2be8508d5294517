"""The texts that ``stacklib new`` writes."""

from __future__ import annotations

import ast
import csv
import io
from pathlib import Path

from stacklib.evidence import ledger
from stacklib.hardware.accelerator import FIELDS
from stacklib.pages import CARRIES

DEVICE = """\
key = "{key}"
name = "TODO"
short = "TODO"
vendor = "TODO"
year = "TODO"
kind = "TODO"  # gpu, tpu, cpu or asic
architecture = "TODO"  # one word: hopper, cdna3, tpu
compute_capability = "TODO"  # CUDA's, such as 9.0; "" where there is none
process = "TODO"
memory_type = "TODO"
aliases = []  # words that published tables use for it: "h100 sxm"
link_key = ""  # its scale-up link among hardware.link_names(); "" where none
host_link_key = ""

[sources.device]
title = "TODO"
where = "TODO"
seen = "TODO"  # a date: 2026-11-21
confidence = "TODO"  # vendor, measured, secondary, recalled or announced

# A field that no source tells is "unknown"; a field of another source names it.
[fields]
{fields}

# Dense rates. With per_unit_per_cycle (operations of one compute unit in a cycle)
# a test holds units x clock x rate to the printed peak.
[peak]
bf16 = {{ value = "TODO", unit = "TFLOP/s dense", accumulate = "TODO" }}
"""

CHECKS = '''\
"""Checks of the claims of {page}."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
'''

CHECK = '''

@claim("{id}")
def {name}() -> Finding:
    """TODO: what is computed, and from what."""
    raise NotImplementedError("{id}: TODO: compute the claimed quantity")
'''

EXERCISE = '''\
"""TODO: a title.

level: {level}

TODO: the question. Say of each given where it is from, or "suppose".

hint: TODO: the step that is hard to see.
"""

from stacklib.grading import expect

# ---- your answer ----


def answer():
    """TODO: what it returns, and in which unit."""
    return None  # TODO: the solution


# ---- tests ----


def test_answer():
    value = answer()
    expected = None  # TODO: compute it with stacklib
    expect.number(value, expected, mistakes={{"TODO: a mistake": 0.0}})
'''

WRONG = """\
# ---- mistake_1: TODO: what the grader says of mistake 1
def answer():
    return 1  # TODO: a mistake readers make


# ---- mistake_2: TODO: what the grader says of mistake 2
def answer():
    return 2  # TODO: a mistake readers make
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


def device(key: str) -> str:
    """The spec file of a device, one line for each field the loader wants."""
    units = {name: PRINTED.get(name, si) for name, (si, _) in FIELDS.items()}
    fields = (
        f'{name} = {{ value = "TODO"{f", unit = {unit!r}" if unit else ""} }}'
        for name, unit in units.items()
    )
    return DEVICE.format(key=key, fields="\n".join(fields).replace("'", '"'))


def exercise(level: str) -> str:
    """The file of an exercise: question, answer and tests."""
    return EXERCISE.format(level=level)


def ledger_row(rows: str, id: str, chapter: int) -> str:
    """The line to append to the ledger; empty where the id has its row.

    Raises ValueError where that row belongs to another chapter.
    """
    for row in csv.DictReader(io.StringIO(rows)):
        if row["id"] == id:
            if row["chapter"] != str(chapter):
                raise ValueError(f"claim {id!r} is of chapter {row['chapter']}")
            return ""
    cells = {"id": id, "chapter": str(chapter), "computed": ""}
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(
        cells.get(column, "TODO") for column in ledger.COLUMNS
    )
    return line.getvalue()


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
        raise ValueError(f"{file} does not import {' and '.join(sorted(missing))}")
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
