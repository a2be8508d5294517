"""How many conversations, from a config.

level: derive
project: P8.3

Llama-3-8B has `32` layers and `8` KV heads of `128` numbers. Work out by hand what its
cache takes in `16` bits for one conversation of `32_768` tokens, for `8` and for `32`.
Then let a function do it for any model, and meet configs that lie.

- `cache_gib(conversations)`: GiB of that cache; three whole numbers come out.
- `token_bytes(config, width)`: bytes that a token leaves, by a `config.json` as a dict;
  `width` are the bytes of a number. Where the config has no `num_key_value_heads`, each
  query head has its own; where it has no `head_dim`, the heads share `hidden_size`.
- `conversations(room, config, width, context)`: how many whole conversations of
  `context` tokens lie in `room` bytes.

A config may come from anyone. Raise `ValueError` where one of the sizes is no whole
number above zero (`True` is none, nor is `32.0`), and where the KV heads do not divide
the query heads. A config without layers does not have room for infinitely many people.

Then take the `config.json` of a model that you use, and compare:
`models.from_hf_config("config.json").kv_bytes_per_token("bf16")`. Where it differs, the
model has windows, a latent or a state, and no single product says what it keeps.

hint: Count what one token leaves in one layer: a key and a value for each KV head. A
GiB is a power of two. For the checks, `type(x) is int` says more than
`isinstance(x, int)`.
"""

from stacklib import models
from stacklib.grading import expect

# ---- your answer ----

FIELDS = ("num_hidden_layers", "num_attention_heads", "hidden_size")


def cache_gib(conversations):
    """GiB of Llama-3-8B's cache, 32,768 tokens each, in 16 bits."""
    return conversations * 32_768 * 2 * 32 * 8 * 128 * 2 / 2**30


def token_bytes(config, width):
    """Bytes that a token leaves in the cache."""
    layers, heads, hidden = (config[name] for name in FIELDS)
    kv_heads = config.get("num_key_value_heads", heads)
    for size in (layers, heads, hidden, kv_heads, config.get("head_dim", 1)):
        if type(size) is not int or size < 1:
            raise ValueError(f"{size!r}: a whole number above zero is needed")
    if heads % kv_heads:
        raise ValueError(f"{kv_heads} KV heads do not divide {heads} query heads")
    return 2 * layers * kv_heads * config.get("head_dim", hidden // heads) * width


def conversations(room, config, width, context):
    """Whole conversations that lie in a room."""
    return room // (context * token_bytes(config, width))


# ---- tests ----

SMALL = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
}
OWN = {k: v for k, v in SMALL.items() if k != "num_key_value_heads"}
WIDE = SMALL | {"head_dim": 192, "num_hidden_layers": 18}
ONE = SMALL | {"num_key_value_heads": 1, "hidden_size": 2048}
CONFIGS = [SMALL, OWN, WIDE, ONE]


def counted(config, width, heads="", size="", both=2):
    """By the book's own reading of the config, with what a slip changes."""
    model = models.from_hf_config(config)
    numbers = model.kv_bytes_per_token("bf16").si / 2
    if heads:
        numbers *= model.heads / model.kv_heads
    if size:
        numbers *= config["hidden_size"] / config["num_attention_heads"]
        numbers /= model.head_dim
    return numbers * width * both / 2


def test_cache_gib():
    token = counted(SMALL, 2)
    expect.function_matches(
        cache_gib,
        lambda conversations: conversations * 32_768 * token / 2**30,
        [{"conversations": n} for n in (1, 8, 32)],
        unit="GiB",
        rel=1e-6,
        mistakes={
            "A token leaves a key and a value; yours has one of them.": (
                lambda conversations: conversations * 16_384 * token / 2**30
            ),
            "Those are GB, of a thousand million bytes; a GiB has 2 to the 30.": (
                lambda conversations: conversations * 32_768 * token / 1e9
            ),
            "Each of 32 query heads has a cache of its own there; a group of them "
            "shares one.": (
                lambda conversations: conversations * 4 * 32_768 * token / 2**30
            ),
        },
    )


def test_token_bytes():
    expect.function_matches(
        token_bytes,
        counted,
        [{"config": c, "width": w} for c in CONFIGS for w in (2, 1)],
        unit="B",
        rel=1e-9,
        mistakes={
            "A key and a value; yours has one of them.": (
                lambda config, width: counted(config, width, both=1)
            ),
            "That is a cache for each query head: the config says how many KV heads "
            "there are.": lambda config, width: counted(config, width, heads="query"),
            "A config may name its head size; then it need not be the hidden size "
            "over the heads.": lambda config, width: counted(config, width, size="cut"),
        },
    )


LIES = [
    ({"num_hidden_layers": 0}, "no layers keep nothing, and everybody would fit"),
    ({"num_hidden_layers": -32}, "a layer cannot be missing"),
    ({"num_hidden_layers": True}, "True counts as one, and is no number of layers"),
    ({"num_hidden_layers": "32"}, "that is a text"),
    ({"num_key_value_heads": 32.0}, "heads are counted, and that is a measure"),
    ({"num_key_value_heads": 0}, "a layer without KV heads keeps nothing"),
    ({"num_key_value_heads": 7}, "a group of query heads would be cut"),
    ({"num_key_value_heads": 64}, "there are more KV heads than query heads"),
    ({"head_dim": -128}, "a head has some numbers"),
]


def test_a_config_that_lies_is_refused():
    for change, why in LIES:
        given = {"config": SMALL | change, "width": 2}
        expect.refuses(token_bytes, given, because=why)


def test_conversations():
    expect.function_matches(
        conversations,
        lambda room, config, width, context: (
            int(room) // int(context * counted(config, width))
        ),
        [
            {"room": room, "config": c, "width": w, "context": t}
            for room, t in ((60 * 10**9, 4096), (10**9, 50_000), (64 * 2**30, 1))
            for c, w in ((SMALL, 2), (WIDE, 1))
        ],
        rel=1e-12,
        mistakes={
            "A conversation that fits in part does not fit.": (
                lambda room, config, width, context: (
                    room / (context * counted(config, width))
                )
            ),
            "That is one too many: the last does not fit whole.": (
                lambda room, config, width, context: (
                    1 + int(room) // int(context * counted(config, width))
                )
            ),
        },
    )
    expect.reading(
        "Llama-3-8B in 60 GB, 4,096 tokens", conversations(60 * 10**9, SMALL, 2, 4096)
    )
