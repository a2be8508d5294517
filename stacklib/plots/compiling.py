"""One kernel on its way through the compiler: source, PTX and machine code."""

from __future__ import annotations

from typing import Any

from stacklib.gpu import Compiled, compiled
from stacklib.gpu.code.compiled import TARGETS
from stacklib.gpu.code.sass import CLASSES

__all__ = ["class_spec", "line_rows", "time_spec"]


def line_rows(made: Compiled) -> list[dict[str, str]]:
    """What each source line became: a row a line, first come first.

    Parameters
    ----------
    made : Compiled
        The kernel.
    """
    rows = []
    for number, text in enumerate(made.source.splitlines(), 1):
        ptx = [at.text for at in made.ptx.code if at.source_line == number]
        code = [at.text for at in made.sass.of_line(number)]
        for k in range(max(len(ptx), len(code))):
            rows.append({
                "CUDA": text.strip() if k == 0 else "",
                "PTX": ptx[k] if k < len(ptx) else "",
                "SASS": code[k] if k < len(code) else "",
            })  # fmt: skip
    return rows


def class_spec(kernel: str, *, title: str) -> dict[str, Any]:
    """Spec of a grid: a row a class of machine instructions, a column a target.

    Parameters
    ----------
    kernel : str
        Its name.
    title : str
        Sentence that says what is seen.
    """
    counts = [compiled(kernel, t).sass.groups() for t in TARGETS]
    names = [name for name in CLASSES if any(c[name] for c in counts)]
    cells = [(x, y, c[name]) for y, name in enumerate(names)
             for x, c in enumerate(counts) if c[name]]  # fmt: skip
    most = max(n for _, _, n in cells)
    mark = {
        "kind": "cells", "evidence": "measured", "name": "instructions", "series": 0,
        "x": [x for x, _, _ in cells], "y": [y for _, y, _ in cells],
        "shades": [0.1 + 0.3 * n / most for _, _, n in cells],
        "texts": [str(n) for _, _, n in cells], "label_at": "none",
    }  # fmt: skip
    return {
        "title": title,
        "x": {"label": "Target", "ticks": list(range(len(TARGETS))),
              "names": list(TARGETS), "limits": [-0.6, len(TARGETS) - 0.4]},
        "y": {"label": "Class of instruction", "ticks": list(range(len(names))),
              "names": names, "limits": [len(names) - 0.4, -0.6]},
        "marks": [mark],
    }  # fmt: skip


def time_spec(
    told: list[dict[str, Any]], measured: list[dict[str, Any]], title: str
) -> dict[str, Any]:
    """Spec of compile times by size: the predicted line, the measured dots.

    Parameters
    ----------
    told, measured : list of dict
        Rows of ``benchmarks/jit_time.py`` with ``instructions`` and ``predicted_s``,
        or ``median_s`` and ``own_s``.
    title : str
        Sentence that says what is seen.
    """
    sizes = [row["instructions"] for row in measured]
    return {
        "title": title,
        "x": {"label": "PTX instructions", "scale": "log"},
        "y": {"label": "Time (ms)", "scale": "log"},
        "marks": [
            {"kind": "line", "evidence": "predicted", "name": "predicted",
             "x": sizes, "y": [1e3 * row["predicted_s"] for row in told[: len(sizes)]]},
            {"kind": "dots", "evidence": "measured", "name": "the process",
             "x": sizes, "y": [1e3 * row["median_s"] for row in measured]},
            {"kind": "dots", "evidence": "measured", "name": "the kernel alone",
             "x": sizes, "y": [1e3 * row["own_s"] for row in measured]},
        ],
    }  # fmt: skip
