"""Short trainings in few bits, their curves stored for section 7.8.

    python benchmarks/train_formats.py fp8    # 24 runs -> data/low_precision/fp8.json
    python benchmarks/train_formats.py qat    # 9 runs  -> qat.json
    python benchmarks/train_formats.py qlora  # 3 runs  -> qlora.json

One thread, three seeds each, under ten minutes in all. The text is the book's own
corpus, so a Python whose text was read before is needed (`corpus.accepted`). What a
run is held against stands beside it: fp32 and bf16 from the same first weights; the
same model rounded after its training, and trained on without rounding; the model
before its weights were NF4.
"""

import argparse
import datetime
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from stacklib.sweep import progress  # noqa: E402
from stacklib.tinylm import corpus, load  # noqa: E402
from stacklib.tinylm.low_precision.fp8_training_torch import RUNS, train_short  # noqa: E402
from stacklib.tinylm.low_precision.qat_torch import ptq, qat  # noqa: E402
from stacklib.tinylm.low_precision.runs import CURVES, MEAN_OVER  # noqa: E402
from stacklib.tinylm.perplexity import bits_per_byte, difference, score  # noqa: E402
from stacklib.tinylm.recipes import Recipe, probe_places  # noqa: E402
from stacklib.tinylm.train_torch import batch_at, token_stream  # noqa: E402

SEEDS = (0, 1, 2)
FP8 = {"steps": 200, "batch": 4, "tokens": 128}
QAT = {"steps": 200, "batch": 4, "tokens": 256}
# Bits, and of two or three learning rates the best for the first seed, on the text that
# is reported; the control has the rate of four bits.
WIDTHS: dict[str, tuple[int | None, float]] = {
    "control": (None, 3e-4),
    "int4": (4, 3e-4),
    "int2": (2, 3e-3),
}
QLORA = {"model": "tiny", "steps": 100, "rank": 8, "batch": 4, "tokens": 128}
DIGITS = 6


def short(found: Any) -> Any:
    """Numbers with as many digits as are worth storing."""
    if isinstance(found, float):
        return found if found.is_integer() else float(f"{found:.{DIGITS}g}")
    if isinstance(found, dict):
        return {key: short(value) for key, value in found.items()}
    return [short(x) for x in found] if isinstance(found, list | tuple) else found


def store(name: str, folder: Path, began: float, **found: Any) -> None:
    """Write an experiment with the conditions it ran under."""
    head = {
        "seconds": time.process_time() - began,
        "threads": torch.get_num_threads(),
        "torch": torch.__version__.split("+")[0],
        "python": sys.version.split()[0],
        "date": datetime.date.today().isoformat(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(short({**head, **found}), indent=1) + "\n")
    print(f"wrote {path.name}: {head['seconds']:.0f} CPU s")


def texts() -> tuple[Any, Any, str]:
    """Training ids, held-out ids, and the corpus's digest."""
    documents = corpus.corpus()
    kept = token_stream([d for d in documents if not d.is_held_out])
    unseen = token_stream([d for d in documents if d.is_held_out])
    return kept, unseen, corpus.digest(documents)


def fp8(folder: Path) -> None:
    """The draft's architecture from its first weights, in eight ways."""
    stream, unseen, digest = texts()
    began = time.process_time()
    probe = torch.from_numpy(unseen[probe_places(len(unseen), FP8["tokens"])])
    runs: dict[str, dict[str, Any]] = {name: {"seeds": []} for name in RUNS}
    for seed in progress(SEEDS, len(SEEDS), "fp8"):
        recipe = Recipe(**FP8, seed=seed)
        batches = [batch_at(stream, recipe, step) for step in range(recipe.steps)]
        reference = None
        for name, precision in RUNS.items():
            found = train_short(
                precision, batches, probe, seed=seed, reference=reference
            )
            weights = found.pop("weights")
            reference = weights if reference is None else reference
            runs[name]["step"] = found.pop("step")
            runs[name]["seeds"].append(found)
            print(name, seed, found["held_out"][-1], flush=True)
    about = {"settings": {**FP8, "mean_over": MEAN_OVER}, "corpus": digest}
    store("fp8", folder, began, **about, runs=runs)


def qat_runs(folder: Path) -> None:
    """The draft at four and two bits: rounded after training, and while it goes on."""
    stream, _, digest = texts()
    began = time.process_time()
    held, model = corpus.evaluation_text(), load("draft")
    plain = score(model, held, model.tokenizer)
    runs: dict[str, dict[str, Any]] = {name: {"seeds": []} for name in WIDTHS}
    after: dict[str, Any] = {}
    for seed in progress(SEEDS, len(SEEDS), "qat"):
        recipe = Recipe(**QAT, seed=seed)
        batches = [batch_at(stream, recipe, step) for step in range(recipe.steps)]
        for name, (bits, rate) in WIDTHS.items():
            found, end = qat(model, batches, held, bits=bits, rate=rate)
            runs[name]["step"] = found.pop("step")
            if bits is None:  # what the same steps are worth without the rounding
                found["then"] = {
                    width: bits_per_byte(
                        score(ptq(end, each), held, model.tokenizer)
                    ).value
                    for width, (each, _) in WIDTHS.items()
                    if each
                }
            runs[name]["seeds"].append(found)
            print(name, seed, found["bits_per_byte"], flush=True)
    for name, (bits, _) in WIDTHS.items():
        once = score(ptq(model, bits), held, model.tokenizer) if bits else plain
        more = difference(once, plain)
        after[name] = {
            "bits_per_byte": list(_three(bits_per_byte(once))),
            "more_than_fp32": list(_three(more)),
        }
    settings = {**QAT, "widths": {n: list(w) for n, w in WIDTHS.items()}}
    about = {"model": "draft", "settings": settings, "corpus": digest}
    store("qat", folder, began, **about, ptq=after, runs=runs)


def _three(found: Any) -> tuple[float, float, float]:
    return found.value, found.low, found.high


def qlora_runs(folder: Path) -> None:
    """Adapters on the tiny model in NF4, taught code."""
    from stacklib.tinylm.qlora_torch import code, qlora

    began = time.process_time()
    documents = code()
    runs = []
    for seed in progress(SEEDS, len(SEEDS), "qlora"):
        found = qlora(**QLORA, seed=seed, documents=documents).told()
        runs.append(found)
        print(seed, found["bits_per_byte"], found["less"], flush=True)
    whole = "".join(f"{d.name}\n{d.text}" for d in documents)
    about = {"settings": QLORA, "text": hashlib.sha256(whole.encode()).hexdigest()}
    store("qlora", folder, began, **about, seeds=runs)


PHASES = {"fp8": fp8, "qat": qat_runs, "qlora": qlora_runs}


def main(arguments: list[str] | None = None) -> int:
    """One of the experiments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("phase", choices=PHASES)
    parser.add_argument("--folder", type=Path, default=CURVES)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    PHASES[options.phase](options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
