"""What is left of a faster machine, and what it is worth per hour.

level: estimate

A token's account is `lines`, milliseconds by name on the machine that you have. On the
next one some of them are `gains` times as fast, by name; the others stay as long.

- `faster(lines, gains)`: how many times as fast the token is.
- `most(lines, name)`: the same if one line took no time at all.
- `rent(lines, gains, hour)`: dollars an hour of the next machine at which a token costs
  what it costs now, where yours is `hour` dollars.

Raise `ValueError` for a gain of a line that the account has not. Then read the lines of
`stacklib estimate llama-3-70b --on b200 --dtype bf16 --tp 8`, guess each gain from the
two data sheets, and hold your sum against the estimate on `rubin`.

hint: Gains do not add up and do not average. Times do.
"""

from stacklib.grading import expect

# ---- your answer ----


def faster(lines, gains):
    """Times as fast."""
    if unknown := sorted(set(gains) - set(lines)):
        raise ValueError(f"gains of {unknown}: the account has {sorted(lines)}")
    after = sum(ms / gains.get(name, 1) for name, ms in lines.items())
    return sum(lines.values()) / after


def most(lines, name):
    """Times as fast without one line."""
    whole = sum(lines.values())
    return whole / (whole - lines[name])


def rent(lines, gains, hour):
    """Dollars an hour at which nothing is won and nothing is lost."""
    return hour * faster(lines, gains)


# ---- tests ----

ALONE = {"reading": 2.8, "exchanges": 0.8, "launches": 0.4, "engine": 4.4}
CROWD = {**ALONE, "reading": 5.0, "exchanges": 1.5}
SHEETS = ({"reading": 2.86, "exchanges": 2.0}, {"reading": 2.3}, {"engine": 10.0})
CASES = [{"lines": x, "gains": gains} for x in (ALONE, CROWD) for gains in SHEETS]


def times(lines, gains, rest=1.0):
    """Before over after; of lines without a gain only a part is counted."""
    after = [ms / gains[n] if n in gains else ms * rest for n, ms in lines.items()]
    return sum(lines.values()) / sum(after)


def mean(lines, gains):
    """Gains by the time they stand for: what a sum of times is not."""
    more = [ms * gains.get(n, 1) for n, ms in lines.items()]
    return sum(more) / sum(lines.values())


def test_faster():
    mistakes = {
        "Weigh times, not gains: a line ten times as fast is not worth ten.": mean,
        "Lines without a gain take what they took.": lambda **case: times(
            **case, rest=0
        ),
    }
    expect.function_matches(faster, times, CASES, rel=1e-6, mistakes=mistakes)


def test_a_gain_of_no_line_is_refused():
    case = {"lines": ALONE, "gains": {"arithmetic": 3.89}}
    expect.refuses(faster, case, because="no line of the account is arithmetic")


def test_most():
    over = "That is one over the share that goes; the rest stays."
    expect.function_matches(
        most,
        lambda lines, name: times(lines, {name: 1e12}),
        [{"lines": x, "name": name} for x in (ALONE, CROWD) for name in x],
        mistakes={over: lambda lines, name: sum(lines.values()) / lines[name]},
    )


def test_rent():
    down = "A faster machine may cost more, not less."
    expect.function_matches(
        rent,
        lambda hour, **case: hour * times(**case),
        [{**case, "hour": 24.0} for case in CASES],
        mistakes={down: lambda hour, **case: hour / times(**case)},
    )
