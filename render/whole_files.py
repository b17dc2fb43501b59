"""Files that are either whole or not there, as tumble.sim.files makes them; what goes wrong is a RenderError here."""

from __future__ import annotations

import tumble.sim.files
from tumble.render.errors import RenderError


class whole(tumble.sim.files.whole):
    """``with whole(path) as part``: write ``part``, a file, or a folder if ``folder``; then it becomes ``path``."""

    def failed(self, reason: str) -> RenderError:
        return RenderError(reason, self.path)
