"""What holds for every test: where CI is set, a test that is skipped has failed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def forbid_skip(report: Report) -> Report:
    """The report, failed if it was skipped where nothing may be. An expected failure (xfail) is no skip."""
    if os.environ.get("CI", "") not in {"", "0", "false"} and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, though CI is set: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return forbid_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return forbid_skip((yield))
