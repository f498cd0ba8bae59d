"""Checks the page of gpuopt plan --html against its --json of the same flags.

usage: check_page.py PAGE JSON
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree

text = open(sys.argv[1], encoding="utf-8").read()
plan = json.load(open(sys.argv[2]))
page = ElementTree.fromstring(re.sub(r"^<!DOCTYPE html>", "", text))  # well-formed, or an error

# Nothing but text, tables and pictures of lines; nothing from elsewhere.
allowed = "html head meta title style body h1 h2 p div b span table tr th td svg line text polyline circle".split()
tags = {element.tag.split("}")[1] for element in page.iter()}
assert tags <= set(allowed), tags - set(allowed)
assert not re.search(r"(?i)\b(src|href|url|import|on\w+)\s*[=(]", re.sub(r">[^<]*<", "><", text))


def named(parent, tag):
    return [element for element in parent.iter() if element.tag.endswith("}" + tag)]


def rows(heading):
    body = list(page.find("{*}body"))
    titles = [element.text for element in body]
    table = next(element for element in body[titles.index(heading) + 1 :] if element.tag.endswith("}table"))
    return [["".join(cell.itertext()) for cell in named(row, "td")] for row in named(table, "tr")[1:]]


def name(tensor):
    number = f"#{tensor['result']}" if "result" in tensor else ""
    return tensor["origin"] + number + (f" ({tensor['which']})" if "which" in tensor else "")


# The curve: two lines of as many points as it has, from right to left, and the axes' units.
lines = [[tuple(map(float, point.split(","))) for point in line.get("points").split()] for line in named(page, "polyline")]
assert [len(line) for line in lines] == [len(plan["curve"])] * 2, lines
for line, member in zip(lines, ("added_percent", "lower_bound_percent")):
    assert all(left[0] > right[0] for left, right in zip(line, line[1:]))
    scales = [(line[0][1] - y) / point[member] for (_, y), point in zip(line, plan["curve"]) if point[member] > 1]
    assert scales and max(scales) - min(scales) < 0.2 * max(scales), scales  # heights are percents
labels = [label.text for label in named(page, "text")]
assert "added time per step, %" in labels
assert any(re.fullmatch("memory budget, (bytes|KiB|MiB|GiB)", label) for label in labels), labels

assert [row[0] for row in rows("Memory")][:-1] != []
assert {row[0] for row in rows("Memory")} >= set(plan["memory"]["persistent"])
alive = plan["memory"]["peak"]["alive"]
assert [row[:2] for row in rows("Tensors alive at the peak")] == [[name(tensor), tensor["type"]] for tensor in alive]
decisions = [[name(tensor), tensor["type"], tensor["decision"], tensor["reason"]] for tensor in plan["tensors"]]
assert [row[:2] + row[3:] for row in rows("What the backward reads of the forward")] == decisions
assert {decision[2] for decision in decisions} == {"saved", "recomputed"}
