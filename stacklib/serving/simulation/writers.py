"""How an answer grows: by a token a step, or by what a draft's check keeps.

A pass checks ``tokens`` proposals and keeps each with the same chance if all before it
were kept; one token follows. What each request keeps is drawn when it begins to write,
by its own seed, so that company changes nothing. Places of proposals that are rolled
back within the step are not counted.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

from .steps import ByBlocks, Estimated, Work

if TYPE_CHECKING:
    from .request import Request


class Plain:
    """A token a step: one list holds the steps at which blocks are due.

    - ``size``: tokens of a block
    """

    width = 1  # tokens of a step that each request takes

    def __init__(self, size: int) -> None:
        self.size = size
        self.many = 0  # requests that write
        self.due = [0] * size  # of them, by the place of their last token

    def begin(self, request: Request, tick: int) -> int:
        """It writes from the next step on; the tokens that it has a place for."""
        place = request.tokens - 1
        request.rest = place - tick
        request.ends = tick + request.new - request.made
        self.due[request.rest % self.size] += 1
        self.many += 1
        return place

    def stop(self, request: Request, tick: int) -> int:
        """It writes no more; the tokens that it has a place for."""
        place = request.rest + tick
        self.due[request.rest % self.size] -= 1
        self.many -= 1
        request.made = request.new - (request.ends - tick)
        return place

    def needs(self, request: Request, tick: int) -> int:
        """Blocks that it needs in the step."""
        return not (request.rest + tick) % self.size

    def now(self, tick: int) -> int:
        """Blocks that all need in the step."""
        return self.due[-tick % self.size]

    def later(self, tick: int, steps: int) -> int:
        """Blocks due in steps after the first of so many."""
        whole, part = divmod(steps - 1, self.size)
        first, size = tick + 1, self.size
        return whole * self.many + sum(
            self.due[-(first + n) % size] for n in range(part)
        )

    def grown(self, tick: int, steps: int) -> int:
        """Tokens written in so many steps."""
        return steps * self.many


class Drafted(Plain):
    """What the checks of a draft keep; one step at a time.

    - ``acceptance``, ``tokens``: of a draft
    """

    def __init__(self, size: int, acceptance: float, tokens: int, seed: int) -> None:
        super().__init__(size)
        self.acceptance, self.tokens, self.seed = acceptance, tokens, seed
        self.width = 1 + tokens
        self.blocks: Counter[int] = Counter()  # due, by step
        self.kept: Counter[int] = Counter()  # tokens written, by step

    def begin(self, request: Request, tick: int) -> int:
        """As of `Plain`; ``kept`` holds its tokens before each pass, and at the end."""
        draw = random.Random(f"draft {self.seed} {request.place} {request.made}")
        left, kept = request.new - request.made, [0]
        while kept[-1] < left:
            many = 1
            while many <= self.tokens and draw.random() < self.acceptance:
                many += 1
            kept.append(min(left, kept[-1] + many))
        request.rest, request.kept = tick, kept
        request.ends = tick + len(kept) - 1
        self.many += 1
        self._count(request, tick, 1)
        return request.tokens - 1

    def stop(self, request: Request, tick: int) -> int:
        """As of `Plain`."""
        self._count(request, tick, -1)
        self.many -= 1
        request.made += request.kept[tick - request.rest]
        return request.tokens - 1

    def _count(self, request: Request, tick: int, sign: int) -> None:
        """What it needs and writes in each step from now on."""
        for at in range(tick, request.rest + len(request.kept) - 1):
            self.blocks[at] += sign * self.needs(request, at)
            first = at - request.rest
            self.kept[at] += sign * (request.kept[first + 1] - request.kept[first])

    def needs(self, request: Request, tick: int) -> int:
        """As of `Plain`."""
        place, at = request.tokens - 1, tick - request.rest
        before, after = (place + request.kept[n] for n in (at, at + 1))
        return -(-after // self.size) - -(-before // self.size)

    def now(self, tick: int) -> int:
        """As of `Plain`."""
        return self.blocks.pop(tick, 0)

    def grown(self, tick: int, steps: int) -> int:
        """As of `Plain`."""
        return self.kept.pop(tick, 0)


class Checked(ByBlocks):
    """Steps that check a draft: more rows, and the draft's own steps before.

    - ``law``: of the model; ``draft``: of who writes, None where it costs nothing
    - ``tokens``: of a draft
    """

    def __init__(self, law: Estimated, draft: ByBlocks | None, tokens: int) -> None:
        super().__init__(law.factor)
        self.law, self.draft, self.tokens = law, draft, tokens

    def seconds(self, work: Work) -> float:
        """As of `ByBlocks`."""
        law, more = self.law, work.decodes * self.tokens
        found = law.of_rows(work.rows + more, work.decodes + work.ends + more)
        if self.draft is not None and work.decodes:
            alone = Work(work.decodes, work.context)
            found += self.tokens * self.draft.seconds(alone)
        return found + law.cached(work)
