"""A network in whole numbers on an FPGA: bit for bit, and cycle by cycle."""

import importlib.util
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import diy
from stacklib.accelerators.rtl.gates import by_gates
from stacklib.accelerators.rtl.stepped import by_steps
from stacklib.diy.silicon import glyphs
from stacklib.diy.silicon.devices import FAMILIES, KEYS, device, per_place, weigh
from stacklib.diy.silicon.fixed import Convolution, Network, rounded, run, run_many
from stacklib.diy.silicon.frame import on_arrays
from stacklib.diy.silicon.pipeline import Engine, choices, fastest, room, tile_cycles
from stacklib.pages.figures_of import rows
from stacklib.roofline.work.fit import Infeasible

ROWS = {row["id"]: row for row in rows("silicon")}


def drawn(pick: random.Random, count: int, *sizes: int):
    each = drawn if sizes else lambda pick: pick.randint(-128, 127)
    return tuple(each(pick, *sizes) for _ in range(count))


def network(pick: random.Random) -> Network:
    """Two or three layers of any size that chain."""
    shape = (pick.randint(1, 3), pick.randint(5, 9), pick.randint(5, 9))
    layers, here = [], shape
    for last in [False] * pick.randint(1, 2) + [True]:
        out, high, wide = pick.randint(1, 4), *(pick.randint(1, n) for n in here[1:])
        kernels = drawn(pick, out, here[0], high, wide)
        pool = pick.randint(1, 1 if last else min(here[1] - high, here[2] - wide) + 1)
        shift = pick.randint(0, 12)
        layers.append(Convolution(kernels, drawn(pick, out), shift, pool, last))
        here = layers[-1].output(here)
    return Network("drawn", shape, tuple(layers))


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_loops_and_arrays_agree_in_every_bit(seed):
    pick = random.Random(seed)
    made = network(pick)
    images = [drawn(pick, *made.shape) for _ in range(2)]
    told = run_many(made, np.array(images))
    for n, image in enumerate(images):
        for ours, theirs in zip(run(made, image), told, strict=True):
            assert ours == theirs[n].tolist()


def test_rounding_is_half_up_and_cut_off():
    assert [rounded(t, 2) for t in (-6, -5, -2, 1, 2, 5, 6)] == [-1, -1, 0, 0, 1, 1, 2]
    assert (rounded(10**6, 3), rounded(-(10**6), 3), rounded(7, 0)) == (127, -128, 7)


EDGES = (
    ((-1, -1, -1), (2, 2, 2), (-1, -1, -1)),
    ((-1, 2, -1), (-1, 2, -1), (-1, 2, -1)),
    ((2, -1, -1), (-1, 2, -1), (-1, -1, 2)),
    ((-1, -1, 2), (-1, 2, -1), (2, -1, -1)),
)
MAPS = 8  # of the second layer
TRAINED, SEED = 4000, 1


def fit():
    """The network, its last layer by least squares on four thousand digits."""
    pick = random.Random(SEED)
    strokes = [pick.choice((-3, -1, 0, 1, 3)) for _ in range(MAPS * len(EDGES) * 9)]
    layers = (
        Convolution(tuple((edge,) for edge in EDGES), (0,) * 4, 2, 2),
        Convolution(np.reshape(strokes, (MAPS, -1, 3, 3)).tolist(), (0,) * MAPS, 4),
    )
    images, digits = glyphs.glyphs(TRAINED, SEED)
    features = run_many(Network("fit", (1, 12, 12), layers), images)[-1]
    flat = features.reshape(TRAINED, -1).astype(float)
    columns = np.hstack([flat, np.full((TRAINED, 1), 64.0)])
    wanted = 2.0 * np.eye(10)[digits] - 1
    square = columns.T @ columns + 1e3 * np.eye(columns.shape[1])
    found = np.linalg.solve(square, columns.T @ wanted)
    found *= 127 / np.abs(found[:-1]).max()
    rounded = np.rint(found[:-1]).astype(int).T
    kernels = rounded.reshape(10, *features.shape[1:]).tolist()
    bias = np.rint(found[-1] * 64.0).astype(int).tolist()
    last = Convolution(kernels, bias, last=True)
    return Network("fit", (1, 12, 12), (*layers, last))


def test_the_kept_network_is_what_the_fit_returns_and_it_reads():
    kept = diy.small_cnn()
    fitted = fit()
    for one, other in zip(kept.layers, fitted.layers, strict=True):
        # A BLAS may round a weight of the last layer to its neighbour.
        assert np.abs(np.subtract(one.kernels, other.kernels)).max() <= 1
    images, digits = glyphs.glyphs(600, 7)
    answers = run_many(kept, images)[-1].reshape(600, 10).argmax(1)
    assert (answers == digits).mean() > 0.97


def faulty(a, b):
    """The gates, with a bit of every sum held low."""
    for cycle in by_gates(a, b):
        sums = tuple(tuple(s & ~4 for s in row) for row in cycle.sums)
        yield type(cycle)(cycle.number, cycle.a, cycle.b, sums)


def test_a_frame_through_the_arrays_on_four_models_and_a_broken_one():
    kept = diy.small_cnn()
    image = glyphs.glyphs(1, 5)[0][0]
    right = run(kept, image)
    design = diy.fpga(kept, "up5k")
    told = tuple(engine.cycles for engine in design.engines)
    assert (design.interval, design.latency) == (max(told), sum(told))
    frame = on_arrays(kept, design.engines, image)
    assert list(frame.layers) == right and frame.cycles == told
    small = Network("last", kept.shapes()[2], kept.layers[2:])
    for by in (by_gates, by_steps, faulty):
        frame = on_arrays(small, design.engines[2:], right[1], by)
        assert (list(frame.layers) == right[2:]) is (by is not faulty)
        assert frame.cycles == told[2:]
    # The whole frame in Amaranth's simulator and as gates is in the stored result.
    for name in ("frame-gates", "frame-amaranth"):
        assert ROWS[name]["equal"] and tuple(ROWS[name]["cycles"]) == told


@pytest.mark.skipif(not importlib.util.find_spec("amaranth"), reason="no amaranth")
def test_a_tile_in_amaranth_takes_the_cycles_of_the_formula():
    from stacklib.accelerators.rtl.run_amaranth import by_amaranth

    pick = random.Random(2)
    for high, depth, wide in ((2, 9, 4), (3, 5, 1)):
        a, b = drawn(pick, high, depth), drawn(pick, depth, wide)
        (told,) = by_amaranth([(a, b)], high, wide)
        assert len(told) + 1 == tile_cycles(depth, high, wide)
        assert np.array_equal(told[-1].sums, np.array(a) @ np.array(b))


LAYER = st.tuples(st.integers(1, 9), st.integers(1, 6), st.integers(1, 40))


@given(st.lists(LAYER, min_size=1, max_size=3), st.integers(3, 30))
@settings(max_examples=60, deadline=None)
def test_no_other_arrays_are_faster(layers, most):
    """Against every choice of rows and columns for every layer."""
    every = [
        [Engine(*layer, r + 1, c + 1) for r in range(layer[0]) for c in range(layer[1])]
        for layer in layers
    ]

    def places(time):
        fast = ([e.macs for e in of if e.cycles <= time] for of in every)
        return sum(min(macs, default=most + 1) for macs in fast)

    times = {engine.cycles for of in every for engine in of}
    found = fastest(layers, most)
    assert sum(e.macs for e in found) <= most
    assert max(e.cycles for e in found) == min(t for t in times if places(t) <= most)


def test_devices_have_what_synthesis_found():
    for family in FAMILIES:
        for block, kind in ((True, "block"), (False, "tables")):
            assert per_place(family, block).si == ROWS[f"place-{family}-{kind}"]["luts"]
    for key in KEYS:
        of = device(key)
        design = diy.fpga(diy.small_cnn(), key)
        macs = sum(e.macs for e in design.engines)
        assert macs <= room(of) and design.blocks <= of.dsps.si
        assert design.tables <= of.luts.si and 0 < design.used <= 1
        # What blocks can do is never beaten where places stand in blocks only.
        if design.blocks * FAMILIES[of.family] >= macs:
            rate = 2 * sum(diy.small_cnn().products()) * design.frames
            assert rate <= of.ceiling.si
    # The tool knows no time of a multiplier block; the data sheet does.
    assert ROWS["up5k-block"]["megahertz"] > device("up5k").clock.si / 1e6


def test_more_multipliers_end_where_a_layer_has_one_place_a_sum():
    frames = [diy.fpga(diy.small_cnn(), key) for key in ("up5k", "zynq_7020", "u55c")]
    assert frames[0].interval > frames[1].interval > frames[2].interval
    last = diy.fpga(diy.small_cnn(), "k26")
    assert last.interval == frames[2].interval == tile_cycles(9, 100, 4)
    assert diy.fpga(diy.small_cnn(), "k26", clock=150e6).frames == last.frames / 2
    told = last.quantities()
    assert told["frames"].si == pytest.approx(last.frames)
    assert told["time"].si == pytest.approx(last.latency / last.clock.si)


def test_a_card_has_more_of_everything_but_a_board_nearly_its_bytes():
    fight = weigh("u50")
    assert fight.rate.si > 50 and 1 < fight.bytes.si < 1.5
    assert fight.same_speed() == 54 and weigh("k26").bytes is None
    assert 8 < fight.money.si < 10 > weigh("u50", by_hls=True).money.si
    assert fight.board.weeks.si == 10 * fight.card.weeks.si


ONE = ((((1,),),),)  # the kernels of a layer that copies
NAN = float("nan")
REFUSED = [
    ("up5k", lambda net: diy.fpga(net, "up55k")),
    ("clock", lambda net: diy.fpga(net, "up5k", clock=0)),
    ("clock", lambda net: diy.fpga(net, "u50", clock=NAN)),
    ("a Network", lambda net: diy.fpga("glyphs", "up5k")),
    ("200 in weights", lambda net: Convolution(((((200,),),),), (0,))),
    ("several lengths", lambda net: Convolution(((((1, 2), (3,)),),), (0,))),
    ("bias True", lambda net: Convolution(ONE, (True,))),
    ("do not fit 32 bits", lambda net: Convolution(ONE, (2**31,))),
    ("as many chan", lambda net: Network("n", (2, 1, 1), (Convolution(ONE, (0,)),))),
    ("no layers", lambda net: Network("n", (1, 1, 1), ())),
    ("takes", lambda net: run(net, [[[1]]])),
    ("several lengths", lambda net: run(net, [[[1, 2], [3]]])),
    ("rows of numbers", lambda net: run(net, [1, 2])),
    ("nan", lambda net: run(net, [[[NAN] * 12] * 12])),
    ("True", lambda net: run(net, [[[True] * 12] * 12])),
    ("whole numbers", lambda net: run_many(net, np.zeros((1, 1, 12, 12)))),
    ("300", lambda net: run_many(net, np.full((1, 1, 12, 12), 300))),
    ("weeks", lambda net: weigh(weeks=-1)),
]


@pytest.mark.parametrize(("says", "make"), REFUSED)
def test_what_is_refused(says, make):
    with pytest.raises((LookupError, ValueError), match=says):
        make(diy.small_cnn())


def test_what_does_not_fit_says_by_how_much():
    big = Convolution((tuple((((1,) * 64,) * 64) for _ in range(8)),), (0,), last=True)
    with pytest.raises(Infeasible, match="bits of block memory"):
        diy.fpga(Network("wide", (8, 64, 64), (big,)), "up5k")
    one = Convolution(ONE, (0,), shift=1)
    many = Network("deep", (1, 1, 1), (one,) * 40)
    with pytest.raises(Infeasible, match="40 layers need a place each"):
        diy.fpga(many, "hx8k")
    assert len(many.sizes()) == 40 and choices(1, 1, 1)[0].macs == 1


def test_narrow_integers_of_numpy_do_not_run_over():
    kept = diy.small_cnn()
    image = np.full((1, 12, 12), 127, np.int8)
    right = run(kept, image.tolist())
    assert run(kept, image) == right
    assert run_many(kept, image[None])[-1].tolist()[0] == right[-1]
    assert list(on_arrays(kept, diy.fpga(kept, "k26").engines, image).layers) == right
    narrow = Convolution(np.full((1, 1, 3, 3), 100, np.int8), np.array([7], np.int8), 9)
    assert run(Network("n", (1, 3, 3), (narrow,)), image[:, :3, :3]) == [[[[127]]]]
