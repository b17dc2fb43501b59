"""A hook of MkDocs: pages of the site that are made of what is elsewhere: README, change log, docstrings of the scenes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to those of docs/."""
    from mkdocs.structure.files import File

    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def pages() -> dict[str, str]:
    """Path in the site: Markdown."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    readme = readme.replace("](docs/", "](").replace("(CHANGELOG.md)", "(changes.md)").replace("[MIT](LICENSE)", "MIT")
    readme = readme.replace("(SECURITY.md)", "(security.md)")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    made = {"index.md": readme, "changes.md": changes, "security.md": security, "scenes.md": scenes()}
    return {name: text.replace("](docs/", "](") for name, text in made.items()}


def scenes() -> str:
    """The catalog: what each scene is about, and its parameters."""
    from tumble.scenarios.registry import catalog

    out = ["# Scenes", "", "`tumble run NAME` runs one, `--set name=value` sets a parameter.", ""]
    for name, scenario in catalog().items():
        out += [
            f"## {name}",
            "",
            _plain(scenario.doc),
            "",
            "| parameter | default | unit | range | meaning |",
            "|---|---|---|---|---|",
        ]
        for p in scenario.parameters.values():
            out.append(f"| `{p.name}` | {p.field.show(p.default)} | {p.unit} | {p.range} | {_plain(p.help)} |")
        out.append("")
    return "\n".join(out)


def _plain(text: str) -> str:
    """Docstrings are plain text: what Markdown would take for marks is escaped."""
    return re.sub(r"([*_<>\[\]|])", r"\\\1", text)
