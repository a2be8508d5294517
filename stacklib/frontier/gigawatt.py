"""A campus of a gigawatt: how many GPUs, what they say, and the water.

    GPUs = watts / (PUE x (a GPU's share of its server + its share of the processors))

The processors of a server are counted apart, for agents want more of them: four times
as many take their watts from the GPUs, and half of that if each does twice as much a
watt. Power at its design limit is a ceiling.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.cost.spans import Given, Span, span
from stacklib.quantity import Quantity, chosen, quoted, resolve
from stacklib.quantity.bounds import above_zero
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving import estimate

SERVER, PER_SERVER = "b200-sxm", 8
POWER = {"h100-sxm": "dgx_h100.power", "b200-sxm": "campus_power.b200"}


@dataclass(frozen=True)
class Campus:
    """What fits behind one meter.

    - ``gpus``, ``processors``: how many of each
    - ``each``: watts of a GPU with its share of everything, PUE included
    - ``water``: of cooling, volume a second
    - ``on``: the GPU
    """

    gpus: Span
    processors: Span
    each: Span
    water: Span
    on: str

    def tokens(self, model: str, dtype: str, tp: int, batch: int) -> Span:
        """Tokens a second of a model that all of them run."""
        told = estimate(model, on=self.on, dtype=dtype, tp=tp, batch=batch)
        if not told.fits:
            raise ValueError(f"{model} in {dtype} on {tp} x {self.on}: {told.why}")
        rate = told.tokens_per_s / chosen(tp, label="GPUs of a copy")
        return (self.gpus * rate).named("tokens a second of the campus")


def campus(
    watts: Quantity | float | None = None,
    on: str = SERVER,
    *,
    pue: Given | None = None,
    processors: float = 1.0,
    a_watt: float = 1.0,
) -> Campus:
    """Fill a campus with servers.

    Parameters
    ----------
    watts : Quantity or float, optional
        At the meter; a gigawatt.
    on : str, optional
        ``h100-sxm`` or ``b200-sxm``, in servers of eight.
    pue : Span, Range, Quantity or float, optional
        Watts at the meter over those of the servers; the largest facilities' to the
        average's.
    processors : float, optional
        Processors for each GPU, over those of a server as it is sold.
    a_watt : float, optional
        What a processor does a watt, over one as it is sold: fewer watts for the same.

    Returns
    -------
    Campus
        Spans of GPUs and processors, and of water.

    Raises
    ------
    UnknownName
        For a device whose server is not known.
    ValueError
        For values that are not above zero, or a PUE below one.
    Infeasible
        For a meter that feeds no server; with what one needs.

    Examples
    --------
    >>> campus(on="h100-sxm").gpus.text(digits=2)
    '500,000 to 710,000'
    """
    above_zero(processors=processors, a_watt=a_watt)
    on, many = resolve(on, POWER, "server"), chosen(processors).si
    if watts is None:
        watts = chosen(1, "GW", label="the campus")
    meter = watts.to("W") if isinstance(watts, Quantity) else chosen(watts, "W")
    above_zero(watts=meter.si)
    usual = quoted("uptime.pue_hyperscale"), quoted("uptime.pue_2023")
    over = span(*usual) if pue is None else span(pue)
    if over.to("").low.si < 1:
        raise ValueError(f"PUE {over.text()}: no less than one")
    eight = chosen(PER_SERVER, label="GPUs of a server")
    server, host = quoted(POWER[on]), quoted("campus_power.host")
    share = (server - host) / eight + host * (many / chosen(a_watt).si) / eight
    each = (over * share).named("watts at the meter for each GPU")
    gpus = (span(meter) / each).named("GPUs of the campus")
    if gpus.low.si < PER_SERVER:
        needs = (each.high * PER_SERVER).text()
        raise Infeasible(f"{meter.text()} < {needs} of one server with its PUE")
    two = chosen(2 * many / PER_SERVER, label="processors for each GPU")
    volume = span(quoted("campus_water.low"), quoted("campus_water.high"))
    water = volume * (span(meter) / over)
    return Campus(gpus, gpus * two, each, water.named("water of the campus"), on)


def deal_a_watt(dollars: Quantity, watts: Quantity) -> Quantity:
    """Dollars for each watt of a contract."""
    above_zero(dollars=dollars.si, watts=watts.si)
    return (dollars / watts).to("USD/W").named("dollars a watt")


def deal_a_system(dollars: Quantity, watts: Quantity, system: Quantity) -> Quantity:
    """Dollars a system, where all watts go to systems and nothing to their cooling."""
    above_zero(system=system.si)
    return (deal_a_watt(dollars, watts) * system).to("USD").named("dollars a system")
