"""Assessments as they come out of real use, made by hand: nothing here is measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unveil.assessment import Assessment, Column, ProtectionResult, Provenance, Summary
from unveil.finding import Curve, ExposedSubject, Finding, LinkChart
from unveil.policy import Policy
from unveil.verdict import decide_verdict

NASTY = "<script>alert(1)</script>"
ANSI = "\x1b[31mred\x1b[0m"
OVERRIDE = "\u202egpj.exe"


def hospital() -> Assessment:
    """A hospital table that must be protected first."""
    policy = Policy(
        identifier=("case_id",),
        quasi=(("birth_date", "sex", "postal_code"),),
        sensitive=("diagnosis",),
        tolerance={"classes.at_risk": None},
        seed=7,
    )
    findings = (_identifiers(), _k(), _uniques(), _at_risk(), _known_attributes(), _inference())
    columns = (
        Column("case_id", "identifier", "given"),
        Column("birth_date", "quasi", "given"),
        Column("sex", "quasi", "given"),
        Column("postal_code", "quasi", "given"),
        Column("diagnosis", "sensitive", "given"),
        Column("ward", "insensitive", "assumed", "not named in the policy"),
        Column("cost", "insensitive", "assumed", "not named in the policy"),
    )
    size = {"rows": 12_000, "people": 9_412, "columns": 7}
    notes = ("214 missing values were found in postal_code, in 2 spellings.",)
    return _assessment("patients-2025.csv", "table", size, policy, findings, columns, notes=notes)


def baskets() -> Assessment:
    """Shopping baskets within tolerance."""
    policy = Policy(tolerance={"items.point_knowledge": 0.1}, require=("items",))
    sizes = tuple(float(x) for x in range(0, 11))
    cracks = Curve(
        title="Items recognised, by how well the attacker knows their popularity",
        kind="line",
        x_label="width of the attacker's belief, in percent of each item's frequency",
        y_label="share of items recognised",
        x=sizes,
        y=(0.072, 0.05, 0.035, 0.026, 0.021, 0.018, 0.016, 0.014, 0.013, 0.012, 0.011),
        low=(0.072, 0.045, 0.031, 0.022, 0.017, 0.015, 0.013, 0.011, 0.01, 0.009, 0.009),
        high=(0.072, 0.055, 0.039, 0.03, 0.025, 0.021, 0.019, 0.017, 0.016, 0.015, 0.014),
        reading="The further right, the less precisely the attacker knows how often each item is bought.",
        mark=4.0,
        mark_label="a competitor's sales figures",
    )
    finding = Finding(
        id="items.point_knowledge",
        question="items",
        title="Items recognised by an attacker who knows every frequency exactly",
        value=0.072,
        unit="share",
        method="exact",
        subjects=16_470,
        share=(0.072, 0.072),
        tolerance=0.1,
        direction="lower",
        decides=True,
        attacker="Knows exactly how often every item was bought.",
        baseline=1 / 16_470,
        sentence="Of 16,470 items, 1,186 can be recognised by their frequency alone; the others share it with "
        "another item.",
        curves=(cracks,),
        exposed=(
            ExposedSubject(subject="item 17", risk=1.0, because="no other item is bought as often"),
            ExposedSubject(subject="item 4", risk=0.5, because="one other item is bought as often"),
        ),
        source="Lakshmanan, Ng and Ramesh, ACM TKDD 2(3), 2008, Lemma 3.",
    )
    believed = replace(
        finding,
        id="items.estimate",
        title="Items recognised by an attacker with rough beliefs",
        value=0.026,
        method="estimate",
        decides=False,
        tolerance=None,
        share=None,
        curves=(),
        exposed=(),
        attacker="Knows how often every item was bought to within a tenth.",
        sentence="Some 428 items are expected to be recognised.",
        source="Lakshmanan, Ng and Ramesh, ACM TKDD 2(3), 2008, O-estimate.",
    )
    size = {"baskets": 88_162, "items": 16_470}
    return _assessment("grocery.dat", "transactions", size, policy, (finding, believed))


def friends() -> Assessment:
    """A friendship graph that a person has to decide about."""
    policy = Policy(seed=3)
    simulated = Finding(
        id="network.active",
        question="network",
        title="People found by an attacker with seven planted accounts",
        value=0.021,
        unit="share",
        method="simulation",
        interval=(0.009, 0.041),
        confidence=0.975,
        subjects=4_039,
        share=(0.009, 0.041),
        tolerance=0.03,
        direction="lower",
        decides=True,
        attacker="Created seven accounts before the release and befriended the people they want to find.",
        missing="The graph has no missing values.",
        baseline=1 / 4_039,
        sentence="In 400 played attacks, between 36 and 166 of 4,039 people were found.",
        source="Backstrom, Dwork and Kleinberg, WWW 2007.",
    )
    failed = Finding(
        id="network.failed",
        question="network",
        title="How many people share their number of friends",
        value=None,
        unit="",
        method=None,
        subjects=0,
        direction="lower",
        decides=True,
        attacker="",
        sentence="This could not be measured: not enough memory.",
    )
    size = {"nodes": 4_039, "edges": 88_234}
    return _assessment("friends.edges", "graph", size, policy, (simulated, failed))


def linked() -> Assessment:
    """Diseases under pseudonyms that an attacker pairs by what they believe, few of them and many."""
    few = Finding(
        id="items.cracks",
        question="items",
        title="Diseases whose pseudonym is cracked",
        value=1.61,
        unit="diseases",
        method="exact",
        subjects=5,
        share=(0.322, 0.322),
        direction="lower",
        decides=False,
        attacker="Knows roughly how frequent each disease is.",
        baseline=1.0,
        sentence="Of 5 diseases, 1.6 are cracked on average; guessing alone cracks 1.",
        curves=(five_links(),),
        source="Lakshmanan, Ng and Ramesh, ACM TKDD 2(3), 2008.",
    )
    many = replace(few, id="items.many_cracks", title="Items whose pseudonym is cracked", curves=(band_links(300, 5),))
    return _assessment("diseases.dat", "transactions", {"baskets": 900, "items": 5}, Policy(), (few, many))


def five_links() -> LinkChart:
    """The candidates 00111, 00111, 01111, 11110 and 11100: 18 perfect matchings."""
    counts = ((0, 0, 5, 6, 7), (0, 0, 5, 6, 7), (0, 6, 4, 4, 4), (8, 6, 2, 2, 0), (10, 6, 2, 0, 0))
    true = (2, 3, 4, 0, 1)
    return LinkChart(
        title="Which disease may be which pseudonym",
        left_label="disease",
        right_label="pseudonym",
        left=("1", "2", "3", "4", "5"),
        right=("1", "2", "3", "4", "5"),
        risk=tuple(row[j] / 18 for row, j in zip(counts, true, strict=True)),
        pairs=tuple((i, j, c / 18) for i, row in enumerate(counts) for j, c in enumerate(row) if c),
        reading="The stronger a line, the likelier the pair; the risk is the probability of the true one.",
    )


def band_links(n: int, reach: int) -> LinkChart:
    """Entry i may be any pseudonym at most so far from 7i modulo n, where 7 and n have no divisor in common."""
    near = [[j for j in range(i - reach, i + reach + 1) if 0 <= j < n] for i in range(n)]
    return LinkChart(
        title="Who may be whom",
        left_label="entry",
        right_label="pseudonym",
        left=tuple(str(i + 1) for i in range(n)),
        right=tuple(str(i + 1) for i in range(n)),
        risk=tuple(1 / len(row) for row in near),
        pairs=tuple((i, 7 * j % n, 1 / len(row)) for i, row in enumerate(near) for j in row),
        reading="The darker a cell, the likelier the pair.",
    )


def hostile() -> Assessment:
    """Names from outside that would like to be more than names, and a lot of them."""
    names = [NASTY, "=cmd()", ANSI, OVERRIDE, "]]>", "\"'`{{ 7*7 }}", "[bold red]x[/]", "x" * 400, "\ufffe\uffff\x00"]
    names += [f"column {i}" for i in range(200 - len(names))]
    policy = Policy(quasi=(tuple(names[:60]),), guessed=tuple(names))
    finding = Finding(
        id="classes.k",
        question=NASTY,
        title=f"Smallest class {NASTY} {ANSI}",
        value=1e300,
        unit=f"rows {NASTY}",
        method="simulation",
        interval=(1.0, 1e300),
        confidence=0.95,
        subjects=10**15,
        share=(0.0, 1.0),
        tolerance=5.0,
        direction="higher",
        decides=True,
        attacker=f"Knows {NASTY}, {OVERRIDE} and ]]>.",
        missing=f"{ANSI} counts as a value.",
        baseline=1e-12,
        sentence=f"{'very long ' * 60}{NASTY} [bold]not bold[/bold] {ANSI}",
        curves=tuple(_hostile_drawings(names)),
        exposed=tuple(
            ExposedSubject(
                subject=f"row {NASTY}",
                risk=1.0,
                because=f"unique by {name}",
                learns=tuple(names[:3]),
                values={name: f"=HYPERLINK({NASTY})"},
            )
            for name in names[:6]
        ),
        source=f"{NASTY}, 2020.",
    )
    columns = tuple(Column(n, "quasi", "guessed", f"looks like {n}") for n in names)
    size = {"rows": 10**15, NASTY: 3}
    suggestion = "--quasi " + ",".join(f"'{n}'" for n in names)
    return _assessment(
        f"{NASTY}.csv", "table", size, policy, (finding,), columns, suggestion=suggestion, notes=(NASTY, ANSI)
    )


def crowded() -> Assessment:
    """Charts with more in them than there is room for."""
    shared = {"title": "Crowded", "x_label": "where", "y_label": "how many", "reading": "There is a lot of it."}
    many = tuple(float(i % 29) for i in range(200))
    curves = (
        Curve(kind="bars", x=tuple(f"{i:03}" for i in range(200)), y=many, x_scale="category", **shared),
        Curve(
            kind="bars", x=tuple(f"a rather long name {i}" for i in range(200)), y=many, x_scale="category", **shared
        ),
        Curve(kind="line", x=tuple(f"week {i}" for i in range(200)), y=many, x_scale="category", **shared),
        Curve(kind="bars", x=tuple(map(float, range(1, 201))), y=many, x_scale="log", mark=190.0, **shared),
        Curve(kind="bars", x=tuple(1e4 * i for i in range(200)), y=tuple(1e7 * y for y in many), **shared),
        Curve(
            kind="line", x=(1.0, 1.1, 1.2, 50.0, 99.9, 100.0), y=many[:6], mark=100.0, mark_label="w " * 40, **shared
        ),
        _close_lines(tuple(f"one of many lines {i}" for i in range(6)), **shared),
        _close_lines(tuple("Measured by the Way " * n for n in (1, 3, 4)), mark=199.0, mark_label="w " * 40, **shared),
        _close_lines(("a line", "名" * 9), **shared),
        _complete_links(59, 1),
        _complete_links(30, 30),
        _complete_links(4, 900),
        _complete_links(900, 4),
    )
    finding = Finding(
        id="classes.crowded",
        question="classes",
        title="Crowded charts",
        value=0.25,
        unit="share",
        method="bound",
        interval=(0.2, 0.3),
        subjects=200,
        direction="lower",
        decides=False,
        attacker="Looks closely.",
        sentence="There is a lot to see.",
        curves=curves,
    )
    return _assessment("crowded.csv", "table", {"rows": 200}, Policy(), (finding,))


def _close_lines(names: tuple[str, ...], **given: Any) -> Curve:
    """Lines that run close to each other."""
    points = [(float(x), 1e5 * (x + 3 * i), name) for i, name in enumerate(names) for x in range(200)]
    x, y, series = zip(*points, strict=True)
    low, high = tuple(v / 2 for v in y), tuple(v * 2 for v in y)
    return Curve(kind="line", x=x, y=y, low=low, high=high, series=series, **given)


def _complete_links(n: int, m: int) -> LinkChart:
    """Everyone may be anyone."""
    return LinkChart(
        title="Everyone",
        left_label="somebody or other",
        right_label="somebody or other",
        left=tuple(f"a rather long name {i}" for i in range(n)),
        right=tuple(f"a rather long name {j}" for j in range(m)),
        risk=tuple(1e-9 if i % 2 else 0.99999 for i in range(n)),
        pairs=tuple((i, j, 1 / m) for i in range(n) for j in range(m)),
        true=tuple((i, i) for i in range(min(n, m))),
        reading="There is a lot of it.",
    )


def _hostile_drawings(names: list[str]) -> list[Curve | LinkChart]:
    shared = {"title": f"By column {NASTY} {ANSI}", "x_label": f"{NASTY} ]]>", "y_label": ANSI, "reading": NASTY * 9}
    return [
        Curve(kind="bars", x=tuple(names), y=tuple(float(i) for i in range(200, 0, -1)), x_scale="category", **shared),
        Curve(kind="line", x=(1.0, 1e9, 1e18), y=(1.0, 1e300, 3.0), x_scale="log", mark=0.0, mark_label="no", **shared),
        Curve(kind="line", x=(), y=(), **shared),
        Curve(kind="line", x=(), y=(), series=(), **shared),
        Curve(
            kind="line",
            x=(1.0, 2.0, 1.0, 1e300, 9.0),
            y=(1, 1, 2, 3, 1e300),
            series=(NASTY, NASTY, ANSI, ANSI, "no"),
            **shared,
        ),
        nasty_links(names[:9]),
        nasty_links(names[:90]),
    ]


def nasty_links(names: list[str]) -> LinkChart:
    """Each of these names with itself, and with the first."""
    n = len(names)
    return LinkChart(
        title=f"Who is {NASTY} {ANSI}",
        left_label=f"{NASTY} ]]>",
        right_label=ANSI,
        left=tuple(names),
        right=tuple(names),
        risk=(0.5, *(1e-9,) * (n - 1)),
        pairs=tuple(sorted({(i, j, 0.5) for i in range(n) for j in (0, i)})),
        true=tuple((i, i) for i in range(n)),
        reading=NASTY * 9,
    )


def _identifiers() -> Finding:
    return Finding(
        id="release.identifiers",
        question="release",
        title="Columns that name people",
        value=1,
        unit="columns",
        method="exact",
        subjects=9_412,
        share=(1.0, 1.0),
        tolerance=0,
        direction="lower",
        decides=True,
        attacker="Reads the file.",
        sentence="The column case_id tells people apart by itself; whoever holds the hospital's case list knows "
        "everyone.",
    )


def _k() -> Finding:
    sizes = ("1", "2", "3–4", "5–9", "10–19", "20–49", "50+")
    people = (6_712.0, 1_404.0, 811.0, 352.0, 96.0, 37.0, 0.0)
    curve = Curve(
        title="How many people stand in classes of each size",
        kind="bars",
        x_label="people with the same birth date, sex and postal code",
        y_label="people",
        x=sizes,
        y=people,
        x_scale="category",
        reading="People left of the line share their values with too few others to be hidden among them.",
        mark=5,
        mark_label="tolerated from 5",
    )
    return Finding(
        id="classes.k",
        question="classes",
        title="Smallest group of people who look alike (k)",
        value=1,
        unit="people",
        method="exact",
        subjects=9_412,
        share=(0.948, 0.948),
        tolerance=5,
        direction="higher",
        decides=True,
        attacker="Knows the birth date, sex and postal code of the person they look for.",
        missing="A missing value counts as a value of its own.",
        sentence="8,927 of 9,412 people stand in groups of fewer than 5; the smallest group is one person.",
        curves=(curve,),
        exposed=tuple(
            ExposedSubject(
                subject=f"row {n:,}",
                risk=risk,
                because=why,
                learns=("diagnosis",),
            )
            for n, risk, why in (
                (17, 1.0, "the only man in postal_code of that row"),
                (4_208, 1.0, "birth_date occurs once"),
                (9_001, 1.0, "birth_date and postal_code occur together once"),
                (11_340, 0.5, "shared with one other row, of the same diagnosis"),
            )
        ),
        source="Samarati and Sweeney, SRI-CSL-98-04, 1998.",
    )


def _uniques() -> Finding:
    columns = ("birth_date, postal_code", "birth_date, sex, postal_code", "birth_date, sex", "sex, postal_code", "sex")
    curve = Curve(
        title="Which combination of columns singles people out",
        kind="bars",
        x_label="what the attacker knows",
        y_label="share of people who are unique",
        x=columns,
        y=(0.64, 0.713, 0.213, 0.004, 0.0),
        x_scale="category",
        reading="The longest bar is the combination that needs protection first.",
    )
    return Finding(
        id="classes.uniques",
        question="classes",
        title="People who are the only one of their kind",
        value=0.713,
        unit="share",
        method="exact",
        subjects=9_412,
        share=(0.713, 0.713),
        tolerance=0,
        direction="lower",
        decides=True,
        attacker="Knows the birth date, sex and postal code of the person they look for.",
        missing="A missing value counts as a value of its own.",
        baseline=1 / 9_412,
        sentence="6,712 of 9,412 people are the only one with their birth date, sex and postal code.",
        curves=(curve,),
        source="Sweeney, Simple demographics often identify people uniquely, 2000.",
    )


def _at_risk() -> Finding:
    return Finding(
        id="classes.at_risk",
        question="classes",
        title="People in groups of fewer than 5",
        value=0.948,
        unit="share",
        method="exact",
        subjects=9_412,
        share=(0.948, 0.948),
        direction="lower",
        decides=False,
        attacker="Knows the birth date, sex and postal code of the person they look for.",
        sentence="8,927 of 9,412 people can be narrowed down to fewer than 5.",
    )


def _known_attributes() -> Finding:
    curve = Curve(
        title="People found, by how much the attacker knows",
        kind="line",
        x_label="number of facts known about a person",
        y_label="share of people found",
        x=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0),
        y=(0.03, 0.31, 0.74, 0.93, 0.985, 0.99),
        low=(0.02, 0.28, 0.71, 0.91, 0.97, 0.98),
        high=(0.045, 0.34, 0.77, 0.95, 0.992, 0.997),
        reading="Three facts are enough to find most people; the band shows how far chance may have moved the line.",
        mark=3,
        mark_label="birth date, sex, postal code",
    )
    return Finding(
        id="linkage.known",
        question="linkage",
        title="People found by an attacker who knows three facts",
        value=0.74,
        unit="share",
        method="simulation",
        interval=(0.71, 0.77),
        confidence=0.975,
        subjects=9_412,
        share=(0.71, 0.77),
        tolerance=0.05,
        direction="lower",
        decides=True,
        attacker="Knows any three facts about the person they look for, one of them slightly wrong.",
        missing="Missing values match everything.",
        baseline=0.0001,
        sentence="With three facts, 71% to 77% of the people were found; guessing finds one in 9,412.",
        curves=(curve,),
        source="Narayanan and Shmatikov, IEEE S&P 2008.",
    )


def _inference() -> Finding:
    curve = Curve(
        title="Sizes of the groups",
        kind="bars",
        x_label="people in the group",
        y_label="number of groups",
        x=tuple(float(x) for x in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 21, 26, 33, 48)),
        y=tuple(float(y) for y in (6712, 702, 190, 60, 31, 18, 12, 9, 5, 4, 3, 3, 2, 1, 1, 1, 1)),
        x_scale="log",
        reading="Most groups hold a single person.",
        mark=5,
        mark_label="tolerated from 5",
    )
    return Finding(
        id="inference.score",
        question="inference",
        title="Bits learned about the diagnosis",
        value=2.31,
        unit="bits",
        method="estimate",
        subjects=9_412,
        direction="lower",
        decides=False,
        attacker="Knows the birth date, sex and postal code of the person they look for.",
        baseline=0.4,
        sentence="An attacker learns about 2.3 bits about a person's diagnosis; the table's totals alone give 0.4.",
        curves=(curve,),
    )


def sample_doubts(policy: Policy) -> list[str]:
    return [f"Nobody said what these columns are: {', '.join(policy.guessed)}."] if policy.guessed else []


def _assessment(
    name: str,
    kind: str,
    size: dict[str, int],
    policy: Policy,
    findings: tuple[Finding, ...],
    columns: tuple[Column, ...] = (),
    *,
    suggestion: str | None = None,
    notes: tuple[str, ...] = (),
) -> Assessment:
    return Assessment(
        release=Summary(kind, name, size, notes),
        verdict=decide_verdict(findings, sample_doubts(policy)),
        findings=findings,
        columns=columns,
        suggestion=suggestion,
        provenance=Provenance(
            hmac_sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            beside={"population": "3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b"},
            key_id="4c1f7a90b3d2e586",
            plain_sha256=None,
            versions={"python": "3.11.7", "unveil": "0.1.0", "numpy": "2.3.1", "duckdb": "1.4.0"},
            policy=policy.to_dict(),
            seed=policy.seed,
            started="2026-02-03T09:15:00+00:00",
            seconds=4.217,
        ),
    )


def protection_result(name: str, useful: float | None, harmed: float | None, chosen: bool = False) -> ProtectionResult:
    """A protection that keeps so much and harms at most so many."""
    interval = None if harmed is None else (harmed / 2, harmed)
    return ProtectionResult(
        id=name, title=name.upper(), sentence="", usefulness=useful, harmed=interval, decision="release", chosen=chosen
    )
