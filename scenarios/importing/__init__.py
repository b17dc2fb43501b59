"""Models of other programs as scenes: MJCF and URDF, the part of them that is about rigid bodies.

In: a file in one of both formats, with what it includes.
Out: a ``Scene``, and a list of what it says that tumble does not have.

Equations: none. Sources: MuJoCo's XML reference; the URDF specification of ROS (wiki.ros.org/urdf/XML).

models.py: which reader, and what both share. urdf.py: URDF. couplings.py: hinges that turn together, in both formats.
mjcf.py: the bodies of MJCF. It reads them by mjcf_values.py (units, defaults, poses), mjcf_parts.py (includes, meshes),
mjcf_geoms.py (geoms), mjcf_fields.py (height fields) and mjcf_joints.py (joints, actuators). mjcf_machinery.py: what follows the
bodies, with mjcf_equalities.py (what is tied or turns together) and mjcf_sensors.py (sensors, medium).
"""
