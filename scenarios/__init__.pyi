"""What type checkers and editors read in place of ``__init__.py``, whose names load when they are first used."""

from tumble.scenarios.checks.assertions import Violation as Violation
from tumble.scenarios.fields import Flag as Flag
from tumble.scenarios.fields import Real as Real
from tumble.scenarios.fields import Text as Text
from tumble.scenarios.fields import Vector as Vector
from tumble.scenarios.fields import Whole as Whole
from tumble.scenarios.files.scene_files import load_scene as load_scene
from tumble.scenarios.files.scene_files import save_scene as save_scene
from tumble.scenarios.importing.models import load_model as load_model
from tumble.scenarios.registry import Scenario as Scenario
from tumble.scenarios.registry import load as load
from tumble.scenarios.registry import names as names
from tumble.scenarios.registry import scenario as scenario
from tumble.scenarios.runs.instrument_files import export_readings as export_readings
from tumble.scenarios.runs.scene_run import run_scenario as run_scenario
from tumble.scenarios.runs.scene_run import run_scene as run_scene
from tumble.scenarios.runs.scene_run import scene_of as scene_of
from tumble.scenarios.showing.window_loop import view as view
