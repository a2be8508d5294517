"""``flash_attention``: one call, a backend a file.

A backend is a row: the module that holds it and what to install for it. The module is
imported when the backend is first asked for, so that this one costs nothing but the
standard library; it offers ``attend(q, k, v, call)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from stacklib.quantity import resolve

from .mask import checked


@dataclass(frozen=True, slots=True)
class Backend:
    """Where a backend is, and the library that it stands on."""

    module: str
    library: str
    install: str

    def load(self) -> Any:
        """The module; says what to install where its library is missing."""
        try:
            return import_module(self.module)
        except ModuleNotFoundError as missing:
            if missing.name != self.library:
                raise
            raise ModuleNotFoundError(
                f"no module named {self.library!r}: this backend of flash_attention "
                f"needs it; {self.install}",
                name=self.library,
            ) from missing


_ROOM = "stacklib.kernels"
BACKENDS = {
    "numpy": Backend(f"{_ROOM}.attention.flash_numpy", "numpy", "pip install numpy"),
    "torch": Backend(f"{_ROOM}.attention.flash_torch", "torch", "pip install torch"),
    "triton": Backend(
        f"{_ROOM}.written.flash_triton",
        "triton",
        "pip install triton==3.7.1 (Linux; without a GPU set TRITON_INTERPRET=1 too)",
    ),
}


def flash_attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    backend: str = "numpy",
    return_lse: bool = False,
) -> Any:
    """Attention in tiles: softmax(scale q k^T) v, and never the whole score matrix.

    Parameters
    ----------
    q : array or tensor, (batch, heads, queries, head_dim)
    k : array or tensor, (batch, kv_heads, keys, head_dim)
        Of kv_heads that divide heads (GQA; one head is MQA).
    v : array or tensor, (batch, kv_heads, keys, value_dim)
        Of as many numbers as a key, or of others (latent attention: 192 and 128).
    causal : bool
        Whether a query sees only keys that are not after it; the last query stands at
        the last key.
    window : int, optional
        How far a query sees: keys less than so many places away.
    scale : float, optional
        Of the scores; 1 / sqrt(head_dim) if left out.
    backend : str
        ``numpy``: arrays of float32 or float64. ``torch``: tensors of those or of half
        the bits, with gradients.
        ``triton``: tensors on a GPU, or in Triton's interpreter.
    return_lse : bool
        Whether the log sum exp of each row's scores is given beside the result: what
        joins results over parts of the keys. It carries no gradient.

    Returns
    -------
    array or tensor, (batch, heads, queries, value_dim)
        As `naive_attention` gives it, in the type of ``q``. With ``return_lse``, and
        (batch, heads, queries), in the type that was computed in: -inf where a row
        sees no key.

    Raises
    ------
    ValueError, TypeError
        For shapes and types that do not go together, or that the backend lacks.
    UnknownName
        For a backend that is not listed.
    ModuleNotFoundError
        Where the backend's library is missing: it says what to install.

    References
    ----------
    T. Dao and others, "FlashAttention", 2022, algorithm 1; T. Dao, "FlashAttention-2",
    2023, algorithm 1, whose order of loops this is.
    """
    name = resolve(backend, BACKENDS, "backend")
    attend = BACKENDS[name].load().attend
    found, lse = attend(q, k, v, checked(q, k, v, causal, window, scale))
    return (found, lse) if return_lse else found
