"""Every command with every flag that it documents, as it is typed at a prompt."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stacklib import cli
from stacklib.cli.completion import every, subparsers
from stacklib.hardware.nvidia_smi import smi_sample
from stacklib.interconnect.networks.read_topo import topo_sample
from stacklib.serving.readings.read import log_sample

# What a line needs besides the package: NumPy, notebooks and exercises, a checkout.
NUMPY, EXERCISES, CHECKOUT, SERVER = "numpy", "exercises", "checkout", "starlette"
MEASURED = Path(cli.__file__).parents[1] / "evidence/data/measurements.csv"
FILES = (
    "config.json",
    "rows.csv",
    "topo.txt",
    "vllm.log",
    "trace.csv",
    "build.toml",
    "card.json",
    "rig.txt",
    "outcomes.csv",
    "bets.csv",
)  # in the folder where it is typed
STEP = "h100-sxm --model llama-3-70b --tp 2"
TOKEN = (
    "llama-3-70b --on h100-sxm --dtype bf16 --kv-dtype fp8 --tp 8 --batch 4 "
    "--context 4096 --ep 1 --prompt 2048 --new 8 --prefix-hit 0.5 --chunk 512 "
    "--draft 0.7,4,llama-3-8b --split tensors --host-layers 0 --software engine"
)
APART = "--devices h100-sxm,h100-sxm,h100-sxm --split layers"
TRAFFIC = (
    "llama-2-7b --on h100-sxm --rate 10 --requests 40 --prompt 64 --new 8 --burst 2 "
    "--dtype bf16 --kv-dtype bf16 --tp 1 --ep 1 --scheduler chunked --chunk 128 "
    "--max-batch 8 --blocks 200 --software engine --gap 0.001 --slo ttft=1 --seed 3"
)
HOUSES = (
    "llama-2-7b --on h100-sxm --trace trace.csv --pools prefill=1,decode=2 "
    "--draft 0.7,2 --replicas 1 --router prefix-aware"
)
NEW = "new device my-gpu --name 'My GPU' --vendor Acme --year 2025 --kind gpu"
PART = "new part gpu my-card --name 'My card' --device rtx_3080 --opendb card.json"
CLAIM = (
    "new claim two-readers-slower --chapter 1 --page roofline/decode --document 001 "
    "--text 'Two take twice as long' --value 2 --unit ratio --rule quantity"
)

BUILD = """
gpus = "2 x rtx_3090"
cpu = "epyc_7302"
board = "romed8_2t"
memory = "8 x ksm32r_32"
psu = "evga_1600_p2"
storage = "990_pro_2tb"
case = "enthoo_pro_2_server"
cooling = "nh_u14s_tr4"
"""
CARD = {
    "metadata": {"name": "A card"},
    "chipset_manufacturer": "NVIDIA",
    "length": 285,
    "total_slot_width": 2,
    "power_connectors": {"pcie_8_pin": 2},
}


@dataclass(frozen=True)
class Typed:
    """A line, its exit status where all that it needs is there, and what that is."""

    line: str
    status: int = 0
    needs: str = ""
    slow: bool = False  # seconds
    stopped: bool = False  # by Ctrl-C

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)


def tables(
    line: str, needs: str = "", forms: str = "json csv markdown", slow: bool = False
) -> list[Typed]:
    """A line as text and in each form that its table has."""
    return [Typed(f"{line} {f}".strip(), 0, needs, slow) for f in ("", *flags(forms))]


def flags(forms: str) -> list[str]:
    return [f"--{form}" for form in forms.split()]


LINES = [
    Typed("", 2),
    *map(Typed, ("--version", "--help", "-h")),
    Typed("nosuch", 2),
    *tables("specs"),
    *tables("specs h100-sxm"),
    *tables("specs --audit"),
    *tables("specs mi300x --audit"),
    Typed("specs nosuch", 2),
    *tables("links"),
    *tables("links nvlink5"),
    *tables("links --audit"),
    *tables("models"),
    *tables("models llama-3-70b"),
    *tables("models config.json --work --phase prefill --dtype fp8 --context 128"),
    *tables("roofline h100-sxm"),
    *tables(f"roofline {STEP} --dtype bf16 --kv-dtype fp8 --batch 2 --context 100"),
    Typed(f"roofline {STEP} --explain"),
    Typed("roofline h100-sxm --model llama-3-70b", 1),
    *tables("collective all-reduce --ranks 8 --size 64MiB --on h100-sxm"),
    Typed(
        "collective all-gather --ranks 16 --nodes 2 --size 1MB --on h100-sxm "
        "--port 200 --algorithm ring --protocol ll --python"
    ),
    Typed(
        "collective all-reduce --ranks 16 --size 1GiB --on h100-sxm --fabric efa "
        "--latency 20"
    ),
    *tables(
        "layout llama-3-8b --on h100-sxm --chips 8 --batch 16 --length 2048 --best 3 "
        "--dtype bf16 --port 400",
        NUMPY,
    ),
    Typed(
        "layout llama-3-8b --on h100-sxm --chips 8 --batch 64 "
        "--layout 'pp 4, zero 1' --split 'Et*7|(t*9|)*2t*7L'"
    ),
    *tables("topo topo.txt"),
    Typed("topo topo.txt --on a40 --p2p"),
    Typed(
        "topo topo.txt --on rtx-4090 --link 4x16,4x16,4x8,3x4 --no-p2p "
        "--p2p-level SYS --cpu skylake"
    ),
    *tables(
        "array --m 512 --n 512 --k 512 --rows 32 --cols 64 --dataflow ws --overlap",
        forms="json",
    ),
    *(
        Typed(f"plan --verify build.toml --mains 240 --continuous 0.8 {form}".strip())
        for form in ("", *flags("json csv markdown"))
    ),
    Typed("plan --verify build.toml --continuous 0.5", 1),
    Typed(
        "plan --budget 6000 --run qwen3-14b:q4_k_m --context 2048 --date 2026 "
        "--market us --noise 60 --most 1 --mains 230 --json",
    ),
    Typed("plan --budget 1000 --run llama-3-70b:q4_k_m", 1),
    *(
        Typed(f"rig rig.txt --run qwen3-14b:q4_k_m --split layers {form}".strip(), 1)
        for form in ("", *flags("json csv markdown"))
    ),
    Typed("rig rig.txt --context 2048", 1),
    Typed("fit llama-3-70b --on h100-sxm --dtype bf16", 1),
    *tables(
        "fit llama-3-70b --on h100-sxm --dtype bf16 --kv-dtype fp8 --tp 2 --batch 1 "
        "--context 4096 --reserve 1",
        forms="json",
    ),
    *tables(f"estimate {TOKEN}", forms="json"),
    Typed(f"estimate llama-3-70b --on h100-sxm {APART} --mode limit"),
    *tables(f"simulate {TRAFFIC}", forms="json"),
    Typed(f"simulate {HOUSES}"),
    *tables(
        "journey llama-2-7b --on h100-sxm --dtype bf16 --tp 1 --batch 4 --context 512 "
        "--prompt 256 --new 8 --rate 5 --price-of-power 0.07 --load 0.5",
        forms="json",
    ),
    Typed("journey llama-3-70b --on rubin --tp 8 --rent 4 --mode limit"),
    Typed("journey llama-3-70b --on h100-sxm", 2),
    *tables("watch --today 2026-12-01"),
    *tables("watch --score --outcomes outcomes.csv --today 2026-12-01"),
    Typed("watch rent-h100"),
    Typed("watch --file bets.csv --today 2026-12-01"),
    Typed("watch --today 2031-01-01", 1),
    *tables(
        "search llama-3-8b --on h100-sxm --gpus 2 --prompt 1024 --new 64 --ttft 2000 "
        "--tpot 50 --e2e 60000 --dtype bf16 --objective tokens_per_gpu "
        "--software engine",
        forms="json",
    ),
    *tables(
        "price 3 --model llama-3-8b --on h100-sxm --dtype bf16 --tp 1 --context 1024 "
        "--years 5 --tpot 50 --bought purchase",
        forms="json",
    ),
    *tables(
        "diagnose vllm.log --model llama-3-8b --on h100-sxm --tp 1 --context 4096 "
        "--dtype bf16 --kv-dtype bf16",
        forms="json",
    ),
    *tables("claims", slow=True),  # the whole ledger is judged
    *tables("claims --chapter 2"),
    *tables("claims --chapter 1 --verdict close"),
    *tables("claims --source 003 --search hbm"),
    *tables("claims decode-wait-share"),
    Typed("claims --chapter 11", 2),
    *tables("assumptions", EXERCISES),
    *tables("validate rows.csv --family A --worst 2"),
    Typed("validate", slow=True),
    *tables(
        "generate 'def f(' --model draft --tokens 4 --temperature 0 --top-k 5 "
        "--top-p 0.9 --min-p 0.1 --seed 1",
        NUMPY,
        "json",
    ),
    Typed("generate hello --tokens 4", 0, NUMPY),
    Typed(
        "serve --model draft --host 127.0.0.1 --port 0 --expose --blocks 64 --json "
        "--block-size 16 --max-batch 2 --chunk 16 --waiting 2",
        0,
        SERVER,
        stopped=True,
    ),
    Typed("serve --role prefill --peer 127.0.0.1:9 --shadow", 2, SERVER),
    *tables("formats"),
    *tables("formats e2m1"),
    Typed("formats nosuch", 2),
    Typed("quantize tiny --scheme q8_0 --method round --json", 0, NUMPY),
    Typed("quantize draft --scheme q4_0 --out draft.gguf --force", 0, NUMPY),
    *tables("start 1", EXERCISES, "json"),
    Typed("start --root .", 0, EXERCISES),
    Typed("check 1.1 --timeout 20", 1, EXERCISES),
    Typed("check 1.1 --json", 1, EXERCISES),
    Typed("check 1.1 --hint --root .", 0, EXERCISES),
    Typed("check 1.1 --reset", 0, EXERCISES),
    Typed("check 1.1 --watch", 0, EXERCISES, slow=True, stopped=True),
    *tables("doctor"),
    Typed("measure --levels", 0, NUMPY),
    Typed("measure --levels --json", 0, NUMPY),
    Typed("measure --dry-run", 0, NUMPY, slow=True),
    Typed("measure --json", 0, NUMPY, slow=True),
    Typed("measure --full --dry-run", 0, NUMPY, slow=True),
    Typed(f"{NEW} --root . --json", 0, CHECKOUT),
    Typed(f"{PART} --root . --json", 0, CHECKOUT),
    Typed(f"{CLAIM} --root . --json", 0, CHECKOUT),
    Typed("new section 10.9 'Who rounds last?' --root .", 0, CHECKOUT),
    Typed("new section 10.9 'Who rounds?' --covers 10.01 --root .", 2, CHECKOUT),
    Typed("new number 3.4 other_share 'Share of it' --root .", 0, EXERCISES),
    Typed("new exercise 10.13 my-question --level derive --root .", 0, EXERCISES),
    *tables("completion bash", forms="json"),
    Typed("completion zsh"),
]


def documented() -> Iterator[tuple[str, str]]:
    """Every flag in the help of a command, ``--help`` apart: (command, flag)."""
    for command in cli.COMMANDS:
        (commands,) = subparsers(cli.parser_of(command))
        for parser in every(commands.choices[command]):
            for action in parser._actions:
                for flag in action.option_strings:
                    if flag.startswith("--") and flag != "--help":
                        yield command, flag


def written(folder: Path) -> Path:
    """The folder, with the files that the lines name in it."""
    shape = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "max_position_embeddings": 128,
        "tie_word_embeddings": False,
    }
    (folder / "config.json").write_text(json.dumps(shape))
    rows = MEASURED.read_text("utf-8").splitlines(keepends=True)[:6]
    (folder / "rows.csv").write_text("".join(rows), "utf-8")
    (folder / "topo.txt").write_text(topo_sample("four_cards"), "utf-8")
    (folder / "build.toml").write_text(BUILD, "utf-8")
    (folder / "rig.txt").write_text(smi_sample("rtx4090_riser"), "utf-8")
    (folder / "card.json").write_text(json.dumps(CARD), "utf-8")
    trace = "arrival,prompt,new\n0,40,3\n1000000000,16,2\n"  # ns: no overload
    (folder / "trace.csv").write_text(trace, "utf-8")
    told = "id,outcome,why\nrent-h100,true,five lists\nrubin-deepseek,void,no table\n"
    (folder / "outcomes.csv").write_text(told, "utf-8")
    bets = (
        "id,due,statement,settles,probability\nrain,2027-01-01,It rains,a gauge,0.4\n"
    )
    (folder / "bets.csv").write_text(bets, "utf-8")
    (folder / "vllm.log").write_text(log_sample("vllm"), "utf-8")
    return folder
