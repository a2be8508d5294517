"""Price a million tokens.

level: derive

Suppose a machine is bought for so many dollars and serves so many years. It draws so
many watts on average, the building adds cooling by its PUE, and a kilowatt hour has a
price. Suppose a year of 8,766 hours.

- `an_hour(capital, years, watts, pue, usd_per_kwh)`: dollars that an hour of it costs,
  whether it works or not.
- `a_million(hour, tokens_per_s, utilisation)`: dollars that a million tokens cost, if
  it makes `tokens_per_s` while it works, and works in that share of the hours.
- `use_for(price, hour, tokens_per_s)`: the least utilisation at which a million tokens
  cost at most `price` dollars; above 1 where no use is enough.
- `use_to_own(hour, rent)`: the utilisation above which owning is cheaper than renting
  by the hour, if rent is paid only for hours in use; above 1 where it never is.

hint: Write what is paid over a year and what is made in it. Idle hours are paid for
and make nothing. For the last, the tokens of both machines are the same: only what
their hours cost is left.
"""

from stacklib.grading import expect

# ---- your answer ----

HOURS = 8766


def an_hour(capital, years, watts, pue, usd_per_kwh):
    """Dollars an hour, in use or not."""
    bought = capital / (years * HOURS)
    return bought + watts / 1000 * pue * usd_per_kwh


def a_million(hour, tokens_per_s, utilisation):
    """Dollars a million tokens."""
    return hour / (tokens_per_s * 3600 * utilisation) * 1e6


def use_for(price, hour, tokens_per_s):
    """The least utilisation for a price."""
    return a_million(hour, tokens_per_s, 1) / price


def use_to_own(hour, rent):
    """The utilisation above which owning is cheaper."""
    return hour / rent


# ---- tests ----

MACHINES = [
    {"capital": 200e3, "years": 5, "watts": 5600, "pue": 1.1, "usd_per_kwh": 0.06},
    {"capital": 320e3, "years": 4, "watts": 10_200, "pue": 1.58, "usd_per_kwh": 0.2},
    {"capital": 2e3, "years": 3, "watts": 450, "pue": 1.0, "usd_per_kwh": 0.35},
]
MADE = [
    {"hour": 6.89, "tokens_per_s": 3830.0, "utilisation": 1.0},
    {"hour": 6.89, "tokens_per_s": 3830.0, "utilisation": 0.3},
    {"hour": 12.6, "tokens_per_s": 88.7, "utilisation": 0.65},
]


def by_year(capital, years, watts, pue, usd_per_kwh):
    """What a year costs, over its hours."""
    power = watts * pue * 8766 / 1000 * usd_per_kwh
    return (capital / years + power) / 8766


def by_second(hour, tokens_per_s, utilisation):
    """What a second costs, over what it makes on average."""
    return hour / 3600 / (tokens_per_s * utilisation / 1e6)


def test_an_hour():
    expect.function_matches(
        an_hour,
        by_year,
        MACHINES,
        rel=0.002,
        mistakes={
            "The building's share is missing: power is drawn PUE times.": (
                lambda pue, **rest: by_year(pue=1, **rest)
            ),
            "Only cooling is counted there: the machine's own power is left out.": (
                lambda pue, **rest: by_year(pue=pue - 1, **rest)
            ),
            "Watts were priced as kilowatts.": (
                lambda watts, **rest: by_year(watts=1000 * watts, **rest)
            ),
        },
    )


def test_a_million():
    expect.function_matches(
        a_million,
        by_second,
        MADE,
        rel=0.001,
        mistakes={
            "Idle hours are paid for and make nothing: divide by the utilisation.": (
                lambda hour, tokens_per_s, utilisation: (
                    by_second(hour, tokens_per_s, 1) * utilisation
                )
            ),
            "Your machine works all hours; the utilisation is not used.": (
                lambda hour, tokens_per_s, utilisation: by_second(hour, tokens_per_s, 1)
            ),
            "That is the price of a thousand million: a slip as in the printed bill.": (
                lambda **given: 1000 * by_second(**given)
            ),
        },
    )
    price = a_million(6.89, 3830, 0.3)
    expect.reading("a million tokens in 30 % of the hours", f"{price:.2f} USD")


def test_use_for():
    def least(price, hour, tokens_per_s):
        return by_second(hour, tokens_per_s, 1) / price

    expect.function_matches(
        use_for,
        least,
        [
            {"price": price, "hour": 6.89, "tokens_per_s": rate}
            for price, rate in ((1.0, 3830.0), (0.3, 7520.0), (0.01, 7520.0))
        ],
        rel=0.001,
        mistakes={
            "A price below the least cost needs more than all hours: say how many.": (
                lambda **given: min(1, least(**given))
            ),
            "That is the price over what always costs: less use is needed for a higher "
            "price, not more.": lambda **given: 1 / least(**given),
        },
    )


def test_use_to_own():
    expect.function_matches(
        use_to_own,
        lambda hour, rent: hour / rent,
        [{"hour": 6.89, "rent": 40.0}, {"hour": 12.6, "rent": 8.0}],
        rel=0.001,
        mistakes={
            "That is the rent over the cost of an owned hour: turn it over.": (
                lambda hour, rent: rent / hour
            ),
        },
    )
