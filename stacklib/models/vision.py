"""Vision towers as far as the releases of the database have one: SigLIP in Gemma 3."""

from __future__ import annotations

from .reading import ConfigError, Reader, shown


def tower(outer: Reader, hidden: int) -> int:
    """Parameters of the tower and of the projector into the text model."""
    raw = outer.table("vision_config")
    kind = raw.get("model_type")
    if kind != "siglip_vision_model":
        raise ConfigError(
            f"vision_config.model_type = {shown(kind)}: not siglip_vision_model"
        )
    v = Reader(raw, {"num_channels": 3}, {}, "vision_config.")
    v.refuse("vision_use_head", (False,), "a pooling head is not counted")
    if not v.has("vision_use_head"):
        raise ConfigError("config lacks 'vision_config.vision_use_head'")
    wide, inner = v.size("hidden_size"), v.size("intermediate_size")
    layers = v.size("num_hidden_layers", most=10_000)
    heads = v.size("num_attention_heads")
    patch, image = v.size("patch_size"), v.size("image_size")
    if wide % heads or image % patch:
        raise ConfigError(
            f"vision_config: hidden_size = {wide} by num_attention_heads = {heads}, "
            f"image_size = {image} by patch_size = {patch}: not whole"
        )
    norm = 2 * wide
    pixels = v.size("num_channels") * patch**2 * wide + wide
    positions = (image // patch) ** 2 * wide
    attention = 4 * (wide + 1) * wide
    mlp = (wide + 1) * inner + (inner + 1) * wide
    projector = wide * hidden + wide
    body = pixels + positions + layers * (attention + mlp + 2 * norm) + norm
    return body + projector
