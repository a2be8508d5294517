"""Occupancy: NVIDIA's calculator's answers, and what must hold of any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.gpu.issue.occupancy import LIMITS, occupancy, partitions_of
from stacklib.hardware import UnknownSpec

from ...rows import refusals

DEVICES = (
    "v100_sxm2_32gb",
    "t4",
    "a100_sxm_80gb",
    "rtx_3090",
    "rtx_4090",
    "h100_sxm",
    "b200_sxm",
)
# threads, registers, shared bytes -> blocks, by cuda_occupancy.h of CUDA 12.9
VECTORS = {
    (256, 32, 0): (8, 4, 8, 6, 6, 8, 8),
    (256, 40, 0): (6, 4, 6, 6, 6, 6, 6),
    (256, 64, 0): (4, 4, 4, 4, 4, 4, 4),
    (256, 128, 0): (2, 2, 2, 2, 2, 2, 2),
    (96, 48, 0): (13, 10, 13, 13, 13, 13, 13),
    (128, 168, 0): (3, 3, 3, 3, 3, 3, 3),
    (128, 255, 65536): (1, 1, 2, 1, 1, 2, 2),
    (256, 32, 32768): (3, 2, 4, 3, 3, 6, 6),
    (256, 40, 32768): (3, 2, 4, 3, 3, 6, 6),
    (1024, 64, 0): (1, 1, 1, 1, 1, 1, 1),
    (384, 168, 232448): (0, 0, 0, 0, 0, 1, 1),
}


@pytest.mark.rows("case", VECTORS)
def test_vectors(case):
    threads, registers, shared = case
    found = tuple(
        occupancy(
            threads=threads, registers=registers, shared_bytes=shared, device=device
        ).blocks
        for device in DEVICES
    )
    assert found == VECTORS[case]


@given(
    st.integers(1, 1024),
    st.integers(1, 255),
    st.integers(0, 240_000),
    st.sampled_from(DEVICES),
)
def test_more_of_anything_never_fits_more(threads, registers, shared, device):
    here = {"threads": threads, "registers": registers, "shared_bytes": shared}
    found = occupancy(**here, device=device)
    limits = LIMITS[hardware.get(device).compute_capability]
    assert 0 <= found.occupancy <= 1
    assert found.blocks * -(-threads // 32) == found.warps <= limits.warps
    per_warp = -(-32 * registers // 256) * 256
    assert found.warps * per_warp <= 65536
    assert (found.blocks == 0) == bool(found.reason)
    if registers < 255:
        more = occupancy(**{**here, "registers": registers + 1}, device=device)
        assert more.blocks <= found.blocks
    more = occupancy(**{**here, "shared_bytes": shared + 1}, device=device)
    assert more.blocks <= found.blocks


test_bad_input = refusals(
    ({"threads": 0}, "threads = 0"),
    ({"threads": 1025}, "1 to 1,024"),
    ({"threads": 32.0}, "threads = 32.0"),
    ({"threads": True}, "threads = True"),
    ({"threads": 32, "registers": 256}, "1 to 255"),
    ({"threads": 32, "registers": 0}, "registers = 0"),
    ({"threads": 32, "shared_bytes": -1}, "shared_bytes = -1"),
    by=lambda bad: occupancy(**bad),
)


def test_other_chips():
    with pytest.raises(hardware.UnknownSpec, match="compute capability none"):
        occupancy(threads=32, device="mi300x")
    with pytest.raises(LookupError, match="h100"):
        occupancy(threads=32, device="h100_sxn")


def test_what_does_not_fit_says_why():
    none = occupancy(threads=384, shared_bytes=232448, device="a100-sxm-80gb")
    assert none.limiter == "shared memory" and "232,448 B" in none.reason
    many = occupancy(threads=1024, registers=128)
    assert many.blocks == 0 and many.reason.startswith("131,072 registers")


def test_partitions_are_those_of_the_data_base():
    for key in ("v100-sxm2-32gb", "a40", "h100-sxm", "b200", "rtx-5090"):
        chip = hardware.get(key)
        told = hardware.microarchitecture(chip).count("warp_schedulers")
        assert partitions_of(key) == partitions_of(chip) == told.si
        assert told.source.confidence != "" and told.key
    with pytest.raises(UnknownSpec, match="warp schedulers"):
        partitions_of("mi300x")
