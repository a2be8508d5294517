"""The MLP or mixture of experts of every layer, from the fields of a config."""

from __future__ import annotations

from dataclasses import replace

from stacklib.quantity.bounds import is_whole

from .kinds import Kind
from .parts import Experts, Mlp
from .reading import ConfigError, Reader, shown

_EXPERT_FIELDS = ("n_routed_experts", "num_experts_per_tok")
_FIRST = ("first_k_dense_replace", "moe_layer_freq")
_GATED_SHARED = "shared_expert_intermediate_size"
# flags that say a router has a bias, each for the types that always have one
_SAYS_BIAS = ("use_routing_bias", "use_moe_router_bias")


def told(reader: Reader, flag: bool | str) -> bool:
    """A fact of the type, or what the flag of this name says."""
    return reader.flag(flag) if isinstance(flag, str) else flag


def mlps_of(
    reader: Reader, kind: Kind, hidden: int, layers: int
) -> list[Mlp | Experts]:
    """The MLP or the experts of each layer."""
    if not kind.mlp:
        reader.get(kind.dense_size)  # of nothing
        return [Mlp(0)] * layers
    sparse = _sparse_layers(reader, kind, layers)
    experts = experts_of(reader, kind) if any(sparse) else None
    if kind.experts and experts is None:  # sizes of experts no layer has
        for field in (*_EXPERT_FIELDS, kind.expert_size, kind.shared_size):
            reader.get(field)
    dense = None
    if not all(sparse):
        default = {"default": kind.wide * hidden} if kind.wide else {}
        size = reader.size(kind.dense_size, **default)
        dense = Mlp(size, kind.gated, told(reader, kind.mlp_bias))
    else:
        reader.get(kind.dense_size)  # some releases name a size no layer has
    if kind.router_bias == "hash":
        return list(_hashed(reader, experts, layers))
    chosen: list[Mlp | Experts] = []
    for is_sparse in sparse:
        part = experts if is_sparse else dense
        assert part is not None
        chosen.append(part)
    return chosen


def _sparse_layers(reader: Reader, kind: Kind, layers: int) -> list[bool]:
    if not kind.experts:
        return [False] * layers
    if kind.experts == "all":
        return [True] * layers
    if kind.experts == "listed":
        return _listed(reader, layers)
    if listed := reader.words("mlp_layer_types", ("dense", "sparse"), layers):
        for ruled in ("mlp_only_layers", "decoder_sparse_step", *_FIRST):
            reader.get(ruled)
        return [word == "sparse" for word in listed]
    if kind.experts == "step":
        only = _indices(reader, "mlp_only_layers", layers)
        step = reader.size("decoder_sparse_step", 1)
        return [i not in only and (i + 1) % step == 0 for i in range(layers)]
    if isinstance(reader.get("moe_layer_freq")[1], (list, tuple)):
        reader.get("first_k_dense_replace")
        return reader.switches("moe_layer_freq", layers) or []
    first = reader.size("first_k_dense_replace", least=0)
    step = reader.size("moe_layer_freq", 1)
    return [i >= first and i % step == 0 for i in range(layers)]


def _listed(reader: Reader, layers: int) -> list[bool]:
    """Llama 4: the layers of a list, or every so many."""
    step = reader.size("interleave_moe_layer_step", 1)
    if reader.items("moe_layers")[1] is not None:
        only = _indices(reader, "moe_layers", layers)
        return [i in only for i in range(layers)]
    return [(i + 1) % step == 0 for i in range(layers)]


def _indices(reader: Reader, name: str, layers: int) -> set[int]:
    label, values = reader.items(name)
    for value in values or []:
        if not is_whole(value):
            raise ConfigError(f"{label} has {shown(value)}: whole numbers are needed")
        if not 0 <= value < layers:
            raise ConfigError(f"{label} has {shown(value)}: not one of {layers} layers")
    return set(values or [])


def experts_of(reader: Reader, kind: Kind) -> Experts:
    """The mixture of the layers that have one."""
    experts = reader.size("n_routed_experts", most=10**6)
    top_k = reader.size("num_experts_per_tok")
    if top_k > experts:
        raise ConfigError(f"num_experts_per_tok = {top_k} of {experts} experts")
    size = reader.size(kind.expert_size)
    shared = 0
    if kind.shared_size == "n_shared_experts":
        if not reader.has("n_shared_experts"):
            raise ConfigError("config lacks 'n_shared_experts'; null for none")
        shared = size * reader.size("n_shared_experts", 0, least=0)
    elif kind.shared_size:
        shared = reader.size(kind.shared_size, least=0)
        shared *= reader.size("n_shared_experts", 1, least=0)
    bias = kind.router_bias is True or kind.router_bias == "hash"
    if kind.router_bias == "noaux_tc":
        method = reader.get("topk_method", "noaux_tc")[1]
        if method not in ("noaux_tc", "greedy", "group_limited_greedy"):
            raise ConfigError(f"topk_method = {shown(method)} is not supported")
        bias = method == "noaux_tc"
    for flag in _SAYS_BIAS if bias else ():
        reader.refuse(flag, (True,), "this model_type has the bias")
    return Experts(
        experts,
        top_k,
        size,
        bias=kind.sinks,  # gpt-oss has both
        router_bias=bias,
        shared=shared,
        shared_gate=kind.shared_size == _GATED_SHARED and shared > 0,
        gated=kind.gated,
        latent=reader.size(kind.latent_size, 0) if kind.latent_size else 0,
    )


def _hashed(reader: Reader, experts: Experts | None, layers: int) -> list[Experts]:
    """DeepSeek-V4: the first layers look their experts up, without a router bias."""
    assert experts is not None
    listed = reader.words("mlp_layer_types", ("hash_moe", "moe"), layers)
    first = reader.size("num_hash_layers", 3, least=0)
    if listed:
        hashed = [word == "hash_moe" for word in listed]
    else:
        hashed = [i < first for i in range(layers)]
    plain = replace(experts, router_bias=False)
    return [plain if h else experts for h in hashed]
