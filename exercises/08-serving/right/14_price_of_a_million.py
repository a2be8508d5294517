# ---- units: quantities keep the units, plain numbers come out
def an_hour(capital, years, watts, pue, usd_per_kwh):
    from stacklib.quantity import Quantity

    life = Quantity(years * HOURS, "h")
    power = Quantity(watts, "W") * pue * Quantity(usd_per_kwh, "USD/kWh")
    return (Quantity(capital, "USD") / life + power).to("USD/h").value


def a_million(hour, tokens_per_s, utilisation):
    from stacklib.quantity import Quantity

    made = Quantity(tokens_per_s * utilisation, "token/s")
    return (Quantity(hour, "USD/h") / made).to("USD/Mtoken").value


def use_for(price, hour, tokens_per_s):
    return hour / (price * tokens_per_s * 3600 / 1e6)


def use_to_own(hour, rent):
    return 1 / (rent / hour)


# ---- over_a_life: all that is paid in the machine's life over all that is made in it
def an_hour(capital, years, watts, pue, usd_per_kwh):
    hours = years * 365.25 * 24
    energy = hours * watts / 1e3
    return (capital + energy * usd_per_kwh * pue) / hours


def a_million(hour, tokens_per_s, utilisation):
    seconds = 1e6 / tokens_per_s
    return hour * seconds / 3600 / utilisation


def use_for(price, hour, tokens_per_s):
    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        enough = a_million(hour, tokens_per_s, middle) <= price
        low, high = (low, middle) if enough else (middle, high)
    return high


def use_to_own(hour, rent):
    year = hour * HOURS
    return year / rent / HOURS
