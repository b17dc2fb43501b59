"""The collision law of one contact point: Routh, Keller, Stronge, Mirtich.

All in the contact frame: z is the normal from A to B, u the velocity of B relative to A, p the impulse on B, and
du = K dp with K symmetric positive definite and constant during the impact. While the point slides,
dp = zeta dp_z with zeta = (-mu cos, -mu sin, 1) of the slip angle, the full circular Coulomb cone. In polar form

    g = ds/dp_z = (K zeta)_t . slip direction,   h = s dtheta/dp_z,   f = du_z/dp_z = (K zeta)_z,   s = slip speed

and with dp_z = s dxi everything is smooth down to s = 0:  d(slip direction)/dxi = h (turned by 90 degrees),
ds/dxi = s g,  dp/dxi = s zeta,  dW/dxi = s u_z.  Sticking is stable where the impulse that holds the point lies in the
cone of the static friction; else the slip starts again at once along the one direction with h = 0 and g > 0, with the
kinetic friction. Both are straight lines in p.

Tangential restitution beta in [-1, 1] (rough elastic balls: J. Brach, J. Appl. Mech. 56 (1989) 133; O. R. Walton,
in Particulate Two-Phase Flow, 1993): where the slip would have come to rest, the point leaves with the slip -beta u_t
instead, u_t that before the impact and u_z as without it. The impulse that does this, K^-1 (-beta u_t, 0) on top of the
one that sticks, is shortened until the total lies in the cone and gives back no more than friction has taken, less what
the normal work has gained (it can by Poisson's law). Below 0, which is smoother than sticking, a point that slides to the
end leaves so too if that impulse lies in the cone.

Source: B. Mirtich, Impulse-based Dynamic Simulation of Rigid Body Systems, thesis, Berkeley 1996, chapter 3;
W. J. Stronge, Rigid body collisions with friction, Proc. R. Soc. A 431 (1990) 169.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import far, hypot, inner, kernel
from tumble.collision.linalg import add, dot, inverse, mul, norm, scale

STRONGE, POISSON, NEWTON = range(3)  # what ends the restitution: work, impulse, velocity

# How an impact ended.
SEPARATING, SLIDING, STICKING, REVERSED, LIMITED, INVALID = range(6)

# In units of |u(0)| and of the largest entry of K.
STEP_ERROR = 1e-12  # most error of a step of the integration
STUCK = 1e-12  # slip that is slower, where the approach has speed one, has ended
RAY = 1e-11  # [rad] a slip direction that is so near to a ray that attracts it has settled
MOST_STEPS = 4000
NO_SLOPE = 1e-15  # h is rounding where it is smaller: the direction does not change
BORDER = 1e-9  # sticking is stable up to so much outside the cone

_ANGLES = 48
_COS = np.cos(np.arange(_ANGLES + 1) * (2 * np.pi / _ANGLES) + 0.1234567)  # off the axes, where roots of plane cases lie
_SIN = np.sin(np.arange(_ANGLES + 1) * (2 * np.pi / _ANGLES) + 0.1234567)


@kernel
def impact_law(k, u, mu, mu_static, e, beta, law):
    """The impulse of one impact.

    k: K as 9 numbers [1/kg]; u: relative velocity before [m/s]; mu >= 0 while it slides, mu_static >= mu while it sticks;
    e in [0, 1]; beta in [-1, 1], or -inf for none; law: STRONGE, POISSON or NEWTON.
    Returns (p [N s], u after, work of the normal impulse [J], work of friction [J], status). The two works add up to
    p . (u + u_after) / 2, the change of kinetic energy; with Stronge's law it is never positive.

    status: SEPARATING (no approach, p = 0), SLIDING or STICKING or REVERSED (how it ended), LIMITED (the integration hit its
    bound and p = (1 + e) times the plastic impulse stands in, which never gains energy), INVALID (K or u of no use, p = 0).
    """
    zero = (0.0, 0.0, 0.0)
    speed = norm(u)
    size = max(k[0], k[4], k[8])
    if not (speed < math.inf and 0.0 < size < math.inf and k[8] > 0.0):
        return zero, u, 0.0, 0.0, INVALID
    if u[2] > 0.0 or speed == 0.0:
        return zero, u, 0.0, 0.0, SEPARATING
    # In units of the speed before and of the largest entry of K.
    k1 = (k[0] / size, k[1] / size, k[2] / size, k[3] / size, k[4] / size, k[5] / size, k[6] / size, k[7] / size, k[8] / size)
    u1 = scale(1.0 / speed, u)
    p1, status = _unit_impact(k1, u1, mu, mu_static, e, law)
    if status == SEPARATING:
        return zero, u, 0.0, 0.0, SEPARATING
    p1, work_normal = p1[:3], p1[3]
    if beta >= -1.0 and (status == STICKING or (status == SLIDING and beta < 0.0)):
        p1, work_normal = _with_slip_returned(k1, u1, p1, work_normal, mu_static, beta, status)
    work = dot(p1, u1) + 0.5 * dot(p1, mul(k1, p1))
    if status == LIMITED or not work < math.inf:
        status = LIMITED
        p1 = scale(1.0 + e, _coulomb(k1, u1, mu))
        work = dot(p1, u1) + 0.5 * dot(p1, mul(k1, p1))
        work_normal = p1[2] * 0.5 * (1.0 - e) * u1[2]
    elif work > 0.0 and law == STRONGE:
        # Rounding: the impulse is made shorter until nothing is gained.
        p1 = scale(-2.0 * dot(p1, u1) / dot(p1, mul(k1, p1)), p1)
        work = 0.0
        work_normal = min(work_normal, 0.0)
    p = scale(speed / size, p1)
    energy = speed * speed / size
    return p, add(u, mul(k, p)), energy * work_normal, energy * (work - work_normal), status


@inner
def _with_slip_returned(k, u, p, work_normal, mu, beta, status):
    """Tangential restitution on top of the impulse p: (p, work of p_z)."""
    after = add(u, mul(k, p))
    q = mul(inverse(k), (-beta * u[0] - after[0], -beta * u[1] - after[1], 0.0))
    # |p_t + f q_t|^2 - mu^2 (p_z + f q_z)^2 = c0 + c1 f + c2 f^2 must not be positive: up to its first root
    c0 = p[0] * p[0] + p[1] * p[1] - mu * mu * p[2] * p[2]
    c1 = 2.0 * (p[0] * q[0] + p[1] * q[1] - mu * mu * p[2] * q[2])
    c2 = q[0] * q[0] + q[1] * q[1] - mu * mu * q[2] * q[2]
    square = c1 * c1 - 4.0 * c2 * c0
    f = 1.0
    normal = q[2] * after[2]  # work of q along the normal: u_z stays as it is
    if status == SLIDING:
        total = (p[0] + q[0], p[1] + q[1], p[2] + q[2])
        slip = dot(total, u) + 0.5 * dot(total, mul(k, total)) - work_normal - normal
        if not (c0 + c1 + c2 <= 0.0 and total[2] >= 0.0 and slip + max(normal, 0.0) + max(work_normal, 0.0) <= 0.0):
            f = 0.0
    else:
        if square >= 0.0 and c1 + math.sqrt(square) > 0.0:
            f = min(1.0, max(0.0, -2.0 * c0 / (c1 + math.sqrt(square))))
        # the slip is at rest, so q does the work f^2 q.K q / 2 along it and f q_z u_z along the normal
        taken = max(0.0, min(work_normal, 0.0) - dot(p, u) - 0.5 * dot(p, mul(k, p)))
        given, gain = dot(q, mul(k, q)), max(normal, 0.0)
        if 0.5 * f * f * given + f * gain > taken:
            f = 2.0 * taken / (gain + math.sqrt(gain * gain + 2.0 * given * taken))
    return (p[0] + f * q[0], p[1] + f * q[1], p[2] + f * q[2]), work_normal + f * q[2] * after[2]


@inner
def _unit_impact(k, u, mu, mu_static, e, law):
    """((p, work of p_z), status) of an impact with |u| = 1 and largest entry of K = 1."""
    s = hypot(u[0], u[1])
    # books: p, u_z, work taken in W- >= 0, work given back W+ >= 0, p_z at the end of compression
    books = (0.0, 0.0, 0.0, u[2], 0.0, 0.0, 0.0)
    ended = False
    status = SLIDING
    if mu > 0.0 and s > STUCK:
        c, d = u[0] / s, u[1] / s
        if u[2] == 0.0 and _flow(k, mu, c, d)[2] >= 0.0:
            return (0.0, 0.0, 0.0, 0.0), SEPARATING
        books, c, d, s, ended, ok = _slide(k, u[2], mu, e, law, c, d, s)
        if not ok:
            return (0.0, 0.0, 0.0, 0.0), LIMITED
        if not ended and s > STUCK:  # the direction has settled: a straight line until the slip ends
            c, d = _onto_ray(k, mu, c, d)
            g = _flow(k, mu, c, d)[0]
            limit = -s / g if g < 0.0 else math.inf
            books, ended = _line(k, (-mu * c, -mu * d, 1.0), limit, u[2], e, law, books)
    elif u[2] == 0.0:
        return (0.0, 0.0, 0.0, 0.0), SEPARATING
    if not ended:
        if mu_static == 0.0 or (mu == 0.0 and s > STUCK):
            direction = (0.0, 0.0, 1.0)
        else:
            direction, status = _after_slip(k, mu, mu_static)
        books, ended = _line(k, direction, math.inf, u[2], e, law, books)
        if not ended:
            return (0.0, 0.0, 0.0, 0.0), LIMITED
        if status == STICKING:  # the velocity after is (0, 0, u_z): refine p, so that nothing is left of the slip
            p = books[:3]
            ki = inverse(k)
            for _ in range(2):
                v = add(u, mul(k, p))
                p = add(p, mul(ki, (-v[0], -v[1], books[3] - v[2])))
            return (p[0], p[1], p[2], books[5] - books[4]), status
    return (books[0], books[1], books[2], books[5] - books[4]), status


@inner
def _flow(k, mu, c, d):
    """(g, h, f, dh/dtheta) at the slip direction (c, d)."""
    ax = k[2] - mu * (k[0] * c + k[1] * d)
    ay = k[5] - mu * (k[1] * c + k[4] * d)
    slope = -k[5] * d - k[2] * c + mu * ((k[0] - k[4]) * (c * c - d * d) + 4.0 * k[1] * c * d)
    return ax * c + ay * d, ay * c - ax * d, k[8] - mu * (k[2] * c + k[5] * d), slope


@inner
def _onto_ray(k, mu, c, d):
    """The direction with h = 0 next to (c, d): Newton. Along it the slip can be long, and the rest of h would add up."""
    for _ in range(3):
        _, h, _, slope = _flow(k, mu, c, d)
        if not abs(h) < RAY * abs(slope):
            break  # no ray near: all directions are straight, as for spheres
        turn = -h / slope
        c, d = c - turn * d, d + turn * c
        length = hypot(c, d)
        c, d = c / length, d / length
    return c, d


@inner
def _after_slip(k, mu, mu_static):
    """The direction dp/dp_z when the slip has come to its end, and STICKING or REVERSED."""
    ki = inverse(k)
    if hypot(ki[2], ki[5]) <= mu_static * ki[8] * (1.0 + BORDER):
        return (ki[2] / ki[8], ki[5] / ki[8], 1.0), STICKING
    found, c, d = _slip_angle(k, (0.0, 0.0, -1.0), mu)
    if found:
        return (-mu * c, -mu * d, 1.0), REVERSED
    r = hypot(ki[2], ki[5])  # not met in tests: the border of the cone nearest to sticking
    return (mu * ki[2] / r, mu * ki[5] / r, 1.0), REVERSED


@inner
def _line(k, d, limit, uz0, e, law, books):
    """Go on along p = d p_z until the impact ends or p_z has grown by ``limit``; (books, ended)."""
    px, py, pz, uz, lost, given, pc = books
    kz = k[2] * d[0] + k[5] * d[1] + k[8]
    ended = False
    for _ in range(3):
        if uz < 0.0 or (uz == 0.0 and kz <= 0.0):  # compression
            step = limit
            if kz > 0.0 and -uz <= kz * limit:
                step = -uz / kz
            if step == math.inf:
                break
            after = uz + kz * step if step == limit else 0.0
            lost -= 0.5 * (uz + after) * step
            px, py, pz, uz = px + step * d[0], py + step * d[1], pz + step, after
            limit -= step
            pc = pz
            if uz < 0.0 or limit <= 0.0:
                ended = uz >= 0.0 and e == 0.0
                break
        if e == 0.0:
            ended = True
            break
        step = _restitution_left(kz, pz, uz, lost, given, pc, uz0, e, law)
        fall = -uz / kz if kz < 0.0 else math.inf  # u_z comes back to zero: compression again
        ended = step <= limit and step <= fall
        step = min(step, limit, fall)
        if step == math.inf:
            break
        after = 0.0 if step == fall and not ended else uz + kz * step
        given += 0.5 * (uz + after) * step
        px, py, pz, uz = px + step * d[0], py + step * d[1], pz + step, after
        limit -= step
        if ended or limit <= 0.0:
            break
    return (px, py, pz, uz, lost, given, pc), ended


@inner
def _restitution_left(kz, pz, uz, lost, given, pc, uz0, e, law):
    """How much p_z is still to come along a straight line with du_z/dp_z = kz; inf where the end is never reached."""
    if law == STRONGE:
        left = max(e * e * lost - given, 0.0)
        square = uz * uz + 2.0 * kz * left
        if left == 0.0:
            return 0.0
        return 2.0 * left / (uz + math.sqrt(square)) if square > 0.0 else math.inf
    if law == POISSON:
        return max((1.0 + e) * pc - pz, 0.0)
    left = -e * uz0 - uz
    if left <= 0.0:
        return 0.0
    return left / kz if kz > 0.0 else math.inf


# ---- sliding: Dormand-Prince 5(4) in xi. y = (cos, sin, s, p_x, p_y, p_z, W) ----


@inner
def _rates(k, uz0, mu, y):
    c, d, s, px, py, pz, _ = y
    ax = k[2] - mu * (k[0] * c + k[1] * d)
    ay = k[5] - mu * (k[1] * c + k[4] * d)
    h = ay * c - ax * d
    return (-h * d, h * c, s * (ax * c + ay * d), -s * mu * c, -s * mu * d, s, s * (uz0 + k[2] * px + k[5] * py + k[8] * pz))


@inner
def _plus(y, a, r):
    return (y[0] + a * r[0], y[1] + a * r[1], y[2] + a * r[2], y[3] + a * r[3], y[4] + a * r[4], y[5] + a * r[5], y[6] + a * r[6])


@inner
def _step(k, uz0, mu, y, t):
    """One step of length t in xi: (y, error). Dormand & Prince, J. Comp. Appl. Math. 6 (1980) 19."""
    r1 = _rates(k, uz0, mu, y)
    r2 = _rates(k, uz0, mu, _plus(y, t / 5, r1))
    r3 = _rates(k, uz0, mu, _plus(_plus(y, t * 3 / 40, r1), t * 9 / 40, r2))
    r4 = _rates(k, uz0, mu, _plus(_plus(_plus(y, t * 44 / 45, r1), -t * 56 / 15, r2), t * 32 / 9, r3))
    z = _plus(_plus(_plus(y, t * 19372 / 6561, r1), -t * 25360 / 2187, r2), t * 64448 / 6561, r3)
    r5 = _rates(k, uz0, mu, _plus(z, -t * 212 / 729, r4))
    z = _plus(_plus(_plus(y, t * 9017 / 3168, r1), -t * 355 / 33, r2), t * 46732 / 5247, r3)
    r6 = _rates(k, uz0, mu, _plus(_plus(z, t * 49 / 176, r4), -t * 5103 / 18656, r5))
    z = _plus(_plus(_plus(y, t * 35 / 384, r1), t * 500 / 1113, r3), t * 125 / 192, r4)
    z = _plus(_plus(z, -t * 2187 / 6784, r5), t * 11 / 84, r6)
    r7 = _rates(k, uz0, mu, z)
    error = 0.0
    for i in range(7):
        a = 71 / 57600 * r1[i] - 71 / 16695 * r3[i] + 71 / 1920 * r4[i] - 17253 / 339200 * r5[i] + 22 / 525 * r6[i] - r7[i] / 40
        error = max(error, abs(t * a))
    return z, error


# Events along a step.
_SPEED_ZERO, _SPEED_TURNS, _END = range(3)


@inner
def _event(code, k, uz0, mu, e, law, y, lost, given, pc):
    """A function whose root is the event: u_z = 0; du_z/dp_z = 0; the end of restitution."""
    if code == _SPEED_TURNS:
        return k[8] - mu * (k[2] * y[0] + k[5] * y[1])
    if code == _SPEED_ZERO or law == NEWTON:
        uz = uz0 + k[2] * y[3] + k[5] * y[4] + k[8] * y[5]
        return uz if code == _SPEED_ZERO else uz + e * uz0
    if law == STRONGE:
        return given + y[6] - e * e * lost
    return y[5] - (1.0 + e) * pc


@inner
def _locate(code, k, uz0, mu, e, law, y, t, lost, given, pc):
    """The length of step in (0, t] at which the event falls, found by steps from y: regula falsi (Illinois)."""
    a, fa = 0.0, _event(code, k, uz0, mu, e, law, y, lost, given, pc)
    b = t
    fb = _event(code, k, uz0, mu, e, law, _step(k, uz0, mu, y, t)[0], lost, given, pc)
    if code == _END and fa >= 0.0:
        return 0.0  # there is nothing to give back
    if fa == 0.0 or (fa < 0.0) == (fb < 0.0):
        return b  # the phase starts on the event, or it falls on the end to rounding
    small = 1e-16 * (e * e * lost if code == _END and law == STRONGE else 1.0)
    side = 0
    for _ in range(60):
        m = (a * fb - b * fa) / (fb - fa)
        fm = _event(code, k, uz0, mu, e, law, _step(k, uz0, mu, y, m)[0], lost, given, pc)
        if (fm < 0.0) == (fb < 0.0):
            b, fb = m, fm
            fa = 0.5 * fa if side == 1 else fa
            side = 1
        else:
            a, fa = m, fm
            fb = 0.5 * fb if side == -1 else fb
            side = -1
        if abs(fm) <= small or b - a <= 1e-15 * b:
            return m
    return b


@inner
def _cut(k, uz0, mu, e, law, y, y1, t, compressing, lost, given, pc):
    """Whether u_z changes its sign within the step, and the length of step up to there. A double crossing between the two
    ends shows by the turn of u_z."""
    sign = -1.0 if compressing else 1.0
    if sign * _event(_SPEED_ZERO, k, uz0, mu, e, law, y1, lost, given, pc) <= 0.0:
        return True, _locate(_SPEED_ZERO, k, uz0, mu, e, law, y, t, lost, given, pc)
    before = sign * _event(_SPEED_TURNS, k, uz0, mu, e, law, y, lost, given, pc)
    after = sign * _event(_SPEED_TURNS, k, uz0, mu, e, law, y1, lost, given, pc)
    if before < 0.0 < after:
        t = _locate(_SPEED_TURNS, k, uz0, mu, e, law, y, t, lost, given, pc)
        turn = _step(k, uz0, mu, y, t)[0]
        if sign * _event(_SPEED_ZERO, k, uz0, mu, e, law, turn, lost, given, pc) <= 0.0:
            return True, _locate(_SPEED_ZERO, k, uz0, mu, e, law, y, t, lost, given, pc)
    return False, t


@inner
def _slide(k, uz0, mu, e, law, c, d, s):
    """Integrate the slip. (books, slip direction, slip speed, ended, ok); not ended: the slip has stopped or its direction
    has settled."""
    y = (c, d, s, 0.0, 0.0, 0.0, 0.0)
    lost, given, pc = 0.0, 0.0, 0.0
    compressing = True
    ended, ok = False, False
    t = 0.05 / (1.0 + mu)
    for _ in range(MOST_STEPS):
        _, h, _, slope = _flow(k, mu, y[0], y[1])
        if y[2] <= STUCK or abs(h) <= NO_SLOPE * (1.0 + mu) or abs(h) < -RAY * slope:
            ok = True
            break
        y1, error = _step(k, uz0, mu, y, t)
        grow = 5.0 if error < 1e-4 * STEP_ERROR else 0.9 * (STEP_ERROR / error) ** 0.2
        if not error <= STEP_ERROR:
            t *= max(0.1, grow) if grow > 0.0 else 0.1
            continue
        crossed, used = _cut(k, uz0, mu, e, law, y, y1, t, compressing, lost, given, pc)
        if crossed:
            y1 = _step(k, uz0, mu, y, used)[0]
        if not compressing and _event(_END, k, uz0, mu, e, law, y1, lost, given, pc) >= 0.0:
            used = _locate(_END, k, uz0, mu, e, law, y, used, lost, given, pc)
            y = _step(k, uz0, mu, y, used)[0]
            ended, ok = True, True
            break
        length = hypot(y1[0], y1[1])
        work = y1[6]
        if crossed:
            if compressing:
                lost, pc = lost - work, y1[5]
            else:
                given += work
            compressing = not compressing
            work = 0.0
        y = (y1[0] / length, y1[1] / length, y1[2], y1[3], y1[4], y1[5], work)
        if crossed and not compressing and e == 0.0:
            ended, ok = True, True
            break
        t *= min(5.0, max(0.2, grow))
    uz = uz0 + k[2] * y[3] + k[5] * y[4] + k[8] * y[5]
    if compressing:
        lost -= y[6]
        uz = min(uz, 0.0)
    else:
        given += y[6]
        uz = max(uz, 0.0)
    return (y[3], y[4], y[5], uz, lost, given, pc), y[0], y[1], max(y[2], 0.0), ended, ok


# ---- the plastic problem of one contact ----


@kernel
def one_contact_coulomb(k, u, mu):
    """The impulse p in the cone |p_t| <= mu p_z after which v = u + K p has v_z >= 0, v_z p_z = 0 and slips against p_t.

    k: K as 9 numbers; u: free velocity of B relative to A. Exact: stick if -K^-1 u lies in the cone, else one slip angle.
    """
    return _coulomb(k, u, mu)


@inner
def _coulomb(k, u, mu):
    if not u[2] < 0.0:
        return (0.0, 0.0, 0.0)
    if mu == 0.0:
        return (0.0, 0.0, -u[2] / k[8])
    p = mul(inverse(k), (-u[0], -u[1], -u[2]))
    if hypot(p[0], p[1]) <= mu * p[2]:
        return p
    found, c, d = _slip_angle(k, u, mu)
    if not found:
        return (0.0, 0.0, -u[2] / k[8])
    pz = -u[2] / (k[8] - mu * (k[2] * c + k[5] * d))
    return (-mu * c * pz, -mu * d * pz, pz)


@inner
def _angle_residual(k, u, mu, c, d):
    """f times the part of u + K p across the direction (c, d), for p = zeta (-u_z / f): zero where the slip is along it."""
    ax = k[2] - mu * (k[0] * c + k[1] * d)
    ay = k[5] - mu * (k[1] * c + k[4] * d)
    f = k[8] - mu * (k[2] * c + k[5] * d)
    return f * (u[1] * c - u[0] * d) - u[2] * (ay * c - ax * d)


@inner
def _angle_slope(k, u, mu, c, d):
    """Derivative of the residual in the angle."""
    f = k[8] - mu * (k[2] * c + k[5] * d)
    df = mu * (k[2] * d - k[5] * c)
    return df * (u[1] * c - u[0] * d) - f * (u[1] * d + u[0] * c) - u[2] * _flow(k, mu, c, d)[3]


@inner
def _angle_root(k, u, mu, lo, hi, of_slope):
    """Root of the residual, or of its slope, between two angles where it changes sign: bisection, then nothing is left."""
    s_lo = _angle_value(k, u, mu, lo, of_slope)
    for _ in range(60):
        m = 0.5 * (lo + hi)
        if m <= lo or m >= hi:
            break
        value = _angle_value(k, u, mu, m, of_slope)
        if (value < 0.0) == (s_lo < 0.0):
            lo = m
        else:
            hi = m
    return 0.5 * (lo + hi)


@inner
def _angle_value(k, u, mu, angle, of_slope):
    c, d = math.cos(angle), math.sin(angle)
    return _angle_slope(k, u, mu, c, d) if of_slope else _angle_residual(k, u, mu, c, d)


@inner
def _better_angle(k, u, mu, angle, best):
    """Compare a root with the best so far, (energy after less before, cos, sin): it must press (f > 0) and slip forward."""
    c, d = math.cos(angle), math.sin(angle)
    g, _, f, _ = _flow(k, mu, c, d)
    if f <= 0.0:
        return best
    pz = -u[2] / f
    if u[0] * c + u[1] * d + g * pz < -1e-12 * norm(u):
        return best
    slip = u[0] * c + u[1] * d + 0.5 * g * pz
    energy = pz * (0.5 * u[2] - mu * slip)
    return (energy, c, d) if energy < best[0] else best


@inner
def _slip_angle(k, u, mu):
    """(found, cos, sin) of the slip that the plastic problem ends with; u_z < 0, and sticking is out of the cone.

    The residual is a trigonometric polynomial of degree 2, so it has up to four roots; they are separated by a grid and by
    the turns of the residual inside its cells. With u = (0, 0, -1) it is -u_z h: the root with g > 0, the diverging ray.
    """
    best = (math.inf, 1.0, 0.0)
    width = 2.0 * math.pi / _ANGLES
    value = _angle_residual(k, u, mu, _COS[0], _SIN[0])
    slope = _angle_slope(k, u, mu, _COS[0], _SIN[0])
    for i in range(_ANGLES):
        lo = 0.1234567 + i * width
        hi = lo + width
        value1 = _angle_residual(k, u, mu, _COS[i + 1], _SIN[i + 1])
        slope1 = _angle_slope(k, u, mu, _COS[i + 1], _SIN[i + 1])
        if (value < 0.0) != (value1 < 0.0):
            best = _better_angle(k, u, mu, _angle_root(k, u, mu, lo, hi, False), best)
        elif (slope < 0.0) != (slope1 < 0.0) and (value < 0.0) == (slope > 0.0):
            turn = _angle_root(k, u, mu, lo, hi, True)
            if (_angle_value(k, u, mu, turn, False) < 0.0) != (value < 0.0):
                best = _better_angle(k, u, mu, _angle_root(k, u, mu, lo, turn, False), best)
                best = _better_angle(k, u, mu, _angle_root(k, u, mu, turn, hi, False), best)
        value, slope = value1, slope1
    return best[0] < math.inf, best[1], best[2]


impact_far = far(
    impact_law, lambda: ((0.0,) * 9, (0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0, 0), returns=((0.0,) * 3, (0.0,) * 3, 0.0, 0.0, 0)
)
