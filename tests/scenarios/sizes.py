"""Parameters by which large scenes of the catalog are small: enough of the same."""

SMALL = {
    "ball_on_waves": {"cell": 0.5},
    "balls_666": {"edge": 3},
    "kapla": {"floors": 1},
    "marble_run": {"turns": 1, "pieces": 24},
    "pile": {"count": 12},
    "rock_slide": {"stones": 7},
    "tumbling_boxes": {"count": 12},
}
