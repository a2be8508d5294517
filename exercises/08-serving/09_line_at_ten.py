"""The line at ten a second.

level: derive
project: P8.2

A machine makes steps of at most `chunk` tokens, and a full one takes `step` seconds.
Every request has `prompt` tokens to read, and then writes `new`: the first of them
comes with the last piece of its prompt, each other one takes one token of a step of
its own.
Those who write go first; prompts are read in what is left of a step, one after the
other. Requests come independently of one another, `rate` of them a second on average.

- `capacity(chunk, prompt, new, step)`: requests a second when every step is full.
- `wait(rate, chunk, prompt, new, step)`: mean seconds until a request's prompt begins
  to be read. Take every step as full. All prompts are alike, so that the one under way
  has half of its time left on average.
- `margin(rate, chunk, prompt, new, step)`: by what share steps may take longer until
  the line has no end: 0.25 if by a quarter.

Suppose chunks of 512 tokens, steps of 34 ms, prompts of 1,024 tokens, answers of 256,
and ten requests a second; the grader prints what yours say.

hint: Little's law twice: rate times the time of writing is how many write at once, and
rate times wait is how many stand in line. The wait is then the time to read those in
line, and half a prompt if one is under way.
"""

from stacklib.grading import expect

# ---- your answer ----


def capacity(chunk, prompt, new, step):
    """Requests a second if every step is full."""
    return chunk / ((prompt + new - 1) * step)


def wait(rate, chunk, prompt, new, step):
    """Mean seconds in line, Poisson arrivals and equal prompts."""
    writing = rate * (new - 1) * step
    reading = prompt / (chunk - writing) * step
    share = rate * reading
    return share * reading / (2 * (1 - share))


def margin(rate, chunk, prompt, new, step):
    """By what share steps may be longer."""
    return capacity(chunk, prompt, new, step) / rate - 1


# ---- tests ----

MACHINES = [
    {"chunk": 512, "prompt": 1024, "new": 256, "step": 0.034},
    {"chunk": 2048, "prompt": 4096, "new": 512, "step": 0.12},
    {"chunk": 256, "prompt": 300, "new": 40, "step": 0.011},
    {"chunk": 8192, "prompt": 700, "new": 2, "step": 0.4},
]
CASES = [
    {"rate": load * m["chunk"] / ((m["prompt"] + m["new"] - 1) * m["step"]), **m}
    for m in MACHINES
    for load in (0.3, 0.87, 0.97)
]
TEN = {"rate": 10.0, **MACHINES[0]}


def most(chunk, prompt, new, step):
    """Rate at which a prompt is read all the time: by halving."""
    low, high = 0.0, chunk / ((new - 1) * step)
    for _ in range(200):
        rate = (low + high) / 2
        left = chunk - rate * (new - 1) * step
        low, high = (low, rate) if rate * prompt * step > left else (rate, high)
    return low


def waits(rate, chunk, prompt, new, step, *, rest=0.5, beside=True, spread=0.0):
    """The wait, and what it is if one thing is left out."""
    left = chunk - rate * (new - 1) * step * beside
    reading = prompt * step / left
    share = rate * reading
    return rest * (1 + spread) * share * reading / (1 - share)


def of_capacity(rate, chunk, prompt, new, step):
    """The whole request as one service."""
    each = (prompt + new - 1) * step / chunk
    load = rate * each
    return load * each / (2 * (1 - load))


def test_capacity():
    expect.function_matches(
        capacity,
        most,
        MACHINES,
        rel=1e-6,
        mistakes={
            "Your requests write nothing: a token of each answer takes a token of a "
            "step, too.": lambda chunk, prompt, new, step: chunk / (prompt * step),
            "The first token comes with the prompt, so that a request writes one step "
            "fewer than it has tokens.": lambda chunk, prompt, new, step: (
                chunk / ((prompt + new) * step)
            ),
            "That is tokens a second: divide by those of a request.": (
                lambda chunk, prompt, new, step: chunk / step
            ),
        },
    )


def test_wait():
    expect.function_matches(
        wait,
        waits,
        CASES,
        unit="s",
        rel=1e-6,
        mistakes={
            "The prompt under way has half of its time left on average; yours has all "
            "of it left, as if its length were exponential.": (
                lambda **given: waits(**given, rest=1.0)
            ),
            "Prompts are read in what those who write leave of a step; yours have all "
            "of it.": lambda **given: waits(**given, beside=False),
            "Nobody waits for others to write: the service is the reading of a prompt, "
            "not the whole request.": of_capacity,
        },
    )
    expect.reading(
        "wait at ten a second", f"{1e3 * expect.read(wait(**TEN)):.0f}", "ms"
    )


def test_margin():
    expect.function_matches(
        margin,
        lambda rate, **machine: (most(**machine) - rate) / rate,
        CASES,
        rel=1e-6,
        mistakes={
            "That is the share of the machine that is left; of the step it is another "
            "share, because the load is what grows with it.": (
                lambda rate, **machine: 1 - rate / most(**machine)
            ),
            "That is by how many times steps may be longer; the share is one less.": (
                lambda rate, **machine: most(**machine) / rate
            ),
        },
    )
    share = expect.read(margin(**TEN))
    expect.reading("steps may be longer by", f"{100 * share:.0f} %")
