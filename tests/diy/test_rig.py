"""A pasted machine: what is read, what is wrong with it, and what is refused."""

import re

import pytest

from stacklib.diy import diagnose, read_rig
from stacklib.hardware.lspci import read_lspci
from stacklib.hardware.nvidia_smi import SmiError, named_card, smi_sample
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
    assert "pcie.link.width.current" in found[0].command


def test_a_link_at_rest_is_undecided_and_not_broken():
    rest = read_rig(smi=IDLE.replace("1, 4, 8, 16", "1, 4, 16, 16"))
    found = diagnose(rest, MODEL)
    assert [(f.rule, f.verdict) for f in found] == [("link-generation", "undecided")]
    found = diagnose(read_rig(smi=RISER.replace("Link Width", "Link")), MODEL)
    assert ("link-lanes", "undecided") in [(f.rule, f.verdict) for f in found]


def test_two_cards_one_on_four_lanes():
    rig = read_rig(lspci=LSPCI)
    assert [card.link for card in rig.hands] == [(4, 16), (3, 4)]
    found = diagnose(rig, MODEL, split="tensors")
    by = {f.rule: f for f in found}
    assert found[0].rule == "link-lanes" and found[0].gives > 1
    assert by["link-generation"].verdict == "undecided"  # lspci tells no load
    now, after = by["link-lanes"].now, by["link-lanes"].after
    assert now.low < now.decode < now.high and after.decode > now.decode
    layers = {f.rule: f.gives for f in diagnose(rig, MODEL, split="layers")}
    assert 0 < layers["link-lanes"] < 0.1  # the activations of one token


def test_sockets_cost_what_the_path_costs():
    even = LSPCI.replace("8GT/s (d", "16GT/s (d").replace("x4", "x16")
    far = read_rig(lspci=even, topo=TOPO)
    assert far.path == "SYS"
    found = diagnose(far, MODEL, split="tensors")
    assert [f.rule for f in found] == ["path"] and found[0].gives > 0
    near = read_rig(lspci=LSPCI, topo=TOPO.replace("SYS", "NV4"))
    assert near.cards.bridged and near.cards.peer is None and "path" not in rules(near)


GOOD = (  # a sample in which all is well
    RISER.replace(": 8x", ": 16x").replace(
        "Current                   : 3", "Current                   : 4"
    )
)
HEAD = (
    "name, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, "
    "pcie.link.width.max, utilization.gpu [%], power.limit [W]\n"
)


def table(*cards):
    """The table of ``--query-gpu``: each card with what differs from a good one."""
    rows = []
    for told in cards:
        card = {"name": "NVIDIA GeForce RTX 3090", "gen": "4", "lanes": "16"}
        card |= {"busy": "97 %", "limit": "350.00 W"} | told
        name, gen, lanes, busy, limit = card.values()
        rows.append(f"{name}, {gen}, 4, {lanes}, 16, {busy}, {limit}\n")
    return HEAD + "".join(rows)


FAULTS = [  # the rule that a planted fault breaks
    ("link-lanes", ": 16x\n    Fan", ": 4x\n    Fan"),
    ("link-generation", "Current                   : 4", "Current : 1"),
    ("slot", "Max                       : 4", "Max : 3"),
    ("slot", "Max                       : 16x", "Max : 8x"),
    ("limit", "450.00 W", "250.00 W"),
    ("heat", "SW Thermal Slowdown               : Not", "SW Thermal Slowdown : "),
    ("heat", "HW Thermal Slowdown           : Not", "HW Thermal Slowdown : "),
    ("brake", "HW Power Brake Slowdown       : Not", "HW Power Brake Slowdown : "),
]


@pytest.mark.parametrize(("rule", "old", "new"), FAULTS)
def test_a_planted_fault_is_the_only_finding(rule, old, new):
    assert old in GOOD and rules(read_rig(smi=GOOD)) == []
    text = GOOD.replace(old, new)
    if "Max : 8x" in new:
        text = text.replace("Current                   : 16x", "Current : 8x")
    if "Max : 3" in new:
        text = text.replace("Current                   : 4", "Current : 3")
    found = diagnose(read_rig(smi=text), MODEL)
    assert [(f.rule, f.verdict) for f in found] == [(rule, "broken")]
    assert found[0].command and found[0].todo


def test_heat_takes_speed_and_names_no_supply():
    hot = GOOD.replace("2520 MHz", "1500 MHz")
    for reason in ("HW Slowdown", "HW Thermal Slowdown"):
        hot = re.sub(rf"({reason} +: )Not ", r"\1", hot)
    found = diagnose(read_rig(smi=hot), MODEL)
    assert [f.rule for f in found] == ["heat"] and found[0].gives > 1
    assert found[0].now.prompt < found[0].after.prompt


@pytest.mark.parametrize("many", range(1, 11))
def test_cards_with_one_fault_are_one_finding(many):
    rig = read_rig(smi=table(*[{"limit": "220.00 W"}] * many))
    (found,) = diagnose(rig, MODEL)
    assert found.rule == "limit" and found.gives > 1
    listed = ",".join(map(str, range(many)))
    assert f"nvidia-smi -i {listed} -pl 350" in found.todo


def test_limits_are_those_of_each_card():
    """By tensors all wait for the slowest; by layers each is slow for its part."""
    one = read_rig(smi=table({}, {"limit": "200.00 W"}))
    by = {s: diagnose(one, MODEL, split=s)[0] for s in ("layers", "tensors")}
    lost = {s: f.gives / f.after.decode for s, f in by.items()}
    assert 0.4 < lost["layers"] / lost["tensors"] < 0.7
    ada = {"name": "NVIDIA GeForce RTX 4090", "limit": "450.00 W"}
    assert diagnose(read_rig(smi=table({}, ada)), MODEL) == []


@pytest.mark.parametrize("busy", ["0 %", "N/A", "[Unknown Error]"])
def test_a_generation_counts_under_load_alone(busy):
    rig = read_rig(smi=table(*[{"gen": "1", "busy": busy}] * 4))
    (found,) = diagnose(rig, MODEL)
    assert (found.rule, found.verdict) == ("link-generation", "undecided")
    assert all(card.works == (4, 16) for card in rig.hands)


def test_a_slot_that_is_narrower_than_its_card():
    slot = LSPCI.replace("Speed 16GT/s, Width x16", "Speed 16GT/s, Width x8")
    assert "slot" in rules(read_rig(lspci=slot))


def quoted(text, mark):
    return "\n".join(mark + line for line in text.split("\n"))


@pytest.mark.parametrize(
    "pasted",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: "\ufeff" + t,
        lambda t: quoted(t, "> "),
        lambda t: quoted(t, "    "),
        lambda t: f"```\n{t}\n```",
        lambda t: t.replace("Product Name", "\x1b[1mProduct Name\x1b[0m"),
        lambda t: t.replace("[GeForce", "\x1b[31m[GeForce\x1b[0m"),
        lambda t: t.replace("402.31 W", "Unknown Error"),
        lambda t: t.replace(" (rev a1)", " [10de:2204] (rev a1) (prog-if 00 [VGA])"),
        lambda t: t.replace("01:00.", "0000:01:00."),
    ],
)
def test_what_pages_terminals_and_drivers_make_of_a_text(pasted):
    for told in ({"smi": RISER}, {"lspci": LSPCI}):
        text = {kind: pasted(text) for kind, text in told.items()}
        one, other = read_rig(**text), read_rig(**told)
        assert [(c.device, c.link, c.most, c.limit) for c in one.hands] == [
            (c.device, c.link, c.most, c.limit) for c in other.hands
        ]


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
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q", None, "rtx_pro_6000_max_q"),
    ],
)
def test_names_of_products(name, memory, key):
    assert named_card(name, memory).key == key


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4095",
    ],
)
def test_a_product_that_is_not_known_is_refused_by_name(name):
    with pytest.raises(SmiError, match=name.split()[-1]):
        named_card(name)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({}, "nothing to read"),
        ({"smi": "ROCm System Management Interface"}, "rocm-smi"),
        ({"smi": "| AMD-SMI 25.3.0 | version"}, "amd-smi"),
        ({"smi": "xpu-smi discovery"}, "Intel"),
        ({"smi": "<nvidia_smi_log>"}, "-q -x"),
        ({"smi": "GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1)"}, "-L"),
        ({"smi": "+--+\n| NVIDIA-SMI 580.1"}, "without -q"),
        ({"smi": " \n"}, "none of"),
        ({"smi": LSPCI}, "what lspci is for"),
        ({"smi": RISER + RISER}, "2 logs"),
        (
            {"smi": RISER.replace("GPUs                             : 1", "GPUs : 4")},
            "1 shown",
        ),
        (
            {"smi": RISER.replace("N/A\n        Pending", "Enabled\n        x", 1)},
            "MIG",
        ),
        ({"smi": "Unable to determine the device handle for GPU1"}, "left the bus"),
        ({"smi": table({"name": "NVIDIA GeForce RTX 4060 Ti"})}, "memory.total"),
        ({"smi": table({"name": "NVIDIA GB10"})}, "no card"),
        ({"lspci": LSPCI.replace("\t", "x", 9).replace("Lnk", "a")}, "sudo lspci"),
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
        "GeForce RTX 3090"
    ] * 2
