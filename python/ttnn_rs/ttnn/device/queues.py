"""The thread's command queue.

Operators use it; it is 0 unless `ttnn.command_queue` chooses another.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ttnn.base.call import shown
from ttnn.base.exceptions import ArgumentError

_queue = threading.local()


def current_queue() -> int:
    """Return the command queue that operators of this thread use."""
    return getattr(_queue, "id", 0)


@contextmanager
def command_queue(cq_id: int) -> Iterator[None]:
    """Make `cq_id` the command queue of the operators called inside the block."""
    before = current_queue()
    _queue.id = queue_number("ttnn.command_queue", cq_id)
    try:
        yield
    finally:
        _queue.id = before


def queue_number(name: str, queue: Any) -> int:
    """Return the number of the command queue that an operator was given.

    Raises:
        ArgumentError: no device has such a queue.
    """
    try:
        number = int(queue)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name}: the command queue must be an integer, got {type(queue).__name__}.") from None
    if not 0 <= number <= 1:
        raise ArgumentError(f"{name}: a device has command queues 0 and 1, got {shown(number)}.")
    return number


def push_queue(name: str, queue: Any) -> None:
    """Make a command queue that of this thread until `pop_queue`."""
    number = queue_number(name, queue)
    pushed = getattr(_queue, "pushed", None)
    if pushed is None:
        pushed = _queue.pushed = []
    pushed.append(current_queue())
    _queue.id = number


def pop_queue(name: str) -> int:
    """Return the command queue of this thread, and restore the previous one.

    Raises:
        ArgumentError: none was pushed.
    """
    pushed = getattr(_queue, "pushed", None)
    if not pushed:
        raise ArgumentError(f"{name}: no command queue was pushed.")
    number = current_queue()
    _queue.id = pushed.pop()
    return number
