"""Section 7.4: an error passed on, in two columns, in the loop and in a layer."""

import itertools
import random
from functools import partial

import numpy as np
import pytest

from stacklib.pages.quantizers import weights as page
from stacklib.pages.quantizers.weights import drawings, figures, live
from stacklib.plots import spec as grammar
from stacklib.tinylm.quantized import measured

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("07-quantizers/weights")
readouts = partial(ask, live.explore, live.controls())


def eliminated(w: np.ndarray, h: np.ndarray) -> np.ndarray:
    """GPTQ on whole numbers by the inverse, shrunk as columns are done."""
    left, found = w.astype(float).copy(), np.empty(len(w))
    for i in range(len(w)):
        inverse = np.linalg.inv(h[i:, i:])
        found[i] = np.round(left[i])
        left[i:] += (found[i] - left[i]) * inverse[:, 0] / inverse[0, 0]
    return found


@pytest.mark.parametrize("seed", [2, 3, 5, 8])
def test_the_loop_comes_to_what_elimination_does(
    seed: int, capsys: pytest.CaptureFixture[str]
):
    names: dict[str, object] = {}
    exec(loop().replace("Random(5)", f"Random({seed})"), names)
    h, w = np.array(names["H"]), np.array(names["w"])
    assert np.array_equal(names["moved"], eliminated(w, h))
    plain, passed = (
        float(one.split()[-1]) for one in capsys.readouterr().out.splitlines()
    )
    for said, point in ((plain, names["plain"]), (passed, names["moved"])):
        e = np.array(point) - w
        assert said == pytest.approx(e @ h @ e, abs=0.0006)
    assert passed < plain or seed == 2  # greedy: a row may lose


def test_two_columns_never_lose_and_no_point_of_the_lattice_is_missed():
    draw = random.Random(1)
    won = 0
    for _ in range(300):
        w, c = (draw.uniform(3, 4), draw.uniform(3, 4)), draw.choice([0, 0.3, 0.8])
        both = page.two_columns(w, c, 1.0)
        by_inverse = eliminated(np.array(w), np.array([[1, c], [c, 1]]))
        assert both["gptq"] == by_inverse.tolist()
        assert both["cost"][1] <= both["cost"][0] + 1e-12
        won += both["cost"][1] < both["cost"][0] - 1e-9
        least = min(
            page._cost(w, list(p), c) for p in itertools.product(range(8), repeat=2)
        )
        assert both["cost"][1] >= least - 1e-12
    assert won > 20


def test_the_layer_is_better_and_its_weights_are_worse():
    assert page.weights_off("gptq", page.SCHEME) > page.weights_off(
        "round", page.SCHEME
    )
    assert page.off("gptq", page.SCHEME) < 0.8 * page.off("round", page.SCHEME)
    few = page.off("gptq", page.SCHEME, 8)
    assert few > page.off("round", page.SCHEME)


def test_smoothing_mends_what_outliers_break():
    assert page.smoothed(0.5).si < 0.05 < 0.4 < page.smoothed(None).si


def test_losses_of_models_are_the_stored_ones():
    for row in measured():
        if row.method in page.METHODS:
            assert page.loss(row.scheme, row.method).si == row.loss.value


def test_the_live_ellipse_goes_through_roundings_point():
    _, said = readouts(first=3.4, second=3.45, together=0.8)
    both = page.two_columns((3.4, 3.45), 0.8, 1.0)
    assert float(said["rounding"]) == pytest.approx(both["cost"][0], rel=1e-3)
    for x, y in live.ellipse((3.4, 3.45), 0.8, both["cost"][0]):
        assert page._cost((3.4, 3.45), [x, y], 0.8) == pytest.approx(both["cost"][0])
    assert "nothing" in readouts(together=0.0)[0]["title"]


def test_figure_and_drawings():
    spec = figures.samples_spec(title="Samples.")
    grammar.check(spec)
    assert page.off("gptq").text("%", 3) in drawings.error_to_the_right().html
    assert "softmax" in drawings.formats_of_a_layer().alt
