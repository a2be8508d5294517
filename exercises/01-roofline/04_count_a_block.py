"""Count a block by hand.

level: build
project: P1.1

A transformer block reads a prompt: `tokens` new tokens, none cached before them. Count
by hand what its products cost, in FLOP, a multiply-add being two.

- Attention projects each token to `heads` queries, and to `kv_heads` keys and as many
  values, each of `head_dim` numbers. Each query meets the keys of its own token and
  those before it, and no others; then it weighs their values. A last matrix brings the
  heads back to `hidden` numbers.
- The gated MLP has three matrices: two from `hidden` to `intermediate`, one back.
- Norms, softmax and additions are left out here.

Your count is compared with a run: the block is drawn at random, computed in NumPy on
arrays that count each multiply-add they do.

hint: A matrix of r rows and c columns costs one token 2·r·c. For the pairs, write
down how many keys the first, the second and the last token see, and add.
"""

from stacklib import models
from stacklib.grading import expect
from stacklib.roofline.count.numpy_block import count_block

# ---- your answer ----


def projections(hidden, heads, kv_heads, head_dim, tokens):
    """FLOP of the four matrices of attention."""
    query, key = heads * head_dim, kv_heads * head_dim
    return 2 * tokens * hidden * (query + key + key + query)


def pairs(heads, head_dim, tokens):
    """FLOP of all scores and all weighed values."""
    seen = tokens * (tokens + 1) / 2
    return 2 * 2 * heads * head_dim * seen


def mlp(hidden, intermediate, tokens):
    """FLOP of the three matrices of the MLP."""
    return 2 * tokens * 3 * hidden * intermediate


# ---- tests ----

SHAPES = [(12, 4, 2, 6, 20, 5), (7, 3, 1, 4, 9, 1), (16, 6, 3, 2, 11, 8)]
FIELDS = ("hidden", "heads", "kv_heads", "head_dim", "intermediate", "tokens")
PARTS = {
    "projections": ("q", "k", "v", "o"),
    "pairs": ("scores", "values"),
    "mlp": ("gate", "up", "down"),
}


def block(hidden, heads, kv_heads, head_dim, intermediate):
    """A model of one layer."""
    return models.from_hf_config(
        {
            "model_type": "llama",
            "vocab_size": 2,
            "num_hidden_layers": 1,
            "max_position_embeddings": 64,
            "hidden_size": hidden,
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": head_dim,
            "intermediate_size": intermediate,
        }
    )


RUNS = {
    shape: {
        work.name: work.operations.si
        for work in count_block(block(*shape[:5]), shape[5], rule="products").works
    }
    for shape in SHAPES
}


def cases(*fields):
    """The sizes a function takes, for every shape."""
    for shape in SHAPES:
        sizes = dict(zip(FIELDS, shape, strict=True))
        yield {field: sizes[field] for field in fields}


def counted(part):
    """What the run counted, given the sizes of one shape."""

    def look_up(**case):
        for shape in SHAPES:
            sizes = dict(zip(FIELDS, shape, strict=True))
            if all(sizes[field] == value for field, value in case.items()):
                return sum(RUNS[shape][name] for name in PARTS[part])
        raise LookupError(case)

    return look_up


def every_head(hidden, heads, kv_heads, head_dim, tokens):
    """With keys and values as wide as the queries."""
    return 8 * tokens * hidden * heads * head_dim


def square(heads, head_dim, tokens):
    """With every query on every key."""
    return 4 * heads * head_dim * tokens**2


def one_product(heads, head_dim, tokens):
    """Scores without values."""
    return counted("pairs")(heads=heads, head_dim=head_dim, tokens=tokens) / 2


def test_projections():
    expect.function_matches(
        projections,
        counted("projections"),
        cases("hidden", "heads", "kv_heads", "head_dim", "tokens"),
        unit="FLOP",
        rel=1e-9,
        mistakes={
            "Keys and values have kv_heads heads; only the queries have heads.": (
                every_head
            ),
        },
    )


def test_pairs():
    expect.function_matches(
        pairs,
        counted("pairs"),
        cases("heads", "head_dim", "tokens"),
        unit="FLOP",
        rel=1e-9,
        mistakes={
            "A token sees itself and those before it, not the whole prompt.": square,
            "Scores are one product, the weighed values another.": one_product,
        },
    )


def test_mlp():
    expect.function_matches(
        mlp,
        counted("mlp"),
        cases("hidden", "intermediate", "tokens"),
        unit="FLOP",
        rel=1e-9,
        mistakes={
            "A gated MLP has three matrices; where is the gate?": (
                lambda hidden, intermediate, tokens: 4 * tokens * hidden * intermediate
            ),
        },
    )


def test_the_whole_is_what_the_run_counted():
    for shape in SHAPES:
        hidden, heads, kv_heads, head_dim, intermediate, tokens = shape
        parts = (
            projections(hidden, heads, kv_heads, head_dim, tokens),
            pairs(heads, head_dim, tokens),
            mlp(hidden, intermediate, tokens),
        )
        mine = sum(expect.read(part, "FLOP") for part in parts)
        expect.number(mine, sum(RUNS[shape].values()), unit="FLOP", rel=1e-9)
    counted_in_all = sum(sum(run.values()) for run in RUNS.values())
    expect.reading("multiply-adds the runs did", f"{counted_in_all / 2:,.0f}")
