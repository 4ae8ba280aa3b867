"""The terminal text: verdict first, width kept, names that stay names."""

from __future__ import annotations

import io
import random
import re
from dataclasses import replace

import pytest
from rich.console import Console

from report import samples
from unveil.assessment import Assessment, ProtectionResult
from unveil.finding import Curve
from unveil.report import phrases
from unveil.report.arrangement import GROUP_TITLES, attacker_letters, findings_by_group, order_findings
from unveil.report.terminal import MOST_LINES, plain_text, print_assessment
from unveil.verdict import decide_verdict
from unveil.wording import list_text, safe_text

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
        assert not [line for line in text.splitlines() if "--quasi" in line]
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


def crowded_assessment(findings: int, columns: int, name_length: int, rng: random.Random) -> Assessment:
    """A wide table: many findings by many attackers who know columns with long names."""
    hospital = samples.hospital()
    names = [f"{'x' * name_length} {i}" for i in range(columns)]
    made = []
    for i in range(findings):
        known = tuple(rng.sample(names, min(columns, rng.randrange(1, 9))))
        source = rng.choice(hospital.findings)
        says = list_text(known)
        made.append(
            replace(
                source,
                column=f"c{i}",
                known=known,
                title=f"{source.title}, knowing {list_text(known, 3)}",
                attacker=f"Knows {says} of person {rng.randrange(findings)}.",
                sentence=f"{source.sentence} {says} " * rng.randrange(1, 4),
            )
        )
    doubts = [f"Doubt {i} about {list_text(rng.sample(names, min(columns, 8)))}." for i in range(rng.randrange(9))]
    return replace(
        hospital, findings=tuple(made), verdict=decide_verdict(made, doubts), doubts=tuple(doubts), not_asked=("items",)
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_text_was_longer_than_a_screen(seed: int) -> None:
    rng = random.Random(seed)
    made = crowded_assessment(rng.choice((1, 30, 120)), rng.choice((1, 40)), rng.choice((1, 20, 58)), rng)
    lines = plain_text(made).splitlines()
    assert sum(max(1, -(-len(line) // 100)) for line in lines) <= MOST_LINES
    assert lines[-1].startswith("--details shows everything")
    shown = len([line for line in lines if re.search(r" (fails|open|within tolerance|for information)$", line)])
    said = re.search(r"Findings not shown here: (.*?)\.", " ".join(lines))
    left = sum(int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", said[1])) if said else 0
    assert shown + left == len(order_findings(made.findings)), "what is left out is counted"
    assert len(detailed(made).splitlines()) >= len(lines)


def test_every_sample_fits_on_a_screen(sample: Assessment) -> None:
    assert len(plain_text(sample).splitlines()) <= MOST_LINES


def test_findings_were_told_in_the_order_they_came(hospital: Assessment) -> None:
    text = detailed(hospital)
    titles = [text.index(title) for title in GROUP_TITLES.values() if title in text]
    assert titles == sorted(titles) and len(titles) >= 2
    groups = list(findings_by_group(hospital.findings))
    assert groups == [g for g in GROUP_TITLES if g in groups]


def test_attackers_were_told_on_every_finding(sample: Assessment) -> None:
    letters = attacker_letters(sample)
    assert len(set(letters.values())) == len(letters)
    text = " ".join(detailed(sample).split())
    for attacker, letter in letters.items():
        assert f" {letter} {safe_text(attacker, 1_000)}" in text
        others = [f.sentence for f in sample.findings] + [a for a in letters if a != attacker]
        assert text.count(safe_text(attacker, 1_000)) == 1 + sum(attacker in other for other in others)


def test_what_the_chosen_protection_does_was_cut(baskets: Assessment) -> None:
    """With details every sentence is whole; without, only whole sentences are given."""
    sentences = [
        f"The {k}th thing that this does is that it withstands a precision of {k}.5 baskets." for k in range(9)
    ]
    tried = (
        ProtectionResult(id="one", title="One way", sentence="It changes little.", usefulness=0.9),
        ProtectionResult(id="other", title="Other way", sentence=" ".join(sentences), usefulness=0.8, chosen=True),
    )
    after = replace(baskets, protections=tried)
    whole = " ".join(detailed(after).split())
    assert f"Other way: {' '.join(sentences)}" in whole
    assert "One way: It changes little." in whole
    brief = " ".join(plain_text(after).split())
    assert f"Other way: {' '.join(sentences[:3])}" in brief
    told = brief.partition("Other way: ")[2].partition("Finding ")[0].strip()
    assert told.endswith(".5 baskets.")
