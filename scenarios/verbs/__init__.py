"""The verbs of the command ``tumble``, by what they are for: for each its arguments, and what it does.

Nothing heavy is imported before a verb needs it, so that ``--help`` answers at once.
"""
