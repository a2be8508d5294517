"""Many requests at once in closed form: what each adds to the others' steps.

An engine that holds ``batch`` requests replaces each that ends. A prompt then rides on
decode steps: one product over its tokens and the decode tokens together, so that it
costs the difference, and its own attention. Of ``batch`` requests with ``new`` tokens
each, all others' prompts pass in the time of one request's tokens:

    time of a token = step + (batch - 1) / new * (mixed - step + attention)

Groups of chips that share experts only wait for each other after every layer. Prompts
that they do not read in the same step are each paid by all: of ``ep`` groups that
begin ``x`` prompts a step by chance, a step pays the most that one of them begins.

A run of so many requests of one length goes in waves, the last one not full. A first
token waits for half a step, for its own prompt, and for prompts before it: all
``batch`` of them where a client begins all at once, as many as end together later on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from stacklib.models import Attention
from stacklib.roofline.work.fit import copies_of

from ..token import calibrated
from ..token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from ..token.work import EXCHANGES, HOST, SAMPLING
from . import losses
from .step import Step

CHUNK = 8192  # tokens of a pass: vLLM's and TensorRT-LLM's ``max_num_tokens``
WAVES = 10  # requests that a benchmark sends for each that it holds: InferenceX
SPREAD = 0.2  # of a request's life, by which its length differs: drawn from .8 to 1
# Prompts a step, of which no group begins a tenth more than the others; and a chance
# that is none.
MANY, EPSILON = 500.0, 1e-15
FREE = 0.92  # of the memory that weights leave, which engines give to the cache


@dataclass(frozen=True, slots=True)
class Load:
    """Requests that an engine holds, and how long they are.

    - ``batch``: held at once, over all groups of chips
    - ``prompt``, ``new``: tokens read and written, on average
    - ``chunk``: tokens of a prompt that a pass takes, at the most
    - ``captured``: batches of a group's graphs; decodes alone fill one
    - ``balanced``: whether groups wait until all of them have a prompt to read
    """

    batch: float
    prompt: float
    new: float
    chunk: int = CHUNK
    captured: tuple[int, ...] = ()
    balanced: bool = False

    @property
    def context(self) -> float:
        """Tokens cached in each, on average over its life."""
        return float(round(self.prompt + self.new / 2))


def step_time(step: Step, load: Load) -> float:
    """Seconds of a decode step, the engine's losses among them."""
    batch = float(round(load.batch))
    return float(step.time(batch, load.context)) + losses.seconds(step, batch)


def padding(step: Step, load: Load) -> float:
    """Seconds a step that rows of no request add, which fill the next graph's batch.

    Only to steps of decodes alone: nobody's prompt begins in so many of them.
    """
    ep, batch = step.frame.ep, float(round(load.batch))
    fitting = (float(n * ep) for n in load.captured if n * ep >= batch)
    alone = math.exp(-load.batch / load.new)
    return alone * sum(_more(step, batch, next(fitting, batch)).values())


def added(step: Step, load: Load) -> float:
    """Seconds that one prompt of a group adds to the decode steps that it rides on."""
    return sum(added_by_line(step, load).values())


def added_by_line(step: Step, load: Load, together: float = 1.0) -> dict[str, float]:
    """Those seconds, line by line; what engines lose more is the host's.

    - ``together``: the part of all groups that read a prompt in the same steps; experts
      multiply theirs alone
    """
    ep, batch = step.frame.ep, float(round(load.batch))
    passes = max(1, math.ceil(load.prompt / load.chunk))
    rows = load.prompt * ep / passes
    whole, part = float(round(batch + rows)), float(round(batch + together * rows))
    found = {line: passes * x for line, x in _more(step, batch, whole, part).items()}
    found[ATTENTION] = step.prompt_attention(float(ep), float(round(load.prompt)))
    return found


def _more(
    step: Step, few: float, many: float, routed: float | None = None
) -> dict[str, float]:
    """Seconds by line of a pass of ``many`` tokens over one of ``few``.

    - ``routed``: tokens that experts multiply, where it is not as many
    """
    routed = many if routed is None else routed
    found = {
        line: step.line(line, many) - step.line(line, few)
        for line in (PRODUCTS, EXCHANGES, NORMS)
    }
    found[PRODUCTS] -= step.experts(many) - step.experts(routed)
    found[HOST] = 0.0
    if step.fitted:
        found[HOST] = losses.uneven(step, routed) - losses.uneven(step, few)
    return found


def reading(step: Step, load: Load, others: float, balanced: bool = False) -> float:
    """Seconds that prompts of ``others`` requests of each group add to a step."""
    each, ep = others / load.new, step.frame.ep
    if ep == 1 or not each or balanced or load.balanced or not step.fitted:
        return each * added(step, load)
    steps = most_of(each, ep)
    by_line = added_by_line(step, load, min(1.0, each / steps))
    return steps * sum(by_line.values())


@lru_cache(maxsize=4096)
def most_of(mean: float, many: int) -> float:
    """The largest of ``many`` Poisson numbers of one mean, on average.

    E[max] = sum over k of 1 - P(x <= k)^many
    """
    if mean > MANY:
        return mean
    found, below, term, k = 0.0, 0.0, math.exp(-mean), 0
    while k <= mean or term > EPSILON:
        below += term
        found += 1 - min(1.0, below) ** many
        k += 1
        term *= mean / k
    return found


def token_time(step: Step, load: Load) -> float:
    """Seconds of a token of one request among the others, their prompts included."""
    others = max(0.0, load.batch / step.frame.ep - 1)
    return step_time(step, load) + reading(step, load, others)


def rate(
    step: Step, load: Load, stages: int = 1, requests: float | None = None
) -> float:
    """Tokens a second of all requests, each replaced by the next.

    - ``stages``: of a pipeline, each with a batch of its own; the last one has the
      output matrix as well, and all others wait for it
    - ``requests``: of the run, all queued at its begin and of one length; None: no end
    """
    if requests is None:
        return stages * load.batch / _turn(step, load, stages)
    left = requests / stages
    load = replace(load, batch=min(left, load.batch))
    full, rest = divmod(left, load.batch)
    time = _turn(step, load, stages, True)  # groups begin the first wave together
    time += (full - 1) * _turn(step, load, stages)
    if rest >= 1:
        time += _turn(step, replace(load, batch=rest), stages)
    return stages * left / time


def _turn(step: Step, load: Load, stages: int, balanced: bool = False) -> float:
    """Seconds between two tokens of a request, everybody's prompts included."""
    each = load.batch / step.frame.ep
    time = step_time(step, load) + reading(step, load, each, balanced)
    if load.captured:
        time += padding(step, load)
    if stages > 1:
        found = step.lines(float(round(load.batch)), load.context)
        time += (stages - 1) * (found[HEAD] + found[SAMPLING])
    return time


def prompt_time(
    step: Step, prompt: float, chunk: int = CHUNK, runner: str = ""
) -> float:
    """Seconds of a prompt alone, in passes of ``chunk`` tokens, losses included.

    - ``runner``: by a runner's kernels, of this ``token.runner.way`` for narrow weights
    """
    passes = max(1, math.ceil(prompt / chunk))
    each = float(round(prompt / passes))
    groups = float(step.frame.ep)  # each reads one
    found = step.prompt(groups, each)
    if runner:
        found[PRODUCTS] = losses.widened(step, each, runner)
    by = "naive" if runner else calibrated.SOFTWARE
    whole = step.prompt_attention(groups, float(round(prompt)), software=by)
    parts = passes * (sum(found.values()) - step.prompt_attention(groups, each))
    return float(parts + whole) + passes * losses.seconds(step, groups * each, runner)


def first_time(step: Step, load: Load) -> float:
    """Seconds to the first token of one request among the others, on average."""
    own, turn = prompt_time(step, load.prompt, load.chunk), step_time(step, load)
    others, each = load.batch / step.frame.ep, added(step, load)
    apart = SPREAD * load.new * turn / (others * each)  # ends, over all their prompts
    together = 1 / WAVES + (1 - 1 / WAVES) / (1 + apart)
    own += losses.REQUEST_S
    return own + turn / 2 + max(0.0, others - 1) / 2 * each * together


def held(
    step: Step, tokens: float, chips: int, most: float, whole: bool = False
) -> float:
    """Requests of ``tokens`` that fit the memory that weights leave on ``chips``.

    A head counts as often as chips keep it, which share fewer heads than they are.

    - ``most``: of an engine's setting
    - ``whole``: layers with a window keep all tokens
    - a value below 1 says that not even one does
    """
    frame = step.frame
    shape, experts = frame.shape, frame.shape.experts
    groups = frame.ep
    a_chip = (shape.weights - experts) * groups / chips + experts / chips
    free = FREE * (frame.capacity - a_chip) * chips
    each = request_bytes(step, tokens, whole)
    return min(most, free / each) if each else most


def request_bytes(step: Step, tokens: float, whole: bool = False) -> float:
    """Bytes of a request's cache on all chips that keep a part or a copy of it."""
    shape, tp, found = step.frame.shape, step.frame.tp, 0.0
    for layers, a in shape.attention:
        form = replace(a, window=0) if whole and isinstance(a, Attention) else a
        found += layers * copies_of(a, tp) * form.cached(int(tokens))
    return shape.number * found
