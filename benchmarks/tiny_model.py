"""The book's own model on this machine: training and inference, predicted, measured.

    python benchmarks/tiny_model.py predict   # from the ceilings -> predictions/
    python -m stacklib.tinylm.train_torch ... # once that is committed: the three runs
    python benchmarks/tiny_model.py measure   # -> results/

The peer is the machine's roofline. Training is timed by the runs whose weights are
committed; a decode step and a prefill are timed here, and so are the bytes that one
training step keeps for its backward pass, with and without recomputation.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import host_common as common
import record

from stacklib.roofline.host import measure as host
from stacklib.tinylm import plan
from stacklib.tinylm.config import Config, read_config
from stacklib.tinylm.decode_step import decode_time, prefill_time
from stacklib.tinylm.recipes import RECIPES

NAME = "tiny_model"
DATA = record.HERE.parent / "stacklib" / "tinylm" / "data"
DECODES = (("tiny", 0), ("tiny", 128), ("tiny", 511), ("draft", 128))
PREFILLS = (("tiny", 64), ("tiny", 512), ("draft", 512))
ROUNDS, WARM_S = 30, 0.2


def config_of(name: str) -> Config:
    """Sizes of one of the book's models."""
    return read_config(DATA / name / "config.json")


def predictions(ceilings: host.HostRoofline) -> list[dict[str, Any]]:
    """A row for each training run, decode step and prefill."""
    rows = []
    for name, recipe in RECIPES.items():
        teacher = config_of(recipe.teacher) if recipe.teacher else None
        steps = plan.step_operations(
            config_of(name), recipe.batch, recipe.tokens, teacher=teacher
        )
        seconds = recipe.steps * plan.step_time(steps, ceilings)
        flops = recipe.steps * sum(s.flops * s.count for s in steps)
        moved = recipe.steps * sum(s.bytes * s.count for s in steps)
        rows.append(_row(f"train-{name}", flops, moved, seconds, steps=recipe.steps))
    for kind, cases, timed in (
        ("decode", DECODES, decode_time),
        ("prefill", PREFILLS, prefill_time),
    ):
        for name, tokens in cases:
            told = timed(config_of(name), tokens, ceilings)
            work = (told.operations.si, told.bytes.si, told.time.si)
            rows.append(
                _row(f"{kind}-{name}-{tokens}", *work, model=name, tokens=tokens)
            )
    return rows


def _row(
    name: str, flops: float, moved: float, s: float, **more: Any
) -> dict[str, Any]:
    counts = {"operations": round(flops), "bytes": round(moved)}
    return {"id": name, **more, **counts, "predicted_s": float(f"{s:.6g}")}


def memory() -> dict[str, dict[str, int]]:
    """Bytes of one training step of each size, as counted."""
    told = {}
    for name in ("tiny", "draft"):
        recipe = RECIPES[name]
        m = plan.training_memory(config_of(name), recipe.batch, recipe.tokens)
        told[name] = {"activations": m.activations, "recomputed": m.recomputed}
    return told


def predict(folder: Path) -> None:
    """Write every prediction; the same roofline gives the same bytes."""
    rows = predictions(common.stored(folder))
    head: dict[str, Any] = {
        "kind": NAME,
        "device": common.stored(folder).device,
        "model": "training: sum over operations of max(operations / peak, bytes / "
        "triad bandwidth); inference: the products, and each NumPy call's overhead",
        "roofline": record.stamp(folder / "results" / common.ROOFLINE),
        "memory": memory(),
    }
    common.foretell(folder, NAME, head, rows)


def kept_bytes(name: str, *, recompute: bool) -> int:
    """Bytes that a step of a model keeps for its backward pass, counted by torch.

    With recomputation the most is held either at the end of the forward pass, or
    when the loss has been let go and the last block has run again.
    """
    import torch

    from stacklib.tinylm.model_torch import Decoder
    from stacklib.tinylm.train_torch import text_loss

    recipe = RECIPES[name]
    model = Decoder(config_of(name), recompute=recompute)
    ids = torch.zeros((recipe.batch, recipe.tokens + 1), dtype=torch.long)
    whole = saved_by(model, lambda: text_loss(model(ids[:, :-1]), ids))
    if not recompute:
        return whole
    x = torch.zeros(recipe.batch, recipe.tokens, model.config.hidden_size)
    x.requires_grad_()
    top = saved_by(model, lambda: text_loss(model.logits(x), ids))
    return max(whole, whole - top + saved_by(model, lambda: model.block(x, 0)))


def saved_by(model: Any, run: Callable[[], Any]) -> int:
    """Bytes of the storages that autograd keeps of a call, weights not counted."""
    import torch

    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, Any] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage  # held, so that no address comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = run()
    del result
    return sum(found.nbytes() for at, found in kept.items() if at not in weights)


def trained(name: str) -> list[float]:
    """Seconds of the run whose weights are committed."""
    run = json.loads((DATA / name / "training.json").read_text(encoding="utf-8"))
    return [run["seconds"]]


def timed_pass(kind: str, name: str, tokens: int) -> list[float]:
    """Seconds of a pass, one a round."""
    import numpy

    from stacklib.tinylm import KVCache, load

    model = load(name)
    ids = numpy.random.default_rng(0).integers(0, model.config.vocab_size - 1, tokens)
    cache = KVCache(model.config)
    if kind == "decode" and tokens:
        model.logits(ids, cache)
    step = ids[-1:] if kind == "decode" and tokens else numpy.zeros(1, int)
    times, began = [], time.perf_counter()
    while len(times) < ROUNDS or time.perf_counter() - began < WARM_S:
        start = time.perf_counter()
        model.logits(step if kind == "decode" else ids, cache, last_only=False)
        times.append(time.perf_counter() - start)
        cache.truncate(tokens if kind == "decode" else 0)
    return times[-ROUNDS:]


@common.measures(NAME)
def measure(forecast: dict[str, Any]) -> dict[str, Any]:
    """Collect the runs, time the passes, count the bytes."""
    rows = []
    for told in forecast["rows"]:
        kind, name = told["id"].split("-")[:2]
        if kind == "train":
            times = trained(told["id"].removeprefix("train-"))
        else:
            times = timed_pass(kind, name, told["tokens"])
        row = {k: v for k, v in told.items() if k in ("id", "model", "tokens", "steps")}
        rows.append({**row, "times_s": times})
        ratio = told["predicted_s"] / median(times)
        print(f"{told['id']:20} predicted / measured {ratio:.2f}")
    counted = {
        name: {
            "activations": kept_bytes(name, recompute=False),
            "recomputed": kept_bytes(name, recompute=True),
        }
        for name in forecast["memory"]
    }
    for name, found in counted.items():
        print(name, found, forecast["memory"][name])
    return {"memory": counted, "rows": rows}


if __name__ == "__main__":
    sys.exit(common.command(__doc__ or "", predict, measure))
