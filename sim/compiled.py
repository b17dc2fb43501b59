"""The kernels that a world calls, as one library: compiled together, kept in one file, called without the compiler."""

from __future__ import annotations

from tumble.collision.geometry import empty_geometry
from tumble.collision.kernels.native import Entry, Library
from tumble.sim.assemble import assemble
from tumble.sim.contact.half_kick import recentre
from tumble.sim.flight.clusters import refresh
from tumble.sim.impact.thread_jobs import assist
from tumble.sim.joints.burden import bears
from tumble.sim.pipeline import advance, begin
from tumble.sim.readout import energies_of_joints, glance, glance_joint
from tumble.sim.recording.compiled_samples import NO_STRIP, take_sample
from tumble.sim.state import EXAMPLE, SETTINGS, Model, memory_of

GEOMETRY = empty_geometry()
SAVED = EXAMPLE.bodies, EXAMPLE.books, EXAMPLE.joints, memory_of(0, 0)
ADVANCE = Entry(advance, lambda: (EXAMPLE, GEOMETRY, SETTINGS, EXAMPLE.contacts, SAVED, NO_STRIP, 1))
ASSIST = Entry(assist, lambda: (EXAMPLE, GEOMETRY, SETTINGS, 1))
BEGIN = Entry(begin, lambda: (EXAMPLE, GEOMETRY, SETTINGS))
REFRESH = Entry(refresh, lambda: (EXAMPLE.bodies, EXAMPLE.forces))
ASSEMBLE = Entry(assemble, lambda: (EXAMPLE.bodies, EXAMPLE.contacts, EXAMPLE.joints, EXAMPLE.books, SETTINGS, False))
GLANCE = Entry(glance, lambda: (EXAMPLE.bodies, 0))
GLANCE_JOINT = Entry(glance_joint, lambda: (EXAMPLE.bodies, EXAMPLE.joints, 0))
JOINT_ENERGIES = Entry(energies_of_joints, lambda: (EXAMPLE.bodies, EXAMPLE.joints))
BEARS = Entry(bears, lambda: (EXAMPLE, 0))
RECENTRE = Entry(recentre, lambda: (EXAMPLE.bodies,))
TAKE_SAMPLE = Entry(take_sample, lambda: (EXAMPLE.bodies, EXAMPLE.books, EXAMPLE.contacts, EXAMPLE.joints, NO_STRIP))
# Where nothing is kept: what the first step of a box on a floor reaches is compiled before all else, then what boxes reach that
# collide, in its order.
FIRST = (
    "enter tumble.sim.flight.clusters.refresh", "enter tumble.sim.pipeline.begin",
    "tumble.sim.contact.contact_solve._kick_island", "tumble.collision.narrowphase.convex_manifold",
    "tumble.sim.contact.prepare._prepare", "tumble.sim.contact.prepare._prepare_again", "tumble.sim.flight.motion._fly_to",
    "tumble.collision.contact.features._facing", "tumble.collision.contact.features._bend_at",
    "tumble.sim.impact.impact_loop._drift", "tumble.sim.solvers.newton.newton_in", "tumble.sim.impact.thread_jobs._work",
    "tumble.sim.pipeline._find_candidates", "tumble.sim.pipeline._contact", "enter tumble.sim.pipeline.advance",
    "tumble.sim.contact.touching.contact_table._tabulate", "tumble.sim.impact.time_of_impact._next_impact",
    "tumble.collision.narrowphase.distance_of", "tumble.collision.broadphase.candidate_pairs.find_box_pairs",
    "tumble.sim.contact.touching.point_accelerations._contact_acceleration", "tumble.sim.impact.event_log._log_contacts",
    "tumble.sim.impact.event_log._log_sensors", "tumble.sim.impact.thread_jobs._share",
    "tumble.sim.impact.time_of_impact._fastest_point", "tumble.sim.impact.time_of_impact._distance_at",
    "tumble.sim.flight.motion.flight", "tumble.collision.narrowphase.manifold_of",
    "enter tumble.sim.recording.compiled_samples.take_sample", "tumble.collision.distance.polytopes.polytope_query",
    "tumble.collision.contact.polytope_manifold.polytope_manifold", "tumble.sim.impact.impact_loop._settle_phase",
    "tumble.sim.impact.impact_loop._collide_now", "tumble.sim.impact.collision_law.impact_law",
    "tumble.sim.impact.impact_loop._fly_on", "tumble.sim.solvers.newton.room_of", "tumble.sim.solvers.newton.newton_single",
    "tumble.sim.flight.end_pose.fly_members", "tumble.sim.contact.contact_accelerations._revise",
    "tumble.sim.impact.half_kick_removal._take_back", "tumble.sim.impact.substep_resolve._kick_again",
    "tumble.sim.impact.half_kick_removal._come_down", "tumble.sim.impact.half_kick_removal._part_again",
    "tumble.sim.impact.impact_loop._kick_due", "tumble.sim.contact.overlap_correction.correct_depth",
    "tumble.sim.impact.multi_contact._joint_impact", "tumble.collision.distance.overlap.slow_query",
    "tumble.sim.solvers.interior.interior",
)  # fmt: skip
CALLS = (ADVANCE, ASSIST, BEGIN, REFRESH, ASSEMBLE, GLANCE, GLANCE_JOINT, JOINT_ENERGIES, BEARS, RECENTRE, TAKE_SAMPLE)
LIBRARY = Library("tumble.sim.compiled", *CALLS, first=FIRST, meanwhile=True)


def joint_energies(model: Model) -> tuple[float, float]:
    """Energy in the springs of a model's joints, and in their rotors [J]."""
    joints = model.joints
    if not (joints.stiffness.any() or joints.armature.any()):
        return 0.0, 0.0
    return JOINT_ENERGIES.bind(model.bodies, joints)()
