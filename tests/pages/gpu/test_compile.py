"""The compiler's figures: nothing lost on the way, names where they belong."""

import pytest

from stacklib import gpu
from stacklib.gpu.code.compiled import TARGETS, kernels
from stacklib.pages.gpu.compile import figures as compiling
from stacklib.plots import figure
from stacklib.plots.spec import SpecError, check


@pytest.mark.rows("kernel", kernels())
def test_cells_add_up_to_the_code(kernel):
    spec = compiling.class_spec(kernel, title="Counts.")
    [mark] = spec["marks"]
    for column, target in enumerate(TARGETS):
        shown = [
            int(t) for x, t in zip(mark["x"], mark["texts"], strict=True) if x == column
        ]
        assert sum(shown) == len(gpu.compiled(kernel, target).sass.useful)


def test_rows_hold_every_instruction():
    made = gpu.compiled("twice", "sm_90")
    rows = compiling.line_rows(made)
    assert sum(bool(r["PTX"]) for r in rows) == len(made.ptx.code)
    assert sum(bool(r["SASS"]) for r in rows) == len(made.sass.useful)


def test_names_stand_at_the_ticks():
    spec = compiling.class_spec("twice", title="Counts.")
    drawn = figure(spec, name="names", alt="A grid.")
    assert all(target in drawn.svg for target in TARGETS)
    assert "shared memory" not in drawn.svg  # the kernel has none
    spec["y"]["names"] = spec["y"]["names"][:-1]
    with pytest.raises(SpecError, match=r"axis y: . names for . ticks"):
        check(spec)
