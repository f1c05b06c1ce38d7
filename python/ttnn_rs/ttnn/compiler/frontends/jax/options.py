"""Options of compilations, with the names of the front ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ttnn.base.exceptions import ArgumentError

__all__ = ["check_options"]


def _flag(value: object) -> bool:
    text = str(value).lower()
    if text not in ("true", "false", "1", "0"):
        raise ValueError("true or false")
    return text in ("true", "1")


def _one_of(*names: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if str(value).lower() not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return str(value).lower()

    return check


_EFFORTS: Final = {"9": "0", "19": "1", "29": "2", "39": "2"}
"""Levels by the numbers of jax's own O0 to O3 (`jax_optimization_level`)."""


def _level(value: object) -> int:
    text = _EFFORTS.get(str(value), str(value))
    if text not in ("0", "1", "2"):
        raise ValueError("0, 1 or 2")
    return int(text)


def _count(value: object) -> int:
    if not str(value).isdecimal():
        raise ValueError("a number of operations")
    return int(str(value))


_KNOWN: Final[dict[str, Callable[[object], Any]]] = {
    "backend": _one_of("ttnn_flatbuffer", "codegen_py", "codegen_cpp"),
    "dry_run": _flag,
    "enable_const_eval": _flag,
    "enable_trace": _flag,
    "experimental_kv_cache_dtype": _one_of("bfp_bf8", "bfp_bf4"),
    "experimental_weight_dtype": _one_of("bfp_bf8", "bfp_bf4"),
    "export_model_name": str,
    "export_path": str,
    "export_tensors": _flag,
    "fp32_dest_acc_en": _flag,
    "math_fidelity": _one_of("lofi", "hifi2", "hifi3", "hifi4", "ttnn_default"),
    "optimization_level": _level,
    "unrolled_operations": _count,
}
"""Check of each option's value."""


def check_options(options: Mapping[str, object]) -> dict[str, Any]:
    """Return options with their values checked.

    Raises:
        ArgumentError: An option is unknown, or its value is.
    """
    checked = {}
    for name, value in options.items():
        check = _KNOWN.get(name)
        if check is None:
            raise ArgumentError(f'option "{name}" is unknown; known: {", ".join(_KNOWN)}.')
        try:
            checked[name] = check(value)
        except ValueError as error:
            raise ArgumentError(f'option "{name}" is {value!r}; expected {error}.') from None
    return checked
