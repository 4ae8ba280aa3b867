"""The compiled search for copies of a small subgraph in a large graph, and for those whom they lead to."""

from __future__ import annotations

from unveil.compilation import kernel

__all__ = ["follow_links", "search_copies"]


@kernel
def search_copies(  # type: ignore[no-untyped-def]
    indptr, neighbours, degrees, starts, links, least, most, errors, budget, state, path, wrong, anchor, cursor, copies
):
    """Walk through the search tree until it ends, ``copies`` is full, or ``budget`` steps are done; True at the end.

    Position i of the path takes a node of ``least[i]`` to ``most[i]`` links that is a neighbour of an earlier node of
    the path; bit j of ``links[i]`` says whether it should be linked with position j. At most ``errors`` links may
    differ. ``state`` (next start, depth, copies so far, nodes of the tree so far) carries on to the next call. The
    last column of ``copies`` is the number of wrong links.

    A node is reached from its *anchor*, an earlier node with which it should be linked. If e links may still be wrong,
    one of the first e + 1 anchors is really linked with it; it counts for the first of those only.
    """
    start, depth, count, tree = state[0], state[1], state[2], state[3]
    last, ended = len(links) - 1, False
    for _ in range(budget):
        if count == len(copies):
            break
        if depth == 0:
            if start == len(starts):
                ended = True
                break
            path[0] = starts[start]
            start += 1
            tree += 1
            depth = 1
            anchor[1, 0], anchor[1, 1], cursor[1, 0], cursor[1, 1] = -1, 0, 0, 0
        if cursor[depth, 0] == cursor[depth, 1]:
            i = anchor[depth, 0] + 1
            while i < depth and not (links[depth] >> i) & 1:
                i += 1
            if i == depth or anchor[depth, 1] > errors - wrong[depth - 1]:
                depth -= 1
                continue
            anchor[depth, 0] = i
            anchor[depth, 1] += 1
            cursor[depth, 0], cursor[depth, 1] = indptr[path[i]], indptr[path[i] + 1]
            continue
        node = neighbours[cursor[depth, 0]]
        cursor[depth, 0] += 1
        if degrees[node] < least[depth] or degrees[node] > most[depth]:
            continue
        mistakes = wrong[depth - 1]
        for i in range(depth):
            if path[i] == node:
                mistakes = errors + 1
                break
            low, high = indptr[path[i]], indptr[path[i] + 1]
            end = high
            while low < high:
                middle = (low + high) // 2
                if neighbours[middle] < node:
                    low = middle + 1
                else:
                    high = middle
            linked = low < end and neighbours[low] == node
            if linked != ((links[depth] >> i) & 1 == 1):
                mistakes += 1
            elif linked and i < anchor[depth, 0]:
                mistakes = errors + 1  # an earlier anchor has led to this node
            if mistakes > errors:
                break
        if mistakes > errors:
            continue
        tree += 1
        path[depth] = node
        wrong[depth] = mistakes
        if depth < last:
            depth += 1
            anchor[depth, 0], anchor[depth, 1], cursor[depth, 0], cursor[depth, 1] = -1, 0, 0, 0
        else:
            for i in range(depth + 1):
                copies[count, i] = path[i]
            copies[count, depth + 1] = mistakes
            count += 1
    state[0], state[1], state[2], state[3] = start, depth, count, tree
    return ended


@kernel
def follow_links(indptr, neighbours, copies, bits, near, copy, node, linked_with):  # type: ignore[no-untyped-def]
    """Fill in which nodes outside are linked with each copy, and with which of its members, as bits; return how many.

    ``bits`` and ``near`` are work space of one element per node; ``bits`` begins and ends as zeros.
    """
    found = 0
    for c in range(copies.shape[0]):
        reached = 0
        for i in range(copies.shape[1]):
            for e in range(indptr[copies[c, i]], indptr[copies[c, i] + 1]):
                v = neighbours[e]
                if bits[v] == 0:
                    near[reached] = v
                    reached += 1
                bits[v] |= 1 << i
        for i in range(copies.shape[1]):
            bits[copies[c, i]] = 0
        for r in range(reached):
            v = near[r]
            if bits[v] != 0:
                copy[found], node[found], linked_with[found] = c, v, bits[v]
                found += 1
                bits[v] = 0
    return found
