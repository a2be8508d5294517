"""Predict FlashAttention on devices that nobody has measured yet.

    python benchmarks/predict_attention_next.py

Writes predictions/attention_next.json: FA-4's rule of overlap with the unit rates of
Rubin and of MI455X, which unit binds and what each trick is worth, and beside them the
same table on the devices of FA-2 to FA-4. To be scored when rates are published; the
date is that of the commit. What an earlier model foretold stays beside it, in the file
that ``former`` names, and is scored as well.
"""

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from stacklib.kernels.schedule import generations  # noqa: E402

PATH = HERE / "predictions" / "attention_next.json"
# A vendor may double a unit's exponentials, as Blackwell Ultra did: both are foretold.
CASES = [
    (device, dtype, times)
    for device in ("rubin", "mi455x")
    for dtype in ("bf16", "fp8")
    for times in (1.0, 2.0)
]


def digits(value: float) -> float:
    """Four significant digits."""
    return float(f"{value:.4g}")


def coming(device: str, dtype: str, times: float) -> dict[str, Any]:
    """One device and format, with its tricks."""
    found = generations.next_generation(device, dtype, exp_times=times)
    peak = found.rate / found.utilisation
    return {
        "device": found.device,
        "dtype": dtype,
        "head_dim": 128,
        "exponentials": f"{times:g} times one for eight FP32 lanes",
        "utilisation": digits(found.utilisation),
        "utilisation_if_short_of_power_as_b200": digits(found.low),
        "flop_per_s": [digits(found.low * peak), digits(found.rate)],
        "software_exponentials": found.software_exp,
        "binds": found.binds,
        "tricks": {
            trick.name: {"times": digits(trick.gain), "binds_without": trick.binds}
            for trick in found.tricks
        },
        "assumed": list(found.assumed),
    }


def known(name: str) -> dict[str, Any]:
    """A published generation by the same table."""
    found = generations.generation(name)
    return {
        "device": found.device,
        "utilisation": digits(found.utilisation),
        "published": digits(found.published),
        "binds": found.binds,
        "source": found.rule.source,
    }


def forecast() -> dict[str, Any]:
    """The whole prediction file as data."""
    return {
        "kind": "attention_next",
        "model": "FA-4's rule of kernels.schedule.rules, the schedule of "
        "attention_time; unit rates of the device; issue and power of matrix products",
        "made": "2026-12-01",
        "former": "attention_next_2026-11-29.json",
        "score": "published forward BF16 or FP8 rate, long sequences, head size 128, "
        "over the dense peak; inside flop_per_s, or how far beyond",
        "known": {name: known(name) for name in generations.RULES},
        "coming": [coming(*case) for case in CASES],
    }


if __name__ == "__main__":
    PATH.write_text(json.dumps(forecast(), indent=1) + "\n", encoding="utf-8")
    print(PATH)
