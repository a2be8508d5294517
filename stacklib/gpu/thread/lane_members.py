"""What lanes of a warp tell each other: shuffles, votes, reductions."""

from __future__ import annotations

from typing import Any

from stacklib.quantity.bounds import is_whole

from ..lang.builder import Value
from ..lang.thread import Thread, member
from ..vm.formats import BOOL, FORMS, U32

REDUCTIONS = ("add", "min", "max", "and", "or", "xor")
VOTES = ("any", "all", "ballot", "active")


class LaneMembers(Thread):
    """``shuffle``, ``any``, ``ballot``, ``match_any``, ``reduce_add``."""

    @member
    def shuffle(self, value: Any, source: Any, width: int = 32) -> Value:
        """The value of lane ``source`` of the warp, or of its part of ``width``."""
        return self._shuffled(0, value, source, width)

    @member
    def shuffle_down(self, value: Any, delta: Any, width: int = 32) -> Value:
        """The value of the lane ``delta`` above; its own where there is none."""
        return self._shuffled(1, value, delta, width)

    @member
    def shuffle_up(self, value: Any, delta: Any, width: int = 32) -> Value:
        """The value of the lane ``delta`` below; its own where there is none."""
        return self._shuffled(2, value, delta, width)

    @member
    def shuffle_xor(self, value: Any, bits: Any, width: int = 32) -> Value:
        """The value of the lane whose number differs in these bits."""
        return self._shuffled(3, value, bits, width)

    def _shuffled(self, how: int, value: Any, by: Any, width: Any) -> Value:
        build = self._of.build
        if not is_whole(width) or width not in (1, 2, 4, 8, 16, 32):
            raise self._error(f"a shuffle of width {width!r}: 1, 2, 4, 8, 16 or 32")
        form = build.form_of(by)
        if form.floating:
            raise self._error(f"a shuffle from lane {by!r}: a whole number is needed")
        given, other = build.value(value), build.value(by)
        return build.op(
            "SHUFFLE", given.form, given, other, imm=how * 64 + width, kind="shuffle"
        )

    @member
    def any(self, test: Any) -> Value:
        """Whether the test holds for some active lane of the warp."""
        return self._vote("any", test, BOOL)

    @member
    def all(self, test: Any) -> Value:
        """Whether it holds for every active lane of the warp."""
        return self._vote("all", test, BOOL)

    @member
    def ballot(self, test: Any) -> Value:
        """A bit for each active lane of the warp for which the test holds."""
        return self._vote("ballot", test, U32)

    @member
    def active_mask(self) -> Value:
        """A bit for each active lane."""
        return self._vote("active", True, U32)

    def _vote(self, how: str, test: Any, form: int) -> Value:
        build = self._of.build
        held = build.condition(build.value(test))
        return build.op("VOTE", FORMS[form], held, imm=VOTES.index(how), kind="vote")

    @member
    def match_any(self, value: Any) -> Value:
        """A bit for each active lane whose value is the same."""
        build = self._of.build
        return build.op("MATCH", FORMS[U32], build.value(value), kind="vote")

    @member
    def reduce_add(self, value: Any) -> Value:
        """The sum over the active lanes of the warp, of whole numbers."""
        return self._reduced("add", value)

    @member
    def reduce_min(self, value: Any) -> Value:
        """The smallest over the active lanes of the warp, of whole numbers."""
        return self._reduced("min", value)

    @member
    def reduce_max(self, value: Any) -> Value:
        """The largest over the active lanes of the warp, of whole numbers."""
        return self._reduced("max", value)

    def _reduced(self, how: str, value: Any) -> Value:
        build = self._of.build
        given = build.value(value)
        if given.form.floating:
            raise self._error(
                f"reduce_{how} of {given.form}: whole numbers are needed; use shuffles"
            )
        return build.op(
            "REDUCE", given.form, given, imm=REDUCTIONS.index(how), kind="shuffle"
        )
