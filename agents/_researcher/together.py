"""Work side by side: an error in one piece ends the whole once all have ended, so nothing done is lost."""

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from tea import Context, TeaError

T = TypeVar("T")


async def together(ctx: Context, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results of pieces of work, in their order.

    Raises:
        TeaError: One failed; the first of them, as it was raised.
    """

    async def guarded(work: Coroutine[Any, Any, T]) -> T | TeaError:
        try:
            return await work
        except TeaError as error:
            return error

    async with ctx.group() as group:
        handles = [group.spawn(guarded(work)) for work in works]
    results = list[T]()
    for handle in handles:
        found = handle.result()
        if isinstance(found, TeaError):
            raise found
        results.append(found)
    return results
