"""``quantization_config`` of a release, believed: which tensor it keeps in what.

Of transformers' methods those whose files have a published layout: fp8, fbgemm_fp8,
compressed-tensors, modelopt, gptq, awq, auto-round, mxfp4, bitsandbytes, quark. A
method that is not known is refused: its bytes would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stacklib.quantity.bounds import is_whole
from stacklib.quantity.stored import HALF, STORED, Stored

from ..language_model import LanguageModel
from ..reading import ConfigError, shown
from ..weights.kept import Kept, size_of
from ..weights.mixtures import Way
from ..weights.module_names import Picked
from ..weights.tensors import Tensor, tensors

FIELD = "quantization_config"
# ModelOpt's names of what it does to a matrix, and whether its products run in that
_MODELOPT = {
    "FP8": ("fp8_tensor", True),
    "FP8_PER_CHANNEL_PER_TOKEN": ("fp8_channel", True),
    "FP8_PB_WO": ("fp8_128x128", True),
    "FP8_PB_REAL": ("fp8_128x128", True),
    "NVFP4": ("nvfp4", True),
    "NVFP4_AWQ": ("nvfp4", True),
    "W4A16_NVFP4": ("nvfp4", False),
    "W4A8_NVFP4_FP8": ("nvfp4", False),
    "MXFP8": ("mxfp8", True),
    "MXFP4": ("mxfp4", True),
    "W4A8_MXFP4_FP8": ("mxfp4", False),
    "W4A16_AWQ": ("int4_g128", False),
    "W4A8_AWQ": ("int4_g128", False),
    "INT4_AWQ": ("int4_g128", False),
    "W8A8_SQ_PER_CHANNEL": ("int8_channel", True),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a config says: a format for some tensors, and those it leaves alone."""

    row: Stored | None  # of the matrices that nothing else is said of
    left: Picked
    groups: tuple[tuple[Picked, Stored], ...] = ()
    experts_only: bool = False
    head: bool = False  # whether the output matrix is one of them

    def of(self, tensor: Tensor) -> Stored | None:
        """The format of a tensor; None where it is left in 16 bits."""
        if not (tensor.linear or tensor.part == "head"):
            return None
        for picked, row in self.groups:
            if tensor in picked:
                return row
        if tensor in self.left or (tensor.part == "head" and not self.head):
            return None
        return None if self.experts_only and not tensor.experts else self.row


class _Fields:
    """Fields of the config, each checked as it is read."""

    def __init__(self, raw: Mapping[str, Any], where: str) -> None:
        self.raw, self.where = raw, where

    def wrong(self, name: str, need: str) -> ConfigError:
        return ConfigError(f"{self.where}.{name} = {shown(self.raw.get(name))}: {need}")

    def table(self, name: str) -> _Fields:
        value = self.raw.get(name) or {}
        if not isinstance(value, Mapping):
            raise self.wrong(name, "a JSON object is needed")
        return _Fields(value, f"{self.where}.{name}")

    def word(self, name: str, default: str = "") -> str:
        value = self.raw.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.wrong(name, "text is needed")
        return value

    def size(self, *names: str, default: int, least: int = 1, most: int = 10**6) -> int:
        for name in names:
            value = self.raw.get(name)
            if value is None:
                continue
            if not is_whole(value) or not (least <= value <= most or value == -1):
                raise self.wrong(name, f"a whole number from {least} to {most}")
            return int(value)
        return default

    def picked(self, *names: str) -> Picked:
        found: list[str] = []
        for name in names:
            value = self.raw.get(name) or []
            if not isinstance(value, (list, tuple)) or not all(
                isinstance(item, str) for item in value
            ):
                raise self.wrong(name, "a list of module names is needed")
            found += value
        try:
            return Picked(found)
        except (re.error, RecursionError, OverflowError) as wrong:
            raise self.wrong(names[0], f"no pattern: {wrong}") from None


def as_released(model: LanguageModel, raw: Mapping[str, Any]) -> LanguageModel:
    """The model with its weights kept as its config says, where it says so.

    - raises ``ConfigError`` for a method that is not known here, or a field of it that
      makes no sense
    """
    text = raw.get("text_config")
    model = replace(model, model_type=str(raw.get("model_type", "")))
    found = raw.get(FIELD) or raw.get("compression_config")
    if not found and isinstance(text, Mapping):
        found = text.get(FIELD)
    if not found:
        return model
    if not isinstance(found, Mapping):
        raise ConfigError(f"{FIELD} = {shown(found)}: a JSON object is needed")
    name, rule = _rule(_Fields(found, FIELD), raw)
    kept = _keep(model, name, rule, _cache(_Fields(found, FIELD)))
    return replace(model, kept=kept)


def _keep(model: LanguageModel, name: str, rule: Rule, cache: str) -> Kept:
    rest = STORED[HALF]
    rows = [(t, rule.of(t) or rest) for t in tensors(model)]
    inside: dict[Stored, int] = {}
    for tensor, row in rows:
        if row is not rest:
            inside[row] = inside.get(row, 0) + tensor.numbers
    if not inside:
        raise ConfigError(f"{FIELD}: {name} leaves every tensor of {model.key} alone")
    most = max(inside, key=lambda row: inside[row])
    names = " and ".join(dict.fromkeys(row.name for row in inside))
    words = f"as {FIELD} says: {names}, the rest in {HALF}"
    title = name if name == names else f"{name} ({names})"
    way = Way(title, words, most.numbers, cache)
    return Kept(way, tuple((t, row, size_of(t, row)) for t, row in rows))


def _cache(q: _Fields) -> str:
    """Format of the cache: 16 bits unless the release carries scales for it."""
    scheme = q.raw.get("kv_cache_scheme") or q.raw.get("kv_cache_quant_algo")
    if not scheme:
        return HALF
    if isinstance(scheme, Mapping):
        bits = _Fields(scheme, f"{q.where}.kv_cache_scheme").size("num_bits", default=8)
        scheme = f"FP{bits}"
    known = {"FP8": "fp8", "NVFP4": "nvfp4", "FP4": "nvfp4", "INT8": "int8"}
    return known.get(str(scheme).upper(), HALF)


def _rule(q: _Fields, raw: Mapping[str, Any]) -> tuple[str, Rule]:
    method = q.word("quant_method").lower() or _unnamed(q)
    if q.word("quant_algo") and method != "modelopt":
        method = "modelopt"
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise q.wrong("quant_method", f"not known; known are {known}")
    rule = METHODS[method](q)
    if raw.get("expert_dtype") == "fp4":  # DeepSeek-V4: MXFP4 times FP8
        routed = Picked([f"layers.*.{home}.experts" for home in ("mlp", "ffn")])
        experts = replace(STORED["mxfp4"], numbers="fp8")
        rule = replace(rule, groups=(*rule.groups, (routed, experts)))
    return method, rule


def _unnamed(q: _Fields) -> str:
    if "load_in_4bit" in q.raw or "load_in_8bit" in q.raw:
        return "bitsandbytes"
    return "modelopt" if "quant_algo" in q.raw else ""


LEFT = ("modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers")


def _fp8(q: _Fields) -> Rule:
    block = q.raw.get("weight_block_size")
    row = STORED["fp8_tensor"]
    if block is not None:
        if not (
            isinstance(block, (list, tuple))
            and len(block) == 2
            and all(is_whole(n) and 1 <= n <= 10**6 for n in block)
        ):
            raise q.wrong("weight_block_size", "two sizes are needed")
        across, along = block
        bits = 8 if q.word("scale_fmt") == "ue8m0_packed" else 32
        name = f"fp8_{across}x{along}"
        row = STORED.get(name) or Stored(name, "fp8", 8, along, bits, across=across)
    return Rule(row, q.picked(*LEFT))


def _integers(name: str, bits: int, group: int, zero: bool, per_row: int) -> Stored:
    """Groups of integers with a scale in fp16, with or without zero points."""
    scale = 16 + bits * zero
    if group <= 0:  # one group a column
        return Stored(f"{name}_{bits}bit", "", bits, per_column=scale, per_row=per_row)
    label = f"{name}_g{group}" if bits == 4 else f"{name}_{bits}bit_g{group}"
    return Stored(label, "", bits, group, scale, per_row=per_row)


def _gptq(q: _Fields) -> Rule:
    bits = q.size("bits", default=4, least=2, most=8)
    group = q.size("group_size", default=128)
    row = _integers("gptq", bits, group, zero=True, per_row=32)
    return Rule(row, q.picked(*LEFT), head=q.raw.get("lm_head") is True)


def _awq(q: _Fields) -> Rule:
    bits = q.size("bits", "w_bit", default=4, least=2, most=8)
    group = q.size("group_size", "q_group_size", default=128)
    return Rule(_integers("awq", bits, group, zero=True, per_row=0), q.picked(*LEFT))


def _bitsandbytes(q: _Fields) -> Rule:
    left = q.picked("llm_int8_skip_modules")
    if not q.raw.get("load_in_4bit"):
        return Rule(replace(STORED["int8_channel"], numbers=""), left)
    kind = "nf4" if q.word("bnb_4bit_quant_type", "fp4") == "nf4" else "bnb_fp4"
    double = q.raw.get("bnb_4bit_use_double_quant") is True
    return Rule(STORED["nf4_dq" if double and kind == "nf4" else kind], left)


def _group(w: _Fields, wide: bool) -> Stored:
    """A format of compressed-tensors' table ``weights``."""
    bits = w.size("num_bits", default=8, least=2, most=16)
    group = w.size("group_size", default=-1)
    kind, strategy = w.word("type", "int"), w.word("strategy")
    if kind == "float" and bits == 4:
        row = STORED["mxfp4" if group == 32 else "nvfp4"]
    elif kind == "float" and bits == 8:
        name = {"channel": "fp8_channel", "block": "fp8_128x128"}.get(strategy)
        row = STORED["mxfp8" if group == 32 else name or "fp8_tensor"]
        if strategy == "channel":  # its scales are in the model's 16 bits
            row = replace(row, per_column=16)
    elif kind == "int" and bits <= 8:
        whole = bits == 8 and group == -1
        zero = w.raw.get("symmetric") is False
        row = STORED["int8_tensor" if strategy == "tensor" else "int8_channel"]
        row = row if whole else _integers(f"int{bits}", bits, group, zero, 0)
    else:
        raise w.wrong("num_bits", f"not known for type {shown(kind)}")
    return replace(row, numbers="") if wide else row


def _compressed(q: _Fields) -> Rule:
    groups = q.table("config_groups")
    found: list[tuple[Picked, Stored]] = []
    row = None
    for name in groups.raw:
        group = groups.table(name)
        wide = not group.raw.get("input_activations")
        here = _group(group.table("weights"), wide)
        targets = group.raw.get("targets") or ["Linear"]
        if targets == ["Linear"]:
            row = here
        else:
            found.append((group.picked("targets"), here))
    if row is None and not found:
        raise q.wrong("config_groups", "no group of weights")
    ignored = q.raw.get("ignore") or []
    head = isinstance(ignored, list) and not any("head" in str(i) for i in ignored)
    return Rule(row, q.picked("ignore"), tuple(found), head=head)


def _modelopt(q: _Fields) -> Rule:
    def row_of(fields: _Fields) -> Stored:
        algo = fields.word("quant_algo")
        if algo not in _MODELOPT:
            raise fields.wrong("quant_algo", f"known are {', '.join(_MODELOPT)}")
        name, own = _MODELOPT[algo]
        return STORED[name] if own else replace(STORED[name], numbers="")

    left = q.picked(*LEFT)
    if q.word("quant_algo") != "MIXED_PRECISION":
        return Rule(row_of(q), left)
    layers = q.table("quantized_layers")
    by_row: dict[Stored, list[str]] = {}
    for name in layers.raw:
        by_row.setdefault(row_of(layers.table(name)), []).append(name)
    groups = tuple((Picked(names), row) for row, names in by_row.items())
    # what is not listed: left alone, or in fp8 where that is the method (DeepSeek-V4)
    rest = _fp8(q).row if q.word("quant_method") == "fp8" else None
    return Rule(rest, Picked(()) if rest else left, groups)


def _mxfp4(q: _Fields) -> Rule:
    return Rule(STORED["mxfp4"], q.picked(*LEFT), experts_only=True)


def _quark(q: _Fields) -> Rule:
    weight = q.table("global_quant_config").table("weight")
    kind, scheme = weight.word("dtype"), weight.word("qscheme")
    names = {
        ("fp4", "per_group"): "mxfp4",
        ("fp8_e4m3", "per_tensor"): "fp8_tensor",
        ("fp8_e4m3", "per_channel"): "fp8_channel",
        ("int8", "per_channel"): "int8_channel",
        ("int8", "per_tensor"): "int8_tensor",
    }
    if (kind, scheme) not in names:
        raise weight.wrong("dtype", f"not known with qscheme {shown(scheme)}")
    return Rule(STORED[names[kind, scheme]], q.picked("exclude"))


def _channel(q: _Fields) -> Rule:
    return Rule(STORED["fp8_channel"], q.picked(*LEFT))


METHODS: dict[str, Callable[[_Fields], Rule]] = {
    "fp8": _fp8,
    "fbgemm_fp8": _channel,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
    "modelopt_fp4": _modelopt,
    "gptq": _gptq,
    "awq": _awq,
    "auto-round": _gptq,
    "intel/auto-round": _gptq,
    "mxfp4": _mxfp4,
    "bitsandbytes": _bitsandbytes,
    "quark": _quark,
}
