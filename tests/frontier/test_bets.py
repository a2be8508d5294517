"""Four bets on other machines: closed forms, counts, and what was foretold."""

import json
import math

import numpy as np
import pytest
from _tools import tree
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.cost.spans import span
from stacklib.frontier import analog, asic, in_dram, spikes
from stacklib.quantity import Quantity, UnknownName, quoted
from stacklib.roofline.work.fit import Infeasible

FOLDER = tree.ROOT / "benchmarks"
TOLD = {
    r["id"]: r
    for r in json.loads((FOLDER / "predictions/frontier.json").read_text())["rows"]
}
FOUND = {
    r["id"]: r
    for r in json.loads((FOLDER / "results/frontier.json").read_text())["rows"]
}


def usd(low: float, high: float | None = None):
    """Dollars, or a span of them."""
    return span(Quantity(low, "USD"), Quantity(low if high is None else high, "USD"))


# -- analog ------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.integers(1, 9), st.integers(1, 5), st.integers(0, 99))
def test_many_bits_give_the_product_of_whole_numbers(out, columns, tokens, seed):
    """With nothing lost in cells or converter, sums of levels times codes remain."""
    random = np.random.default_rng(seed)
    w = random.integers(-127, 128, (out, columns)).astype(float)
    w[:, 0] = 127
    x = random.integers(-127, 128, (tokens, columns)).astype(float)
    x[:, 0] = -127
    bar = analog.analog_matmul(w, adc=24, rows=3, reach=64)
    assert bar(x) == pytest.approx(x @ w.T, abs=2.0)
    assert bar.conversions == out * -(-columns // 3)
    assert (x @ bar.T == bar(x)).all()


@pytest.mark.parametrize("adc", [4, 5, 6, 8])
@pytest.mark.parametrize("reach", [4.0, 8.0])
def test_a_converter_loses_what_the_formula_says(adc, reach):
    """Of random numbers: reach / (sqrt 3 x 2^adc) of a product."""
    random = np.random.default_rng(1)
    w, x = random.standard_normal((64, 512)), random.standard_normal((200, 512))
    bar = analog.analog_matmul(w, bits=16, adc=adc, reach=reach)
    best = analog.analog_matmul(w, bits=16, adc=24, reach=reach)
    off = math.sqrt(((bar(x) - best(x)) ** 2).mean() / (best(x) ** 2).mean())
    assert off == pytest.approx(analog.lost(adc, reach), rel=0.08)


def test_noise_adds_as_it_should():
    """A cell is off by noise x its largest level, whatever stands in it."""
    random = np.random.default_rng(2)
    w, x = random.standard_normal((32, 1024)), random.standard_normal((100, 1024))
    off = analog.analog_matmul(w, noise=0.05, adc=24, seed=3)(x) - x @ w.T
    wanted = 0.05 * np.abs(w).max(axis=1) * math.sqrt(1024)
    assert off.std(axis=0) == pytest.approx(wanted, rel=0.3)


def test_where_a_converter_pays():
    """Twice the rows, one bit more; the digital product is dearer until there."""
    assert analog.worth(512) == analog.worth(256) + 1
    bits = analog.worth(256)
    assert analog.product_energy(bits, 256) <= analog.digital_energy()
    assert analog.product_energy(bits + 1, 256) > analog.digital_energy()


@pytest.mark.parametrize(
    "bad",
    [
        {"weights": np.ones(3)},
        {"weights": np.full((2, 2), np.nan)},
        {"weights": np.zeros((0, 3))},
        {"weights": np.full((2, 2), 1e300)},
        {"weights": np.eye(2) * 1j},
        {"weights": None},
        {"bits": 1},
        {"adc": 0},
        {"adc": 1},
        {"adc": 99},
        {"noise": -1.0},
        {"noise": float("inf")},
        {"noise": 1e300},
        {"reach": 0.0},
        {"reach": 1e-300},
        {"reach": 1e300},
        {"rows": True},
    ],
)
def test_bad_cells_are_refused(bad):
    """By their values."""
    with pytest.raises(ValueError):
        analog.analog_matmul(**{"weights": np.eye(2), **bad})


def test_bad_inputs_of_a_product_are_refused():
    """Of another length, or no numbers."""
    bar = analog.analog_matmul(np.eye(2))
    for bad in ([1.0, 2.0, 3.0], 3.0):
        with pytest.raises(ValueError, match="vectors of 2 are read"):
            bar(bad)
    for bad in ([1.0, float("nan")], [1.0, 1e300], [1.0, 1j], "ab"):
        with pytest.raises(ValueError, match="inputs"):
            bar(bad)


def test_a_vector_feels_no_other():
    """Nor a narrow whole number, a half-width float, nothing at all, or a zero."""
    random = np.random.default_rng(4)
    w, x = random.standard_normal((5, 300)), random.standard_normal((3, 300))
    x[1] *= x[1] > 1  # a sparse one beside full ones
    bar = analog.analog_matmul(w, adc=4, rows=np.int8(100))
    assert bar(x) == pytest.approx(np.stack([bar(one) for one in x]), rel=1e-4)
    assert bar.conversions == 15
    narrow = analog.analog_matmul(w, np.uint8(8), 0, np.uint8(4), rows=100)
    assert (narrow(x) == bar(x)).all()
    half, whole = analog.analog_matmul(np.float16(w)), analog.analog_matmul(w)
    assert half(np.float16(x)) == pytest.approx(whole(x), abs=1.0)
    assert bar(np.zeros((0, 300))).shape == (0, 5)
    assert (bar(-np.zeros(300)) == 0).all()
    assert (analog.analog_matmul(np.zeros((2, 300)), noise=0.1)(x) != 0).any()


def test_a_model_runs_in_analog_cells():
    """Good converters change little; three bits change much: on one short text."""
    from stacklib.tinylm import load

    model = load("draft")
    ids = np.arange(24) * 7 % 400
    plain = model.logits(ids)
    off = [
        np.abs(analog.in_analog(model, adc=adc, reach=16).logits(ids) - plain).mean()
        for adc in (12, 4)
    ]
    assert off[0] < 0.1 * plain.std() and off[1] > 4 * off[0]


def test_what_was_foretold_of_the_converter():
    """Rounding was foretold within a factor of two; too short a range was not."""
    assert TOLD["analog-breaks"]["adc"] == 3
    assert FOUND["analog-breaks"]["adc"] == 10
    assert FOUND["analog-breaks-reach-8"]["adc"] == 4
    # Twice the range is one bit: the formula one bit further holds there.
    ratio = FOUND["adc-4-reach-8"]["loss"][0] / TOLD["adc-3"]["bits_a_byte"]
    assert 0.5 < ratio < 2


# -- in memory ---------------------------------------------------------------------


def test_memory_that_multiplies_wins_alone_and_loses_in_a_batch():
    """From the batch on that the gain says; foretold by the banks alone."""
    gain = in_dram.gain().si
    assert 1 < gain < in_dram.banks_gain().si == 4
    loses = in_dram.loses_from(8192, 8192)
    assert loses == math.ceil(gain) == FOUND["in-memory"]["loses_from"]
    assert TOLD["in-memory"]["loses_from"] == in_dram.napkin() == loses
    times = [in_dram.in_memory(4096, 4096, b).times.si for b in (1, 2, 4, 8, 64)]
    assert times == sorted(times, reverse=True) and times[0] == pytest.approx(
        gain, 3e-3
    )


def test_the_gain_is_counted_by_walking_the_rows():
    """Large matrices reach the closed form; small ones do not fill the banks."""
    assert in_dram.counted_gain(2**27) == pytest.approx(in_dram.gain().si, rel=1e-6)
    assert in_dram.counted_gain(32 * 1024) < 1
    # The vendor's simulator counts changes of mode and writes of inputs as well.
    ran = quoted("pim_simulator.one").si
    assert ran < in_dram.gain().si < 1.2 * ran
    assert quoted("pim_simulator.three").si == pytest.approx(ran / 3, rel=0.02)


def test_reading_inside_saves_energy_until_it_is_repeated():
    """One vector takes the row's energy alone; many take it each time."""
    one, many = (in_dram.in_memory(4096, 4096, b) for b in (1, 64))
    assert one.inside_energy < one.outside_energy
    assert many.inside_energy > many.outside_energy
    assert many.outside_energy.si == one.outside_energy.si


def test_bad_matrices_are_refused():
    """Sizes, devices and formats."""
    for bad in ((0, 4, 1), (4, -1, 1), (4, 4, 0), (4, 4, True)):
        with pytest.raises(ValueError):
            in_dram.in_memory(*bad)
    with pytest.raises(UnknownName, match="h100"):
        in_dram.in_memory(4, 4, on="h10")
    for bad in ((10**30, 10**30, 1), (8192, 8192, 10**30)):
        with pytest.raises(Infeasible, match="holds 80 GB"):
            in_dram.in_memory(*bad)
    small, narrow = (in_dram.in_memory(*[kind(100)] * 3) for kind in (int, np.int8))
    assert small.times.si == narrow.times.si
    with pytest.raises(ValueError, match="most = 0"):
        in_dram.loses_from(8192, 8192, most=0)
    with pytest.raises(ValueError, match="inside wins up to a batch of 2"):
        in_dram.loses_from(8192, 8192, most=2)


# -- spikes ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one():
    """One seed, few images."""
    return spikes.spiking(1, tests=300, steps=(1, 4, 16))


def test_spikes_are_counted(one):
    """More steps, more spikes, never fewer digits right than by chance."""
    assert one.products == 81 * 64 + 64 * 10
    assert list(one.additions) == sorted(one.additions)
    assert one.plain > 0.9 and one.accuracy[-1] > 0.9 > one.accuracy[0]
    # Inputs fire as often as they are lit, each to all hidden neurons.
    x, _ = spikes.images(300, 3)
    assert one.additions[0] == pytest.approx(x.mean() * 81 * 64, rel=0.05)


def test_what_was_foretold_of_spikes():
    """Half as many steps were enough, and spikes won where they were to lose."""
    runs = [row for name, row in FOUND.items() if name.startswith("spiking-")]
    steps = sorted(row["steps"] for row in runs)
    assert steps[len(steps) // 2] == 8 < TOLD["spiking"]["steps"] == 16
    joules = sorted(row["joules"] for row in runs)
    assert joules[-1] < 1 < TOLD["spiking"]["joules"]


def test_the_network_learns_by_its_gradient():
    """One step of descent against differences of the loss, on a few weights."""
    first, second = spikes.trained(0, 8, epochs=1)
    again, _ = spikes.trained(0, 8, epochs=1)
    assert (first == again).all() and first.shape == (81, 8) and second.shape == (8, 10)


def test_bad_steps_are_refused():
    """They rise, and none is nothing."""
    for bad in ((), (4, 4), (0, 2), (8, 2), (1, 2.5), (1, float("inf")), "12", True):
        with pytest.raises(ValueError):
            spikes.spiking(steps=bad)
    none = spikes.Spiking((1,), (0.2,), (5.0,), 0.9, 10, 0.01)
    assert none.equal is none.each is none.joules is None


# -- chips of one's own ----------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.floats(1e7, 1e9),
    st.floats(1e3, 3e4),
    st.floats(1e3, 6e4),
    st.floats(0.2, 4.0),
)
def test_break_even_by_hand(design, chip, gpu, work):
    """At the volume both ways cost the same; below it GPUs are cheaper."""
    if gpu * work <= chip * 1.001:
        with pytest.raises(Infeasible, match="no volume pays"):
            asic.asic_break_even(
                usd(design), usd(chip), usd(max(1.0, chip / work / 2)), work=work
            )
        return
    told = asic.asic_break_even(usd(design), usd(chip), usd(gpu), work=work)
    low = told.volume.low.si
    assert design + 15e6 + low * chip == pytest.approx(low * work * gpu, rel=1e-6)
    assert told.certain and told.volume.low <= told.volume.high


def test_draws_lie_in_the_span():
    """And where prices overlap, some draws never pay."""
    ends = usd(1e8, 2e8), usd(5e3, 1e4), usd(2e4, 4e4)
    told, drawn = asic.asic_break_even(*ends), asic.drawn(*ends, draws=500)
    assert told.volume.low.si <= drawn[0] and drawn[-1] <= told.volume.high.si
    overlap = asic.asic_break_even(usd(1e8), usd(5e3, 3e4), usd(2e4, 4e4))
    assert not overlap.certain
    assert math.isinf(asic.drawn(usd(1e8), usd(5e3, 3e4), usd(2e4), draws=500)[-1])
    assert asic.of_share([1.0, 2.0, 3.0], 0.5).si == 2
    for volumes, share in (([], 0.5), ([1.0], -1), ([1.0], 2), ([1.0, math.inf], 1)):
        with pytest.raises(ValueError):
            asic.of_share(volumes, share)
    one = asic.drawn(*(Quantity(n, "USD") for n in (1e8, 1e4, 3e4)), draws=3)
    assert 5750 <= one[0] <= one[-1] <= 7000
    with pytest.raises(ValueError):
        asic.asic_break_even(usd(1e8), usd(1e3), usd(1e4), work=-1)
