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

_MEMBERS = {
    "errors": ("InputError",),
    "pose": ("Pose",),
    "status": ("Status",),
    "shapes.definitions": (
        "Box", "Capsule", "Compound", "Cone", "ConvexHull", "Cylinder", "Ellipsoid", "HalfSpace", "Rounded", "Shape", "Sphere",
        "convex_parts", "shape_from_dict",
    ),
    "shapes.ground": ("HeightField", "TriangleMesh"),
    "shapes.shapeset": ("ShapeSet",),
    "shapes.support_shape": ("SupportShape",),
    "solids.mass_properties": ("MassProperties", "mass_properties", "principal_axes"),
    "solids.mesh_files": ("load_mesh", "load_meshes"),
    "solids.mesh_repair": ("MeshWarning",),
    "solids.torus": ("torus", "torus_error"),
    "queries.batch": ("Distances", "PairCache", "collisions", "signed_distances"),
    "queries.batch_contacts": ("Impacts", "Manifolds", "contact_manifolds", "times_of_impact"),
    "queries.conservative_advancement": ("Impact", "ImpactStatus", "Motion", "time_of_impact"),
    "queries.incremental_manifold": ("IncrementalManifold",),
    "queries.proximity": (
        "Distance", "Manifold", "Penetration", "Proximity", "colliding", "contact_manifold", "signed_distance",
    ),
    "queries.ray_casts": ("RayHit", "RayHits", "ray_cast", "ray_casts"),
    "queries.shape_casts": ("ShapeHit", "shape_cast"),
    "queries.trace": ("Trace",),
    "broadphase.bounding_boxes": ("bounding_box", "bounding_boxes", "candidate_pairs"),
    "broadphase.collision_manager": ("CollisionManager", "Near"),
    "broadphase.dynamic_broadphase": ("BroadPhase", "PairChanges"),
}  # fmt: skip
_HOME = {name: module for module, names in _MEMBERS.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise import_module("tumble.collision.spelling").not_in(__name__, name, __all__)
    return getattr(import_module(f"tumble.collision.{_HOME[name]}"), name)


def __dir__():
    return __all__
