"""Bytes of arrays on the device, also of formats that NumPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lang.formats import NARROW, Form

_NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "e4m3fn", "float8_e5m2": "e5m2"}


def decoded(raw: Any, form: Form) -> Any:
    """Bytes as NumPy's numbers; float32 where it lacks the format."""
    if form.code not in NARROW:
        return raw.view(form.dtype).copy()
    from stacklib.quantizers import Format
    from stacklib.quantizers.arrays import decode_array

    codes = raw.view(np.uint16 if form.size == 2 else np.uint8)
    return decode_array(Format(_NAMES[form.name]), codes).astype(np.float32)


def encoded(values: Any, form: Form) -> Any:
    """NumPy's numbers as bytes of a format."""
    if form.code not in NARROW:
        return np.ascontiguousarray(values, form.dtype).view(np.uint8).ravel().copy()
    from stacklib.quantizers import Format
    from stacklib.quantizers.arrays import encode_array

    codes = encode_array(Format(_NAMES[form.name]), np.asarray(values, np.float32))
    kind = np.uint16 if form.size == 2 else np.uint8
    return np.ascontiguousarray(codes, kind).view(np.uint8).ravel().copy()
