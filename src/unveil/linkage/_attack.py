"""The compiled inner loops of ``auxiliary``, ``adversaries`` and ``unicity``.

Records are numbered by rising support, their *place*: the first of some candidates has the least support, and all of
the same support come together. A *thing known* is an attribute and a run of codes, ``low … high``. What kernels take
as :class:`Index` and :class:`Like` is the same for all things; arrays of two axes go by target and by thing or number
of things known. Attribute −1 is a thing that says nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.compiled import inlined, kernel

__all__ = [
    "FIXED",
    "Index",
    "Like",
    "Model",
    "Seen",
    "compared",
    "dealt",
    "drawn",
    "mistaken",
    "mixed",
    "narrowed",
    "owned",
    "planed",
    "rarest",
    "scored",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

FIXED = 1 << 30  # scores are whole numbers of this fraction: their sums are exact, and ties are ties in any order
_COUNT = 1 << 48  # counts things above the bits of the score
_SCORE = _COUNT - 1
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: brings what is close together far apart
_SLACK = 1e-9
_NEGLIGIBLE = 50.0  # e⁻⁵⁰ of the likeliest: a million of them make no difference
_ROOM = 1 << 24  # words of bits for the points of one record


class Index(NamedTuple):
    """Records by place, and who has which value.

    Those of place p have ``attribute`` (rising) and ``value`` at ``indptr[p] … indptr[p + 1]``. ``last[p]`` is where
    those end that have as many. Attribute i is had by ``holder[starts[i] : starts[i + 1]]``, in the order of their
    ``code``, then place.

    Row ``plane[i] + v`` of ``planes`` has a bit for every place whose code of attribute i is below v, and ``before``
    says how many they are. That is so for attributes with few values for so many holders. Others have two rows, for
    nobody and for all holders, which serve runs of all ``codes[i]`` codes; or none, and −1 for ``plane[i]``. The
    attribute is ``fine`` if it has them all.
    """

    indptr: Ints
    attribute: Small
    value: Small
    last: Ints
    starts: Ints
    holder: Small
    code: Small
    codes: Ints
    fine: npt.NDArray[np.bool_]
    plane: Ints
    before: Ints
    planes: npt.NDArray[np.uint64]


class Like(NamedTuple):
    """How records are compared: value v of attribute i is alike to the codes ``low … high`` at ``starts[i] + v``.
    Where ``scale[i]`` is above 0, sim falls with the distance of ``number``. ``kind`` is 1, 2 or 3 for the similarity
    of records (2.1), (2.2) or (2.3), or 0 where records are not compared; ``sigma`` is the one to be reached."""

    starts: Ints
    low: Small
    high: Small
    number: Floats
    scale: Floats
    kind: int
    sigma: float


class Model(NamedTuple):
    """How records are scored: by weights if ``wrong`` is below 0, and by the probability that a value is ``wrong`` or
    an attribute from ``elsewhere`` otherwise. ``own`` is how many of the ``usable`` attributes each place has and
    ``factorial[k]`` is log k!."""

    weight: Floats
    wrong: float
    elsewhere: float
    own: Ints
    usable: int
    factorial: Floats


class Seen(NamedTuple):
    """What an adversary sees, by target and number of things known. It names the target with probability ``spread`` if
    its output is drawn from all it considers, and ``best`` if from the best of these. ``size`` is how many it considers
    and ``ties`` how many are the best; ``apart`` is by how much those lead. The others are expected of the output: how
    often it is similar enough, and how many of its attributes agree."""

    spread: Floats
    best: Floats
    size: Floats
    ties: Floats
    apart: Floats
    spread_similar: Floats
    spread_learned: Floats
    best_similar: Floats
    best_learned: Floats


# ---- the index -------------------------------------------------------------------------------------------------------


@kernel
def owned(indptr: Any, first: Any, last: Any, owner: Any) -> None:
    """Fill the record that each entry belongs to."""
    for r in range(first, last):
        for e in range(indptr[r], indptr[r + 1]):
            owner[e] = r


@kernel
def dealt(keys: Any, order: Any, free: Any, first: Any, last: Any, dealt_order: Any) -> None:
    """Deal entries, in an order, to the places that are free for their key: a stable sort. With no order given, that in
    which they come."""
    for k in range(first, last):
        e = order[k] if len(order) else k
        dealt_order[free[keys[e]]] = e
        free[keys[e]] += 1


@kernel
def planed(index: Any, first: Any, last: Any) -> None:
    """Fill the planes of the attributes from ``first`` to ``last`` that have some."""
    for i in range(first, last):
        p = index.plane[i]
        if p < 0:
            continue
        for at in range(index.starts[i], index.starts[i + 1]):
            row, y = p + 1 + (index.code[at] if index.fine[i] else 0), index.holder[at]
            index.planes[row, y >> 6] |= np.uint64(1) << np.uint64(y & 63)
            index.before[row] += 1
        for row in range(p, p + (index.codes[i] if index.fine[i] else 1)):
            index.before[row + 1] += index.before[row]
            for w in range(index.planes.shape[1]):
                index.planes[row + 1, w] |= index.planes[row, w]


@kernel
def mixed(indptr: Any, attribute: Any, value: Any, first: Any, last: Any, numbers: Any) -> None:
    """Fill a number for each record that is the same for equal ones, and hardly ever for others."""
    for r in range(first, last):
        x = np.uint64(0)
        for e in range(indptr[r], indptr[r + 1]):
            x = (x ^ (np.uint64(attribute[e]) << np.uint64(32) | np.uint64(value[e]))) * _MIX
            x ^= x >> np.uint64(29)
        numbers[r] = x


@kernel
def compared(indptr: Any, attribute: Any, value: Any, order: Any, first: Any, last: Any, fresh: Any) -> None:
    """Say which records, in this order, differ from the one before."""
    for k in range(max(1, first), last):
        a, b = indptr[order[k - 1]], indptr[order[k]]
        size = indptr[order[k] + 1] - b
        if size != indptr[order[k - 1] + 1] - a:
            continue
        same = True
        for e in range(size):
            if attribute[a + e] != attribute[b + e] or value[a + e] != value[b + e]:
                same = False
                break
        fresh[k] = not same


@inlined
def _sought(codes: Any, first: Any, last: Any, code: Any) -> Any:
    """The first place from ``first`` to ``last`` of rising codes that has at least ``code``."""
    while first < last:
        middle = (first + last) >> 1
        if codes[middle] < code:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def _placed(
    starts: Any, code: Any, codes: Any, fine: Any, plane: Any, before: Any, attribute: Any, low: Any, high: Any,
    t: Any, first: Any, last: Any, begin: Any, end: Any, under: Any, upto: Any,
) -> None:  # fmt: skip
    """Fill, for some things known, where the list of their holders begins and ends, and the rows of planes between
    which they are; −1 if there are none. Takes arrays by themselves: what is taken out of a tuple in a loop is counted
    as used each time, which takes longer than the work."""
    for k in range(first, last):
        i = attribute[t, k]
        begin[k], end[k], under[k], upto[k] = 0, 0, -1, -1
        if i < 0:
            continue
        if fine[i]:
            under[k], upto[k] = plane[i] + low[t, k], plane[i] + high[t, k] + 1
        elif plane[i] >= 0 and low[t, k] <= 0 and high[t, k] >= codes[i] - 1:
            under[k], upto[k] = plane[i], plane[i] + 1
        if under[k] >= 0:
            begin[k], end[k] = starts[i] + before[under[k]], starts[i] + before[upto[k]]
        else:
            begin[k] = _sought(code, starts[i], starts[i + 1], low[t, k])
            end[k] = _sought(code, begin[k], starts[i + 1], high[t, k] + 1)


@inlined
def _bit(words: Any, place: Any) -> Any:
    return (words[place >> 6] >> np.uint64(place & 63)) & np.uint64(1)


@inlined
def _counted(x: Any) -> Any:
    """How many bits are set; compiled to one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


# ---- what is known ---------------------------------------------------------------------------------------------------


@kernel
def drawn(
    indptr: Any, attribute: Any, value: Any, targets: Any, usable: Any, rare: Any, random: Any, things: Any, values: Any
) -> None:  # fmt: skip
    """Fill the ``things`` known of each target and their values: a random order of its ``usable`` attributes, after one
    that is ``rare`` if any is marked; nothing if it has none. ``random`` are numbers from 0 to 1 for the choice of the
    rare one and of each that follows."""
    most, entries = things.shape[1], np.empty(len(usable), np.int64)
    for t in range(len(targets)):
        k, first = 0, 0
        for e in range(indptr[targets[t]], indptr[targets[t] + 1]):
            if usable[attribute[e]]:
                entries[k] = e
                k += 1
        if len(rare):
            some, first = 0, 1
            for j in range(k):
                some += rare[attribute[entries[j]]]
            if some == 0:
                continue
            chosen = np.int64(random[t, 0] * some)
            for j in range(k):
                if rare[attribute[entries[j]]]:
                    if chosen == 0:
                        things[t, 0], values[t, 0] = attribute[entries[j]], value[entries[j]]
                    chosen -= 1
        for j in range(min(k, most - first)):
            other = j + np.int64(random[t, j + 1] * (k - j))
            entries[j], entries[other] = entries[other], entries[j]
            i = attribute[entries[j]]
            if first == 0 or i != things[t, 0]:
                things[t, first + j], values[t, first + j] = i, value[entries[j]]


@kernel
def mistaken(
    indptr: Any, attribute: Any, targets: Any, columns: Any, starts: Any, code: Any, elsewhere: Any, wrong: Any,
    noise: Any, near_starts: Any, near_low: Any, near_high: Any, random: Any, things: Any, values: Any,
) -> None:  # fmt: skip
    """Put errors into the ``things`` known and their values. ``random`` are five numbers from 0 to 1 for each: whether
    it is from elsewhere and from where, which value it has then, and whether that is wrong or has noise."""
    taken = np.zeros(len(starts) - 1, np.bool_)
    for t in range(len(targets)):
        free = len(columns)
        for e in range(indptr[targets[t]], indptr[targets[t] + 1]):
            taken[attribute[e]] = True
        for i in columns:
            free -= taken[i]
        for j in range(things.shape[1]):
            i, v = things[t, j], values[t, j]
            if i < 0:
                continue
            if random[t, j, 0] < elsewhere and free > 0:
                chosen = np.int64(random[t, j, 1] * free)
                for other in columns:
                    if not taken[other]:
                        if chosen == 0:
                            i = other
                            break
                        chosen -= 1
                taken[i] = True
                free -= 1
                v = code[starts[i] + np.int64(random[t, j, 2] * (starts[i + 1] - starts[i]))]
            elif random[t, j, 3] < wrong:
                v = code[starts[i] + np.int64(random[t, j, 2] * (starts[i + 1] - starts[i]))]
            elif random[t, j, 4] < noise:
                low, high = near_low[near_starts[i] + v], near_high[near_starts[i] + v]
                if high > low:
                    near = low + np.int64(random[t, j, 2] * (high - low))
                    v = near + 1 if near >= v else near
            things[t, j], values[t, j] = i, v
        for i in range(len(taken)):
            taken[i] = False


# ---- comparing records -----------------------------------------------------------------------------------------------


@kernel
def _held_up(index: Any, like: Any, place: Any, low: Any, high: Any, number: Any) -> None:
    """Note what the record to compare with has, by attribute."""
    for e in range(index.indptr[place], index.indptr[place + 1]):
        i = index.attribute[e]
        at = like.starts[i] + index.value[e]
        low[i], high[i], number[i] = like.low[at], like.high[at], like.number[at]


@kernel
def _put_down(index: Any, place: Any, low: Any, high: Any) -> None:
    for e in range(index.indptr[place], index.indptr[place + 1]):
        low[index.attribute[e]], high[index.attribute[e]] = 1, 0


@kernel
def _likened(
    index: Any, like: Any, places: Any, count: Any, support: Any, low: Any, high: Any, number: Any, similar: Any,
    learned: Any,
) -> Any:  # fmt: skip
    """Fill, for some places, whether the record is similar enough to the one that is held up, and how many attributes
    agree. Returns how many entries were gone through."""
    indptr, attribute, value = index.indptr, index.attribute, index.value
    starts, numbers, scale, kind, sigma = like.starts, like.number, like.scale, like.kind, like.sigma
    done = 0
    for k in range(count):
        y = places[k]
        alike, both, sim = 0, 0, 0.0
        for e in range(indptr[y], indptr[y + 1]):
            i, v = attribute[e], value[e]
            here = low[i] <= high[i]
            near = low[i] <= v and v <= high[i]
            both += here
            alike += near
            if kind == 2 and here:
                if scale[i] > 0:
                    sim += max(0.0, 1.0 - abs(number[i] - numbers[starts[i] + v]) / scale[i])
                else:
                    sim += near
        size = indptr[y + 1] - indptr[y]
        reached = float(alike)
        if kind == 2:
            reached = sim
        elif kind == 3:
            reached = float(both)
        similar[k] = reached + _SLACK >= sigma * (support + size - both)
        learned[k] = alike
        done += size
    return done


# ---- candidates ------------------------------------------------------------------------------------------------------


@kernel
def _begun(live: Any, upto: Any, under: Any) -> None:
    """Those below one value and not below another."""
    for w in range(len(live)):
        live[w] = upto[w] & ~under[w]


@kernel
def _met(live: Any, upto: Any, under: Any) -> Any:
    """Keep of a set those below one value and not below another, and count them."""
    bits = np.uint64(0)
    for w in range(len(live)):
        x = live[w] & upto[w] & ~under[w]
        live[w] = x
        bits += _counted(x)
    return np.int64(bits)


@inlined
def _lowest(x: Any) -> Any:
    """The number of the lowest bit that is set."""
    return np.int64(_counted((x & (~x + np.uint64(1))) - np.uint64(1)))


@kernel
def _unpacked(live: Any, places: Any) -> Any:
    """List the places whose bits are set."""
    made = 0
    for w in range(len(live)):
        x = live[w]
        while x:
            places[made] = (w << 6) + _lowest(x)
            x &= x - np.uint64(1)
            made += 1
    return made


@kernel
def _kept(these: Any, not_these: Any, places: Any, count: Any) -> Any:
    """Keep those of some places that are in one set and not in another, and count them."""
    made: Any = 0
    for k in range(count):
        y = places[k]
        places[made] = y
        made += np.int64(_bit(these, y) & ~_bit(not_these, y))
    return made


@kernel
def _kept_listed(
    indptr: Any, attribute: Any, value: Any, i: Any, low: Any, high: Any, places: Any, count: Any
) -> Any:  # fmt: skip
    """Keep those of some places that have attribute i with a code from ``low`` to ``high``, and count them."""
    made = 0
    for k in range(count):
        y = places[k]
        end = indptr[y + 1]
        at = _sought(attribute, indptr[y], end, i)
        places[made] = y
        made += at < end and attribute[at] == i and low <= value[at] and value[at] <= high
    return made


@kernel
def _least(last: Any, live: Any) -> Any:
    """The first of a set that is not empty, and how many of the set have as little support."""
    w = 0
    while live[w] == 0:
        w += 1
    least = (w << 6) + _lowest(live[w])
    until, bits = last[least], np.uint64(0)
    while w << 6 < until:
        x = live[w]
        if until - (w << 6) < 64:
            x &= (np.uint64(1) << np.uint64(until - (w << 6))) - np.uint64(1)
        bits += _counted(x)
        w += 1
    return least, np.int64(bits)


@kernel
def _least_listed(last: Any, places: Any, count: Any) -> Any:
    """The same of a list, which may be empty."""
    least, ties = len(last), 0
    for k in range(count):
        least = min(least, places[k])
    if count:
        until = last[least]
        for k in range(count):
            ties += places[k] < until
    return least, ties


@kernel
def _averaged(
    places: Any, count: Any, similar: Any, learned: Any, until: Any, ties: Any, t: Any, j: Any, seen: Any
) -> None:
    """Fill what is expected of any of the places, and of any of the ``ties`` before ``until``."""
    all_similar, all_learned, best_similar, best_learned = 0, 0, 0, 0
    for k in range(count):
        all_similar += similar[k]
        all_learned += learned[k]
        if places[k] < until:
            best_similar += similar[k]
            best_learned += learned[k]
    count, ties = max(1, count), max(1, ties)
    seen.spread_similar[t, j], seen.spread_learned[t, j] = all_similar / count, all_learned / count
    seen.best_similar[t, j], seen.best_learned[t, j] = best_similar / ties, best_learned / ties


@kernel
def narrowed(
    index: Any, like: Any, targets: Any, usable: Any, attribute: Any, low: Any, high: Any, ms: Any, few: Any,
    first: Any, last: Any, work: Any, seen: Any,
) -> Any:  # fmt: skip
    """Fill what is seen by someone who considers the records that have all that is known: all the same, or only those
    of least support.

    Begins with the shortest run of the first things. Candidates are bits, as long as they are more than ``few`` and the
    attributes have planes, and a list from then on. Goes from target ``first`` to ``last``, or as far as ``work``
    allows; returns the target to go on with.
    """
    planes, ends = index.planes, index.last
    indptr, had, value = index.indptr, index.attribute, index.value
    starts, holder, code, codes = index.starts, index.holder, index.code, index.codes
    fine, plane, before = index.fine, index.plane, index.before
    most, c = attribute.shape[1], len(plane) if like.kind else 0
    live, places = np.empty(planes.shape[1], np.uint64), np.empty(len(ends), np.int32)
    applied = np.empty(most, np.bool_)
    begin, end = np.empty(most, np.int64), np.empty(most, np.int64)
    under, upto = np.empty(most, np.int64), np.empty(most, np.int64)
    own_low, own_high, own_number = np.ones(c, np.int32), np.zeros(c, np.int32), np.empty(c)
    similar, learned = np.empty(len(ends), np.bool_), np.empty(len(ends), np.int64)
    done = 0
    for t in range(first, last):
        if done >= work:
            return t
        target, known, bits, count = targets[t], np.int64(0), False, 0
        if like.kind:
            _held_up(index, like, target, own_low, own_high, own_number)
        for j in range(len(ms)):
            m = ms[j]
            if usable[t] < m:
                break
            _placed(
                starts, code, codes, fine, plane, before, attribute, low, high, t, known, m, begin, end, under, upto
            )
            for k in range(known, m):
                applied[k] = attribute[t, k] < 0
            if known == 0:
                chosen = 0
                for k in range(1, m):
                    if attribute[t, k] >= 0 and end[k] - begin[k] < end[chosen] - begin[chosen]:
                        chosen = k
                applied[chosen], count = True, end[chosen] - begin[chosen]
                bits = under[chosen] >= 0 and count > few
                if bits:
                    _begun(live, planes[upto[chosen]], planes[under[chosen]])
                else:
                    for k in range(count):
                        places[k] = holder[begin[chosen] + k]
                done += count
            if bits:
                left = False
                for k in range(known, m):
                    if not applied[k]:
                        if under[k] >= 0 and count > few:
                            count = _met(live, planes[upto[k]], planes[under[k]])
                            applied[k] = True
                            done += len(live)
                        else:
                            left = True
                if left or count <= few:
                    count, bits = _unpacked(live, places), False
            if not bits:
                for k in range(known, m):
                    if not applied[k] and count > 0:
                        done += 10 * count + 1
                        if under[k] >= 0:
                            count = _kept(planes[upto[k]], planes[under[k]], places, count)
                        else:
                            count = _kept_listed(
                                indptr, had, value, attribute[t, k], low[t, k], high[t, k], places, count
                            )
            known, hit = m, False
            if bits:
                least, ties = _least(ends, live)
                hit = _bit(live, target) == np.uint64(1)
            else:
                least, ties = _least_listed(ends, places, count)
                for k in range(count):
                    hit |= places[k] == target
            until = ends[least] if count else 0
            seen.size[t, j], seen.ties[t, j], seen.apart[t, j] = count, ties, 0.0
            seen.spread[t, j] = 1.0 / count if hit else 0.0
            seen.best[t, j] = 1.0 / ties if hit and target < until else 0.0
            done += 20
            if like.kind:
                if bits:
                    _unpacked(live, places)
                support = indptr[target + 1] - indptr[target]
                done += _likened(index, like, places, count, support, own_low, own_high, own_number, similar, learned)
                _averaged(places, count, similar, learned, until, ties, t, j, seen)
        if like.kind:
            _put_down(index, target, own_low, own_high)
    return last


# ---- scores ----------------------------------------------------------------------------------------------------------


@kernel
def _added(holder: Any, begin: Any, end: Any, gain: Any, score: Any) -> None:
    for at in range(begin, end):
        score[holder[at]] += gain


@kernel
def _added_graded(
    holder: Any, code: Any, begin: Any, end: Any, number: Any, start: Any, own: Any, scale: Any, weight: Any, score: Any
) -> None:
    """Add a weight times how alike the number is."""
    for at in range(begin, end):
        apart = abs(own - number[start + code[at]]) / scale
        score[holder[at]] += np.int64(np.rint(FIXED * weight * max(0.0, 1.0 - apart)))


@kernel
def _deviations(score: Any, logs: Any) -> None:
    """Scores in standard deviations of all scores."""
    n, total, squares = len(score), 0, 0.0
    for y in range(n):
        total += score[y]
    mean = total / n
    for y in range(n):
        squares += (score[y] - mean) * (score[y] - mean)
    deviation = np.sqrt(squares / n)
    scale = 1.0 / deviation if deviation > 0.0 else 0.0
    for y in range(n):
        logs[y] = score[y] * scale


@kernel
def _likelihoods(model: Any, score: Any, known: Any, logs: Any) -> None:
    """The logarithm of the probability of what is known, for every record, up to what is the same for all."""
    wrong = np.log(model.wrong) if model.wrong > 0.0 else 0.0
    sure = np.log1p(-model.elsewhere)
    there = np.log(model.elsewhere) if model.elsewhere > 0.0 else -np.inf
    for y in range(len(score)):
        have, own = score[y] >> 48, model.own[y]
        lack = known - have
        if lack > model.usable - own or (lack > 0 and model.elsewhere == 0.0):
            logs[y] = -np.inf
            continue
        others = model.usable - own
        here = wrong + sure if others > 0 else wrong
        logs[y] = (score[y] & _SCORE) / FIXED + have * here + model.factorial[own - have] - model.factorial[own]
        if lack > 0:
            logs[y] += lack * there + model.factorial[others - lack] - model.factorial[others]


@kernel
def _told(logs: Any, target: Any, similar: Any, learned: Any, t: Any, j: Any, seen: Any) -> None:
    """Fill what is seen from the logarithm of how much each record is believed, up to what is the same for all."""
    top, second = -np.inf, -np.inf
    for y in range(len(logs)):
        if logs[y] > top:
            top, second = logs[y], top
        elif logs[y] > second:
            second = logs[y]
    seen.spread[t, j] = seen.best[t, j] = seen.size[t, j] = seen.ties[t, j] = seen.apart[t, j] = 0.0
    if len(similar):  # otherwise there is no room for it
        seen.spread_similar[t, j] = seen.spread_learned[t, j] = seen.best_similar[t, j] = seen.best_learned[t, j] = 0.0
    if top == -np.inf:
        return
    whole, moment, ties, previous, e = 0.0, 0.0, 0, np.nan, 0.0
    spread_similar, spread_learned, best_similar, best_learned = 0.0, 0.0, 0, 0
    for y in range(len(logs)):
        if logs[y] < top - _NEGLIGIBLE:
            continue
        if logs[y] != previous:  # scores of neighbours are often the same
            previous = logs[y]
            e = np.exp(previous - top)
        whole += e
        moment += e * (previous - top)
        tied = previous >= top - _SLACK
        ties += tied
        if len(similar):
            spread_similar += e * similar[y]
            spread_learned += e * learned[y]
            if tied:
                best_similar += similar[y]
                best_learned += learned[y]
    seen.spread[t, j] = np.exp(logs[target] - top) / whole
    seen.best[t, j] = 1.0 / ties if logs[target] >= top - _SLACK else 0.0
    seen.size[t, j] = np.exp(np.log(whole) - moment / whole)
    seen.ties[t, j] = ties
    seen.apart[t, j] = top - second if ties == 1 else 0.0
    if len(similar):
        seen.spread_similar[t, j], seen.spread_learned[t, j] = spread_similar / whole, spread_learned / whole
        seen.best_similar[t, j], seen.best_learned[t, j] = best_similar / ties, best_learned / ties


@kernel
def scored(
    index: Any, like: Any, model: Any, targets: Any, usable: Any, attribute: Any, value: Any, low: Any, high: Any,
    ms: Any, first: Any, last: Any, work: Any, seen: Any,
) -> Any:  # fmt: skip
    """Fill what is seen by someone who gives every record a score: the weight of what is known to those who have
    something alike; or, to count what is known, 2⁴⁸ to those who have the attribute, and to those who have something
    alike also how much likelier that is if it is right. Where nothing is wrong, only these are counted.

    Goes from target ``first`` to ``last``, or as far as ``work`` allows; returns the target to go on with.
    """
    starts, holder, code, codes = index.starts, index.holder, index.code, index.codes
    fine, plane, before = index.fine, index.plane, index.before
    like_starts, number, scale = like.starts, like.number, like.scale
    weight, wrong, weighing, one = model.weight, model.wrong, model.wrong < 0.0, np.int64(_COUNT)
    n, most, c = len(index.last), attribute.shape[1], len(plane) if like.kind else 0
    score, logs, places = np.empty(n, np.int64), np.empty(n), np.arange(n, dtype=np.int32)
    begin, end = np.empty(most, np.int64), np.empty(most, np.int64)
    under, upto = np.empty(most, np.int64), np.empty(most, np.int64)
    exact_begin, exact_end = np.empty(most, np.int64), np.empty(most, np.int64)
    own_low, own_high, own_number = np.ones(c, np.int32), np.zeros(c, np.int32), np.empty(c)
    similar, learned = np.empty(n if like.kind else 0, np.bool_), np.empty(n if like.kind else 0, np.int64)
    done = 0
    for t in range(first, last):
        if done >= work:
            return t
        target, known, things = targets[t], np.int64(0), np.int64(0)
        score[:] = 0
        if like.kind and usable[t] >= ms[0]:
            support = index.indptr[target + 1] - index.indptr[target]
            _held_up(index, like, target, own_low, own_high, own_number)
            done += _likened(index, like, places, n, support, own_low, own_high, own_number, similar, learned)
            _put_down(index, target, own_low, own_high)
        for j in range(len(ms)):
            m = ms[j]
            if usable[t] < m:
                break
            if wrong > 0.0:
                _placed(
                    starts, code, codes, fine, plane, before, attribute, value, value, t, known, m, exact_begin,
                    exact_end, under, upto,
                )  # fmt: skip
            _placed(
                starts, code, codes, fine, plane, before, attribute, low, high, t, known, m, begin, end, under, upto
            )
            for k in range(known, m):
                i = attribute[t, k]
                if i < 0:
                    continue
                things += 1
                done += starts[i + 1] - starts[i]
                gain: Any = one
                if weighing:
                    gain = np.int64(np.rint(FIXED * weight[i]))
                    if scale[i] > 0.0:
                        own = number[like_starts[i] + value[t, k]]
                        _added_graded(
                            holder, code, begin[k], end[k], number, like_starts[i], own, scale[i], weight[i], score
                        )
                        continue
                elif wrong > 0.0:
                    share = max(1, exact_end[k] - exact_begin[k]) / (starts[i + 1] - starts[i])
                    odds = (1.0 - wrong) / (high[t, k] - low[t, k] + 1) / (share * wrong)
                    gain += np.int64(np.rint(FIXED * np.log1p(odds)))
                    _added(holder, starts[i], begin[k], one, score)
                    _added(holder, end[k], starts[i + 1], one, score)
                _added(holder, begin[k], end[k], gain, score)
            known = m
            if weighing:
                _deviations(score, logs)
            else:
                _likelihoods(model, score, things, logs)
            _told(logs, target, similar, learned, t, j, seen)
            done += 10 * n
    return last


# ---- the rarest points -----------------------------------------------------------------------------------------------


@kernel
def _by_length(starts: Any, ends: Any, rank: Any) -> None:
    """Order lists by length, then number (Shell 1959)."""
    gap = len(rank) // 2
    while gap > 0:
        for k in range(gap, len(rank)):
            q, at = rank[k], k
            while at >= gap:
                p = rank[at - gap]
                longer = ends[p] - starts[p] - ends[q] + starts[q]
                if longer < 0 or (longer == 0 and p < q):
                    break
                rank[at] = p
                at -= gap
            rank[at] = q
        gap //= 2


@kernel
def _greatest(numbers: Any, first: Any, last: Any, many: Any, top: Any) -> Any:
    """The sum of the ``many`` greatest of some numbers."""
    total = 0
    for k in range(many):
        top[k] = 0
    for q in range(first, last):
        x = numbers[q]
        for k in range(many):
            if x > top[k]:
                x, top[k] = top[k], x
    for k in range(many):
        total += top[k]
    return total


@kernel
def _sharing(
    indptr: Any, attribute: Any, value: Any, holder: Any, low: Any, high: Any, place_of: Any, first: Any, has: Any,
    live: Any,
) -> Any:  # fmt: skip
    """Fill, for all that have one point, a bit for those who also have each point after the ``first``, and a bit for
    those who do not have all points. Returns how many these are, and how many entries were gone through."""
    words, points, count, done = (len(holder) + 63) >> 6, len(has), 0, 0
    for w in range(words):
        live[w] = 0
        for q in range(first + 1, points):
            has[q, w] = 0
    for z in range(len(holder)):
        y, alike, bit = holder[z], 0, np.uint64(1) << np.uint64(z & 63)
        for e in range(indptr[y], indptr[y + 1]):
            i = attribute[e]
            if low[i] <= value[e] and value[e] <= high[i]:
                alike += 1
                if place_of[i] > first:
                    has[place_of[i], z >> 6] |= bit
        if alike < points:  # the others stay in any case
            live[z >> 6] |= bit
            count += 1
        done += indptr[y + 1] - indptr[y]
    return count, done


@kernel
def _followed(
    has: Any, words: Any, needs: Any, plain: Any, first: Any, size: Any, same: Any, least: Any, cap: Any, live: Any,
    count: Any, gone: Any, top: Any,
) -> Any:  # fmt: skip
    """Follow all paths of ``size`` points that begin with the ``first``. Returns the least number of records, and how
    many words were gone through: more than ``cap`` if it was given up."""
    points, done, depth = len(needs), 0, 0
    path, at, chosen = np.empty(size, np.int64), np.empty(size, np.int64), np.zeros(points, np.bool_)
    path[0], at[0], chosen[first] = first, -1, True
    while depth >= 0:
        if at[depth] < 0:  # a new path: how many records lack each further point?
            for q in range(path[depth] + 1, points):
                bits = np.uint64(0)
                for w in range(words):
                    bits += _counted(live[depth, w] & ~has[q, w])
                gone[depth, q] = np.int64(bits)
                if needs[q] < 0 or chosen[needs[q]]:
                    least = min(least, same + count[depth] - gone[depth, q])
            done += (points - path[depth]) * (words + 1)
            at[depth] = path[depth] + 1 if depth < size - 2 else points
        if least == same or done > cap:
            break
        q = at[depth]
        if q >= points:
            chosen[path[depth]] = False
            depth -= 1
            continue
        at[depth] += 1
        if (plain and gone[depth, q] == 0) or (needs[q] >= 0 and not chosen[needs[q]]):
            continue
        done += points - q
        most = gone[depth, q] + _greatest(gone[depth], q + 1, points, size - 2 - depth, top)
        if same + count[depth] - most < least:
            for w in range(words):
                live[depth + 1, w] = live[depth, w] & has[q, w]
            count[depth + 1] = count[depth] - gone[depth, q]
            depth += 1
            path[depth], at[depth], chosen[q] = q, -1, True
    return least, done


@kernel
def rarest(
    index: Any, like: Any, targets: Any, needs: Any, size: Any, cap: Any, first: Any, last: Any, work: Any,
    least: Any, twins: Any, exact: Any,
) -> Any:  # fmt: skip
    """Fill, for each target, how few records have the same ``size`` of its points, however they are chosen, and how
    many have all of them. A point that ``needs`` another is chosen only with it. Not ``exact`` where more than ``cap``
    words and entries would have to be gone through. Returns the target to go on with and the work done.

    Paths of points are followed depth first, the rarest point first; a path goes with a bit for each record that has
    all its points. Left out are paths that cannot get below the least so far: a further point takes away at most as
    many records as lack it.
    """
    indptr, attribute, value, holder = index.indptr, index.attribute, index.value, index.holder
    c, n, plain, zero = len(index.plane), len(index.last), len(needs) == 0, np.int64(0)
    low, high, number = np.ones(c, np.int32), np.zeros(c, np.int32), np.empty(c)
    place_of, top, total = np.full(c, -1, np.int64), np.empty(size, np.int64), 0
    for t in range(first, last):
        if total >= work:
            return t, total
        target, begin = targets[t], indptr[targets[t]]
        points = indptr[target + 1] - begin
        least[t], twins[t], exact[t] = n, n, True
        if points == 0:
            continue
        _held_up(index, like, target, low, high, number)
        which = attribute[begin : begin + points].reshape(1, points)
        lows, highs = np.empty((1, points), np.int32), np.empty((1, points), np.int32)
        for q in range(points):
            lows[0, q], highs[0, q] = low[which[0, q]], high[which[0, q]]
        starts, ends = np.empty(points, np.int64), np.empty(points, np.int64)
        under, upto = np.empty(points, np.int64), np.empty(points, np.int64)
        _placed(
            index.starts, index.code, index.codes, index.fine, index.plane, index.before, which, lows, highs, zero,
            zero, points, starts, ends, under, upto,
        )  # fmt: skip
        rank, needed, shortest, longest = np.arange(points), np.full(points, -1), 0, 0
        if plain:
            _by_length(starts, ends, rank)
        for q in range(points):
            place_of[which[0, rank[q]]] = q
        for q in range(points):
            i, many = which[0, rank[q]], ends[rank[q]] - starts[rank[q]]
            if not plain and needs[i] >= 0:
                needed[q] = place_of[needs[i]]
            else:
                least[t] = min(least[t], many)
            longest = max(longest, many)
            if many < ends[shortest] - starts[shortest]:
                shortest = rank[q]
        among = holder[starts[shortest] : ends[shortest]]
        similar, learned = np.empty(len(among), np.bool_), np.empty(len(among), np.int64)
        done = _likened(index, like, among, len(among), points, low, high, number, similar, learned)
        same = np.int64(0)
        for k in range(len(among)):
            same += learned[k] == points
        twins[t] = same
        if points <= size:
            least[t] = same
        width = (longest + 63) >> 6
        if size > 1 and least[t] > same:
            exact[t] = points * width <= _ROOM
        if size > 1 and least[t] > same and exact[t]:
            has, live = np.empty((points, width), np.uint64), np.empty((size, width), np.uint64)
            count, gone = np.empty(size, np.int64), np.empty((size, points), np.int64)
            for f in range(points - 1):
                if needed[f] < 0 and least[t] > same and done <= cap:
                    those = holder[starts[rank[f]] : ends[rank[f]]]
                    count[0], spent = _sharing(indptr, attribute, value, those, low, high, place_of, f, has, live[0])
                    done += spent
                    least[t], spent = _followed(
                        has, (len(those) + 63) >> 6, needed, plain, f, size, same, least[t], cap - done, live,
                        count, gone, top,
                    )  # fmt: skip
                    done += spent
            exact[t] = least[t] == same or done <= cap
        for q in range(points):
            place_of[which[0, q]] = -1
        _put_down(index, target, low, high)
        total += done
    return last, total
