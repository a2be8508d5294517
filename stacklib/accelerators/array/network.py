"""Networks as lists of products: convolutions unrolled, layers of language models.

A convolution is a product: M positions of the output, N filters, K numbers under a
filter (K. Chellapilla and others, *High performance convolutional neural networks for
document processing*, 2006). SCALE-Sim's topologies leave out padding and round the
positions up, so that its ResNet-18 multiplies 54 x 54 positions where the network has
56 x 56; ``convention`` tells the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from stacklib import models
from stacklib.quantity import UnknownName, resolve
from stacklib.quantity.bounds import whole

CONVENTIONS = ("real", "scale-sim")


@dataclass(frozen=True, slots=True)
class Gemm:
    """``count`` products alike: m x k activations by k x n weights each."""

    name: str
    m: int
    n: int
    k: int
    count: int = 1

    def __post_init__(self) -> None:
        whole(m=self.m, n=self.n, k=self.k, count=self.count)

    @property
    def macs(self) -> int:
        """Multiply-adds of all of them."""
        return int(self.count) * int(self.m) * int(self.n) * int(self.k)

    @property
    def shape(self) -> dict[str, int]:
        """The sizes, as ``cycles`` takes them."""
        return {"m": self.m, "n": self.n, "k": self.k}


def conv_to_gemm(
    name: str = "conv",
    *,
    height: int,
    width: int,
    channels: int,
    filters: int,
    kernel: int,
    stride: int = 1,
    padding: int = 0,
    groups: int = 1,
    batch: int = 1,
    convention: str = "real",
) -> Gemm:
    """A convolution as the product that an array multiplies.

    Parameters
    ----------
    name : str
        What the layer is called.
    height, width, channels : int
        Of the input, without padding.
    filters : int
        Channels of the output.
    kernel, stride : int
        Side of a filter and the step between its positions.
    padding : int
        Rows of zeros on each side; not counted by the convention of SCALE-Sim.
    groups : int
        Parts that channels and filters are cut into, each a product of its own.
    batch : int
        Images.
    convention : str
        ``real``: positions as frameworks count them. ``scale-sim``: without padding,
        and rounded up.

    Returns
    -------
    Gemm
        M positions, N filters and K numbers under a filter, of each group.

    Raises
    ------
    ValueError
        For sizes that are not whole, a filter larger than what it slides over, and
        groups that do not divide channels and filters.
    UnknownName
        For another convention.

    Examples
    --------
    >>> layer = {"height": 56, "width": 56, "channels": 64, "filters": 64, "kernel": 3}
    >>> conv_to_gemm(**layer, padding=1).m
    3136
    >>> conv_to_gemm(**layer, padding=1, convention="scale-sim").m
    2916
    """
    whole(height=height, width=width, channels=channels, filters=filters)
    whole(kernel=kernel, stride=stride, groups=groups, batch=batch)
    whole(0, padding=padding)
    real = resolve(convention, CONVENTIONS, "convention", exact=True) == "real"
    # Python's own numbers: NumPy's narrow ones run over.
    height, width, channels, filters = map(int, (height, width, channels, filters))
    kernel, stride, padding = map(int, (kernel, stride, padding))
    groups, batch = int(groups), int(batch)
    if channels % groups or filters % groups:
        raise ValueError(
            f"groups = {groups} does not divide {channels} channels and {filters} "
            "filters"
        )
    positions = batch
    for what, side in (("height", height), ("width", width)):
        room = side + 2 * padding * real - kernel
        if room < 0:
            raise ValueError(
                f"kernel = {kernel} is larger than {what} = {side} with padding "
                f"{padding * real}: no position is left"
            )
        positions *= room // stride + 1 if real else -(-(room + stride) // stride)
    under = kernel * kernel * (channels // groups)
    return Gemm(name, positions, filters // groups, under, groups)


@dataclass(frozen=True, slots=True)
class Application:
    """One of six that ran on the first TPU.

    N. Jouppi and others, *In-datacenter performance analysis of a tensor processing
    unit*, ISCA 2017: table 1, sections 4 (fully connected layers of CNN1), 7 (a matrix
    of LSTM1). Of the others no sizes are given, and each layer is taken as a square.
    """

    layers: int  # that multiply: fully connected and convolutions
    weights: float
    intensity: int  # multiply-adds per byte of weights
    batch: int
    known: int = 0  # side of its matrices, where the paper says one
    trunk: str = ""  # network whose convolutions it has
    dense: int = 0  # fully connected layers behind that, which hold all other weights

    @property
    def side(self) -> int:
        """Of a matrix, were all alike and square."""
        return self.known or round((self.weights / self.layers) ** 0.5)


APPLICATIONS = {
    "mlp0": Application(5, 20e6, 200, 200),
    "mlp1": Application(4, 5e6, 168, 168),
    "lstm0": Application(24, 52e6, 64, 64),
    "lstm1": Application(37, 34e6, 96, 96, known=600),
    "cnn0": Application(16, 8e6, 2888, 8),
    "cnn1": Application(76, 100e6, 1750, 32, trunk="inception-v2", dense=4),
}

# Input side and channels, filters, kernel, stride, padding, groups.
Row = tuple[str, int, int, int, int, int, int, int]
ALEXNET: tuple[Row, ...] = (
    ("conv1", 227, 3, 96, 11, 4, 0, 1),
    ("conv2", 27, 96, 256, 5, 1, 2, 2),
    ("conv3", 13, 256, 384, 3, 1, 1, 1),
    ("conv4", 13, 384, 384, 3, 1, 1, 2),
    ("conv5", 13, 384, 256, 3, 1, 1, 2),
)
# Side of VGG-16's stages, channels, filters, and how many such layers, each 3 x 3.
VGG16 = (
    (224, 3, 64, 1),
    (224, 64, 64, 1),
    (112, 64, 128, 1),
    (112, 128, 128, 1),
    (56, 128, 256, 1),
    (56, 256, 256, 2),
    (28, 256, 512, 1),
    (28, 512, 512, 2),
    (14, 512, 512, 3),
)
# Inception V2: of each block the input side, filters of 1 x 1, of 3 x 3 and of two
# 3 x 3 with what reduces their input, of what follows the pool, and the stride.
# S. Ioffe and C. Szegedy, *Batch normalization*, 2015, figure 5.
INCEPTION = (
    (28, 64, 64, 64, 64, 96, 32, 1),
    (28, 64, 64, 96, 64, 96, 64, 1),
    (28, 0, 128, 160, 64, 96, 0, 2),
    (14, 224, 64, 96, 96, 128, 128, 1),
    (14, 192, 96, 128, 96, 128, 128, 1),
    (14, 160, 128, 160, 128, 160, 96, 1),
    (14, 96, 128, 192, 160, 192, 96, 1),
    (14, 0, 128, 192, 192, 256, 0, 2),
    (7, 352, 192, 320, 160, 224, 128, 1),
    (7, 352, 192, 320, 192, 224, 128, 1),
)
# Numbers in and out of the layers behind the convolutions.
DENSE = {
    "alexnet": ((9216, 4096), (4096, 4096), (4096, 1000)),
    "vgg-16": ((25088, 4096), (4096, 4096), (4096, 1000)),
    "resnet-18": ((512, 1000),),
    "resnet-50": ((2048, 1000),),
    "inception-v2": ((1024, 1000),),
}


def _resnet(blocks: tuple[int, ...], bottleneck: bool) -> Iterator[Row]:
    """He and others, 2015, table 1; in bottlenecks the 3 x 3 has the stride."""
    yield "conv1", 224, 3, 64, 7, 2, 3, 1
    came, side = 64, 56
    for stage, (many, wide) in enumerate(zip(blocks, (64, 128, 256, 512), strict=True)):
        out = 4 * wide if bottleneck else wide
        for block in range(many):
            name = f"conv{stage + 2}_{block + 1}"
            stride = 2 if stage and not block else 1
            after = side // stride
            if bottleneck:
                yield f"{name}a", side, came, wide, 1, 1, 0, 1
                yield f"{name}b", side, wide, wide, 3, stride, 1, 1
                yield f"{name}c", after, wide, out, 1, 1, 0, 1
            else:
                yield f"{name}a", side, came, wide, 3, stride, 1, 1
                yield f"{name}b", after, wide, wide, 3, 1, 1, 1
            if came != out:
                yield f"{name}s", side, came, out, 1, stride, 0, 1
            came, side = out, after


def _inception() -> Iterator[Row]:
    yield "conv1", 224, 3, 64, 7, 2, 3, 1
    yield "conv2a", 56, 64, 64, 1, 1, 0, 1
    yield "conv2b", 56, 64, 192, 3, 1, 1, 1
    came = 192
    for at, (side, one, less, three, least, twice, pool, stride) in enumerate(
        INCEPTION, 3
    ):
        after = side // stride
        if one:
            yield f"conv{at}one", side, came, one, 1, 1, 0, 1
        yield f"conv{at}a", side, came, less, 1, 1, 0, 1
        yield f"conv{at}b", side, less, three, 3, stride, 1, 1
        yield f"conv{at}c", side, came, least, 1, 1, 0, 1
        yield f"conv{at}d", side, least, twice, 3, 1, 1, 1
        yield f"conv{at}e", side, twice, twice, 3, stride, 1, 1
        if pool:
            yield f"conv{at}pool", after, came, pool, 1, 1, 0, 1
        came = one + three + twice + (pool or came)


@cache
def _rows(name: str) -> tuple[Row, ...]:
    if name == "alexnet":
        return ALEXNET
    if name == "vgg-16":
        layers = [layer for *layer, many in VGG16 for _ in range(many)]
        return tuple(
            (f"conv{at}", side, channels, filters, 3, 1, 1, 1)
            for at, (side, channels, filters) in enumerate(layers, 1)
        )
    if name == "inception-v2":
        return tuple(_inception())
    if name == "resnet-18":
        return tuple(_resnet((2, 2, 2, 2), False))
    return tuple(_resnet((3, 4, 6, 3), True))


def network(
    name: str, *, batch: int | None = None, convention: str = "real"
) -> tuple[Gemm, ...]:
    """The products of a network, in order.

    Parameters
    ----------
    name : str
        ``resnet-18``, ``resnet-50``, ``alexnet``, ``vgg-16``, ``inception-v2``; an
        application of TPU v1 (``mlp0`` to ``cnn1``); or a language model, of which one
        layer is meant: its matrices, with experts as often as a token passes them.
    batch : int, optional
        Images, or tokens that pass the layer. Default 1; for applications of TPU v1
        what its paper gives, and no other.
    convention : str
        How positions of a convolution are counted, see ``conv_to_gemm``.

    Returns
    -------
    tuple of Gemm

    Raises
    ------
    UnknownName
        For a name that is neither a network nor a language model.
    ValueError
        For a batch below 1, or one given for an application of TPU v1.

    Examples
    --------
    >>> len(network("resnet-18")), sum(g.macs for g in network("resnet-18"))
    (21, 1814073344)
    """
    key = resolve(convention, CONVENTIONS, "convention", exact=True)
    if batch is not None:
        whole(batch=batch)
    try:
        found = resolve(name, (*DENSE, *APPLICATIONS), "network", exact=True)
    except UnknownName:
        return _layer(name, batch or 1)
    if found in APPLICATIONS:
        if batch is not None:
            raise ValueError(
                f"batch = {batch}: {found} has that of its paper, "
                f"{APPLICATIONS[found].batch}; leave it out"
            )
        return _application(APPLICATIONS[found], key)
    images = batch or 1
    made = [_convolution(row, images, key) for row in _rows(found)]
    made += [Gemm(f"fc{at}", images, n, k) for at, (k, n) in enumerate(DENSE[found], 1)]
    return tuple(made)


def _application(app: Application, convention: str) -> tuple[Gemm, ...]:
    """Squares that hold its weights; behind a trunk, those that the trunk leaves."""
    if not app.trunk:
        held = app.layers if not app.known else round(app.weights / app.known**2)
        return tuple(
            Gemm(f"layer {at}", app.intensity, app.side, app.side)
            for at in range(1, held + 1)
        )
    made = [_convolution(row, app.batch, convention) for row in _rows(app.trunk)]
    left = app.weights - sum(layer.count * layer.n * layer.k for layer in made)
    side = round((left / app.dense) ** 0.5)
    made += [Gemm(f"fc{at}", app.batch, side, side) for at in range(1, app.dense + 1)]
    return tuple(made)


def _convolution(row: Row, images: int, convention: str) -> Gemm:
    name, side, channels, filters, kernel, stride, padding, groups = row
    return conv_to_gemm(
        name,
        height=side,
        width=side,
        channels=channels,
        filters=filters,
        kernel=kernel,
        stride=stride,
        padding=padding,
        groups=groups,
        batch=images,
        convention=convention,
    )


def _layer(name: str, tokens: int) -> tuple[Gemm, ...]:
    """One layer of a language model: the last, where layers differ."""
    try:
        model = models.get(name)
    except UnknownName as error:
        known = ", ".join((*DENSE, *APPLICATIONS))
        raise UnknownName(
            f"unknown network {name!r}: {known}, or a language model\n"
            + str(error).split("\n")[-1]
        ) from None
    return tuple(
        Gemm(matrix.name, tokens, matrix.columns, matrix.rows, matrix.used)
        for matrix in model.kinds[model.pattern[-1]].matrices(model.hidden)
    )
