"""Rows of hexadecimal codes as arrays, and the operands of a case."""

import json
from pathlib import Path

import numpy as np

from stacklib.gpu.tensor.scaled import Operand
from stacklib.quantizers import Format

KINDS = json.loads((Path(__file__).parent / "mma_sim_kinds.json").read_text())
DIGITS = {"tf32": 8, "fp32": 8, "fp16": 4, "bf16": 4}  # TF32 lies in a word of FP32


def codes(rows, form):
    digits = DIGITS.get(form, 2)
    return np.array(
        [
            [int(row[i : i + digits], 16) for i in range(0, len(row), digits)]
            for row in rows
        ]
    )


def values(rows, form):
    """Numbers of a case in float64."""
    if form in ("tf32", "fp32"):
        return codes(rows, form).astype(np.uint32).view(np.float32).astype(float)
    return Format(form).decode(codes(rows, form)).astype(float)


def operand(case, side):
    """An operand of ``scaled.multiply``; TF32 without its last thirteen bits."""
    form = case[f"{side}_form"]
    bits = codes(case[side], form) >> (13 if form == "tf32" else 0)
    scales = codes(case[f"s{side}"], "e8m0") if "scale" in case else None
    return Operand(bits, form, scales, case.get("scale", "e8m0"))
