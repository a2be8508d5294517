"""Towers for images and sound, with the projector into the text model.

Each counts what the classes of Hugging Face transformers make of ``vision_config``; a
kind that stands in no row of ``_TOWERS`` is left out of the count, and that is said.
"""

from __future__ import annotations

from collections.abc import Callable

from stacklib.quantity.bounds import is_whole

from .reading import ConfigError, Reader, shown


def tower(outer: Reader, whole: str, hidden: int) -> int | None:
    """Parameters of the tower and its projector; None where its kind is not counted."""
    raw = outer.table("vision_config")
    kind = raw.get("model_type")
    count = _TOWERS.get(whole) or (_TOWERS.get(kind) if isinstance(kind, str) else None)
    if whole == "gemma3" and count is not _siglip:
        raise ConfigError(
            f"vision_config.model_type = {shown(kind)}: not siglip_vision_model"
        )
    if count is None:
        outer.get("multimodal_projector_bias")
        return None
    defaults = {"num_channels": 3, "in_channels": 3, "in_chans": 3}
    return count(Reader(raw, defaults, _NAMES, "vision_config."), outer, hidden)


def _square(inside: int, outside: int, bias: bool = True) -> int:
    return (inside + bias) * outside


def _shape(v: Reader) -> tuple[int, int, int]:
    """Width, MLP size and layers; the heads must share out the width."""
    wide, heads = v.size("hidden_size"), v.size("num_attention_heads")
    if wide % heads:
        raise ConfigError(
            f"vision_config: hidden_size = {wide} by num_attention_heads = {heads}: "
            "not whole"
        )
    return wide, v.size("intermediate_size"), v.size("num_hidden_layers", most=10_000)


def _layers(v: Reader, *, gated: bool = False, bias: bool = True, norm: int = 2) -> int:
    """Layers of attention and MLP, each after a norm of ``norm`` vectors."""
    wide, inner, layers = _shape(v)
    mlp = (2 if gated else 1) * _square(wide, inner, bias) + _square(inner, wide, bias)
    return layers * (4 * _square(wide, wide, bias) + mlp + 2 * norm * wide)


def _places(v: Reader) -> int:
    patch, image = v.size("patch_size"), v.size("image_size")
    if image % patch:
        raise ConfigError(
            f"vision_config: image_size = {image} by patch_size = {patch}: not whole"
        )
    return (image // patch) ** 2


def _pixels(v: Reader, frames: int = 1, channels: str = "num_channels") -> int:
    """Numbers of one patch."""
    return v.size(channels) * frames * v.size("patch_size") ** 2


def _siglip(v: Reader, outer: Reader, hidden: int) -> int:
    v.refuse("vision_use_head", (False,), "a pooling head is not counted")
    if not v.has("vision_use_head"):
        raise ConfigError("config lacks 'vision_config.vision_use_head'")
    wide = v.size("hidden_size")
    embedded = _square(_pixels(v), wide) + _places(v) * wide
    return embedded + _layers(v) + 2 * wide + wide * hidden + wide


def _qwen3(v: Reader, outer: Reader, hidden: int) -> int:
    """Qwen3-VL and Qwen3.5: some layers' states are merged and added further up."""
    wide, merged = v.size("hidden_size"), _merged(v)
    out = v.size("out_hidden_size", hidden)
    pixels = _pixels(v, v.size("temporal_patch_size", 2), "in_channels")
    embedded = _square(pixels, wide) + v.size("num_position_embeddings") * wide
    merger = _square(merged, merged) + _square(merged, out)
    deep = len(v.items("deepstack_visual_indexes")[1] or [])
    total = embedded + _layers(v) + 2 * wide + merger
    return total + deep * (2 * merged + merger)


def _qwen2_5(v: Reader, outer: Reader, hidden: int) -> int:
    wide, merged = v.size("hidden_size"), _merged(v)
    pixels = _pixels(v, v.size("temporal_patch_size", 2), "in_chans")
    merger = _square(merged, merged) + _square(merged, v.size("out_hidden_size"))
    return pixels * wide + _layers(v, gated=True, norm=1) + wide + merger


def _merged(v: Reader) -> int:
    return v.size("hidden_size") * v.size("spatial_merge_size", 2) ** 2


def _gemma4(v: Reader, outer: Reader, hidden: int) -> int:
    wide, inner, layers = _shape(v)
    heads, kv = v.size("num_attention_heads"), v.size("num_key_value_heads")
    head = v.size("head_dim")
    attention = 2 * wide * head * (heads + kv) + 2 * head
    body = layers * (attention + 3 * wide * inner + 4 * wide)
    places = 2 * v.size("position_embedding_size") * wide
    scale = 2 * wide if v.flag("standardize") else 0
    return _pixels(v) * wide + places + body + scale + wide * hidden


def audio(outer: Reader, hidden: int) -> int:
    """Gemma 4's conformer: two MLPs, attention and a convolution in every layer."""
    defaults = {
        "hidden_size": 1024,
        "num_hidden_layers": 12,
        "num_attention_heads": 8,
        "conv_kernel_size": 5,
        "output_proj_dims": 1536,
        "subsampling_conv_channels": (128, 32),
    }
    a = Reader(outer.table("audio_config"), defaults, {}, "audio_config.")
    wide, out = a.size("hidden_size"), a.size("output_proj_dims")
    label, channels = a.items("subsampling_conv_channels")
    if channels is None or len(channels) != 2 or not all(map(is_whole, channels)):
        raise ConfigError(f"{label} = {shown(channels)}: two whole numbers are needed")
    first, second = channels
    sampled = 10 * first + 9 * first * second + second + first // 4 * second * wide
    vectors = 9 + a.size("conv_kernel_size")
    layer = 24 * wide**2 + vectors * wide + wide // a.size("num_attention_heads")
    layers = a.size("num_hidden_layers", most=10_000)
    return sampled + layers * layer + _square(wide, out) + out * hidden


def _moonvit(v: Reader, outer: Reader, hidden: int) -> int:
    wide = v.size("hidden_size")
    rows, columns = v.size("init_pos_emb_height"), v.size("init_pos_emb_width")
    label, kernel = v.items("merge_kernel_size")
    if kernel != [2, 2]:
        raise ConfigError(f"{label} = {shown(kernel)}: only [2, 2] is counted")
    embedded = _square(_pixels(v), wide) + rows * columns * wide
    projector = _square(4 * wide, 4 * wide) + _square(4 * wide, hidden)
    return embedded + _layers(v) + 2 * wide + 2 * wide + projector


def _minimax(v: Reader, outer: Reader, hidden: int) -> int:
    wide, inside = v.size("hidden_size"), outer.size("projector_hidden_size")
    outer.refuse("multimodal_projector_bias", (True,), "only with biases is counted")
    how = v
    if v.has("img_token_compression_config"):
        how = Reader(v.table("img_token_compression_config"), {}, {}, v.prefix)
    merged = hidden * how.size("spatial_merge_size") ** 2
    projector = _square(wide, inside) + _square(merged, inside)
    embedded = _pixels(v, how.size("temporal_patch_size")) * wide
    return embedded + 2 * wide + _layers(v) + projector + 2 * _square(inside, hidden)


def _llama4(v: Reader, outer: Reader, hidden: int) -> int:
    wide, inner, _ = _shape(v)
    embedded = _pixels(v) * wide + (_places(v) + 2) * wide + 4 * wide
    inside, out = v.size("projector_input_dim"), v.size("projector_output_dim")
    adapter = inner * inside + out**2 + v.size("vision_output_dim") * hidden
    return embedded + _layers(v) + adapter


def _pixtral(v: Reader, outer: Reader, hidden: int) -> int:
    wide, merge = v.size("hidden_size"), outer.size("spatial_merge_size", 2)
    bias = outer.flag("multimodal_projector_bias")
    projector = _square(wide, hidden, bias) + _square(hidden, hidden, bias)
    projector += wide + merge**2 * wide**2
    layers = _layers(v, gated=True, bias=False, norm=1)
    return _pixels(v) * wide + wide + layers + projector


# field -> the other names towers give it
_NAMES = {
    "hidden_size": ("vt_hidden_size",),
    "intermediate_size": ("vt_intermediate_size",),
    "num_hidden_layers": ("depth", "vt_num_hidden_layers"),
    "num_attention_heads": ("num_heads", "vt_num_attention_heads"),
    "init_pos_emb_height": ("pos_emb_height",),
    "init_pos_emb_width": ("pos_emb_width",),
}
# by the type of the whole where its tower has no type of its own, else of the tower
_TOWERS: dict[str, Callable[[Reader, Reader, int], int]] = {
    "kimi_k25": _moonvit,
    "minimax_m3_vl": _minimax,
    "siglip_vision_model": _siglip,
    "qwen3_vl": _qwen3,
    "qwen3_vl_moe": _qwen3,
    "qwen3_5": _qwen3,
    "qwen3_5_moe": _qwen3,
    "qwen3_5_vision": _qwen3,
    "qwen2_5_vl": _qwen2_5,
    "gemma4_vision": _gemma4,
    "llama4_vision_model": _llama4,
    "pixtral": _pixtral,
}
