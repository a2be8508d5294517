"""One model on networks of the same chips; how large a domain its experts want."""

from itertools import product

import pytest

from stacklib import hardware, models
from stacklib.frontier import topology_fit
from stacklib.frontier.fits import SWITCH, link_domain


def hops(shape: tuple[int, ...]) -> float:
    """Mean way between two chips, by walking every pair."""
    places = list(product(*map(range, shape)))
    ways = [
        sum(min((a - b) % n, (b - a) % n) for a, b, n in zip(p, q, shape, strict=True))
        for p in places
        for q in places
        if p != q
    ]
    return sum(ways) / len(ways)


@pytest.mark.parametrize("shape", [(4, 4, 4), (2, 2, 2), (4, 4), (8,)])
def test_experts_pass_through_every_chip_between(shape):
    """Bytes only: what every chip sends, times its way, over all links alike."""
    batch = 4096  # hops count for nothing
    switch, torus = topology_fit(
        "deepseek-v3", (SWITCH, shape), batch=batch, context=1, dtype="fp8"
    )
    least = hops(shape)
    ratio = torus.exchanges / switch.exchanges
    assert least * 0.97 < ratio  # no routing takes less
    if len(set(shape)) == 1 and shape[0] % 2 == 0:
        assert ratio == pytest.approx(least, rel=0.03)


def test_sums_cost_the_same_on_both_and_experts_do_not():
    switch, torus = topology_fit("llama-3-70b", batch=8)
    dense = (torus.exchanges - switch.exchanges) / switch.exchanges
    switch, torus = topology_fit("deepseek-v3", batch=64)
    sparse = (torus.exchanges - switch.exchanges) / switch.exchanges
    assert dense < 0.4 < 1.9 < sparse
    assert torus.step > switch.step and torus.share > 2 * switch.share
    assert switch.rest == torus.rest


def test_a_long_torus_is_worse_than_a_cube():
    cube, long = topology_fit("deepseek-v3", ("4x4x4", "2x2x16"), batch=64)
    assert long.exchanges > 1.5 * cube.exchanges
    assert (cube.machine, cube.chips) == ("torus 4 x 4 x 4", 64)


@pytest.mark.parametrize(
    ("machines", "says"),
    [
        ((), "one torus at the least"),
        ((SWITCH,), "one torus at the least"),
        (((4, 4), (2, 4)), "as many chips"),
        (("4xx4",), "'switch', or a torus"),
        (((0, 4),), "size = 0"),
        (((1, 1),), "two chips or more"),
        (((True, 4),), "size = True"),
    ],
)
def test_machines_that_are_none_are_refused(machines, says):
    with pytest.raises(ValueError, match=says):
        topology_fit("deepseek-v3", machines)


def test_a_domain_by_hand():
    found = link_domain("deepseek-v3", "b200-sxm", context=4096)
    device, model = hardware.get("b200-sxm"), models.get("deepseek-v3")
    assert found.share == pytest.approx(37.6 / 671, rel=0.01)
    rows = device.peak("fp8").si / device.memory_bandwidth.si / 2
    assert found.rows == pytest.approx(rows, rel=0.01)
    assert found.sequences == pytest.approx(found.rows * 256 / 8)
    cache = found.sequences * 4096 * model.kv_bytes_per_token("bf16").si
    need = (found.weights * device.memory_capacity.si + cache) / 180e9
    assert found.chips in (int(need) + 1, int(need / 2) + 1)  # cache of 16 or 8 bits


def test_sparser_models_want_larger_domains_at_one_kind_of_cache():
    """Experts few of which are passed; and a small cache takes much of it back."""
    chips = {
        name: link_domain(name, "h100-sxm", "fp8").chips
        for name in ("llama-3-70b", "mixtral-8x7b-v0.1", "qwen3-235b-a22b")
    }
    assert chips["llama-3-70b"] < chips["mixtral-8x7b-v0.1"] < chips["qwen3-235b-a22b"]
    latent = link_domain("deepseek-v3", "h100-sxm")
    grouped = link_domain("minimax-m2.5", "h100-sxm")
    assert latent.share > grouped.share and latent.chips < grouped.chips
    longer = link_domain("deepseek-v3", "h100-sxm", context=65536)
    assert longer.chips > 8 * latent.chips
