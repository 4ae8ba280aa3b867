"""No protected table shows a declared identifier: it is left out, or replaced by a pseudonym.

A keyed pseudonym is the HMAC-SHA-256 of a value under the owner's key, cut to 128 bits: the same person has the same
pseudonym in every table that the owner protects with that key, and without the key nobody can try out names. The column
that says which rows are the same person is needed, so it gets random numbers instead of being left out; those of two
tables have nothing to do with each other.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unveil.case import Case
from unveil.errors import UnveilError
from unveil.owner_key import OwnerKey
from unveil.policy import Policy
from unveil.release.codes import arrow_integers, cast_to_text, encode_column
from unveil.release.table import Table, table_from_frame
from unveil.secret_order import secret_permutation
from unveil.wording import list_text, safe_text, verb

__all__ = ["hide_identifiers", "keyed_pseudonyms"]

_DIGITS = 32  # hexadecimal, of 64


def hide_identifiers(
    case: Case, policy: Policy, pseudonymise: Sequence[str] = (), key: OwnerKey | None = None
) -> tuple[Case, Policy, str]:
    """The case and the policy without declared identifiers, and what was done, as a sentence; empty if nothing was."""
    table = case.release
    assert isinstance(table, Table)
    if strange := [c for c in pseudonymise if c not in table.columns]:
        raise UnveilError(f"there is no column {list_text(strange)} to replace by pseudonyms")
    people = (policy.subject, *policy.ratings[:1])
    dropped = [c for c in policy.identifier if c in table.columns and c not in (*pseudonymise, *people)]
    numbered = [c for c in dict.fromkeys(people) if c in table.columns and c not in pseudonymise]
    if not dropped and not pseudonymise and not numbered:
        return case, policy, ""
    rows = pa.Table.from_batches(table.batches()).drop_columns(dropped)
    for name in (*pseudonymise, *numbered):
        assert name is not None
        at = rows.column_names.index(name)
        column = rows.column(at)
        new = _random_numbers(column) if name in numbered else keyed_pseudonyms(column, _required_key(key), name)
        rows = rows.set_column(at, name, new)
    parts = [f"{list_text(dropped)} {verb(len(dropped), 'is', 'are')} left out"] if dropped else []
    if pseudonymise:
        parts.append(f"{list_text(pseudonymise)} {verb(len(pseudonymise), 'is', 'are')} replaced by keyed pseudonyms")
    parts += [f"{safe_text(name)} is replaced by random numbers" for name in numbered if name is not None]
    hidden = replace(case, release=table_from_frame(rows, engine=table.engine, name=table.name, types=table.types))
    gone = {*dropped, *pseudonymise, *numbered}
    left = replace(
        policy,
        identifier=tuple(c for c in policy.identifier if c not in gone),
        guessed=tuple(c for c in policy.guessed if c not in gone),
        insensitive=tuple(dict.fromkeys((*policy.insensitive, *(c for c in pseudonymise if c not in _roles(policy))))),
    )
    return hidden, left, f"{'; '.join(parts)}."


def _roles(policy: Policy) -> set[str]:
    return {
        *policy.quasi_columns,
        *policy.sensitive,
        *policy.insensitive,
        *([policy.subject] if policy.subject else []),
    }


def _required_key(key: OwnerKey | None) -> OwnerKey:
    if key is None or not key.is_kept:
        raise UnveilError(
            "pseudonyms need a key that is kept, but none can be written; name a file with UNVEIL_KEY, or leave the "
            "column out"
        )
    return key


def keyed_pseudonyms(column: pa.ChunkedArray, key: OwnerKey, name: str) -> pa.Array:
    """The pseudonym of every value; missing stays missing. Columns of different names get different pseudonyms."""
    own = hmac.new(key.secret, b"unveil pseudonyms\0" + name.encode("utf-8", "surrogatepass"), "sha256").digest()
    coded = encode_column(column)
    made = [
        hmac.new(own, text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:_DIGITS]
        for text in cast_to_text(coded.values).to_pylist()
    ]
    return _labels_of_rows(pa.array(made, pa.string()), coded.codes)


def _random_numbers(column: pa.ChunkedArray) -> pa.Array:
    """A number for each distinct value, in an order that nobody can replay; missing stays missing."""
    coded = encode_column(column)
    return _labels_of_rows(arrow_integers(secret_permutation(len(coded.values)) + 1), coded.codes)


def _labels_of_rows(labels: pa.Array, codes: np.ndarray) -> pa.Array:
    places = arrow_integers(np.where(codes < 0, 0, codes))
    if not len(labels):
        return pa.nulls(len(codes), labels.type)
    there = arrow_integers((codes >= 0).astype("int32")).cast(pa.bool_())
    return pc.if_else(there, labels.take(places), pa.scalar(None, labels.type))
