"""Dormand and Prince's method of order 8 with estimates of order 5 and 3: steps of its own inside a step of the world.

Order 8. Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.5 and II.10; coefficients of their DOP853. For
reference: the local error is held to RELATIVE, so the step of the world hardly matters.
"""

from __future__ import annotations

import math

import numpy as np

from tumble.collision.kernels.jit import lean
from tumble.sim.flight.methods.explicit import blend, copy_row, normalize_row, stages
from tumble.sim.flight.rates import rates
from tumble.sim.state import END, RATE1, SLOPE, STAGE

RELATIVE = 1e-14  # error of a substep that is allowed, as part of the largest component of each vector
MOST_SUBSTEPS = 10_000  # steps inside one step of the world
# More substeps than 100 that are shorter than 1e-4 of the step: rounding is all that asks for them.
SHORT_STEP, SHORT_STEPS = 1e-4, 100

# fmt: off
# each stage: its node c_s, then a_s0 ... a_s,s-1
_STAGES = [
    [0],
    [0.05260015195876773, 0.05260015195876773],
    [0.0789002279381516, 0.0197250569845379, 0.0591751709536137],
    [0.1183503419072274, 0.02958758547680685, 0, 0.08876275643042054],
    [0.2816496580927726, 0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792],
    [0.3333333333333333, 0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242],
    [0.25, 0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
    [0.3076923076923077, 0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023],
    [0.6512820512820513, 0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
     20.154067550477894, -43.48988418106996],
    [0.6, 0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
     -33.28821096898486, -0.020331201708508627],
    [0.8571428571428571, -0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
     -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196],
    [1.0, 2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636],
]
WEIGHTS = np.array([
    0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, 0.3111643669578199,
    -0.1521609496625161, 0.20136540080403034, 0.04471061572777259,
])
ERROR3 = np.array([
    -0.18980075407240762, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, -0.4226823213237919,
    -0.1521609496625161, 0.20136540080403034, 0.02265179219836082,
])
ERROR5 = np.array([
    0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294,
])
# fmt: on

NODES = np.array([float(row[0]) for row in _STAGES])
MATRIX = np.array([row[1:] + [0.0] * (13 - len(row)) for row in _STAGES])


@lean
def cluster_dop853(bodies, forces, joints, c, t, h, start, rate):
    """From row ``start``, whose rate is row ``rate``, to row END of the path."""
    end, step, short, slack = t + h, h, 0, (1.0, 1.0, 1.0, 1.0)
    copy_row(forces, c, start, END)
    copy_row(forces, c, rate, RATE1)
    for _ in range(MOST_SUBSTEPS):
        last = t + step >= end - 1e-14 * h
        if last:
            step = end - t
        stages(bodies, forces, joints, c, t, step, END, RATE1, MATRIX, NODES)
        error, group = _error(forces, c, step, slack)
        if step < SHORT_STEP * h:
            short += 1
        if error > 1.0 and short > SHORT_STEPS:  # a vector that is nothing but rounding, such as an angular momentum of 1e-20
            slack, short, step = _slackened(slack, group), 0, end - t
            continue
        if error <= 1.0:
            copy_row(forces, c, END, STAGE)
            blend(forces, c, STAGE, step, WEIGHTS, 12, END)
            normalize_row(forces, c, END)
            t += step
            if last:
                return
            rates(bodies, forces, joints, c, t, END, RATE1, step)
        step *= min(5.0, max(0.2, 0.9 * error ** (-1.0 / 8.0))) if error > 0.0 else 5.0
    forces.path[END, forces.member[forces.first_member[c]], 0] = math.nan  # it did not get to the end: the run stops and says so


@lean
def _slackened(slack, group):
    """Ten thousand times as much allowed for one group of components."""
    a, b, c, d = slack
    return (
        1e4 * a if group == 0 else a, 1e4 * b if group == 1 else b,
        1e4 * c if group == 2 else c, 1e4 * d if group == 3 else d,
    )  # fmt: skip


@lean
def _error(forces, c, h, slack):
    """Estimated local error over what is allowed, and of which group: position, orientation, momentum, angular momentum."""
    path, worst, group = forces.path, 0.0, 0
    for m in range(forces.first_member[c], forces.first_member[c + 1]):
        i = forces.member[m]
        for g in range(4):
            first, stop = (0, 3) if g == 0 else (3, 7) if g == 1 else (7, 10) if g == 2 else (10, 13)
            size, third, fifth = 0.0, 0.0, 0.0
            for k in range(first, stop):
                size = max(size, abs(path[END, i, k]), abs(h * path[SLOPE, i, k]))
                e3, e5 = 0.0, 0.0
                for s in range(12):
                    e3 += ERROR3[s] * path[SLOPE + s, i, k]
                    e5 += ERROR5[s] * path[SLOPE + s, i, k]
                third, fifth = max(third, abs(e3)), max(fifth, abs(e5))
            if fifth > 0.0 and size > 0.0:
                error = abs(h) * fifth * fifth / math.sqrt(fifth * fifth + 0.01 * third * third)
                error /= RELATIVE * size * slack[g]
                if error > worst:
                    worst, group = error, g
    return worst, group
