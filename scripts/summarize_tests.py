#!/usr/bin/env python3
"""Counts JUnit XML results and ends in `N passed, N failed, N skipped`.

usage: summarize_tests.py RESULTS_DIR

The directory holds for each suite NAME
  NAME.xml       its results
  NAME.expected  an empty file, made before it ran: without NAME.xml it crashed
  NAME.status    the exit status of what ran it, if that is known: one of which
                 no result is the cause is a failure of its own
  NAME.skipped   the reason why all of it was skipped
The last FAILED lines are each followed by what the test said, cut to one line:
ten messages at most, and of tests that said the same the first alone has it.
Exits with 1 if anything failed or nothing ran.
"""
from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def name_of(case: ElementTree.Element) -> str:
    return f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")


def reason_of(skipped: ElementTree.Element | None) -> str:
    text = (skipped.get("message") or skipped.text or "") if skipped is not None else ""
    return text.strip().splitlines()[0] if text.strip() else "no reason given"


MESSAGES, LONGEST_MESSAGE = 10, 300

# An exception of Python's that is no assertion. What a failed command printed ends in the reason.
EXCEPTION = re.compile(r'(failed on \w+ with ")?(?!AssertionError\b)[\w.<>]+: ')


def message_of(case: ElementTree.Element) -> str:
    """Returns the line of a failure that tells most, or an assertion as one line; "" if nothing is said."""
    failure = case.find("failure")
    if failure is None:
        failure = case.find("error")
    message = failure.get("message")
    lines = [line.strip() for line in (message or failure.text or "").splitlines() if re.search(r"\w", line)]
    if not lines:
        return ""
    if message and not EXCEPTION.match(message):
        told = " ".join(" ".join(lines).split())
    elif message:
        told = lines[-1]
    else:  # lit's, or the log of another command
        told = next((line for line in lines if re.search(r"(^|\W)error: ", line)), lines[-1])
    return told if len(told) <= LONGEST_MESSAGE else told[:LONGEST_MESSAGE - 3] + "..."


def print_failures(failed: list[str], messages: dict[str, str]) -> None:
    """Prints those without a message of their own first: `messages` has that of a line of `failed`, if there is one."""
    alike = {}
    for line in failed:
        if messages.get(line):
            alike.setdefault(messages[line], []).append(line)
    told = dict(list(alike.items())[:MESSAGES])
    shown = {lines[0] for lines in told.values()}
    for line in failed:
        if line not in shown:
            print(f"FAILED   {line}")
    for message, lines in told.items():
        print(f"FAILED   {lines[0]}\n         {message}" + (f" (in {len(lines)} tests)" if len(lines) > 1 else ""))


def main(folder: Path) -> int:
    passed, failed, skipped, messages = 0, [], [], {}
    for path in sorted(folder.glob("*.xml")):
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError as error:
            failed.append(f"{path.stem}: its results are incomplete ({error})")
            continue
        for case in root.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(f"{path.stem}: {name_of(case)}")
                messages[failed[-1]] = message_of(case)
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
    print_failures(failed, messages)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
