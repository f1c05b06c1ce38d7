"""Settings of a run: policy and overrides, as pipeline options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.base.exceptions import ParameterError
from ttnn.compiler.explorer.graph import CONV2D
from ttnn.compiler.limits import shortened

__all__ = ["DISABLED", "ENABLED", "POLICIES", "Settings", "parse_lines", "parse_settings"]

DISABLED: Final = "Optimizer Disabled"
ENABLED: Final = "Optimizer Enabled"
POLICIES: Final = (DISABLED, ENABLED)
_LAYOUT: Final = ("grid_shape", "buffer_type", "tensor_memory_layout", "memory_layout", "data_type")
"""Parts of a layout override, in the order of the option."""
_NAME: Final = re.compile(r"[\w.$@/\-]+")
_VALUE: Final = re.compile(r"\[?[\w.\-]+\]?")
_LINE: Final = re.compile(r"(override-[a-z0-9-]+|insert-memreconfig)=([\w.$@/\-:#,=x]+)")
_MOST: Final = 10_000


@dataclass(frozen=True)
class Settings:
    """Settings of a run.

    Attributes:
        optimize: Whether the optimizer runs.
        overrides: Values of pipeline options that override its choices, by their names.
        cpp: Whether C++ is written.
        seed: Seed of the inputs.
        chisel: Whether each operation is compared with its reference.
    """

    optimize: bool = False
    overrides: tuple[tuple[str, str], ...] = ()
    cpp: bool = False
    seed: int = 0
    chisel: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def pipeline_options(self) -> str:
        """Return the options of the pipeline to `ttnn`."""
        parts = [f"enable-optimizer={str(self.optimize).lower()}"]
        if self.optimize:
            parts += [f"{name}={value}" for name, value in self.overrides]
        return " ".join(parts)

    @property
    def key(self) -> str:
        """Return a text that differs if results may."""
        return f"{self.pipeline_options} cpp={self.cpp} seed={self.seed} chisel={self.chisel}"


def _policy(value: object) -> bool:
    if value not in POLICIES:
        raise ParameterError(
            f"tt-explorer: unknown optimization policy {shortened(str(value))!r}; there are {', '.join(POLICIES)}."
        )
    return value == ENABLED


def parse_settings(settings: Mapping[str, Any]) -> Settings:
    """Return the settings of a request to execute.

    Raises:
        ParameterError: A policy or an override that does not exist, or of another form.
    """
    overrides = settings.get("overrides") or {}
    if not isinstance(overrides, Mapping) or len(overrides) > _MOST:
        raise ParameterError("tt-explorer: overrides are an object of operations by location, at most 10,000.")
    layouts, convolutions = [], []
    for location, one in overrides.items():
        if not isinstance(one, Mapping) or not isinstance(one.get("attributes"), list):
            raise ParameterError(
                f"tt-explorer: the override of {shortened(str(location))} needs named_location and attributes."
            )
        name, values = _checked(str(one.get("named_location")), one["attributes"])
        parts = [values[key] for key in _LAYOUT if key in values]
        if parts:
            layouts.append(f"{name}={':'.join(parts)}")
        pairs = [f"{key}#{values[key]}" for key in CONV2D if key in values]
        if pairs:
            convolutions.append(f"{name}={':'.join(pairs)}")
    options = {"override-output-layout": ",".join(layouts), "override-conv2d-config": ",".join(convolutions)}
    return Settings(
        _policy(settings.get("optimizationPolicy")),
        tuple((name, value) for name, value in options.items() if value),
        bool(settings.get("generateCppCode")),
        raw=overrides,
    )


def _checked(name: str, attributes: list[Any]) -> tuple[str, dict[str, str]]:
    """Return an operation's name and values, checked for an option.

    Raises:
        ParameterError: They do not.
    """
    if not _NAME.fullmatch(name):
        raise ParameterError(
            f"tt-explorer: the operation {shortened(name)!r} cannot be named in an option: letters, digits and ._-/$@ "
            "can. Give it another location."
        )
    values: dict[str, str] = {}
    for attribute in attributes:
        key = str(attribute.get("key")) if isinstance(attribute, Mapping) else ""
        value = str(attribute.get("value")) if isinstance(attribute, Mapping) else ""
        if key not in _LAYOUT and key not in CONV2D:
            raise ParameterError(
                f"tt-explorer: {name} has no attribute {shortened(key)!r} to override; there are "
                f"{', '.join((*_LAYOUT, *CONV2D))}."
            )
        if not _VALUE.fullmatch(value):
            raise ParameterError(f"tt-explorer: {name}: {key} cannot be {shortened(value)!r}.")
        if value != "None":
            values[key] = value.strip("[]")
    return name, values


def parse_lines(policy: object, lines: str, seed: object = 0, *, chisel: bool = False) -> Settings:
    """Return the settings of a dialog: overrides have a line each.

    Args:
        policy: Name of the policy.
        lines: Lines `option=value` with the options of the pipeline, such as `override-output-layout=add_1=8x8:l1`.
        seed: Seed of the inputs.
        chisel: Whether each operation is compared with its reference.

    Raises:
        ParameterError: A policy or an option that does not exist, or a value of another form.
    """
    found: dict[str, list[str]] = {}
    for line in lines.splitlines():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ParameterError(
                f"tt-explorer: {shortened(line.strip())!r} is no override; write option=value with an option such as "
                "override-output-layout, without spaces."
            )
        found.setdefault(match[1], []).append(match[2])
    try:
        number = int(str(seed))
    except ValueError:
        raise ParameterError(f"tt-explorer: the seed is an integer, got {shortened(str(seed))!r}.") from None
    overrides = tuple((name, ",".join(values)) for name, values in found.items())
    return Settings(_policy(policy), overrides, seed=number, chisel=chisel)
