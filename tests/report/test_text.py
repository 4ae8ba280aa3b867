"""The terminal text: verdict first, width kept, names that stay names."""

from __future__ import annotations

import io
import re
from dataclasses import replace

from rich.console import Console

from unveil.assessment import Assessment
from unveil.finding import Curve
from unveil.report import phrases
from unveil.report.terminal import plain_text, print_assessment

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def printed(assessment: Assessment, details: bool = False, **options: object) -> str:
    buffer = io.StringIO()
    print_assessment(assessment, Console(file=buffer, **options), details)  # type: ignore[arg-type]
    return buffer.getvalue()


def detailed(assessment: Assessment) -> str:
    return plain_text(assessment, details=True)


def test_the_verdict_comes_first(sample: Assessment) -> None:
    first = plain_text(sample).splitlines()
    revealed = phrases.reveals_values(sample)
    assert first[revealed].endswith(phrases.VERDICT_HEADLINES[sample.verdict.decision])


def test_everything_that_was_measured_is_said(hospital: Assessment) -> None:
    text = " ".join(detailed(hospital).split())
    for f in hospital.findings:
        assert f.value_text in text
        assert f.sentence in text
        assert phrases.status_text(f) in text
        assert f.attacker in text
    assert "1. Columns that name people: 1 column, must be at most 0 2." in text
    assert " fails" in text


def test_failures_and_doubts_are_said(friends: Assessment) -> None:
    text = plain_text(friends)
    assert "not measured" in text
    assert re.search(r"\d\. How many people share their number of friends: could not be measured\.", text)


def test_a_release_is_never_called_safe(baskets: Assessment) -> None:
    text = plain_text(baskets)
    assert "Within tolerance against these attackers" in text
    assert not re.search(r"\bsafe\b", text, re.IGNORECASE)


def test_plain_text_holds_no_control_characters_and_keeps_its_width(sample: Assessment) -> None:
    lines = plain_text(sample).splitlines()
    assert not CONTROL.search("".join(lines))
    assert all(line.startswith("     unveil ") for line in lines if len(line) > 100), "commands can be copied"


def test_colour_adds_only_colour(hostile: Assessment) -> None:
    text = printed(hostile, True, force_terminal=True, color_system="standard", width=100, no_color=False)
    without = re.sub("\x1b\\[[0-9;]*m", "", text)
    assert without != text
    assert not CONTROL.search(without.replace("\n", ""))
    assert [line.rstrip() for line in without.rstrip().splitlines()] == detailed(hostile).splitlines()


def test_markup_in_names_is_text(hostile: Assessment) -> None:
    text = detailed(hostile)
    assert "[bold]not bold[/bold]" in text
    assert "[bold red]x[/]" in text


def test_too_many_guessed_roles_to_type_go_into_a_file(hostile: Assessment) -> None:
    assert hostile.suggestion is not None and len(hostile.suggestion) > 400
    for text in (plain_text(hostile), detailed(hostile)):
        assert "column 190" not in text.partition("Who attacks")[0]
        assert any(line.strip().startswith("unveil init ") for line in text.splitlines())


def test_exposed_subjects_and_columns(hospital: Assessment) -> None:
    text = detailed(hospital)
    assert re.search(r"row 4,208 +100% +birth_date occurs once +diagnosis", text)
    assert "quasi-identifier (given by you): birth_date, sex and postal_code" in text
    assert "Treat it like the data itself" not in text


def test_revealed_values_come_with_a_warning(hostile: Assessment) -> None:
    assert plain_text(hostile).startswith("This shows values from the data.")


def test_the_deciding_curve_is_drawn_where_blocks_can_be(hospital: Assessment, baskets: Assessment) -> None:
    assert "█▂▁▁▁▁·  1 to 50+: people with the same birth date, sex and postal code" in detailed(hospital)
    assert "█▆▄▃▃▂▂▂▂▂▂  0 to 10" in detailed(baskets)
    assert "█" not in plain_text(hospital)


def test_of_several_lines_the_first_is_drawn_and_named(baskets: Assessment) -> None:
    finding = baskets.findings[0]
    curve = finding.curves[0]
    assert isinstance(curve, Curve)
    both = replace(
        curve, x=(*curve.x, 99.0), y=(*curve.y, 1.0), low=None, high=None, series=("[b]\x1b",) * 11 + ("guessing",)
    )
    text = detailed(replace(baskets, findings=(replace(finding, curves=(both,)),)))
    assert f"█▆▄▃▃▂▂▂▂▂▂  0 to 10: {curve.x_label}; line: [b]�" in " ".join(text.split()).replace("▂ 0", "▂  0")
    assert "guessing" not in text
    none = detailed(replace(baskets, findings=(replace(finding, curves=(replace(both, x=(), y=(), series=()),)),)))
    assert not re.search("[▁▂▃▄▅▆▇█]", none)


def test_links_are_left_to_the_page(linked: Assessment, baskets: Assessment) -> None:
    assert not re.search("[▁▂▃▄▅▆▇█]", detailed(linked))
    mixed = replace(baskets.findings[0], curves=(*linked.findings[0].curves, *baskets.findings[0].curves))
    assert "█▆▄▃▃▂▂▂▂▂▂  0 to 10" in detailed(replace(baskets, findings=(mixed,)))


def test_a_terminal_without_unicode_is_served(friends: Assessment, baskets: Assessment) -> None:
    for assessment in (friends, baskets):
        raw = io.BytesIO()
        with io.TextIOWrapper(raw, encoding="ascii", errors="strict") as stream:
            print_assessment(assessment, Console(file=stream, width=80))
            stream.flush()
            text = raw.getvalue().decode("ascii")
        assert phrases.VERDICT_HEADLINES[assessment.verdict.decision] in text


def test_a_narrow_terminal_is_kept(hospital: Assessment) -> None:
    for details in (False, True):
        text = printed(hospital, details, width=60)
        assert max(len(line) for line in text.splitlines() if not line.startswith("     unveil ")) <= 60
