"""Profile training steps of the book's small model: who has the time, by operator.

    python -m stacklib.pages.kernels.choose.profile_torch

writes `profile.json` beside this file: self times of the fastest of some steps on one
thread.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from stacklib import hardware
from stacklib.roofline.host.measure import read_machine
from stacklib.tinylm import train_torch as training
from stacklib.tinylm.config import DATA, read_config
from stacklib.tinylm.model_torch import Decoder
from stacklib.tinylm.recipes import RECIPES

OUT = Path(__file__).with_name("profile.json")
CORES = 2  # of the machine, of which one works
WARM, STEPS, LEAST = 2, 8, 0.0005  # rows below this share are added up
# What an operator does, by what its name holds; the first that fits.
PARTS = {
    "attention": ("scaled_dot_product",),
    "products": ("aten::mm", "bmm", "addmm", "matmul"),
    "loss": ("softmax", "nll_loss", "cross_entropy"),
    "norms": ("rms_norm", "native_layer_norm"),
    "optimizer": ("adam", "_foreach", "addcmul", "lerp"),
    "copies": ("copy_", "cat", "clone", "contiguous", "_to_copy", "slice_backward"),
    "embedding": ("embedding", "index"),
}


def part_of(name: str) -> str:
    """The part of a step that an operator belongs to."""
    lower = name.lower()
    fits = (part for part, words in PARTS.items() if any(w in lower for w in words))
    return next(fits, "elementwise")


def record(name: str = "tiny") -> dict[str, Any]:
    """Profile some steps with random tokens."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    recipe, config = RECIPES[name], read_config(DATA / name / "config.json")
    model = Decoder(config)
    optimizers = training.optimizers_of(model, recipe)
    shape = (recipe.batch, recipe.tokens + 1)

    held: dict[str, Any] = {}

    def forward() -> None:
        ids = torch.randint(config.vocab_size, shape)
        logits = model(ids[:, :-1])
        held["loss"] = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

    def backward() -> None:
        held["loss"].backward()

    def update() -> None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), training.CLIP)
        for optimizer in optimizers:
            optimizer.step()
        model.zero_grad()

    phases: dict[str, Callable[[], None]] = {
        "forward": forward,
        "backward": backward,
        "optimizer": update,
    }
    for _ in range(WARM):
        for phase in phases.values():
            phase()
    fastest, spent = float("inf"), {}
    for _ in range(STEPS):
        wall, mine = 0.0, {}
        for name_, phase in phases.items():
            with profile(activities=[ProfilerActivity.CPU]) as seen:
                began = time.perf_counter()
                phase()
                wall += time.perf_counter() - began
            for event in seen.key_averages():
                self_s = event.self_cpu_time_total / 1e6
                mine[name_, event.key] = (event.count, self_s)
        if wall < fastest:
            fastest, spent = wall, mine
    whole = sum(time_ for _, time_ in spent.values())
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for (phase_, key), (calls, self_s) in spent.items():
        small = self_s < LEAST * whole
        op = "all others" if small else key.removeprefix("aten::")
        row = {"phase": phase_, "part": part_of(key), "op": op}
        into = rows.setdefault(tuple(row.values()), row | {"calls": 0, "self_s": 0.0})
        into["calls"] += calls
        into["self_s"] += self_s
    found = sorted(rows.values(), key=lambda row: -row["self_s"])
    for row in found:
        row["self_s"] = round(row["self_s"], 6)
    here = hardware.get("this_machine")
    return {
        "model": name,
        "batch": recipe.batch,
        "tokens": recipe.tokens,
        "device": read_machine().text(),
        "torch": torch.__version__.partition("+")[0],
        "threads": 1,
        "peak": here.peak("fp32").si / CORES,
        "bandwidth": here.memory_bandwidth.si / CORES,
        "steps": STEPS,
        "date": datetime.date.today().isoformat(),
        "wall_s": round(fastest, 5),
        "rows": found,
    }


if __name__ == "__main__":
    OUT.write_text(json.dumps(record(), indent=1) + "\n", encoding="utf-8")
