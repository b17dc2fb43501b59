"""The state of a world: structure of arrays, grouped by who reads and who writes.

Every group is a NamedTuple of arrays, which compiled kernels take as one pointer (collision/kernels/group.py). Row i of the body
arrays is body i of the world, in the order of adding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tumble.collision.kernels.group import group

STATIC, DYNAMIC, KINEMATIC, SLEEPING = range(4)  # sleeping: dynamic, but at rest until something touches it
POINT, HINGE, SLIDER, FIXED, DISTANCE, GENERAL, GEAR, SCREW = range(8)  # joints
NEWTON_SOLVER, SWEEPS_SOLVER = range(2)  # solvers of the kick
SOLVERS = ("newton", "sweeps")  # as NEWTON_SOLVER, SWEEPS_SOLVER
KIND_CODES = {"static": STATIC, "dynamic": DYNAMIC, "kinematic": KINEMATIC}

# What a compiled call reports back.
OK, PAIRS_FULL, CONTACTS_FULL, NOT_FINITE, BOOKS_FULL, TORN, WAKE, DROWSY, THROWN = range(9)

KNOT = 29  # numbers of a row of Bodies.knots: time, then 7 cubics (x, y, z, and the quaternion), highest power first
USERS = 11  # column of Forces.number: 1 in a row whose work is the user's
FLIGHT = 23  # numbers of a body in flight under forces, see Forces.path
RK4, SPLITTING, EXACT, DOP853 = range(4)  # integrators, in the order of tumble.sim.flight.methods.integrators.INTEGRATORS
# rows of Forces.path: states and their rates; then stages of the integrator
START, END, RATE0, RATE1, STAGE, MIDDLE, MIDRATE, SLOPE = range(8)
STATIONS = 15  # most states between the ends of a flight that are kept, see Forces.path
NUMBERS = 16  # parameters of a force
CENTRAL, MUTUAL, DRAG, SPRING, CONSTANT, TABLE, FUNCTION, MEDIUM = range(8)  # laws of force, see forces/laws.py
ROWS = 14  # numbers of a contact point, see tumble.collision.narrowphase.manifold
REACH_WIDTH, PIVOT_WIDTH = 42, 14  # numbers of a body and of a free coordinate in the recursion over links
POINTS = 8  # contact points of a pair of shapes
PIECE, IDLE, FACET_LEFT, CARRIER, PLANE = -1, -2, -3, -4, -16  # rows of Geoms.face that are no triangles; from PLANE down: planes

# Coefficients of a surface: columns of Bodies.material, of Bodies.exceptions and of Contacts.law.
# Friction while sliding and at rest; restitution along the normal and along the slip (-inf: none); arms of rolling and of
# torsional friction [m].
MU, MU_STATIC, E, BETA, ROLLING, TORSION = range(6)
COEFFICIENTS = 6

# What is known of a pair's next impact: it was looked for; it is to be looked for; it would come without an impulse, as points
# that overlap and do not approach, and waits until something else moves its bodies.
KNOWN, WANTED, FUTILE = range(3)

# Laws of the tangent in a kick (contact/contact_blocks.py): sticking or slow, up to the static friction; sliding, by the slip
# in the middle of the kick; sticking or slow, up to the kinetic friction.
STATIC_FRICTION, SLIDING_FRICTION, KINETIC_FRICTION = range(3)


@group
class Bodies(NamedTuple):
    """What a body is, and how it moves. World axes, about the centre of mass, unless said otherwise."""

    kind: np.ndarray  # (n,) int64
    serial: np.ndarray  # (n,) int64 number in the order of adding, never given again
    mass: np.ndarray  # (n,) [kg]; 0 for static and kinematic bodies
    inv_mass: np.ndarray  # (n,) [1/kg]; 0 for static and kinematic bodies
    inertia: np.ndarray  # (n, 3, 3) body axes [kg m^2]
    inv_inertia: np.ndarray  # (n, 3, 3) body axes
    moments: np.ndarray  # (n, 3) principal moments of inertia, rising [kg m^2]
    axes: np.ndarray  # (n, 4) quaternion, principal axes to body axes
    spin: np.ndarray  # (n,) 1 / smallest principal moment: |omega| <= spin |L|
    center: np.ndarray  # (n, 3) centre of mass in the body's own frame [m]
    radius: np.ndarray  # (n,) of the sphere about the centre of mass that holds all of the body's shapes [m]
    # the surface: its coefficients, and how two surfaces act on each other (contact/surfaces.py)
    material: np.ndarray  # (n, COEFFICIENTS)
    surface: np.ndarray  # (n,) int64 row of the exceptions; 0: none concerns it
    runs: np.ndarray  # (n,) int64 1: the surface moves against the body, as that of a conveyor, by
    surface_v: np.ndarray  # (n, 3) body axes [m/s] and
    surface_w: np.ndarray  # (n, 3) body axes, about the origin of the body's own frame [rad/s]
    rules: np.ndarray  # (COEFFICIENTS,) int64 how the coefficients of two surfaces combine
    exceptions: np.ndarray  # (s, s, COEFFICIENTS) coefficients of pairs of surfaces; nan: by the rule
    # state: position of the centre of mass, orientation, momenta after the kick (the next drift starts from them) ...
    x: np.ndarray  # (n, 3) [m]
    q: np.ndarray  # (n, 4) unit, body to world
    p: np.ndarray  # (n, 3) [kg m/s]; of driven bodies the velocity [m/s]
    l: np.ndarray  # (n, 3) [kg m^2/s]; of driven bodies the angular velocity [rad/s]
    low: np.ndarray  # (n, 6) what rounding cut off x and p in free flight, added to the next one
    # ... momenta before the kick; what the world reports is the mean of both
    p_before: np.ndarray  # (n, 3)
    l_before: np.ndarray  # (n, 3)
    # derived, valid for the current x, q, p, l
    rot: np.ndarray  # (n, 3, 3) body to world
    v: np.ndarray  # (n, 3) [m/s]
    w: np.ndarray  # (n, 3) [rad/s]
    # where the current free flight of each body began, inside the drift
    t0: np.ndarray  # (n,) [s] since the start of the drift
    x0: np.ndarray  # (n, 3)
    q0: np.ndarray  # (n, 4)
    p0: np.ndarray  # (n, 3)
    l0: np.ndarray  # (n, 3)
    low0: np.ndarray  # (n, 6)
    island: np.ndarray  # (n,) int64 union-find parent, then island label
    crowd: np.ndarray  # (n,) int64 1: of a crowd, where the kick takes impacts without restitution
    # (n,) time in the drift at which its island is kicked again, because joints could not wait [s]; 0: not; below: at the start,
    until: np.ndarray  # since another push acts on it than the last kick assumed
    parts: np.ndarray  # (n,) int64 into how many parts its island divided the last drift; 0: one
    kicked: np.ndarray  # (n,) when in the drift its island was last kicked [s]; before it for a kick of an earlier step
    flown: np.ndarray  # (n,) length of the flight that the kick was for [s]; 0: its phase was taken back (contact/half_kick.py)
    held: np.ndarray  # (n,) int64 number of that kick in the step, if its phase can be taken back; 0: not
    # forces of flight. For driven bodies gravity and torque are the accelerations, linear and angular, that cover the coming
    # arc from its start (forces/prescribed_motion.py), pull bounds what it departs from that, twist the angular acceleration
    gravity: np.ndarray  # (n, 3) acceleration by uniform fields [m/s^2]
    force: np.ndarray  # (n, 3) all other forces, at the current state [N]
    torque: np.ndarray  # (n, 3) their torque about the centre of mass [N m]
    dv: np.ndarray  # (n, 3) from the velocity now to that in the middle of the coming flight, where forces tell [m/s]
    dw: np.ndarray  # (n, 3) likewise of the angular velocity [rad/s]
    pull: np.ndarray  # (n,) bound on |force| / mass in the coming flight [m/s^2]
    twist: np.ndarray  # (n,) bound on |torque| in the coming flight [N m]
    # driven bodies: acceleration and its rate at the start of the coming arc; where in the table of knots their path is
    a_drive: np.ndarray  # (n, 3) [m/s^2]
    j_drive: np.ndarray  # (n, 3) [m/s^3]
    a_turn: np.ndarray  # (n, 3) of the rotation vector [rad/s^2]
    j_turn: np.ndarray  # (n, 3) [rad/s^3]
    path: np.ndarray  # (n, 2) int64 first row and the one after the last; equal: no path
    # sleep (contact/sleep_criterion.py)
    still: np.ndarray  # (n,) int64 steps for which the body has been still
    bed: np.ndarray  # (n,) int64 of sleeping bodies: serial number of the first body of the island
    field: np.ndarray  # (n, 3) of sleeping bodies: gravity, which then is zero in flight [m/s^2]
    period: np.ndarray  # (n,) [s] of a path that is a loop; 0: none
    knots: np.ndarray  # (k, KNOT) of all paths


@group
class Geoms(NamedTuple):
    """Convex pieces: which shape on which body, where."""

    body: np.ndarray  # (m,) int64
    shape: np.ndarray  # (m,) int64 row of the packed Geometry
    x: np.ndarray  # (m, 3) of the shape's origin from the centre of mass, body axes [m]
    rot: np.ndarray  # (m, 3, 3) shape to body
    mobile: np.ndarray  # (m,) bool: moved by impulses, or a sensor: pairs of two others are not looked for
    moves: np.ndarray  # (m,) int64: 0 where the body is static
    sensor: np.ndarray  # (m,) int64: 1 where it feels overlap and does not touch
    asleep: np.ndarray  # (m,) int64: 1 where the body sleeps
    groups: np.ndarray  # (m,) int64 bit set: what it is
    mask: np.ndarray  # (m,) int64 bit set: what it meets
    apart: np.ndarray  # (k,) int64 sorted keys of pairs of bodies that do not meet (joints.pairs.pair_key)
    lo: np.ndarray  # (m, 3) swept bounds over the coming drift
    hi: np.ndarray  # (m, 3)
    wide_lo: np.ndarray  # (m, 3) bounds that hold those of some drifts to come as well (wide_boxes.py)
    wide_hi: np.ndarray  # (m, 3)
    face: np.ndarray  # (m,) int64: PIECE; CARRIER of a ground; of a facet of one the triangle that it is, or IDLE, or the plane,
    #                      PLANE - 2 k, PLANE - 2 k - 1 from behind (contact/ground/facet_rows.py)
    level: np.ndarray  # (m,) int64: the facet that is all there is of its ground within reach of a piece, a plane; -1: none
    short: np.ndarray  # (m,) int64: how many facets more a ground needs, at its carrier


@group
class Pairs(NamedTuple):
    """Candidate pairs of pieces, sorted, with what is known of each."""

    count: np.ndarray  # (3,) int64 of pairs, of pairs with a sensor, and 1 more than of near pairs; 0: these are not known
    geoms: np.ndarray  # (c, 2) int64
    near: np.ndarray  # (8 c, 2) int64 sorted: pairs whose wide boxes meet (wide_boxes.py)
    met: np.ndarray  # (c, 2) int64 those of them whose boxes meet
    axis: np.ndarray  # (c, 3) last normal: where the next query starts
    search: np.ndarray  # (c,) int64 what is known of its next impact: KNOWN, WANTED or FUTILE
    event: np.ndarray  # (c,) time of the next impact within the drift, if that is known [s]; inf: none
    speed: np.ndarray  # (c,) approach speed at that time [m/s]
    clear: np.ndarray  # (c, 2) c, s: at time t of the drift the gap is at least c - s t [m], [m/s]; -inf: unknown
    bears: (
        np.ndarray
    )  # (c, POINTS) int64 features that bore load in the last kick, of those followed (contact_accelerations.py) ...
    arrives: np.ndarray  # (c, POINTS) ... and with which speed they come back [m/s]; 0: no more of them
    hits: np.ndarray  # (c,) int64 impacts in the current drift
    struck: np.ndarray  # (c,) when the last of these was [s]; -inf: there was none
    rests: np.ndarray  # (c,) int64 1: it carried load in the last kick, and its bodies fly as that let them
    unforeseen: np.ndarray  # (c,) int64 1: the last kick did not know of it, or, that of a crowd, did not keep it apart
    fresh: np.ndarray  # (c,) bool: the manifold below belongs to the bodies' state at the end of the drift
    points: np.ndarray  # (c,) int64 number of contact points
    normal: np.ndarray  # (c, 3)
    rows: np.ndarray  # (c, POINTS, ROWS)
    ids: np.ndarray  # (c, POINTS) int64
    sensors: np.ndarray  # (c, 2) int64 pairs of pieces of which one is a sensor
    # the last manifold that was looked for, if the pair is of a crowd (carried_manifolds.py), in row ``slot`` of the pair
    slot: np.ndarray  # (c,) int64
    # (c, 16) pose of the smaller body against the other one, the margin [m], 0: nothing known; what it was off by for its way
    # when it was found last, that way [m], and how often it has travelled since
    seen: np.ndarray
    seen_points: np.ndarray  # (c,) int64
    seen_normal: np.ndarray  # (c, 3) in the frame of the larger body
    seen_ids: np.ndarray  # (c, POINTS) int64
    anchors: np.ndarray  # (c, POINTS, 16) places and tangents in the frames of both bodies, curvatures


@group
class Contacts(NamedTuple):
    """Contact points of the last kick, in the order of the pairs."""

    count: np.ndarray  # (3,) int64 rows of the kick at the step; with those of kicks in mid-step behind them; kicks in this step
    pair: np.ndarray  # (c, 2) int64 geoms
    body: np.ndarray  # (c, 2) int64
    id: np.ndarray  # (c,) int64 feature id within the pair
    point: np.ndarray  # (c, 3) [m]
    frame: np.ndarray  # (c, 3, 3) rows: two tangents, normal
    gap: np.ndarray  # (c,) [m]
    law: np.ndarray  # (c, COEFFICIENTS) of the pair
    mu: np.ndarray  # (c,) friction that bounded the last kick
    impulse: np.ndarray  # (c, 3) what its force gives in half a step, in the frame [N s]
    push: np.ndarray  # (c,) normal part of what last pushed overlaps apart [kg m]
    slides: np.ndarray  # (c,) int64 law of the tangent: STATIC_FRICTION, SLIDING_FRICTION or KINETIC_FRICTION
    moment: np.ndarray  # (c, 3) in half a step by rolling and torsional friction, in the frame [N m s]
    turns: np.ndarray  # (c, 2) int64 their laws, STATIC_FRICTION or SLIDING_FRICTION
    u: np.ndarray  # (c, 3) relative velocity before the kick, in the frame [m/s]
    u_after: np.ndarray  # (c, 3)
    arrives: np.ndarray  # (c,) normal velocity with which what bears load comes to the next kick [m/s]; nan: it bore none
    phase: np.ndarray  # (c,) the part of it that the kick gave, and the next one takes again [m/s]
    creeps: np.ndarray  # (c, 3) slip with which what sticks comes to it, in the world [m/s]; nan: it slid, or bore none
    owed: np.ndarray  # (c, 3) what the kick gave for the coming half flight, in the frame [N s]
    kick: np.ndarray  # (c,) int64 the kick in which it bore load, see Bodies.held
    loss: np.ndarray  # (c,) energy that friction, and restitution or a slow landing, took [J]
    residual: np.ndarray  # (c,) what the solve of its island missed the law by [m/s]
    accel: np.ndarray  # (c, 3) relative acceleration in free flight at the geometric contact, in the frame [m/s^2]
    island: np.ndarray  # (c,) int64
    order: np.ndarray  # (c,) int64 rows sorted by island


@group
class Joints(NamedTuple):
    """Joints of two bodies each, in the order of adding. See tumble.sim.joints.rows for coordinates, blocks and rows."""

    kind: np.ndarray  # (j,) int64 POINT, HINGE ...
    body: np.ndarray  # (j, 2) int64; -1: the world
    anchor: np.ndarray  # (j, 2, 3) from the centre of mass in body axes; in the world for the world [m]
    frame: np.ndarray  # (j, 2, 3, 3) joint to body; the third axis is that of the joint
    rigid: np.ndarray  # (j, 6) int64: 1 where the coordinate is held at zero
    axis: np.ndarray  # (j,) int64 the free coordinate, -1 for none
    length: np.ndarray  # (j,) [m] of a rod; the sign of a general joint's coordinates
    ratio: np.ndarray  # (j, 4) pitch radii [m] and teeth of a gear; [m/rad] of a screw
    rest: np.ndarray  # (j,) coordinate at which the spring is slack
    stiffness: np.ndarray  # (j,)
    damping: np.ndarray  # (j,)
    armature: np.ndarray  # (j,) inertia of a rotor that turns with the coordinate [kg or kg m^2]
    friction: np.ndarray  # (j,) largest force or torque
    speed: np.ndarray  # (j,) of the motor
    strength: np.ndarray  # (j,) largest force or torque of the motor
    limit: np.ndarray  # (j, 2) of the coordinate
    collide: np.ndarray  # (j,) int64: the two bodies also touch
    # state
    value: np.ndarray  # (j,) free coordinate at the last kick; an angle counts its turns
    potential: np.ndarray  # (j,) of the spring at the last kick [J]
    impulse: np.ndarray  # (j, 12) what its forces give in half a step, by rows
    load: np.ndarray  # (j, 6) forces of its rigid and kept coordinates at the end of the last flight [N or N m]
    kept: np.ndarray  # (j,) int64 what holds the free coordinate at its pace in flight, see joints/kept_rows.py; 0: nothing
    pace: np.ndarray  # (j,) rate of the free coordinate after the last kick [m/s or rad/s]
    sprung: np.ndarray  # (j,) int64 1: its spring and damper act in this flight, see joints/flown_springs.py; 0: at the steps
    sprung_before: np.ndarray  # (j,) int64 the same in the flight before
    hold: np.ndarray  # (j, 6) velocity of each coordinate after the kick that would end the drift where it began; nan: not looked
    hold_before: np.ndarray  # (j, 6) the same at the kick before
    before: np.ndarray  # (j, 12) velocity of each row before the kick
    after: np.ndarray  # (j, 12)
    island: np.ndarray  # (j,) int64
    order: np.ndarray  # (j,) int64 joints sorted by island
    linked: np.ndarray  # (bodies,) int64 label of the bodies that joints connect, -1: none
    apart: np.ndarray  # (a,) int64 sorted keys of the pairs of bodies that do not touch (joints.pairs.pair_key)


@group
class Books(NamedTuple):
    """Where energy and momentum went, cumulative, up to the middle of the last kick; see ledger/entries.py."""

    # what rounding left of the last addition stands behind each sum, and the next addition takes it along (ledger/work.py):
    # [J] of each entry, and of each what its sum holds too much
    energy: np.ndarray  # (2 ledger.ENTRIES,)
    pending: np.ndarray  # (ledger.ENTRIES,) [J] of the second half of the last kick
    moved: np.ndarray  # (1,) [J] sum of absolute works
    # momentum and angular momentum about the origin given to static and kinematic bodies, and what both hold too much
    reservoir: np.ndarray  # (4, 3)
    reservoir_pending: np.ndarray  # (2, 3)
    counters: np.ndarray  # (COUNTERS,) int64
    worst: np.ndarray  # (WORST,) float64
    # events (impact/event_log.py)
    watch: np.ndarray  # (1,) int64: 1 where contacts that persist are events too
    log: np.ndarray  # (l, LOG) events since they were read last
    touching: np.ndarray  # (t,) int64 keys of the pairs of bodies that touched in the last kick, sorted
    sensed: np.ndarray  # (t,) int64 likewise of those that overlap with a sensor
    # accounts of pairs of bodies, on request: an open hash table
    account: np.ndarray  # (a,) int64 key + 1; 0: free
    works: np.ndarray  # (a, 8) contact, restitution, friction, external [J]; the same pending


# slots of Books.counters
STEPS, IMPACTS, SOLVES, ITERATIONS, UNSOLVED, UNCERTAIN_PAIRS, CAPPED, REKICKS, PLACED = range(9)
# how full the lists of Books are; LOST_EVENTS: events that had no room
EVENTS, LOST_EVENTS, TOUCHING_PAIRS, SENSED, ACCOUNTS = range(9, 14)
COUNTERS = 14
# kinds of events
TOUCH_BEGINS, TOUCH_PERSISTS, TOUCH_ENDS, IMPACT, SENSOR_ENTERED, SENSOR_LEFT = range(6)
LOG = 15  # columns of Books.log, see impact/event_log.py
# slots of Books.worst
RESIDUAL, DEPTH, GAIN = range(3)
WORST = 3


@group
class Forces(NamedTuple):
    """Forces other than uniform gravity: a row for each body, or pair of bodies, that one acts on.

    A cluster is a set of dynamic bodies that forces couple: they fly together, and what interrupts the flight of one
    interrupts that of all. Rows and members are sorted by cluster. Bodies that no force acts on are in none.
    """

    method: np.ndarray  # (1,) int64 integrator, a row of tumble.sim.flight.methods.integrators.INTEGRATORS
    clock: np.ndarray  # (2,) when the drift starts, and how long it is [s]
    kind: np.ndarray  # (m,) int64, see forces/laws.py
    body: np.ndarray  # (m, 2) int64; -1: none
    number: np.ndarray  # (m, NUMBERS) parameters
    address: np.ndarray  # (m,) int64 of a C function; or the row of ``knots`` where a table begins
    knots: np.ndarray  # (k, 7) time, force, torque
    cluster: np.ndarray  # (n,) int64 of each body; -1: none
    member: np.ndarray  # (n,) int64 bodies
    first_member: np.ndarray  # (c + 1,) int64
    first_row: np.ndarray  # (c + 1,) int64
    potential: np.ndarray  # (c,) energy [J] of the forces on a cluster that have a potential, at the current poses
    # flights: x, q, p, L about the origin of the cluster (forces/path_rows.py); works of forces with a potential, without one,
    # and of the user's functions; what all but joints gave to p and L; work of dampers of joints
    path: np.ndarray  # (SLOPE + stages, n, FLIGHT); where there are joints 2 STATIONS more, from the last row on backwards
    origin: np.ndarray  # (c, 3) [m]
    ends: np.ndarray  # (c,) time of the drift at which the flight ends [s]
    steps: np.ndarray  # (c,) int64 of the integrator in the flight
    # joints whose rigid coordinates forces hold in flight (joints/constraint_forces.py), sorted by cluster
    first_link: np.ndarray  # (c + 1,) int64
    link: np.ndarray  # (k,) int64 joint
    driver: np.ndarray  # (k, 6) int64 joint whose free coordinate this is: itself, or a drive that shares its frame; -1: none
    seats: np.ndarray  # (k, 2) int64 rows in ``member`` of both bodies; -1: moved by no force
    link_of: np.ndarray  # (j,) int64 row in ``link`` of each joint, or of that whose frame it shares; -1: none
    held: np.ndarray  # (k, 6) int64 1: a free coordinate that forces hold at its pace in this flight
    goal: np.ndarray  # (k, 6) where that one ends the flight [m or rad]; of a rotor, its rate at the start
    slack: np.ndarray  # (k, 6) acceleration that a row gives way by for a unit of its force: the inverse of a rotor
    coupled: np.ndarray  # (c,) int64 1: bodies act on each other, or joints do
    anchored: np.ndarray  # (c,) int64 1: a joint holds the cluster to what no force moves
    load: np.ndarray  # (k, 6) forces of the rows when they were asked for last [N or N m]
    lacks: np.ndarray  # (k, 8) acceleration, velocity or way that is left to give
    step: np.ndarray  # (k, 6)
    # (k, 44) common point, directions of the rows; from 24 on whether forces act along them, from 32 on about which axes their
    # turns are
    place: np.ndarray
    # rates of the rows by the velocities of both bodies, a row for each velocity and a column for each rate; and what unit
    # forces along these columns do to the velocities
    g: np.ndarray  # (12 k, 8)
    w: np.ndarray  # (12 k, 8)
    first_meet: np.ndarray  # (c + 1,) int64
    meet: np.ndarray  # (p, 4) int64 two joints, or one twice, and the side of each on which they hold the same body
    slot: np.ndarray  # (p, 6, 6) int64 where in ``table`` the products of their rows belong, counted in numbers; -1: nowhere
    # where bodies hang from each other by one joint each (solvers/link_recursion.py)
    tree: np.ndarray  # (c,) int64 1: so it is
    chain: np.ndarray  # (k, 2) int64 its links in the order outwards, and the side of each on which something hangs
    reach: np.ndarray  # (m, REACH_WIDTH) what hangs from a joint, and its body: articulated inertia and force
    pivots: np.ndarray  # (6 k, PIVOT_WIDTH) of each free coordinate, see solvers/link_recursion.py
    # of each member of a cluster
    seat: np.ndarray  # (n,) int64 place of each body in ``member``; -1: none
    stand: np.ndarray  # (m, 12) position and rotation
    motion: np.ndarray  # (m, 6) velocity and angular velocity
    gain: np.ndarray  # (m, 6) acceleration, change of velocity, or displacement
    reply: np.ndarray  # (m, 6) the part of it that the last round of a solve gave
    mobility: np.ndarray  # (m, 9) inverse inertia, world axes
    # the linear system of each cluster, a row for each rigid coordinate (solvers/skyline.py)
    first_panel: np.ndarray  # (c + 1,) int64
    equation: np.ndarray  # (k, 6) int64 of each coordinate, counted in its cluster; -1: free
    first_column: np.ndarray  # (l,) int64 panel of columns, of each panel
    first_value: np.ndarray  # (l + 1,) int64
    table: np.ndarray  # (v, 4)
    sums: np.ndarray  # (1, 8)
    right: np.ndarray  # (l, 4) right-hand side
    call: np.ndarray  # (2, 16) what user functions are given, and give


class Settings(NamedTuple):
    """Numbers of a step."""

    dt: float  # [s]
    gravity: tuple[float, float, float]  # [m/s^2]
    tolerance: float  # solver stops when no contact's velocity is off by more [m/s]
    look_ahead: bool  # contacts of bodies that turn get the accelerations that the flight shows (contact_accelerations.py)
    iterations: int  # most Newton iterations of a solve
    solver: int  # NEWTON_SOLVER or SWEEPS_SOLVER
    sweeps: int  # most sweeps of a solve by sweeps
    correction: float  # part of a depth that one step removes
    slop: float  # depth that is rounding, not worth a correction [m]
    crowd: int  # bodies kicked again in a step, island by island, from which an island is a crowd
    skin: float  # gap, as part of the smaller body, up to which points of a crowd that bear load may count as touching
    restitution: int  # collision_law.STRONGE, POISSON or NEWTON_SOLVER
    sleep_steps: int  # steps of stillness after which an island falls asleep; 0: never
    sleep_speed: float  # what still is [m/s]
    sleep_spin: float  # [rad/s]
    crew: int  # address of the words by which threads share the work of a step (impact/thread_jobs.py); 0: there is one


class Model(NamedTuple):
    """All of a world that kernels see, but for the shapes."""

    bodies: Bodies
    geoms: Geoms
    pairs: Pairs
    contacts: Contacts
    books: Books
    forces: Forces
    joints: Joints


def arrays(cls: type, n: int, shapes: dict[str, tuple], integers: tuple[str, ...] = ()) -> NamedTuple:
    """A group with ``n`` zero rows: ``shapes`` gives what follows the first axis, scalars by default."""
    return cls(**{f: np.zeros((n, *shapes.get(f, ())), dtype=np.int64 if f in integers else np.float64) for f in cls._fields})


V, M, Q = (3,), (3, 3), (4,)
BODY_SHAPES = dict(
    inertia=M, inv_inertia=M, center=V, x=V, q=Q, p=V, l=V, p_before=V, l_before=V,
    rot=M, v=V, w=V, x0=V, q0=Q, p0=V, l0=V, gravity=V, force=V, torque=V, moments=V, axes=Q, dv=V, dw=V,
    low=(6,), low0=(6,), material=(COEFFICIENTS,), surface_v=V, surface_w=V, a_drive=V, j_drive=V, a_turn=V, j_turn=V, path=(2,),
    field=V,
)  # fmt: skip
CONTACT_SHAPES = dict(
    pair=(2,), body=(2,), point=V, frame=M, law=(COEFFICIENTS,), impulse=V, moment=V, turns=(2,), u=V, u_after=V, accel=V,
    creeps=V, owed=V,
)  # fmt: skip


SHARED = ("rules", "exceptions", "knots")  # fields of Bodies that are no rows of bodies

JOINT_SHAPES = dict(
    body=(2,),
    anchor=(2, 3),
    frame=(2, 3, 3),
    rigid=(6,),
    ratio=(4,),
    limit=(2,),
    impulse=(12,),
    load=(6,),
    hold=(6,),
    hold_before=(6,),
    before=(12,),
    after=(12,),
)


def bodies_of(n: int) -> Bodies:
    integers = ("kind", "serial", "surface", "runs", "island", "crowd", "parts", "held", "path", "still", "bed")
    group = arrays(Bodies, n, BODY_SHAPES, integers)
    exceptions = np.full((1, 1, COEFFICIENTS), np.nan)
    rules = np.zeros(COEFFICIENTS, dtype=np.int64)
    return group._replace(rules=rules, exceptions=exceptions, knots=np.zeros((0, KNOT)))


def geoms_of(n: int) -> Geoms:
    whole = ("body", "shape", "moves", "sensor", "asleep", "groups", "mask", "face", "level", "short")
    group = arrays(Geoms, n, dict(x=V, rot=M, lo=V, hi=V, wide_lo=V, wide_hi=V), whole)
    group.face[:], group.level[:] = PIECE, -1
    return group._replace(mobile=np.zeros(n, dtype=np.bool_), apart=np.zeros(0, dtype=np.int64))


def pairs_of(n: int) -> Pairs:
    group = arrays(
        Pairs,
        n,
        dict(
            geoms=(2,),
            met=(2,),
            axis=V,
            clear=(2,),
            bears=(POINTS,),
            arrives=(POINTS,),
            normal=V,
            rows=(POINTS, ROWS),
            ids=(POINTS,),
            sensors=(2,),
            seen=(16,),
            seen_normal=V,
            seen_ids=(POINTS,),
            anchors=(POINTS, 16),
        ),
        (
            "geoms",
            "met",
            "search",
            "bears",
            "hits",
            "rests",
            "unforeseen",
            "points",
            "ids",
            "sensors",
            "slot",
            "seen_points",
            "seen_ids",
        ),
    )
    near = np.zeros((8 * n, 2), dtype=np.int64)  # little beside what is kept of each pair
    return group._replace(count=np.zeros(3, dtype=np.int64), fresh=np.zeros(n, dtype=np.bool_), near=near)


def contacts_of(n: int) -> Contacts:
    group = arrays(Contacts, n, CONTACT_SHAPES, ("pair", "body", "id", "slides", "turns", "kick", "island", "order"))
    return group._replace(count=np.zeros(3, dtype=np.int64))


def joints_of(n: int, bodies: int = 0) -> Joints:
    whole = ("kind", "body", "rigid", "axis", "kept", "sprung", "sprung_before", "collide", "island", "order")
    group = arrays(Joints, n, JOINT_SHAPES, whole)
    return group._replace(linked=np.full(bodies, -1, dtype=np.int64), apart=np.zeros(0, dtype=np.int64))


def books_of(entries: int, room: int = 0, log: int = 0, accounts: int = 0) -> Books:
    """Books with room for so many candidate pairs, events and accounts."""
    return Books(
        energy=np.zeros(2 * entries),
        pending=np.zeros(entries),
        moved=np.zeros(1),
        reservoir=np.zeros((4, 3)),
        reservoir_pending=np.zeros((2, 3)),
        counters=np.zeros(COUNTERS, dtype=np.int64),
        worst=np.zeros(WORST),
        watch=np.zeros(1, dtype=np.int64),
        log=np.zeros((log, LOG)),
        touching=np.zeros(room, dtype=np.int64),
        sensed=np.zeros(room, dtype=np.int64),
        account=np.zeros(accounts, dtype=np.int64),
        works=np.zeros((accounts, 8)),
    )


def forces_of(
    bodies: int, rows: int = 0, clusters: int = 0, members: int = 0, knots: int = 0, stages: int = 4, links: int = 0
) -> Forces:
    whole = lambda *shape: np.zeros(shape, dtype=np.int64)  # noqa: E731
    return Forces(
        method=whole(1),
        clock=np.zeros(2),
        kind=whole(rows),
        body=whole(rows, 2),
        number=np.zeros((rows, NUMBERS)),
        address=whole(rows),
        knots=np.zeros((knots, 7)),
        cluster=np.full(bodies, -1, dtype=np.int64),
        member=whole(members),
        first_member=whole(clusters + 1),
        first_row=whole(clusters + 1),
        potential=np.zeros(clusters),
        path=np.zeros((SLOPE + stages + (2 * STATIONS if links else 0), bodies, FLIGHT)),
        origin=np.zeros((clusters, 3)),
        ends=np.zeros(clusters),
        steps=np.ones(clusters, dtype=np.int64),
        first_link=whole(clusters + 1),
        link=whole(links),
        driver=np.full((links, 6), -1, dtype=np.int64),
        seats=whole(links, 2),
        link_of=whole(0),
        held=whole(links, 6),
        goal=np.zeros((links, 6)),
        slack=np.zeros((links, 6)),
        coupled=whole(clusters),
        anchored=whole(clusters),
        load=np.zeros((links, 6)),
        lacks=np.zeros((links, 8)),
        step=np.zeros((links, 6)),
        place=np.zeros((links, 44)),
        g=np.zeros((12 * links, 8)),
        w=np.zeros((12 * links, 8)),
        first_meet=whole(clusters + 1),
        meet=whole(0, 4),
        slot=whole(0, 6, 6),
        tree=whole(clusters),
        chain=whole(links, 2),
        reach=np.zeros((members, REACH_WIDTH)),
        pivots=np.zeros((6 * links, PIVOT_WIDTH)),
        seat=np.full(bodies, -1, dtype=np.int64),
        stand=np.zeros((members, 12)),
        motion=np.zeros((members, 6)),
        gain=np.zeros((members, 6)),
        reply=np.zeros((members, 6)),
        mobility=np.zeros((members, 9)),
        first_panel=whole(clusters + 1),
        equation=whole(links, 6),
        first_column=whole(0),
        first_value=whole(1),
        table=np.zeros((0, 4)),
        sums=np.zeros((1, 8)),
        right=np.zeros((0, 4)),
        call=np.zeros((2, 16)),
    )


def copied(group: NamedTuple, into: NamedTuple) -> None:
    """Copy the rows of one group to the head of a larger one."""
    for old, new in zip(group, into, strict=True):
        new[: len(old)] = old


# Examples of the types that kernels take.
EXAMPLE = Model(bodies_of(0), geoms_of(0), pairs_of(0), contacts_of(0), books_of(8), forces_of(0), joints_of(0))
SETTINGS = Settings(1.0, (0.0, 0.0, 0.0), 1.0, False, 1, NEWTON_SOLVER, 1, 1.0, 1.0, 1, 1.0, 0, 0, 1.0, 1.0, 0)
