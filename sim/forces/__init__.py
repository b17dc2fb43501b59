"""Forces and prescribed motion: what acts on bodies from outside of contacts and joints.

In: gravity and forces as users say them, paths of driven bodies.
Out: force, torque and power on each body at an instant (laws.py), potential energies, and where driven bodies are.

Equations: a force and a torque about the centre of mass are added to p' and L', and their power to that of their kind of work
(docs/free-motion.md). Driven bodies turn by Bullo and Murray, Automatica 35 (1999) 17.

force_definitions.py: forces as frozen records, checked, for worlds, scenes and files. force_tables.py packs them to rows of
numbers, laws.py is what the step calls. path_rows.py: states in flight, whose angular momentum is about the cluster's origin.
flight/rates.py adds uniform gravity for bodies under other forces; bodies in gravity alone fly by an exact formula in
sim/flight/motion.py. functions.py: functions of the user as C functions, function_call.py the call from a kernel. path.py: a
path as cubic splines; prescribed_motion.py: driven bodies that go where it says.
"""
