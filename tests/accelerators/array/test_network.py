"""Networks as products: known sizes, SCALE-Sim's convention, TPU v1's applications."""

import numpy as np
import pytest

from stacklib.accelerators import conv_to_gemm, cycles, network
from stacklib.accelerators.array.network import APPLICATIONS, DENSE, Gemm
from stacklib.accelerators.array.tpu_v1 import tpu_v1
from stacklib.quantity import UnknownName

from ...rows import refusals

CONV = {"height": 28, "width": 28, "channels": 64, "filters": 32, "kernel": 3}


@pytest.mark.rows(
    ("name", "layers", "macs"),
    [  # of torchvision's models, as fvcore counts them; AlexNet's of its two towers
        ("resnet-18", 21, 1_814_073_344),
        ("resnet-50", 54, 4_089_184_256),
        ("vgg-16", 16, 15_470_264_320),
        ("alexnet", 8, 724_406_816),
        ("inception-v2", 70, 2_018_851_840),  # by hand from the paper's figure 5
    ],
)
def test_multiply_adds_of_known_networks(name, layers, macs):
    made = network(name)
    assert (len(made), sum(gemm.macs for gemm in made)) == (layers, macs)
    assert sum(g.macs for g in network(name, batch=4)) == 4 * macs


@pytest.mark.rows(
    ("side", "dataflow", "last"),
    [  # SCALE-Sim 3.0.0, all layers of its ResNet-18
        (32, "os", 1_718_353),
        (32, "ws", 2_519_815),
        (128, "os", 262_370),
        (128, "ws", 417_628),
        (128, "is", 595_543),
    ],
)
def test_resnet_18_takes_the_cycles_of_scale_sim(side, dataflow, last):
    array = {"rows": side, "cols": side, "dataflow": dataflow}
    layers = network("resnet-18", convention="scale-sim")
    assert sum(cycles(**layer.shape, **array) for layer in layers) == last


def test_padding_is_what_the_conventions_differ_by():
    plain = {"height": 56, "width": 56, "channels": 64, "filters": 64, "kernel": 3}
    real, bare = (
        conv_to_gemm(**plain, padding=1, convention=name)
        for name in ("real", "scale-sim")
    )
    assert (real.m, bare.m, real.n, real.k) == (56 * 56, 54 * 54, 64, 576)
    # Half a step left over: a framework leaves it out, SCALE-Sim counts it.
    assert conv_to_gemm(**CONV, stride=2).m == 13**2
    assert conv_to_gemm(**CONV, stride=2, convention="scale-sim").m == 14**2


def test_narrow_numbers_of_numpy_do_not_run_over():
    sides = dict.fromkeys(("height", "width", "channels", "filters"), np.int8(120))
    made = conv_to_gemm(**sides, kernel=np.int8(3))
    assert made.shape == {"m": 118**2, "n": 120, "k": 9 * 120}
    with pytest.raises(ValueError, match="k = 0"):
        Gemm("empty", 1, 1, 0)


def test_groups_are_products_of_their_own():
    one, four = conv_to_gemm(**CONV), conv_to_gemm(**CONV, groups=4)
    assert (four.count, four.n, four.k) == (4, one.n // 4, one.k // 4)
    assert one.macs == 4 * four.macs


def test_a_layer_of_a_language_model_has_its_weights():
    from stacklib import models

    layer = network("llama-3-8b", batch=7)
    block = models.get("llama-3-8b").kinds[0]
    held = sum(m.rows * m.columns for m in block.matrices(4096))
    assert sum(gemm.macs for gemm in layer) == 7 * held
    assert {gemm.m for gemm in layer} == {7}
    experts = {g.name: g.count for g in network("mixtral-8x7b")}
    assert max(experts.values()) == 2


def test_blocks_of_inception_hand_on_the_planes_of_the_paper():
    blocks = {g.name: g.k for g in network("inception-v2") if g.name.endswith("a")}
    planes = [256, 320, 576, 576, 576, 576, 576, 1024, 1024]
    assert [blocks[f"conv{at}a"] for at in range(4, 13)] == [*planes]
    assert network("inception-v2")[-1].k == 1024


@pytest.mark.rows("name", [name for name in APPLICATIONS if name != "cnn1"])
def test_squares_are_told_by_roofline_and_tiles(name: str):
    app, made = APPLICATIONS[name], tpu_v1(name)
    assert made.active + made.shifted + made.stalled == pytest.approx(1)
    # The roof, in operations: two a multiply-add, as often as a weight is used.
    roof = min(2 * 65536 * 0.7e9, 2 * app.intensity * 34e9)
    filled = (app.side / 256 / -(-app.side // 256)) ** 2
    assert made.rate == pytest.approx(roof * filled, rel=0.001)
    layers = network(name)
    weights = sum(layer.n * layer.k for layer in layers)
    assert weights == pytest.approx(app.weights, rel=0.01)


def test_cnn1_is_told_by_its_own_layers():
    """Useful multiply-adds and images a second of the paper, which set nothing."""
    made, layers = tpu_v1("cnn1"), network("cnn1")
    assert sum(g.n * g.k for g in layers) == pytest.approx(100e6, rel=0.001)
    assert [g.m for g in layers[-4:]] == [32] * 4
    assert made.useful == pytest.approx(0.225, rel=0.02)
    assert made.inferences == pytest.approx(4700, rel=0.05)
    # Of the cycles that have a matrix: 46.2 % work, 28.1 wait, 7.0 shift a tile in.
    assert made.active == pytest.approx(0.462 / 0.813, rel=0.04)
    assert made.stalled == pytest.approx(0.281 / 0.813, rel=0.04)
    assert made.bound == "compute"


def test_a_wide_operand_takes_cycles_and_no_time_where_memory_binds():
    plain, wide = tpu_v1("lstm0"), tpu_v1("lstm0", each=2)
    assert wide.active == pytest.approx(2 * plain.active)
    assert wide.rate == pytest.approx(plain.rate)
    assert tpu_v1("cnn0", 4).rate == pytest.approx(tpu_v1("cnn0").rate / 4)
    with pytest.raises(ValueError, match="each = 0"):
        tpu_v1("lstm0", 0)


def test_the_ridge_is_that_of_the_paper():
    """1,350 multiply-adds per byte of weights: cycles until a tile has come."""
    assert 65536 / 34e9 * 0.7e9 == pytest.approx(1350, rel=0.002)
    assert tpu_v1("cnn0").bound == "compute" and tpu_v1("mlp0").bound == "memory"


test_what_is_no_convolution = refusals(
    ({"kernel": 29}, "kernel = 29 is larger than height = 28"),
    ({"groups": 3}, "groups = 3 does not divide 64 channels"),
    ({"stride": 0}, "stride = 0"),
    ({"padding": -1}, "padding = -1"),
    ({"height": 28.5}, "height = 28.5"),
    ({"convention": "same"}, "unknown convention 'same'"),
    by=lambda wrong: conv_to_gemm(**(CONV | wrong)),
    error=(ValueError, LookupError),
)
test_what_is_no_network = refusals(
    ("lenet", {}, "unknown network 'lenet': alexnet, vgg-16"),
    ("mlp0", {"batch": 100}, "batch = 100: mlp0 has that of its paper, 200"),
    ("resnet-18", {"batch": 0}, "batch = 0"),
    by=lambda name, more: network(name, **more),
    error=(ValueError, UnknownName),
)


def test_names_are_found_as_they_are_typed():
    assert network("ResNet_18") == network("resnet-18")
    assert set(DENSE).isdisjoint(APPLICATIONS)
