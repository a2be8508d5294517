"""The book's model as ONNX, and one session that reads tokens with it.

One graph for a prompt and for a step: ids, their positions, what each may look at, and
keys and values so far go in; logits and the longer cache come out. Norms, rotation and
attention are operators of ONNX (opset 23). A matrix in INT8 is four nodes,
QuantizeLinear, MatMulInteger, Cast, Mul; one in floats is a MatMul.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ..forward import turns
from ..model import TinyLM
from .edge import HEAD, Product, products

OPSET, IR = 23, 10
Shapes: TypeAlias = dict[str, tuple[Any, ...]]  # kind of number, then sizes
FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@dataclass
class Graph:
    """Nodes and constants of a graph, as they are put in."""

    nodes: list[Any] = field(default_factory=list)
    stored: list[Any] = field(default_factory=list)

    def keep(self, name: str, value: Any) -> str:
        """A constant, by its name."""
        self.stored.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def put(self, kind: str, name: str, *inputs: str, **more: Any) -> str:
        """A node with one result of that name."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **more))
        return name

    def matrix(self, x: str, name: str, weight: Any) -> str:
        """``x`` through a matrix, in whole numbers where its weights are."""
        if not isinstance(weight, Product):
            return self.put("MatMul", name, x, self.keep(f"{name}.w", weight.T))
        zero = self.keep(f"{name}.zero", np.uint8(weight.zero))
        scale = self.keep(f"{name}.scale", weight.scale)
        codes = self.put("QuantizeLinear", f"{name}.codes", x, scale, zero)
        w = self.keep(f"{name}.w", weight.codes.T)
        sums = self.put("MatMulInteger", f"{name}.sums", codes, w, zero)
        floats = self.put("Cast", f"{name}.floats", sums, to=FLOAT)
        both = self.keep(f"{name}.scales", weight.scale * weight.scales)
        return self.put("Mul", name, floats, both)

    def made(self, name: str, given: Shapes, told: Shapes) -> onnx.ModelProto:
        """The checked model, its inputs and results by kind and shape."""
        ends = (
            [
                helper.make_tensor_value_info(name, kind, shape)
                for name, (kind, *shape) in each.items()
            ]
            for each in (given, told)
        )
        graph = helper.make_graph(self.nodes, name, *ends, self.stored)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR)
        onnx.checker.check_model(model, full_check=True)
        return model


def exported(model: TinyLM) -> onnx.ModelProto:
    """The graph of a model in floats or, from ``edge.calibrated``, in INT8."""
    c, g = model.config, Graph()
    q, kv, width = c.num_attention_heads, c.num_key_value_heads, c.head_dim

    def norm(x: str, name: str) -> str:
        gain = g.keep(f"{name}.gain", model.weights[f"{name}.weight"])
        return g.put("RMSNormalization", name, x, gain, epsilon=c.rms_norm_eps)

    def through(x: str, name: str) -> str:
        return g.matrix(x, name, model.weights[f"{name}.weight"])

    def turned(x: str, heads: int) -> str:
        return g.put("RotaryEmbedding", f"{x}.turned", x, *turn, num_heads=heads)

    table: Any = model.weights[HEAD]
    cos, sin = turns(c)
    turn = (g.keep("cos", cos), g.keep("sin", sin), "places")
    if isinstance(table, Product):
        rows = g.put("Gather", "rows", g.keep("table", table.codes), "ids")
        scale = g.put(
            "Gather", "scales", g.keep("t.scale", table.scales[:, None]), "ids"
        )
        x = g.put("Mul", "x", g.put("Cast", "rows.floats", rows, to=FLOAT), scale)
    else:
        x = g.put("Gather", "x", g.keep("table", table), "ids")
    given: Shapes = {
        "ids": (INT, 1, "tokens"),
        "places": (INT, 1, "tokens"),
        "seen": (BOOL, "tokens", "all"),
    }
    told: Shapes = {"logits": (FLOAT, 1, "tokens", c.vocab_size)}
    for layer in range(c.num_hidden_layers):
        at = f"model.layers.{layer}"
        y = norm(x, f"{at}.input_layernorm")
        now = [through(y, f"{at}.self_attn.{n}_proj") for n in "qkv"]
        past, grown = ([f"{n}_{layer}{to}" for n in "kv"] for to in ("", "_now"))
        read = [turned(now[0], q), turned(now[1], kv), now[2], "seen", *past]
        heads = {"q_num_heads": q, "kv_num_heads": kv}
        out = [f"{at}.attention", *grown]
        g.nodes.append(helper.make_node("Attention", read, out, out[0], **heads))
        a = through(out[0], f"{at}.self_attn.o_proj")
        x = g.put("Add", f"{at}.middle", x, a)
        y = norm(x, f"{at}.post_attention_layernorm")
        gate, up = (through(y, f"{at}.mlp.{n}_proj") for n in ("gate", "up"))
        share = g.put("Sigmoid", f"{at}.share", gate)
        gate = g.put("Mul", f"{at}.gated", gate, share)
        inner = g.put("Mul", f"{at}.inner", gate, up)
        x = g.put("Add", f"{at}.end", x, through(inner, f"{at}.mlp.down_proj"))
        given |= dict.fromkeys(past, (FLOAT, 1, kv, "past", width))
        told |= dict.fromkeys(grown, (FLOAT, 1, kv, "all", width))
    g.matrix(norm(x, "model.norm"), "logits", table)
    return g.made(model.name, given, told)


def name_of(key: str) -> str:
    """The node whose result is a product with the weights of that name."""
    return "logits" if key == HEAD else key.removesuffix(".weight")


def shown(model: TinyLM) -> list[str]:
    """Names of what every product in INT8 is given and sums up."""
    names = [name_of(key) for key in products(model)]
    return [f"{name}.{what}" for name in names for what in ("codes", "sums")]


def runner(made: onnx.ModelProto) -> Any:
    """Run a model on one core: names of results or None, and inputs by name."""
    import onnxruntime

    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads = how.inter_op_num_threads = 1
    how.log_severity_level = 3
    return onnxruntime.InferenceSession(
        made.SerializeToString(), how, providers=["CPUExecutionProvider"]
    ).run


class Session:
    """A model in onnxruntime, and the cache it carries from step to step."""

    def __init__(self, made: onnx.ModelProto, also: Sequence[str] = ()) -> None:
        """``also``: names of further results of a pass, such as codes and sums."""
        shown = onnx.ModelProto()
        shown.CopyFrom(made)
        shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in also)
        self.run = runner(shown)
        self.names = [each.name for each in made.graph.input][3:]
        shape = made.graph.input[3].type.tensor_type.shape.dim
        self.empty = np.zeros(
            (1, shape[1].dim_value, 0, shape[3].dim_value), np.float32
        )
        self.also = tuple(also)
        self.clear()

    def clear(self) -> None:
        """Forget what was read."""
        self.cache = [self.empty] * len(self.names)

    def step(self, ids: Any) -> tuple[NDArray[np.float32], dict[str, NDArray[Any]]]:
        """Logits after each id, (tokens, vocab), and the further results."""
        ids = np.asarray(ids, np.int64)
        past = self.cache[0].shape[2]
        places = past + np.arange(len(ids))
        seen = np.arange(past + len(ids)) <= places[:, None]
        given = {"ids": ids[None], "places": places[None], "seen": seen}
        out = self.run(None, given | dict(zip(self.names, self.cache, strict=True)))
        end = 1 + len(self.names)
        self.cache = out[1:end]
        return out[0][0], dict(zip(self.also, out[end:], strict=True))
