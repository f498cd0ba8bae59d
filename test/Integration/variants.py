"""Which variants of a test run by default."""

from typing import Any, Iterable

import pytest


def variants(every: Iterable[Any], default: Iterable[Any]) -> list:
    """Returns a parameter for each of `every`. `default` has one for each kind of fault that the test finds; the others run
    under scripts/test.sh --full."""
    every, default = list(every), list(default)
    assert all(one in every for one in default), default
    return [pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=() if one in default else pytest.mark.full) for one in every]
