"""What users run: the catalog, scene files, running and recording, the command line. Names load when they are first used."""

from __future__ import annotations

from tumble.late_names import late_names

__getattr__, __dir__, __all__ = late_names(__name__)
