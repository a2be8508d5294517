"""Four bets on other machines: foretold, then run.

    python benchmarks/frontier.py predict  # -> predictions/frontier.json; commit it
    python benchmarks/frontier.py measure  # -> results/frontier.json (a minute)

An analog product under the tiny model, a product inside the memory, spikes against
multiply-adds, and chips that pay for their design. What was foretold is committed
before anything is run; misses stay.
"""

import argparse
import math
from typing import Any

import host_common
import numpy as np

from stacklib.cost.spans import span
from stacklib.frontier import analog, asic, in_dram, spikes
from stacklib.quantity import Quantity
from stacklib.quantity.constants import case
from stacklib.quantizers import dequantize, quantize
from stacklib.roofline.host import measure as host
from stacklib.tinylm import load
from stacklib.tinylm.corpus import evaluation_text
from stacklib.tinylm.perplexity import bits_per_byte, difference, score

BITS, BREAKS = (10, 8, 7, 6, 5, 4, 3), 0.05  # more bits a byte, of what there were
# Not foretold: a wider range was tried when the foretold one proved too narrow.
WIDER, NOISES = (8.0, 16.0), (0.01, 0.02, 0.05, 0.1)
ROWS, SEEDS = case("bitline"), (0, 1, 2, 3, 4)
MEASURED = ("int4_g128", 0.025124)  # a scheme, and the bits a byte that it cost
MATRIX = (8192, 8192)
# Dollars: a design of a leading process, an own chip, the GPU that it replaces twice.
ASIC = ((200e6, 500e6), (5e3, 15e3), (25e3, 40e3), 0.5)


def usd(ends: tuple[float, float]) -> Any:
    """Two ends in dollars."""
    return span(*(Quantity(end, "USD") for end in ends))


def format_error() -> float:
    """What the measured scheme loses of the model's matrices, by root mean square."""
    lost = total = 0.0
    for name, weight in load().weights.items():
        if weight.ndim == 2 and "embed" not in name:
            back = dequantize(quantize(weight, MEASURED[0]))
            lost += float(((back - weight) ** 2).sum())
            total += float((weight**2).sum())
    return math.sqrt(lost / total)


def predict() -> None:
    """Closed forms, before anything is run."""
    error = format_error()
    plain = 1.315029
    rows: list[dict[str, Any]] = []
    for adc in BITS:
        cost = analog.loss_foretold(adc, MEASURED[1], error)
        rows.append(
            {"id": f"adc-{adc}", "share_lost": analog.lost(adc), "bits_a_byte": cost}
        )
    costs = {adc: analog.loss_foretold(adc, MEASURED[1], error) for adc in BITS}
    broken = max(adc for adc, cost in costs.items() if cost > BREAKS * plain)
    rows.append({"id": "analog-breaks", "adc": broken, "format_error": error})
    rows.append({"id": "in-memory", "loses_from": in_dram.napkin()})
    # Levels of four bits by sixteen steps; 22 of 100 inputs fire.
    each = 16 * 0.22
    rows.append(
        {"id": "spiking", "steps": 16, "additions_each": each, "joules": each / 3}
    )
    design, chip, gpu, work = ASIC
    middle = math.sqrt(design[0] * design[1]) + math.sqrt(15e6 * 40e6)
    saved = math.sqrt(gpu[0] * gpu[1]) * work - math.sqrt(chip[0] * chip[1])
    rows.append({"id": "asic", "volume": middle / saved})
    about = {"kind": "frontier", "model": "closed forms of stacklib.frontier"}
    host_common.foretell(host_common.HERE, "frontier", about, rows)


def run_analog() -> list[dict[str, Any]]:
    """Bits a byte of the tiny model by converter, with intervals, and with noise."""
    model, texts = load(), evaluation_text()
    plain = score(model, texts, model.tokenizer)
    base = bits_per_byte(plain)
    rows = [{"id": "plain", "bits_a_byte": [base.value, base.low, base.high]}]
    cases = [(adc, reach, 0.0) for reach in (analog.REACH, *WIDER) for adc in BITS]
    cases += [(8, WIDER[-1], noise) for noise in NOISES]
    lost = {}
    for adc, reach, noise in cases:
        changed = analog.in_analog(model, 8, noise, adc, rows=ROWS, reach=reach)
        off = difference(score(changed, texts, model.tokenizer), plain)
        name = f"adc-{adc}-reach-{reach:g}" + (f"-noise-{noise:g}" if noise else "")
        rows.append({"id": name, "loss": [off.value, off.low, off.high]})
        lost[adc, reach, noise] = off.value
        print(rows[-1], flush=True)
    for reach in (analog.REACH, *WIDER):
        broken = [a for a in BITS if lost[a, reach, 0.0] > BREAKS * base.value]
        name = "analog-breaks" + (f"-reach-{reach:g}" if reach != analog.REACH else "")
        rows.append({"id": name, "adc": max(broken, default=0)})
    return rows


def run_spiking() -> list[dict[str, Any]]:
    """Both networks by seed."""
    rows = []
    for seed in SEEDS:
        found = spikes.spiking(seed)
        rows.append(
            {
                "id": f"spiking-{seed}",
                "plain": found.plain,
                "within": found.within,
                "steps": found.equal,
                "additions_each": found.each,
                "joules": found.joules,
                "accuracy": found.accuracy,
                "additions": found.additions,
            }
        )
        print(rows[-1], flush=True)
    return rows


def measure() -> None:
    """Run all four; refuse before the prediction is committed."""
    predicted = host_common.HERE / "predictions" / "frontier.json"
    if not host_common.may_measure(predicted):
        raise SystemExit(2)
    watch = host.Watch()
    rows = [*run_analog(), *run_spiking()]
    loses = in_dram.loses_from(*MATRIX)
    gain = in_dram.counted_gain(2 * math.prod(MATRIX))
    rows.append({"id": "in-memory", "loses_from": loses, "counted_gain": gain})
    design, chip, gpu, work = ASIC
    volumes = asic.drawn(usd(design), usd(chip), usd(gpu), work=work, draws=20_000)
    told = {f"p{p}": volumes[int(p / 100 * len(volumes))] for p in (5, 50, 95)}
    never = float(np.mean(np.isinf(volumes)))
    told = {key: value for key, value in told.items() if math.isfinite(value)}
    rows.append({"id": "asic", **told, "never": never})
    print(rows[-2:], flush=True)
    result = host_common.head("frontier", predicted, watch)
    host_common.save(host_common.HERE, "frontier", {**result, "rows": rows})


def main() -> None:
    """One of two commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("predict", "measure"))
    {"predict": predict, "measure": measure}[parser.parse_args().what]()


if __name__ == "__main__":
    main()
