"""Number formats of a few bits, and the schemes that share scales between numbers.

``Format("e4m3fn")`` encodes a number as hardware does, nearest with ties to even, and
decodes every code. ``quantize(x, "q4_k")`` gives an array in few bits, ``dequantize``
the numbers it stands for, ``pack`` its bytes in the published layout; ``schemes()``
lists what there is. One number needs the standard library only; arrays use NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .column_rounding import gptq
    from .error_integral import expected_error
    from .formats import FORMATS, Format, Row
    from .gguf_file import Gguf, read_gguf
    from .gguf_writing import write_gguf
    from .layouts import pack, unpack
    from .log_grid import LogFormat, byte_split
    from .quantizing import dequantize, quantize
    from .scheme import SCHEMES, Quantized, Scheme, fact, schemes
    from .weight_methods import awq, hessian, outlier_split, smoothquant
else:
    __all__, __getattr__, __dir__ = offer(__name__)
