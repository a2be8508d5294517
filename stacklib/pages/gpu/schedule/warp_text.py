"""A short language for what warps issue: one instruction a line, names for results.

::

    repeat 4          # as often as it says, up to its `end`
      a = load        # global memory; `load 8`: lanes 8 words apart
      b = load_shared
      c = fma a b     # needs both
      store c
      bar             # all warps of the block
    end
    if warp < 2       # also ==, >=
      d = exp c
    end

Every warp runs the text by itself, so a name holds what that warp computed last. What
it issues becomes ``streams`` for the replay. A program that cannot run is refused with
the line and what is wrong with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from stacklib.gpu.issue.streams import NEEDS, Recorder, Streams
from stacklib.memory.warp.banks import bank_access
from stacklib.memory.warp.coalescing import LINE, pieces, sectors
from stacklib.memory.warp.lanes import WARP

WORDS = {
    "load": "load_global",
    "store": "store_global",
    "load_shared": "load_shared",
    "store_shared": "store_shared",
    "fma": "fp32",
    "add": "fp32",
    "mul": "fp32",
    "double": "fp64",
    "int": "int",
    "exp": "special",
    "shuffle": "shuffle",
    "bar": "barrier",
}
SILENT = ("store", "store_shared", "bar")  # they leave no result
LEVELS = {"l1": "L1", "l2": "L2", "memory": "memory"}
WORD = 4  # bytes of fp32
STRIDES, ROUNDS, MOST, DEEP = 32, 100, 4000, 8
_BLOCKS = ("repeat", "if")
_TEST = re.compile(r"warp ?(==|<|>=) ?(\d+)")
_GIVES = re.compile(r"(?<![=<>])=(?!=)")


class ProgramFault(ValueError):
    """A program that cannot run: the line, and why."""


def _fault(line: int, why: str) -> ProgramFault:
    return ProgramFault(f"line {line}: {why}")


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction as it is written."""

    line: int
    word: str
    name: str  # of its result, or none
    operands: tuple[str, ...]
    stride: int  # words between neighbouring lanes


@dataclass(slots=True)
class Block:
    """Lines between ``repeat`` or ``if`` and ``end``."""

    line: int
    rounds: int = 1
    test: tuple[str, int] | None = None
    body: list[Step | Block] = field(default_factory=list)

    def entered(self, warp: int) -> bool:
        """Whether a warp runs it."""
        if self.test is None:
            return True
        sign, number = self.test
        return {"==": warp == number, "<": warp < number, ">=": warp >= number}[sign]


def read(text: str) -> Block:
    """The program as nested blocks; ProgramFault for what is no program."""
    open_blocks = [Block(0)]
    for line, raw in enumerate(text.splitlines(), 1):
        words = _GIVES.sub(" = ", raw.partition("#")[0]).split()
        if not words:
            continue
        if words[0] in _BLOCKS:
            open_blocks.append(_block(line, words))
            open_blocks[-2].body.append(open_blocks[-1])
            if len(open_blocks) > DEEP:
                raise _fault(line, f"over {DEEP - 1} blocks inside one another")
        elif words == ["end"]:
            if len(open_blocks) == 1:
                raise _fault(line, "this `end` has no `repeat` or `if` before it")
            open_blocks.pop()
        else:
            open_blocks[-1].body.append(_step(line, words))
    if len(open_blocks) > 1:
        raise _fault(open_blocks[-1].line, "no `end` follows")
    return open_blocks[0]


def _block(line: int, words: Sequence[str]) -> Block:
    rest = " ".join(words[1:])
    if words[0] == "repeat":
        if not rest.isdecimal() or not 1 <= int(rest) <= ROUNDS:
            raise _fault(line, f"`repeat {rest}`: a whole number from 1 to {ROUNDS}")
        return Block(line, rounds=int(rest))
    asked = _TEST.fullmatch(rest)
    if asked is None:
        raise _fault(line, f"`if {rest}`: ask for `warp < 2`, `warp >= 2`, `warp == 2`")
    return Block(line, test=(asked[1], int(asked[2])))


def _step(line: int, words: Sequence[str]) -> Step:
    name, rest = "", list(words)
    if "=" in words:
        if len(words) < 3 or words[1] != "=" or not words[0].isidentifier():
            raise _fault(line, "a result is written `name = word operands`")
        name, rest = words[0], list(words[2:])
    word = rest[0]
    if word not in WORDS:
        raise _fault(line, _unknown(word))
    if name and word in SILENT:
        raise _fault(line, f"`{word}` leaves no result for {name}")
    numbers = [w for w in rest[1:] if w.isdecimal()]
    operands = tuple(w for w in rest[1:] if not w.isdecimal())
    if operands and word == "bar":
        raise _fault(line, "`bar` takes no operands")
    if len(operands) > NEEDS:
        raise _fault(line, f"{len(operands)} operands; at most {NEEDS}")
    return Step(line, word, name, operands, _stride(line, word, numbers))


def _unknown(word: str) -> str:
    near = get_close_matches(word, [*WORDS, *_BLOCKS, "end"], 1)
    meant = f"did you mean `{near[0]}`? " if near else ""
    return f"`{word}` is no instruction; {meant}There are {', '.join(WORDS)}"


def _stride(line: int, word: str, numbers: Sequence[str]) -> int:
    """The one number a load or store may have."""
    if not numbers:
        return 1
    if not word.startswith(("load", "store")) or len(numbers) > 1:
        raise _fault(line, f"`{word}` takes no number; results have names")
    stride = int(numbers[0])
    if not 1 <= stride <= STRIDES:
        raise _fault(line, f"lanes {stride} words apart: 1 to {STRIDES}")
    return stride


def issued(program: Block, warp: int) -> Iterator[Step]:
    """What a warp issues, in order; of rounds that issue nothing one is enough."""
    for _ in range(program.rounds if program.entered(warp) else 0):
        idle = True
        for one in program.body:
            for step in issued(one, warp) if isinstance(one, Block) else (one,):
                idle = False
                yield step
        if idle:
            return


def streams_of(text: str, warps: int, level: str) -> Streams:
    """One block of so many warps that run the text; ``level`` answers its loads."""
    program, total = read(text), 0
    by_warp: list[list[Step]] = []
    for warp in range(warps):
        by_warp.append([])
        for step in issued(program, warp):
            by_warp[-1].append(step)
            total += 1
            if total > MOST:
                raise _fault(step.line, f"over {MOST:,} instructions of all warps")
    if not any(by_warp):
        raise ProgramFault("no instruction: write one, such as `a = load`")
    _meet(by_warp)
    return _recorded(by_warp, level)


def _meet(by_warp: Sequence[Sequence[Step]]) -> None:
    """Every warp comes to as many barriers as the others."""
    met = [[step.line for step in steps if step.word == "bar"] for steps in by_warp]
    most = max(met, key=len)
    late = [warp for warp, lines in enumerate(met) if len(lines) < len(most)]
    if late:
        come = [w for w in range(len(met)) if w not in late]
        line = most[min(len(met[warp]) for warp in late)]
        why = f"a deadlock: `bar` is reached by {_named(come)}, never by {_named(late)}"
        raise _fault(line, why)


def _named(warps: Sequence[int]) -> str:
    few = ", ".join(map(str, warps[:4])) + (", ..." if len(warps) > 4 else "")
    return f"warp{'s' if len(warps) > 1 else ''} {few}"


def _recorded(by_warp: Sequence[Sequence[Step]], level: str) -> Streams:
    tape = Recorder()
    count = max(Counter(step.word for step in steps)["bar"] for steps in by_warp)
    events = [tape.event(len(by_warp)) for _ in range(count)]
    for warp, steps in enumerate(by_warp):
        tape.warp()
        places: dict[str, int] = {}
        meets = iter(events)
        for step in steps:
            event = next(meets) if step.word == "bar" else -1
            place = tape.add(
                WORDS[step.word],
                _needs(step, places, warp),
                line=step.line,
                request=_request(tape, step, level),
                arrive=event,
                wait=event,
            )
            if step.name:
                places[step.name] = place
        tape.add("exit")
    return tape.streams()


def _needs(step: Step, places: dict[str, int], warp: int) -> list[int]:
    for operand in step.operands:
        if operand not in places:
            known = ", ".join(places) or "nothing yet"
            raise _fault(
                step.line, f"{operand} holds nothing in warp {warp}; known: {known}"
            )
    return [places[operand] for operand in step.operands]


def _request(tape: Recorder, step: Step, level: str) -> int:
    """What a load or store asks of memory."""
    if not step.word.startswith(("load", "store")):
        return -1
    lanes = [WORD * step.stride * lane for lane in range(WARP)]
    if step.word.endswith("shared"):
        return tape.ask(passes=bank_access(lanes).passes)
    passes, count = pieces(lanes, size=LINE), sectors(lanes)
    l1 = level == "l1" and step.word == "load"
    far = level == "memory"
    return tape.ask(
        passes=passes,
        l1=count if l1 else 0,
        l2=0 if l1 or far else count,
        memory=count if far else 0,
    )
