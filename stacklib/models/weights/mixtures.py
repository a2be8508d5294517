"""How the weights of a model are stored, by the name that people give it.

Three rules. A plain format (``bf16``, ``int4``, ``e4m3fn``) or bits of a number hold
every tensor. A name of llama.cpp's (``q4_k_m``, ``iq3_xs``) is the file of that name:
``ggml_files`` has its rule. Any other format with scales (``awq``, ``nvfp4``, ``fp8``)
holds the large matrices of the layers; embedding, output, norms and routers stay in 16
bits, as AWQ, GPTQ, ModelOpt, bitsandbytes and DeepSeek publish them. ``mxfp4`` holds
the experts alone where there are any (gpt-oss).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from stacklib.quantity import Quantity, bytes_per_element, resolve
from stacklib.quantity.names import fold
from stacklib.quantity.stored import HALF, STORED, Stored, bits_of, products

from .ggml_files import FILES, SOURCE, WIDER, types
from .tensors import Tensor, tensors

if TYPE_CHECKING:
    from ..language_model import LanguageModel

# Names that stand for another: llama-quantize's, and what releases are called.
ALIASES = {f"q{n}_k": f"q{n}_k_m" for n in "345"}
ALIASES |= {"awq": "awq_g128", "gptq": "gptq_g128", "w4a16": "int4_g128"}
ALIASES |= {"w8a8": "int8_channel", "fp8_block": "fp8_128x128", "bnb_nf4": "nf4"}
# What releases mean by it: E4M3 in tiles. Every number in one byte is ``e4m3fn``.
ALIASES |= {"fp8": "fp8_128x128", "f16": "fp16", "f32": "fp32"}
NAMES = tuple(dict.fromkeys([*FILES, *WIDER, *ALIASES, *STORED]))


def plain(row: Stored) -> bool:
    """Whether a format keeps no scales, so that it can hold every tensor."""
    return not (row.block or row.per_column or row.per_tensor)


def named(dtype: str) -> str:
    """The whole name of how weights are stored, aliases followed.

    - raises ``UnknownName`` for a name that is none, with the nearest
    """
    if isinstance(dtype, str):
        return _named(dtype)
    return resolve(dtype, NAMES, "number format", exact=True)  # raises


@lru_cache(maxsize=1024)
def _named(dtype: str) -> str:
    found = resolve(dtype, NAMES, "number format", exact=True)
    return ALIASES.get(found, found)


@dataclass(frozen=True, slots=True)
class Way:
    """How weights are kept, and what follows for cache and products.

    - ``name``: what it is called
    - ``words``: what it says of the tensors
    - ``numbers``: plain format in which the products could run; ``""`` where weights
      are widened first, as AWQ, GPTQ and GGUF do
    - ``cache``: format of the cache unless another is asked for, see ``cache_on``
    - ``element``: the one format of every number, where it is one without scales
    """

    name: str
    words: str
    numbers: str
    cache: str
    element: Stored | None = None

    def cache_on(self, rates: Iterable[str]) -> str:
        """Format of the cache on a chip with these rates.

        A plain format in which the products run is the cache's too. Beside weights that
        are widened, or that a release narrowed (fp8 included), engines keep 16 bits:
        vLLM's ``kv_cache_dtype="auto"``, llama.cpp's ``-ctk f16``.
        """
        own = self.element is None or products(self.numbers, rates).name == self.numbers
        return self.cache if own else HALF


@lru_cache(maxsize=512)
def _way(name: str) -> Way:
    if name in FILES or name in WIDER:
        base = FILES[WIDER.get(name, name)]
        words = (
            f"most matrices in {base}, more bits where llama.cpp's rule gives them; "
            f"norms and biases in fp32 ({SOURCE})"
        )
        return Way(name, words, "", HALF)
    row = STORED[name]
    if plain(row):
        cache = name if row.numbers else HALF
        return Way(name, f"every number in {name}, no scales", row.numbers, cache, row)
    inside = "the matrices of the layers"
    if name == "mxfp4":
        inside = "the experts, or without experts the matrices of the layers,"
    words = f"{inside} in {name}; embedding, output, norms and routers in {HALF}"
    return Way(name, words, row.numbers, HALF)


def way(dtype: str | Quantity) -> Way:
    """What a name, or the bits of one number, says of weights, cache and products.

    - raises ``UnknownName`` for a name that is none, with the nearest
    - raises ``ValueError``, ``UnitError`` for a quantity that is no number of bits
    """
    if not isinstance(dtype, Quantity):
        return _way(named(dtype))
    row = bits_of(dtype)
    return Way(row.name, f"every number in {row.name}", "", HALF, row)


def placed(model: LanguageModel, name: str) -> Iterator[tuple[Tensor, Stored]]:
    """Every tensor of the model, and the format it is stored in."""
    name = named(name)
    if name in FILES or name in WIDER:
        yield from types(model, name)
        return
    row, rest = STORED[name], STORED[HALF]
    narrow = name == "mxfp4" and model.experts is not None
    for t in tensors(model):
        inside = plain(row) or (t.linear and (not narrow or t.experts is not None))
        yield t, row if inside else rest


def cache_number(dtype: str | Quantity) -> Quantity:
    """Bytes of a number of the cache, in a format or beside weights kept so."""
    return bytes_per_element(cache_format(dtype))


def cache_format(dtype: str | Quantity) -> str | Quantity:
    """The format itself (``q4_k`` is one of a cache), or that beside a mixture."""
    return dtype if isinstance(dtype, Quantity) else _cache(dtype)


@lru_cache(maxsize=512)
def _cache(dtype: str) -> str:
    same = (
        row for row in STORED if isinstance(dtype, str) and fold(row) == fold(dtype)
    )
    return next(same, None) or way(dtype).cache
