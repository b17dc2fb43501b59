"""Scene files: TOML in, scenes out, and back without loss.

In: a file that people wrote, or a ``Scene``.
Out: a ``Scene`` with every key checked, or a file; one clear error that names the key, its value and what would be right.

Equations: none. docs/scene-files.md lists the keys.

scene_files.py: loads and saves. scene_reader.py: the tables of a file as a scene. schema.py: each key with its type, unit and
range. declared_parameters.py: [parameter.NAME]. repeat.py: many bodies from one table. limits.py: how much a file of others may
ask for. json_schema.py: the keys for editors.
"""
