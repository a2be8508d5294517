"""The drawing of section 7.9: one pair of sentences, scored by two models."""

from stacklib.pages.quantizers import quality as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, counted, maximum, one_of
from stacklib.tinylm.probe import pairs

__all__ = ["one_pair_two_models"]
MODELS = {"bf16": "in bf16", page.COARSE: "in int4, asymmetric"}


def one_pair_two_models() -> d.Drawing:
    """What each model pays for the right and for the wrong sentence, in nats."""
    costs = {
        (scheme, which): counted(
            page.sentence_costs,
            scheme,
            take=f"[{which}]",
            label=f"nats, {words}, {('right', 'wrong')[which]}",
        )
        for scheme, words in MODELS.items()
        for which in (0, 1)
    }
    top = maximum(*costs.values()) * 21 / 20
    zero = 0 * one_of("1")
    boxes = [_model(scheme, costs, zero, top) for scheme in MODELS]
    title = "A pair is answered by the sentence that costs the model less."
    return d.draw(d.flow(*boxes, gap=14, even=True), name="q-pair", title=title)


def _model(
    scheme: str,
    costs: dict[tuple[str, int], Quantity],
    zero: Quantity,
    top: Quantity,
) -> d.Node:
    pair, words = pairs()[page.PAIR], MODELS[scheme]
    clips: list[d.Node] = []
    for which, text in enumerate((pair.good, pair.bad)):
        cost = costs[scheme, which]
        name = f"{('right', 'wrong')[which]} sentence, {words}"
        told = [f"“{text}”", (d.Shown(cost, None, 4), " nats")]
        role = ("layer-4", "layer-6")[which]
        clips.append(d.Clip(name, zero, cost, top, told, role=role, grow=0))
    right = costs[scheme, 0].si < costs[scheme, 1].si
    verdict = "right" if right else "wrong"
    return d.below(
        d.Box(
            f"model {words}", d.line("the model ", words, bold=True), d.below(*clips)
        ),
        d.Box(
            f"answer {words}",
            d.Words([(f"it answers {verdict}",)]).label,
            role="layer-4" if right else "layer-6",
        ),
        gap=6,
    )
