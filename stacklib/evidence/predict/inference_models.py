"""The model that a row of published inference names, and how its weights were kept."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from stacklib import models
from stacklib.interconnect.parallelism.megatron import gpt
from stacklib.models.language_model import LanguageModel
from stacklib.models.parts import Attention
from stacklib.models.weights.mixtures import NAMES
from stacklib.quantity import UnknownName
from stacklib.quantity.names import fold

from ..measurements import Measurement, Refusal

# Shapes that published tables name and no release of the book's has: layers, hidden
# size, heads, heads of K and V, size of the gated MLP (0: four hidden), vocabulary.
_SHAPES = {
    "llama 7b": (32, 4096, 32, 32, 11008, 32000),  # H. Touvron et al., 2023, table 2
    "llama 13b": (40, 5120, 40, 40, 13824, 32000),
    "llama 30b": (60, 6656, 52, 52, 17920, 32000),
    "llama 33b": (60, 6656, 52, 52, 17920, 32000),
    "llama 65b": (80, 8192, 64, 64, 22016, 32000),
    "openllama 3b": (26, 3200, 32, 32, 8640, 32000),
    "tinyllama 1.1b": (22, 2048, 32, 4, 5632, 32000),
    "codellama 34b": (48, 8192, 64, 8, 22016, 32000),
    "yi 34b": (60, 7168, 56, 8, 20480, 64000),
    "sheared llama 2.7b": (32, 2560, 20, 20, 6912, 32000),
    "gpt j 6b": (28, 4096, 16, 16, 0, 50400),
    "falcon 180b": (80, 14848, 232, 8, 0, 65024),
    "13b gpt": (40, 5120, 40, 40, 0, 50304),
    "mistral large": (88, 12288, 96, 8, 28672, 32768),  # its config.json, of 2411
}
# What a family of names means, beside the names of releases.
_MEANT = {
    "vila1.5 3b": "sheared llama 2.7b",
    "vila1.5 13b": "llama-2-13b",
    "vila1.5 40b": "yi 34b",
    "llama 3 vila1.5 8b": "llama-3-8b",
    "llama 70b": "llama-2-70b",  # of 2023: nothing else had its size
    "gptj": "gpt j 6b",
    "mixtral 8x7b": "mixtral-8x7b-v0.1",
    "deepseek r1 14b": "qwen2.5-14b",
    "deepseek r1 32b": "qwen2.5-32b",
    "deepseek r1 70b": "llama-3.3-70b",
    "deepseek r1 8b": "llama-3.1-8b",
    "deepseek r1 671b": "deepseek-r1",
}
# Words of a subject that say how it was tuned, kept or asked for.
_BESIDE = re.compile(
    r" (?:instruct|chat|hf|it|awq|gptq|gguf|exl2|unsloth|mlperf|offline|server|"
    r"99(?:.9)?|f16|fp16|bf16|fp8|fp4|nvfp4|mxfp4|i?q\d(?: [01ksmlx]+)*|int4|int8|4bit|"
    r"8bit|ud|g\d+|v\d\.\d|2411|2507|0528|test|unverified)\b"
)
_QUANT = ("quant", "quantization", "gemm", "dtype", "precision", "weights", "format")
_FILE = re.compile(r"i?q\d_\w+|fp4|f16|fp8|int\d|awq|gptq|\d ?bits?|ollama")
_BPW = re.compile(r"(\d+(?:\.\d+)?) ?bpw")
_GROUPED, MLX_GROUP = re.compile(r"int([48])_(?:g(\d+)|channel)"), 64
_GGUF = re.compile(r"i?q\d_\w+|tq\d_\d|mxfp\d\w*")
_GROUP = re.compile(r"(?:g|group[ =]?|-)(32|64|128)\b")


def _plain(subject: str) -> str:
    text = subject.lower().split("/")[-1] if " " not in subject else subject.lower()
    text = re.sub(r"\([^)]*\)", " ", text)
    text = re.sub(r"[-_:]+", " ", text)
    text = re.sub(r"llama ?2(?= |$)", "llama 2", text)
    text = re.sub(r"(?<=llama)(?=\d)", " ", text)
    text = _BESIDE.sub(" ", f"{text} ".replace("v3/r1", "v3"))
    return re.sub(r"\s+", " ", text).strip()


@lru_cache(maxsize=1024)
def model_named(subject: str) -> LanguageModel:
    """The model that a subject names.

    - raises ``Refusal`` for one that no release and no published table has
    """
    text = _plain(subject)
    text = _MEANT.get(text, text)
    if text in _SHAPES:
        return _made(text)
    known = {re.sub(r"[-_ ]+", " ", name): name for name in models.names()}
    if text in known:
        return models.get(known[text])
    for asked in (subject, text.replace(" ", "-"), text):
        try:
            return models.get(asked)
        except UnknownName as unknown:
            said = str(unknown).splitlines()[-1]
    raise Refusal(f"no shape of model {subject!r}: {said}")


def _made(name: str) -> LanguageModel:
    layers, hidden, heads, kv_heads, inner, vocab = _SHAPES[name]
    made = gpt(name, layers, hidden, heads, vocab, inner)
    block = replace(
        made.kinds[0], attention=Attention(heads, kv_heads, hidden // heads)
    )
    return replace(made, kinds=(block,))


def kept_in(row: Measurement, model: LanguageModel) -> str:
    """How a row's weights were kept, as ``models`` names it.

    - raises ``Refusal`` for a format that nothing here has
    """
    said = next((row.text(k) for k in _QUANT if k in row.config), "")
    if row.config.get(said) is True:  # a bare word
        said = ""
    text = f"{said} ".lower() if said else f"{row.subject} {row.settings} ".lower()
    if "mlperf" in row.metric or "mlperf" in text:
        said = text = "fp4 " if "fp4" in row.settings.lower() else "fp8 "
    if model.key.startswith("gpt-oss") and not re.search("bf16|q[2-8]", text):
        # As it was released; llama.cpp's file has all but the experts in 8 bits.
        files = re.search("llama.cpp|ollama", row.software.lower())
        return "mxfp4_moe" if files else "mxfp4"
    if model.key.startswith("deepseek") and not _FILE.search(text):
        return "fp8_128x128"  # as it was released
    found = _format(text, row)
    if (grouped := _GROUPED.fullmatch(found)) and "mlx" in row.software.lower():
        # Of every matrix, the output's too; a group has a scale and its least.
        return f"{int(grouped[1]) + 2 * 16 / int(grouped[2] or MLX_GROUP):g} bpw"
    return found


def _format(text: str, row: Measurement) -> str:
    """A format in the words of tables."""
    words = re.sub(r"[ _-]+", "_", text.strip())
    group = _GROUP.search(text.replace("_", " "))
    size = group[1] if group else "128"
    if bits := _BPW.search(text):
        return f"{float(bits[1]):g} bpw"
    for pattern, meant in (
        (r"nvfp4|fp4", "nvfp4"),
        (r"mxfp4", "mxfp4"),
        (r"fp8_block|fp8_128", "fp8_128x128"),
        (r"fp8|e4m3", "fp8_tensor"),
        (r"awq", f"awq_g{size}"),
        (r"gptq", f"gptq_g{size}"),
        (r"int8dq|w8a8", "int8_tensor"),
        (r"int8|8bit", "int8_channel"),
        (r"int4|4bit|w4a16", f"int4_g{size}"),
        (r"ollama", "q4_k_m"),
        (r"16-bit|f16|fp16|bf16|float16", "bf16"),
    ):
        if meant == "mxfp4" and "mxfp4" in text:
            return meant
        if re.search(pattern, text) and not (meant == "nvfp4" and "mxfp4" in text):
            return meant
    names = [fold(name) for name in NAMES]
    for word in re.split(r"[ ;=,()-]+", text):
        if not _GGUF.fullmatch(word):
            continue
        # Unsloth's mixtures of their own: as many bits in all as the plain one of them.
        kept = re.sub("_xl$", "_m", word)
        if fold(kept) in names:
            return kept
        raise Refusal(f"weights kept in {word!r}: no format of that name")
    if words and row.text("quant", "") and fold(words) not in names:
        raise Refusal(f"weights kept in {row.text('quant')!r}: no format of that name")
    return "bf16"
