"""Hierarchies written as nested lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import UnveilError
from unveil.release.hierarchy import Hierarchy
from unveil.release.nested_lists import parse_nested_lists


def read(tmp_path: Path, text: str | bytes) -> Hierarchy:
    file = tmp_path / "jobs.json"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return Hierarchy.read(file)


def test_groups_have_names_or_are_called_by_their_values(tmp_path: Path) -> None:
    named = read(tmp_path, '{"care": {"hospital": ["nurse", "doctor"], "home": ["carer"]}, "office": ["clerk"]}')
    assert list(named.rows()) == [
        ("nurse", "hospital", "care", "*"),
        ("doctor", "hospital", "care", "*"),
        ("carer", "home", "care", "*"),
        ("clerk", "clerk", "office", "*"),
    ]
    bare = read(tmp_path, '[["nurse", "doctor"], [["clerk", "lawyer"], "judge"], "poet"]')
    assert list(bare.rows()) == [
        ("nurse", "nurse", "nurse or doctor", "*"),
        ("doctor", "doctor", "nurse or doctor", "*"),
        ("clerk", "clerk or lawyer", "clerk or lawyer or judge", "*"),
        ("lawyer", "clerk or lawyer", "clerk or lawyer or judge", "*"),
        ("judge", "judge", "clerk or lawyer or judge", "*"),
        ("poet", "poet", "poet", "*"),
    ]
    assert list(read(tmp_path, "[1, 2]").rows()) == [("1", "*"), ("2", "*")]


leaves = st.text("abcdefgh", min_size=1, max_size=3)
trees = st.recursive(
    st.lists(leaves, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("XYZ", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=12,
)


def texts_in(nested: Any) -> list[str]:
    if isinstance(nested, str):
        return [nested]
    return [text for each in (nested.values() if isinstance(nested, dict) else nested) for text in texts_in(each)]


@given(trees)
def test_every_value_is_covered_on_every_level(nested: Any) -> None:
    """As many rows as values, all equally long; whatever is not a hierarchy is refused, without its values."""
    try:
        rows = parse_nested_lists(json.dumps(nested).encode(), "jobs.json")
        Hierarchy.from_rows(rows)
    except UnveilError as refused:
        said = str(refused)
        assert "\n" not in said
    else:
        assert [row[0] for row in rows] == texts_in(nested)
        assert len({len(row) for row in rows}) == 1 and {row[-1] for row in rows} == {"*"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": ["CANARY"', "jobs.json: is not valid JSON near line 1; correct it"),
        ('"CANARY"', "holds something other than texts in lists or objects"),
        ('{"a": "CANARY"}', "holds something other than texts in lists or objects"),
        ('{"a": [null, "CANARY"]}', "holds something other than texts in lists or objects"),
        ('{"a": [true]}', "holds something other than texts in lists or objects"),
        ("[NaN]", "holds something other than texts in lists or objects"),
        ("{}", "there are no values"),
        ("[" * 60 + "]" * 60, "nests lists more than 50 deep"),
        ("[" * 100_000, "nests lists more than 50 deep"),
        (b"\xff\xfe[", "is not UTF-8 text"),
        ('{"a": ["CANARY", "x"], "b": ["CANARY"]}', "values 1 and 3 have the same value but different labels"),
        (
            '{"a": {"CANARY": ["x"]}, "b": {"CANARY": ["y"]}}',
            "values 1 and 2 have the same label on level 1 but different labels on level 2",
        ),
    ],
)
def test_what_is_no_hierarchy_is_refused_without_its_values(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(UnveilError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value) and "CANARY" not in str(refused.value) and "\n" not in str(refused.value)
