"""A token in three currencies, live: machine, format, batch, context, load, power."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models, serving
from stacklib.frontier.waterfall import Event, Journey, journey
from stacklib.pages.chain.posts import DEVICE, MODEL, TP
from stacklib.plots.live import choices
from stacklib.plots.live.parts import counted
from stacklib.plots.marks import Mark, Spec, axis, band, bar, chart
from stacklib.plots.spec import readout
from stacklib.quantity import Quantity

CURRENCIES = {"time": "Time (ms)", "joules": "Joules of a token (J)"}
CURRENCIES["dollars"] = "Dollars of a million tokens (USD)"
UNITS = {"time": "ms", "joules": "J", "dollars": "USD"}
MODELS = ("llama-3.1-8b", MODEL, "gpt-oss-120b", "deepseek-v3")
DEVICES = ("a100_sxm_80gb", DEVICE, "h200_sxm", "b200_sxm", "mi300x", "rubin")
LAYERS = {"01": 2, "04": 4, "06": 5, "08": 6}  # of the stack, by the owning chapter
DTYPES, CHIPS = ("bf16", "fp8", "nvfp4"), (1, 2, 4, 8)
BATCHES, CONTEXTS = (1, 2, 4, 8, 16, 32, 64, 128), (512, 1024, 4096, 16384, 65536)
RATES, POWER = (0, 0.5, 1, 2, 4, 8, 16), (0.02, 0.04, 0.06, 0.08, 0.12, 0.2, 0.3, 0.4)
REQUESTS, MILLION = 60, 1e6  # of the load; tokens that a price is told for


def controls() -> list[dict[str, Any]]:
    """What runs, where, for how many, how often it is asked, and the price of power."""
    names = [[key, models.get(key).name] for key in MODELS]
    return [
        choices.select("bars", "Bars", CURRENCIES, "joules"),
        choices.select("model", "Model", names, MODEL),
        choices.select("device", "Device", choices.short(DEVICES), DEVICE),
        choices.slider("chips", "Chips", CHIPS, TP),
        choices.select("dtype", "Format", [[name, name] for name in DTYPES], "bf16"),
        choices.slider("batch", "Answers at once", BATCHES, 1),
        choices.slider("context", "Tokens cached", CONTEXTS, 4096),
        choices.slider("rate", "Requests a second", RATES, 0),
        choices.slider("power", "Power (USD per kWh)", POWER, 0.08),
    ]


def explore(
    *,
    bars: str,
    model: str,
    device: str,
    chips: int,
    dtype: str,
    batch: int,
    context: int,
    rate: float,
    power: float,
) -> Spec:
    """Each line's bar after the one before it; what nothing explains is hatched."""
    traffic = serving.poisson(rate, REQUESTS) if rate else None
    asked: dict[str, Any] = {"prices": power, "traffic": traffic}
    where = f"{models.get(model).name} on {chips} x {hardware.get(device).short}"
    try:
        found = journey(model, device, dtype, chips, batch, context, **asked)
        title, why = f"{where}: a token in {found.time:.3 ms}.", ""
    except (ValueError, LookupError) as refused:
        found, title, why = None, f"{where}: no journey.", str(refused).split("\n")[0]
    drawn = _bars(found, bars) if found else []
    if found and not drawn:  # of a machine that nobody sells yet, say
        why = found.unpriced or "no joules are known of such a chip"
    end = max((mark["x"][1] for mark in drawn), default=1.0)
    about = {"device": device, "chips": chips, "feasible": bool(found)}
    about["model"] = model
    return chart(
        title,
        x=axis(CURRENCIES[bars], limits=[0, 1.4 * end], unit=UNITS[bars]),
        y=axis("Lines of the account", ticks=(), limits=[0, 12]),
        marks=drawn,
        readouts=_said(found) if found else [],
        message=why or None,
        about=about | {"dtype": dtype, "batch": batch},
    )


def _value(event: Event, bars: str) -> float:
    """Of one line, at the high end."""
    if bars == "time":
        return float(event.time.to("ms").value)
    span = event.joules if bars == "joules" else event.dollars
    return 0.0 if span is None else span.high.si * (MILLION if bars == "dollars" else 1)


def _bars(found: Journey, bars: str) -> list[Mark]:
    marks, at, row = [], 0.0, len(found.events) + 1
    for event in found.events:
        if event.time is None or not (value := _value(event, bars)):
            continue
        layer = LAYERS.get(event.section[:2], 3)
        own: dict[str, Any] = {"layer": layer, "role": "part"}
        marks.append(bar(at, at + value, row, event.name, "predicted", **own))
        at, row = at + value, row - 1
    if bars == "joules" and found.token.gap is not None:
        ends = [at, at + found.token.gap[0].si]
        rows = [row - 0.3, row + 0.3]
        gap = band("not explained", "impossible", x=ends, y=rows, at="key", role="part")
        marks.append(gap)
    return marks


def _said(found: Journey) -> list[dict[str, Any]]:
    """The three sums, what no line explains, and the wait before them."""
    told = [readout("time", "A token", found.time, "part")]
    for which, end in (("least", 0), ("most", 1)):
        if found.joules is not None:
            joules = (found.joules.low, found.joules.high)[end]
            told.append(readout(which, f"Joules, {which}", joules, "part", unit="J"))
    if found.token.gap is not None:
        told.append(readout("gap", "Not explained, least", found.token.gap[0], "part"))
    if found.dollars is not None:
        for which, price in (
            ("cheap", found.dollars.low),
            ("dear", found.dollars.high),
        ):
            word = "A million tokens, " + ("least" if which == "cheap" else "most")
            paid = counted(price.si * MILLION, "a million tokens", "USD")
            told.append(readout(which, word, paid))
    if found.wait is not None:
        told.append(readout("wait", "In the queue", _seconds(found.wait.mean)))
    return told


def _seconds(value: float) -> Quantity:
    return counted(value, "mean wait", "s")
