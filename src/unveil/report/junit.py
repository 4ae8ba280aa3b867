"""An assessment as JUnit XML, which continuous integration shows as tests.

The verdict is a test case, and so is every finding that decides. What is over its tolerance is a failure; what is open,
could not be measured or was cut short is an error, since it could not be decided. ``protect first`` fails, ``your
call`` is an error. What is for information only is no test case: it stands in the text output of the suite.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from unveil.assessment import Assessment
from unveil.finding import Finding
from unveil.report import phrases
from unveil.report.arrangement import findings_by_group
from unveil.report.terminal import plain_text
from unveil.wording import safe_text

__all__ = ["render_junit"]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_TEXT = 20_000


def render_junit(assessment: Assessment) -> str:
    """The verdict and the deciding findings as test cases."""
    suite = ET.Element("testsuite", name=_xml_text(assessment.release.name, 60))
    _add_verdict(suite, assessment)
    for group, findings in findings_by_group(assessment.findings).items():
        if group != "informs":
            for finding in findings:
                _add_finding(suite, finding, group)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", "0")
    suite.set("time", f"{assessment.provenance.seconds:.3f}")
    suite.set("timestamp", _xml_text(assessment.provenance.started[:19]))
    ET.SubElement(suite, "system-out").text = _NOT_XML.sub("�", plain_text(assessment, details=True))
    suites = ET.Element(
        "testsuites", {"name": "unveil", **{k: suite.get(k, "0") for k in ("tests", "failures", "errors")}}
    )
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _add_verdict(suite: ET.Element, assessment: Assessment) -> None:
    verdict = assessment.verdict
    case = ET.SubElement(
        suite, "testcase", classname="verdict", name=f"The verdict is {verdict.decision}", time="0.000"
    )
    if verdict.decision != "release":
        tag = "failure" if verdict.decision == "protect first" else "error"
        outcome = ET.SubElement(case, tag, message=_xml_text(verdict.sentence), type=verdict.decision)
        outcome.text = "\n".join(_xml_text(reason) for reason in verdict.reasons)


def _add_finding(suite: ET.Element, finding: Finding, group: str) -> None:
    name, seconds = _xml_text(finding.title), f"{finding.seconds:.3f}"
    case = ET.SubElement(suite, "testcase", classname=finding.id, name=name, time=seconds)
    if group == "within":
        return
    limit = "" if finding.tolerance is None else f", must be {finding.tolerance_text}"
    message = _xml_text(f"{phrases.measured_text(finding)}{limit}")
    kind = "truncated" if finding.method == "truncated" else finding.status or "failed"
    outcome = ET.SubElement(case, "failure" if group == "fails" else "error", message=message, type=kind)
    outcome.text = _xml_text(finding.sentence)


def _xml_text(text: object, limit: int = _MAX_TEXT) -> str:
    """Text that XML can hold, on one line."""
    return _NOT_XML.sub("�", safe_text(text, limit))
