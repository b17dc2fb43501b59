"""Plans of sweeps, recordings and saved worlds."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from benchmarks.inputs.cases import SEEDS, Case, either, harmed, odd, toml
from tumble.scenarios.sweeps.ensemble import SAMPLINGS


@st.composite
def plans(draw: Any) -> dict[str, Any]:
    scenario = draw(st.sampled_from(("bouncing_ball", "bouncing_ball", "scene.toml", "nothing", "../elsewhere/secret.toml")))
    good = st.floats(0.1, 0.9)
    ends = {"low": good, "high": st.floats(0.91, 0.99)}
    span = st.one_of(
        st.lists(good, min_size=1, max_size=3),
        st.fixed_dictionaries({**ends, "count": st.integers(2, 4)}),
        st.fixed_dictionaries({**ends, "log": either, "count": st.just(3)}),
    )
    known = st.sampled_from(("x",) if scenario == "scene.toml" else ("height", "restitution"))
    data = {
        "scenario": scenario,
        "sampling": draw(st.sampled_from(SAMPLINGS)),
        "parameters": draw(st.dictionaries(known, span, min_size=1, max_size=2)),
    }
    for key, of in (
        ("members", st.one_of(st.integers(1, 5), st.just(10**9))),
        ("seed", st.integers(0, 9)),
        ("seconds", good),
        ("dt", good),
        ("every", st.integers(1, 3)),
        ("nudge", good),
        ("measure", st.sampled_from(("a.py:f", "scene.toml:f", "f", "../elsewhere/secret.py:f", ":", "\0:f"))),
        ("fixed", st.dictionaries(st.just("radius"), good, max_size=1)),
    ):
        if draw(st.integers(0, 3)) == 0:
            data[key] = draw(of)
    return data


BALL = '[[body]]\nshape = { type = "sphere", radius = 0.1 }\n'
SCENE = toml({"body": [{"shape": {"type": "sphere", "radius": 0.1}}], "parameter": {"x": {"default": 1.0}}, "duration": 0.02})
sweeps = harmed(plans(), toml).map(
    lambda all: tuple(Case("sweep", {"plan.toml": data, "scene.toml": SCENE}, ("plan.toml",)) for data in all)
)


@st.composite
def stores(draw: Any) -> tuple[Case, ...]:
    """What is to be done to a recording: (file, by number, and how): its bytes, or values of its JSON, sealed anew or not."""
    harms = []
    for _ in range(draw(st.integers(1, 3))):
        how = draw(st.sampled_from(("flip", "cut", "junk", "delete", "swap", "value", "value", "value", "drop", "pipe", "link")))
        harms.append((draw(st.integers(0, 199)), how, draw(st.integers(0, 10**6)), odd(Random(draw(SEEDS)))))
    return (Case("store", {}, (tuple(harms), draw(either))),)


@st.composite
def checkpoints(draw: Any) -> tuple[Case, ...]:
    """The same of a saved world: values of its header, arrays of other sizes and kinds."""
    harms = [
        (
            draw(st.integers(0, 199)),
            draw(st.sampled_from(("value", "drop", "array", "type"))),
            draw(st.integers(0, 10**6)),
            odd(Random(draw(SEEDS))),
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    return (Case("checkpoint", {}, (tuple(harms),)),)
