"""The page of field reports: every proof that it names is a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs/field-reports.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| reported"))
]
UNPROVED = {"by the data sheet", "by `tools/bench disk`", "on a Pi only"}


def test_every_report_has_an_answer_and_a_proof_that_exists() -> None:
    assert len(ROWS) > 40
    for reported, answer, proof in ROWS:
        assert reported
        assert answer
        if proof in UNPROVED:
            continue
        named = re.fullmatch(r"`(test_\w+\.py)::(test_\w+)`", proof)
        assert named, proof
        text = (ROOT / "tests" / named[1]).read_text(encoding="utf-8")
        assert f"def {named[2]}(" in text, proof
