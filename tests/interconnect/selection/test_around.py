"""What decides around the tuner: paths, switches by ranks, networks by name."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.interconnect.selection import constants as c
from stacklib.interconnect.selection.between import NETWORKS
from stacklib.interconnect.selection.machine import fabric, sold_with
from stacklib.interconnect.selection.select import select
from stacklib.interconnect.selection.timed import collective_time
from stacklib.quantity import UnknownName

BOARDS = ("l40s", "l4", "rtx_4090", "a100_pcie_80gb", "rtx_pro_6000_server")
SIZES = [1 << k for k in range(10, 31)]


def bus(device, ranks, size, **more):
    """GB/s on the bus of an all-reduce."""
    found = {k: more.pop(k) for k in ("algorithm", "protocol") if k in more}
    on = fabric(device, ranks, **more)
    return collective_time("all_reduce", size, on, **found).bus / 1e9


@pytest.mark.rows("device", BOARDS)
def test_lines_of_128_bytes_are_not_kept_over_pci_express(device):
    """NCCL: ``typeIntra <= PATH_NVB``; a user who sets LL128 gets it all the same."""
    on = fabric(device, 8)
    for size in SIZES:
        found = collective_time("all_reduce", size, on)
        assert found.protocol != "ll128"
        assert "128 bytes" in found.choice.of("ring", "ll128").refused
    forced = collective_time("all_reduce", 1 << 18, on, protocol="ll128")
    assert forced.protocol == "ll128"
    assert select("all_reduce", 1 << 18, ranks=8, link="pcie").protocol != "ll128"


def test_links_and_ports_that_keep_lines_do_and_others_do_not():
    for device, ranks, network, keeps in (
        ("a100_sxm_80gb", 8, None, True),
        ("a100_pcie_80gb", 2, None, True),  # a bridge of NVLink
        ("h100_sxm", 16, "ib", True),
        ("h100_sxm", 16, "efa", True),
        ("a100_sxm_80gb", 16, "efa", False),
        ("h100_sxm", 16, "tcpxo", False),
        ("h100_sxm", 8, "tcpxo", True),
    ):
        on = fabric(device, ranks, network=network)
        assert on.ll128 is keeps and on.select()["ll128"] is keeps


def test_a_chip_has_the_ports_of_machines_like_it():
    ports = {"t4": "volta", "mi210": "ampere", "m4": "hopper", "tpu_v4": "hopper"}
    assert {one: sold_with(hardware.get(one)) for one in ports} == ports


BY_RANKS = {2: 367.5, 3: 367.5, 4: 367.5, 5: 420, 6: 440, 7: 460, 8: 480}


@pytest.mark.rows("ranks", BY_RANKS)
def test_switches_keep_their_rate_by_ranks(ranks):
    """NVIDIA/nccl issue 1455: 2 to 8 H100 with NCCL_ALGO=NVLS, 4 GiB."""
    found = bus("h100_sxm", ranks, 1 << 32, algorithm="nvls")
    assert found == pytest.approx(BY_RANKS[ranks], rel=0.06)


@pytest.mark.rows("ranks", range(2, 33))
def test_traffic_of_switches_counted(ranks):
    """Each head reads a part of every array through the switch and writes the sum."""
    out, back = [0] * ranks, [0] * ranks  # parts that a GPU's links carry
    for head in range(ranks):
        for gpu in range(ranks):
            out[gpu] += 1  # read by the switch
            back[gpu] += 1  # written to all
        back[head] += 1  # the sum it asked for
        out[head] += 1  # and sends to all
    assert set(out) == set(back) == {ranks + 1}
    on = replace(fabric("h100_sxm", 8), ranks=ranks, local=ranks)
    carried = c.NVLS_SHARE["hopper"] * on.rate
    assert on.switch_rate == pytest.approx(min(carried * ranks / out[0], 16 * 18.75e9))


@pytest.mark.rows(("device", "ranks"), [("h100_sxm", n) for n in range(2, 9)])
def test_rates_of_switches_are_those_that_the_search_finds(device, ranks):
    """A link's rate, with as many channels as GPUs, each twice on its own."""
    on = fabric(device, ranks)
    fits = []
    for speed in c.NVLS_SPEEDS[on.architecture]:
        left = [on.rate / 1e9] * ranks
        for head in range(ranks):
            left = [one - speed * (1 + (at == head)) for at, one in enumerate(left)]
        if min(left) >= 0:
            fits.append(speed)
    assert on.select()["nvls_bandwidth"] == max(fits) * 1e9


# GB/s on the bus as published; sources are with the rows of ``measurements_found.csv``.
PUBLISHED = {
    ("gb200", 72, 1 << 30, ()): 681.17,
    ("gb200", 72, 1 << 32, ()): 839.16,
    ("gb200", 72, 1 << 33, ()): 834.57,
    ("gb300", 4, 1 << 33, ()): 681.03,
    ("gb300", 8, 1 << 33, ()): 838.38,
    ("gb300", 64, 1 << 33, ()): 897.52,
    ("gb200", 144, 1 << 32, ("nodes", 2)): 743.09,
    ("b200_sxm", 8, 1 << 30, ()): 729.25,
    ("b200_sxm", 8, 1 << 34, ()): 845.44,
    ("b200_sxm", 16, 1 << 34, ("network", "roce")): 684.46,
    ("b200_sxm", 32, 1 << 34, ("network", "efa")): 377.0,
    ("h100_sxm", 16, 1 << 33, ()): 466.73,
    ("h100_sxm", 32, 1 << 33, ()): 365.84,
    ("h100_sxm", 1024, 1 << 34, ()): 367.29,
    ("h100_sxm", 16, 1 << 33, ("network", "efa")): 479.28,
    ("h100_sxm", 16, 1 << 33, ("network", "tcpxo")): 338.82,
    ("a100_sxm_80gb", 16, 1 << 30, ("network", "efa")): 76.79,
    ("a100_sxm_80gb", 16, 1 << 33, ("network", "roce")): 191.22,
}


@pytest.mark.rows("case", PUBLISHED)
def test_large_sums_beside_published_ones(case):
    device, ranks, size, more = case
    found = bus(device, ranks, size, **dict([more] if more else []))
    assert found == pytest.approx(PUBLISHED[case], rel=0.15)


FEW_BYTES = {  # us of 8 bytes, published
    ("h100_sxm", 32, "ib"): 34.75,
    ("h100_sxm", 16, "efa"): 69.12,
    ("a100_sxm_80gb", 16, "efa"): 164.3,
    ("b200_sxm", 16, "efa"): 50.58,
    ("h100_sxm", 16, "tcpxo"): 135.8,
}


@pytest.mark.rows("case", FEW_BYTES)
def test_ports_add_to_each_step(case):
    device, ranks, network = case
    on = fabric(device, ranks, network=network)
    found = collective_time("all_reduce", 8, on)
    assert found.time * 1e6 == pytest.approx(FEW_BYTES[case], rel=0.1)
    told = fabric(device, ranks, network=network, latency=0)
    without = collective_time("all_reduce", 8, told)
    steps = 2 * (on.nodes.bit_length() - 1)  # up a tree and down
    assert found.time - without.time == pytest.approx(steps * on.latency)


def test_a_port_that_is_told_stands():
    usual = fabric("h100_sxm", 16, network="tcpx")
    assert usual.port == pytest.approx(0.75 * 12.5e9)
    assert fabric("h100_sxm", 16, network="tcpx", port=50e9).port == 37.5e9
    assert fabric("h100_sxm", 16, latency=3e-6).latency == 3e-6


def test_trees_of_two_nodes_cross_once_where_rings_go_around():
    on = fabric("a100_sxm_80gb", 16, network="efa").select()
    assert on["tree_bandwidth"] == pytest.approx(2 * on["channel_bandwidth"])
    wide = fabric("h100_sxm", 16).select()
    assert wide["tree_bandwidth"] == wide["channel_bandwidth"]  # links bound both


def test_boards_whose_driver_forbids_it_go_through_the_host():
    assert fabric("rtx_4090", 2).rate < fabric("l40s", 2).rate
    assert fabric("rtx_4090", 2, peers=True).rate == fabric("l40s", 2).rate
    for device in ("rtx_4090", "rtx_5090", "rtx_pro_6000_server"):
        assert 1.5 < bus(device, 8, 1 << 30) < 30


@pytest.mark.rows(
    ("more", "says"),
    [
        ({"network": "infiniband"}, "ib"),
        ({"network": "roc"}, None),
        ({"network": "myrinet"}, "fabric"),
        ({"latency": float("nan")}, "latency"),
        ({"latency": -1e-6}, "latency"),
        ({"latency": float("inf")}, "latency"),
        ({"latency": True}, "latency"),
        ({"port": 0}, "port"),
        ({"port": float("nan")}, "port"),
    ],
)
def test_fabrics_that_are_none_are_refused(more, says):
    if says is None:
        assert fabric("h100_sxm", 16, **more).network == "roce"
        return
    with pytest.raises((ValueError, UnknownName), match=says):
        fabric("h100_sxm", 16, **more)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(("h100_sxm", "a100_sxm_80gb", "b200_sxm", "mi300x")),
    st.integers(0, 6),
    st.sampled_from(tuple(NETWORKS)),
    st.integers(3, 33),
    st.floats(0, 1e-3),
)
def test_more_latency_never_helps_a_candidate(device, power, network, exponent, more):
    """Of each candidate: the choice among them may change."""
    ranks, size = 16 << power, 1 << exponent
    on = fabric(device, ranks, network=network)
    late = replace(on, latency=on.latency + more)
    for algorithm in ("ring", "tree"):
        now, then = (
            collective_time("all_reduce", size, at, algorithm=algorithm, protocol="ll")
            for at in (on, late)
        )
        assert then.time >= now.time
        assert now.time > 0 and now.bus <= 2 * ranks * on.rate
