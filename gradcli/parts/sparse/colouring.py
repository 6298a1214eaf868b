"""Groups of rows, or of columns, of which no two have an entry in common: one product gives all entries of a group.

Rows are vertices, and each column is a hyperedge that joins the rows with an entry in it; for columns the other way
round.  A colouring gives two vertices of a hyperedge different colours.  Stencils, windows and blocks repeat, so a
period is tried first,

    colour of the vertex at (i, j, ...) = (a·i + b·j + ...) mod p,

on a window in the middle, and then checked on all entries; the few vertices where it fails, at borders, are coloured
anew.  Any other pattern is coloured greedily, many vertices at once in rounds: no maintained package does that for a
million of them (SciPy's grouping is private, `gcol` colours graphs of Python objects one by one).
Source: A. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian?", SIAM Review 47 (2005).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gradcli.language.program.wengert import Shape
from gradcli.reference.deadline import require_time

Numbers = npt.NDArray[Any]
"""Whole numbers."""

MOST_PERIOD = 64
"""Largest period that is tried."""

WINDOW = 16
"""Vertices along each dimension of the window; four along dimensions before the last three."""

FEW = 20
"""Vertices for each one that may clash in a period, and be coloured anew."""

DRAWN = 500
"""Hyperedges that a period is tried on besides the window."""

MOST_ROUNDS = 40
"""Rounds after which vertices are coloured one by one: where many meet, a round has few colours to give away."""

BATCH = 2**16
"""Entries at least whose vertices are coloured at once; of larger patterns `MOST_BATCHES` parts."""

MOST_BATCHES = 32

MOST_WORDS = 512
"""Most words of 64 colours."""

_BITS = 64

_CHUNK = 2**22
"""Entries that are checked at once."""


@dataclass(frozen=True)
class Colouring:
    """Colours of vertices, from 0 on; -1 for a vertex that has no entry.

    Attributes:
        colours: Of each vertex.
        count: How many there are.
    """

    colours: npt.NDArray[np.int32]
    count: int


def coloured(vertices: Numbers, edges: Numbers, shape: Shape, edge_count: int) -> Colouring:
    """Colour the vertices of a pattern.

    Args:
        vertices: The vertex of each entry.
        edges: The hyperedge of each entry.
        shape: Of the tensor whose elements are the vertices.
        edge_count: The number of hyperedges.

    Raises:
        ManyColoursError: They would be too many.

    >>> found = coloured(np.array([0, 1, 1, 2, 2, 3]), np.array([0, 0, 1, 1, 2, 2]), (4,), 3)
    >>> found.colours.tolist(), found.count
    ([0, 1, 0, 1], 2)
    """
    size = math.prod(shape)
    if not len(vertices):
        return Colouring(np.full(size, -1, np.int32), 0)
    least = int(np.bincount(edges, minlength=1).max())
    used = np.flatnonzero(np.bincount(vertices, minlength=size))
    if least > MOST_PERIOD and 2 * least >= len(used):  # half of all colours at least, one more in each round
        return _each_its_own(used, size)
    found = _by_period(vertices, edges, shape, least, edge_count)
    colours, is_open = found or (np.zeros(size, np.int32), np.ones(size, dtype=bool))
    if is_open.any():
        colours = _greedy(vertices, edges, colours, is_open, edge_count)
    own = colours[used]
    numbers = np.cumsum(np.bincount(own) > 0, dtype=np.int32)  # without those that no vertex has
    colours = np.full(size, -1, np.int32)
    colours[used] = numbers[own] - 1
    return Colouring(colours, int(numbers[-1]))


def _each_its_own(used: Numbers, size: int) -> Colouring:
    """Give each vertex that has an entry a colour of its own."""
    if len(used) > MOST_WORDS * _BITS:
        raise ManyColoursError
    colours = np.full(size, -1, np.int32)
    colours[used] = np.arange(len(used))
    return Colouring(colours, len(used))


def clashing(vertices: Numbers, edges: Numbers, colours: Numbers, edge_count: int) -> npt.NDArray[np.bool_]:
    """Mark the vertices that share a hyperedge and the colour with another."""
    count = int(colours.max(initial=0)) + 1
    found = np.zeros(len(colours), dtype=bool)
    key = edges.astype(np.int64)
    key *= count
    key += colours.take(vertices)
    if edge_count * count <= max(_CHUNK, 8 * len(key)):
        is_there = np.zeros(edge_count * count, dtype=bool)
        is_there[key] = True
        if np.count_nonzero(is_there) == len(key):
            return found
        several = np.bincount(key, minlength=edge_count * count) > 1
        found[vertices[several[key]]] = True
        return found
    _, place, counts = np.unique(key, return_inverse=True, return_counts=True)
    found[vertices[counts[place] > 1]] = True
    return found


# -- a period


def _by_period(
    vertices: Numbers, edges: Numbers, shape: Shape, least: int, edge_count: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]] | None:
    """Find a period that hardly any two vertices of a hyperedge clash in, with those; None if there is none."""
    dims = [d for d, size in enumerate(shape) if size > 1]
    if not dims or least > MOST_PERIOD // 2:
        return None
    near = _window(shape)[vertices]
    inside, (_, hyper) = vertices[near], np.unique(edges[near], return_inverse=True)
    top = int(hyper.max(initial=0)) + 1
    where = np.unravel_index(inside, shape)
    others, other_hyper, count = _drawn(vertices, edges)
    elsewhere = np.unravel_index(others, shape)
    for period, steps in _periods(len(dims), least):
        colour = sum(step * where[d] for step, d in zip(steps, dims, strict=True)) % period
        if np.bincount(hyper * period + colour, minlength=top * period).max(initial=0) > 1:
            continue
        colour = sum(step * elsewhere[d] for step, d in zip(steps, dims, strict=True)) % period
        several = np.bincount(other_hyper * period + colour, minlength=count * period).reshape(count, period) > 1
        if np.count_nonzero(several.any(axis=1)) > max(2, 4 * count // FEW):
            continue  # as in most periods of a pattern without one, whose window has hardly an edge
        found = _spread(shape, dims, steps, period)
        bad = clashing(vertices, edges, found, edge_count)
        if np.count_nonzero(bad) <= max(FEW, len(bad) // FEW):
            return found, bad
    return None


def _drawn(vertices: Numbers, edges: Numbers) -> tuple[Numbers, Numbers, int]:
    """Draw some hyperedges: their vertices, the number of the hyperedge of each, and how many they are."""
    top = int(edges.max()) + 1
    chosen = np.unique(np.random.default_rng(0).integers(0, top, DRAWN))
    number = np.full(top, -1, np.int32)
    number[chosen] = np.arange(len(chosen))
    own = np.flatnonzero(number[edges] >= 0)
    return vertices[own], number[edges[own]], len(chosen)


def _periods(dimensions: int, least: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield periods, from the shortest on, each with the steps that its dimensions have."""
    for period in range(max(1, least), min(2 * least + 8, MOST_PERIOD) + 1):
        steps = range(min(period, 12)) if dimensions < 4 else range(min(period, 4))
        for leading in itertools.product(steps, repeat=dimensions - 1):
            yield period, (*leading, 1)
        yield period, (*(1,) * (dimensions - 1), 0)  # rows that repeat as a whole


def _window(shape: Shape) -> npt.NDArray[np.bool_]:
    """Mark the vertices of a window in the middle."""
    marked = np.zeros(shape, dtype=bool)
    sides = [WINDOW if len(shape) - d <= 3 else 4 for d in range(len(shape))]
    middle = (
        slice(max(0, (size - side) // 2), (size + side) // 2 + 1) for size, side in zip(shape, sides, strict=True)
    )
    marked[tuple(middle)] = True
    return marked.ravel()


def _spread(shape: Shape, dims: Sequence[int], steps: Sequence[int], period: int) -> npt.NDArray[np.int32]:
    """Return the colours of all vertices in a period."""
    total = np.zeros((1,) * len(shape), np.int32)
    for step, d in zip(steps, dims, strict=True):
        along = (step * np.arange(shape[d]) % period).astype(np.int32)
        total = total + along.reshape([-1 if e == d else 1 for e in range(len(shape))])
    return np.broadcast_to(total % period, shape).reshape(-1)


# -- greedily


class ManyColoursError(Exception):
    """Error of more colours than products are worth: the pattern is dense."""


def _greedy(
    vertices: Numbers, edges: Numbers, colours: Numbers, is_open: npt.NDArray[np.bool_], edge_count: int
) -> npt.NDArray[np.int32]:
    """Colour the open vertices, a batch of them after the other.

    Raises:
        ManyColoursError: There are too many.
    """
    colours = np.where(is_open, -1, colours).astype(np.int32)
    taken = np.zeros((edge_count, int(colours.max(initial=0)) // _BITS + 1), np.uint64)
    if is_open.all():
        vertex, edge = _from_last(vertices, edges, np.random.default_rng(0).permutation(len(colours)), edge_count)
    else:
        _mark(taken, edges, colours[vertices])
        keep = is_open[vertices]
        vertex, edge = _from_last(vertices[keep], edges[keep], np.arange(len(colours)), edge_count)
    for first, last in _batches(vertex):
        taken = _coloured_batch(vertex[first:last], edge[first:last], colours, taken)
    return colours


def _batches(vertex: Numbers) -> Iterator[tuple[int, int]]:
    """Yield ranges of the entries of some vertices, from the last on: of few vertices at once hardly any two clash."""
    if not len(vertex):
        return
    starts = _starts(vertex)
    step = max(BATCH, len(vertex) // MOST_BATCHES)
    bounds = starts[np.unique(np.searchsorted(starts, np.arange(0, len(vertex), step)).clip(max=len(starts) - 1))]
    yield from reversed([*zip(bounds.tolist(), [*bounds[1:].tolist(), len(vertex)], strict=True)])


def _starts(vertex: Numbers) -> npt.NDArray[np.intp]:
    """List where the entries of each vertex begin."""
    return np.flatnonzero(np.concatenate(([True], vertex[1:] != vertex[:-1]))) if len(vertex) else np.zeros(0, np.intp)


def _coloured_batch(
    vertex: Numbers, edge: Numbers, colours: npt.NDArray[np.int32], taken: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Colour some vertices in rounds: each takes its first free colour, and the first of those that clash keeps it.

    What is left after many rounds is coloured one by one.  Colours are written in place.

    Returns:
        The words of taken colours, which may be more than before.
    """
    for _ in range(MOST_ROUNDS):
        if not len(vertex):
            return taken
        require_time()
        starts = _starts(vertex)
        free = _first_free(np.bitwise_or.reduceat(taken.take(edge, axis=0), starts, axis=0))
        taken = _with_room(taken, most := int(free.max()))
        counts = np.diff(np.append(starts, len(vertex)))
        choice = np.repeat(free, counts)
        # Of the vertices that take one colour in one hyperedge the first in rank keeps it, which is written last.  In
        # a short table colours share a place: a vertex that loses to another colour takes its own in the next round.
        room = min(most + 1, max(_CHUNK, 8 * len(edge)) // len(taken) + 1)
        kind = np.int32 if len(taken) * room < 2**31 else np.int64
        key = edge * kind(room) + choice % kind(room)
        winner = np.empty(len(taken) * room, vertex.dtype)
        winner[key] = vertex
        has_lost = np.logical_or.reduceat(winner[key] != vertex, starts)
        colours[vertex[starts[~has_lost]]] = free[~has_lost]
        lost = np.repeat(has_lost, counts)
        _mark(taken, edge[~lost], choice[~lost])
        vertex, edge = vertex[lost], edge[lost]
    for own in reversed(np.split(np.arange(len(vertex)), _starts(vertex)[1:])) if len(vertex) else ():
        require_time()
        hyper = edge[own]
        colour = int(_first_free(np.bitwise_or.reduce(taken[hyper], axis=0)[None])[0])
        taken = _with_room(taken, colour)
        taken[hyper, colour // _BITS] |= np.uint64(1 << colour % _BITS)
        colours[vertex[own[0]]] = colour
    return taken


def _from_last(vertices: Numbers, edges: Numbers, rank: Numbers, edge_count: int) -> tuple[Numbers, Numbers]:
    """Sort entries by the ranks of their vertices, the first in rank last, in time that is linear in their number."""
    from scipy import sparse

    owner = np.empty(len(rank), np.int32)
    owner[len(rank) - 1 - rank] = np.arange(len(rank), dtype=np.int32)
    place = (len(rank) - 1 - rank).astype(np.int32)
    entries = np.ones(len(vertices), dtype=bool), (place[vertices], edges)
    found = sparse.coo_array(entries, shape=(len(rank), edge_count)).tocsr()
    return np.repeat(owner, np.diff(found.indptr)), found.indices


def _with_room(taken: npt.NDArray[np.uint64], colour: int) -> npt.NDArray[np.uint64]:
    """Widen the words of taken colours so that they have a colour.

    Raises:
        ManyColoursError: There are too many.
    """
    more = colour // _BITS + 1 - taken.shape[1]
    if more <= 0:
        return taken
    if taken.shape[1] >= MOST_WORDS:
        raise ManyColoursError
    return np.concatenate([taken, np.zeros((len(taken), more), np.uint64)], axis=1)


def _mark(taken: Numbers, edge: Numbers, colour: Numbers) -> None:
    """Mark colours as taken in hyperedges; below 0 there is none."""
    known = colour >= 0
    if not known.all():
        edge, colour = edge[known], colour[known]
    bit = np.uint64(1) << (colour % _BITS).astype(np.uint64)
    words = taken.shape[1]
    place = edge if words == 1 else edge.astype(np.int64) * words + colour // _BITS
    np.bitwise_or.at(taken.reshape(-1), place, bit)  # of one dimension, which NumPy has a short way for


def _first_free(taken: Numbers) -> npt.NDArray[np.int32]:
    """Return for each row of words the first colour that is not taken."""
    found = np.full(len(taken), taken.shape[1] * _BITS, np.int32)
    for word in reversed(range(taken.shape[1])):
        free = ~taken[:, word]
        lowest = free & (~free + np.uint64(1))
        has_one = lowest != 0
        found[has_one] = word * _BITS + np.frexp(lowest[has_one].astype(np.float64))[1] - 1
    return found
