"""The validation cases: scenes and laws with a known answer, what is measured, and the limit it must keep.

``tumble validate`` runs them. A case is a function with ``@case`` in one of the modules named in ``MODULES``; it yields
measures. Nothing in a case looks at how a number came about: the answers are closed forms or other algorithms
(``answers``), so that a method that is spoiled somewhere fails here.
"""
