"""Line codes: the share in closed form, counted in a stream, and as links print it."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.interconnect.networks import framing
from stacklib.interconnect.networks.framing import CODES, Layer
from stacklib.quantity import UnknownName

LAYERS = st.builds(
    Layer,
    st.just("layer"),
    st.integers(1, 12),
    st.integers(0, 3),
    st.integers(0, 3),
)


@pytest.mark.rows("name", CODES)
@pytest.mark.rows("lanes", [1, 2, 16])
def test_a_stream_carries_the_share(name: str, lanes: int):
    layers = framing.code(name)
    data, bits = framing.frame_bits(layers)
    assert Fraction(data, bits) == framing.share(layers)
    # So many whole frames that they fill all lanes alike.
    found = framing.count(layers, lanes, bits)
    assert sum(found) == lanes * data


@settings(max_examples=60, deadline=None)
@given(st.lists(LAYERS, max_size=3), st.integers(1, 5))
def test_any_layers_on_any_lanes(layers: list[Layer], lanes: int):
    data, bits = framing.frame_bits(layers)
    assert sum(framing.count(layers, lanes, bits)) == lanes * data
    assert data == bits * framing.share(layers)


def test_what_links_print():
    """The published rates of links are the codes' shares of what their lanes run at."""
    for key, name in (
        ("pcie1_x16", "8b/10b"),
        ("pcie5_x16", "128b/130b"),
        ("pcie6_x16", "flit"),
        ("nvlink4", "RS-FEC"),
        ("nvlink5", "RS-FEC"),
    ):
        left = hardware.link(key).encoding_efficiency.si
        told = float(framing.share(framing.code(name)))
        assert left == pytest.approx(told, rel=1e-5), key
    # Ethernet's lane: 100 Gbit/s of data at 106.25.
    assert 106.25 * framing.share(framing.code("RS-FEC")) == 100


def test_packets_cost_more_than_the_code():
    inner = framing.packets(256, 24)
    layers = (inner, *framing.code("128b/130b"))
    data, bits = framing.frame_bits(layers)
    assert sum(framing.count(layers, 1, bits)) == data
    assert framing.share(layers) == Fraction(256, 280) * Fraction(128, 130)


def test_a_planted_fault_is_counted():
    """A header that the closed form forgets shows up in the stream."""
    honest, forgetful = Layer("block", 64, 2), Layer("block", 64)
    data, bits = framing.frame_bits([honest])
    assert sum(framing.count([honest], 1, bits)) == data == 64
    assert framing.share([forgetful]) * bits != data


def test_bad_input():
    with pytest.raises(UnknownName, match="line code"):
        framing.code("64/67")
    with pytest.raises(ValueError, match="lanes = 0"):
        framing.count((), 0, 8)
    with pytest.raises(ValueError, match="take = 0"):
        Layer("nothing", 0)
    with pytest.raises(ValueError, match="payload = 0"):
        framing.packets(0, 24)
