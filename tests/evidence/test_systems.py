"""Which device a system text means: reviewed for every text of the evidence."""

import pytest
from _tools import tree

from stacklib import hardware
from stacklib.evidence import measurements, systems
from stacklib.evidence.systems import DeviceRefusal, count, device_of, words

REVIEWED = tree.ROOT / "tests/evidence/systems.tsv"


def reviewed():
    """Text -> (key, count), or (reason as a word or two, 0) for a refusal."""
    table = {}
    for line in REVIEWED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            text, key, n = line.split("\t")
            table[text] = (key, int(n))
    return table


def test_every_text_of_the_evidence_was_reviewed():
    rows = measurements.fitted() + measurements.left_out() + measurements.series()
    rows += measurements.unseen() + measurements.last()
    assert {row.system for row in rows} == set(reviewed())


@pytest.mark.rows("text, expected", reviewed().items())
def test_a_text_means_the_device_a_person_read(text, expected):
    key, n = expected
    if n == 0:
        with pytest.raises(DeviceRefusal):
            device_of(text)
    else:
        assert device_of(text) == (key, n)


def test_every_reviewed_device_is_in_the_database():
    keys = {key for key, n in reviewed().values() if n}
    assert keys <= set(hardware.names())


@pytest.mark.rows(
    "text, says",
    [
        ("RTX 4090 Laptop", "laptop"),
        ("RTX 4090D", "'d'"),
        ("4090 Ti", "ti"),
        ("RTX 4090 Super", "super"),
        ("H200 NVL mini", "mini"),
        ("H800 NVL", "nvl"),
        ("P100 PCIe", "pcie"),
        ("L40S SXM", "sxm"),
        ("RTX 4090 OAM", "oam"),
        ("MI300X SXM", "sxm"),
        ("H20 PCIe", "pcie"),
        ("B200 NVL", "nvl"),
        ("RTX 4000 SFF Ada", "sff"),
        ("RTX PRO 4500 Blackwell Server Edition", "serveredition"),
        ("Arc Pro B60 Dual", "dual"),
        ("1 GCD of H100", "gcd"),
        ("H100 MIG 1g.10gb", "mig"),
        ("H100-40G", "40 GB where"),
        ("H200 96GB", "96 GB where"),
        ("B200 and H200", "could be b200_sxm, h200_sxm"),
        ("", "no device"),
        ("a toaster", "no device"),
    ],
)
def test_another_product_is_never_taken_for_its_neighbour(text, says):
    with pytest.raises(DeviceRefusal, match="system") as refused:
        device_of(text)
    assert says in str(refused.value)


@pytest.mark.rows("suffix", sorted(systems.VARIANTS))
@pytest.mark.rows("key", ["rtx_4090", "b200_sxm"])
def test_every_variant_word_beside_a_name_is_foreign_or_its_own(key, suffix):
    text = f"{hardware.get(key).short} {suffix}"
    try:
        found = device_of(text)[0]
    except DeviceRefusal:
        return
    known = systems.words(
        " ".join((found, hardware.get(found).name, *hardware.get(found).aliases))
    )
    assert suffix in {*known, *systems.form(hardware.get(found))}


@pytest.mark.rows(
    "text, key",
    [
        ("8xH100", "h100_sxm"),
        ("2x3090", "rtx_3090"),
        ("4xRTX4090", "rtx_4090"),
        ("RTX3090x2", "rtx_3090"),
        ("8xA100 (40GB)", "a100_sxm_40gb"),
        ("H100 80GB PCIe", "h100_pcie"),
        ("p5.48xlarge (8x H100)", "h100_sxm"),
        ("AMD Instinct MI300X VF", "mi300x"),
        ("Quadro RTX 6000", "quadro_rtx_6000"),
        ("H100 server", "h100_sxm"),
        ("RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000_server"),
    ],
)
def test_other_ways_of_writing(text, key):
    assert device_of(text)[0] == key


def test_the_makers_name_does_not_choose_the_nearest():
    with pytest.raises(DeviceRefusal, match=r"nearest: .*h200_sxm"):
        device_of("NVIDIA H2000")


def test_a_near_name_is_offered():
    with pytest.raises(DeviceRefusal, match=r"nearest: .*rtx_4090"):
        device_of("RTX 409O")


@pytest.mark.rows(
    "text, n",
    [
        ("H100", 1),
        ("8x H100", 8),
        ("2 nodes x 4 GB200", 8),
        ("3090 24GB * 2", 2),
        ("64x A100 80GB", 64),
        ("2x DGX H100", 2),
        ("H100 (DGX)", 1),
        ("8xH100", 8),
        ("2x3090", 2),
        ("4xRTX4090", 4),
        ("H100x8", 8),
        ("RTX3090x2", 2),
        ("H100 x 8", 8),
        ("A100 80GB x8", 8),
        ("8*H100", 8),
        ("H100 (8x)", 8),
        ("8 GPUs H100", 8),
        ("RTX 3090 PCIe x16", 1),
        ("128x128 systolic array", 1),
        ("TPU v6e-8", 8),
        ("TPU v4-128", 64),
        ("TPU v5p-1024 (512 chips)", 512),
        ("2x TPU v5e-256", 512),
        ("GB200 NVL72 (72 GPUs)", 72),
        ("2x BM.GPU.H100.8 (16x H100 80GB)", 16),
        ("RTX 3090 (PCIe4 x16 + x4, 350 W)", 1),
    ],
)
def test_counts(text, n):
    assert count(text) == n


def test_a_stated_count_is_that_of_the_settings():
    for row in measurements.fitted():
        if (
            "ngpus" in row.config
            and row.system[:1].isdigit()
            and "nodes (" not in (row.system)
        ):
            assert count(row.system) == row.integer("ngpus"), row.id


def test_a_count_in_doubt_or_of_none_is_refused():
    with pytest.raises(DeviceRefusal, match="not sure"):
        count("8x? A100")
    with pytest.raises(DeviceRefusal, match="counts no device"):
        count("0x H100")


def test_words_split_sizes_sockets_and_glued_names():
    assert words("A100-SXM4-80GB") == ("a100", "sxm", "80", "gb")
    assert words("RX6900XT") == ("rx", "6900", "xt")
    assert words("RTX4090") == ("rtx", "4090")
    assert words("400G IB") == ("400g", "ib")
    assert words("2.4TB/s") == ("2.4tb", "s")


@pytest.mark.rows("key", [k for k in hardware.names() if k != "this_machine"])
def test_each_device_answers_to_its_own_key_and_aliases(key):
    for text in (key, *hardware.get(key).aliases):
        assert device_of(text) == (key, 1), text


@pytest.mark.rows(
    ("text", "key"),
    [
        ("H20 SXM", "h20"),
        ("NVIDIA H20 SXM5 96GB", "h20"),
        ("GB200 NVL", "gb200"),
        ("L40S PCIe", "l40s"),
        ("A40-PCIe", "a40"),
        ("GeForce RTX 4090 PCIe", "rtx_4090"),
        ("AMD Instinct MI300X OAM", "mi300x"),
        ("MI355X OAM", "mi355x"),
        ("B200 SXM", "b200_sxm"),
        ("A100 PCIe", "a100_pcie_80gb"),
    ],
)
def test_a_table_may_add_the_only_form_a_product_has(text, key):
    assert device_of(text)[0] == key
