"""Impacts: collisions that take no time, each found at its own instant within the drift and resolved there.

In: flights of the coming drift (``tumble.sim.flight``), candidate pairs, coefficients of friction and restitution.
Out: momenta after each impact, flights that start anew from there, what each impact did to the energy, and the events.

Equations: the instant is a root of the gap, found by conservative advancement (Mirtich, thesis 1996, 2.3.2) and Newton's method.
One point obeys du = K dp with Coulomb friction (Routh; Keller) until the work given back is e^2 of the work taken (Stronge,
Proc. R. Soc. A 431 (1990) 169). Several points: the plastic problem, then restitution, then friction in its cone.

The loop: impact_loop.py takes instants in order, from event_queue.py; time_of_impact.py finds the next one of a pair, and
staying_apart.py says for how long there is none; stop_events.py finds when joints come to their stops; event_log.py writes
down what happened; thread_jobs.py shares the search among threads.
The laws: collision_law.py for one point, multi_contact.py for several or for pairs that tie, joint_impulses.py where the
bodies are jointed; crowds/coming_points.py sees which points come next where a pair comes again and again. Before an impact
half_kick_removal.py takes back what resting contacts have in advance; after it substep_resolve.py solves the island again for
the rest of the step where bodies are left in slow touch.
Heaps, where so much lands at once that no order of instants matters, are solved in the room ``crowds``.
"""
