"""The camera in the viewer's hand: orbit, pan, zoom, follow. Upright, about a target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tumble.render.camera import Camera, towards
from tumble.render.frames.frame import Frame

TURN = 0.4  # degrees of orbit per pixel of a picture 720 high
STEEPEST = 89.0  # degrees
ZOOM = 0.88  # of the distance, per notch of the wheel


@dataclass
class Rig:
    """Angles in degrees; lengths [m]. ``follow``: the row of the body whose centre of mass the target goes along with."""

    target: np.ndarray
    distance: float
    azimuth: float
    elevation: float
    fov_degrees: float
    follow: int | None = None
    _seen: np.ndarray | None = None  # where that body was in the last frame

    @classmethod
    def of(cls, camera: Camera) -> Rig:
        """A rig that sees what the camera sees, set upright."""
        back = np.subtract(camera.position, camera.target)
        distance = float(np.linalg.norm(back))
        azimuth, elevation = np.degrees(np.arctan2(back[1], back[0])), np.degrees(np.arcsin(back[2] / distance))
        return cls(np.array(camera.target, float), distance, float(azimuth), float(elevation), camera.fov_degrees)

    def camera(self) -> Camera:
        back = self.distance * towards(self.azimuth, np.clip(self.elevation, -STEEPEST, STEEPEST))
        return Camera(tuple((self.target + back).tolist()), tuple(self.target.tolist()), fov_degrees=self.fov_degrees)

    def orbit(self, dx: float, dy: float, size: tuple[int, int]) -> None:
        """By a motion of the mouse [pixels]."""
        turn = TURN * 720 / size[1]
        self.azimuth = (self.azimuth - turn * dx) % 360.0
        self.elevation = float(np.clip(self.elevation + turn * dy, -STEEPEST, STEEPEST))

    def pan(self, dx: float, dy: float, size: tuple[int, int]) -> None:
        """So that what lies at the target stays under the mouse."""
        metres = 2.0 * self.distance * np.tan(np.radians(self.fov_degrees) / 2) / size[1]
        right, up, _ = self.camera().axes()
        self.target = self.target - metres * (dx * right - dy * up)

    def zoom(self, notches: float) -> None:
        self.distance = float(np.clip(self.distance * ZOOM**notches, 1e-6, 1e9))

    def track(self, frame: Frame) -> None:
        """Go along with the body that is followed."""
        if self.follow is None or self.follow >= len(frame.cast):
            self.follow = self._seen = None
            return
        at = frame.centers_of_mass()[self.follow]
        if self._seen is not None:
            self.target = self.target + at - self._seen
        self._seen = at

    def chase(self, body: int | None, frame: Frame) -> None:
        """Follow a body from now on, with it in the middle; None: stand."""
        self.follow, self._seen = body, None
        if body is not None:
            self.target = frame.centers_of_mass()[body].copy()
            self.track(frame)
