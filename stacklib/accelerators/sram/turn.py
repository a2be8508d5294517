"""What a token costs in memory that is dear and quick, or cheap and slow.

A machine is n chips, each of price p with m bytes; B conversations of c bytes lie in
it beside W of weights, n m = W + B c, and each has a token every t seconds. Then

    dollars a token = n p t / (B life) = (p t / m) (W / B + c) / life

whatever the chips. Of the two kinds only p t / m differs, the price of a byte times how
long a token occupies it. HBM that is full reads all of itself for a token, t = m / r,
and its factor is p / r: a slow memory is held long. SRAM is held for a moment and costs
more a byte. So there is a capacity of an SRAM chip at which the two are equal:

    m = p t / (p' / r')
"""

from __future__ import annotations

from typing import Any

from stacklib.quantity.bounds import above_zero, at_least


def held_price(price: Any, capacity: Any, time: Any) -> Any:
    """Dollars times seconds a byte: what a token pays for each byte that it needs.

    - ``price``: of a chip; ``capacity``: its bytes
    - ``time``: seconds of a token, which occupies them all
    """
    above_zero(price=price, capacity=capacity, time=time)
    return price * time / capacity


def token_price(held: Any, weights: Any, cache: Any, batch: Any, life: Any) -> Any:
    """Dollars of a token: its share of the weights, and its own cache.

    - ``held``: of ``held_price``; ``life``: seconds that a chip serves
    - ``weights``, ``cache``: bytes of the model, and of one conversation
    - ``batch``: conversations that share the weights
    """
    above_zero(held=held, weights=weights, batch=batch, life=life)
    at_least(0, cache=cache)
    return held * (weights / batch + cache) / life


def turning_capacity(price: Any, time: Any, other_price: Any, other_rate: Any) -> Any:
    """Bytes that a chip must hold to be as cheap as a full memory of another kind.

    - ``price``, ``time``: of the chip, and of a token on it
    - ``other_price``, ``other_rate``: of a chip that reads its memory for each token
    """
    above_zero(price=price, time=time, other_price=other_price, other_rate=other_rate)
    return price * time / (other_price / other_rate)
