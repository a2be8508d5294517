"""Builds that hold, and for each rule one that it alone catches."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

from stacklib.cost.catalogue import Component, part


def table(name: str) -> dict[str, dict[str, str]]:
    """A file beside this one: rows by name."""
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8") as file:
        return {row.pop("name"): row for row in csv.DictReader(file)}


def other(name: str, kind: str, **values: Any) -> Component:
    """A part of the catalogue with other facts."""
    like = part(name, kind)
    return replace(like, values={**like.values, **values})


def without(name: str, kind: str, field: str) -> Component:
    """A part of the catalogue of which one fact is unknown."""
    like = part(name, kind)
    return replace(like, values={f: v for f, v in like.values.items() if f != field})


BASES = {
    name: {field: part for field, part in row.items() if part}
    for name, row in table("bases").items()
}
CLEAN = ("DESK", "RACK", "TOWER", "PRO", "OLD")
DESK, RACK, TOWER, PRO, OLD = (BASES[name] for name in CLEAN)
NARROW = (
    ("PCIEX16_1", 1, 16, 5, "cpu"),
    ("PCIEX16_2", 4, 4, 5, "cpu"),
    ("PCIEX16_G4", 7, 4, 4, "chipset"),
)
QUARTER = (("PCIEX16_1", "PCIEX16_2", 4),)
# rule -> parts that its build has and the catalogue does not
ALTERED: dict[str, dict[str, Any]] = {
    "cooler-height": {"case": other("torrent", "case", height=150)},
    "display": {"gpus": [other("rtx_a6000", "gpu", display=False)] * 2},
    "narrow": {"board": other("proart_x870e", "board", slots=NARROW)},
    "split": {"board": other("proart_x870e", "board", shares=QUARTER)},
    "eps": {"psu": other("mpg_a1000g", "psu", plugs_eps=1)},
}


def changed(row: dict[str, str]) -> dict[str, Any]:
    """The fields of a build: those of a base with changes."""
    fields: dict[str, Any] = dict(BASES[row["base"]])
    for change in filter(None, row["changes"].split("; ")):
        field, value = change.split("=")
        fields[field] = value.split(" + ")
        if field in ("limit", "circuits", "peer"):
            fields[field] = {"True": True}.get(value) or int(value)
    return fields


# rule -> fields of the build that it alone catches, and the volts of the outlet
PLANTED = {
    rule: (changed(row) | ALTERED.get(rule, {}), int(row["mains"]))
    for rule, row in table("planted").items()
}
# lists as they go wrong -> fields of a build, volts, the rules that it breaks
LISTS = {
    name: (changed(row), int(row["mains"]), set(row["rules"].split()))
    for name, row in table("lists").items()
}
