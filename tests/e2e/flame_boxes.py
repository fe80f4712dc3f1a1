"""What an SVG flame graph shows: its boxes, as a program reads them.

    from flame_boxes import boxes       with $E2E on the path
    for box in boxes("run.svg"): box.name, box.path, box.wide, box.fill, box.title, ...

Fails when the file is not well-formed XML, holds an element or attribute that does not belong there, or a reference
to anything outside itself.
"""
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "style", "defs", "pattern", "rect", "text", "title", "g", "script"}


@dataclass
class Box:
    title: str
    name: str
    at: float
    y: float
    wide: float
    fill: str
    label: str
    hatch: str = ""
    path: tuple = field(default=())

    def lines(self):
        return self.title.split("\n")


def tree(path):
    root = ElementTree.parse(path).getroot()
    scripts = 0
    for element in root.iter():
        name = element.tag.removeprefix(SVG)
        assert name in ELEMENTS, f"{path}: <{name}>"
        scripts += name == "script"
        for key, value in element.attrib.items():
            assert not key.startswith("on"), f"{path}: {key} on <{name}>"
            assert not key.endswith("href"), f"{path}: {key} on <{name}>"
            assert not re.search(r"url\((?!#inferom-)", value), f"{path}: {value}"
    assert scripts == 1, f"{path}: {scripts} scripts"
    return root


def boxes(path):
    """Every box, callers before callees, each with the names from the root to it."""
    area = next(g for g in tree(path).iter(SVG + "g") if g.get("class") == "frames")
    whole = float(area.get("data-width"))
    found = []
    for g in area:
        rects, texts = g.findall(SVG + "rect"), g.findall(SVG + "text")
        title = g.find(SVG + "title").text
        found.append(Box(title=title, name=title.split("\n")[0], at=float(rects[0].get("x")) / whole,
                         y=float(rects[0].get("y")), wide=float(rects[0].get("width")) / whole, fill=rects[0].get("fill"),
                         label=texts[0].text if texts else "", hatch=rects[1].get("fill") if len(rects) > 1 else ""))
    pitch = 16
    stack = []
    for box in found:
        level = round(abs(box.y - found[0].y) / pitch)
        del stack[level:]
        if stack:
            caller = stack[-1]
            assert box.at >= caller.at - 1e-5 and box.at + box.wide <= caller.at + caller.wide + 1e-5, f"{box.name} leans out"
        stack.append(box)
        box.path = tuple(b.name for b in stack[1:])
    return found
