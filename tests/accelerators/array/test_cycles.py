"""Closed forms of arrays against SCALE-Sim's figures and its limits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.accelerators import cycles, sram_reads, utilisation
from stacklib.quantity import UnknownName

from ...rows import refusals

# SCALE-Sim 3.0.0, layers of its ResNet-18 topology: M, N, K; then last cycle and per
# cent of use for os and ws on 32 x 32, for os, ws and is on 128 x 128.
LAYERS = """
12100 64 147 158421 70.2 121939 91.2 38094 18.2 24963 27.8 84739 8.2
2916 64 576 117391 89.4 108359 96.9 19089 34.4 16489 39.8 51289 12.8
784 128 576 63799 88.5 63215 89.3 5809 60.7 5829 60.5 17849 19.8
676 128 1152 106831 91.1 110879 87.8 8435 72.1 9521 63.9 27539 22.1
841 128 64 13607 49.4 7479 90.0 2225 18.9 1222 34.4 3569 11.8
196 256 1152 67983 83.0 83519 67.6 5623 62.7 10403 33.9 11483 30.7
144 256 2304 94639 87.6 137087 60.5 10231 50.7 18935 27.4 22967 22.6
225 256 128 12159 59.2 10207 70.5 1527 29.5 1213 37.1 1275 35.3
49 512 2304 75711 74.6 164735 34.3 10231 34.5 31031 11.4 16091 21.9
25 512 4608 74719 77.1 274175 21.0 19447 18.5 58607 6.1 32183 11.2
64 512 256 10175 80.5 20223 40.5 2039 25.1 3567 14.4 1787 28.7
1 1000 512 18367 2.7 48639 1.0 6127 0.5 12255 0.3 5527 0.6
"""
SETUPS = ((32, "os"), (32, "ws"), (128, "os"), (128, "ws"), (128, "is"))
sizes = st.integers(1, 300)
product = st.fixed_dictionaries(
    dict.fromkeys(("m", "n", "k", "rows", "cols"), sizes)
    | {"dataflow": st.sampled_from(["os", "ws", "is"])}
)


@pytest.mark.rows("line", LAYERS.split("\n")[1:-1])
def test_layers_of_resnet_18_are_those_of_scale_sim(line: str):
    m, n, k, *rest = line.split()
    shape = {"m": int(m), "n": int(n), "k": int(k)}
    for at, (side, dataflow) in enumerate(SETUPS):
        array = {"rows": side, "cols": side, "dataflow": dataflow}
        assert cycles(**shape, **array) == int(rest[2 * at])
        percent = 100 * utilisation(**shape, **array)
        assert percent == pytest.approx(float(rest[2 * at + 1]), abs=0.05)


@settings(deadline=None, max_examples=60)
@given(product, st.booleans())
def test_an_array_is_used_in_part_and_overlap_only_helps(shape, overlap):
    assert 0 < utilisation(**shape, overlap=overlap) <= 1
    assert cycles(**shape, overlap=True) <= cycles(**shape)
    doubled = shape | {"m": 2 * shape["m"]}
    assert cycles(**doubled, overlap=overlap) >= cycles(**shape, overlap=overlap)
    reads = sram_reads(**shape, overlap=overlap)
    assert reads.activations >= shape["m"] * shape["k"]
    assert reads.weights >= shape["k"] * shape["n"]


@settings(deadline=None, max_examples=40)
@given(product)
def test_weights_and_activations_change_places_with_the_product_transposed(shape):
    ws = shape | {"dataflow": "ws"}
    turned = shape | {"m": shape["n"], "n": shape["m"], "dataflow": "is"}
    assert cycles(**ws) == cycles(**turned)
    assert sram_reads(**ws) == sram_reads(**turned)[::-1]


def test_one_multiplier_is_never_used_more_than_wholly():
    one = {"m": 1, "n": 1, "k": 1, "rows": 1, "cols": 1}
    assert (cycles(**one), utilisation(**one)) == (0, 1.0)


fine = {"m": 4, "n": 4, "k": 4, "rows": 2, "cols": 2}
test_sizes_that_are_none = refusals(
    ({"rows": 0}, "rows = 0"),
    ({"m": -1}, "m = -1"),
    ({"k": 2.5}, "k = 2.5"),
    ({"n": True}, "n = True"),
    ({"cols": float("nan")}, "cols = nan"),
    ({"k": "4"}, "k = '4'"),
    ({"overlap": "no"}, "overlap = 'no': True or False"),
    by=lambda wrong: cycles(**(fine | wrong)),
)
test_other_dataflows = refusals(
    ({"dataflow": "rs"}, "ws, os, is|is, os, ws"),
    ({"dataflow": ""}, "ws, os, is|is, os, ws"),
    ({"dataflow": ["ws"]}, "ws, os, is|is, os, ws"),
    by=lambda wrong: utilisation(**(fine | wrong)),
    error=UnknownName,
)
