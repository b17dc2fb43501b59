"""Geometry: shapes, mass properties, proximity queries, contact manifolds. Stateless; takes nothing else of ours.

The compiled parts load on first use, so that describing a scene costs no compiler. Each room has a page at its head, its
``__init__``; a room imports those above it only:

    kernels      how functions are compiled, kept, loaded and called
    shapes       shapes, the arrays that kernels read, support points
    distance     distance and depth of polytopes, certified
    contact      contact points and their names
    pairs        closed forms, and pairs with round shapes
    solids       volume, inertia, bodies from files
    ground       surfaces of many triangles
    queries      what users ask, one pair or many
    broadphase   which boxes overlap
    reference    the queries once more, short, in NumPy

In the hall: errors.py, spelling.py, suggesting.py (names that are misspelt), hints.py (types), regular.py (files read whole),
status.py, pose.py, linalg.py (vectors as numbers), geometry.py (shapes as kernels read them), bounds.py and halving.py (boxes);
above ``pairs`` stands narrowphase.py, the table that says which routine handles a pair.
"""

from __future__ import annotations

if __name__ == "collision":  # found by its folder: without this a second copy of all of it would load
    from tumble.short_names import stand_in

    stand_in(__name__)

from importlib import import_module

from tumble.collision.errors import InputError
from tumble.collision.pose import Pose
from tumble.collision.shapes.definitions import (
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
    "HeightField": "shapes.ground",
    "TriangleMesh": "shapes.ground",
    "SupportShape": "shapes.support_shape",
    "torus": "solids.torus",
    "torus_error": "solids.torus",
    "BroadPhase": "broadphase.dynamic_broadphase",
    "PairChanges": "broadphase.dynamic_broadphase",
    "CollisionManager": "broadphase.collision_manager",
    "Near": "broadphase.collision_manager",
    "ShapeHit": "queries.shape_casts",
    "shape_cast": "queries.shape_casts",
    "MassProperties": "solids.mass_properties",
    "mass_properties": "solids.mass_properties",
    "principal_axes": "solids.mass_properties",
    "MeshWarning": "solids.mesh_repair",
    "load_mesh": "solids.mesh_files",
    "load_meshes": "solids.mesh_files",
    "ShapeSet": "shapes.shapeset",
    "Status": "status",
    "Distance": "queries.proximity",
    "Distances": "queries.batch",
    "PairCache": "queries.batch",
    "bounding_box": "broadphase.bounding_boxes",
    "bounding_boxes": "broadphase.bounding_boxes",
    "candidate_pairs": "broadphase.bounding_boxes",
    "collisions": "queries.batch",
    "signed_distances": "queries.batch",
    "Impacts": "queries.batch_contacts",
    "Manifold": "queries.proximity",
    "Manifolds": "queries.batch_contacts",
    "contact_manifolds": "queries.batch_contacts",
    "times_of_impact": "queries.batch_contacts",
    "RayHit": "queries.ray_casts",
    "RayHits": "queries.ray_casts",
    "Impact": "queries.conservative_advancement",
    "ImpactStatus": "queries.conservative_advancement",
    "IncrementalManifold": "queries.incremental_manifold",
    "Motion": "queries.conservative_advancement",
    "Penetration": "queries.proximity",
    "Proximity": "queries.proximity",
    "Trace": "queries.trace",
    "colliding": "queries.proximity",
    "contact_manifold": "queries.proximity",
    "ray_cast": "queries.ray_casts",
    "ray_casts": "queries.ray_casts",
    "signed_distance": "queries.proximity",
    "time_of_impact": "queries.conservative_advancement",
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
        raise import_module("tumble.collision.spelling").not_in(__name__, name, __all__)
    return getattr(import_module(f"tumble.collision.{_LATER[name]}"), name)


def __dir__():
    return sorted(__all__)
