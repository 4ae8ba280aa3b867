"""The compiled inner loops of ``candidates`` and ``row_scores``.

The classes of people and of rows, which codes are alike and the postings are those of
:class:`unveil.linkage.link.file_pair.FilePair`.
Scores are whole numbers of a small unit, so that sums do not depend on the order in which they are taken and equal
scores are equal.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel, helper

__all__ = ["find_fitting_rows", "score_rows"]

_NEGLIGIBLE_NATS = 50.0  # what is so many nats less likely than the likeliest counts for nothing


@helper
def _row_code(rows, row, attribute):
    """The code of an attribute of a class of rows, −1 if null: from the plain array, or where there is none, by
    halving the row's list."""
    indptr, attributes, values, array = rows
    if len(array):
        found = array[row, attribute]
    else:
        found = np.int32(-1)
        low, high = indptr[row], indptr[row + 1]
        while low < high:
            middle = (low + high) // 2
            if attributes[middle] < attribute:
                low = middle + 1
            else:
                high = middle
        if low < indptr[row + 1] and attributes[low] == attribute:
            found = values[low]
    return found


@helper
def _code_similarity(alike, place, code):
    """How alike a released code is to a known value: the last run that begins at or before it, if it reaches it."""
    indptr, lows, highs, sims = alike
    low, high = indptr[place], indptr[place + 1]
    while low < high:
        middle = (low + high) // 2
        if lows[middle] <= code:
            low = middle + 1
        else:
            high = middle
    found = 0.0
    if low > indptr[place] and code <= highs[low - 1]:
        found = sims[low - 1]
    return found


@allocating_kernel
def find_fitting_rows(
    people, rows, alike, ends, lists, blocking, sizes, least, first,
    last, counts, held, found, fill,
):  # fmt: skip
    """For some classes of people, the classes of rows that fit: how many classes and rows, or which.

    Looked at are those whose value in attribute ``blocking`` (its place among those known of the class, −1 if nothing
    is known) is alike or missing. ``found`` is filled from ``counts[p]`` on.
    """
    indptr, attributes, places = people
    begins, stops = ends
    classes, missing_indptr, missing = lists
    starts, sims = alike[0], alike[3]
    unknown = len(missing_indptr) > 0
    for p in range(first, last):
        number, total = 0, 0
        at = counts[p]
        if blocking[p] < 0:
            for row in range(len(sizes)):
                if fill:
                    found[at + row] = row
                number += 1
                total += sizes[row]
        else:
            place, attribute = places[blocking[p]], attributes[blocking[p]]
            run, runs = starts[place], starts[place + 1]
            while run <= runs:
                # the runs of alike codes, then the classes without the attribute
                if run < runs:
                    begin, stop, source = begins[run], stops[run], classes
                    if sims[run] < least:
                        stop = begin
                elif unknown:
                    begin, stop, source = missing_indptr[attribute], missing_indptr[attribute + 1], missing
                else:
                    begin, stop, source = 0, 0, missing
                run += 1
                for t in range(begin, stop):
                    row = source[t]
                    fits = True
                    for k in range(indptr[p], indptr[p + 1]):
                        if k != blocking[p]:
                            code = _row_code(rows, row, attributes[k])
                            fits = unknown if code < 0 else _code_similarity(alike, places[k], code) >= least
                            if not fits:
                                break
                    if fits:
                        if fill:
                            found[at + number] = row
                        number += 1
                        total += sizes[row]
        if not fill:
            counts[p] = number
            held[p] = total


@allocating_kernel
def score_rows(
    people, starts, common, rare, gains, nulls, base, kinds, sizes,
    prior, first, last, unit, least, space, wholes, reals, kept,
    kept_reals, kept_counts, weights, blame, chances, tally,
):  # fmt: skip
    """Score all rows for some classes of people, as long as there is room to keep the likely pairs.

    ``common`` and ``rare`` list kinds and classes of rows: where the postings of a run begin and end, the postings, and
    the same for nulls. ``kinds`` says which kind a class of rows is of, and lists the classes of each kind.
    ``gains[e]`` is what agreement with a code of run e adds to the score and to the log-likelihood of a row, ``nulls``
    what a null adds; ``base[p]`` the log-likelihood ratio of a row that agrees in nothing. Per class of people:
    ``wholes`` the best class of rows (−1 if none gains anything), how many rows are as good, best and second score (−1
    if there is no second row); ``reals`` the standard deviation of the score over all rows, the posterior of a best row
    and that of no row. If ``tally`` has space, wrong values are counted there, ``blame[e]`` being how likely agreement
    in run e is chance. Returns where it stopped and how many pairs it kept.
    """
    score, _, touched, shared, left = space
    released = kinds[3].sum()
    filled = 0
    for p in range(first, last):
        if filled + len(sizes) > len(kept) and filled + int(1 / least) + 2 > len(kept):
            return p, filled
        mark = p + 1
        count = _gather_scores(people, p, starts, common, rare, gains, nulls, mark, space)
        top, second, likely, likeliest, ties, total, square = _leading_scores(count, kinds, sizes, unit, space)
        best = np.int64(-1)
        if top > 0:
            best = _first_best(count, kinds, top, likely, mark, space)
        mass = 0.0
        for t in range(count):
            away = (likeliest - score[touched[t], 1]) * unit
            if away < _NEGLIGIBLE_NATS:
                mass += sizes[touched[t]] * np.exp(-away)
        for kind in range(len(left)):
            if left[kind] > 0:
                mass += left[kind] * np.exp((shared[kind, 1] - likeliest) * unit)
        everything = mass
        if prior > 0:
            everything += prior / (1 - prior) * released * np.exp(-base[p] - likeliest * unit)
        reach = likeliest + np.log(least * everything) / unit
        before = filled
        filled = _keep_likely_pairs(count, kinds, best, reach, mark, space, kept, kept_reals, filled)
        for e in range(before, filled):
            kept_reals[e, 2] = np.exp((kept_reals[e, 1] - likeliest) * unit) / everything
            kept_reals[e, 0] *= unit
            kept_reals[e, 1] = base[p] + kept_reals[e, 1] * unit
        kept_counts[p] = filled - before
        if len(tally):
            _count_errors(
                people, p, starts, common, rare, kinds, sizes, blame, unit, likeliest, everything, count, weights[p],
                space, chances, tally,
            )  # fmt: skip
        wholes[p, 0], wholes[p, 1], wholes[p, 2], wholes[p, 3] = best, ties, top, second
        mean = total / max(released, 1)
        reals[p, 0] = np.sqrt(max(square / max(released, 1) - mean * mean, 0.0))
        reals[p, 1] = np.exp((likely - likeliest) * unit) / everything if best >= 0 else 0.0
        reals[p, 2] = 1 - mass / everything if released > 0 else 1.0
    return last, filled


@allocating_kernel
def _gather_scores(
    people, p, starts, common, rare, gains, nulls, mark, space
):  # fmt: skip
    """Add up what kinds have in common, and the scores of the classes of rows that agree in something rare or lack it:
    so many, which are marked and listed."""
    indptr, attributes, places = people
    score, stamp, touched, shared, _ = space
    shared[:] = 0
    count = 0
    for k in range(indptr[p], indptr[p + 1]):
        place, attribute = places[k], attributes[k]
        for run in range(starts[place], starts[place + 1]):
            gain, more = gains[run, 0], gains[run, 1]
            _add_common(common[2], common[0][run], common[1][run], gain, more, shared)
            count = _add_touched(rare[2], rare[0][run], rare[1][run], gain, more, mark, score, stamp, touched, count)
        gain, more = nulls[attribute, 0], nulls[attribute, 1]
        _add_common(common[4], common[3][attribute], common[3][attribute + 1], gain, more, shared)
        begin, stop = rare[3][attribute], rare[3][attribute + 1]
        count = _add_touched(rare[4], begin, stop, gain, more, mark, score, stamp, touched, count)
    return count


@helper
def _add_common(source, begin, stop, gain, more, shared):
    """Add to what all rows of some kinds have in common."""
    for t in range(begin, stop):
        shared[source[t], 0] += gain
        shared[source[t], 1] += more


@helper
def _add_touched(
    source, begin, stop, gain, more, mark, score, stamp, touched,
    count,
):  # fmt: skip
    """Add to the scores of some classes of rows, and note those that were not touched before."""
    held = count
    for t in range(begin, stop):
        row = source[t]
        if stamp[row] != mark:
            stamp[row] = mark
            touched[held] = row
            held += 1
            score[row, 0] = gain
            score[row, 1] = more
        else:
            score[row, 0] += gain
            score[row, 1] += more
    return held


@allocating_kernel
def _leading_scores(count, kinds, sizes, unit, space):
    """Best and second score, the likelihood of the best and the greatest one, how many rows are as good as the best,
    and the sums of scores and of their squares. What is common is added to the classes that were touched, and ``left``
    says how many rows of each kind were not."""
    score, _, touched, shared, left = space
    left[:] = kinds[3]
    top, second, likely, likeliest, ties = -1, -1, -1, -1, 0
    total, square = 0.0, 0.0
    for t in range(count + len(left)):
        if t < count:
            row = touched[t]
            kind = kinds[0][row]
            score[row, 0] += shared[kind, 0]
            score[row, 1] += shared[kind, 1]
            size, gain, more = sizes[row], score[row, 0], score[row, 1]
            left[kind] -= size
        else:
            size, gain, more = left[t - count], shared[t - count, 0], shared[t - count, 1]
        if size > 0:
            likeliest = max(likeliest, more)
            total += size * (gain * unit)
            square += size * (gain * unit) ** 2
            if gain > top:
                second = gain if size > 1 else top
                top, likely, ties = gain, more, size
            elif gain == top:
                second = gain
                ties = ties + size if more == likely else size if more > likely else ties
                likely = max(likely, more)
            else:
                second = max(second, gain)
    return top, second, likely, likeliest, ties, total, square


@allocating_kernel
def _first_best(count, kinds, top, likely, mark, space):
    """The first of the classes of rows that are the best."""
    score, stamp, touched, shared, left = space
    _, indptr, members, _ = kinds
    best = np.int64(len(stamp))
    for t in range(count):
        row = touched[t]
        if score[row, 0] == top and score[row, 1] == likely:
            best = min(best, row)
    for kind in range(len(left)):
        if left[kind] > 0 and shared[kind, 0] == top and shared[kind, 1] == likely:
            m = indptr[kind]
            while stamp[members[m]] == mark:
                m += 1
            best = min(best, members[m])
    return best


@allocating_kernel
def _keep_likely_pairs(
    count, kinds, best, reach, mark, space, kept, kept_reals, filled
):  # fmt: skip
    """List the classes of rows whose likelihood reaches so far, with score and likelihood, and the best in any case;
    those that agree in nothing are not worth it."""
    score, stamp, touched, shared, left = space
    kind_of, indptr, members, _ = kinds
    for t in range(count):
        row = touched[t]
        if score[row, 1] >= reach or row == best:
            kept[filled] = row
            kept_reals[filled, 0], kept_reals[filled, 1] = score[row, 0], score[row, 1]
            filled += 1
    for kind in range(len(left)):
        likely = shared[kind, 1] >= reach and shared[kind, 1] > 0
        if left[kind] > 0 and (likely or (best >= 0 and kind_of[best] == kind)):
            for m in range(indptr[kind], indptr[kind + 1]):
                row = members[m]
                if stamp[row] != mark and (likely or row == best):
                    kept[filled] = row
                    kept_reals[filled, 0], kept_reals[filled, 1] = shared[kind, 0], shared[kind, 1]
                    filled += 1
    return filled


@allocating_kernel
def _count_errors(
    people, p, starts, common, rare, kinds, sizes, blame, unit,
    likeliest, everything, count, weight, space, chances, tally,
):  # fmt: skip
    """Add to ``tally``, by attribute, how likely the row that is the person's has a wrong value there, and how likely
    it has any. ``chances`` holds the posterior of classes that were touched and of kinds."""
    indptr, attributes, places = people
    score, _, touched, shared, left = space
    of_row, of_kind = chances
    for kind in range(len(left)):
        of_kind[kind] = left[kind] * np.exp((shared[kind, 1] - likeliest) * unit) / everything
    for t in range(count):
        row = touched[t]
        of_row[row] = sizes[row] * np.exp((score[row, 1] - likeliest) * unit) / everything
        of_kind[kinds[0][row]] += of_row[row]
    inside = of_kind.sum()
    for k in range(indptr[p], indptr[p + 1]):
        place, attribute = places[k], attributes[k]
        known = inside
        known -= _sum_chances(common[4], common[3][attribute], common[3][attribute + 1], of_kind)
        known -= _sum_chances(rare[4], rare[3][attribute], rare[3][attribute + 1], of_row)
        wrong = known
        for run in range(starts[place], starts[place + 1]):
            agrees = _sum_chances(common[2], common[0][run], common[1][run], of_kind)
            agrees += _sum_chances(rare[2], rare[0][run], rare[1][run], of_row)
            wrong -= agrees * (1 - blame[run])
        tally[attribute, 0] += weight * max(wrong, 0.0)
        tally[attribute, 1] += weight * max(known, 0.0)


@helper
def _sum_chances(source, begin, stop, chances):
    """The sum of the posteriors of the listed classes."""
    total = 0.0
    for t in range(begin, stop):
        total += chances[source[t]]
    return total
