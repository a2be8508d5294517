"""Types whose layers have attention of two shapes, from the fields of a config."""

from __future__ import annotations

from dataclasses import replace

from .attention_fields import grouped, layer_windows
from .block import Block
from .kinds import Kind
from .mlp_fields import experts_of, mlps_of
from .parts import Attention, Experts, Indexer, Mlp
from .reading import ConfigError, Reader, shown

_MOST_LAYERS = 10_000


def gemma4(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """Gemma 4: full layers have wider heads, the last borrow their keys and values."""
    layers = reader.size("num_hidden_layers", most=_MOST_LAYERS)
    windows = layer_windows(reader, kind, layers)
    windows[-1] = 0  # the class makes the last layer a full one
    near, far = _near_and_far(_by_layer(reader, windows), kind, hidden)
    borrowed = reader.size("num_kv_shared_layers", 0, least=0, most=layers)
    lenders = set(map(bool, windows[: layers - borrowed]))
    if borrowed and lenders != set(map(bool, windows)):
        raise ConfigError(f"num_kv_shared_layers = {borrowed}: a kind has no lender")
    inner, double = reader.size("intermediate_size"), reader.flag("use_double_wide_mlp")
    experts = _beside_experts(reader, kind, inner)
    more = reader.size("hidden_size_per_layer_input", 256, least=0)
    norms = kind.norms + (4 if experts else 0) + (1 if more else 0)
    blocks = []
    for layer, window in enumerate(windows):
        attention = replace(near, window=window) if window else far
        mlp: Mlp | Experts = experts or Mlp(inner)
        if layer >= layers - borrowed:
            attention = replace(attention, keys="borrowed")
            mlp = Mlp(2 * inner) if double and not experts else mlp
        blocks.append(Block(attention, mlp, norms, layer_input=more, scalars=1))
    return blocks


def _by_layer(reader: Reader, windows: list[int]) -> Reader:
    """The reader, with sizes of full layers that are given for each of them."""
    label, listed = reader.get("per_layer_config")
    if not listed:
        return reader
    full = [layer for layer, window in enumerate(windows) if not window]
    alike = isinstance(listed, dict) and [*listed.values()] == len(full) * [
        next(iter(listed.values()))
    ]
    if not alike or sorted(listed) != sorted(f"{layer:02}" for layer in full):
        raise ConfigError(f"{label} = {shown(listed)}: not alike for all full layers")
    sizes = reader.table("per_layer_config")[f"{full[0]:02}"]
    if not isinstance(sizes, dict) or set(sizes) - {"head_dim", "num_key_value_heads"}:
        raise ConfigError(f"{label} = {shown(listed)}: only heads differ by layer")
    reader.raw = reader.raw | {
        f"global_{name}" if name == "head_dim" else "num_global_key_value_heads": size
        for name, size in sizes.items()
    }
    return reader


def _near_and_far(
    reader: Reader, kind: Kind, hidden: int
) -> tuple[Attention, Attention]:
    """Attention of a layer with a window, and of one without."""
    heads = reader.size("num_attention_heads")
    kv_heads = reader.size("num_key_value_heads")
    wide_kv = reader.size("num_global_key_value_heads", kv_heads)
    near = grouped(reader, kind, hidden, heads, kv_heads)(0)
    far = replace(near, head_dim=reader.size("global_head_dim", 512))
    if reader.flag("attention_k_eq_v"):
        far = replace(far, kv_heads=wide_kv, keys="values too")
    if heads % far.kv_heads:
        raise ConfigError(f"num_global_key_value_heads = {wide_kv} of {heads} heads")
    return near, far


def _beside_experts(reader: Reader, kind: Kind, inner: int) -> Experts | None:
    """Experts beside the MLP, which every token passes like a shared one."""
    if reader.flag("enable_moe_block"):
        return replace(experts_of(reader, kind), shared=inner, router_bias=True)
    for size in ("num_experts", "top_k_experts", "moe_intermediate_size"):
        reader.get(size)
    return None


def tables(reader: Reader, layers: int) -> int:
    """Gemma 4's rows by token and layer, and the norm of what is added to them."""
    size = reader.size("hidden_size_per_layer_input", 256, least=0)
    rows = reader.size("vocab_size_per_layer_input", 262144)
    return size and rows * layers * size + size


def unused(reader: Reader, blocks: list[Block], hidden: int) -> int:
    """Key and value matrices that releases of Gemma 4 hold for layers that borrow."""
    total = 0
    for block in blocks:
        a = block.attention
        if isinstance(a, Attention) and a.keys == "borrowed":
            one = reader.flag("attention_k_eq_v") and not a.window
            total += (1 if one else 2) * a.kv_heads * a.head_dim * hidden + a.head_dim
    return total


def two_shapes(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """MiMo-V2: layers with a window have sinks and KV heads of their own."""
    layers = reader.size("num_hidden_layers", most=_MOST_LAYERS)
    heads = reader.size("num_attention_heads")
    kv_heads = reader.size("num_key_value_heads")
    value = reader.size("v_head_dim")
    full = replace(
        grouped(reader, kind, hidden, heads, kv_heads)(0),
        value_dim=value,
        sinks=reader.flag("add_full_attention_sink_bias"),
    )
    near = replace(
        full,
        heads=reader.size("swa_num_attention_heads", heads),
        kv_heads=reader.size("swa_num_key_value_heads", 2 * kv_heads),
        head_dim=reader.size("swa_head_dim", full.head_dim),
        window=reader.size("sliding_window"),
        value_dim=reader.size("swa_v_head_dim", value),
        sinks=reader.flag("add_swa_attention_sink_bias", True),
    )
    if near.heads % near.kv_heads:
        raise ConfigError(
            f"swa_num_key_value_heads = {near.kv_heads} of {near.heads} heads"
        )
    reader.get("attention_chunk_size")  # the window again
    words = reader.words("layer_types", ("full_attention", "sliding_attention"), layers)
    slides = reader.switches("hybrid_layer_pattern", layers)
    if words:
        slides = [word == "sliding_attention" for word in words]
    if slides is None:
        raise ConfigError("config lacks 'hybrid_layer_pattern' or 'layer_types'")
    mlps = mlps_of(reader, kind, hidden, layers)
    return [Block(near if s else full, m) for s, m in zip(slides, mlps, strict=True)]


def best_blocks(reader: Reader, kind: Kind, hidden: int) -> list[Block]:
    """MiniMax-M3: an indexer picks the blocks of tokens that a query sees."""
    layers = reader.size("num_hidden_layers", most=_MOST_LAYERS)
    heads = reader.size("num_attention_heads")
    kv_heads = reader.size("num_key_value_heads")
    reader.refuse("qk_norm_type", ("per_head",), "this model_type has one a head")
    size = reader.size("intermediate_size")
    reader.refuse("moe_intermediate_size", (size,), f"intermediate_size is {size}")
    full = grouped(reader, kind, hidden, heads, kv_heads)(0)
    indexer, picks = _indexers(reader, layers)
    some = replace(full, indexer=indexer)
    mlps = mlps_of(reader, kind, hidden, layers)
    return [Block(some if p else full, m) for p, m in zip(picks, mlps, strict=True)]


def _indexers(reader: Reader, layers: int) -> tuple[Indexer | None, list[bool]]:
    """The indexer, and which layers have one; in a table of its own or beside it."""
    kinds = ("full_attention", "minimax_m3_sparse")
    words = reader.words("layer_types", kinds, layers)
    names = ("index_n_heads", "index_head_dim", "index_topk_blocks", "index_block_size")
    picks, s = [word == kinds[1] for word in words or []], reader
    if reader.get("sparse_attention_config")[1] is not None:
        where = f"{reader.prefix}sparse_attention_config."
        aliases = dict(
            zip(
                names,
                (
                    ("sparse_num_index_heads",),
                    ("sparse_index_dim",),
                    ("sparse_topk_blocks",),
                    ("sparse_block_size",),
                ),
                strict=True,
            )
        )
        s = Reader(reader.table("sparse_attention_config"), {}, aliases, where)
        s.refuse("sparse_init_block", (0,), "a first block for all is not counted")
        listed = s.switches("sparse_attention_freq", layers) or []
        picks = picks or (listed if s.flag("use_sparse_attention", True) else [])
        bare = s.switches("sparse_disable_index_value", layers) or [True] * layers
        if any(pick and not alone for pick, alone in zip(picks, bare, strict=False)):
            raise ConfigError(
                f"{where}sparse_disable_index_value has 0 where one picks"
            )
    heads, size, best, block = (s.size(name, 0) for name in names)
    reader.get("index_local_blocks")
    if not any(picks):
        return None, [False] * layers
    if not (heads and size and best and block):
        raise ConfigError(f"{s.prefix}: the indexer needs {', '.join(names)}")
    return Indexer(heads, size, best * block), picks
