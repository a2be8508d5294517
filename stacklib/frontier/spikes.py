"""Spikes against multiply-adds, on a task small enough to train in a second.

Ten digits of five by seven dots, shifted and with dots turned over. A network with one
hidden layer learns them; the same weights then run as spikes: an input fires in every
step with the chance that its value says, a neuron adds the weights of what fired and
fires itself when its sum passes a threshold, which is then taken off. A spike costs
one addition for each of its synapses, a product a multiplication and an addition. More
steps bring the accuracy nearer and cost more spikes: where they are equal, both are
counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from stacklib.quantity import quoted
from stacklib.quantity.bounds import whole

DIGITS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111",
    "11111 00010 00100 00010 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)
SIDE = 9  # dots of an image, each way
FLIPPED = 0.06  # share of dots that are turned over
STEPS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Spiking:
    """Both networks on the same images.

    - ``steps``: time steps tried
    - ``accuracy``: by steps, of the network of spikes
    - ``additions``: by steps, synapses that a spike reached, an image
    - ``plain``, ``products``: accuracy and multiply-adds an image of the other
    - ``within``: half the 95 % interval of ``plain``
    """

    steps: tuple[int, ...]
    accuracy: tuple[float, ...]
    additions: tuple[float, ...]
    plain: float
    products: int
    within: float

    @property
    def equal(self) -> int | None:
        """The fewest steps whose accuracy is inside the other's interval."""
        for steps, found in zip(self.steps, self.accuracy, strict=True):
            if found >= self.plain - self.within:
                return steps
        return None

    @property
    def each(self) -> float | None:
        """Additions for each multiply-add, at equal accuracy."""
        if self.equal is None:
            return None
        return self.additions[self.steps.index(self.equal)] / self.products

    @property
    def joules(self) -> float | None:
        """Joules over those of multiply-adds, at equal accuracy; memory left out."""
        if self.each is None:
            return None
        add = quoted("horowitz.add32").si
        return float(self.each * add / (add + quoted("horowitz.mult8").si))


def images(count: int, seed: int) -> tuple[Any, Any]:
    """Digits with their names: (count, 81) of 0 and 1, and (count,)."""
    import numpy as np

    whole(count=count)
    random = np.random.default_rng(seed)
    shapes = np.array([[[int(c) for c in row] for row in d.split()] for d in DIGITS])
    names = random.integers(10, size=count)
    found = np.zeros((count, SIDE, SIDE))
    tops = random.integers(SIDE - 7 + 1, size=count)
    lefts = random.integers(SIDE - 5 + 1, size=count)
    for image, name, top, left in zip(found, names, tops, lefts, strict=True):
        image[top : top + 7, left : left + 5] = shapes[name]
    turned = random.random(found.shape) < FLIPPED
    return np.where(turned, 1 - found, found).reshape(count, -1), names


def trained(seed: int, hidden: int, epochs: int = 12) -> tuple[Any, Any]:
    """Weights of two layers without biases, by plain gradient descent."""
    import numpy as np

    random = np.random.default_rng(seed)
    x, names = images(6000, seed + 1)
    first = random.standard_normal((x.shape[1], hidden)) / 9
    second = random.standard_normal((hidden, 10)) / hidden**0.5
    wanted = np.eye(10)[names]
    for _ in range(epochs):
        order = random.permutation(len(x))
        for batch in np.split(order, 100):
            inside = np.maximum(x[batch] @ first, 0)
            scores = inside @ second
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            off = scores / scores.sum(axis=1, keepdims=True) - wanted[batch]
            back = (off @ second.T) * (inside > 0)
            second -= 0.5 / len(batch) * inside.T @ off
            first -= 0.5 / len(batch) * x[batch].T @ back
    return first, second


def spiking(
    seed: int = 0,
    *,
    hidden: int = 64,
    steps: tuple[int, ...] = STEPS,
    tests: int = 1000,
) -> Spiking:
    """Train, run as multiply-adds and as spikes, and count both.

    Parameters
    ----------
    seed : int
        Of the weights, the images and the spikes.
    hidden : int, optional
        Neurons between.
    steps : tuple of int, optional
        Time steps to try, rising.
    tests : int, optional
        Images that neither has seen.

    Returns
    -------
    Spiking
        Accuracies and counts; ``equal``, ``each`` and ``joules`` at equal accuracy.

    Raises
    ------
    ValueError
        For steps that do not rise, or counts below one.

    Examples
    --------
    >>> spiking(steps=(1, 2), tests=50).products
    5824
    """
    import numpy as np

    whole(0, seed=seed)
    whole(hidden=hidden, tests=tests)
    steps = tuple(np.atleast_1d(np.array(steps, object)).tolist())
    for at in steps:
        whole(steps=at)
    if not steps or any(b <= a for a, b in pairwise(steps)):
        raise ValueError(f"steps {steps}: whole numbers that rise are needed")
    hidden = int(hidden)
    first, second = trained(seed, hidden)
    x, names = images(tests, seed + 2)
    inside = np.maximum(x @ first, 0)
    plain = float(np.mean((inside @ second).argmax(axis=1) == names))
    # A threshold that the largest usual sum reaches in one step.
    limit = np.quantile(inside, 0.99)
    random = np.random.default_rng(seed + 3)
    charge = np.zeros_like(inside)
    votes = np.zeros((tests, 10))
    added, accuracy, additions = 0.0, [], []
    for step in range(1, steps[-1] + 1):
        fired = random.random(x.shape) < x
        charge += fired @ first
        spikes = charge >= limit
        charge -= limit * spikes
        votes += spikes @ second
        added += float(fired.sum()) * hidden + float(spikes.sum()) * 10
        if step in steps:
            accuracy.append(float(np.mean(votes.argmax(axis=1) == names)))
            additions.append(added / tests)
    products = first.size + second.size
    within = 1.96 * (plain * (1 - plain) / tests) ** 0.5
    return Spiking(steps, tuple(accuracy), tuple(additions), plain, products, within)
