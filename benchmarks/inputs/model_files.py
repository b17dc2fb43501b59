"""Models of other programs: MJCF and URDF."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from hypothesis import strategies as st

from benchmarks.inputs.cases import FILES, SEEDS, VARIANTS, Case, harm_bytes
from benchmarks.inputs.scene_files import files

ODD_TEXT = (
    "", "nan", "inf 0 0", "1e308", "1e400", "-1", "x", "0 0 0", "0 0 0 0", "9" * 400, "\t", "1e-320 1 1", "2147483648", "\u0663",
    *FILES[:-1], "package://x/part.stl", "file:///etc/passwd", "package:///etc/passwd", "\u202e", "=1", "a" * 300,
    "1" * 5000, "1 2",
)  # fmt: skip
MJCF = {
    "compiler": "angle eulerseq meshdir autolimits inertiafromgeom settotalmass inertiagrouprange coordinate boundmass",
    "option": "timestep gravity integrator density wind",
    "include": "file",
    "default": "class",
    "asset": "",
    "mesh": "name file vertex face scale refpos refquat inertia class",
    "material": "name rgba",
    "worldbody": "",
    "frame": "pos quat euler childclass",
    "replicate": "count offset euler sep",
    "body": "name pos quat euler axisangle xyaxes zaxis mocap gravcomp childclass",
    "freejoint": "name",
    "joint": "name type axis pos range limited stiffness damping armature frictionloss ref springref class",
    "geom": "name type size pos quat fromto mass density friction rgba mesh contype conaffinity condim class solref shellinertia",
    "inertial": "pos mass diaginertia fullinertia quat",
    "site": "name pos",
    "actuator": "",
    "motor": "name joint gear ctrlrange forcerange",
    "position": "name joint kp kv ctrlrange",
    "general": "name joint gainprm biasprm biastype gaintype",
    "velocity": "name joint kv",
    "equality": "",
    "weld": "body1 body2 relpose",
    "connect": "body1 body2 anchor",
    "contact": "",
    "exclude": "body1 body2",
    "keyframe": "",
    "key": "name qpos qvel ctrl",
    "tendon": "",
    "spatial": "name",
}
MJCF_BELOW = {
    "mujoco": "compiler option default asset worldbody actuator equality contact keyframe tendon",
    "default": "geom joint mesh default motor",
    "asset": "mesh material",
    "worldbody": "body body body geom frame replicate site include",
    "frame": "body geom",
    "replicate": "body geom",
    "body": "geom geom joint freejoint inertial body site frame",
    "actuator": "motor position general velocity",
    "equality": "weld connect joint",
    "contact": "exclude",
    "keyframe": "key",
    "tendon": "spatial",
}
URDF = {
    "link": "name",
    "inertial": "",
    "mass": "value",
    "inertia": "ixx iyy izz ixy ixz iyz",
    "origin": "xyz rpy",
    "collision": "name",
    "visual": "name",
    "geometry": "",
    "box": "size",
    "sphere": "radius",
    "cylinder": "radius length",
    "capsule": "radius length",
    "mesh": "filename scale",
    "material": "name",
    "color": "rgba",
    "joint": "name type",
    "parent": "link",
    "child": "link",
    "axis": "xyz",
    "limit": "lower upper effort velocity",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
    "transmission": "name",
    "actuator": "name",
}
URDF_BELOW = {
    "robot": "link link link joint joint material transmission",
    "link": "inertial collision visual",
    "inertial": "mass inertia origin",
    "collision": "geometry origin",
    "visual": "geometry origin material",
    "geometry": "box sphere cylinder capsule mesh",
    "material": "color",
    "joint": "parent child axis limit dynamics origin mimic",
    "transmission": "joint actuator",
}
GOOD = {  # attribute: values that are right, | between those of several words
    "geom.type": "box|sphere|capsule|cylinder|plane|ellipsoid|mesh",
    "type": "hinge|slide|ball|free|revolute|continuous|prismatic|fixed|floating|planar",
    "size": "0.1 0.1 0.1|0.1 0.2 0.3",
    "angle": "radian|degree",
    "eulerseq": "xyz|ZYX|xyx",
    "coordinate": "local",
    "file": "in.xml",
    "filename": "part.stl",
    "quat": "1 0 0 0|0.6 0.8 0 0",
    "refquat": "1 0 0 0",
    "axisangle": "0 0 1 0.5",
    "xyaxes": "1 0 0 0 1 0",
    "fromto": "0 0 0 0 0 1",
    "rgba": "1 0 0 1",
    "range|ctrlrange|forcerange": "-1 1",
    "inertiagrouprange": "0 5",
    "pos|euler|axis|offset|xyz|rpy|gravity|anchor|scale|diaginertia|refpos|zaxis": "0 0 1|0.1 0.2 0.3|1 0 0",
    "fullinertia": "1 1 1 0 0 0",
    "vertex": "0 0 0 1 0 0 0 1 0 0 0 1",
    "face": "0 2 1 0 1 3 0 3 2 1 2 3",
    "friction": "0.5|0.5 0.1 0.1",
    "limited|autolimits|inertiafromgeom|mocap": "true|false|auto",
    "ixx|iyy|izz": "1",
    "ixy|ixz|iyz": "0",
    "joint|name|link|mesh|material|class|childclass|body1|body2": "a|b|c|d",
    "count|condim|contype|conaffinity": "1|3",
    "qpos|qvel|ctrl": "0 0 1",
    "integrator": "RK4",
    "gainprm|biasprm": "1 0 0",
    "biastype": "affine|none",
    "gaintype": "fixed",
    "inertia": "exact|convex|legacy",
    "solref": "0.02 1",
    "parent.link": "a",
    "child.link": "b|c",
    "": "1|0.1|2",
}
BY_KEY = {key: values.split("|") for keys, values in GOOD.items() for key in keys.split("|")}
MUST = {  # what an element has always: attributes, children
    "mujoco": ("", "worldbody"),
    "body": ("", "geom"),
    "geom": ("size", ""),
    "mesh": ("name vertex face filename", ""),
    "replicate": ("count", "body"),
    "inertial": ("mass pos diaginertia", "mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx iyy izz", ""),
    "link": ("name", "inertial collision"),
    "collision": ("", "geometry"),
    "geometry": ("", "box"),
    "box": ("size", ""),
    "sphere": ("radius", ""),
    "cylinder": ("radius length", ""),
    "capsule": ("radius length", ""),
    "joint": ("name", "parent child"),
    "include": ("file", ""),
    "robot": ("", "link link link joint"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "connect": ("body1 anchor", ""),
    "weld": ("body1", ""),
    "color": ("rgba", ""),
}


@st.composite
def element(draw: Any, tag: str, words: dict[str, str], below: dict[str, str], depth: int = 0) -> str:
    """An XML element with what it must have, some more attributes, and children, as text."""
    attributes, children = (given.split() for given in MUST.get(tag, ("", "")))
    known = words.get(tag, "model name").split()
    more = draw(st.lists(st.sampled_from(known), max_size=2, unique=True)) if known else []
    keys = [key for key in dict.fromkeys([*attributes, *more]) if key in known and key not in ("class", "childclass")]
    head = " ".join(
        [tag, *(f'{key}="{draw(st.sampled_from(BY_KEY.get(f"{tag}.{key}", BY_KEY.get(key, BY_KEY[""]))))}"' for key in keys)]
    )
    some = below.get(tag, "").split()
    children = [child for child in children if child in some]
    if some and depth < 5:
        children += draw(st.lists(st.sampled_from(some), max_size=4 if depth < 2 else 2))
    inside = "".join(draw(element(child, words, below, depth + 1)) for child in children)
    return f"<{head}>{inside}</{tag}>"


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def model(root: str, words: dict[str, str], below: dict[str, str], name: str) -> st.SearchStrategy:
    def variants(drawn: tuple[str, int]) -> tuple[Case, ...]:
        letters = iter("abcdefghijkl" * 9)
        text, rng = re.sub('<link name="."', lambda _: f'<link name="{next(letters)}"', drawn[0]), Random(drawn[1])
        out = [text]
        for k in range(VARIANTS - 1):
            other = text
            for _ in range(1 + k % 4):
                other = harm_xml(other, rng)
            out.append(other)
        written = [one.encode("utf-8", "surrogatepass") for one in out]
        written = [harm_bytes(one, rng) if k and rng.random() < 0.05 else one for k, one in enumerate(written)]
        return tuple(Case("import", {**files, "in.xml": b"<mujoco/>", name: data}, (name, k)) for k, data in enumerate(written))

    return st.tuples(element(root, words, below), SEEDS).map(variants)


def harm_xml(text: str, rng: Random) -> str:
    """An attribute with an odd value, under another name, or gone; an element doubled."""
    found = list(re.finditer(r' (\w+)="([^"]*)"', text))
    if not found:
        return text
    one = rng.choice(found)
    begin, end = one.span()
    how = rng.randrange(8)
    if how < 6:
        put = f' {one[1]}="{escaped(rng.choice(ODD_TEXT))}"'
    elif how == 6:
        put = ""
    else:
        put = f' {rng.choice(("name", "type", "file", "size", "mesh", "joint"))}="{one[2]}"'
    return text[:begin] + put + text[end:]


mjcf_files = model("mujoco", MJCF, MJCF_BELOW, "model.xml")
urdf_files = model("robot", URDF, URDF_BELOW, "model.urdf")
