"""Section 6.11: Why move the light into the package?"""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.interconnect.optics import budget as light
from stacklib.interconnect.optics import errors, failing
from stacklib.interconnect.optics.ports import PORTS, ends, energy_per_bit
from stacklib.pages import chain
from stacklib.pages.figures_of import claimed as claimed
from stacklib.pages.interconnect.fabrics import exchanges as exchanges
from stacklib.quantity import Quantity, chosen, counted, counting, quoted

DEVICE, WAYS = "h100_sxm", tuple(PORTS)
TIA = "D. Patel and others, 112-Gb/s TIA in 16-nm FinFET, JSSC 2023"
ECOC = "Meta's test of optics in the package, ECOC 2025, as quoted by 100gmodules"
DAC = "NVIDIA, MCP7Y00 800 Gb/s passive copper cables, ordering information"
NVIDIA = "NVIDIA, MMS4X00-NM 800 Gb/s twin-port transceiver, user manual"
FIT, SWITCHES, PORTS_EACH = 500, 100_000, 64  # as claimed of a fleet
REPAIR = 4.0  # hours
RUN_PORTS, RUN_DAYS = 64_000, 1000  # of the run
RESPONSIVITY = 0.8  # A/W


# -- watts -----------------------------------------------------------------------------


def part(way: str, name: str) -> Quantity:
    """Watts of a port of one kind: its engine, its laser, or both."""
    if name == "port":
        return (part(way, "engine") + part(way, "laser")).named(f"a port, {way}")
    return quoted(f"photonics.{name}_{way}")


def rate() -> Quantity:
    """Bits a second of such a port, one direction."""
    return quoted("photonics.rate").to("Tbit/s")


def per_bit(way: str) -> Quantity:
    """Energy of a bit on a port that is full."""
    told: Quantity = energy_per_bit(part(way, "port"), rate())
    return told.named(f"energy per bit, {way}").to("pJ/bit")


def lane() -> Quantity:
    """A lane of NDR, one direction."""
    return hardware.link("ib_ndr").lane_rate


def gpus() -> Quantity:
    """GPUs of the cluster that NVIDIA reckoned with."""
    return quoted("photonics.gpus")


def levels() -> Quantity:
    """Levels of switches, and so cables for each GPU."""
    return chosen(3, label="levels of switches")


def each() -> Quantity:
    """Optical ends for one GPU."""
    return ends(chosen(1, label="GPU"), levels()).named("optical ends for a GPU")


def fleet(way: str) -> Quantity:
    """Watts of all optics of the cluster."""
    return (gpus() * each() * part(way, "port")).named(f"all optics, {way}").to("MW")


def fleet_published(way: str) -> Quantity:
    """The same as NVIDIA has it."""
    return quoted(f"photonics.optics_{way}")


def saved(name: str) -> Quantity:
    """Share of a port's power, or of its engine's, that is saved."""
    share = 1 - part("package", name) / part("pluggable", name)
    return share.named(f"saved, {name}")


def electrical(way: str) -> Quantity:
    """Decibels between the switch chip and what drives the light."""
    return quoted(f"photonics.loss_{way}")


def halves() -> Quantity:
    """Share of the electrical power that arrives over the board."""
    loss = electrical("pluggable")
    return counted(left, loss, label="share of the power that crosses the board")


def left(loss: float) -> float:
    """Share of the power that is left behind a loss in dB."""
    return float(10 ** (-loss / 10))


def module() -> Quantity:
    """Watts of a module of today, both of its ports of 400 Gbit/s."""
    return quoted("twin_port.module")


# -- a token ---------------------------------------------------------------------------


def step() -> Quantity:
    """Time of a token on eight H100s, exchanges by NCCL."""
    return chain.time("06-interconnect/optics", after=False)


def token(way: str) -> Quantity:
    """Energy of the optics of eight GPUs while they make a token."""
    port = hardware.link("ib_ndr").per_direction
    port = port.to("Gbit/s")
    eight = chosen(8, label="GPUs of a token")
    watts = eight * each() * port * per_bit(way)
    return (watts * step()).named(f"optics for a token, {way}").to("J")


def bits() -> Quantity:
    """Bits of the exchanges of a token, of one GPU."""
    size = chosen(16, "KiB", label="an exchange")
    return (exchanges() * size).named("bits of a token's exchanges").to("Mbit")


def crossing() -> Quantity:
    """Energy of these bits over one full port."""
    return (bits() * per_bit("pluggable")).named("the bits alone").to("mJ")


def chips() -> Quantity:
    """Energy of the eight GPUs in that time, at their design power."""
    tdp = hardware.get(DEVICE).tdp.across(1)
    eight = chosen(8, label="GPUs of a token")
    return (eight * tdp * step()).named("eight H100s for a token").to("J")


# -- light -----------------------------------------------------------------------------


def standard(name: str) -> Quantity:
    """A level (dBm) or a loss (dB) of the standard's lane."""
    of = "sheet" if name in ("less", "closure", "stressed") else "clause"
    return quoted(f"dr4_{of}.{name}")


def sent() -> Quantity:
    """OMA in dBm of the weakest sender whose eye is as closed as is allowed."""
    return (standard("less") + standard("closure")).named("OMA sent, dBm")


def budget(take: str, sent: float, channel: float, stressed: float) -> float:
    """What of a level that is sent arrives behind the fibre, or is left over."""
    told = light.budget(sent, {"fibre, connectors": channel}, stressed)
    return float(getattr(told, take))


def _levels() -> tuple[Quantity, Quantity, Quantity]:
    return sent(), standard("channel"), standard("stressed")


def received() -> Quantity:
    """OMA behind the fibre."""
    return counted(budget, "received", *_levels(), label="OMA received, dBm")


def margin() -> Quantity:
    """What is left of the budget."""
    return counted(budget, "margin", *_levels(), label="margin in dB")


def power(of: str) -> Quantity:
    """A level of the budget in milliwatts: ``sent``, ``received`` or ``stressed``."""
    level = {"sent": sent, "received": received}.get(of, lambda: standard("stressed"))
    label = f"OMA {of}"
    return counted(light.watts, level().si, unit="W", label=label).to("mW")


def current() -> Quantity:
    """The light that the least level is, by the formula's own line."""
    return counted(light.watts, least().si, unit="W", label="OMA needed").to("µW")


def gaps() -> Quantity:
    """Distances between the levels of PAM-4."""
    return (chosen(4, label="levels") - 1).named("gaps between four levels")


def noise() -> Quantity:
    """Noise of a published amplifier: its density over its bandwidth."""
    density = quoted("tia.noise")
    band = quoted("tia.bandwidth")
    return counted(noise_current, density, band, label="noise current in µA")


def noise_current(density: float, band: float) -> float:
    """Microamperes of a noise over a band."""
    return float(1e6 * density * band**0.5)


def responsivity() -> Quantity:
    """Amperes that a photodiode makes of a watt."""
    return chosen(RESPONSIVITY, label="responsivity, A/W")


def reach() -> Quantity:
    """Deviations between a level and the next threshold, at the standard's errors."""
    return counted(errors.needed_reach, standard("errors"), label="deviations needed")


def least() -> Quantity:
    """OMA that this amplifier needs by the closed form."""
    return counted(needed, standard("errors"), noise(), label="OMA needed, dBm")


def needed(wrong: float, micro: float, levels: int = 4) -> float:
    """dBm for a share of wrong bits, under a noise in microamperes."""
    return errors.sensitivity(wrong, micro / 1e6, RESPONSIVITY, levels)


def least_measured() -> Quantity:
    """The same as measured."""
    return quoted("tia.sensitivity")


def off() -> Quantity:
    """Decibels between the two."""
    return (least_measured() - least()).named("measured less predicted, dB")


def four_levels() -> Quantity:
    """Decibels that four levels need over two."""
    other = counted(needed, standard("errors"), noise(), 2, label="OMA for two levels")
    return (least() - other).named("four levels over two, dB")


def lost() -> Quantity:
    """Share of codewords lost at the standard's errors."""
    wrong = standard("errors")
    return counted(errors.codeword_errors, wrong, label="codewords lost")


# -- failures --------------------------------------------------------------------------


def fit() -> Quantity:
    """FIT of a module, as supposed."""
    return chosen(FIT, label="FIT of a module")


def ports() -> Quantity:
    """Ports of the fleet."""
    switches = chosen(SWITCHES, label="switches of the fleet")
    return (switches * chosen(PORTS_EACH, label="ports of a switch")).named("its ports")


def a_day() -> Quantity:
    """Failures a day of the fleet."""
    return counted(failing.failures_a_day, ports(), fit(), label="failures a day")


def stuck(*, together: bool, fit: Quantity | None = None) -> Quantity:
    """Port-hours lost a day: each port is pulled alone, or with its whole switch."""
    ports_of = PORTS_EACH if together else 1
    rate = chosen(FIT, label="FIT of a module") if fit is None else fit
    label = f"port-hours lost a day, {ports_of} together"
    return counted(stuck_hours, ports(), rate, ports_of, label=label)


def stuck_hours(count: float, fit: float, together: int) -> float:
    """Port-hours that so many ports lose in a day."""
    return failing.expected(
        [failing.Part("port", round(count), fit, together, REPAIR)], 1
    ).port_hours


@cache
def _run(events: bool) -> failing.Days:
    fleet = [failing.Part("module", RUN_PORTS, FIT, 1, REPAIR)]
    if events:
        return failing.run_failures(fleet, RUN_DAYS, seed=611)
    return failing.expected(fleet, RUN_DAYS)


@counting(
    lambda events: (
        f"failures of {RUN_PORTS} modules, {'events' if events else 'formula'}"
    )
)
def run(*, events: bool) -> float:
    """Failures of a smaller fleet over years: event by event, and by the formula."""
    return _run(events).failures


def mtbf(way: str) -> Quantity:
    """Hours between failures of one part, as a test of them found."""
    return quoted(f"ecoc.{way.replace(', ', '_')}")


def fit_measured(way: str) -> Quantity:
    """The same as FIT."""
    one = chosen(1, label="a failure")
    return counted(failing.fit_of, one, one, mtbf(way), label=f"FIT, {way}")


def llama(name: str) -> Quantity:
    """Of a training run: interruptions by the network, days, GPUs, its top level."""
    of = "herd" if name == "thinner" else "dcd"
    return quoted(f"llama3_{of}.{name}")


def llama_ends() -> Quantity:
    """Its optical ends: full above the racks, a seventh at the top."""
    cables = llama("gpus") * (1 + 1 / llama("thinner"))
    return (2 * cables).named("optical ends of Llama 3's network")


def llama_foretold() -> Quantity:
    """Failures that the formula expects of them."""
    day = counted(
        failing.failures_a_day, llama_ends(), fit(), label="of Llama 3's, a day"
    )
    return (day * llama("days")).named("failures of its optics, predicted")
