"""Hierarchies as nested lists in a JSON file, for people to write by hand.

A group is a list of values and of further groups. It has a name where it stands in an object; elsewhere it is called by
its values::

    {"care": {"hospital": ["nurse", "doctor"], "home": ["carer"]}, "office": ["clerk", "lawyer"]}
    [["nurse", "doctor"], ["clerk", "lawyer"]]

A value that lies less deep than others keeps its own name on the levels in between.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from unveil.errors import UnveilError
from unveil.release.generalised_labels import ROOT_LABEL
from unveil.wording import safe_text

__all__ = ["GROUP_SEPARATOR", "parse_nested_lists"]

GROUP_SEPARATOR = " or "
"""What stands between the values in the name of a group that has no other."""

_MAX_DEPTH = 50


class _Members(NamedTuple):
    """What an object holds: each name with what stands under it, also where a name comes twice."""

    pairs: list[tuple[str, Any]]


def parse_nested_lists(data: bytes, name: str) -> list[list[str]]:
    """Each value with its label on every level, from specific to general.

    >>> parse_nested_lists(b'{"office": ["clerk"], "care": {"home": ["carer"]}}', "jobs.json")
    [['clerk', 'clerk', 'office', '*'], ['carer', 'home', 'care', '*']]
    """
    try:
        nested = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_Members, parse_constant=_refuse_constant)
        paths = list(_paths(nested, (), 0))
    except UnicodeDecodeError:
        raise UnveilError(f"{safe_text(name)}: is not UTF-8 text; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise UnveilError(f"{safe_text(name)}: is not valid JSON near line {error.lineno}; correct it") from None
    except RecursionError:
        raise UnveilError(f"{safe_text(name)}: nests lists more than {_MAX_DEPTH} deep; use fewer levels") from None
    except (TypeError, ValueError):
        raise UnveilError(
            f"{safe_text(name)}: holds something other than texts in lists or objects; write "
            '{"care": ["nurse", "doctor"], "office": ["clerk"]}'
        ) from None
    if not paths:
        raise UnveilError(f"{safe_text(name)}: there are no values; give at least one")
    depth = max(map(len, paths))
    return [[path[-1]] * (depth - len(path)) + [*reversed(path), ROOT_LABEL] for path in paths]


def _refuse_constant(text: str) -> Any:
    raise ValueError(text)


def _paths(nested: Any, above: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    """The way to every value, from general to specific."""
    if depth > _MAX_DEPTH:
        raise RecursionError
    if isinstance(nested, _Members):
        for label, inside in nested.pairs:
            if not isinstance(inside, (list, _Members)):
                raise TypeError
            yield from _paths(inside, (*above, label), depth + 1)
    elif isinstance(nested, list):
        for each in nested:
            if isinstance(each, list):
                yield from _paths(each, (*above, GROUP_SEPARATOR.join(_values(each))), depth + 1)
            elif isinstance(each, _Members):
                yield from _paths(each, above, depth + 1)
            else:
                yield (*above, _text(each))
    else:
        raise TypeError


def _values(nested: Any) -> Iterator[str]:
    """All values in a list, however deep."""
    inside = [each for _, each in nested.pairs] if isinstance(nested, _Members) else nested
    for each in inside if isinstance(inside, list) else ():
        yield from _values(each) if isinstance(each, (list, _Members)) else (_text(each),)


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise TypeError
    return str(value)
