r"""Regular expressions, as patterns over the bytes of UTF-8.

Literals, ``.``, classes, groups, ``|``, ``*``, ``+``, ``?``, ``{m,n}`` and the escapes
``\d \w \s \D \W \S \n \r \t \f \v \xHH \uHHHH``, read as Python's ``re`` reads them
with ``re.ASCII``; the whole text has to match. No anchors, no look-around, no groups
that are referred to, no lazy forms: an automaton has no use for them.
"""

from __future__ import annotations

import re

from .syntax import EMPTY, Choice, Pattern, Repeat, chain, characters, outside

DEPTH = 64  # of groups in groups
Ranges = tuple[tuple[int, int], ...]
CLASSES: dict[str, Ranges] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 13), (32, 32)),
}
CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "a": 7}
NEWLINE: Ranges = ((10, 10),)
COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")


def parse(pattern: str) -> Pattern:
    """The pattern of a regular expression.

    ValueError quotes what is wrong or not supported, and where it stands.
    """
    if not isinstance(pattern, str):
        raise ValueError(f"regular expression {pattern!r}: text is needed")
    reader = Reader(pattern)
    found = reader.alternatives(DEPTH)
    if reader.at < len(pattern):
        reader.fail("unbalanced parenthesis")
    return found


class Reader:
    """A place in a regular expression, and what begins there."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0

    def fail(self, why: str) -> None:
        """Refuse the expression."""
        raise ValueError(f"regular expression {self.source!r}: {why} at {self.at}")

    def peek(self, words: str) -> bool:
        """Whether these characters come next."""
        return self.source.startswith(words, self.at)

    def take(self, words: str) -> bool:
        """Go past these characters, if they come next."""
        found = self.peek(words)
        self.at += len(words) * found
        return found

    def next(self) -> str:
        """The next character."""
        if self.at == len(self.source):
            self.fail("it ends too early")
        self.at += 1
        return self.source[self.at - 1]

    def alternatives(self, depth: int) -> Pattern:
        """Sequences with bars between."""
        if not depth:
            self.fail(f"groups more than {DEPTH} deep")
        found = [self.sequence(depth)]
        while self.take("|"):
            found.append(self.sequence(depth))
        return found[0] if len(found) == 1 else Choice(tuple(found))

    def sequence(self, depth: int) -> Pattern:
        """Atoms, each with how often it may come."""
        found = []
        while self.at < len(self.source) and not (self.peek("|") or self.peek(")")):
            found.append(self.repeated(self.atom(depth)))
        return chain(*found) if found else EMPTY

    def repeated(self, part: Pattern) -> Pattern:
        """An atom with the star, plus, question mark or count behind it."""
        count = COUNT.match(self.source, self.at)
        if count and count[0] not in ("{}",):
            self.at = count.end()
            least = int(count[1] or 0)
            most = int(count[3]) if count[3] else None if count[2] else least
            if most is not None and most < least:
                self.fail(f"count {count[0]} ends before it begins")
            found = Repeat(part, least, most)
        elif self.take("*"):
            found = Repeat(part)
        elif self.take("+"):
            found = Repeat(part, 1)
        elif self.take("?"):
            found = Repeat(part, 0, 1)
        else:
            return part
        if self.peek("*") or self.peek("+") or self.peek("?"):
            self.fail("two repetitions, or a lazy one,")
        return found

    def atom(self, depth: int) -> Pattern:
        """A group, a class or a character."""
        if self.take("("):
            if self.peek("?") and not self.take("?:"):
                self.fail("a group with (? other than (?:")
            found = self.alternatives(depth - 1)
            if not self.take(")"):
                self.fail("a group without its end")
            return found
        if self.take("["):
            return self.of_class()
        if self.take("."):
            return characters(NEWLINE, negated=True)
        if self.peek("^") or self.peek("$"):
            self.fail("an anchor (the whole text has to match anyhow)")
        if any(self.peek(mark) for mark in "*+?"):
            self.fail("nothing to repeat")
        if self.take("\\"):
            return characters(self.escape())
        return characters(((ord(self.next()),) * 2,))

    def escape(self) -> Ranges:
        """What stands behind a backslash."""
        letter = self.next()
        if letter.lower() in CLASSES:
            ranges = CLASSES[letter.lower()]
            return ranges if letter.islower() else outside(ranges)
        if letter in CONTROLS:
            return ((CONTROLS[letter],) * 2,)
        if letter in "xu":
            digits = self.source[self.at : self.at + (2 if letter == "x" else 4)]
            if not re.fullmatch("[0-9a-fA-F]{2}|[0-9a-fA-F]{4}", digits):
                self.fail(f"hexadecimal digits are missing behind \\{letter}")
            self.at += len(digits)
            return ((int(digits, 16),) * 2,)
        if letter.isalnum():
            self.fail(f"\\{letter} is not supported")
        return ((ord(letter),) * 2,)

    def of_class(self) -> Pattern:
        """Characters between brackets."""
        negated = self.take("^")
        ranges: Ranges = ()
        first = True
        while first or not self.take("]"):
            ranges += self.of_range()
            first = False
        return characters(tuple(sorted(ranges)), negated)

    def of_range(self) -> Ranges:
        """One character of a class, a range or an escape."""
        low = self.one()
        if not self.peek("-") or self.peek("-]"):
            return low
        self.next()
        high = self.one()
        ends = (low[0][0], high[0][1])
        if not single(low) or not single(high) or ends[0] > ends[1]:
            self.fail("a range that ends before it begins")
        return (ends,)

    def one(self) -> Ranges:
        """A character of a class, or an escape."""
        return self.escape() if self.take("\\") else ((ord(self.next()),) * 2,)


def single(ranges: Ranges) -> bool:
    """Whether the ranges hold one character."""
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
