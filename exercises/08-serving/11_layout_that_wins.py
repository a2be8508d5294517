"""The layout that wins.

level: build

Llama-3-70B in bf16 is to be served on eight H100s. Every copy of it holds as many
requests as you allow, and replaces each that ends. Write the search: the number of
chips that share a copy, and the requests that each copy holds, so that all eight chips
give the most tokens a second while a token takes no longer than a limit.

`times(chips, batch)` gives you two numbers, in seconds: a step of a copy of that many
chips with that batch, and what one prompt adds to the steps that it rides on.
`room(chips)` gives the requests for which a copy has memory, 0 or less where it does
not even hold the weights. While a request writes its `new` tokens, the prompts of all
others in its copy come by; a copy works off `batch` prompts in the time in which it
writes `batch * new` tokens.

hint: A token of one request waits for the prompts of the others, `batch - 1` of them in
`new` tokens. The copy's rate has to pay for all of them, one's own as well.
"""

from stacklib.grading import expect
from stacklib.serving.estimates import steady
from stacklib.serving.layouts.asked import asked
from stacklib.serving.layouts.copies import copy_of

# ---- your answer ----


def token_time(step, prompt, batch, new):
    """Seconds of a token of one request among `batch`."""
    return step + (batch - 1) / new * prompt


def rate(step, prompt, batch, new):
    """Tokens a second of one copy."""
    return batch / (step + batch / new * prompt)


def best(times, room, gpus, new, limit):
    """Chips of a copy, batch, and tokens a second of all chips; None if none is so.

    A copy may take 1, 2, 4 or 8 chips, not more than `gpus`; whole copies only.
    """
    found = []
    for chips in (1, 2, 4, 8):
        if chips > gpus:
            continue
        for batch in range(1, int(room(chips)) + 1):
            step, prompt = times(chips, batch)
            if token_time(step, prompt, batch, new) <= limit:
                made = gpus // chips * rate(step, prompt, batch, new)
                found.append((made, chips, batch))
    if not found:
        return None
    made, chips, batch = max(found)
    return chips, batch, made


# ---- tests ----

PROMPT, NEW = 4096, 512
ASKED = asked(
    "llama-3-70b",
    8,
    "h100-sxm",
    (PROMPT, NEW),
    {"tpot": 0.05},
    ["bf16"],
    "engine",
    "tokens_per_gpu",
)


def h100(chips, batch):
    """A step and a prompt's part of it, as the book estimates them."""
    step = copy_of(ASKED, "h100-sxm", "bf16", chips, 1).step
    load = steady.Load(batch, PROMPT, NEW)
    return steady.step_time(step, load), steady.added(step, load)


def memory(chips):
    """Requests that fit, no more than twenty-four so that the search is short."""
    return min(24, copy_of(ASKED, "h100-sxm", "bf16", chips, 1).room)


def toy(chips, batch):
    """A machine whose steps shrink with its chips, but for what they exchange."""
    return (0.1 + 0.001 * batch) / chips + 0.002 * chips, 0.4 / chips


def toy_room(chips):
    """No room on one chip."""
    return 20 * (chips - 1)


def test_token_time():
    expect.number(
        token_time(0.02, 0.25, 33, 512),
        0.02 + 32 / 512 * 0.25,
        mistakes={
            "Nobody waits for an own prompt between two tokens.": (
                0.02 + 33 / 512 * 0.25
            ),
            "The prompts of the others are missing.": 0.02,
            "All prompts come by in new tokens, not in one.": 0.02 + 32 * 0.25,
        },
    )


def test_rate():
    made = 33 / (0.02 + 33 / 512 * 0.25)
    expect.number(
        rate(0.02, 0.25, 33, 512),
        made,
        mistakes={
            "One's own prompt has to be paid for as well.": (
                33 / (0.02 + 32 / 512 * 0.25)
            ),
            "The prompts cost the copy nothing in yours.": 33 / 0.02,
            "That is one request's rate, not the copy's.": made / 33,
        },
    )


def check(found, times, room, gpus, limit):
    """A found layout against every other, once both formulas are right."""
    formulas = token_time(0.02, 0.25, 33, 512), rate(0.02, 0.25, 33, 512)
    right = 0.02 + 32 / 512 * 0.25, 33 / (0.02 + 33 / 512 * 0.25)
    if any(abs(x / y - 1) > 1e-6 for x, y in zip(formulas, right, strict=True)):
        return
    assert found is not None, f"a token within {limit:g} s is possible; yours is None"
    chips, batch, made = found
    step, prompt = times(chips, batch)
    waits = step + (batch - 1) / NEW * prompt
    assert batch <= room(chips), (
        f"{batch} requests on {chips} chips: there is room for {int(room(chips))}"
    )
    assert waits <= limit, f"a token takes {waits:.4g} s, the limit is {limit:g} s"
    most = 0.0
    for n in (1, 2, 4, 8):
        for b in range(1, int(room(n)) + 1):
            s, p = times(n, b)
            if n <= gpus and s + (b - 1) / NEW * p <= limit:
                most = max(most, gpus // n * b / (s + b / NEW * p))
    copies = gpus // chips
    alone = "That is one copy; the others stand beside it."
    mistakes = {alone: most / copies} if copies > 1 else {}
    expect.number(made, most, mistakes=mistakes)


def test_best_on_a_toy():
    for gpus, limit in ((8, 0.05), (8, 0.1), (6, 0.08), (4, 0.2), (2, 0.1)):
        found = best(toy, toy_room, gpus, NEW, limit)
        check(found, toy, toy_room, gpus, limit)


def test_best_on_eight_h100s():
    check(best(h100, memory, 8, NEW, 0.03), h100, memory, 8, 0.03)


def test_a_limit_that_nothing_keeps():
    assert best(toy, toy_room, 8, NEW, 0.001) is None, (
        "No layout keeps a limit of 0.001 s: the answer is None"
    )
