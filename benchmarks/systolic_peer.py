"""SCALE-Sim on a list of products, in the interpreter that has it.

    PYTHON benchmarks/systolic_peer.py < asked.json

Reads ``[[m, n, k, rows, cols, dataflow], ...]`` and prints, of each, last cycle, use
in per cent, reads of activations and weights, and CPU seconds. It needs scalesim 3.0.0
beside a NumPy below 2, and is run by ``systolic.py``.
"""

import contextlib
import io
import json
import sys
import tempfile
import time
from pathlib import Path

CONFIG = """[general]
run_name = one
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
[architecture_presets]
ArrayHeight = {rows}
ArrayWidth = {cols}
IfmapSramSzkB = 1024
FilterSramSzkB = 1024
OfmapSramSzkB = 1024
IfmapOffset = 0
FilterOffset = 10000000
OfmapOffset = 20000000
Dataflow = {dataflow}
ReadRequestBuffer = 32
WriteRequestBuffer = 32
[layout]
IfmapCustomLayout = False
FilterCustomLayout = False
IfmapSRAMBankBandwidth = 10
IfmapSRAMBankNum = 10
IfmapSRAMBankPort = 2
FilterSRAMBankBandwidth = 10
FilterSRAMBankNum = 10
FilterSRAMBankPort = 2
[sparsity]
SparsitySupport = false
"""
LAYOUT = "Layer" + ",x" * 23 + ",\none" + ",1" * 23 + ",\n"


def run(m: int, n: int, k: int, rows: int, cols: int, dataflow: str) -> list[float]:
    """One product: last cycle, per cent of use, reads, CPU seconds."""
    from scalesim.scale_sim import scalesim

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = CONFIG.format(rows=rows, cols=cols, dataflow=dataflow)
        (folder / "one.cfg").write_text(config)
        (folder / "one.csv").write_text(f"Layer,M,N,K,\none,{m},{n},{k},\n")
        (folder / "layout.csv").write_text(LAYOUT)
        started = time.process_time()
        made = scalesim(
            save_disk_space=True,
            verbose=False,
            config=str(folder / "one.cfg"),
            topology=str(folder / "one.csv"),
            layout=str(folder / "layout.csv"),
            input_type_gemm=True,
        )
        with contextlib.redirect_stdout(io.StringIO()):
            made.run_scale(top_path=name)
        spent = time.process_time() - started
        (layer,) = made.runner.single_layer_sim_object_list
        _, cycles, _, use, _, _ = layer.get_compute_report_items()
        detail = layer.get_detail_report_items()
    return [int(cycles), float(use), int(detail[2]), int(detail[5]), round(spent, 3)]


if __name__ == "__main__":
    json.dump([run(*asked) for asked in json.load(sys.stdin)], sys.stdout)
