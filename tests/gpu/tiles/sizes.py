"""The launches whose compiled sizes stand in ``compiled.csv``."""

import ast
from dataclasses import replace
from typing import Any

import cases
import numpy as np

DEVICES = {
    "80": "a100-80gb-sxm",
    "89": "rtx-4090",
    "90": "h100-sxm",
    "100": "b200-sxm",
    "120": "rtx-5090",
}


def words_of(row: dict[str, str]) -> dict[str, Any]:
    """The row's block sizes."""
    pairs = (part.split("=") for part in row["sizes"].split())
    return {name: ast.literal_eval(value) if value else "" for name, value in pairs}


def case_of(row: dict[str, str]) -> cases.Case:
    """The launch of a row; one program where all do the same."""
    name, words = row["program"], words_of(row)
    if name == "flash_attention":
        block = (words["BLOCK_M"], words["BLOCK_N"])
        return cases.attention(0, 1, 1024, 64, block, words["CAUSAL"])
    if name.startswith("matmul"):
        blocks = tuple(words[f"BLOCK_{axis}"] for axis in "MNK")
        more = {n: v for n, v in words.items() if not n.startswith("BLOCK")}
        dtype = np.float32 if name == "matmul" else np.float16
        made = cases.product(name, 512, 512, 512, blocks, dtype, **more)
        return replace(made, grid=tuple(1 for _ in made.grid))
    columns = 1024 if name == "rms_norm" else 1000
    small = [*cases.lines(0, 65536, 1024)[:1], *cases.rows(0, 4, columns)[:3]]
    found = [c for c in (*small, *cases.all_cases()) if c.program == name]
    return next(c for c in found if c.words == words)
