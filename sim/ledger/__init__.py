"""The ledger: where every joule and every newton second went, and what the method says of itself.

In: impulses and velocities of kicks, impacts, flights and corrections, as they happen.
Out: ``world.ledger``, energies and momenta, events, counters, and the promises that a world kept or missed.

Equations: change of (kinetic + potential) = external + user + contact + correction + sleep + integrator - friction -
restitution + residual. An impulse p that takes u to u' does the work p.(u + u')/2; p.(3u + u')/8 of it before the middle of the
kick and p.(u + 3u')/8 after it, as the world reports energies in the middle.

entries.py: the names and signs of the entries. work.py: what a kick gives to bodies and books. kick_numbers.py: kicks have
numbers, so that an impact in mid-step is booked with the kick it takes back.
diagnostics.py: energies and momenta of a state in NumPy, apart from the kernels. readings.py: contacts, counters and the hash
of a state. events.py: events as users read them. promises.py: what is promised of every world. blow_up.py: steps that give
energy without measure, which do not stand.
"""
