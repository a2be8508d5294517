"""What a compiler holds of a register: the value in it, and the name it stands for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..vm.formats import Form

if TYPE_CHECKING:
    from .sums import Sum


class KernelError(Exception):
    """Something a kernel may not do; the message names lane, address and line."""


MANY = 96  # registers before any is used again: rows can change places then


class Pool:
    """Numbers of registers that nothing holds."""

    def __init__(self) -> None:
        self.free: deque[int] = deque()
        self.made = 0

    def take(self) -> int:
        """A register for a new value: a new one, or that which is free longest."""
        if self.free and self.made >= MANY:
            return self.free.popleft()
        self.made += 1
        return self.made - 1

    def take_row(self, count: int) -> list[int]:
        """Registers that follow each other, as a wide load fills."""
        self.made += count
        return list(range(self.made - count, self.made))


class Value:
    """What differs by lane: a register, and the format of what it holds."""

    __slots__ = (
        *("__weakref__", "bound", "form", "from_", "home", "keeps", "level", "pool"),
        *("reg", "row", "says", "sum", "wider"),
    )

    def __init__(self, reg: int, form: Form, pool: Pool | None, says: Any) -> None:
        self.reg, self.form, self.pool, self.says = reg, form, pool, says
        self.home: Home | None = None
        self.bound = False  # whether a name or a list holds it
        self.keeps: Any = None  # factors of a product, which may yet join a sum
        self.from_: Value | None = None  # of a sum with a plain number: the rest
        self.level = 0  # how many regions deep it was made
        self.row: Any = None  # of such a sum: addresses take it for nothing
        self.sum: Sum | None = None  # what is known of a whole number
        self.wider: Sum | None = None  # the same where more bits are computed with

    def __del__(self) -> None:
        if self.pool is not None:
            self.pool.free.append(self.reg)

    def __repr__(self) -> str:
        return f"a {self.form} of each lane"

    @property
    def dtype(self) -> Any:
        """Its format, as NumPy calls it."""
        return self.form.dtype

    def base(self) -> Value:
        """What is left when plain numbers that were added are taken away."""
        return self if self.from_ is None else self.from_

    def _refuse(self, what: str) -> Exception:
        error: Exception = self.says(what)
        return error

    def __bool__(self) -> bool:
        raise self._refuse(
            "a value that differs by lane was asked for yes or no; a kernel's if and "
            "while do that, a function of Python it calls cannot"
        )

    def __index__(self) -> int:
        raise self._refuse(
            "a value that differs by lane is no Python index; pass what it indexes as "
            "a NumPy array, or make it with t.local"
        )

    def __int__(self) -> int:
        raise self._refuse(
            "a value that differs by lane is no Python int; t.to(int, value) converts"
        )

    def __float__(self) -> float:
        raise self._refuse(
            "a value that differs by lane is no Python float; t.to(float, value) "
            "converts, t.exp, t.log and t.sqrt are functions of it"
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise self._refuse(
            "a value that differs by lane is compared by a function of Python; write "
            "the comparison in the kernel"
        )

    def __hash__(self) -> int:
        raise self._refuse("a value that differs by lane is no key of a dict or a set")

    def __iter__(self) -> Iterator[Any]:
        raise self._refuse("a value that differs by lane cannot be gone through")


class Home:
    """The register of a name that lanes set at different places."""

    __slots__ = ("key", "owner", "sure", "tracked", "version")

    def __init__(self, owner: Any, key: Any, tracked: bool) -> None:
        self.owner, self.key, self.tracked = owner, key, tracked
        self.version = 0  # how often it was set
        self.sure: set[int] = set()  # regions in which every lane here has set it


class Cell:
    """A register that is an element of a thread's own array."""

    __slots__ = ("name", "reg", "sure")

    def __init__(self, reg: int, name: str) -> None:
        self.reg, self.name = reg, name
        self.sure: set[int] = set()  # regions in which every lane here has set it
