"""Names that callers give to the operators that run, for profiles."""

from __future__ import annotations

import threading
from typing import Final

__all__ = ["LABEL"]


class _Label(threading.local):
    """The label of this thread.

    Attributes:
        text: Name in a framework of what runs now; empty if nobody has said one.
    """

    text = ""


LABEL: Final = _Label()
