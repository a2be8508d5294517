"""Reading JSON that nobody vouches for: every value checked, every error a name."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stacklib.quantity.bounds import is_whole

_MOST = 10**9  # no size of a real model is larger
# Bytes; most configs have a few thousand, one that lists a mixture of formats by
# matrix has over a million.
_FILE_LIMIT = 16_000_000
_NEEDED: Any = object()


class ConfigError(ValueError):
    """A config that cannot be read or is not supported; names the field."""


def shown(value: Any) -> str:
    """A value as text for a message, short whatever it is."""
    try:
        return reprlib.repr(value)
    except Exception:  # whole numbers of too many digits, a failing __repr__
        return f"a {type(value).__name__} that cannot be printed"


@contextmanager
def reads(path: Path) -> Iterator[None]:
    """What goes wrong with a file as an error that names it; a device is refused."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ConfigError(f"{path}: not a file")
        yield
    except ConfigError:
        raise
    except OSError as wrong:
        raise ConfigError(f"{path}: {wrong.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    except ValueError as wrong:  # a NUL in the name
        raise ConfigError(f"{shown(str(path))}: {wrong}") from None


def load(
    config: str | Path | Mapping[str, Any], most: int = _FILE_LIMIT
) -> tuple[dict[str, Any], str]:
    """The config as a dict, and where it came from.

    - ``most``: bytes of the largest file that is read
    """
    if isinstance(config, Mapping):
        try:
            raw = dict(config)
        except Exception as wrong:  # a mapping can be anything
            raise ConfigError(f"the dict cannot be read: {shown(wrong)}") from None
        return _named(raw, "config given as a dict"), "config given as a dict"
    if not isinstance(config, (str, Path)):
        raise ConfigError(f"a path or a dict is needed, not {shown(config)}")
    path = Path(config)
    with reads(path):
        folder = path.is_dir()
    named = path.resolve().name if folder else path.name
    path = path / "config.json" if folder else path
    with reads(path):
        if path.stat().st_size > most:
            raise ConfigError(f"{path}: larger than {most} bytes")
        text = path.read_text(encoding="utf-8-sig")
    return parse(text, path), named


def parse(text: str | bytes, path: Path) -> dict[str, Any]:
    """A JSON object of a file; one that names a field twice is refused."""
    try:
        # Infinity and NaN pass: releases have them in fields that no count reads
        raw = json.loads(text, object_pairs_hook=_once)
    except ConfigError as wrong:
        raise ConfigError(f"{path}: {wrong}") from None
    except (ValueError, RecursionError) as wrong:
        reason = "nested too deeply" if isinstance(wrong, RecursionError) else wrong
        raise ConfigError(f"{path}: not readable JSON: {reason}") from None
    return _named(raw, str(path))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ConfigError(f"{shown(name)} is given twice")
        found[name] = value
    return found


def _named(raw: Any, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: a JSON object is needed, not {shown(raw)}")
    for name in raw:
        if not isinstance(name, str):
            raise ConfigError(f"{where}: key {shown(name)} is not text")
    return raw


class Reader:
    """Fields of one config, by the names it may use; remembers which were read."""

    def __init__(
        self,
        raw: dict[str, Any],
        defaults: Mapping[str, Any],
        aliases: Mapping[str, Sequence[str]],  # for a field, the other names it goes by
        prefix: str = "",  # where in the file, for messages, such as ``text_config.``
    ) -> None:
        self.raw, self.defaults, self.aliases = raw, defaults, aliases
        self.prefix = prefix
        self.used: set[str] = set()

    def get(self, name: str, default: Any = None) -> tuple[str, Any]:
        """The name a field goes by here, and its value, the default when absent."""
        names = (name, *self.aliases.get(name, ()))
        self.used.update(names)
        given = [n for n in names if self.raw.get(n) is not None]
        for other in given[1:]:
            if self.raw[other] != self.raw[given[0]]:
                raise ConfigError(
                    f"{self.prefix}{given[0]} = {shown(self.raw[given[0]])} and "
                    f"{other} = {shown(self.raw[other])} disagree"
                )
        if given:
            return self.prefix + given[0], self.raw[given[0]]
        if any(n in self.raw for n in names):  # null: nothing, not the class's value
            return self.prefix + name, default
        return self.prefix + name, self.defaults.get(name, default)

    def has(self, name: str) -> bool:
        """Whether the field is there under any of its names, null included."""
        return any(n in self.raw for n in (name, *self.aliases.get(name, ())))

    def size(
        self, name: str, default: Any = _NEEDED, *, least: int = 1, most: int = _MOST
    ) -> int:
        """A whole number between ``least`` and ``most``."""
        label, value = self.get(name)
        if value is None:
            if default is _NEEDED:
                others = ", ".join(self.aliases.get(name, ()))
                also = f" (or {others})" if others else ""
                raise ConfigError(f"config lacks {label!r}{also}")
            return int(default)
        if not is_whole(value):
            raise ConfigError(f"{label} = {shown(value)}: a whole number is needed")
        if not least <= value <= most:
            raise ConfigError(
                f"{label} = {shown(value)}: not between {least} and {most}"
            )
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        label, value = self.get(name, default)
        if not isinstance(value, bool):
            raise ConfigError(f"{label} = {shown(value)}: true or false is needed")
        return value

    def items(self, name: str) -> tuple[str, list[Any] | None]:
        """A list, or None when absent."""
        label, value = self.get(name)
        if value is not None and not isinstance(value, (list, tuple)):
            raise ConfigError(f"{label} = {shown(value)}: a list is needed")
        return label, None if value is None else list(value)

    def words(self, name: str, known: Sequence[str], length: int) -> list[str] | None:
        """One of ``known`` for each of ``length`` layers, or None when absent."""
        label, values = self.items(name)
        if values is None:
            return None
        if len(values) != length:
            raise ConfigError(f"{label} has {len(values)} entries for {length} layers")
        for value in values:
            if value not in known:
                raise ConfigError(
                    f"{label} has {shown(value)}; supported: {', '.join(known)}"
                )
        return values

    def switches(self, name: str, length: int) -> list[bool] | None:
        """0 or 1 for each of ``length`` layers, or None when absent."""
        label, values = self.items(name)
        if values is None:
            return None
        if len(values) != length:
            raise ConfigError(f"{label} has {len(values)} entries for {length} layers")
        for value in values:
            if not is_whole(value) or value not in (0, 1):
                raise ConfigError(f"{label} has {shown(value)}: 0 or 1 is needed")
        return [value == 1 for value in values]

    def table(self, name: str) -> dict[str, Any]:
        """A nested object."""
        label, value = self.get(name)
        if value is None:
            raise ConfigError(f"config lacks {label!r}")
        if not isinstance(value, dict):
            raise ConfigError(f"{label} = {shown(value)}: a JSON object is needed")
        return _named(value, label)

    def refuse(self, name: str, harmless: Sequence[Any], why: str) -> None:
        """An error unless the field is absent, null or one of ``harmless``."""
        label, value = self.get(name)
        if value is None or any(value is h or value == h for h in harmless):
            return
        raise ConfigError(f"{label} = {shown(value)} is not supported: {why}")
