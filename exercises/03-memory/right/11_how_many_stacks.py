# ---- quantities: bits and bytes as units
from stacklib.quantity import Quantity


def stack_bandwidth():
    return 1024 * Quantity(5.2, "Gbit/s")


def stacks():
    return round(float((Quantity(5.3, "TB/s") / stack_bandwidth().to("B/s")).si))


def stack_capacity():
    return Quantity(192, "GB") / stacks()


def dies_a_stack():
    return (stack_capacity() / Quantity(16, "Gbit").to("B")).si


# ---- tried: counts are tried until they do
from fractions import Fraction


def stack_bandwidth():
    return Fraction(1024 * 52, 80)


def stacks():
    return min(range(1, 17), key=lambda n: abs(n * stack_bandwidth() - 5300))


def stack_capacity():
    return Fraction(192, stacks())


def dies_a_stack():
    held, dies = 0, 0
    while held < stack_capacity():
        held, dies = held + Fraction(16, 8), dies + 1
    return dies
