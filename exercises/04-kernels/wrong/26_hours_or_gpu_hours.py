# ---- fastest: saves most, but its hours cost more
def route(routes, share, now, gpu_hours, price, wage):
    best = min(routes, key=lambda name: routes[name][0])
    paid = worth(share, now, routes[best][0], gpu_hours, price, 0, wage)
    return best if paid > 0 and gpu_hours > 1000 else "leave it"


# ---- no_share: the share is missing
def worth(share, now, new, gpu_hours, price, hours, wage):
    return max(0.0, 1 - new / now) * gpu_hours * price - hours * wage


def route(routes, share, now, gpu_hours, price, wage):
    values = {
        name: share * max(0.0, 1 - new / now) * gpu_hours * price - hours * wage
        for name, (new, hours) in routes.items()
    }
    best = max(values, key=values.get)
    return best if values[best] > 0 else "leave it"


# ---- never: it must raise ValueError
def break_even(share, now, new, price, hours, wage):
    saved = share * (1 - new / now)
    return hours * wage / (saved * price) if saved else float("inf")


# ---- slower: nobody puts it in
def worth(share, now, new, gpu_hours, price, hours, wage):
    return share * (1 - new / now) * gpu_hours * price - hours * wage


# ---- vanishes: The whole share is saved only if
def worth(share, now, new, gpu_hours, price, hours, wage):
    gone = share if new < now else 0.0
    return gone * gpu_hours * price - hours * wage


def route(routes, share, now, gpu_hours, price, wage):
    values = {
        name: share * max(0.0, 1 - new / now) * gpu_hours * price - hours * wage
        for name, (new, hours) in routes.items()
    }
    best = max(values, key=values.get)
    return best if values[best] > 0 else "leave it"
