"""Solids: volume, inertia, and bodies made from files or from parts.

In: shapes; files of meshes.
Out: mass, centre and inertia; hulls, compounds and grounds from a mesh.

Equations: integrals of 1, x and x x^T over a shape (Mirtich, J. Graphics Tools 1 (1996) 31, for polyhedra), and Steiner's
formula for a shape with a ball added to it.

mass_properties.py: the integrals; steiner.py: those of rounded shapes.
mesh_files.py: a file as hull or compound; mesh_repair.py: holes closed, faces turned outward.
torus.py: tori as rings of capsules.
"""
