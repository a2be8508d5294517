"""Claims on what attention moves: passes, tiles, and how often a key is read."""

import math

from stacklib.evidence import Finding, claim
from stacklib.kernels.attention.behind_l2 import read_once
from stacklib.kernels.attention.count import MATRIX_PASSES, Count, io_count
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.l2 import l2_cache
from stacklib.quantity import chosen, counted

DEVICE, UNITS = "h100_sxm", 132
TOKENS, LONG, HEAD, TILE = 4096, 8192, 128, 128
CHIP = chosen(228 * 1024, "B", label="bytes of shared memory of a unit")
BEHIND_L2 = "what passes the L2 is meant, and it holds the keys and values"
# Products of two matrices, by what they make.
PRODUCTS = {
    "forward": ("S", "O"),
    "standard backward": ("dV", "dP", "dQ", "dK"),
    "flash backward": ("S", "dV", "dP", "dQ", "dK"),
}


def count(
    tokens: int, head: int, tile_q: int, tile_k: int, order: str = "fa2"
) -> Count:
    """Bytes of one head in bf16."""
    return io_count(
        tokens=tokens, head_dim=head, tile_q=tile_q, tile_k=tile_k, order=order
    )


def kv_bytes(tokens: int, head: int) -> int:
    """Keys and values asked for, with the tallest tile that a unit has room for.

    A quarter of the room each for queries, keys, values and sums (FlashAttention,
    algorithm 1, line 1).
    """
    tile = int(CHIP.si) // (4 * head * 2)
    return count(tokens, head, tile, tile).kv


def exponent_of_head(tokens: int) -> float:
    """d log(bytes of keys and values) over d log(head size)."""
    return math.log2(kv_bytes(tokens, 2 * HEAD) / kv_bytes(tokens, HEAD))


def exponent_of_tokens(tokens: int) -> float:
    """The same over the sequence's length, whole tiles."""
    one, two = (count(n, HEAD, TILE, TILE).bytes for n in (tokens, 2 * tokens))
    return math.log2(two / one)


def exponent_unfused(tokens: int) -> float:
    """The same for three kernels with the matrix in memory."""
    one, two = (count(n, HEAD, TILE, TILE).unfused for n in (tokens, 2 * tokens))
    return math.log2(two / one)


def missed(tokens: int) -> int:
    """Bytes that an H100's L2 does not answer."""
    plan = TiledAttention(1, 1, tokens, tokens, HEAD, TILE, TILE)
    return read_once(plan, l2_cache(DEVICE), at_once=UNITS).missed


def exponent_behind_l2(tokens: int) -> float:
    """The same of what comes from memory, in a trace through the L2."""
    return math.log2(missed(2 * tokens) / missed(tokens))


def times_read(tokens: int) -> float:
    """How often a byte comes from memory, in the same trace."""
    plan = TiledAttention(1, 1, tokens, tokens, HEAD, TILE, TILE)
    return read_once(plan, l2_cache(DEVICE), at_once=UNITS).times_read


def times_asked(tokens: int, tile_q: int) -> float:
    """How often tiles ask for each key and value."""
    return count(tokens, HEAD, tile_q, TILE).kv / (4 * tokens * HEAD)


def passes_of_matrix(tokens: int) -> float:
    """Times that the matrix of scores crosses to memory, by three kernels."""
    found = count(tokens, HEAD, TILE, TILE)
    return (found.unfused - 4 * tokens * HEAD * 2) / found.matrix


def tiles_outside(tokens: int, tile_k: int) -> float:
    """Tiles of keys in the outer loop: times that the queries are read."""
    return count(tokens, HEAD, TILE, tile_k, "fa1").read["q"] / (2 * tokens * HEAD)


def saved_by_tile(tokens: int, small: int, large: int, order: str) -> float:
    """Bytes of queries and results with small tiles of keys over those with large."""

    def crossed(tile: int) -> int:
        found = count(tokens, HEAD, TILE, tile, order)
        return found.read["q"] + found.written["o"]

    return crossed(small) / crossed(large)


def products(*passes: str) -> int:
    """Products of two matrices in some passes."""
    return sum(len(PRODUCTS[name]) for name in passes)


@claim("flashattention-hbm-reads")
def lost_factor() -> Finding:
    """The exponent of d, M kept: tiles are the shorter, the wider a head is."""
    quoted = LONG**2 * HEAD * 2 / CHIP.si
    return Finding(
        counted(exponent_of_head, LONG, label="exponent of the head size"),
        why="The number of tiles is N over a tile's rows, which are M over d: N d / M "
        "tiles read N d numbers each, N squared d squared over M. In the quoted form "
        f"one d is lost, a factor of the head size. At {LONG:,} tokens it would be "
        f"{quoted / 1e6:.2g} million numbers, fewer than the queries alone, which are "
        f"{LONG * HEAD / 1e6:.2g} million.",
    )


@claim("flashattention-io-linear", right_if=BEHIND_L2)
def nearly_linear() -> Finding:
    """The exponent of N, of what tiles ask for."""
    behind = counted(exponent_behind_l2, TOKENS // 2, label="exponent behind the L2")
    return Finding(
        counted(exponent_of_tokens, TOKENS, label="exponent of the length"),
        why="Asked of global memory it is quadratic, by fewer bytes: "
        f"{count(TOKENS, HEAD, TILE, TILE).saved:.2g} times fewer than by three "
        f"kernels at {TOKENS:,} tokens. An L2 answers all but the first request while "
        "keys and values of the heads in flight fit it.",
        then=behind,
    )


@claim("standard-attention-hbm")
def quadratic() -> Finding:
    """The exponent of N with the matrix of scores in memory."""
    return Finding(
        counted(exponent_unfused, LONG, label="exponent of the length"),
        why="Four crossings of the matrix and one of each operand, which is linear.",
    )


@claim("standard-attention-trips")
def trips() -> Finding:
    """Crossings of the matrix, from all bytes less those of the operands."""
    return Finding(
        counted(passes_of_matrix, TOKENS, label="crossings of the matrix"),
        why=f"{MATRIX_PASSES}: scores are written and read, weights are written and "
        "read. With a softmax fused into one of the products it would be two less.",
    )


@claim("flash-read-once", right_if=BEHIND_L2)
def read_how_often() -> Finding:
    """Times that each key is asked for, and times that it comes from memory."""
    return Finding(
        counted(times_asked, TOKENS, TILE, label="times asked for"),
        why="Once for each tile of queries. Only the queries are read once by the "
        "algorithm itself.",
        then=counted(times_read, TOKENS, label="times read behind an L2"),
    )


@claim("flash-same-flops")
def same_operations() -> Finding:
    """Products of the forward pass, and of the backward one."""
    forward = counted(products, "forward", label="products forward")
    more = counted(products, "flash backward", label="products backward, tiled")
    fewer = counted(products, "standard backward", label="products backward")
    return Finding.depends(
        "the forward pass is meant",
        computed=(
            forward / counted(products, "forward", label="as many unfused")
        ).named("forward pass"),
        why="The forward pass has the same two products and, for each tile, a "
        "rescaling that is linear in the head size. The backward pass computes the "
        f"scores again: {more.si:.0f} products for {fewer.si:.0f}.",
    )


@claim("trn-attn-tile-2048", 2048, 2048)
def outer_tiles(large: int, small: int) -> Finding:
    """Times that the queries are read when tiles of keys are the outer loop."""
    ends = [
        counted(tiles_outside, TOKENS, tile, label=f"tiles of {tile}")
        for tile in (large, small)
    ]
    return Finding(
        ends[0],
        why=f"{TOKENS:,} keys in tiles of {large}: {ends[0].si:.0f}, in tiles of "
        f"{small}: {ends[1].si:.0f}.",
    )


@claim("gpu-attn-tiles-32")
def small_tiles() -> Finding:
    """With the largest of the tiles that the claim names, the fewest."""
    return Finding.true(
        computed=counted(tiles_outside, TOKENS, 128, label="tiles of 128"),
        why=f"In tiles of 64 they are {tiles_outside(TOKENS, 64)}.",
    )


@claim("bigger-kv-tile-less-hbm")
def round_trips() -> Finding:
    """Bytes of queries and results, tiles of 128 keys over tiles of 2,048."""
    inner = saved_by_tile(TOKENS, 128, 2048, "fa2")
    return Finding.depends(
        "tiles of keys are the outer loop",
        computed=counted(
            saved_by_tile, TOKENS, 128, 2048, "fa1", label="fewer bytes of Q and O"
        ),
        why="With tiles of keys outside, as the post and FlashAttention-1 have them: "
        "queries and results cross once a tile. With tiles of queries outside, as from "
        f"FlashAttention-2 on, a larger tile of keys changes nothing: {inner:.2g}.",
    )
