"""Command lines."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from benchmarks.inputs.cases import Case
from benchmarks.inputs.stored_files import SCENE

RUNS = ("run", "run/trajectory.zarr", "../in/run", "nothing", ".", "../in/scene.toml", "a\0b", "x" * 300, "/dev/null")
PLACES = (
    "../in/scene.toml",
    "../in/scene.toml",
    "../in/scene.toml",
    "../in/model.xml",
    "../in/plan.toml",
    "../in/run",
    "bouncing_ball",
    "nothing",
    "/dev/zero",
    "",
    "a\0",
    "x" * 300,
)
OUT = (
    "o",
    "o.html",
    "o.mp4",
    "o.gif",
    "o.csv",
    "o.glb",
    "o.png",
    "o.toml",
    "no/such/o.png",
    "",
    "x" * 300 + ".csv",
    "/proc/o.csv",
    "a\0.csv",
    "o.mcap",
    "-",
)
WORDS = st.one_of(
    st.sampled_from(
        (
            "0",
            "1",
            "-1",
            "0.02",
            "1e-320",
            "1e300",
            "nan",
            "inf",
            "5 ms",
            "1/240",
            "1/0",
            "",
            "x",
            "0x10",
            "٣",
            "9" * 400,
            "64x48",
            "0x0",
            "1x99999",
        )
    ),
    st.sampled_from(
        (
            "text",
            "contacts,energy",
            "nothing",
            "a,b",
            "orbit",
            "orbit:nan",
            "follow:a",
            "follow:",
            "best",
            "fast",
            "poses",
            "energy",
            "double",
            "single",
            "x=1",
            "x=",
            "=",
            "x=nan",
        )
    ),
    st.sampled_from(("--", "-h", "--help", "--x", "\x1b[31m", "é", "a\nb", "tcp://127.0.0.1:1", ":1")),
    st.text(max_size=6),
)
LOOKS = ("--camera", "--size", "--preset", "--overlays", "--fps", "--graph", "--sound", "--blur", "--plain")
READING = ("--allow-outside", "--yes")
VERBS = {  # with all options that the parser knows (tests/scenarios/test_inputs.py), but for some of UNASKED
    "list": ((), ()),
    "show": ((PLACES,), READING),
    "run": ((PLACES,), ("--seconds", "--dt", "--set", "--out", "--every", "--contacts", "--bodies", "--precision",
                        "--compression", "--video", "--resume", *LOOKS, *READING)),
    "film": ((RUNS,), ("--out", "--start", "--stop", "--speed", *LOOKS)),
    "check": ((RUNS,), ("--repair",)),
    "compare": ((RUNS, RUNS), ("--out", "--film", "--fps", "--size", "--speed", "--preset", "--overlays")),
    "converge": ((PLACES,), ("--seconds", "--dt", "--halvings", "--quantity", "--tolerance", "--out", "--set", *READING)),
    "schema": ((), ()),
    "import": ((PLACES,), ("--root", "--out", "--meshes")),
    "sweep": ((PLACES,), ("--out", "--workers", "--scheduler", "--resume", "--allow-outside")),
    "report": ((RUNS,), ("--out", "--no-film", "--size", "--preset", "--overlays")),
    "export": ((RUNS,), ("--out", "--out", "--rate")),
    "trace": ((PLACES,), ("--out", "--size")),
    "validate": ((("V99", "", "x"),), ("--all", "--json", "--page", "--peers")),
    "bench": ((("nothing", ""),), ("--budget", "--calls", "--kernels", "--json")),
    "view": ((PLACES,), ("--dt", "--paused", "--speed", "--start", "--size", "--set", "--preset", "--overlays", *READING)),
    "demo": ((("--nothing", "x"),), ("--out", *LOOKS)),
    "doctor": ((), ()),
    "nothing": ((), ()),
}  # fmt: skip
# start programs, compile everything, empty the cache of whoever asks
UNASKED = {"bench": {"--start", "--compile"}, "doctor": {"--prune"}}
FLAGS = (
    "--contacts", "--video", "--resume", "--repair", "--no-film", "--paused", "--all", "--calls", "--kernels", "--sound",
    "--plain", *READING,
)  # fmt: skip
PATHS = ("--out", "--json", "--page", "--root", "--film")
LINE_FILES = {
    "scene.toml": SCENE,
    "model.xml": b"<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
    "plan.toml": b'scenario = "scene.toml"\n[parameters]\nx = [1, 2]\n',
}


@st.composite
def command_lines(draw: Any) -> tuple[Case, ...]:
    verb = draw(st.sampled_from(sorted(VERBS)))
    operands, options = VERBS[verb]
    words: list[str] = [verb]
    for pool in operands:
        words.append(draw(st.one_of(st.sampled_from(pool[:3]), st.sampled_from(pool))))
    for option in draw(st.lists(st.sampled_from(options), max_size=3)) if options else ():
        words.append(option)
        if option not in FLAGS:
            words.append(draw(st.sampled_from(OUT)) if option in PATHS else draw(WORDS))
    if draw(st.integers(0, 9)) == 0:
        words.insert(draw(st.integers(1, len(words))), draw(WORDS))
    return (Case("line", LINE_FILES, tuple(words)),)
