"""Builds that hold, and for each rule one that it alone catches."""

import csv
from pathlib import Path
from typing import Any

from stacklib.cost.catalogue import Component, part

DESK = {
    "gpus": "rtx_4080",
    "cpu": "9950x",
    "board": "proart_x870e",
    "memory": "vengeance_ddr5_64",
    "psu": "mpg_a1000g",
    "storage": "990_pro_2tb",
    "case": "torrent",
    "cooling": "peerless_assassin_120",
}
RACK = {
    "gpus": "2 x rtx_3090",
    "cpu": "epyc_7302",
    "board": "romed8_2t",
    "memory": "8 x ksm32r_32",
    "psu": "evga_1600_p2",
    "storage": "990_pro_2tb",
    "case": "enthoo_pro_2_server",
    "cooling": "nh_u14s_tr4",
}
TOWER = {
    "gpus": "2 x rtx_a6000",
    "cpu": "7960x",
    "board": "trx50_aero_d",
    "memory": "renegade_pro_128",
    "psu": "evga_1600_p2",
    "storage": "990_pro_4tb",
    "case": "enthoo_pro_2_server",
    "cooling": "xe360_tr5",
}
PRO = {**TOWER, "cpu": "7965wx", "board": "wrx90e_sage_se", "memory": "v_color_512"}
OLD = {
    "gpus": "rtx_3090",
    "cpu": "10980xe",
    "board": "creator_x299",
    "memory": "vengeance_ddr4_64",
    "psu": "evga_1600_p2",
    "storage": "990_pro_2tb",
    "case": "7000d_airflow",
    "cooling": "h170i_elite",
}
CLEAN = {"desk": DESK, "rack": RACK, "tower": TOWER, "pro": PRO, "old": OLD}


def other(name: str, kind: str, **values: Any) -> Component:
    """A part of the catalogue with other facts."""
    like = part(name, kind)
    facts = {**like.values, **values}
    return Component(
        kind, like.key, like.name, facts, like.sources, like.quotes, like.device
    )


def without(name: str, kind: str, field: str) -> Component:
    """A part of the catalogue of which one fact is unknown."""
    like = part(name, kind)
    facts = {f: v for f, v in like.values.items() if f != field}
    return Component(
        kind, like.key, like.name, facts, like.sources, like.quotes, like.device
    )


NARROW = (
    ("PCIEX16_1", 1, 16, 5, "cpu"),
    ("PCIEX16_2", 4, 4, 5, "cpu"),
    ("PCIEX16_G4", 7, 4, 4, "chipset"),
)
QUARTER = (("PCIEX16_1", "PCIEX16_2", 4),)
TURBO = "3 x rtx_3090_turbo"
BLIND = other("rtx_a6000", "gpu", display=False)
# rule -> the build that holds, what is changed in it, and the volts of the outlet
PLANTED: dict[str, tuple[Any, ...]] = {
    "socket": (DESK, {"cpu": "14900k", "cooling": "nh_d15_g2"}),
    "series": (PRO, {"cpu": "7960x"}),
    "memory-type": (DESK, {"memory": "vengeance_ddr4_64"}),
    "memory-module": (DESK, {"memory": "zeta_r5_64"}),
    "memory-mixed": (DESK, {"memory": ["vengeance_ddr5_64", "vengeance_ddr5_96"]}),
    "memory-slots": (DESK, {"memory": "3 x vengeance_ddr5_64"}),
    "channels": (RACK, {"memory": "4 x ksm32r_32"}),
    "memory-most": (DESK, {"cpu": "7800x3d", "memory": "2 x vengeance_ddr5_96"}),
    "form": (PRO, {"case": "torrent"}),
    "supply-form": (DESK, {"case": "lancool_216", "psu": "sf1000"}),
    "card-length": (
        DESK,
        {
            "gpus": "rtx_5090_gaming_trio",
            "case": "dark_base_pro_901",
            "psu": "mwe_gold_1250",
        },
    ),
    "cooler-socket": (RACK, {"cooling": "peerless_assassin_120"}),
    "cooler-height": (DESK, {"case": other("torrent", "case", height=150)}),
    "cooler-power": (DESK, {"cooling": "nh_l9a_am5"}),
    "radiator": (DESK, {"case": "5000d_airflow", "cooling": "h170i_elite"}),
    "display": (TOWER, {"gpus": [BLIND, BLIND]}),
    "airflow": (DESK, {"gpus": "tesla_p40"}),
    "rebar": (OLD, {"gpus": "arc_b580"}),
    "nvlink": (
        DESK,
        {
            "gpus": "2 x rtx_5080",
            "bridges": "nvlink_4_slot",
            "psu": "straight_power_12_1500",
        },
    ),
    "bridge-pairs": (
        RACK,
        {
            "gpus": TURBO,
            "bridges": "2 x nvlink_3_slot",
            "slots": ["PCIE1", "PCIE4", "PCIE7"],
            "limit": 250,
        },
    ),
    "bridge-span": (RACK, {"bridges": "nvlink_2_slot", "slots": ["PCIE1", "PCIE5"]}),
    "peer": (DESK, {"gpus": "rtx_4090", "peer": True, "psu": "mwe_gold_1250"}),
    "slots": (
        RACK,
        {
            "gpus": ["7 x rtx_a4000", "rtx_3060_12gb"],
            "psu": "rog_thor_1600_t3",
            "storage": "870_evo_4tb",
        },
        240,
    ),
    "narrow": (
        DESK,
        {"board": other("proart_x870e", "board", slots=NARROW), "slots": "PCIEX16_2"},
    ),
    "split": (
        DESK,
        {
            "board": other("proart_x870e", "board", shares=QUARTER),
            "gpus": "2 x rtx_a4000",
        },
    ),
    "shared": (DESK, {"gpus": "2 x rtx_a4000", "storage": "4 x 990_pro_2tb"}),
    "chipset": (DESK, {"gpus": "rtx_a4000", "slots": "PCIEX16_G4"}),
    "lanes": (DESK, {"cpu": "8700g", "gpus": "2 x rtx_a4000"}),
    "generation": (OLD, {"gpus": "rtx_5060ti_16gb"}),
    "spacing": (RACK, {"slots": ["PCIE1", "PCIE3"]}),
    "case-slots": (RACK, {"slots": ["PCIE1", "PCIE7"], "case": "7000d_airflow"}),
    "riser-link": (RACK, {"case": "open_frame_8", "risers": "tt_gen3_300"}),
    "riser-length": (RACK, {"case": "open_frame_8", "risers": "lian_li_gen4_200"}),
    "m2": (DESK, {"storage": "5 x 870_evo_4tb"}),
    "limit": (DESK, {"gpus": "rtx_5090", "psu": "mwe_gold_1250", "limit": 300}),
    "supply": (RACK, {"gpus": "4 x rtx_3090_turbo"}, 240),
    "mains": (DESK, {"psu": "x_mighty_2000"}),
    "transient": (DESK, {"gpus": "rtx_5090"}),
    "plugs-16": (DESK, {"psu": "evga_1600_p2"}),
    "plugs-8": (RACK, {"psu": "straight_power_12_1500", "gpus": TURBO, "limit": 250}),
    "eps": (DESK, {"psu": other("mpg_a1000g", "psu", plugs_eps=1)}),
    "cable": (RACK, {"cables": "pigtail_8"}),
    "circuit": (RACK, {"gpus": TURBO, "psu": "rog_thor_1600_t3"}),
    "supplies": (RACK, {"psu": "2 x evga_1600_p2"}),
}

ITX = {
    **DESK,
    "cpu": "7800x3d",
    "board": "strix_x870_i",
    "memory": "2 x ksm48e_32",
    "psu": "sf1000",
    "case": "nr200",
}
FRAME = {**RACK, "case": "open_frame_8", "risers": "tt_gen4_300"}
GENOA = {
    **RACK,
    "cpu": "epyc_9354",
    "board": "h13ssl_n",
    "memory": "12 x ksm56r_32",
    "cooling": "freezer_4u_sp5",
}
WORK = {**DESK, "cpu": "14900k", "cooling": "nh_d15_g2", "board": "w680_ace"}
BASES = CLEAN | {"itx": ITX, "frame": FRAME, "genoa": GENOA, "work": WORK}


def lists() -> dict[str, tuple[dict[str, Any], int, set[str]]]:
    """Lists as they go wrong (`lists.csv`): fields of a build, volts, what breaks."""
    with (Path(__file__).parent / "lists.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        row["name"]: (_changed(row), int(row["mains"]), set(row["rules"].split()))
        for row in rows
    }


def _changed(row: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = dict(BASES[row["base"].lower()])
    for change in row["changes"].split("; "):
        field, value = change.split("=")
        fields[field] = value.split(" + ")
        if field in ("limit", "circuits", "peer"):
            fields[field] = {"True": True}.get(value) or int(value)
    return fields
