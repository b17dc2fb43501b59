"""Materials: coefficients of surfaces by name, rules that combine two of them, and pairs with coefficients of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.collision.hints import Numbers
from tumble.collision.spelling import did_you_mean, spelled
from tumble.sim.checks import check_fields, choice
from tumble.sim.errors import InputError
from tumble.sim.scene.visual import Finish
from tumble.sim.state import BETA, COEFFICIENTS, MU, MU_STATIC, ROLLING, TORSION, E

if TYPE_CHECKING:
    from tumble.sim.scene.body_definition import BodyDef
    from tumble.sim.world.body import Body

RULES = ("geometric", "min", "max", "average", "multiply")  # in the order of GEOMETRIC to PRODUCT of contact/surfaces.py
RESTITUTION_LAWS = ("stronge", "poisson", "newton")  # in the order of STRONGE to NEWTON of impact/collision_law.py

# What a contact takes from its two surfaces: fields of BodyDef, and where they stand in rows of coefficients.
SURFACE_FIELDS = {
    "friction": MU,
    "static_friction": MU_STATIC,
    "restitution": E,
    "tangential_restitution": BETA,
    "rolling_friction": ROLLING,
    "torsional_friction": TORSION,
}
LEAST_FRICTION = 1e-9  # less is none: no one can measure it, and solvers divide by it
MATERIAL = ("density", "color", "finish", *SURFACE_FIELDS)  # what a material may say


def rules(friction: str, restitution: str) -> np.ndarray:
    """Bodies.rules of these two; what is not asked for takes the larger value."""
    friction, restitution = choice("friction_rule", friction, RULES), choice("restitution_rule", restitution, RULES)
    out = np.full(COEFFICIENTS, RULES.index("max"))
    out[[MU, MU_STATIC]] = RULES.index(friction)
    out[E] = RULES.index(restitution)
    return out


def coefficients(fields: dict[str, float | None]) -> np.ndarray:
    """A row of Bodies.material."""
    out = np.zeros(COEFFICIENTS)
    out[BETA] = -np.inf
    for name, column in SURFACE_FIELDS.items():
        if fields.get(name) is not None:
            out[column] = fields[name]
    out[MU] = felt(out[MU])
    out[MU_STATIC] = max(out[MU], felt(out[MU_STATIC]))
    return out


def felt(friction: float) -> float:
    """A coefficient of friction as it acts."""
    return friction if friction >= LEAST_FRICTION else 0.0


def said(arguments: dict[str, Any], *without: str) -> dict[str, Any]:
    """Of the arguments of a call, ``locals()``, those that say something. What is None is that of the material, or of BodyDef."""
    return {word: value for word, value in arguments.items() if value is not None and word not in ("self", "shape", *without)}


def put_material(table: dict[str, dict[str, Any]], name: str, fields: dict[str, Any]) -> None:
    """Add a material to a table, or replace it."""
    from tumble.sim.scene.body_definition import checked_fields  # BodyDef knows this module

    if not isinstance(name, str) or not name:
        raise InputError("name", name, "a material's name must be a text")
    check_fields(fields, MATERIAL, "a material")
    table[name] = checked_fields(fields)


def made_of(table: dict[str, dict[str, Any]], fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of a body, with those of its material where it does not say them itself. InputError for one that there is not."""
    from tumble.sim.scene.body_definition import BodyDef  # it knows this module

    for key in fields.keys() - BodyDef.__dataclass_fields__.keys():
        raise InputError(key, fields[key], f"unknown field of a body{did_you_mean(key, BodyDef.__dataclass_fields__)}")
    material = fields.get("material", "")
    if not material:
        return fields
    if material not in table:
        known = f"; there are {', '.join(sorted(table))}" if table else "; see set_material"
        raise InputError("material", material, f"there is no such material{known}")
    return {**table[material], **{key: value for key, value in fields.items() if value is not None}}


def put_pair(pairs: list[dict[str, Any]], a: str, b: str, fields: dict[str, float]) -> None:
    """Add a pair to a list, or replace it. ``a`` and ``b`` name bodies or materials."""
    from tumble.sim.scene.body_definition import checked_fields

    for key, name in (("a", a), ("b", b)):
        if not isinstance(name, str) or not name:
            raise InputError(key, name, "must be a body, or the name of a body or of a material")
    for key, value in fields.items():
        if key not in SURFACE_FIELDS:
            raise InputError(key, value, f"unknown coefficient; a pair has {', '.join(SURFACE_FIELDS)}")
    given = checked_fields({key: fields[key] for key in SURFACE_FIELDS if key in fields})
    if not given:
        raise InputError("coefficients", fields, f"a pair needs at least one of {', '.join(SURFACE_FIELDS)}")
    if "static_friction" in given and "friction" not in given:
        raise InputError("static_friction", given["static_friction"], "needs friction too")
    pairs[:] = [pair for pair in pairs if {pair["a"], pair["b"]} != {a, b}]
    pairs.append({"a": a, "b": b, **given})


def surfaces(
    bodies: list[BodyDef], table: dict[str, dict[str, Any]], pairs: list[dict[str, Any]]
) -> tuple[np.ndarray, np.ndarray]:
    """Bodies.surface and Bodies.exceptions for these pairs. A pair of bodies comes before one of a body and a material,
    and that before one of materials; among equals the last holds."""
    index = {body.name: i for i, body in enumerate(bodies)}
    named = [name for pair in pairs for name in (pair["a"], pair["b"])]
    for name in named:
        if name not in index and name not in table:
            raise InputError("pair", name, "is neither a body nor a material")
        if name in index and name in table:
            raise InputError("pair", name, "is both a body and a material: give one of them another name")
    # surfaces that differ: bodies that a pair names, and materials that one does
    own: dict[tuple[str, str], int] = {}
    surface = np.zeros(len(bodies), dtype=np.int64)
    for i, body in enumerate(bodies):
        key = (body.name if body.name in named else "", body.material if body.material in named else "")
        if key != ("", ""):
            surface[i] = own.setdefault(key, len(own) + 1)
    out = np.full((len(own) + 1, len(own) + 1, COEFFICIENTS), np.nan)
    for pair in sorted(pairs, key=lambda pair: (pair["a"] in index) + (pair["b"] in index)):
        row = {column: pair[name] for name, column in SURFACE_FIELDS.items() if name in pair}
        if MU in row:
            row[MU] = felt(row[MU])
            row.setdefault(MU_STATIC, row[MU])
        for s in (own[key] for key in own if pair["a"] in key):
            for t in (own[key] for key in own if pair["b"] in key):
                for column, value in row.items():
                    out[s, t, column] = out[t, s, column] = value
    return surface, out


class WithMaterials:
    """What a scene and a world have of the materials of their bodies."""

    materials: dict[str, dict[str, Any]]

    @spelled
    def set_material(
        self,
        name: str,
        *,
        density: float | None = None,
        color: str | Numbers | None = None,
        finish: Finish | None = None,
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Say what bodies of a material are like: density, color, friction, restitution; for bodies added from now on."""
        put_material(self.materials, name, said(locals(), "name"))

    @spelled
    def set_pair(
        self,
        a: Body | str,
        b: Body | str,
        *,
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        tangential_restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Give two bodies or materials coefficients of their own, such as ``friction=0.05`` or ``restitution=0.9``.

        ``a`` and ``b``: a body of a world, the name of a body, or that of a material. A pair of bodies comes before a pair of a
        body and a material, and that before a pair of materials; what a pair does not give is combined by the rule.
        """
        self._pair(a, b, said(locals(), "a", "b"))

    def _pair(self, a: Body | str, b: Body | str, coefficients: dict[str, float]) -> None:
        raise NotImplementedError
