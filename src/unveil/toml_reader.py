"""Read TOML that somebody wrote: one clear line for whatever is wrong with it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from unveil.errors import UnveilError

__all__ = ["parse_toml"]

_DEEP_NAME = re.compile(r"(?<![\w.\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){50}")


def parse_toml(data: bytes, name: str, what: str, most: int) -> dict[str, Any]:
    """What a file says that should be a policy or the like, of at most so many bytes. Python's own parser takes forever
    over long dotted names, so those are refused first."""
    if len(data) > most:
        raise UnveilError(f"{name}: is longer than {most:,} bytes; check that it is a {what}")
    try:
        text = data.decode()
        if _DEEP_NAME.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise UnveilError(f"{name}: not UTF-8 text; save the {what} as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        at = str(error).rpartition("(at ")[2].rstrip(")")
        raise UnveilError(f"{name}: not valid TOML near {at}; quote names that contain spaces or dots") from None
    except RecursionError:
        raise UnveilError(f"{name}: nests tables or lists too deeply; check that it is a {what}") from None
    except ValueError:
        raise UnveilError(f"{name}: holds a number with too many digits; correct it") from None
