#!/usr/bin/env python3
"""Counts JUnit XML results and ends in `N passed, N failed, N skipped`.

usage: summarize_tests.py RESULTS_DIR

The directory holds for each suite NAME
  NAME.xml       its results
  NAME.expected  an empty file, made before it ran: without NAME.xml it crashed
  NAME.status    the exit status of what ran it, if that is known: one of which
                 no result is the cause is a failure of its own
  NAME.skipped   the reason why all of it was skipped
Exits with 1 if anything failed or nothing ran.
"""
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def name_of(case: ElementTree.Element) -> str:
    return f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")


def reason_of(skipped: ElementTree.Element | None) -> str:
    text = (skipped.get("message") or skipped.text or "") if skipped is not None else ""
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


def main(folder: Path) -> int:
    passed, failed, skipped = 0, [], []
    for path in sorted(folder.glob("*.xml")):
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            failed.append(f"{path.stem}: its results are incomplete ({error})")
            continue
        for case in root.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(f"{path.stem}: {name_of(case)}")
            elif case.find("skipped") is not None or case.get("result") == "skipped" or case.get("status") == "notrun":
                skipped.append(f"{path.stem}: {name_of(case)}: {reason_of(case.find('skipped'))}")
            else:
                passed += 1
    for path in sorted(folder.glob("*.expected")):
        if not path.with_suffix(".xml").exists():
            failed.append(f"{path.stem}: ended without results")
    for path in sorted(folder.glob("*.status")):
        status = path.read_text().strip()
        if status != "0" and not any(line.startswith(f"{path.stem}: ") for line in failed):
            failed.append(f"{path.stem}: ended with status {status}, but every result is good")
    for path in sorted(folder.glob("*.skipped")):
        skipped.append(f"{path.stem}: {path.read_text().strip()}")
    for line in skipped:
        print(f"skipped  {line}")
    for line in failed:
        print(f"FAILED   {line}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
