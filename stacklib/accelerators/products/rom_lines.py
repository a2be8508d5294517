"""A token whose weights are wires: its lines, in the account of any chips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stacklib.serving import Account
from stacklib.serving.token.shape import HEAD, PRODUCTS

SECTION = "05-accelerators/wiring"


def adding_time(sharing: Any, products: Any, clock: Any) -> Any:
    """Seconds of a token's products: each in turn waits for its sums.

    - ``sharing``: weights that take turns on one adder
    - ``products``: of a token, each of which needs the one before
    - ``clock``: sums a second of an adder
    """
    return sharing * products / clock


def wired(account: Account, seconds: Any) -> Account:
    """The account with products that read nothing: both lines of weights, one time.

    ``seconds``: of all products with weights, as ``adding_time`` has them. They are
    shared out by the operations of the two lines, which keep what they cover.
    """
    lines = [account[name] for name in (PRODUCTS, HEAD)]
    work = sum(line.operations for line in lines)
    for line in lines:
        share = seconds * (line.operations / work)
        account = account.with_(
            replace(
                line,
                section=SECTION,
                t_bytes=None,
                t_arithmetic=share,
                whole="",
                spent=None,
                family="",
                note="weights are wires: nothing is read",
            )
        )
    return account
