"""Private answers: what is asked, counted, drawn and booked, end to end."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import unveil
from unveil.dp.curator import (
    PrivateAnswer,
    make_ledger,
    price_questions,
    query,
    rebind_ledger,
    repeated_people_note,
)
from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn
from unveil.errors import UnveilError
from unveil.ledger import Ledger, PrivacyCost
from unveil.release import Table

AGE = NumberColumn("age", Decimal(0), Decimal(120), cuts=(Decimal(18), Decimal(65)))
WARD = CategoryColumn("ward", ("A", "B"))
VISITS = DeclaredTable((AGE, WARD), "patient", 2)
PEOPLE = DeclaredTable((AGE, WARD))
MUCH = "1000000"  # so large an ε that there is no noise to speak of


@pytest.fixture(autouse=True)
def own_register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test's ledgers are about is not known to the next."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def write_visits(path: Path, patients: int = 40, first: int = 0) -> Table:
    """Three visits of each patient, who is as old as their number, in wards A, B and C."""
    lines = [f"p{number},{number},{ward}\n" for number in range(first, first + patients) for ward in "ABC"]
    path.write_text("patient,age,ward\n" + "".join(lines))
    table = unveil.read(path)
    assert isinstance(table, Table)
    return table


@pytest.fixture
def visits(tmp_path: Path) -> Table:
    return write_visits(tmp_path / "visits.csv")


@pytest.fixture
def ledger(tmp_path: Path, visits: Table) -> Ledger:
    return make_ledger(tmp_path / "visits.ledger", visits, VISITS, "3000000")


def ask(table: Table, ledger: Ledger, *texts: str, epsilon: str = MUCH) -> list[PrivateAnswer]:
    return query(table, ledger, texts, epsilon=epsilon)


def test_without_noise_answers_are_those_of_the_rows_that_count(visits: Table, ledger: Ledger) -> None:
    """Two of three visits of each patient count, whichever; what does not depend on which is exact."""
    count, people, young = ask(visits, ledger, "count", "count people", "count people where age < 10")
    assert (count.value, people.value, young.value) == (80, 40, 10)
    mean, middle = ask(visits, make_second(ledger, visits), "mean age", "median age")
    assert mean.value == pytest.approx(19.5)
    assert middle.value in (19, 20)
    assert ledger.spent() == PrivacyCost.of("3000000")


def make_second(ledger: Ledger, visits: Table) -> Ledger:
    path = ledger.path.with_name("second.ledger")
    return make_ledger(path, visits, VISITS, "3000000", another_budget=True)


def test_histograms_have_every_declared_cell(visits: Table, ledger: Ledger) -> None:
    (answer,) = ask(visits, ledger, "histogram ward, age")
    assert list(answer.values)[:4] == [
        ("A", interval) for interval in ("0 to <18", "18 to <65", "65 to 120", "(missing)")
    ]
    assert len(answer.values) == 4 * 4
    assert sum(value for value in answer.values.values() if isinstance(value, int)) == 80
    assert answer.values["B", "(missing)"] == answer.values["(missing)", "0 to <18"] == 0
    with pytest.raises(UnveilError, match="several values"):
        _ = answer.value


def test_asking_again_is_free_also_in_other_words_and_for_less(visits: Table, ledger: Ledger) -> None:
    (first,) = ask(visits, ledger, "count where age > 5 and ward = 'A'", epsilon="0.5")
    for text, epsilon in (("COUNT where ward='A' and (age>5.0)", "0.5"), ("count where age>5 and ward='A'", "0.1")):
        (again,) = ask(visits, ledger, text, epsilon=epsilon)
        assert again == replace(first, asked_before=True)
    assert ledger.spent() == PrivacyCost.of("0.5")
    (better,) = ask(visits, ledger, "count where age > 5 and ward = 'A'", epsilon="0.6")
    assert not better.asked_before
    assert ledger.spent() == PrivacyCost.of("1.1")
    (best,) = ask(visits, ledger, "count where age > 5 and ward = 'A'", epsilon="0.2")
    assert best == replace(better, asked_before=True)


def test_all_questions_are_answered_or_none(tmp_path: Path, visits: Table) -> None:
    small = make_ledger(tmp_path / "small.ledger", visits, VISITS, "1")
    with pytest.raises(UnveilError, match=r"ε = 1\.2, but only ε = 1 is left of ε = 1; nothing was spent"):
        ask(visits, small, "count", "count people", "mean age", epsilon="0.4")
    assert small.spent() == PrivacyCost.of(0)
    assert not small.entries()
    ask(visits, small, "count", "count", "COUNT", epsilon="1")  # one question
    assert small.left() == PrivacyCost.of(0)


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [("count where agee > 1", "0.1"), ("mean ward", "0.1"), ("count", "0"), ("count", "-1"), ("count", "inf")],
)
def test_what_is_refused_spends_nothing(visits: Table, ledger: Ledger, text: str, epsilon: str) -> None:
    with pytest.raises(UnveilError):
        ask(visits, ledger, "count people", text, epsilon=epsilon)
    assert ledger.spent() == PrivacyCost.of(0)


def test_an_empty_selection_is_answered_like_any_other(visits: Table, ledger: Ledger) -> None:
    texts = ["count", "count people", "sum age", "mean age", "median age", "histogram ward", "top ward"]
    answers = ask(visits, ledger, *(f"{text} where age > 119 and age < 119" for text in texts), epsilon="1")
    assert [answer.asked_before for answer in answers] == [False] * len(texts)
    mean = answers[3]
    assert mean.interval is not None
    assert mean.interval[0] >= 0 and mean.interval[1] <= 120


def test_prices_are_those_that_are_paid(visits: Table, ledger: Ledger) -> None:
    texts = ["count people", "sum age", "median age", "top ward", "histogram ward"]
    priced = price_questions(ledger, texts, within=50)
    assert ledger.spent() == PrivacyCost.of(0)
    paid = query(visits, ledger, texts, within=50)
    assert [each.price.epsilon for each in priced] == [answer.epsilon for answer in paid]
    assert all(each.price.within is not None and each.price.within <= 50 for each in priced)
    assert ledger.spent().loss == sum(each.price.epsilon for each in priced)
    with pytest.raises(UnveilError, match="how exact a mean is depends on how many rows it is of"):
        price_questions(ledger, ["mean age"], within=50)
    assert [each.cost.loss for each in price_questions(ledger, texts, within=50)] == [0] * 5


def test_half_of_what_is_left_is_shared(tmp_path: Path, visits: Table) -> None:
    half = make_ledger(tmp_path / "half.ledger", visits, VISITS, "1")
    first = ask(visits, half, "count", "mean age", epsilon="half")
    assert [answer.epsilon for answer in first] == [Fraction(1, 4)] * 2
    (second,) = ask(visits, half, "median age", epsilon="half")
    assert second.epsilon == Fraction(1, 4)
    assert half.left() == PrivacyCost.of("1/4")


def test_parts_of_people_are_paid_for_once(tmp_path: Path) -> None:
    """Answers about disjoint categories cost the most that any one of them costs, if each row is a person."""
    table = write_visits(tmp_path / "rows.csv")
    rows = make_ledger(tmp_path / "rows.ledger", table, PEOPLE, "10")
    ask(table, rows, "count where ward = 'A'", "mean age where ward = 'B' and age > 3", epsilon="1")
    assert rows.spent() == PrivacyCost.of(1)
    ask(table, rows, "count where ward = 'A' and age > 7", epsilon="1")
    assert rows.spent() == PrivacyCost.of(2)
    ask(table, rows, "count where ward is other", epsilon="1")  # no part
    ask(table, rows, "count where ward = 'A' or ward = 'B'", epsilon="1")
    ask(table, rows, "count where not (ward = 'A')", epsilon="1")
    assert rows.spent() == PrivacyCost.of(5)


def test_people_with_several_rows_may_be_in_several_parts(visits: Table, ledger: Ledger) -> None:
    ask(visits, ledger, "count where ward = 'A'", "count where ward = 'B'", epsilon="1")
    assert ledger.spent() == PrivacyCost.of(2)


def test_a_ledger_answers_about_its_own_data_only(tmp_path: Path, visits: Table, ledger: Ledger) -> None:
    other = write_visits(tmp_path / "other.csv", first=100)
    with pytest.raises(UnveilError, match="the data are not those of the ledger"):
        ask(other, ledger, "count", epsilon="1")
    ask(visits, ledger, "count", epsilon="1")
    with pytest.raises(UnveilError, match="the data are not those of the ledger"):  # also if the answer is known
        ask(other, ledger, "count", epsilon="1")


def test_a_renamed_file_is_the_same_data(tmp_path: Path, visits: Table, ledger: Ledger) -> None:
    renamed = (tmp_path / "visits.csv").rename(tmp_path / "renamed.csv")
    again = unveil.read(renamed)
    assert isinstance(again, Table)
    ask(again, ledger, "count", epsilon="1")
    with pytest.raises(UnveilError, match="about the same data or people already"):
        make_ledger(tmp_path / "fresh.ledger", again, VISITS, "3")


def test_what_was_spent_stays_spent_on_new_data(tmp_path: Path, visits: Table, ledger: Ledger) -> None:
    (before,) = ask(visits, ledger, "count people", epsilon="10000")
    more = write_visits(tmp_path / "june.csv", patients=50)
    with pytest.raises(UnveilError, match="unveil budget rebind"):
        ask(more, ledger, "count people", epsilon="10000")
    rebind_ledger(ledger, more)
    assert ledger.spent() == PrivacyCost.of("10000")
    (after,) = ask(more, ledger, "count people", epsilon="10000")
    assert (before.value, after.value, after.asked_before) == (40, 50, False)
    assert ledger.spent() == PrivacyCost.of("20000")
    with pytest.raises(UnveilError, match="has no column ward"):
        rebind_ledger(ledger, without_ward(tmp_path))


def without_ward(folder: Path) -> Table:
    path = folder / "no-ward.csv"
    path.write_text("patient,age\np1,3\n")
    table = unveil.read(path)
    assert isinstance(table, Table)
    return table


def test_missing_and_unreadable_values_follow_the_rule(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("age,ward\n30,A\n,B\nold,A\n500,\n-7,C\n")
    table = unveil.read(path)
    assert isinstance(table, Table)
    gaps = make_ledger(tmp_path / "gaps.ledger", table, PEOPLE, "20000000")
    texts = ["sum age", "count where age is missing", "count where age != 30", "histogram ward", "histogram age"]
    total, missing, others, wards, ages = ask(table, gaps, *texts)
    assert (total.value, missing.value, others.value) == (30 + 120 + 0, 2, 2)
    assert wards.values == {("A",): 2, ("B",): 1, ("(other)",): 1, ("(missing)",): 1}
    assert ages.values == {("0 to <18",): 1, ("18 to <65",): 1, ("65 to 120",): 1, ("(missing)",): 2}


def test_answers_have_noise(visits: Table, ledger: Ledger) -> None:
    """40 counts of the same people with ε = .1 agree with probability below 10⁻³⁰."""
    answers = ask(visits, ledger, *(f"count people where age > -{number}" for number in range(1, 41)), epsilon="0.1")
    assert len({answer.value for answer in answers}) > 1


def test_people_with_several_rows_are_noticed(tmp_path: Path, visits: Table) -> None:
    named = tmp_path / "named.csv"
    lines = [f"p{n % 30},{n % 30 * 3},{n % 2},x{n % 30}\n" for n in range(90)]
    named.write_text("patient,age,sex,zip\n" + "".join(lines))
    table = unveil.read(named)
    assert isinstance(table, Table)
    assert "several rows seem to be about one person" in repeated_people_note(table, PEOPLE)
    assert not repeated_people_note(table, VISITS)


def test_a_file_that_changed_after_it_was_read_is_not_taken_for_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    table = write_visits(path)
    write_visits(path, first=100)
    with pytest.raises(UnveilError, match="has changed since it was read"):
        make_ledger(tmp_path / "late.ledger", table, PEOPLE, "3")
