"""Draw without a row.

level: build

Suppose that token i of a vocabulary has the logit `logits[i]`, that `uniforms[i]` is a
random number between 0 and 1 of its own, and that its score is its logit over
`temperature`, plus Gumbel noise, minus the logarithm of minus the logarithm of that
number. The token with the largest score is a draw from the softmax of the logits over
the temperature. At `temperature = 0` there is no noise, and the largest logit wins.

The logits come in tiles of `tile` tokens, the last may be smaller. A tile is forgotten
when the next one comes; what it leaves is a pair of its largest score and that token's
number in the vocabulary.

- `best(logits, uniforms, temperature, first)`: the pair of a tile; the lists are its
  part only, `first` is the number of its first token.
- `merge(a, b)`: the pair of two tiles together, from their pairs.
- `draw(logits, uniforms, temperature, tile)`: the token, by these two.

Of equal scores the token with the lower number wins, whichever tile comes first.

hint: The temperature divides the logit only. A token's noise goes by its number in the
vocabulary; a tile's lists begin at zero.
"""

import math
import random

from stacklib.grading import expect

# ---- your answer ----


def best(logits, uniforms, temperature, first):
    """The largest score of a tile, and its token."""
    pairs = []
    for i, (z, u) in enumerate(zip(logits, uniforms, strict=True)):
        score = z / temperature - math.log(-math.log(u)) if temperature else z
        pairs.append((score, first + i))
    return max(pairs, key=lambda pair: (pair[0], -pair[1]))


def merge(a, b):
    """The larger of two pairs; of equals the lower token."""
    return max(a, b, key=lambda pair: (pair[0], -pair[1]))


def draw(logits, uniforms, temperature, tile):
    """The token, tile by tile."""
    found = (-math.inf, len(logits))
    for first in range(0, len(logits), tile):
        part = slice(first, first + tile)
        found = merge(found, best(logits[part], uniforms[part], temperature, first))
    return found[1]


# ---- tests ----

RNG = random.Random(410)
VOCAB = 23
LOGITS = [RNG.gauss(0, 1.5) for _ in range(VOCAB)]
TILES = (1, 4, 5, 23, 100)
DRAWS = 3000


def uniforms(seed):
    source = random.Random(seed)
    return [source.random() or 0.5 for _ in range(VOCAB)]


def score(z, u, temperature):
    return z / temperature - math.log(-math.log(u)) if temperature else z


def argmax(scores):
    return max(range(len(scores)), key=lambda i: (scores[i], -i))


def right(temperature, seed):
    scores = map(score, LOGITS, uniforms(seed), [temperature] * VOCAB)
    return argmax(list(scores))


SLIPS = {
    "The temperature divides the logit, not the noise.": lambda z, u, t: (
        (z - math.log(-math.log(u))) / t
    ),
    "That noise is exponential: minus the logarithm once more.": lambda z, u, t: (
        z / t - math.log(u)
    ),
    "The noise has the wrong sign.": lambda z, u, t: z / t + math.log(-math.log(u)),
    "You multiply by the temperature.": lambda z, u, t: z * t - math.log(-math.log(u)),
    "There is no noise in it: that is always the likeliest token.": lambda z, u, t: z,
}


def pair_of(value):
    found = expect.sequence(value, "a pair of score and token", 2)
    return expect.read(found[0]), expect.whole(found[1])


def test_best():
    """A tile in the middle of the vocabulary, with noise and without."""
    part, numbers = slice(7, 13), uniforms(3)
    given = {"logits": LOGITS[part], "uniforms": numbers[part], "first": 7}
    for t in (1.0, 0.5, 2.0):
        mine = pair_of(expect.call(best, {**given, "temperature": t}))
        scores = [
            score(z, u, t) for z, u in zip(LOGITS[part], numbers[part], strict=True)
        ]
        at = argmax(scores)
        if math.isclose(mine[0], scores[at], rel_tol=1e-9) and mine[1] == 7 + at:
            continue
        if mine[1] == at:
            raise expect.Mistake(
                f"token {at}: that is its number in the tile. Count from `first`."
            )
        for text, slip in SLIPS.items():
            other = [
                slip(z, u, t) for z, u in zip(LOGITS[part], numbers[part], strict=True)
            ]
            if math.isclose(mine[0], max(other), rel_tol=1e-9):
                raise expect.Mistake(text)
        raise expect.Mistake(f"at temperature {t}: {mine}, not {(scores[at], 7 + at)}")


def test_merge():
    """Order and ties do not matter; merging three either way is the same."""
    a, b, c = (0.5, 4), (1.5, 9), (1.5, 2)
    for one, other, wanted in ((a, b, b), (b, a, b), (b, c, c), (c, b, c), (a, c, c)):
        mine = pair_of(merge(one, other))
        if mine == wanted:
            continue
        why = "the larger score wins"
        if one[0] == other[0]:
            why = "of equal scores the lower token wins, whichever tile comes first"
        raise expect.Mistake(f"merge({one}, {other}) gives {mine}: {why}")


def one_noise(temperature, seed, tile):
    """What comes if every tile takes the first numbers."""
    numbers = uniforms(seed)
    own = [numbers[i % tile] for i in range(VOCAB)]
    return argmax(list(map(score, LOGITS, own, [temperature] * VOCAB)))


def test_draw_is_the_same_for_every_tiling():
    failed = {}
    for t in (0, 0.7, 1.3):
        for seed in range(60):
            for tile in TILES:
                case = {"uniforms": uniforms(seed), "temperature": t, "tile": tile}
                mine = expect.whole(expect.call(draw, {"logits": list(LOGITS), **case}))
                if mine != right(t, seed):
                    failed[t, seed, tile] = mine
    if failed and all(one_noise(*case) == mine for case, mine in failed.items()):
        raise expect.Mistake("Every token has its own noise; you gave all tiles one.")
    for (t, seed, tile), mine in failed.items():
        raise expect.Mistake(
            f"seed {seed}, temperature {t}, tiles of {tile}: token {mine} and not "
            f"{right(t, seed)}"
        )


def test_draws_are_the_softmax():
    temperature, hits = 0.8, [0] * VOCAB
    for seed in range(DRAWS):
        hits[draw(list(LOGITS), uniforms(1000 + seed), temperature, 6)] += 1
    powers = [math.exp(z / temperature) for z in LOGITS]
    told = [DRAWS * power / sum(powers) for power in powers]
    chi = sum((h - e) ** 2 / e for h, e in zip(hits, told, strict=True))
    expect.reading("chi-square over degrees of freedom", f"{chi / (VOCAB - 1):.2f}")
    if chi > 2.2 * (VOCAB - 1):
        raise expect.Mistake("draws do not come as often as the softmax has it")
