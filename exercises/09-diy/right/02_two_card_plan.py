# ---- newer: two cards of the newest kind, limited, on a desktop's processor
def plan():
    return {
        "gpus": ["rtx_5090", "rtx_5090"],
        "cpu": "7800x3d",
        "board": "proart_x870e",
        "memory": "vengeance_ddr5_64",
        "psu": "straight_power_12_1500",
        "storage": "990_pro_2tb",
        "case": "open_frame_8",
        "cooling": "peerless_assassin_120",
        "limit": 460,
    }


def defended():
    return {
        "board": ("proart_z790", "socket"),
        "psu": ("mpg_a1000g", "supply"),
        "memory": ("ksm56r_32", "memory-module"),
    }


# ---- other: two cards of another maker
def plan():
    return {
        "gpus": "2 x rx_7900_xtx",
        "cpu": "epyc_7302",
        "board": "romed8_2t",
        "memory": "8 x ksm32r_32",
        "psu": "evga_1600_p2",
        "storage": "990_pro_2tb",
        "case": "enthoo_pro_2_server",
        "cooling": "nh_u14s_tr4",
    }
