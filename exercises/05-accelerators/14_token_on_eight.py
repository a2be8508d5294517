"""The token on eight machines: a table that does not lie.

level: build

A row is a dict: `name` (such as `"four wafers"`), `ms` (of a token, or `None` where it
does not fit), `watts` (of all chips, or `None` where nobody publishes them),
`usd_per_h` (rent of all chips, or `None`), and `whose`, how sure its figures are: one
of `"vendor"`, `"measured"`, `"secondary"`, `"recalled"`, `"announced"`, from sure to
unsure.

- `joules(row)`: energy of a token, or `None`.
- `per_million(row)`: dollars of `1e6` tokens, or `None`.
- `table(rows, by)`: the names, best first, by `"ms"`, `"joules"` or `"dollars"`. Rows
  without that figure are left out, not put last. Of two with the same figure, the surer
  comes first.
- `winners(rows)`: a dict from each of the three to the first name of its table, or
  `None` where no row has that figure.

Raise `ValueError` for a `by` that is none of the three. What is unknown is `None`, and
never zero: a machine without a printed power is not one that needs none.

hint: Write one function for the figure of a row by its name, and let the others call
it. `None` times something is an error in Python, which is a kindness here.
"""

from stacklib.grading import expect

# ---- your answer ----

SURE = ("vendor", "measured", "secondary", "recalled", "announced")


def joules(row):
    """Watts times seconds, where both are known."""
    if row["ms"] is None or row["watts"] is None:
        return None
    return row["watts"] * row["ms"] / 1e3


def per_million(row):
    """Dollars an hour over million tokens an hour."""
    if row["ms"] is None or row["usd_per_h"] is None:
        return None
    return row["usd_per_h"] * row["ms"] / 3.6


FIGURES = {"ms": lambda row: row["ms"], "joules": joules, "dollars": per_million}


def table(rows, by):
    """Names of rows that have the figure, best first."""
    if by not in FIGURES:
        raise ValueError(f"by = {by!r}: one of {', '.join(FIGURES)}")
    of = FIGURES[by]
    known = [row for row in rows if of(row) is not None]
    known.sort(key=lambda row: (of(row), SURE.index(row["whose"])))
    return [row["name"] for row in known]


def winners(rows):
    """The first of each table."""
    return {by: next(iter(table(rows, by)), None) for by in FIGURES}


# ---- tests ----


def row(name, ms, watts, usd_per_h, whose="secondary"):
    """A row of the table."""
    given = {"ms": ms, "watts": watts, "usd_per_h": usd_per_h, "whose": whose}
    return {"name": name, **given}


ROWS = [
    row("eight H100", 5.25, 5600, 13.6),
    row("eight B200", 2.29, 8000, 44.0),
    row("eight MI300X", 3.31, 6000, 13.7, "vendor"),
    row("eight TPU v7", 2.39, None, None),
    row("a rack", 0.152, None, None, "announced"),
    row("four wafers", 0.192, 92_000, None),
    row("a laptop", None, None, None),
    row("a twin", 3.31, 6000, 13.7, "recalled"),
]
KNOWN = [r for r in ROWS if r["ms"] and r["watts"]]
RENTED = [r for r in ROWS if r["ms"] and r["usd_per_h"]]


def test_joules():
    expect.function_matches(
        joules,
        lambda row: row["watts"] * row["ms"] * 1e-3,
        [{"row": r} for r in KNOWN],
        unit="J",
        rel=1e-9,
        mistakes={
            "Those are millijoules: ms times W.": lambda row: row["watts"] * row["ms"],
            "Power over time is no energy.": lambda row: row["watts"] / row["ms"],
        },
    )
    for unknown in (ROWS[3], ROWS[6]):
        expect.equal(joules(unknown) is None, True)


def test_per_million():
    expect.function_matches(
        per_million,
        lambda row: row["usd_per_h"] / 3600 * row["ms"] / 1000 * 1e6,
        [{"row": r} for r in RENTED],
        unit="USD",
        rel=1e-9,
        mistakes={
            "That is a thousand tokens.": (
                lambda row: row["usd_per_h"] * row["ms"] / 3600
            ),
            "An hour has 3,600 seconds.": lambda row: (
                row["usd_per_h"] * row["ms"] / 0.06
            ),
        },
    )
    expect.equal(per_million(ROWS[5]) is None, True)


def test_table():
    quick = ["a rack", "four wafers", "eight B200", "eight TPU v7"]
    expect.equal(table(ROWS, "ms")[:4], quick)
    expect.equal(len(table(ROWS, "ms")), 7)
    same = ["eight MI300X", "a twin"]
    expect.equal([n for n in table(ROWS, "ms") if n in same], same)
    expect.equal([n for n in table(ROWS[::-1], "ms") if n in same], same)
    bought = ["eight MI300X", "a twin", "eight H100", "eight B200"]
    expect.equal(table(ROWS, "dollars"), bought)
    expect.equal(table(ROWS, "joules")[0], "four wafers")


def test_winners():
    best = {"ms": "a rack", "joules": "four wafers", "dollars": "eight MI300X"}
    found = winners(ROWS)
    for by, name in best.items():
        expect.equal(found[by], name, among=[row["name"] for row in ROWS])
    expect.equal([*winners([ROWS[6]]).values()] == [None] * 3, True)


def test_another_word_is_refused():
    given = {"rows": ROWS, "by": "price"}
    expect.refuses(table, given, because="no column has that name")
