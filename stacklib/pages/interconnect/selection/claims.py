"""Claims on sums in switches."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.interconnect.schedules.algorithms import all_reduce
from stacklib.interconnect.schedules.cost import count
from stacklib.quantity import Quantity, bytes_per_element, counted, one_of

NODE = 8


def adds(dtype: str) -> Quantity:
    """Additions a second when every port brings operands at its full rate."""
    switch = hardware.link("switch_q3400")
    port = switch.fields["link_bandwidth"]
    ports = switch.fields["ports"]
    assert port is not None and ports is not None
    one = one_of("FLOP", "an addition an operand")
    found = ports * port / bytes_per_element(dtype) * one
    return found.named(f"additions of {dtype} operands").to("TFLOP/s")


@claim("sharp-v4-tflops", right_if="operands of two bytes are summed")
def sharp_v4() -> Finding:
    """Line rate over the bytes of an operand, an addition each."""
    return Finding(
        adds("fp8"),
        why="The ports together bring so many operands of one byte, and each is added "
        "once. Wider operands come in less often.",
        then=adds("fp16"),
    )


def sent(ranks: int, algorithm: str) -> float:
    """Arrays that a rank sends, counted from the schedule."""
    schedule = all_reduce(ranks, algorithm)
    mine = [send for send in schedule.sends if send.source == 0]
    return len(mine) / schedule.chunks


@claim("sharp-once")
def once() -> Finding:
    """Counted from the schedule of a sum in the switch."""
    ring = count(all_reduce(NODE)).share
    return Finding(
        counted(sent, NODE, "in_switch", label="arrays a GPU sends, sum in the switch"),
        why=f"Around a ring of {NODE} it sends {float(ring):.3g} of them. The gain in "
        "bytes is below two at any size, and measured rates of NCCL show less.",
    )


@claim("nvswitch-sharp-gen3")
def third() -> Finding:
    """Which switches of the database have arithmetic."""
    have = [
        n
        for n in ("nvswitch1", "nvswitch2", "nvswitch3", "nvswitch4")
        if hardware.link(n).fields.get("reduction") is not None
    ]
    return Finding.true(
        "Source: NVIDIA, Hopper architecture white paper, 2022: third-generation "
        "NVSwitch adds multicast and reduction in the network (SHARP). Of our switch "
        f"entries, {', '.join(have)} list arithmetic."
    )
