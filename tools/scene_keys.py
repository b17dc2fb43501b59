"""The tables of all keys in docs/scene-files.md, from the code that reads scene files. Run it after a change of the keys."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers.page import write_measured  # noqa: E402
from tumble.scenarios.fields import Field, Flag, Many, Real, Rows, Table, Text, Vector, Whole  # noqa: E402
from tumble.scenarios.files import schema  # noqa: E402
from tumble.scenarios.files.declared_parameters import DECLARED  # noqa: E402
from tumble.scenarios.files.repeat import NEEDED, REPEAT  # noqa: E402
from tumble.scenarios.files.schema import Either, Ends  # noqa: E402

PAGE = ROOT / "docs" / "scene-files.md"
MARK = "all keys: made by tools/scene_keys.py"
JOINT_FREE = {name for kind in schema.JOINTS.values() for name in kind if all(name in other for other in schema.JOINTS.values())}


def takes(field: Field) -> str:
    """What a key takes, in a few words."""
    unit = f" [{field.unit}]" if getattr(field, "unit", "") else ""
    if isinstance(field, Either):
        return f"{takes(field.first)}, or {takes(field.second)}"
    if isinstance(field, Ends):
        return f"2 numbers{unit}"
    if isinstance(field, Vector):
        return f"{field.n} numbers{unit}" + (f", {field.range}" if field.range else "")
    if isinstance(field, Rows):
        return f"rows of {field.n} numbers{unit}"
    if isinstance(field, Table):
        return f"a table: {', '.join(f'`{key}`' for key in field.of)}"
    if isinstance(field, Many):
        return f"list: {takes(field.of)}"
    if isinstance(field, Real):
        name = "numbers" if type(field) is not Real else "number"
        return f"{name}{unit}" + (f", {field.range}" if field.range else "")
    if isinstance(field, Whole):
        return "whole number" + (f" {field.range}" if field.range else "")
    if isinstance(field, Flag):
        return "true or false"
    if isinstance(field, Text):
        return ", ".join(f'"{choice}"' for choice in field.choices) or "text"
    raise TypeError(type(field).__name__)


def rows(fields: dict[str, Field], needed: tuple[str, ...] | list[str] = ()) -> list[str]:
    return [f"| `{key}`{' (needed)' if key in needed else ''} | {takes(field)} | {field.help} |" for key, field in fields.items()]


def table(title: str, lead: str, lines: list[str], head: str = "| key | takes | what it is |") -> list[str]:
    return [f"### {title}", "", *([lead, ""] if lead else []), head, "|" + "---|" * (head.count("|") - 1), *lines, ""]


def kinds(tables: dict[str, dict[str, Field]], needed: dict[str, list[str]], without: set[str] = frozenset()) -> list[str]:
    """A row for each key of each kind."""
    out = []
    for kind, fields in tables.items():
        own = {key: field for key, field in fields.items() if key not in without}
        lines = rows(own, needed.get(kind, ())) or ["| | | |"]
        out += [f"| `{kind}` {lines[0]}", *(f"| {line}" for line in lines[1:])]
    return out


def text() -> str:
    """All tables."""
    kind_head = "| {} | key | takes | what it is |"
    shapes = {kind: dict(fields) for kind, fields in schema.SHAPES.items()}
    shapes["rounded"] |= {"shape": Many(of=Text(), help="another shape")}
    shapes["compound"] |= {"parts": Many(of=Text(), help="each with `shape` (needed), `position`, `orientation` or `euler_xyz`")}
    needed = {kind: [key for key in fields if key not in schema.OPTIONAL.get(kind, ())] for kind, fields in shapes.items()}
    reads = {key: schema.INSTRUMENTS["world"][key] for key in schema.INSTRUMENTS["world"] if key != "of"}
    common = {key: field for key, field in schema.JOINTS["fixed"].items() if key in JOINT_FREE}
    shape_rows = [
        row.replace("list: text | each", "list of tables | each").replace("list: text | another", "a table | another")
        for row in kinds(shapes, needed)
    ]
    parts = [
        *table("The scene", "At the top of the file.", rows(schema.SCENE)),
        *table("`[parameter.NAME]`", "`default` is needed, and says the type.", rows(DECLARED)),
        *table("`[camera]`", "", rows(schema.CAMERA)),
        *table("`[material.NAME]`", "", rows(schema.MATERIAL)),
        *table(
            "`[[body]]`", "`shape` is needed; `path` makes a kinematic body move, `visual` is drawn in its place: see below.",
            rows({key: field for key, field in schema.BODY.items() if key not in schema.MATERIAL})
            + ["| all keys of a material | | the body's own come first |"],
        ),
        *table("Shapes", 'Such as `shape = { type = "sphere", radius = 0.1 }`.', shape_rows, kind_head.format("`type`")),
        *table("`path` of a body", "", rows(schema.PATH, ["times"])),
        *table("`visual` of a body", "Or the name of a mesh file alone.", rows(schema.VISUAL, ["file"])),
        *table(
            "`[[repeat]]`", "`body` is needed: a table as of a `[[body]]`, placed many times.",
            kinds(REPEAT, {kind: list(keys) for kind, keys in NEEDED.items()}), kind_head.format("`kind`"),
        ),
        *table("`[[pair]]`", "Coefficients of two bodies or materials, in place of the combined ones.",
               rows(schema.PAIR, ["a", "b"])),
        *table("`[[force]]`", "", kinds(schema.FORCES, {}), kind_head.format("`type`")),
        *table("`[[joint]]`", "All kinds have the first rows.",
               [*(f"| all {row}" for row in rows(common)), *kinds(schema.JOINTS, {}, set(common))], kind_head.format("`type`")),
        *table("`[[actuator]]`", "", rows(schema.ACTUATOR, ["name", "joint"])),
        *table("`[[instrument]]`", "What they read: [machines](machines.md#instruments). All kinds have the first rows.",
               [*(f"| all {row}" for row in rows(reads, ["name"])), *kinds(schema.INSTRUMENTS, {}, set(reads))],
               kind_head.format("`type`")),
        "`apart = [[\"a\", \"b\"]]`: pairs of bodies that pass through each other.",
        "`include = [\"other.toml\"]`: other files to take in.",
        "`about = \"...\"`: what to look for, and why.",
        "",
    ]  # fmt: skip
    assert set(schema.PART) == {"position", "orientation", "euler_xyz"}
    return "\n".join(parts)


def main() -> None:
    write_measured(PAGE, MARK, "\n" + text())


if __name__ == "__main__":
    main()
