"""The language of questions: what is read, written in one way, and refused."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings

from dp.made_up import VISITS, Row, questions, rows
from reference.naive_answers import naive_matches
from unveil.dp.query_language import Comparison, IsMissing, Not, Question, parse_question
from unveil.errors import UnveilError


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("count", Question("count")),
        ("COUNT People", Question("count people")),
        ("median age", Question("quantile", ("age",), share=Decimal("0.5"))),
        ("quantile .25 of age", Question("quantile", ("age",), share=Decimal("0.25"))),
        ('sum "length of stay"', Question("sum", ("length of stay",))),
        ('histogram age, "ill\'ness"', Question("histogram", ("age", "ill'ness"))),
        ("count where age = -1.5e1", Question("count", (), Comparison("age", "=", (Decimal("-15"),)))),
        ("count where age is missing", Question("count", (), IsMissing("age"))),
        ("count where age is not missing", Question("count", (), Not(IsMissing("age")))),
        ("count where \"ill'ness\" in ('it''s')", Question("count", (), Comparison("ill'ness", "in", ("it's",)))),
    ],
)
def test_reads(text: str, question: Question) -> None:
    assert parse_question(text, VISITS) == question


@settings(max_examples=300, deadline=None)
@given(questions, rows)
def test_what_is_written_in_one_way_means_the_same(question: Question, lines: list[Row]) -> None:
    again = parse_question(question.canonical(), VISITS)
    assert again.canonical() == question.canonical()
    assert (again.measure, again.columns, again.share) == (question.measure, question.columns, question.share)
    for line in lines:
        assert naive_matches(line, again.condition, VISITS) == naive_matches(line, question.condition, VISITS)


@pytest.mark.parametrize(
    "texts",
    [
        (
            "count where age>5 and age<9",
            "Count  WHERE age < 9.0 AND (age > 5)",
            "count where age<9 and age>5 and age>5",
        ),
        ("median age", "quantile 0.50 of age", "quantile 5e-1 of age"),
        ("count where \"ill'ness\" in ('flu', 'cold')", "count where \"ill'ness\" in ('cold','flu','cold')"),
        (
            "count where \"ill'ness\" in ('flu')",
            "count where \"ill'ness\" = 'flu'",
            "count where not not \"ill'ness\"='flu'",
        ),
        ("count where age = -0", "count where age = 0"),
        ("count where (age=1 or age=2) and (age=2 or age=1)", "count where age=2 or age=1"),
        ("count where age < 1 or age > 2 and age != 7", "count where (age > 2 and age != 7) or age < 1"),
    ],
)
def test_the_same_question_in_other_words_is_written_in_one_way(texts: tuple[str, ...]) -> None:
    assert len({parse_question(text, VISITS).canonical() for text in texts}) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a question begins with a measure: count, sum, mean, median, quantile, histogram or top"),
        ("select age", "a question begins with count, sum, mean, median, quantile, histogram or top, not 'select'"),
        ("count; drop table", "the question cannot be read from '; drop table' on"),
        ("count age", "the question ends before 'age'; join conditions by and, or"),
        ("sum", "the name of a column is missing before the end"),
        ("sum agee", "no column called 'agee' was declared; did you mean 'age'?"),
        ('mean "ill\'ness"', 'a mean needs a column of numbers, and "ill\'ness" was declared as categories'),
        (
            'histogram "length of stay"',
            "a histogram of numbers needs cuts, and none were declared for 'length of stay'",
        ),
        ("histogram age, age", "a histogram names a column twice"),
        ("quantile 1 of age", "the share of a quantile must lie between 0 and 1"),
        ("quantile x of age", "the share of a quantile must be a number, not 'x'"),
        ("quantile .5 age", "after the share of a quantile comes of, not 'age'"),
        ("count where age", "after a column comes = != < <= > >= in or is, not the end"),
        ("count where age = 'x'", "the number to compare 'age' with must be a number, not 'x'"),
        ("count where age = 1.2.3", "the question cannot be read from '1.2.3' on"),
        ("count where \"ill'ness\" < 'x'", 'categories have no order: compare "ill\'ness" by = or !='),
        ('count where "ill\'ness" = 3', "texts stand in single quotes: \"ill'ness\" = 'text', not '3'"),
        ("count where (age = 1", "a bracket is not closed before the end"),
        ("count where age in 1", "after in comes a list in brackets, not '1'"),
        ("count where age in (1, 2", "a list is not closed before the end"),
        ("count where age is 3", "after is comes missing or other, not '3'"),
        ("count where age is other", "only categories can be other: 'age' was declared as numbers"),
        ("count where age <> 3", "write != for <>"),
        ("count where age == 3", "write = for =="),
        (
            "count where \"ill'ness\" = 'Flu'",
            "'Flu' is no declared category of \"ill'ness\"; did you mean 'flu'?; all others together: ill'ness is "
            "other",
        ),
        ("count where id = 'a'", "no column called 'id' was declared; known are age, length of stay and ill'ness"),
        ("count where " + "not " * 51 + "age = 1", "conditions may be nested 50 deep at most"),
        ("count where age = 1" + " " * 10_000, "a question may have 10,000 characters at most"),
    ],
)
def test_refuses_with_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(UnveilError) as refused:
        parse_question(text, VISITS)
    assert str(refused.value) == said
