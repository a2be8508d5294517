"""Train the book's models: one script, the same result from the same seed.

    python -m stacklib.tinylm.train_torch tiny         # half an hour on two cores
    python -m stacklib.tinylm.train_torch draft        # distilled from the tiny model
    python -m stacklib.tinylm.train_torch draft_plain  # the same size, from text alone

Each writes `runs/NAME/`: weights, config, and `training.json` with the learning curve.
A run that was stopped goes on where its last checkpoint was (`--resume`), and ends
with the weights it would have had.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from stacklib.sweep import progress

from . import corpus
from .config import DATA, read_config, shapes
from .model_torch import Decoder
from .muon_torch import Muon
from .recipes import RECIPES, Recipe, pace, places_at, probe_places
from .tokenizer import load_tokenizer
from .weights import from_bf16, read_weights, to_bf16, write_weights

RUNS = Path("runs")


THREADS = 2  # sums are split by thread: another number gives other last digits
CLIP = 1.0
EVERY = 200  # steps between checkpoints and between held-out measurements


def token_stream(documents: list[corpus.Document]) -> np.ndarray:
    """All documents' ids one after the other, each closed by the end id."""
    tokenizer = load_tokenizer()
    ids: list[int] = []
    for document in documents:
        ids += [*tokenizer.encode(document.text), tokenizer.end]
    return np.array(ids, dtype=np.int64)


def batch_at(stream: np.ndarray, recipe: Recipe, step: int) -> Tensor:
    """Sequences of step ``step``, (batch, tokens + 1)."""
    return torch.from_numpy(stream[places_at(len(stream), recipe, step)])


def set_rates(
    optimizers: list[torch.optim.Optimizer], recipe: Recipe, step: int
) -> None:
    """Give each optimizer its learning rate of this step."""
    highest = (recipe.matrix_rate, recipe.rate)
    for optimizer, rate in zip(optimizers, highest, strict=True):
        optimizer.param_groups[0]["lr"] = rate * pace(recipe, step)


def text_loss(logits: Tensor, ids: Tensor) -> Tensor:
    """Mean nats by which the next ids surprise."""
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def teacher_loss(logits: Tensor, taught: Tensor) -> Tensor:
    """Mean nats of KL(teacher, student) over the next-token distributions.

    Hinton et al. (2015), at temperature 1: the draft is to be accepted, not to be
    right, and acceptance is the overlap of the two distributions.
    """
    student = F.log_softmax(logits, -1).flatten(0, 1)
    teacher = F.log_softmax(taught, -1).flatten(0, 1)
    return F.kl_div(student, teacher, reduction="batchmean", log_target=True)


@torch.no_grad()
def held_out_loss(model: Decoder, sequences: Tensor, batch: int) -> float:
    """Mean nats a token over fixed held-out sequences."""
    parts = [text_loss(model(s[:, :-1]), s).item() for s in sequences.split(batch)]
    return sum(parts) / len(parts)


def optimizers_of(model: Decoder, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for embedding and gains."""
    named = list(model.weights.items())
    blocks = [p for name, p in named if p.dim() == 2 and "layers" in name]
    others = [p for name, p in named if p.dim() == 1 or "layers" not in name]
    return [
        Muon(blocks, lr=recipe.matrix_rate, weight_decay=recipe.decay),
        torch.optim.AdamW(
            others, lr=recipe.rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True
        ),
    ]


def train(
    name: str,
    out: Path,
    *,
    recipe: Recipe,
    resume: bool,
    teacher: Path | None,
    every: int = EVERY,
) -> dict[str, Any]:
    """Run a recipe to its end; gives what `training.json` holds."""
    config = read_config(DATA / name / "config.json")
    documents = corpus.corpus()
    stream = token_stream([d for d in documents if not d.is_held_out])
    unseen = token_stream([d for d in documents if d.is_held_out])
    probe = torch.from_numpy(unseen[probe_places(len(unseen), recipe.tokens)])
    torch.manual_seed(recipe.seed)
    model = Decoder(config)
    optimizers = optimizers_of(model, recipe)
    taught_by = load_teacher(recipe.teacher, teacher)
    first, curve, spent = 0, [], 0.0
    kept = out / "checkpoint.pt"
    if resume and kept.exists():
        state = torch.load(kept, weights_only=True)
        if state["recipe"] != asdict(recipe):
            raise SystemExit(f"{kept} was written by another recipe: {state['recipe']}")
        model.load_state_dict(state["model"])
        for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        first, curve, spent = state["step"], state["curve"], state["seconds"]
    started = time.perf_counter() - spent
    recent: list[float] = []
    for step in progress(range(first, recipe.steps), recipe.steps - first, name):
        set_rates(optimizers, recipe, step)
        ids = batch_at(stream, recipe, step)
        logits = model(ids[:, :-1])
        if taught_by is None:
            loss = text_loss(logits, ids)
        else:
            loss = teacher_loss(logits, taught_by(ids[:, :-1]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        for optimizer in optimizers:
            optimizer.step()
        model.zero_grad()
        recent.append(loss.item())
        if (step + 1) % every == 0 or step + 1 == recipe.steps:
            curve.append(
                {
                    "step": step + 1,
                    "tokens": (step + 1) * recipe.batch * recipe.tokens,
                    "loss": sum(recent) / len(recent),
                    "held_out": held_out_loss(model, probe, recipe.batch),
                    "seconds": time.perf_counter() - started,
                }
            )
            recent = []
            print(json.dumps(curve[-1]), flush=True)
            save_checkpoint(kept, model, optimizers, step + 1, curve, recipe)
    seconds = time.perf_counter() - started
    rounded = {n: from_bf16(to_bf16(w.numpy())) for n, w in model.named().items()}
    write_weights(out, rounded)
    shutil.copy(DATA / name / "config.json", out / "config.json")
    return {
        "model": name,
        "recipe": asdict(recipe),
        "parameters": sum(w.size for w in rounded.values()),
        "corpus": corpus.digest(documents),
        "training_tokens": len(stream),
        "held_out_tokens": len(unseen),
        "threads": THREADS,
        "torch": torch.__version__.split("+")[0],
        "python": sys.version.split()[0],
        "date": datetime.date.today().isoformat(),
        "seconds": seconds,
        "curve": curve,
    }


def load_teacher(name: str, folder: Path | None) -> Callable[[Tensor], Tensor] | None:
    """The teacher's logits as a function of ids; none for an empty name."""
    if not name:
        return None
    where = folder or DATA / name
    config = read_config(where / "config.json")
    teacher = Decoder(config)
    teacher.assign(read_weights(where, shapes(config)))
    return torch.no_grad()(teacher)


def save_checkpoint(
    path: Path,
    model: Decoder,
    optimizers: list[torch.optim.Optimizer],
    step: int,
    curve: list[dict[str, float]],
    recipe: Recipe,
) -> None:
    """Everything to go on from, moved into place whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {
        "model": model.state_dict(),
        "optimizers": [each.state_dict() for each in optimizers],
        "step": step,
        "curve": curve,
        "seconds": curve[-1]["seconds"],
        "recipe": asdict(recipe),
    }
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").replace(path)


def main(argv: list[str] | None = None) -> int:
    """Read the command line, train, write the run."""
    parser = argparse.ArgumentParser(
        prog="python -m stacklib.tinylm.train_torch",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=RECIPES)
    parser.add_argument("--out", type=Path, help="folder of the run (runs/NAME)")
    parser.add_argument("--resume", action="store_true", help="from its checkpoint")
    parser.add_argument("--steps", type=int, help="another number of updates")
    parser.add_argument("--teacher", type=Path, help="a teacher's run, not the book's")
    parser.add_argument("--every", type=int, default=EVERY, help="steps a checkpoint")
    options = parser.parse_args(argv)
    out = options.out or RUNS / options.name
    if (out / "checkpoint.pt").exists() and not options.resume:
        parser.error(f"{out} holds a run: --resume goes on with it, --out starts anew")
    if (out / "training.json").exists():
        parser.error(f"{out} holds a finished run: choose another --out")
    steps = RECIPES[options.name].steps if options.steps is None else options.steps
    if steps < 1 or options.every < 1:
        parser.error(f"--steps {steps} --every {options.every}: at least 1 is needed")
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    recipe = replace(RECIPES[options.name], steps=steps)
    result = train(
        options.name,
        out,
        recipe=recipe,
        resume=options.resume,
        teacher=options.teacher,
        every=options.every,
    )
    (out / "training.json").write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
