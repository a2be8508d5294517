"""What ``stacklib new part`` adds to the catalogue: a part, told or unknown."""

from __future__ import annotations

import json
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from stacklib.cost import catalogue
from stacklib.cost.opendb import READERS, from_opendb

SOURCE = """\
[sources.{key}]
title = {title}
where = {where}
seen = {today}
confidence = "{confidence}"

"""


def part(text: str, kind: str, key: str, name: str, device: str, record: str) -> str:
    """The table of a kind with one part more; ValueError for what cannot be read.

    ``record``: the path of a record of OpenDB, or nothing.
    """
    found: dict[str, Any] = {}
    title, where, sure = "not yet read", "table and page", "recalled"
    if record:
        told, found = from_opendb(_record(record), kind)
        name, sure = name or told, "secondary"
        title, where = "BuildCores OpenDB (ODC-By)", f"record of {told}"
    raw = tomllib.loads(text)
    if key in raw or key == "sources":
        raise ValueError(f"{key} is there; give the part another key")
    lines = [f"[{key}]", f"name = {_plain(name or key)}"]
    if kind == "gpu":
        lines.append(f"device = {_plain(device or key)}")
    fields = catalogue.FIELDS[kind]
    skip = ("power", "memory", "generation", "lanes") if kind == "gpu" else ()
    for field in (f for f in fields if f not in skip):
        value = found.get(field, catalogue.UNKNOWN)
        lines.append(f"from.{key}.{field} = {_plain(value)}  # {fields[field][1]}")
    source = SOURCE.format(
        key=key,
        title=_plain(title),
        where=_plain(where),
        today=date.today().isoformat(),
        confidence=sure,
    )
    place = text.index("[sources.")
    added = text[:place] + source + text[place:].rstrip("\n") + "\n\n"
    added += "\n".join(lines) + "\n"
    catalogue.read_parts(tomllib.loads(added), kind)
    return added


def _record(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as wrong:
        raise ValueError(f"{path}: {wrong.strerror or wrong}") from None
    except ValueError:
        raise ValueError(f"{path}: no JSON; give a record of OpenDB") from None


def _plain(value: Any) -> str:
    """A value as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


KINDS = tuple(catalogue.FIELDS)
RECORDS = tuple(READERS)
