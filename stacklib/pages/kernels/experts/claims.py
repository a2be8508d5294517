"""Claims on the sizes of experts, their tiles, and tokens rounded to them."""

from stacklib import gpu, models
from stacklib.evidence import Finding, claim
from stacklib.kernels.experts import tiles as tiled
from stacklib.kernels.experts.rounding import pad_waste, round_tokens, tiny_scores
from stacklib.models.formulas import Sizes
from stacklib.quantity import Quantity, chosen, counted, one_of

V2, V3, H100 = "deepseek-v2", "deepseek-v3", "h100_sxm"
TILE = chosen(128, label="rows of a tile")
TILES = (16, 64, 128, 256)
ABSTRACT = "Guo et al., SonicMoE, arXiv 2512.14080, abstract"
REPOSITORY = "Dao-AILab/sonic-moe at 8565e84, README"
FEW, MANY = 8192, 16384  # tokens of a batch, within what is trained with


def remainders() -> int:
    """What is left of the two sizes over all tiles."""
    v2, v3 = models.get(V2), models.get(V3)
    assert v2.experts is not None
    return sum(n % t for n in (v2.experts.intermediate, v3.hidden) for t in TILES)


def padding(tokens: int) -> Quantity:
    """Rows padded over rows asked for, for the experts of DeepSeek-V3."""
    model = models.get(V3)
    experts, sizes = model.experts, Sizes(model)
    assert experts is not None
    return pad_waste(
        chosen(tokens, label="tokens"),
        sizes(experts.top_k, "experts of a token"),
        sizes(experts.experts, "experts"),
        TILE,
    ).named("padding")


def width_of(name: str) -> Quantity:
    """Width of an expert."""
    return tiled.expert_tiles(name, tokens=1).width


@claim("v3-expert-33m")
def parameters() -> Finding:
    """Three matrices of the config's two sizes."""
    total = tiled.routed_parameters(V3)
    other = (total * width_of(V2) / width_of(V3)).named("with the other width")
    return Finding(
        tiled.expert_tiles(V3, tokens=1).parameters,
        why=f"The config has a width of {width_of(V3).si:,.0f}; {width_of(V2).si:,.0f} "
        f"is that of V2's experts. All of them are {total.si / 1e9:.0f} billion of the "
        f"{models.get(V3).parameters.si / 1e9:.0f} of the model, which leaves what the "
        f"rest has; the other width would make {other.si / 1e9:.0f}.",
    )


@claim("v3-1536-tiles")
def tiles_across() -> Finding:
    """V2's expert width over a tile."""
    own = (width_of(V3) / TILE).named("tiles of V3's width")
    hidden = (tiled.expert_tiles(V3, tokens=1).hidden / TILE).named(
        "tiles of the hidden size"
    )
    return Finding(
        (width_of(V2) / TILE).named("tiles of the width"),
        why="The width of an expert of DeepSeek-V2, as its config has it. V3's is "
        f"{own.si:.0f} tiles wide, its hidden size {hidden.si:.0f}.",
    )


@claim("tile-multiples-16")
def left_over() -> Finding:
    """Sum of the remainders over all four tiles."""
    return Finding.true(
        computed=counted(remainders, label="sum of remainders"),
        why=f"By {', '.join(map(str, TILES))}; so are those of V3's own width.",
    )


@claim("v3-alignment-util")
def use_of_cores() -> Finding:
    """What misaligned sizes cost, and what misaligned tokens do."""
    ragged, whole_tiles = 1500, int(width_of(V2).si)
    worst = tiled.tile_efficiency(ragged, int(TILE.si))
    batch = tiled.expert_tiles(V3, tokens=4096, tile=int(TILE.si))
    return Finding.open(
        f"Sizes cannot be it: {ragged:,} columns instead of {whole_tiles:,} leave "
        f"{worst:.1%} of the tiles in use. Tokens can: {batch.tokens:.0f} for each "
        f"expert in the mean fill {batch.in_tokens:.0%} of theirs. But no size of a "
        "matrix changes that. To settle it: the tensor cores' active cycles of a "
        f"grouped product on an H100, at widths of {ragged:,} and {whole_tiles:,}, "
        "with counts of tokens that are whole tiles and with drawn ones."
    )


@claim("sonicmoe-128-multiple")
def tile_height() -> Finding:
    """Rows of the instruction."""
    found = gpu.instruction(H100)
    rows = found.side("rows", "bf16", f"rows of {found.name}")
    return Finding(
        (rows * one_of("token")).named("tokens of a tile"),
        why=f"{TILE.si:.0f} is the tile of a block, of two warp groups or two "
        "instructions. Right as the multiple, not as the height of WGMMA.",
    )


@claim("sonicmoe-1p86")
def generations() -> Finding:
    """Where the abstract's figure was measured."""
    return Finding.false(
        f"Source: {ABSTRACT}: 1.86 times on Hopper, over ScatterMoE in BF16, for a "
        f"fine-grained model of seven billion. {REPOSITORY}, asks for Hopper."
    )


@claim("sonicmoe-16-points")
def points() -> Finding:
    """What the abstract makes of the second factor."""
    return Finding.false(
        f"Source: {ABSTRACT}: 1.16 times is a further factor of kernel time under high "
        "sparsity, on top of 1.86, and no part of the 86 points. Nor is tensor memory: "
        "a Hopper has none."
    )


@claim("sonicmoe-padding-model")
def padded() -> Finding:
    """Half a tile an expert, of two sizes of batch."""
    table = tiny_scores(experts=64)
    real = round_tokens(table, top_k=4, tile=int(TILE.si))
    told = pad_waste(len(table), 4, 64, int(TILE.si))
    return Finding.open(
        f"For V3's experts it is {padding(MANY):.3 %} of {MANY:,} tokens, "
        f"{padding(FEW):.3 %} of {FEW:,}, half again with twice the tokens; the "
        "document names no sizes. With a random router on the tiny model's hidden "
        f"states the formula says {told:.1%} and the counts {real.waste:.1%}; rounding "
        f"them changes {real.pairs_changed:.1%} of the choices. To settle it: the "
        "experts, tokens and tile behind the document's figure."
    )
