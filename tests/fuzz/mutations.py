"""Ways to damage a file, and values that programs stumble over."""

from __future__ import annotations

from random import Random

__all__ = ["CANARY", "ODD_NAMES", "ODD_NUMBERS", "ODD_TEXTS", "canary", "damage", "damage_some"]

CANARY = r"Kq\d{4}zj|(?<![\d.])73\d{3}19(?!\d)"
"""What a value looks like that no message may quote."""

ODD_NUMBERS = (
    "0", "-0", "1", "-1", "1.5", "1e308", "1e-320", "1e999", "-1e999", "NaN", "inf", "-inf", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1" * 60, "0x10", "1_000", "1,5", "٣", "½",
    "+", "-", ".", "1e", "0.1%", "100%", "-5%", "1e5%", "20-29", "[1, 2)", ">= 60", "1987-06-05", "1987-13-45",
)  # fmt: skip
ODD_TEXTS = (
    "", " ", "?", "NA", "*", "a b", "a,b", "a;b", 'a"b', "a'b", "a\nb", "a\r\nb", "a\tb", "\ufeffa", "\x1b[31m", "ä",
    "名",
    "\u202e", "\u2028", "e\u0301", "=1+1", "@x", "-1", "x" * 300, "'; DROP TABLE t1; --", "%s", "{}", "{0}", "\\", "[]",
    "null", "None", "true", "../x", "/", "$HOME", "c0", "row_no", "<b>", "&amp;", "\U0001f600", "\x7f",
)  # fmt: skip
ODD_NAMES = (*ODD_TEXTS, "age", "zip", "sex", "diagnosis", "name", "Age", "age ", "item", "basket", "__index_level_0__")
_ODD_BYTES = (
    b"\0", b'"', b"'", b"\n", b"\r", b"\r\n", b",", b";", b"\t", b"|", b" ", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xc3", b"\xed\xa0\x80", b"\x1a", b"\x1f\x8b", b"PK\x03\x04", b"(\xb5/\xfd", b"%", b"#", b"-1", b"1e999", b"NaN",
    b"9" * 25, b"{", b"}", b"[", b"]", b"[[[[", b"<", b">", b"&lt;", b"\\u0000", b"A" * 3000, b"=", b":", b"*",
)  # fmt: skip


def canary(random: Random) -> str:
    """A value that no message may quote."""
    return f"Kq{random.randrange(10_000):04}zj"


def damage_some(random: Random, data: bytes) -> bytes:
    """Bytes with up to four pieces changed; a third of the time none."""
    for _ in range(random.choice((0, 0, 1, 1, 2, 4))):
        data = damage(random, data)
    return data


def damage(random: Random, data: bytes) -> bytes:
    """Bytes with one piece changed."""
    start = random.randrange(len(data) + 1)
    end = min(len(data), start + random.choice((1, 1, 2, 4, 16, 200)))
    match random.randrange(8):
        case 0:
            return data[:start] + random.randbytes(min(end - start, 4)) + data[end:]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + data[start:end] * random.choice((1, 1, 3, 50)) + data[end:]
        case 3 | 4:
            return data[:start] + random.choice(_ODD_BYTES) + data[start:]
        case 5:
            return data[:start]
        case 6:
            lines = data.splitlines(keepends=True)
            random.shuffle(lines)
            return b"".join(lines)
        case _:
            return data[:start] + random.choice(ODD_NUMBERS + ODD_TEXTS).encode() + data[end:]
