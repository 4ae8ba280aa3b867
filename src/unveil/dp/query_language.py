"""The small language in which questions are asked.

    count where diagnosis = 'flu' and age >= 65
    count people where not (sex = 'f' or age is missing)
    count where diagnosis is other
    sum stay where ward in ('A', 'B')
    mean age
    median age, quantile 0.9 of age
    histogram age
    histogram diagnosis, sex
    top diagnosis

Names with other characters than letters, digits and underscores stand in double quotes, texts in single ones; a quote
within is doubled. Keywords may be in capitals. Nothing of a question is ever part of a query to the engine as it was
typed: it is parsed here, checked against what was declared (:mod:`unveil.dp.declarations`), and written anew.

Whether a question is allowed depends on its text and on the declarations, never on rows.

Conditions see values as they were declared: numbers clamped and rounded, categories that were declared. A comparison
with a missing value is false, and ``not`` turns that into true.

**Two ways to ask the same.** :meth:`Question.canonical` writes a question in one way: parts of ``and``, ``or`` and
``in`` in alphabetical order, each once. Whoever repeats a question in other words gets the same answer, and pays once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from unveil.dp.declarations import CategoryColumn, DeclaredTable, NumberColumn, parse_decimal, plain_text
from unveil.errors import UnveilError
from unveil.wording import did_you_mean, safe_text

__all__ = ["AllOf", "AnyOf", "Comparison", "Condition", "IsMissing", "IsOther", "Not", "Question", "parse_question"]

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)(?![\w.])
      | (?P<word>[^\W\d]\w*)
      | "(?P<name>(?:[^"]|"")*)"
      | '(?P<text>(?:[^']|'')*)'
      | (?P<sign><=|>=|!=|=|<|>|\(|\)|,)
    )""",
    re.VERBOSE,
)
_MOST_CHARACTERS = 10_000
_MOST_DEPTH = 50
_KEYWORDS = {"and", "or", "not", "in", "is", "missing", "other", "where", "of"}
_SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


# ---- what is asked ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """A column against one value, or against several if the sign is ``in``. False if the value is missing."""

    column: str
    sign: str
    values: tuple[str | Decimal, ...]

    def canonical(self) -> str:
        """In one way."""
        texts = sorted({_literal(value) for value in self.values})
        if len(texts) == 1:
            return f"{_name(self.column)} {'=' if self.sign == 'in' else self.sign} {texts[0]}"
        return f"{_name(self.column)} in ({', '.join(texts)})"


@dataclass(frozen=True)
class IsMissing:
    """That a value is missing."""

    column: str

    def canonical(self) -> str:
        """In one way."""
        return f"{_name(self.column)} is missing"


@dataclass(frozen=True)
class IsOther:
    """That a category is none of those declared."""

    column: str

    def canonical(self) -> str:
        """In one way."""
        return f"{_name(self.column)} is other"


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    condition: Condition

    def canonical(self) -> str:
        """In one way."""
        return f"not ({self.condition.canonical()})"


@dataclass(frozen=True)
class AllOf:
    """All of several conditions."""

    conditions: tuple[Condition, ...]

    def canonical(self) -> str:
        """In one way."""
        return " and ".join(map(_in_brackets, self.conditions))


@dataclass(frozen=True)
class AnyOf:
    """At least one of several conditions."""

    conditions: tuple[Condition, ...]

    def canonical(self) -> str:
        """In one way."""
        return " or ".join(map(_in_brackets, self.conditions))


Condition = Comparison | IsMissing | IsOther | Not | AllOf | AnyOf


@dataclass(frozen=True)
class Question:
    """What is asked: ``count``, ``count people``, ``sum``, ``mean``, ``quantile``, ``histogram`` or ``top``, of which
    columns, under which condition."""

    measure: str
    columns: tuple[str, ...] = ()
    condition: Condition | None = None
    share: Decimal | None = None

    def canonical(self) -> str:
        """In one way."""
        said = self.measure
        if self.share is not None:
            said += f" {plain_text(self.share)} of"
        if self.columns:
            said += f" {', '.join(map(_name, self.columns))}"
        return said if self.condition is None else f"{said} where {_simplify(self.condition).canonical()}"


def _in_brackets(condition: Condition) -> str:
    text = condition.canonical()
    return f"({text})" if isinstance(condition, (AllOf, AnyOf)) else text


def _simplify(condition: Condition) -> Condition:
    """The same condition with each part once, in alphabetical order, and without brackets that do nothing."""
    if isinstance(condition, Not):
        inner = _simplify(condition.condition)
        return inner.condition if isinstance(inner, Not) else Not(inner)
    if not isinstance(condition, (AllOf, AnyOf)):
        return condition
    parts = dict[str, Condition]()
    for part in map(_simplify, condition.conditions):
        for each in part.conditions if isinstance(part, (AllOf, AnyOf)) and type(part) is type(condition) else (part,):
            parts[each.canonical()] = each
    ordered = tuple(parts[text] for text in sorted(parts))
    return ordered[0] if len(ordered) == 1 else type(condition)(ordered)


def _name(column: str) -> str:
    is_plain = _PLAIN_NAME.fullmatch(column) and column.lower() not in _KEYWORDS | {"people"}
    return column if is_plain else '"' + column.replace('"', '""') + '"'


def _literal(value: str | Decimal) -> str:
    return plain_text(value) if isinstance(value, Decimal) else "'" + value.replace("'", "''") + "'"


# ---- reading it ------------------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str
    text: str

    def shown(self) -> str:
        return "the end" if self.kind == "end" else repr(safe_text(self.text, 30))


def parse_question(text: str, table: DeclaredTable) -> Question:
    """Read a question about a declared table."""
    return _Reader(text, table).read()


def _tokens(text: str) -> Iterator[_Token]:
    if len(text) > _MOST_CHARACTERS:
        raise UnveilError(f"a question may have {_MOST_CHARACTERS:,} characters at most")
    place, text = 0, text.rstrip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise UnveilError(f"the question cannot be read from {safe_text(text[place:].strip(), 30)!r} on")
        kind = found.lastgroup or ""
        quote = {"name": '"', "text": "'"}.get(kind, "")
        yield _Token(kind, found[kind].replace(2 * quote, quote) if quote else found[kind])
        place = found.end()
    yield _Token("end", "")


class _Reader:
    """Recursive descent; each method reads one rule of the grammar."""

    def __init__(self, text: str, table: DeclaredTable) -> None:
        self._tokens = list(_tokens(text))
        self._position, self._depth = 0, 0
        self._table = table

    def read(self) -> Question:
        asked = self._measure(self._word("a measure: count, sum, mean, median, quantile, histogram or top"))
        condition = self._any_of() if self._take_word("where") else None
        if self._next.kind != "end":
            raise UnveilError(f"the question ends before {self._next.shown()}; join conditions by and, or")
        return Question(asked.measure, asked.columns, condition, asked.share)

    # measures

    def _measure(self, word: str) -> Question:
        match word:
            case "count":
                return Question("count people" if self._take_word("people") else "count")
            case "sum" | "mean":
                return Question(word, (self._number_column(f"a {word}"),))
            case "median":
                return Question("quantile", (self._number_column("a median"),), share=Decimal("0.5"))
            case "quantile":
                return self._quantile()
            case "histogram":
                return self._histogram()
            case "top":
                return Question("top", (self._counted_column("a top value"),))
        raise UnveilError(
            f"a question begins with count, sum, mean, median, quantile, histogram or top, not {safe_text(word)!r}"
        )

    def _quantile(self) -> Question:
        share = self._number("the share of a quantile")
        if not 0 < share < 1:
            raise UnveilError("the share of a quantile must lie between 0 and 1")
        if not self._take_word("of"):
            raise UnveilError(f"after the share of a quantile comes of, not {self._next.shown()}")
        return Question("quantile", (self._number_column("a quantile"),), share=share)

    def _histogram(self) -> Question:
        columns = [self._counted_column("a histogram")]
        while self._take_sign(","):
            columns.append(self._counted_column("a histogram"))
        if len(set(columns)) < len(columns):
            raise UnveilError("a histogram names a column twice")
        return Question("histogram", tuple(columns))

    def _number_column(self, of: str) -> str:
        column = self._column()
        if not isinstance(self._table.column(column), NumberColumn):
            raise UnveilError(f"{of} needs a column of numbers, and {safe_text(column)!r} was declared as categories")
        return column

    def _counted_column(self, of: str) -> str:
        column = self._column()
        declared = self._table.column(column)
        if isinstance(declared, NumberColumn) and not declared.cuts:
            raise UnveilError(f"{of} of numbers needs cuts, and none were declared for {safe_text(column)!r}")
        return column

    def _column(self) -> str:
        token = self._next
        if token.kind not in ("word", "name"):
            raise UnveilError(f"the name of a column is missing before {token.shown()}")
        self._position += 1
        self._table.column(token.text)
        return token.text

    # conditions

    def _any_of(self) -> Condition:
        parts = [self._all_of()]
        while self._take_word("or"):
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all_of(self) -> Condition:
        parts = [self._one()]
        while self._take_word("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _one(self) -> Condition:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise UnveilError(f"conditions may be nested {_MOST_DEPTH} deep at most")
        try:
            if self._take_word("not"):
                return Not(self._one())
            if self._take_sign("("):
                inner = self._any_of()
                if not self._take_sign(")"):
                    raise UnveilError(f"a bracket is not closed before {self._next.shown()}")
                return inner
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Condition:
        column = self._column()
        if self._take_word("is"):
            return self._missing_or_other(column)
        if self._take_word("in"):
            return Comparison(column, "in", self._values(column))
        sign = self._next.text if self._next.kind == "sign" else ""
        if sign not in _SIGNS:
            raise UnveilError(f"after a column comes = != < <= > >= in or is, not {self._next.shown()}")
        self._position += 1
        if sign == "<" and self._next == _Token("sign", ">"):
            raise UnveilError("write != for <>")
        if sign == "=" and self._next == _Token("sign", "="):
            raise UnveilError("write = for ==")
        if isinstance(self._table.column(column), CategoryColumn) and sign not in ("=", "!="):
            raise UnveilError(f"categories have no order: compare {safe_text(column)!r} by = or !=")
        return Comparison(column, sign, (self._value(column),))

    def _missing_or_other(self, column: str) -> Condition:
        opposite = self._take_word("not")
        condition: Condition
        if self._take_word("missing"):
            condition = IsMissing(column)
        elif self._take_word("other"):
            if isinstance(self._table.column(column), NumberColumn):
                raise UnveilError(f"only categories can be other: {safe_text(column)!r} was declared as numbers")
            condition = IsOther(column)
        else:
            raise UnveilError(f"after is comes missing or other, not {self._next.shown()}")
        return Not(condition) if opposite else condition

    def _values(self, column: str) -> tuple[str | Decimal, ...]:
        if not self._take_sign("("):
            raise UnveilError(f"after in comes a list in brackets, not {self._next.shown()}")
        values = [self._value(column)]
        while self._take_sign(","):
            values.append(self._value(column))
        if not self._take_sign(")"):
            raise UnveilError(f"a list is not closed before {self._next.shown()}")
        return tuple(values)

    def _value(self, column: str) -> str | Decimal:
        if isinstance(self._table.column(column), NumberColumn):
            return self._number(f"the number to compare {safe_text(column)!r} with")
        token = self._next
        if token.kind != "text":
            raise UnveilError(f"texts stand in single quotes: {safe_text(column)!r} = 'text', not {token.shown()}")
        self._position += 1
        declared = self._table.column(column)
        if isinstance(declared, CategoryColumn) and token.text not in declared.values:
            raise UnveilError(
                f"{safe_text(token.text)!r} is no declared category of {safe_text(column)!r}"
                f"{did_you_mean(token.text, declared.values)}; all others together: {safe_text(column)} is other"
            )
        return token.text

    # tokens

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    def _word(self, what: str) -> str:
        token = self._next
        if token.kind != "word":
            raise UnveilError(f"a question begins with {what}")
        self._position += 1
        return token.text.lower()

    def _take_word(self, word: str) -> bool:
        taken = self._next.kind == "word" and self._next.text.lower() == word
        self._position += taken
        return taken

    def _take_sign(self, sign: str) -> bool:
        taken = self._next == _Token("sign", sign)
        self._position += taken
        return taken

    def _number(self, what: str) -> Decimal:
        if self._next.kind != "number":
            raise UnveilError(f"{what} must be a number, not {self._next.shown()}")
        self._position += 1
        return parse_decimal(self._tokens[self._position - 1].text, what)
