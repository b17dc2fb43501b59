"""The kernels that a world calls, as one library: compiled together, kept in one file, called without the compiler."""

from __future__ import annotations

from collision.geometry import empty_geometry
from collision.kernels.native import Entry, Library
from sim.assemble import assemble
from sim.contact.half_kick import recentre
from sim.flight.clusters import refresh
from sim.impact.thread_jobs import assist
from sim.pipeline import advance, begin
from sim.readout import glance, glance_joint
from sim.recording.compiled_samples import NONE, keep
from sim.state import EXAMPLE, SETTINGS

GEOMETRY = empty_geometry()
ADVANCE = Entry(advance, lambda: (EXAMPLE, GEOMETRY, SETTINGS, EXAMPLE.contacts, (EXAMPLE.bodies, EXAMPLE.books), NONE, 1))
ASSIST = Entry(assist, lambda: (EXAMPLE, GEOMETRY, SETTINGS))
BEGIN = Entry(begin, lambda: (EXAMPLE, GEOMETRY, SETTINGS))
REFRESH = Entry(refresh, lambda: (EXAMPLE.bodies, EXAMPLE.forces))
ASSEMBLE = Entry(assemble, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, SETTINGS))
GLANCE = Entry(glance, lambda: (EXAMPLE.bodies, 0))
GLANCE_JOINT = Entry(glance_joint, lambda: (EXAMPLE.bodies, EXAMPLE.joints, 0))
RECENTRE = Entry(recentre, lambda: (EXAMPLE.bodies,))
KEEP = Entry(keep, lambda: (EXAMPLE.bodies, EXAMPLE.books, EXAMPLE.contacts, EXAMPLE.joints, NONE))
# What the first step of a box on a floor reaches, the dearest early: compiled before all else where nothing is kept.
FIRST = (
    "enter sim.flight.clusters.refresh", "enter sim.pipeline.begin", "sim.contact.contact_solve._kick_island",
    "collision.narrowphase.convex_manifold", "sim.impact.impact_loop._drift", "sim.solvers.newton.newton_in",
    "sim.impact.thread_jobs._work", "sim.pipeline._find_candidates", "sim.pipeline._contact", "enter sim.pipeline.advance",
    "sim.contact.touching.contact_table._tabulate", "sim.impact.time_of_impact._next_impact", "collision.narrowphase.distance_of",
    "collision.broadphase.candidate_pairs.find_pairs", "sim.contact.touching.point_accelerations._contact_acceleration",
    "sim.impact.event_log._log_contacts", "sim.impact.event_log._log_sensors", "sim.impact.thread_jobs._share",
    "sim.impact.time_of_impact._fastest_point", "sim.impact.time_of_impact._distance_at", "sim.flight.motion.flight",
    "collision.narrowphase.manifold_of",
)  # fmt: skip
ENTRIES = (ADVANCE, ASSIST, BEGIN, REFRESH, ASSEMBLE, GLANCE, GLANCE_JOINT, RECENTRE, KEEP)
LIBRARY = Library("sim.compiled", *ENTRIES, first=FIRST, meanwhile=True)
