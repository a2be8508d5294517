"""Section 7.7: bits of a cache, who shares a scale, and the page's loop."""

import json
import random
from functools import partial

import numpy as np
import pytest

from stacklib import models
from stacklib.pages.quantizers import kv as page
from stacklib.pages.quantizers.kv import drawings, figures, live
from stacklib.plots import spec as grammar
from stacklib.quantizers import quantize
from stacklib.tinylm.quantized_kv import bits_of, measured_kv, rounded

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("07-quantizers/kv")
readouts = partial(ask, live.explore, live.controls())


def test_the_loop_rounds_as_the_package_does():
    printed = [float(one.split()[-1]) for one in loop.prints().splitlines()]
    draw = random.Random(7).gauss
    means = [0, 9, -1, 1, 0, -6, 2, 0] * 4
    keys = np.array([[m + draw(0, 1) for m in means] for _ in range(32)], np.float32)
    for axis, mine in zip(("token", "channel"), printed, strict=True):
        off = rounded(keys, 2, axis) - keys
        assert mine == pytest.approx((off**2).mean() ** 0.5, abs=0.012)
    assert printed[0] > 2 * printed[1]
    means = "[0, 9, -1, 1, 0, -6, 2, 0] * 4"
    alike = loop.prints(means, "[0] * 32").split()[2::3]
    assert float(alike[0]) == pytest.approx(float(alike[1]), rel=0.05)


@pytest.mark.rows("bits", page.WIDTHS)
def test_bits_of_a_number_are_those_of_the_measurement(bits):
    assert page.stored_bits(bits).si == bits_of(bits)


def test_a_page_has_the_bytes_of_a_packed_scheme():
    """q4_1 has a least number and a step in fp16 for 32 codes of four bits."""
    model = models.get(page.MODEL)
    heads, size = (model.size(n, n).si for n in ("kv_heads", "head_dim"))
    layers = int(model.size("layers", "layers").si)
    one = quantize(np.zeros((16, 2, int(heads), int(size)), np.float32), "q4_1").nbytes
    assert page.cached(16, 4).si == one * layers


@pytest.mark.parametrize("context", [page.SHORT, page.LONG])
@pytest.mark.rows("bits", page.WIDTHS)
def test_a_step_reads_its_cache_and_every_weight(bits, context):
    """All but the embedding, and the new token's keys and values."""
    model = models.get(page.MODEL)
    weights = 2 * (model.parameters.si - model.vocab * model.hidden)
    cache = (context + 1) * page.cached(1, bits).si
    step = page.step(context, bits)
    assert step.bytes.si == pytest.approx(weights + cache)
    assert page.share(context, bits).si == pytest.approx(cache / (weights + cache))
    assert page.cache_time(context, bits).si == pytest.approx(
        step.time.si * cache / (weights + cache)
    )


def test_what_does_not_fit_has_no_time():
    full, said = readouts(bits=16, context=131_072, batch=16)
    assert "do not fit" in full["message"] and "step" not in said


def test_keys_have_means_where_sharing_by_channel_helps():
    for layer in range(1, 5):
        gain = page.off("keys", "token", 2, layer) / page.off(
            "keys", "channel", 2, layer
        )
        assert (gain > 1.5) == (page.own_mean("keys", layer) > 0.2)
        assert page.own_mean("values", layer) < 0.12


def test_the_figure_shows_every_run_of_equal_widths():
    spec = figures.losses_spec(title="A cache.")
    grammar.check(spec)
    shown = {
        (m["name"], x): y
        for m in spec["marks"]
        for x, y in zip(m["x"], m["y"], strict=True)
    }
    runs = [r for r in measured_kv() if r.key_bits == r.value_bits]
    assert len(shown) == len(runs)
    names = {axes: way for way, axes in page.WAYS.items()}
    for run in runs:
        way = names[run.key_axis, run.value_axis]
        assert shown[way, run.bits] == run.loss.value


def test_the_live_cache_says_what_the_page_computes():
    spec, said = readouts(bits=4, context=131_072, batch=1)
    assert said["share"] == page.share(131_072, 4).text("%")
    assert said["stored"] == "5 bits" and not spec.get("message")
    assert said["step"] == page.step(131_072, 4).time.text("ms")


def test_a_smaller_cache_saves_less_energy_than_bytes():
    kept = page.stored_bits(4) / page.stored_bits(16)
    fewer = page.share(page.LONG, 16) * (1 - kept)
    for account in ("circuit", "board"):
        assert 0.9 * fewer.si < page.energy_saved(4, account).si < fewer.si


def test_the_drawing_has_a_scale_for_every_channel_and_token():
    found = drawings.a_page_of_the_cache()
    assert "tokens that wait" in found.alt
    said = json.dumps(found.entry, default=str) + found.html
    assert "5 bits" in said and "32 tokens" in found.alt
