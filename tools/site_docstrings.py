"""An extension of Griffe: docstrings as they are written here, as the site's reader takes them.

Lists of "name : what it is" under underlined heads become sections of Google's style, prompts become code, and references to
classes the names that they show.
"""

from __future__ import annotations

import ast
import re

import griffe

HEAD = re.compile(r"^(Parameters|Attributes|Raises|Returns)\n-+\n((?:.+\n?|\n(?=\S+ : ))*)", re.M)
ENTRY = re.compile(r"^(\S.*?) : ", re.M)
PROMPT = re.compile(r"(?:^>>> .*\n?(?:^\.\.\. .*\n?)*)+", re.M)
ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")


TOLD = {"recorded", "Changing"}  # what makes properties, and is told as its last argument what they are


class Docstrings(griffe.Extension):
    """Rewrites each docstring once, when its object is read."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        value = getattr(obj, "value", None)
        if isinstance(value, griffe.ExprCall) and str(value.function).partition("[")[0] in TOLD:
            obj.docstring = griffe.Docstring(ast.literal_eval(str(value.arguments[-1])), parent=obj)
            obj.value = None
            obj.annotation = getattr(value.function, "slice", "np.ndarray")
        if obj.docstring is not None:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(text: str) -> str:
    """A docstring in Google's style."""
    text = ROLE.sub(r"`\1`", text)
    text = PROMPT.sub(lambda m: "```python\n" + re.sub(r"^(>>>|\.\.\.) ", "", m[0], flags=re.M).rstrip() + "\n```\n", text)
    return HEAD.sub(_section, text)


def _section(match: re.Match[str]) -> str:
    """The entries indented; names that share a text, "a, b : ...", one by one."""
    name, body = match[1], match[2].rstrip()
    if not ENTRY.search(body):
        return f"**{name}**: {' '.join(body.split())}\n"
    entries = re.split(r"\n(?=\S)", body)
    lines = []
    for entry in entries:
        names, _, said = entry.partition(" : ")
        said = " ".join(said.split())
        lines += [f"    {one}: {said}" for one in names.split(", ")]
    return f"{name}:\n" + "\n".join(lines) + "\n"
