"""Matrices of nvidia-smi topo -m, of several versions, read; planted faults named."""

import re
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.networks.read_topo import (
    TopoError,
    read_topo,
    topo_sample,
    topo_samples,
)
from stacklib.interconnect.networks.topo_network import topo_network
from stacklib.quantity import UnknownName

from ...rows import refusals

FOUR = topo_sample("four_cards")


@pytest.mark.rows("name", topo_samples())
def test_samples_are_read_with_tabs_and_with_spaces(name):
    text = topo_sample(name)
    reading = read_topo(text)
    loose = re.sub(r"[ \t]+", "  ", text)
    pasted = read_topo("$ nvidia-smi topo -m\n" + loose)
    assert (pasted.ways, pasted.cards) == (reading.ways, reading.cards)
    assert (pasted.processors, pasted.memory) == (reading.processors, reading.memory)
    assert read_topo(text.split("Legend")[0]).ways == reading.ways
    underlined = text.replace("\tGPU0", "\t\x1b[4mGPU0", 1).replace(
        "CPU Affinity", "CPU Affinity\x1b[0m", 1
    )
    assert read_topo(underlined) == reading


def test_what_crosses_the_root_complex():
    reading = read_topo(FOUR)
    assert reading.gpus == ("GPU0", "GPU1", "GPU2", "GPU3")
    assert reading.nics == ("NIC0",) and reading.cards == {"NIC0": "mlx5_bond_0"}
    inside = [
        p for p in combinations(reading.devices, 2) if p not in reading.crosses_root()
    ]
    assert inside == [("GPU2", "GPU3")]
    assert ("GPU1", "GPU2") in reading.crosses_socket()
    assert ("GPU0", "GPU1") not in reading.crosses_socket()
    assert reading.between("gpu1", "nic0") == "PHB"
    assert reading.processors["GPU3"] == "32-63" and reading.memory["GPU3"] == "1"
    assert reading.nearest("GPU1") == ("NIC0",)


def test_nvlinks_are_counted():
    reading = read_topo(topo_sample("h100_eight"))
    assert reading.nvlinks("GPU0", "GPU7") == 18
    assert reading.between("GPU0", "GPU7") == "NV"
    assert reading.nvlinks("GPU0", "NIC0") == 0
    assert len(reading.pairs("NV")) == 28
    assert reading.pairs("PIX") == [(f"GPU{i}", f"NIC{i}") for i in range(8)]
    assert len(reading.pairs()) == 120
    assert not [p for p in reading.crosses_root() if p in reading.pairs("NV")]


def test_what_was_copied_after_the_matrix():
    matrix = FOUR.split("Legend")[0].rstrip() + "\n"
    assert read_topo(matrix + "someone@node:~$ ").ways == read_topo(FOUR).ways
    more = matrix + "GPU4\tSYS\tSYS\tSYS\tSYS\tSYS\n"
    with pytest.raises(TopoError, match="'GPU4' is no device of the first line"):
        read_topo(more)


def test_older_versions():
    old = (
        "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
        "GPU0\t X \tSOC\tPHB\t0-9\nGPU1\tSOC\t X \tSOC\t10-19\nmlx5_0\tPHB\tSOC\t X \n"
    )
    reading = read_topo(old)
    assert reading.crosses_socket() == [("GPU0", "GPU1"), ("GPU1", "mlx5_0")]
    assert reading.ways["GPU0", "GPU1"] == "SOC" and not reading.memory
    alone = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\t0\t\tN/A\n"
    one = read_topo(alone)
    assert one.processors == {} and one.memory == {"GPU0": "0"}
    double = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n" + (
        "GPU0\t X \tPHB\t0-63\t0\t\tN/A\nGPU1\tPHB\t X \t0-63\t0\t\tN/A\n"
    )
    assert read_topo(double).memory == {"GPU0": "0", "GPU1": "0"}


@st.composite
def matrices(draw):
    gpus, nics = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    names = [f"GPU{i}" for i in range(gpus)] + [
        f"{draw(st.sampled_from(['NIC', 'mlx5_', 'rdmap16s']))}{i}" for i in range(nics)
    ]
    words = st.sampled_from(["NV1", "NV18", "PIX", "PXB", "PHB", "NODE", "SYS"])
    return names, {pair: draw(words) for pair in combinations(names, 2)}


@settings(deadline=None, max_examples=60)
@given(matrices(), st.sampled_from(["\t", "   "]))
def test_what_is_printed_is_read_back(given, gap):
    names, ways = given
    lines = [gap.join(["", *names, "CPU Affinity", "NUMA Affinity"])]
    for a in names:
        cells = ["X" if a == b else ways.get((a, b)) or ways[b, a] for b in names]
        near = ["0-7", "1"] if a.startswith("GPU") else []
        lines.append(gap.join([a, *cells, *near]))
    reading = read_topo("\n".join(lines))
    assert list(reading.devices) == names
    assert {pair: reading.ways[pair] for pair in ways} == ways
    assert set(reading.memory.values()) == {"1"}
    split = {*reading.crosses_root(), *reading.pairs("NV", "PIX", "PXB")}
    assert split == set(ways)


@pytest.mark.rows(
    ("old", "new", "says"),
    [
        (
            "SYS\tSYS\t X \tPIX\tSYS",
            "SYS\tSYS\t X \tFAR\tSYS",
            "line 5, GPU2 to GPU3: 'FAR' is none of X, NV#, PIX",
        ),
        (
            "SYS\tSYS\t X \tPIX\tSYS",
            "SYS\tSYS\t X \tPHB\tSYS",
            "line 6: GPU3 to GPU2 is PIX, and on line 5 it is PHB",
        ),
        (
            "GPU2\tSYS\tSYS\t X \tPIX",
            "GPU2\tSYS\tSYS\tPIX\tPIX",
            "line 5: GPU2 to GPU2 is 'PIX'",
        ),
        ("GPU1\tNODE\t X ", "GPU1\t X \t X ", "line 4: GPU1 to GPU0 is 'X'"),
        ("\nGPU3\tSYS\tSYS\tPIX\t X \tSYS\t32-63\t1\tN/A", "", "without a row of GPU3"),
        ("\nGPU1\t", "\nGPU0\t", "line 4: GPU0 has a row on line 3 too"),
        ("\nGPU1\t", "\nGPU9\t", "'GPU9' is no device of the first line"),
        (
            "NIC0\tNODE\tPHB\tSYS\tSYS\t X ",
            "NIC0\tNODE\tPHB",
            "line 7, .* 2 entries under 5 devices and 3 columns",
        ),
        ("0-31\t0\tN/A", "0-31\t0\tN/A\t7", "line 3, .* 9 entries"),
        ("CPU Affinity", "Cores", "line 3, GPU0 to Cores: '0-31' is none"),
        ("GPU2\tGPU3", "GPU2\tGPU2", "a device stands there twice"),
        ("NUMA Affinity", "Rack", "line 2, .* only CPU Affinity"),
    ],
)
def test_a_planted_fault_is_named_by_its_line(old, new, says):
    assert old in FOUR
    with pytest.raises(TopoError, match=says):
        read_topo(FOUR.replace(old, new, 1))


test_other_text_is_refused = refusals(
    ("", "nothing to read"),
    ("# only a comment\n", "nothing to read"),
    (None, "the text that nvidia-smi"),
    ("GPU0 GPU1\nGPU0 X NV0\nGPU1 NV0 X", "GPU0 to GPU1: 'NV0' is none"),
    ("| NVIDIA-SMI 550 |", "line 1, .* no line of devices"),
    ("GPU0 X NV1\nGPU1 NV1 X", "no line of devices"),
    by=read_topo,
    error=TopoError,
)


def test_bad_questions():
    reading = read_topo(FOUR)
    with pytest.raises(UnknownName, match="GPU9"):
        reading.between("GPU0", "GPU9")
    with pytest.raises(ValueError, match="one device"):
        reading.between("GPU0", "gpu0")
    with pytest.raises(UnknownName, match="unknown way"):
        reading.pairs("far")


# -- what strangers paste ------------------------------------------------------------

ACCESS = "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\x1b[0m\n" + "\n".join(
    f" GPU{a}\t" + "\t".join("X" if a == b else "CNS" for b in range(4))
    for a in range(4)
)


def test_a_matrix_that_a_terminal_has_wrapped():
    lines = topo_sample("h100_eight").splitlines()
    cut = []
    for line in lines[1:18]:
        words = line.replace("CPU Affinity", "CPU_Affinity").split()
        cut += ["\t".join(words[:11]), "\t".join(words[11:])]
    text = "\n".join(cut).replace("CPU_Affinity", "CPU Affinity")
    assert read_topo(text).ways == read_topo(topo_sample("h100_eight")).ways


def test_who_may_read_whose_memory():
    both = read_topo(
        f"{FOUR}\n$ nvidia-smi topo -p2p r\n{ACCESS}\n\nLegend:\n\n  X = Self"
    )
    assert both.ways == read_topo(FOUR).ways and both.cards
    assert both.reach("GPU0", "GPU1") is False
    assert read_topo(FOUR).reach("GPU0", "GPU1") is None
    # A pair is reached where all matrices say so, and one of NVLinks says nothing.
    fine = ACCESS.replace("CNS", "OK")
    assert read_topo(f"{fine}\n{FOUR}").reach("GPU0", "GPU3") is True
    assert read_topo(f"{FOUR}\n{fine}\n{ACCESS}").reach("GPU2", "GPU3") is False
    told = read_topo(f"{FOUR}\n{fine}\nnvidia-smi topo -p2p n\n{ACCESS}")
    assert told.reach("GPU2", "GPU3") is True


def test_what_pages_show():
    note = "  GPU0 GPU1\nGPU0 X PIX NUMA 0\nGPU1 PIX X NUMA 0\n"
    assert read_topo(note).between("GPU0", "GPU1") == "PIX"
    quoted = "> GPU0 GPU1\n> GPU0 X PIX\n> GPU1 PIX X\n"
    assert read_topo(quoted).ways == read_topo(note).ways
    table = "| | GPU0 | GPU1 |\n| GPU0 | X | PIX |\n| GPU1 | PIX | X |\n"
    assert read_topo(table).ways == read_topo(note).ways
    split = (
        "GPU0 GPU1 CPU    Affinity  NUMA Affinity\nGPU0 X SYS 0-15 1\nGPU1 SYS X 1 0\n"
    )
    assert read_topo(split).memory == {"GPU0": "1", "GPU1": "0"}
    short = "GPU0 NVMe0 CPU Affinity NUMA\nGPU0 X PXB 0-47 0\nNVMe0 PXB X\n"
    assert read_topo(short).memory == {"GPU0": "0"}
    tray = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n" + (
        "GPU0\t X \tNV18\t0-71\t0,2-17\t\tN/A\nGPU1\tNV18\t X \t0-71\t0,2-17\t\tN/A\n"
    )
    assert read_topo(tray).memory == {"GPU0": "0,2-17", "GPU1": "0,2-17"}


test_other_tables_are_refused = refusals(
    ("==== Link Type between two GPUs ====\n GPU0 GPU1\nGPU0 0 XGMI", "rocm-smi"),
    ("ACCESS TABLE:\n BDF", "amd-smi"),
    (ACCESS, "line 1: a matrix of access says no way"),
    (FOUR + ACCESS.replace("GPU3", "GPU5"), "access of other GPUs"),
    (FOUR + ACCESS.replace("CNS\tCNS\tCNS", "CNS\tCNS", 1), "3 entries under 4"),
    (FOUR + ACCESS.replace("CNS", "YES", 1), "GPU0 to GPU1: 'YES' is none of OK"),
    (FOUR + ACCESS.rsplit("\n", 1)[0], "ends without all its rows"),
    by=read_topo,
    error=TopoError,
)


# -- the machine's network -----------------------------------------------------------


def test_a_matrix_becomes_a_network():
    net = topo_network(read_topo(FOUR), pcie=10.0, level="SYS", socket=4.0)
    assert net.ranks == 4
    hops = {(a, b): net.routes(a, b).hops for a, b in combinations(range(4), 2)}
    assert hops == {(2, 3): 2, (0, 1): 2, (0, 2): 4, (0, 3): 4, (1, 2): 4, (1, 3): 4}
    assert net.bisection().bandwidth == 4.0
    # By default a way over a host bridge turns round in the host's memory.
    host = topo_network(read_topo(FOUR), pcie=10.0)
    assert host.routes(2, 3).hops == 2 and host.routes(0, 1).hops == 3
    assert topo_network(read_topo(FOUR), peer=False).routes(2, 3).hops == 5

    switched = topo_network(read_topo(topo_sample("h100_eight")))
    assert switched.switches == 1
    assert switched.bisection().per_chip == pytest.approx(450e9)

    cube = topo_network(read_topo(topo_sample("v100_cube")), nvlink="nvlink2", pcie=1.0)
    assert cube.capacity[0, 3] == 2 * 25e9
    with pytest.raises(ValueError, match="1 GPU"):
        topo_network(read_topo("GPU0 CPU Affinity\nGPU0 X 0-9"))


def test_four_gpus_with_all_their_nvlinks_to_each_other_have_no_switch():
    head = "\tGPU0\tGPU1\tGPU2\tGPU3\n"
    rows = [[" X " if a == b else "NV6" for b in range(4)] for a in range(4)]
    text = head + "\n".join(f"GPU{a}\t" + "\t".join(row) for a, row in enumerate(rows))
    net = topo_network(read_topo(text), nvlink="nvlink4")
    assert net.switches == 0 and net.routes(0, 3).hops == 1
