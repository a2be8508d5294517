"""Language models by shape: parameters, KV bytes and work follow by counting.

``get("llama-3-70b")`` finds a model of the database; ``from_hf_config`` reads
any supported ``config.json``.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from stacklib.quantity import Quantity, Source, resolve

from .config import SUPPORTED, ConfigError, from_hf_config
from .language_model import LanguageModel

_DATA = Path(__file__).parent / "data"


def names() -> tuple[str, ...]:
    """Keys of all models."""
    return tuple(sorted(p.stem for p in _DATA.glob("*.toml")))


@cache
def _read(key: str) -> tuple[LanguageModel, Quantity]:
    raw = tomllib.loads((_DATA / f"{key}.toml").read_text(encoding="utf-8"))
    s = raw["source"]
    source = Source(s["title"], s["where"], s["seen"].isoformat(), s["confidence"])
    model = from_hf_config(raw["config"], key=key, name=raw["name"], source=source)
    count = Quantity(
        raw["published_parameters"],
        label="published parameters",
        source=source,
        kind="spec",
    )
    return model, count


def get(name: str) -> LanguageModel:
    """The model of this name; case, hyphens and underscores do not matter.

    Raises
    ------
    UnknownName
        When no model or several answer to it; the last line lists candidates.

    Examples
    --------
    >>> get("llama-3-70b").parameters.text()
    '70.6 billion'
    """
    return _read(resolve(name, names(), "model"))[0]


def published_parameters(name: str) -> Quantity:
    """The parameter count the release publishes, to hold the counted one to.

    Parameters
    ----------
    name : str
        A model, as ``get`` takes it.
    """
    return _read(resolve(name, names(), "model"))[1]


__all__ = [
    "ConfigError",
    "LanguageModel",
    "SUPPORTED",
    "from_hf_config",
    "get",
    "names",
    "published_parameters",
]
