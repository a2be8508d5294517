"""Does what is asked fit, and the sum that says so."""

from __future__ import annotations

from functools import lru_cache

from stacklib.quantity import Quantity
from stacklib.roofline.work.fit import Infeasible, fit_memory, fit_with_copies

from ..token.account import Case, fitting
from . import divided
from .asked import Asked
from .step import Step, step_of


def case(given: Asked) -> Case:
    return case_of(step_of(given.keys, given.exchanges, given.mode), given)


def case_of(step: Step, given: Asked) -> Case:
    batch = given.batch
    return Case(step.frame, batch, given.context, None, batch, not given.plain)


@lru_cache(maxsize=256)
def refusal(given: Asked) -> str:
    """Why a case does not fit; empty where it does."""
    try:
        if given.here:
            return ""
        if given.alike:
            fitting(case(given))
        else:
            divided.refuse(given, given.context)
    except Infeasible as wrong:
        return str(wrong)
    return ""


def sum_of(given: Asked) -> str:
    """The sum of a case that fits."""
    if given.here:
        return "the book's own models fit this machine"
    if not given.alike:
        needs = (
            (divided.need_of(given, part, given.context)[0], part)
            for part in divided.parts_of(given)
        )
        shown = (
            f"{Quantity(need, 'B'):.4 GB} <= {part.device.memory_capacity:.4 GB} on "
            f"{part.device.short}"
            for need, part in needs
        )
        return f"{'; '.join(shown)}: fits"
    frame = case(given).frame
    if frame.ep > 1:
        return f"{frame.words}: fits"
    fit = fit_memory(
        frame.model,
        on=frame.device,
        dtype=given.dtype,
        tp=given.tp,
        batch=int(given.batch),
        context=int(given.context),
        kv_dtype=given.kv_dtype,
    )
    return fit_with_copies(frame.model, fit).explanation
