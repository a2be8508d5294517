"""What the menus of the live figures offer, read from the spec database.

Menus are made when a page is: in the reader's browser only the devices chosen are
read, never all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from stacklib import hardware
from stacklib.quantity import DTYPES

Options = Mapping[str, str] | Iterable[Sequence[str]]
# How weights are kept, whatever a chip multiplies in: what people download, widest
# first.
WEIGHTS = (
    "bf16 fp16 int8 fp8 fp8_128x128 mxfp8 q8_0 q6_k mxfp6 q5_k_m q4_k_m q4_0 iq4_xs "
    "awq gptq nf4 int4 mxfp4 nvfp4 q3_k_m iq3_xs q2_k iq2_xxs"
).split()


def _published() -> list[hardware.Accelerator]:
    """Devices a roofline can be drawn of, by vendor, newest first."""
    keys = [key for key in hardware.names() if key != hardware.THIS_MACHINE]
    needed = ("memory_bandwidth", "memory_capacity")
    usable = [
        device
        for device in map(hardware.get, keys)
        if device.formats and None not in map(device.fields.get, needed)
    ]
    return sorted(usable, key=lambda d: (d.vendor.lower(), -d.year, d.short))


def devices() -> list[list[str]]:
    """Devices of known memory and rates as ``[key, name]``, by vendor.

    This machine has its own pages. Where two devices share their short name, the
    menu says the long one.
    """
    found = _published()
    short = [device.short for device in found]
    return [[d.key, d.name if short.count(d.short) > 1 else d.short] for d in found]


def knowing(
    needs: Callable[[hardware.Accelerator], Any], kind: str = ""
) -> list[list[str]]:
    """Of ``devices()``, those whose specs suffice: ``needs`` finds what it looks up."""
    found = []
    for key, name in devices():
        device = hardware.get(key)
        try:
            if kind in ("", device.kind):
                needs(device)
                found.append([key, name])
        except LookupError:
            continue
    return found


def short(keys: Iterable[str]) -> list[list[str]]:
    """A menu of some devices by their short names."""
    return [[key, hardware.get(key).short] for key in keys]


def formats() -> list[list[str]]:
    """Floats of at most sixteen bits for which a device has a rate, widest first.

    The menu does not follow the device: a format the chosen device lacks gets a
    message instead of a figure.
    """
    known = {name for device in _published() for name in device.formats}
    narrow = [d for d in DTYPES.values() if d.name in known and d.bits <= 16]
    found = [d for d in narrow if d.operation == "FLOP"]
    return [[d.name, d.name] for d in sorted(found, key=lambda d: -d.bits)]


def weights() -> list[list[str]]:
    """Formats of weights, mixtures among them; every device takes each."""
    return [[name, name] for name in WEIGHTS]


def rated(dtype: str, device: hardware.Accelerator) -> Any:
    """The format, as the guard is told of it; None where the device has no rate."""
    return dtype if dtype in device.formats else None


def device(name: str, label: str, value: str) -> dict[str, Any]:
    """A menu of all ``devices()``, grouped by vendor; arguments as for ``select``."""
    vendors = [device.vendor for device in _published()]
    return {**select(name, label, devices(), value), "groups": vendors}


def select(name: str, label: str, options: Options, value: str) -> dict[str, Any]:
    """A menu."""
    pairs = options.items() if isinstance(options, Mapping) else options
    menu = {"type": "select", "options": [list(pair) for pair in pairs]}
    return {"name": name, "label": label, "value": value, **menu}


def slider(
    name: str, label: str, values: Iterable[float], value: float
) -> dict[str, Any]:
    """A slider that steps through ``values``."""
    steps = {"type": "range", "values": list(values)}
    return {"name": name, "label": label, "value": value, **steps}


def program(
    name: str, label: str, options: Mapping[str, str], value: str
) -> dict[str, Any]:
    """A text that the reader writes, begun from one of some; ``options``: by name."""
    menu = [[text, words] for words, text in options.items()]
    return {"name": name, "label": label, "value": value, "type": "program"} | {
        "options": menu
    }
