"""A pasted machine: what is read, what is wrong with it, and what is refused."""

import pytest

from stacklib.diy import diagnose, read_rig
from stacklib.diy.rig import RigError, named_card, read_lspci
from stacklib.hardware.nvidia_smi import smi_sample
from stacklib.quantity import UnknownName

RISER = smi_sample("rtx4090_riser")
IDLE = smi_sample("rtx4090_idle")
MODEL = "qwen3-14b:q4_k_m"
LSPCI = """\
01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L0s L1
\tLnkSta:\tSpeed 16GT/s, Width x16
01:00.1 Audio device: NVIDIA Corporation GA102 High Definition Audio Controller (rev a1)
\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L0s L1
\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16
02:00.0 3D controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)
\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L0s L1
\tLnkSta:\tSpeed 8GT/s (downgraded), Width x4 (downgraded)
"""
TOPO = """\
\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tSYS\t0-15\t0
GPU1\tSYS\t X \t16-31\t1
"""


def rules(rig, **told):
    return [found.rule for found in diagnose(rig, MODEL, **told)]


def test_a_card_on_a_riser():
    rig = read_rig(smi=RISER)
    found = diagnose(rig, MODEL)
    assert [f.rule for f in found] == ["link-lanes", "link-generation"]
    assert all(f.verdict == "broken" and f.gives == 0 for f in found)  # one card alone
    assert found[0].sum == "x8 < x16: 7.9 GB/s of 15.8 GB/s"
    assert "nvidia-smi -q -d PCIE" in found[0].command


def test_a_link_at_rest_is_undecided_and_not_broken():
    rest = read_rig(smi=IDLE.replace("1, 4, 8, 16", "1, 4, 16, 16"))
    found = diagnose(rest, MODEL)
    assert [(f.rule, f.verdict) for f in found] == [("link-generation", "undecided")]


def test_two_cards_one_on_four_lanes():
    rig = read_rig(lspci=LSPCI)
    assert [card.link for card in rig.hands] == [(4, 16), (3, 4)]
    found = diagnose(rig, MODEL, split="tensors")
    by = {f.rule: f for f in found}
    assert by["link-lanes"].gives > 1 and by["link-generation"].gives > 0.5
    assert found[0].rule == "link-lanes"
    now, after = by["link-lanes"].now, by["link-lanes"].after
    assert now.low < now.decode < now.high and after.decode > now.decode
    layers = {f.rule: f.gives for f in diagnose(rig, MODEL, split="layers")}
    assert 0 < layers["link-lanes"] < 0.1  # the activations of one token


def test_sockets_cost_what_the_path_costs():
    far = read_rig(
        lspci=LSPCI.replace("8GT/s (d", "16GT/s (d").replace("x4", "x16"), topo=TOPO
    )
    assert far.path == "SYS"
    found = diagnose(far, MODEL, split="tensors")
    assert [f.rule for f in found] == ["path"] and found[0].gives > 0
    near = read_rig(lspci=LSPCI, topo=TOPO.replace("SYS", "NV4"))
    assert near.cards.bridged and "path" not in rules(near)


def test_limits_heat_and_brakes():
    limited = RISER.replace("8x", "16x").replace(
        "Current                   : 3", "Current : 4"
    )
    limited = limited.replace("450.00 W", "250.00 W")
    found = diagnose(read_rig(smi=limited), MODEL)
    assert [f.rule for f in found] == ["limit"] and found[0].gives > 0
    hot = limited.replace("250.00 W", "450.00 W").replace("2520 MHz", "1500 MHz")
    heat = hot.replace("HW Thermal Slowdown           : Not", "HW Thermal Slowdown : ")
    found = diagnose(read_rig(smi=heat), MODEL)
    assert [f.rule for f in found] == ["heat"] and found[0].gives > 1
    brake = hot.replace(
        "HW Power Brake Slowdown       : Not", "HW Power Brake Slowdown : "
    )
    assert rules(read_rig(smi=brake)) == ["brake"]
    clean = limited.replace("250.00 W", "450.00 W")
    assert rules(read_rig(smi=clean)) == []


def test_a_slot_that_is_narrower_than_its_card():
    slot = LSPCI.replace("Speed 16GT/s, Width x16", "Speed 16GT/s, Width x8")
    assert "slot" in rules(read_rig(lspci=slot))


def test_what_does_not_fit_is_the_only_finding():
    found = diagnose(read_rig(smi=RISER), "llama-3-70b:q4_k_m")
    assert [f.rule for f in found] == ["fits"] and "does not fit" in found[0].sum


@pytest.mark.parametrize(
    ("name", "memory", "key"),
    [
        ("NVIDIA GeForce RTX 4060 Ti", 8.6e9, "rtx_4060ti_8gb"),
        ("NVIDIA GeForce RTX 4060 Ti", 17.1e9, "rtx_4060ti_16gb"),
        ("NVIDIA RTX 6000 Ada Generation", None, "rtx_6000_ada"),
        ("NVIDIA A100 80GB PCIe", None, "a100_pcie_80gb"),
    ],
)
def test_names_of_products(name, memory, key):
    assert named_card(name, memory).key == key


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "NVIDIA GeForce RTX 4095",
    ],
)
def test_a_product_that_is_not_known_is_refused_by_name(name):
    with pytest.raises(RigError, match=name.split()[-1]):
        named_card(name)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({}, "nothing to read"),
        ({"smi": "ROCm System Management Interface"}, "ROCm"),
        ({"smi": 5}, "smi = 5"),
        ({"lspci": "00:00.0 Host bridge: AMD"}, "no NVIDIA card"),
        (
            {"lspci": LSPCI.replace("\tLnkSta:\tSpeed 16GT", "\tx\tSpeed 16GT")},
            "line 1",
        ),
        ({"lspci": LSPCI.replace("8GT/s", "9GT/s")}, "line 9"),
        ({"smi": RISER, "lspci": LSPCI}, "2 cards, nvidia-smi 1"),
        ({"smi": RISER, "topo": TOPO}, "2 GPUs, the others 1"),
        ({"smi": RISER.replace("8x", "7x")}, "7 lanes"),
    ],
)
def test_text_of_another_tool(told, says):
    with pytest.raises(ValueError, match=says):
        read_rig(**told)


def test_unknown_models_and_odd_contexts():
    rig = read_rig(smi=RISER)
    with pytest.raises(UnknownName):
        diagnose(rig, "llama-9")
    with pytest.raises(ValueError, match="context"):
        diagnose(rig, MODEL, context=0)


def test_lspci_reads_cards_and_not_their_sound():
    assert [name.split("[")[1][:16] for name, _, _ in read_lspci(LSPCI)] == [
        "GeForce RTX 3090",
    ] * 2
