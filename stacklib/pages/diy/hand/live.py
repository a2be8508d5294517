"""A model on a small machine, live: tokens a second against the tokens cached."""

from __future__ import annotations

from typing import Any

from stacklib import hardware, models
from stacklib.diy import hand
from stacklib.pages.diy import hand as page
from stacklib.plots.live import choices
from stacklib.plots.live.parts import here
from stacklib.plots.marks import Mark, Spec, axis, chart, line
from stacklib.plots.spec import readout
from stacklib.roofline.work.fit import Infeasible

MODELS = ("llama-3.2-3b", page.MODEL, "qwen2.5-7b", "qwen3-14b", page.LARGE)
FORMATS = {"q4_k_m": "q4_k", "q8_0": "q8_0", "fp16": "fp16"}  # most numbers are in
CONTEXTS = (0, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)


def controls() -> list[dict[str, Any]]:
    """Machine and mode, model, format, and tokens cached."""
    machines = [[f"{page.JETSON}:{m}", f"Orin Nano, {m}"] for m in reversed(page.MODES)]
    machines += [[on, hardware.get(on).short] for on in page.OTHERS]
    names = [[key, models.get(key).name] for key in MODELS]
    return [
        choices.select("on", "Machine", machines, machines[0][0]),
        choices.select("model", "Model", names, page.MODEL),
        choices.select("dtype", "Weights", [[f, f.upper()] for f in FORMATS], "q4_k_m"),
        choices.slider("context", "Tokens cached", CONTEXTS, page.CONTEXT),
    ]


def explore(*, on: str, model: str, dtype: str, context: int) -> Spec:
    """Tokens a second over the cache, and whether it fits."""
    key, _, mode = on.partition(":")
    found, why = dict[int, hand.Held](), ""
    for tokens in CONTEXTS:
        try:
            found[tokens] = hand.held(model, key, dtype, tokens, mode or None)
        except Infeasible as sum_:
            why = str(sum_) if tokens == context else why
    device, called = hardware.get(key).short, models.get(model).name
    marks, said = list[Mark](), list[dict[str, Any]]()
    if found:
        xs = [max(tokens, 128) for tokens in found]
        ends = {"ceiling": "bytes over bandwidth", "rate": "engine"}
        for name, words in ends.items():
            ys = [getattr(each, name).si for each in found.values()]
            marks.append(line(xs, ys, words, "predicted"))
    if not why:
        mine = found[context]
        marks.append(here(max(context, 128), mine.rate.si, "yours"))
        said = [
            readout("rate", "Tokens a second", mine.rate),
            readout("ceiling", "Ceiling", mine.ceiling),
            readout("left", "Memory left over", mine.left, unit="GB"),
        ]
        if mine.joules is not None:
            said.append(readout("joules", "A token", mine.joules, unit="J/token"))
    title = f"{called} on {device}: " + ("it fits." if not why else "it does not fit.")
    return chart(
        title,
        x=axis("Tokens cached", log=True, limits=[100, 40_000]),
        y=axis("Tokens a second", log=True, limits=[0.5, 400]),
        marks=marks,
        readouts=said,
        message=why or None,
        about={
            "device": key,
            "chips": 1,
            "batch": 1,
            "model": model,
            "dtype": FORMATS[dtype],
            "feasible": not why,
        },
    )
