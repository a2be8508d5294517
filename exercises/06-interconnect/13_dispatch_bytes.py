"""The bytes of a dispatch.

level: derive

Suppose a layer of experts spread over `gpus` GPUs, `node` of them in a node, each with
the same number of experts. Every GPU has `tokens` tokens, and each is sent to `top_k`
experts, a copy for each expert. The router has no preference. Suppose a copy is
`hidden` numbers of FP8, one byte each, with a scale of four bytes for every 128 of
them.

- `copy_bytes(hidden)`: bytes of a copy.
- `network_bytes(tokens, top_k, hidden, gpus, node)`: bytes that a GPU sends, in the
  mean, to GPUs of other nodes.
- `nvlink_bytes(tokens, top_k, hidden, gpus, node)`: bytes that it sends to other GPUs
  of its own node.
- `least_us(tokens, top_k, hidden, gpus, node, nvlink, port)`: microseconds that this
  takes at least when both ways work at once. `nvlink` and `port` are GB/s out of a GPU,
  one direction.

hint: an expert lies on each GPU with the same chance. How many of the GPUs are in other
nodes, and how many in this one besides the token's own? Suppose 16 GPUs in nodes of 8
and one token for two experts: one copy crosses the network in the mean.
"""

from stacklib.grading import expect

# ---- your answer ----


def copy_bytes(hidden):
    """Bytes of a copy with its scales."""
    return hidden + hidden / 128 * 4


def network_bytes(tokens, top_k, hidden, gpus, node):
    """Bytes that leave the node."""
    copies = tokens * top_k * (gpus - node) / gpus
    return copies * copy_bytes(hidden)


def nvlink_bytes(tokens, top_k, hidden, gpus, node):
    """Bytes to other GPUs of the node."""
    copies = tokens * top_k * (node - 1) / gpus
    return copies * copy_bytes(hidden)


def least_us(tokens, top_k, hidden, gpus, node, nvlink, port):
    """Microseconds of the slower way."""
    near = nvlink_bytes(tokens, top_k, hidden, gpus, node) / (nvlink * 1e9)
    far = network_bytes(tokens, top_k, hidden, gpus, node) / (port * 1e9)
    return max(near, far) * 1e6


# ---- tests ----

CASES = [
    {"tokens": 128, "top_k": 8, "hidden": 7168, "gpus": gpus, "node": 8}
    for gpus in (8, 16, 64, 256)
] + [
    {"tokens": 1, "top_k": 2, "hidden": 1024, "gpus": 16, "node": 8},
    {"tokens": 4096, "top_k": 6, "hidden": 5120, "gpus": 72, "node": 72},
    {"tokens": 32, "top_k": 4, "hidden": 2048, "gpus": 12, "node": 4},
]
RATES = ({"nvlink": 160, "port": 50}, {"nvlink": 450, "port": 50})


def _bytes(hidden):
    return hidden + hidden / 32


def _network(tokens, top_k, hidden, gpus, node):
    return tokens * top_k * (1 - node / gpus) * _bytes(hidden)


def _nvlink(tokens, top_k, hidden, gpus, node):
    return tokens * top_k * (node - 1) / gpus * _bytes(hidden)


def _least(tokens, top_k, hidden, gpus, node, nvlink, port, both=max, scale=1e-3):
    near = _nvlink(tokens, top_k, hidden, gpus, node) / nvlink
    far = _network(tokens, top_k, hidden, gpus, node) / port
    return both(near, far) * scale


def test_copy_bytes():
    expect.function_matches(
        copy_bytes,
        _bytes,
        [{"hidden": n} for n in (128, 1024, 7168)],
        unit="B",
        rel=1e-3,
        mistakes={
            "The scales travel, too: four bytes for every 128 numbers.": (
                lambda hidden: hidden
            ),
            "FP8 takes one byte a number, not two.": (
                lambda hidden: 2 * hidden + hidden / 32
            ),
            "A scale is four bytes long, not one.": (
                lambda hidden: hidden + hidden / 128
            ),
        },
    )


def test_network_bytes():
    expect.function_matches(
        network_bytes,
        _network,
        CASES,
        unit="B",
        mistakes={
            "Not all copies leave: the share of GPUs in other nodes does.": (
                lambda tokens, top_k, hidden, gpus, node: (
                    tokens * top_k * _bytes(hidden)
                )
            ),
            "The other GPUs of the node are not reached over the network.": (
                lambda tokens, top_k, hidden, gpus, node: (
                    tokens * top_k * (gpus - 1) / gpus * _bytes(hidden)
                )
            ),
            "A token has `top_k` copies, not one for every GPU.": (
                lambda tokens, top_k, hidden, gpus, node: (
                    tokens * (gpus - node) * _bytes(hidden)
                )
            ),
        },
    )


def test_nvlink_bytes():
    expect.function_matches(
        nvlink_bytes,
        _nvlink,
        CASES,
        unit="B",
        mistakes={
            "A copy for an expert of the token's own GPU crosses no link.": (
                lambda tokens, top_k, hidden, gpus, node: (
                    tokens * top_k * node / gpus * _bytes(hidden)
                )
            ),
            "The share is of all GPUs, not of those of the node.": (
                lambda tokens, top_k, hidden, gpus, node: (
                    tokens * top_k * (node - 1) / node * _bytes(hidden)
                )
            ),
        },
    )


def test_least_us():
    expect.function_matches(
        least_us,
        _least,
        [case | rates for case in CASES for rates in RATES],
        unit="us",
        mistakes={
            "Both ways work at once: the slower one counts, not the sum.": (
                lambda **case: _least(**case, both=lambda a, b: a + b)
            ),
            "The slower of the two ways counts, not the quicker.": (
                lambda **case: _least(**case, both=min)
            ),
            "A byte is a byte: GB/s are no Gbit/s.": (
                lambda **case: _least(**case, scale=8e-3)
            ),
        },
    )
    big = least_us(**CASES[3], **RATES[0])
    expect.reading("of a dispatch over 256 GPUs, at least", big, "us")
