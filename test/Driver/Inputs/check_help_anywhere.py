"""Checks that --help prints a command's help wherever it stands in the line."""

import re
import subprocess
import sys


def help_of(*words):
    done = subprocess.run(["gpuopt", *words], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"gpuopt {' '.join(words)} has status {done.returncode}: {done.stderr}")
    return done.stdout


top = help_of("--help")
commands = re.findall(r"^  ([a-z]+) +- ", top, re.MULTILINE)
assert {"train", "profile", "tokenize", "settings"} <= set(commands), commands
# Python prints the help of tokenize, if it has gpuopt's package.
if subprocess.run(["gpuopt", "tokenize", "--help"], capture_output=True).returncode != 0:
    commands.remove("tokenize")
for command in commands:
    expected = help_of(command, "--help")
    assert expected != top, command
    assert "usage" in expected.lower(), command
    for words in (["none", "--help"], ["none", "--flag=1", "--help", "more"], ["--json", "--help"]):
        assert help_of(command, *words) == expected, (command, words)
    assert help_of("--help", command) == expected, command
