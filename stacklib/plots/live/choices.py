"""What the menus of the live figures offer, read from the spec database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stacklib import hardware
from stacklib.quantity import DTYPES


def devices() -> list[list[str]]:
    """Published devices as ``[key, name]``; this machine has its own pages."""
    keys = [key for key in hardware.names() if key != hardware.THIS_MACHINE]
    return [[key, hardware.get(key).short] for key in keys]


def formats(operations: Sequence[str] = ("FLOP",)) -> list[list[str]]:
    """Sixteen bits and fewer for which some device publishes a rate, widest first.

    The menu does not follow the device: a format the chosen device lacks gets a
    message instead of a figure.
    """
    known = {f for key, _ in devices() for f in hardware.get(key).formats}
    narrow = [d for d in DTYPES.values() if d.name in known and d.bits <= 16]
    found = [d for d in narrow if d.operation in operations]
    return [[d.name, d.name] for d in sorted(found, key=lambda d: -d.bits)]


def select(name: str, label: str, options: Sequence[Any], value: str) -> dict[str, Any]:
    """A menu."""
    return {"name": name, "label": label, "type": "select",
            "options": [list(o) for o in options], "value": value}  # fmt: skip


def slider(name: str, label: str, values: Sequence[int], value: int) -> dict[str, Any]:
    """A slider that steps through ``values``."""
    return {"name": name, "label": label, "type": "range",
            "values": list(values), "value": value}  # fmt: skip
