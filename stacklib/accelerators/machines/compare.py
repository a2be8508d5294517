"""One model on many machines: does it fit, how long a token takes, what binds.

All rows stand on one footing, the roof: bytes over bandwidth and operations over the
peak, as the machine is laid out. Where somebody has fitted a model of a chip's kernels,
links and engine (``serving.estimate``), what it expects stands beside. Whose figures
the row stands on is the least sure of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from stacklib import cost, serving
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.interconnect.selection.machine import architecture_of
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen, one_of
from stacklib.quantity.bounds import whole
from stacklib.quantity.source import CONFIDENCE
from stacklib.quantity.stored import products
from stacklib.roofline.work.fit import Infeasible, fit_memory, fit_with_copies, model_of
from stacklib.serving.token.lines import ARITHMETIC, Account

from ..sram.placed import placed_account
from ..sram.plan import YEARS, fewest, sram_machine
from .rows import Machine, machine

MEMORY, LINKS = "memory", "links"  # beside arithmetic, what a token waits for
RENT, BOUGHT = "rent", f"price over {YEARS:.0f} years"
MOST = 64  # chips of a machine whose memory is outside of them, where none is named


@dataclass(frozen=True, slots=True)
class Compared:
    """A model on a machine. Quantities are None where it does not fit or nobody says.

    - ``fits``: None where a figure that this row needs is unknown; ``sum``: why, with
      the numbers, or what is unknown
    - ``roof``: seconds of a token that nothing on this machine can beat
    - ``expected``: seconds that ``serving.estimate`` expects, where kernels, links and
      an engine of this chip have a model
    - ``joules``, ``dollars``: at the roof, of a token at the printed power, and of a
      million tokens at the lowest quote; ``paid``: what was quoted, rent or a price
      spread over five years
    - ``binds``, ``next``: what takes longest, and what would next
    - ``whose``: whose figures the roof stands on, the least sure
    """

    machine: Machine
    fits: bool | None
    sum: str
    chips: int | None = None
    roof: Quantity | None = None
    expected: Quantity | None = None
    joules: Quantity | None = None
    dollars: Quantity | None = None
    paid: str = ""
    binds: str = ""
    next: str = ""
    whose: str = ""
    account: Account | None = None


def compare(
    model: str | LanguageModel,
    machines: Iterable[str | Machine],
    *,
    batch: int = 1,
    context: int = 4096,
) -> list[Compared]:
    """A decode step of one model on several machines, a row each.

    Parameters
    ----------
    machines : iterable of str or Machine
        Names of ``MACHINES``, of devices (the fewest chips that hold the model), or
        rows of your own.
    batch, context : int
        Sequences, and tokens cached in each.

    Raises
    ------
    UnknownName
        For a machine or model that nothing knows. One whose sheet lacks a figure, such
        as a rate for the products, has a row that names it.
    ValueError
        For sizes that make no sense, or chips that do not divide the heads.
    TypeError
        For a name in place of a list of them.

    Examples
    --------
    >>> laptop, rack = compare("llama-3-70b", ["M4 Max", "Groq 3 LPU"])
    >>> laptop.roof.text("ms"), rack.roof.text("ms"), rack.binds
    ('130 ms', '0.152 ms', 'memory')
    """
    if isinstance(machines, str):
        raise TypeError(f"machines = {machines!r}: a list of them, [{machines!r}]")
    held = model_of(model)
    whole(batch=batch)
    whole(0, context=context)
    asked = int(batch), int(context)  # NumPy's narrow numbers run over
    return [_row(held, machine(name), *asked) for name in machines]


def _row(model: LanguageModel, machine: Machine, batch: int, context: int) -> Compared:
    device = machine.device
    try:
        laid = _in_sram if machine.in_sram else _outside
        chips, words, account = laid(model, machine, batch, context)
    except Infeasible as sum_:
        return Compared(machine, False, str(sum_))
    except UnknownSpec as lacks:
        return Compared(machine, None, f"not comparable: {lacks}")
    roof, expected = account.total(), None
    if not machine.in_sram and _has_model(device, chips):
        asked: dict[str, Any] = {"batch": batch, "context": context}
        with suppress(UnknownSpec):  # what a kernel's model needs, and a roof does not
            made = serving.estimate(model, device, machine.dtype, chips, **asked)
            expected = made.tpot
    each = roof / batch
    binds, later = _binding(account)
    dollars, paid = _dollars(device, chips, each)
    return Compared(
        machine,
        True,
        words,
        chips,
        roof.named(f"a token on {machine.name}"),
        expected,
        _joules(device, chips, each),
        dollars,
        paid,
        binds,
        later,
        _whose(device, model, machine.dtype),
        account,
    )


def _in_sram(
    model: LanguageModel, machine: Machine, batch: int, context: int
) -> tuple[int, str, Account]:
    """As many chips as the machine has, a stage a layer."""
    asked: dict[str, Any] = {"dtype": machine.dtype, "batch": batch}
    asked |= {"context": context, "chips": machine.chips}
    plan = sram_machine(model, on=machine.device, **asked)
    both = plan.weights + plan.cache
    return plan.chips, f"{both:.4 GB} <= {plan.have:.4 GB}", plan.account


def _outside(
    model: LanguageModel, machine: Machine, batch: int, context: int
) -> tuple[int, str, Account]:
    """Memory beside the chips, all of which share every matrix."""
    device, dtype = machine.device, machine.dtype
    asked: dict[str, Any] = {"dtype": dtype, "batch": batch, "context": context}
    fit = fit_memory(model, on=device, tp=machine.chips or 1, **asked)
    if machine.chips is None and not fit.fits:
        need = fewest((fit.weights + fit.kv).si, fit.have.si)
        ways = (n for n in range(need, MOST + 1) if model.heads % n == 0)
        for chips in ways:
            fit = fit_memory(model, on=device, tp=chips, **asked)
            if fit_with_copies(model, fit).fits:
                break
    fit = fit_with_copies(model, fit)
    if not fit.fits:
        raise Infeasible(f"{model.key}: {fit.explanation}")
    account = placed_account(model, device, chips=fit.chips, stages=1, **asked)
    return fit.chips, fit.explanation, account


def _has_model(device: Accelerator, chips: int) -> bool:
    """Whether kernels and, between several chips, collectives were ever fitted."""
    if device.kind != "gpu":
        return False
    try:
        return chips == 1 or bool(architecture_of(device))
    except ValueError:
        return False


def _binding(account: Account) -> tuple[str, str]:
    """What takes longest of a token, and what would if that were gone."""
    spent = dict.fromkeys((MEMORY, ARITHMETIC, LINKS), 0.0)
    for line in account.lines:
        times = (line.t_bytes, line.t_arithmetic, line.t_fixed)
        for name, time in zip(spent, times, strict=True):
            spent[name] += 0.0 if time is None else time.si
    first, then, _ = sorted(spent, key=lambda name: -spent[name])
    return first, then


def _joules(device: Accelerator, chips: int, each: Quantity) -> Quantity | None:
    """At the printed power of all chips; None where none is published."""
    watts = device.fields.get("tdp")
    return None if watts is None else (watts.across(chips) * each).to("J")


def _dollars(
    device: Accelerator, chips: int, each: Quantity
) -> tuple[Quantity | None, str]:
    """Dollars a million tokens at the lowest quote there is, and what was quoted."""
    known = device.key in cost.names("prices")
    for kind, words in (("cloud", RENT), ("purchase", BOUGHT)):
        quotes = [q.value for q in cost.prices(device.key, kind)] if known else []
        if quotes:
            hourly = min(quotes, key=lambda q: q.si).across(chips)
            if kind == "purchase":
                hourly = hourly / (YEARS * one_of("year"))
            token = chosen(1, "token", label="a token")
            return (hourly * each / token).to("USD/Mtoken"), words
    return None, ""


def _whose(device: Accelerator, model: LanguageModel, dtype: str | None) -> str:
    """The least sure of the figures behind the roof."""
    run = products(way_of(model, dtype).numbers, device.formats).name
    used = [device.memory_bandwidth, device.memory_capacity, device.peak(run)]
    known = [q.source.confidence for q in used if q.source is not None]
    return max(known, key=list(CONFIDENCE).index)
