"""``unveil theory``: what theorems say about an attack before there are any data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from unveil.errors import UnveilError
from unveil.wording import count_text, list_text, number_text, percent_text, safe_text

if TYPE_CHECKING:
    from unveil.linkage import Guarantee, TheoremCase

__all__ = ["command"]

_DEFAULT_SIGMAS = ".3,.35,.4,.45,.5,.55,.6,.65,.7,.75,.8"
_DEFAULT_THEOREMS = {  # by whether the person's own record is to be found, and whether a fact is rare
    (False, False): "4(1)",
    (True, False): "8(a)",
    (False, True): "9",
    (True, True): "8(a), long tail",
}
_DEFAULT_SUCCESS = Fraction(99, 100)
_LARGEST = 1e300  # counts beyond this are given by their power of ten

_FORMAT = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)

_EPILOG = """\b
Examples:
  unveil theory linkage --people 1000000 --similarity .35
  unveil theory items --items 100 --groups 4 --set-size 3
"""


@click.group("theory", epilog=_EPILOG)
def command() -> None:
    """Say what theorems guarantee an attacker, for someone who has no data yet.

    Nothing is read and nothing is attacked: the answers follow from a few numbers.
    """


_LINKAGE_EPILOG = """\b
Examples:
  unveil theory linkage --people 1000000 --similarity .35 --success .99 --columns 160
  unveil theory linkage --people 8619 --similarity .65,.70,.73,.75 --sparsity .455,.145,.079,.063
  unveil theory linkage --people 480000 --similarity .25 --sparsity .08 --rare-share .0001 --success .84

The theorems are those of M. M. Merener, Theoretical results on de-anonymization via linkage attacks, Transactions on
Data Privacy 5 (2012).
"""


@command.command("linkage", epilog=_LINKAGE_EPILOG, short_help="How many facts make sure that a person is found?")
@click.option("--people", type=click.IntRange(min=1), required=True, help="How many people have a record.")
@click.option("--similarity", metavar="S,…", help="σ, from 0 to 1; by default a table from .3 to .8.")
@click.option("--success", metavar="P", help="Probability to reach. By default .99, or 1 − 2f with --sparsity.")
@click.option(
    "--sparsity",
    metavar="F,…",
    help="f(σ), the share of people to whom somebody else is more than σ similar: one number, or one for every σ.",
)
@click.option(
    "--theorem",
    metavar="NAME",
    help="4(1), 4(2), 6, 8(a), 8(b), 8(c), 9 or 10. By default 4(1), or 8(a) with --sparsity; 9 or '8(a), long tail' "
    "with --rare-share.",
)
@click.option(
    "--error", metavar="E", default="0", show_default=True, help="ε: what is known is 1 − ε/2 similar to the truth."
)
@click.option("--rare-share", metavar="K", help="κ: one fact is rare, true of at most this share of people.")
@click.option(
    "--columns", type=click.IntRange(min=1), help="Also say how many of this many values a similar record reveals."
)
@_FORMAT
def linkage(
    people: int,
    similarity: str | None,
    success: str | None,
    sparsity: str | None,
    theorem: str | None,
    error: str,
    rare_share: str | None,
    columns: int | None,
    form: str,
) -> None:
    """Say how many random facts about a person make sure that an attacker finds them.

    Without --sparsity, finding means to name a record that is more than σ similar to the person's. With it, finding
    means to name the person's own record.
    """
    sigmas = _parse_numbers("--similarity", similarity or _DEFAULT_SIGMAS)
    shares = _shares_for(sigmas, sparsity)
    name = theorem or _DEFAULT_THEOREMS[sparsity is not None, rare_share is not None]
    p = _parse_number("--success", success) if success else None
    epsilon, kappa = _parse_number("--error", error), _parse_number("--rare-share", rare_share) if rare_share else None
    rows = [
        _linkage_row(name, people, sigma, epsilon, kappa, share, p) for sigma, share in zip(sigmas, shares, strict=True)
    ]
    found: dict[str, Any] = {"people": people, "theorem": name, "guarantees": rows}
    if name == "4(1)" and len(rows) == 1:
        found |= _corollaries(people, sigmas[0], _DEFAULT_SUCCESS if p is None else p, columns, rows[0]["m"])
    elif columns is not None:
        raise UnveilError("--columns belongs to Theorem 4(1) with one --similarity; leave out what asks for more")
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if form == "json" else _linkage_text(found))


def _shares_for(sigmas: Sequence[Fraction], sparsity: str | None) -> list[Fraction]:
    """f(σ) for every σ."""
    shares = _parse_numbers("--sparsity", sparsity or "0")
    if len(shares) not in (1, len(sigmas)):
        raise UnveilError(f"--sparsity has {len(shares)} numbers for {len(sigmas)} similarities; give one, or one each")
    return shares * len(sigmas) if len(shares) == 1 else shares


def _linkage_row(
    theorem: str, n: int, sigma: Fraction, epsilon: Fraction, kappa: Fraction | None, f: Fraction, p: Fraction | None
) -> dict[str, Any]:
    """The guarantee at one σ."""
    from unveil.linkage import TheoremCase

    safe = TheoremCase(theorem, n, sigma, epsilon, kappa)
    guarantee, limit = _guarantee(safe, f, p)
    return {
        "similarity": float(sigma),
        "sparsity": float(f) if safe.statement.finds_own_record else None,
        "limit": limit,
        "m_printed": _guarantee(replace(safe, bound="printed"), f, p)[0].m,
        "m": guarantee.m,
        "success": guarantee.p,
        "adversary": guarantee.adversary,
        "hypotheses": [h.statement for h in guarantee.hypotheses],
        "sentence": guarantee.sentence,
    }


def _guarantee(applied: TheoremCase, f: Fraction, p: Fraction | None) -> tuple[Guarantee, float]:
    """The guarantee, and the real number L that its m comes from. Without p, η is f(σ) as in Table 3."""
    from unveil.linkage import guarantee_for_m, guarantee_for_p

    if p is None and f:
        return guarantee_for_m(applied, applied.attributes_needed(f), f), applied.limit(f)
    wanted = _DEFAULT_SUCCESS if p is None else p
    return guarantee_for_p(applied, wanted, f), applied.limit(1 - wanted - f)


def _corollaries(n: int, sigma: Fraction, p: Fraction, columns: int | None, m: int) -> dict[str, Any]:
    """Which rare fact halves L (§4.4), and what a similar record reveals (Corollary 5)."""
    from unveil.linkage import TheoremCase, doubling_width, guarantee_for_p, halving_kappa, learned_values

    kappa = halving_kappa(n, p)
    tail = TheoremCase("9", n, sigma, kappa=kappa)
    found: dict[str, Any] = {
        "long_tail": {
            "success": float(p),
            "kappa": kappa,
            "limit": tail.limit(1 - p),
            "m": guarantee_for_p(tail, p).m,
        }
    }
    if columns is not None:
        found["corollary_5"] = {
            "columns": columns,
            "learned": learned_values(columns, sigma),
            "known": m,
            "columns_to_double": doubling_width(n, p, sigma)[1],
        }
    return found


def _linkage_text(found: dict[str, Any]) -> str:
    rows = found["guarantees"]
    table = [("similarity σ", "sparsity f(σ)", "L", "facts, as printed", "facts, as proven", "success")]
    table += [
        (
            number_text(row["similarity"]),
            "–" if row["sparsity"] is None else number_text(row["sparsity"]),
            f"{row['limit']:,.3f}",
            f"{row['m_printed']:,}",
            f"{row['m']:,}",
            percent_text(math.floor(1e4 * row["success"]) / 1e4) if row["success"] else "nothing",
        )
        for row in rows
    ]
    parts = [f"Theorem {found['theorem']} for {count_text(found['people'], 'person')}", "", *_columns(table), ""]
    if len(rows) > 1:
        return "\n".join([*parts, "Give a single --similarity to see what the theorem requires."])
    parts += [rows[0]["sentence"], *_corollary_sentences(found)]
    return "\n".join(parts)


def _corollary_sentences(found: dict[str, Any]) -> Iterator[str]:
    if learned := found.get("corollary_5"):
        yield (
            f"Such a record reveals {learned['learned']:,} of {count_text(learned['columns'], 'value')}, including "
            f"those known before (Corollary 5)."
        )
        yield f"With {count_text(learned['columns_to_double'], 'column')} or more, it doubles what the attacker knows."
    if tail := found.get("long_tail"):
        facts, share = count_text(tail["m"], "fact"), number_text(100 * tail["kappa"])
        yield (
            f"If one of the facts is true of at most {share}% of people, L is half as large: {facts} then suffice for "
            f"a success of {percent_text(tail['success'])} (Theorem 9)."
        )


_ITEMS_EPILOG = """\b
Examples:
  unveil theory items --items 100 --groups 4 --set-size 3
  unveil theory items --sizes 40,30,20,10 --interest 4,3,2,1 --set-size 2
  unveil theory items --sizes 40,30,20,10 --itemset 2,1,0,0

The lemmas are those of L. V. S. Lakshmanan, R. T. Ng and G. Ramesh, On disclosure risk analysis of anonymized itemsets
in the presence of prior knowledge, ACM TKDD 2 (2008).
"""


@command.command("items", epilog=_ITEMS_EPILOG, short_help="How many items do frequencies give away?")
@click.option("--items", type=click.IntRange(min=1), help="How many items there are.")
@click.option("--groups", type=click.IntRange(min=1), help="How many different frequencies they have.")
@click.option("--sizes", metavar="N,…", help="Instead: how many items have each frequency.")
@click.option("--set-size", type=click.IntRange(min=1), default=2, show_default=True, help="Items in a set.")
@click.option("--interest", metavar="N,…", help="How many items of each frequency matter; by default all.")
@click.option(
    "--itemset",
    "itemsets",
    metavar="N,…",
    multiple=True,
    help="A given set: how many of its items have each frequency. Repeatable.",
)
@_FORMAT
def items(
    items: int | None,
    groups: int | None,
    sizes: str | None,
    set_size: int,
    interest: str | None,
    itemsets: tuple[str, ...],
    form: str,
) -> None:
    """Say how many pseudonyms of items are cracked on average at the two extremes of knowledge.

    One attacker knows nothing, the other knows how often every item occurs. Items that occur equally often stay
    interchangeable for both. A set of items is cracked if its pseudonyms are known, in any order.
    """
    group_sizes = _group_sizes(items, groups, sizes)
    matter = None if interest is None else _per_group("--interest", interest, group_sizes)
    given = [_per_group("--itemset", text, group_sizes) for text in itemsets]
    found = _items_numbers(group_sizes, set_size, matter, given)
    click.echo(json.dumps(found, indent=2, ensure_ascii=False) if form == "json" else _items_text(found))


def _group_sizes(items: int | None, groups: int | None, sizes: str | None) -> list[int]:
    if sizes is not None:
        if items is not None or groups is not None:
            raise UnveilError("--sizes already says how many items and groups there are; leave out the others")
        return _parse_whole("--sizes", sizes, 1)
    if items is None:
        raise UnveilError("say how many items there are: --items and --groups, or --sizes")
    many = groups or 1
    if many > items:
        raise UnveilError(f"{count_text(items, 'item')} cannot have {many:,} frequencies; lower --groups")
    return [items // many + (g < items % many) for g in range(many)]


def _per_group(option: str, text: str, sizes: Sequence[int]) -> list[int]:
    found = _parse_whole(option, text, 0)
    if len(found) != len(sizes) or any(x > size for x, size in zip(found, sizes, strict=False)) or not any(found):
        groups = count_text(len(sizes), "group")
        raise UnveilError(f"{option} needs a number for each of {groups}, at most its size, and not only zeros")
    return found


def _items_numbers(sizes: list[int], k: int, interest: list[int] | None, given: list[list[int]]) -> dict[str, Any]:
    """Lemmas 3.1 to 3.6, for single items and for sets of k items."""
    matter = sizes if interest is None else interest
    found = {
        "items": sum(sizes),
        "group_sizes": sizes,
        "interest": interest,
        "set_size": k,
        "single_items": _expected_cracks(sizes, 1, matter),
        "sets": _expected_cracks(sizes, k, matter),
    }
    return found | ({"itemsets": _given_set_cracks(sizes, given)} if given else {})


def _given_set_cracks(sizes: list[int], given: list[list[int]]) -> dict[str, Any]:
    """How many of the given sets each attacker cracks; for a single set, the probability that they do."""
    import numpy as np

    from unveil.items import FrequencyGroups, exact_chance, ignorant_listed_cracks

    groups = FrequencyGroups.from_counts(np.repeat(np.arange(1, len(sizes) + 1), sizes))
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    members = [[start + x for start, many in zip(starts, taken, strict=True) for x in range(many)] for taken in given]
    return {
        "sets": len(given),
        "knows_nothing": ignorant_listed_cracks(sum(sizes), [len(one) for one in members]),
        "knows_frequencies": math.fsum(exact_chance(groups, one) for one in members),
    }


def _expected_cracks(sizes: list[int], k: int, matter: list[int]) -> dict[str, Any]:
    """The sets of k items that matter, and how many of them each attacker cracks; None beyond what a number holds."""
    from unveil.items import exact_crack_share, exact_cracks, ignorant_cracks

    total = math.comb(sum(matter), k)
    if not total:
        raise UnveilError(f"there is no set of {k} among {count_text(sum(matter), 'item')}; lower --set-size")
    cracks = exact_cracks(sizes, k, matter)
    return {
        "sets": total,
        "knows_nothing": ignorant_cracks(sum(sizes), k, sum(matter)),
        "knows_frequencies": cracks if math.isfinite(cracks) else None,
        "share_with_frequencies": exact_crack_share(sizes, k, matter),
    }


def _items_text(found: dict[str, Any]) -> str:
    k, lemmas = found["set_size"], "3.2, 3.5" if found["interest"] is None else "3.3, 3.6"
    labels = [("items cracked", "single_items", lemmas), (f"sets of {k} cracked", "sets", lemmas)]
    if "itemsets" in found:
        labels.append(("given sets cracked", "itemsets", "3.1, 3.4" if found["itemsets"]["sets"] == 1 else "3.3, 3.4"))
    rows = [["", "knows nothing", "knows every frequency", "lemmas"]]
    for label, part, source in labels:
        cracks = [_cracks_text(found[part][attacker]) for attacker in ("knows_nothing", "knows_frequencies")]
        rows.append([f"{label}, of {_large_text(found[part]['sets'])}", *cracks, source])
    share = percent_text(found["sets"]["share_with_frequencies"])
    return "\n".join(
        [
            _groups_text(found["group_sizes"], found["interest"]),
            "",
            *_columns(rows),
            "",
            f"Someone who knows every frequency cracks {share} of the sets of {count_text(k, 'item')} on average.",
        ]
    )


def _groups_text(sizes: Sequence[int], interest: Sequence[int] | None) -> str:
    items = count_text(sum(sizes), "item")
    groups = count_text(len(sizes), "group")
    some = "" if interest is None else f"; {sum(interest):,} of them matter"
    return f"{items} in {groups} of equal frequency ({list_text([f'{x:,}' for x in sizes])}){some}"


def _cracks_text(cracks: float | None) -> str:
    return "more than 10³⁰⁷" if cracks is None else number_text(float(f"{cracks:.12g}"))


def _large_text(count: int) -> str:
    return number_text(float(count)) if count < _LARGEST else f"about 10^{len(str(count)) - 1}"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if not i else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _parse_numbers(option: str, text: str) -> list[Fraction]:
    return [_parse_number(option, part) for part in text.split(",")]


def _parse_number(option: str, text: str) -> Fraction:
    """A number as it is written: .1 is a tenth."""
    from unveil.release.generalised_labels import parse_fraction

    found = parse_fraction(text.strip())
    if found is None:
        raise UnveilError(f"{option}: {safe_text(text)!r} is not a number such as .5")
    return found


def _parse_whole(option: str, text: str, least: int) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or min(found) < least:
        raise UnveilError(f"{option}: {safe_text(text)!r} is not a list of whole numbers from {least}, such as 40,30")
    return found
