"""JSON in the official package's form, and its shared base class."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, TypeVar

from ttnn.base.exceptions import MemoryConfigError, TtnnError

_Value = TypeVar("_Value", bound="JsonValue")


def dump_json(data: object) -> str:
    """Return compact JSON with sorted keys."""
    return json.dumps(data, separators=(",", ":"), sort_keys=True)


class JsonValue(ABC):
    """A value with `to_json` and `from_json`, its inverse."""

    __slots__ = ()

    def to_json(self) -> str:
        """Return the value as JSON text."""
        return dump_json(self._as_json())

    @classmethod
    def from_json(cls: type[_Value], json_string: str) -> _Value:
        """Return the value that `to_json` wrote.

        Raises:
            MemoryConfigError: the text is not JSON, or describes something else.
        """
        try:
            return cls._from_json(json.loads(json_string))
        except TtnnError:
            raise
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            kind = cls.__name__
            raise MemoryConfigError(f"{kind}.from_json: not what {kind}.to_json writes: {json_string!r}") from None

    @abstractmethod
    def _as_json(self) -> Any:
        """Return the value as plain data."""

    @classmethod
    @abstractmethod
    def _from_json(cls: type[_Value], data: Any) -> _Value:
        """Return the value of plain data."""
