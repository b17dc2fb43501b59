"""What type checkers and editors read in place of ``__init__.py``, whose names load when they are first used."""

from tumble.render.camera import Camera as Camera
from tumble.render.cameras.shots import Follow as Follow
from tumble.render.cameras.shots import Keyframes as Keyframes
from tumble.render.cameras.shots import Orbit as Orbit
from tumble.render.figures import plots as plots
from tumble.render.films.video import film as film
from tumble.render.films.video import film_beside as film_beside
from tumble.render.films.video import picture as picture
from tumble.render.films.video import still as still
from tumble.render.frames.overlay import OVERLAYS as OVERLAYS
from tumble.render.web.gltf import export as export
from tumble.render.web.notebook import show as show
