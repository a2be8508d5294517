"""A machine beside eight H100s, live: what a token takes as more readers come."""

from __future__ import annotations

from typing import Any

from stacklib import models
from stacklib.accelerators import compare
from stacklib.accelerators.machines.compare import Compared
from stacklib.accelerators.machines.rows import MACHINES
from stacklib.pages.accelerators import rent as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout

MODELS = ("llama-3-8b", "llama-3-70b", "qwen3-30b-a3b", "deepseek-v3")
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
CONTEXTS = tuple(2**power for power in range(8, 18))
OTHERS = tuple(name for name in MACHINES if name != page.OWN)


def controls() -> list[dict[str, Any]]:
    """Model, machine, readers, and tokens of each."""
    names = [[key, models.get(key).name] for key in MODELS]
    machines = [[name, name] for name in OTHERS]
    return [
        choices.select("model", "Model", names, "llama-3-70b"),
        choices.select("machine", "Machine", machines, "WSE-3"),
        choices.slider("batch", "Readers at once", BATCHES, 1),
        choices.slider("context", "Tokens cached in each", CONTEXTS, 4096),
    ]


def explore(*, model: str, machine: str, batch: int, context: int) -> Spec:
    """Milliseconds of a token at the roof, against the readers who share it."""

    def asked(name: str, many: int) -> Compared:
        return compare(model, [name], batch=many, context=context)[0]

    mine, marks = asked(machine, batch), list[Mark]()
    for index, name in enumerate((page.OWN, machine)):
        rows = [(many, asked(name, many)) for many in BATCHES]
        points = [(n, 1e3 * r.roof.si) for n, r in rows if r.roof is not None]
        if points:
            xs, ys = zip(*points, strict=True)
            on = rows[0][1].machine.on
            marks.append(line(xs, ys, name, "predicted", series=index, device=on))
    said = []
    if mine.roof is not None:
        marks.append(here(batch, 1e3 * mine.roof.si, "yours"))
        said = [readout("roof", "A token, at the roof", mine.roof, unit="ms")]
        for name, words, found in (
            ("joules", "Energy of a token", mine.joules),
            ("dollars", "A million tokens", mine.dollars),
        ):
            said += [readout(name, words, found)] if found is not None else []
    name = models.get(model).name
    fits = mine.fits
    waits = f"{mine.binds} binds" if fits else "it does not fit"
    return chart(
        f"{name} on {machine}: {waits}.",
        x=axis("Readers at once", log=True, limits=[0.9, 600]),
        y=axis("A token (ms)", log=True, limits=[0.005, 1000]),
        marks=marks,
        readouts=said,
        message=None if fits else mine.sum,
        about={"device": mine.machine.on, "feasible": fits},
    )
