"""Sliders and menus as data, and what they do when a key is pressed."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..spec import SpecError

TYPES = ("select", "range", "program")
Control = Mapping[str, Any]


def values(control: Control) -> list[Any]:
    """Values a control can take, in the order the keys step through them."""
    if control["type"] == "range":
        return list(control["values"])
    return [value for value, _ in control["options"]]


def check_controls(controls: Sequence[Control], function: Callable[..., Any]) -> None:
    """Hold controls to the form the page reads and the function takes."""
    for control in controls:
        if control.get("type") not in TYPES:
            raise SpecError(f"control {control.get('name')!r}: type is one of {TYPES}")
        groups = control.get("groups")
        if groups is not None and len(groups) != len(control["options"]):
            raise SpecError(f"control {control['name']!r}: a group for each option")
        if control["value"] not in values(control):
            raise SpecError(
                f"control {control['name']!r} starts at {control['value']!r}, which "
                f"is not among {values(control)}"
            )
    names = [control["name"] for control in controls]
    takes = list(inspect.signature(function).parameters)
    if sorted(names) != sorted(takes):
        raise SpecError(f"controls {names} do not match the function's {takes}")


def resolve(call: str) -> Callable[..., dict[str, Any]]:
    """The function named ``package.module:function``; SpecError if there is none."""
    module, _, name = call.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise SpecError(f"call {call!r}: write it as 'package.module:name'") from None


def _moves(control: Control) -> list[tuple[str, Any]]:
    """Keys that move a control by one, and the value they lead to."""
    steps = values(control)
    at = steps.index(control["value"])
    more, less = ("ArrowRight", "ArrowLeft")
    if control["type"] != "range":
        more, less = ("ArrowDown", "ArrowUp")
    ahead = [(more, steps[at + 1])] if at + 1 < len(steps) else []
    return ahead + ([(less, steps[at - 1])] if at else [])


def keyboard_test(
    controls: Sequence[Control], function: Callable[..., dict[str, Any]]
) -> dict[str, Any]:
    """A move by keyboard and the readout it must lead to, computed here."""
    start = {control["name"]: control["value"] for control in controls}
    before = {r["name"]: r["text"] for r in function(**start)["readouts"]}
    for control in sorted(controls, key=lambda c: c["type"] != "range"):
        for key, value in _moves(control):
            after = function(**{**start, control["name"]: value})["readouts"]
            for readout in after:
                shown, text = readout["name"], readout["text"]
                if before.get(shown) not in (None, text):
                    move = {"control": control["name"], "keys": [key]}
                    return {**move, "readout": shown, "text": text}
    raise SpecError("no control changes any readout: nothing to look at")
