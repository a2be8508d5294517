# ---- exact: fractions, from the hours that the fleet then takes
from fractions import Fraction as F


def after(share, now, new):
    kept = min(F(1), F(str(new)) / F(str(now)))
    return 1 - F(str(share)) + F(str(share)) * kept


def worth(share, now, new, gpu_hours, price, hours, wage):
    less = F(str(gpu_hours)) * (1 - after(share, now, new))
    return less * F(str(price)) - F(str(hours)) * F(str(wage))


def break_even(share, now, new, price, hours, wage):
    part = 1 - after(share, now, new)
    if not part:
        raise ValueError("never")
    return F(str(hours)) * F(str(wage)) / F(str(price)) / part


def route(routes, share, now, gpu_hours, price, wage):
    ranked = sorted(
        (worth(share, now, new, gpu_hours, price, hours, wage), name)
        for name, (new, hours) in routes.items()
    )
    return ranked[-1][1] if ranked[-1][0] > 0 else "leave it"


# ---- quantities: units carried through, and the routes compared in pairs
from stacklib.quantity import Quantity


def worth(share, now, new, gpu_hours, price, hours, wage):
    was, then = Quantity(now, "ms"), Quantity(min(new, now), "ms")
    part = share * (was - then) / was
    income = part * Quantity(gpu_hours, "h") * Quantity(price, "USD/h")
    return income - Quantity(hours, "h") * Quantity(wage, "USD/h")


def break_even(share, now, new, price, hours, wage):
    if new >= now or share <= 0:
        raise ValueError("nothing is saved")
    gain = Quantity(share * (now - new) / now * price, "USD/h")
    return Quantity(hours * wage, "USD") / gain


def route(routes, share, now, gpu_hours, price, wage):
    best, most = "leave it", 0.0
    for name, (new, hours) in routes.items():
        value = worth(share, now, new, gpu_hours, price, hours, wage).si
        if value > most:
            best, most = name, value
    return best
