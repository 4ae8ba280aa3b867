"""Arrow and Parquet files with columns of every type, extreme values and odd names."""

from __future__ import annotations

import io
from collections.abc import Callable
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.mutations import ODD_NAMES, ODD_TEXTS, canary, damage

__all__ = ["make_arrow"]

_ROWS = 5


def _integers(random: Random, bits: int, signed: bool = True) -> list[int | None]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return [random.choice((None, 0, 1, low, high, high - 1, random.randint(low, high))) for _ in range(_ROWS)]


def _texts(random: Random) -> list[str | None]:
    texts = [None if random.random() < 0.1 else canary(random) for _ in range(_ROWS)]
    return [random.choice((*ODD_TEXTS, *texts)) if random.random() < 0.1 else text for text in texts]


def _bytes(random: Random, width: int | None = None) -> list[bytes | None]:
    return [
        random.choice((None, random.randbytes(width or random.randrange(6)), b"a" * (width or 3))) for _ in range(_ROWS)
    ]


def _decimals(random: Random, kind: pa.DataType) -> pa.Array:
    """Decimals of any width, made from their digits. pyarrow wants room for the zeros of a negative scale."""
    from decimal import Decimal

    room = kind.precision - 1 + min(kind.scale, 0)
    digits = [random.choice((None, 0, 10**room, -(10**room)) if room >= 0 else (None,)) for _ in range(_ROWS)]
    numbers = [None if d is None else Decimal((int(d < 0), tuple(map(int, str(abs(d)))), -kind.scale)) for d in digits]
    return pa.array(numbers, kind)


def _reinterpreted(random: Random, kind: pa.DataType, bits: int) -> pa.Array:
    """Any bits as dates, times or numbers, whether or not they are possible ones."""
    near = [random.randrange(0, 2 ** (bits - 2)) for _ in range(_ROWS)]
    numbers = (
        _integers(random, bits) if random.random() < 0.5 else near if random.random() < 0.5 else [5, 5, 6, None, 7]
    )
    return pa.array(numbers, pa.int32() if bits == 32 else pa.int64()).view(kind)


def _dictionary(random: Random) -> pa.Array:
    values = pa.array(_texts(random))
    indices = pa.array(
        [random.choice((None, 0, 1, 4)) for _ in range(_ROWS)], random.choice((pa.int8(), pa.int32(), pa.uint64()))
    )
    return pa.DictionaryArray.from_arrays(indices, values)


def _run_end_encoded(random: Random) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(
        pa.array([2, _ROWS], pa.int32()), pa.array(_texts(random)[:2], pa.string())
    )


_ZONES = (None, None, "UTC", "+05:30", "Europe/Berlin", "Nowhere/Land", "")
_MAKERS: tuple[Callable[[Random], pa.Array], ...] = (
    lambda r: pa.array(_texts(r), pa.string()),
    lambda r: pa.array(_texts(r), pa.string()),
    lambda r: pa.array(_texts(r), r.choice((pa.large_string(), pa.string_view()))),
    lambda r: pa.array(_bytes(r), r.choice((pa.binary(), pa.large_binary(), pa.binary_view()))),
    lambda r: pa.array(_bytes(r, 4), pa.binary(4)),
    lambda r: pa.array(_integers(r, 8), pa.int8()),
    lambda r: pa.array(_integers(r, 32), pa.int32()),
    lambda r: pa.array(_integers(r, 64), pa.int64()),
    lambda r: pa.array(_integers(r, 64, signed=False), pa.uint64()),
    lambda r: pa.array(
        [r.choice((None, 0.0, -0.0, 1.5, float("nan"), float("inf"), 5e-324, 1e308)) for _ in range(_ROWS)]
    ),
    lambda r: pa.array([1.5, 2, None, 7, 7], r.choice((pa.float16(), pa.float32()))),
    lambda r: pa.array([r.choice((True, False, None)) for _ in range(_ROWS)]),
    lambda r: _decimals(r, pa.decimal32(p := r.randint(1, 9), r.randint(-3, min(p, 9)))),
    lambda r: _decimals(r, pa.decimal64(p := r.randint(1, 18), r.randint(-3, min(p, 18)))),
    lambda r: _decimals(r, pa.decimal128(p := r.randint(1, 38), r.randint(-5, min(p, 38)))),
    lambda r: _decimals(r, pa.decimal256(p := r.randint(39, 76), r.randint(-5, min(p, 38)))),
    lambda r: _reinterpreted(r, pa.timestamp(r.choice(("s", "ms", "us", "ns")), r.choice(_ZONES)), 64),
    lambda r: _reinterpreted(r, pa.timestamp("ns"), 64),
    lambda r: _reinterpreted(r, pa.date32(), 32),
    lambda r: _reinterpreted(r, pa.date64(), 64),
    lambda r: _reinterpreted(r, pa.time32(r.choice(("s", "ms"))), 32),
    lambda r: _reinterpreted(r, pa.time64(r.choice(("us", "ns"))), 64),
    lambda r: _reinterpreted(r, pa.duration(r.choice(("s", "ms", "us", "ns"))), 64),
    _dictionary,
    lambda r: _reinterpreted(r, pa.date32(), 32).dictionary_encode(),
    _run_end_encoded,
    lambda r: pa.nulls(_ROWS),
    lambda r: pa.array([["x"], [], None, ["y", "z"], ["x"]]),
    lambda r: pa.array([{"a": 1}, None, {"a": 2}, {"a": 1}, {"a": 1}]),
    lambda r: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)] * _ROWS, pa.binary(16))),
    lambda r: pa.array([(1, 2, 3)] * _ROWS, pa.month_day_nano_interval()),
)


def make_arrow(random: Random) -> tuple[str, bytes, list[str]]:
    """A file's name, its bytes and the names of its columns."""
    names = [random.choice(ODD_NAMES) if random.random() < 0.1 else f"c{k}" for k in range(random.randint(1, 4))]
    columns = [random.choice(_MAKERS)(random) for _ in names]
    name = random.choice(("t.parquet", "t.arrow", "t.feather"))
    table = pa.Table.from_arrays(columns, names)
    if random.random() < 0.1:
        table = table.slice(0, random.choice((0, 1)))
    written = io.BytesIO()
    try:
        if name == "t.parquet":
            pq.write_table(table, written)
        else:
            with pa.ipc.new_file(written, table.schema) as writer:
                writer.write_table(table, max_chunksize=random.choice((2, 100)))
    except (pa.ArrowException, OSError, ValueError):  # Parquet has no such type
        return "t.parquet", b"PAR1", names
    data = written.getvalue()
    return name, damage(random, data) if random.random() < 0.15 else data, names
