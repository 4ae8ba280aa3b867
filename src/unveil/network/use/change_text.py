"""How a number changed, in words."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

from unveil.usefulness.use_measure import UseMeasure
from unveil.wording import number_text

__all__ = ["change_measure", "change_text"]


def change_text(before: float, after: float, write: Callable[[float], str] = number_text) -> str:
    """What a number does.

    >>> change_text(2, 2), change_text(2, 3.5), change_text(3.5, 2), change_text(2, 2.0000001)
    ('stays at 2', 'rises from 2 to 3.5', 'falls from 3.5 to 2', 'stays at about 2')
    """
    was, now = write(before), write(after)
    if was == now:
        return f"stays at {was}" if before == after else f"stays at about {was}"
    return f"{'rises' if after > before else 'falls'} from {was} to {now}"


def change_measure(
    measure_id: str,
    title: str,
    numbers: tuple[float, float],
    what: str,
    why_none: str,
    write: Callable[[float], str] = number_text,
    is_share: bool = False,
) -> list[UseMeasure]:
    """The measure of a number before and after; none if it is NaN both times.

    ``what`` says of what it is the number, and ``why_none`` why there is none.
    """
    before, after = (None if isnan(x) else x for x in numbers)
    if before is None and after is None:
        return []
    if before is not None and after is not None:
        said = f"{what} {change_text(before, after, write)}."
    elif before is not None:
        said = f"{what} was {write(before)}; after protection {why_none}."
    else:
        assert after is not None
        said = f"{what} is {write(after)} after protection; before, {why_none}."
    return [UseMeasure(measure_id, title, before, after, said, is_share)]
