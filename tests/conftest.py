"""Hypothesis draws the same examples in every run; ``HYPOTHESIS_PROFILE=search`` looks for new ones."""

import os

from hypothesis import settings

pytest_plugins = ["tumble.scenarios.testing", "pytester"]  # the first comes by itself where tumble is installed anew

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
