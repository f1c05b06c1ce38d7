"""Dictionaries whose items are attributes too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ItemNameError(AttributeError, KeyError):
    """A missing name of a dictionary with attribute access.

    It is the error of attributes and of items.
    """

    def __str__(self) -> str:
        return str(self.args[0])


class DotAccessDict(dict[Any, Any]):
    """A dictionary whose items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        """Return an item.

        Raises:
            ItemNameError: there is none of this name.
        """
        self._require(name)
        return self[name]

    def __delattr__(self, name: str) -> None:
        """Remove an item.

        Raises:
            ItemNameError: there is none of this name.
        """
        self._require(name)
        del self[name]

    def _require(self, name: str) -> None:
        if name not in self:
            items = ", ".join(map(repr, self)) or "nothing"
            raise ItemNameError(f"{type(self).__name__} has no {name!r}; it has {items}")


def make_dot_access_dict(dictionary: Mapping[Any, Any], *, ignore_types: Any = None) -> Any:
    """Return a dictionary and all dictionaries in it with attribute access.

    Args:
        dictionary: What to convert; it is left as it is.
        ignore_types: Class, or classes, of dictionaries that stay what they are.
    """
    if isinstance(dictionary, DotAccessDict) or (ignore_types is not None and isinstance(dictionary, ignore_types)):
        return dictionary
    return DotAccessDict(
        {
            key: make_dot_access_dict(value, ignore_types=ignore_types) if isinstance(value, dict) else value
            for key, value in dictionary.items()
        }
    )
