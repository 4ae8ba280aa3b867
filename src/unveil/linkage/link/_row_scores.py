"""The compiled inner loops of ``candidates`` and ``row_scores``.

Classes of people and of rows, similar codes and postings are stored as in
:class:`unveil.linkage.link.file_pair.FilePair`. Scores are multiples of a small unit, so sums do not depend on the
order of summation and ties are exact.
"""

# mypy: allow-untyped-defs
from __future__ import annotations

import numpy as np

from unveil.compilation import allocating_kernel, helper

__all__ = ["find_fitting_rows", "score_rows"]

_NEGLIGIBLE_NATS = 50.0  # log-likelihoods so far below the maximum count as −∞


@helper
def _row_code(rows, row, attribute):
    """The code of an attribute in a class of rows, −1 if null: from the dense array or, if there is none, by binary
    search in the row's list."""
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
    """The similarity of a released code to a known value: that of the last range that begins at or before the code, if
    it contains the code; otherwise 0."""
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
    """For some classes of people, count the classes of rows that fit, and their rows; or list them if ``fill``.

    ``blocking[p]`` is the entry of one attribute known of class p, −1 if nothing is known. Only rows with a similar or
    missing value of that attribute are compared. ``found`` is filled from ``counts[p]`` on.
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
                # the runs of similar codes, then the classes without the attribute
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
    first_rows, prior, evidence, first, last, unit, least, space,
    wholes, reals, kept, kept_reals, kept_counts,
):  # fmt: skip
    """Score all rows for some classes of people, as long as the buffer has room for the likely pairs. Returns the next
    class and the number of pairs kept.

    ``common`` and ``rare`` are postings of kinds and of classes of rows: the begin and the end of each run's list, the
    lists, and the same for nulls. ``kinds`` is the kind of every class of rows, and the classes of every kind by their
    first row. ``gains[e]`` is what agreement with a code of run e adds to the score and to the log-likelihood of a row,
    ``nulls`` what a null adds; ``base[p]`` is the log-likelihood ratio of a row that agrees in nothing. ``evidence``,
    unless it is empty, says how much likelier what is known of class p is of someone in the release than of someone
    outside, as a logarithm; otherwise that is the mean likelihood ratio of all rows.

    Results, by class of people: ``wholes`` is the best class of rows (−1 if none gains anything), the number of rows
    that tie with it, and the best and second score (−1 if there is no second row); ``reals`` is the standard deviation
    of the score over all rows, the posterior of a best row and that of no row, and the logarithm of the mean
    likelihood ratio.
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
            best = _first_best(count, kinds, first_rows, top, likely, mark, space)
        mass = 0.0
        for t in range(count):
            away = (likeliest - score[touched[t], 1]) * unit
            if away < _NEGLIGIBLE_NATS:
                mass += sizes[touched[t]] * np.exp(-away)
        for kind in range(len(left)):
            if left[kind] > 0:
                mass += left[kind] * np.exp((shared[kind, 1] - likeliest) * unit)
        inside = np.log(mass / max(released, 1)) + base[p] + likeliest * unit
        everything = mass
        if prior > 0:
            everything += mass * prior / (1 - prior) * np.exp(-(evidence[p] if len(evidence) else inside))
        reach = likeliest + np.log(least * everything) / unit
        before = filled
        filled = _keep_likely_pairs(count, kinds, best, reach, mark, space, kept, kept_reals, filled)
        for e in range(before, filled):
            kept_reals[e, 2] = np.exp((kept_reals[e, 1] - likeliest) * unit) / everything
            kept_reals[e, 0] *= unit
            kept_reals[e, 1] = base[p] + kept_reals[e, 1] * unit
        kept_counts[p] = filled - before
        wholes[p, 0], wholes[p, 1], wholes[p, 2], wholes[p, 3] = best, ties, top, second
        mean = total / max(released, 1)
        reals[p, 0] = np.sqrt(max(square / max(released, 1) - mean * mean, 0.0))
        reals[p, 1] = np.exp((likely - likeliest) * unit) / everything if best >= 0 else 0.0
        reals[p, 2] = 1 - mass / everything if released > 0 else 1.0
        reals[p, 3] = inside
    return last, filled


@allocating_kernel
def _gather_scores(
    people, p, starts, common, rare, gains, nulls, mark, space
):  # fmt: skip
    """Sum what the rows of each kind have in common, and the scores of the classes of rows that agree in something rare
    or lack it. These classes are marked and listed; returns their number."""
    indptr, attributes, places = people
    score, stamp, touched, shared, _ = space
    shared[:] = 0
    count = 0
    for k in range(indptr[p], indptr[p + 1]):
        place, attribute = places[k], attributes[k]
        for run in range(starts[place], starts[place + 1]):
            gain, more = gains[run, 0], gains[run, 1]
            _add_kind_scores(common[2], common[0][run], common[1][run], gain, more, shared)
            count = _add_row_scores(rare[2], rare[0][run], rare[1][run], gain, more, mark, score, stamp, touched, count)
        gain, more = nulls[attribute, 0], nulls[attribute, 1]
        _add_kind_scores(common[4], common[3][attribute], common[3][attribute + 1], gain, more, shared)
        begin, stop = rare[3][attribute], rare[3][attribute + 1]
        count = _add_row_scores(rare[4], begin, stop, gain, more, mark, score, stamp, touched, count)
    return count


@helper
def _add_kind_scores(source, begin, stop, gain, more, shared):
    """Add to what all rows of the listed kinds have in common."""
    for t in range(begin, stop):
        shared[source[t], 0] += gain
        shared[source[t], 1] += more


@helper
def _add_row_scores(
    source, begin, stop, gain, more, mark, score, stamp, touched,
    count,
):  # fmt: skip
    """Add to the scores of the listed classes of rows, and note those not touched before."""
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
    """The best and the second score, the log-likelihood of the best and the highest one, the number of rows that tie
    with the best, and the sums of scores and of their squares. Adds what a kind has in common to its touched classes,
    and fills ``left``, the number of untouched rows of each kind."""
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
def _first_best(count, kinds, first_rows, top, likely, mark, space):
    """The best class of rows; if there are several, the one whose first row comes first."""
    score, stamp, touched, shared, left = space
    _, indptr, members, _ = kinds
    best = np.int64(-1)
    for t in range(count):
        row = touched[t]
        if score[row, 0] == top and score[row, 1] == likely and (best < 0 or first_rows[row] < first_rows[best]):
            best = np.int64(row)
    for kind in range(len(left)):
        if left[kind] > 0 and shared[kind, 0] == top and shared[kind, 1] == likely:
            m = indptr[kind]
            while stamp[members[m]] == mark:
                m += 1
            if best < 0 or first_rows[members[m]] < first_rows[best]:
                best = np.int64(members[m])
    return best


@allocating_kernel
def _keep_likely_pairs(
    count, kinds, best, reach, mark, space, kept, kept_reals, filled
):  # fmt: skip
    """List the classes of rows with a log-likelihood of at least ``reach``, with their score and log-likelihood, and
    always the best class. Untouched rows that agree in nothing are left out."""
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
