"""The verbs of the command ``tumble``, by what they are for: for each its arguments, and what it does.

In: arguments of the command line.
Out: what the verb prints and writes, and its exit code (scenarios/cli.py).

Equations: none.

scenes.py: list, show, schema, import. running.py: run, demo, sweep. looking.py: film, view, report, export, trace.
comparing.py: check, compare, converge. measuring.py: validate, bench, doctor. given.py: what several of them take.

What a verb needs is imported when it runs, so that ``tumble --help`` answers at once.
"""
