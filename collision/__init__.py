"""Geometry: shapes, mass properties, proximity queries, contact manifolds. Stateless; takes nothing else of ours.

The compiled parts load on first use, so that describing a scene costs no compiler.
"""

from __future__ import annotations

from importlib import import_module

from collision.errors import InputError
from collision.pose import Pose
from collision.shapes import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Rounded,
    Shape,
    Sphere,
    convex_parts,
    shape_from_dict,
)

_LATER = {
    "HeightField": "ground",
    "TriangleMesh": "ground",
    "SupportShape": "supports",
    "torus": "rings",
    "torus_error": "rings",
    "BroadPhase": "broad",
    "PairChanges": "broad",
    "CollisionManager": "manager",
    "Near": "manager",
    "ShapeHit": "casts",
    "shape_cast": "casts",
    "MassProperties": "mass",
    "mass_properties": "mass",
    "principal_axes": "mass",
    "MeshWarning": "mesh_repair",
    "load_mesh": "mesh",
    "load_meshes": "mesh",
    "ShapeSet": "shapeset",
    "Status": "status",
    "Distance": "proximity",
    "Distances": "batch",
    "PairCache": "batch",
    "bounding_box": "boxes",
    "bounding_boxes": "boxes",
    "candidate_pairs": "boxes",
    "collisions": "batch",
    "signed_distances": "batch",
    "Impacts": "many",
    "Manifold": "proximity",
    "Manifolds": "many",
    "contact_manifolds": "many",
    "times_of_impact": "many",
    "RayHit": "rays",
    "RayHits": "rays",
    "Impact": "impact",
    "ImpactStatus": "impact",
    "IncrementalManifold": "incremental",
    "Motion": "impact",
    "Penetration": "proximity",
    "Proximity": "proximity",
    "Trace": "trace",
    "colliding": "proximity",
    "contact_manifold": "proximity",
    "ray_cast": "rays",
    "ray_casts": "rays",
    "signed_distance": "proximity",
    "time_of_impact": "impact",
}

__all__ = [
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "InputError",
    "Pose",
    "Rounded",
    "Shape",
    "Sphere",
    "convex_parts",
    "shape_from_dict",
    *_LATER,
]


def __getattr__(name: str):
    if name not in _LATER:
        raise import_module("collision.spelling").not_in(__name__, name, __all__)
    return getattr(import_module(f"collision.{_LATER[name]}"), name)


def __dir__():
    return sorted(__all__)
