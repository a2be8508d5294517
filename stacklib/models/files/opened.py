"""A model from whatever a person has of it: a folder, a GGUF, safetensors, a config."""

from __future__ import annotations

from pathlib import Path

from stacklib.quantity import UnknownName

from ..database import get
from ..language_model import LanguageModel
from ..reading import ConfigError, load, reads

# what is a file by its name, and no model of the database
ENDINGS = (".gguf", ".safetensors", ".json")


def find(model: str) -> LanguageModel:
    """The model a person means: a name of the database, else a file or a folder.

    - raises ``UnknownName`` for a name that no model has and no file either
    - raises ``ConfigError`` as ``from_file`` does
    """
    if isinstance(model, str) and model.endswith(ENDINGS):
        return from_file(model)
    try:
        return get(model)
    except UnknownName:
        try:
            there = Path(model).exists()
        except (TypeError, ValueError, OSError):
            there = False
        if there:
            return from_file(model)
        raise


def from_file(path: str | Path) -> LanguageModel:
    """A LanguageModel from a file or folder, by what it holds.

    Parameters
    ----------
    path : path
        A GGUF or safetensors file, an index of shards, a ``config.json``, or a folder
        with one of them.

    Raises
    ------
    ConfigError
        As the reader of that kind does, and for a folder that holds none.
    """
    from .gguf import from_gguf  # no name of the database needs the readers
    from .gguf_header import MAGIC
    from .safetensors import from_config, from_safetensors

    path = Path(path)
    with reads(path):
        if path.is_dir():
            return _from_folder(path)
        with path.open("rb") as file:
            first = file.read(4)
    if first == MAGIC or path.suffix == ".gguf":
        return from_gguf(path)
    if path.suffix == ".safetensors":
        return from_safetensors(path)
    if path.name.endswith(".index.json") or "weight_map" in load(path)[0]:
        return from_safetensors(path)
    return from_config(path)


def _from_folder(path: Path) -> LanguageModel:
    from .gguf import from_gguf
    from .safetensors import INDEX, from_config, from_safetensors

    if any(path.glob("*.safetensors")) or (path / INDEX).is_file():
        return from_safetensors(path)
    if (path / "config.json").is_file():
        return from_config(path / "config.json", path.name)
    found = sorted(path.glob("*.gguf"))
    if len(found) > 1:  # the parts of one file are told apart by their first
        found = [p for p in found if "-00001-of-" in p.name] or found
    if len(found) == 1:
        return from_gguf(found[0])
    names = ", ".join(p.name for p in found) or "no config.json, GGUF or safetensors"
    raise ConfigError(f"{path}: {names} in this folder; name one file")
