"""What people read: full sentences, right plurals, numbers that can be read, and attackers described in full."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from contract.cases import CASES, assessed
from unveil import Finding
from unveil.questions import QUESTIONS
from unveil.wording import list_text, number_text, percent_text

NOUNS = (
    "row|person|item|basket|node|column|value|pair|entry|pseudonym|rating|release|link|set|way|point|class|label|"
    "identifier|itemset|fact|record|crack|standard deviation"
)
PLURALS = (
    "rows|people|items|baskets|nodes|columns|values|pairs|entries|pseudonyms|ratings|releases|links|sets|ways|points|"
    "classes|labels|identifiers|itemsets|facts|records|cracks|others"
)
ONE = r"(?<![\d.,])1"
MANY = r"(?<![\d.,])(?:0|[2-9]|[1-9]\d+|\d{1,3}(?:,\d{3})+)"
KINDS = r"(?:(?:random|known|known different|different|direct|similar|listed|single|other|more) )?"
WRONG = {
    "one of several": re.compile(rf"{ONE} {KINDS}(?:{PLURALS})\b"),
    "several of one": re.compile(rf"{MANY} {KINDS}(?:{NOUNS})\b(?!s)"),
    "one are": re.compile(
        rf"(?<!with ){ONE}(?: of [\d,]+ \w+(?: \([^)]*\))?| (?:{NOUNS}))? (?:are|were|have|match|stand|lack|fit)\b"
    ),
    "several is": re.compile(rf"(?<!up to ){MANY} {KINDS}(?:{PLURALS}) (?:is|was|has|matches|stands|lacks|fits)\b"),
    "small letter": re.compile(r"(?:^|[.?] )(?:over|under) \d"),
    "scientific": re.compile(r"\d[eE][+-]?\d"),
    "an interval without width": re.compile(r"(\S+%) \(\1 to \1\)"),
    "double space": re.compile(r"  "),
    "space before a mark": re.compile(r" [.,;:]"),
    "double mark": re.compile(r"[.,;]{2}"),
    "all of two": re.compile(r"\b[Aa]ll 2 "),
    "no number": re.compile(r"\b(?:nan|inf|None|True|False)\b"),
    "template": re.compile(r"[{}]"),
    "long fraction": re.compile(r"\d\.0*[1-9]\d{4,}"),
}
BOUND = "Nobody who knows fewer columns does better."


def texts(name: str) -> Iterator[tuple[str, str]]:
    """Everything that a reader of an assessment sees, with where it stands."""
    found = assessed(name)
    for f in found.findings:
        yield f"{f.id} title", f.title
        yield f"{f.id} sentence", f.sentence
        yield f"{f.id} attacker", f.attacker
        yield f"{f.id} missing", f.missing
        yield f"{f.id} value", f"{f.value_text} {f.unit_text}"
        yield f"{f.id} tolerance", f.tolerance_text
        for e in f.exposed:
            yield f"{f.id} because", e.because
        for e in assessed(name, reveal=True).find(f.id, column=f.column, known=f.known).exposed:
            yield from ((f"{f.id} values", v) for v in (e.values or {}).values())
        for c in f.curves:
            yield f"{f.id} curve", c.title
            yield f"{f.id} reading", c.reading
    yield "verdict", found.verdict.sentence
    for reason in found.verdict.reasons:
        yield "reason", reason


@pytest.mark.parametrize("name", CASES)
def test_words(name: str) -> None:
    for where, text in texts(name):
        for what, pattern in WRONG.items():
            hit = pattern.search(text)
            if where.endswith("value") and what == "small letter":
                continue
            assert not hit, f"{what}: {hit and hit.group()!r} in {where}: {text}"
        assert text.count("(") == text.count(")"), text
        assert "…" not in text, text


def test_the_patterns_find_what_they_should() -> None:
    wrong = ["at least 1 rows", "1 of 7 nodes (14%) stand in", "2 row match", "1.2096e+06", "100% (100% to 100%)",
             "1 rows are", "12 rows is", "1 random columns", "a  b", "about nan", "0 random rating"]  # fmt: skip
    right = ["1 row", "11 rows", "1 of 10 rows (10%) is in", "31 rows are", "0 rows fit", "2 of 3 items", "1,001 rows"]
    assert all(any(p.search(text) for p in WRONG.values()) for text in wrong)
    assert not [text for text in right if any(p.search(text) for p in WRONG.values())]


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_sentences(name: str) -> None:
    columns = set(getattr(CASES[name]().case.release, "columns", ()))
    for f in assessed(name).findings:
        for text in (f.sentence, *([f.missing] if f.missing else [])):
            first = text.split()[0].rstrip(",")
            assert text[0].isupper() or text[0].isdigit() or first in columns, text
            assert text.endswith("."), text
        for c in f.curves:
            first = c.reading.split()[0].rstrip(",")
            assert c.reading[0].isupper() or c.reading[0].isdigit() or first in columns, c.reading
            assert c.reading.endswith("."), c.reading
        assert f.title[0].isupper() or f.title.split()[0] in {*columns, "c"}, f.title
        assert not f.title.endswith(".")
    verdict = assessed(name).verdict
    assert verdict.sentence.endswith(".")
    assert (verdict.decision == "release") == (not verdict.reasons)


@pytest.mark.parametrize("name", CASES)
def test_attackers_are_described_in_full(name: str) -> None:
    attacked = CASES[name]()
    policy, kind = attacked.policy, attacked.case.release.kind
    for f in assessed(name).findings:
        text = f.attacker
        assert text[0].isupper() and text.endswith(".") and len(text.split()) >= 3, text
        if f.known and BOUND not in text and f.id != "items.itemsets_vulnerable":
            sensitive = {c.name for c in assessed(name).columns if c.role == "sensitive"}
            own = [c for c in f.known if c not in sensitive]
            assert list_text(own, 12) in text, text
            assert ("Also knows all other sensitive columns." in text) == (len(own) < len(f.known))
        if (
            f.question == "classes"
            and kind == "table"
            and f.known
            and f.baseline is None
            and f.column
            and (f.id != "classes.intersection")
        ):
            assert text.startswith("Knows that the person is in the data, and their ") or BOUND in text
        if policy.subject and f.question == "classes":
            assert "all of the person's rows" in text
        if name == "guessed" and f.question == "classes" and f.known and BOUND not in text:
            assert "(guessed: the policy does not say what an attacker knows)" in text
        if f.question == "linkage" and f.id not in ("linkage.matched", "linkage.original_matched"):
            among = policy.ratings[1:] or f.known
            assert among == policy.ratings[1:] or among in policy.quasi or name == "guessed"
            assert list_text(among, 12) in text and "and that the person is in the data." in text
            assert re.match(r"Knows \d+ random (?:values?|ratings?) of a person", text)
            fewer = "(all there are, if fewer)" in text
            assert fewer == (name in ("holes as value", "holes as wildcard", "holes as excluded", "ratings",
                                      "dated ratings", "visits", "films.csv", "patients.csv") and fewer)  # fmt: skip
        if f.question == "linkage" and f.id != "linkage.matched" and name in ("dated ratings", "films.csv"):
            assert text.endswith("These count as the same: stars at most 1 apart and date at most 30 days apart.")
        if f.id == "linkage.matched":
            assert text == (
                "Holds a file (known) with the age, zip and sex of 6 people, possibly with errors, and looks for them "
                "among 10 rows."
            )
        if f.id == "items.correlation":
            assert re.search(r" Also knows the .*pairs? of items that (?:is|are) bought together most often", text)
        if f.id == "items.never_together":
            assert text.endswith(" Also knows 1 pair of items that is never bought together.")
        if f.question == "items" and name in ("baskets", "plain baskets", "baskets.dat"):
            assert "often every item was bought" in text or f.id in ("items.sample_knowledge", "items.similar_pairs")
        if f.id in ("classes.population_uniques", "classes.k_map", "classes.presence"):
            assert text.endswith(", but does not know who is in the release.")
            assert re.search(r"\b(?:30|300) people\b", text)


def test_attackers_differ_where_they_know_different_things() -> None:
    for name in CASES:
        by_known: dict[tuple[str, ...], set[str]] = {}
        for f in assessed(name).findings:
            if f.id in ("classes.k", "classes.l_distinct") and f.known:
                by_known.setdefault(f.known, set()).add(f.attacker)
        told = [next(iter(attackers)) for attackers in by_known.values()]
        assert all(len(a) == 1 for a in by_known.values()) and len(set(told)) >= len({*told})


@pytest.mark.parametrize("name", CASES)
def test_missing_values_are_said_to_be_read_as_they_are(name: str) -> None:
    reading = CASES[name]().policy.missing_as
    said = {"value": "counts as a value of its own", "wildcard": "fits anything", "excluded": "are left out"}
    for f in assessed(name).findings:
        if f.question == "classes" and f.known and f.baseline is None and BOUND not in f.attacker:
            if f.id in ("classes.population_uniques", "classes.k_map", "classes.intersection"):
                continue
            assert said[reading] in f.missing, f.id
            assert ("A missing sensitive value does not count" in f.missing) == (f.column is not None)


VALUE_IN_SENTENCE = {  # how the value reads in the sentence
    "classes.uniques": percent_text, "classes.at_risk": percent_text, "classes.reidentification": percent_text,
    "classes.distinction": percent_text, "classes.separation": percent_text, "classes.homogeneity": percent_text,
    "classes.l_entropy": number_text, "classes.t": number_text, "classes.intersection": percent_text,
    "linkage.success": percent_text,
    "linkage.everything_learned": percent_text, "linkage.unicity": percent_text, "linkage.sparsity": percent_text,
    "linkage.success_bound": percent_text, "linkage.matched": percent_text, "items.point_knowledge": percent_text,
    "items.expected_cracks": number_text, "items.alpha_max": percent_text, "items.itemsets_vulnerable": percent_text,
    "items.sample_knowledge": number_text, "items.similar_pairs": number_text,
    "items.correlation": number_text, "items.never_together": number_text,
    "matching.expected_cracks": number_text, "network.degree_unique": percent_text, "classes.presence": percent_text,
    "network.unmasked": percent_text, "network.degree_found": percent_text, "network.signature_found": percent_text,
    "classes.dis_suda": percent_text, "classes.recursive_c": number_text, "classes.beta_enhanced": number_text,
    "classes.delta_disclosure": number_text, "classes.k": number_text, "classes.l_distinct": number_text,
    "classes.alpha": percent_text,
    "classes.known_items": number_text, "network.degree_k": number_text, "classes.population_uniques": percent_text,
    "classes.individual_risk": percent_text, "classes.household_risk": percent_text,
    "classes.household_uniques": percent_text,
    "inference.learned": percent_text, "inference.certain": percent_text,
    "release.identifiers": number_text, "classes.beta": lambda b: number_text(1 + b),
}  # fmt: skip
WITHOUT = {  # values that are told in words instead
    "classes.uniques": (0, None), "classes.at_risk": (0, None),
    "classes.l_entropy": (1, "everybody has the same value"),
    "classes.alpha": (1, "everybody has the same value"), "classes.recursive_c": (float("inf"), "No c is enough"),
    "classes.beta": (0, "In no class"), "classes.beta_enhanced": (float("inf"), "No β is enough"),
    "classes.delta_disclosure": (float("inf"), "No δ is enough"), "release.identifiers": (0, "No column"),
    "items.alpha_max": (1, "within the limit"), "classes.population_uniques": (0, "No row"),
    "linkage.success_bound": (1, "finds all of"), "classes.homogeneity": (0, None),
    "classes.household_uniques": (0, "Every household"),
    "inference.learned": (0, "for none of"), "inference.certain": (0, " certain."),
    "items.itemsets_vulnerable": (0, None), "network.degree_unique": (0, "No node"),
    "network.degree_found": (0, "finds none of"), "network.signature_found": (0, "finds none of"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_sentences_tell_the_value(name: str) -> None:
    for f in assessed(name).findings:
        if f.id not in VALUE_IN_SENTENCE or f.value is None:
            continue
        special, words = WITHOUT.get(f.id, (None, None))
        if f.value == special:
            assert words is None or words in f.sentence, f
        else:
            assert VALUE_IN_SENTENCE[f.id](f.value).lower() in f.sentence.lower(), f


def test_every_risk_and_question_is_described() -> None:
    for question in QUESTIONS:
        assert question.title.endswith("?")
        for risk in question.risks:
            assert risk.id.startswith(f"{question.name}.")
            assert risk.summary[0].isupper() and risk.summary.endswith(".")
            assert risk.title[0].isupper() and not risk.title.endswith(".")
            for pattern in ("one of several", "several of one", "double space", "template"):
                assert not WRONG[pattern].search(f"{risk.title} {risk.summary}")


def test_units_are_told_in_the_singular_and_plural() -> None:
    def told(value: float, unit: str) -> str:
        (f,) = (f for f in assessed("people").findings if f.id == "classes.k" and f.known == ("age", "zip"))
        return Finding.from_dict({**f.to_dict(), "value": value, "unit": unit}).unit_text

    assert [told(1, "people"), told(2, "people"), told(1, "rows"), told(0, "rows")] == [
        "person",
        "people",
        "row",
        "rows",
    ]
