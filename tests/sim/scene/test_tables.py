"""Tables of a scene that are refused, each by the name and value of what is wrong."""

from __future__ import annotations

import pytest

from tumble.sim import InputError, Scene

BODY = {"name": "crate", "shape": {"type": "sphere", "radius": 1.0}}


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"gravty": 1}, "gravty = 1: unknown field; a scene has "),
        ({"bodies": [{**BODY, "colour": "red"}]}, "colour = 'red': unknown field of a body; did you mean color?"),
        ({"bodies": [{**BODY, "path": {"times": (0, 1), "speed": 1}}]}, "speed = 1: unknown field; a path has times"),
        ({"joints": [{"type": "bolt"}]}, "type = 'bolt': must be one of point, hinge"),
        ({"joints": [{"type": ["hinge"]}]}, "type = ['hinge']: must be one of point, hinge"),
        ({"joints": [{"type": "hinge", "a": "crate", "b": None, "pivot": 0}]}, "pivot = 0: unknown field; a hinge has a, b, "),
        ({"forces": [{"type": "spring", "stifness": 1}]}, "stifness = 1: unknown field; a spring force has "),
        ({"forces": [{"type": "spring"}]}, "is missing: a spring force needs it"),
        ({"instruments": [{"type": "encoder"}]}, "is missing: a encoder needs it"),
        ({"actuators": [{"name": "m", "joint": "j", "power": 3}]}, "power = 3: unknown field; an actuator has name, joint, "),
    ],
)
def test_what_is_wrong_is_named(data, told):
    with pytest.raises(InputError) as refused:
        Scene.from_dict(data)
    assert told in str(refused.value)
