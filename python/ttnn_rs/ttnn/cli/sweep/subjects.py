"""Subjects of sweeps: parametrized operators at every CPU level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

import numpy as np

import ttnn
from ttnn import _engine
from ttnn.base.config import CONFIG
from ttnn.base.enums import Arch
from ttnn.base.exceptions import ArgumentError, UnsupportedError
from ttnn.cli.common.ulp import MIN_NORMAL, chip_error, spacing
from ttnn.cli.goldens.raw import from_bytes, to_bytes
from ttnn.cli.goldens.registers import Words
from ttnn.cli.sweep.inputs import EXPONENTS, operands
from ttnn.cli.sweep.parameters import ONE_OF_THESE, shown, signature_of, swept
from ttnn.cli.sweep.references import reference
from ttnn.cli.sweep.statistics import Errors, Floats, Statistics, errors_of, measure
from ttnn.operation import registry
from ttnn.operation.signature import REQUIRED

DTYPES: Final = ("bfloat16", "float32")
WIDTH: Final = 256
"""Columns of the swept tensors."""
STATED_FOR: Final = 256 * EXPONENTS
"""Stated bounds concern bfloat16 values, the first of a float32 sweep.

All of them are included.
"""
_ONE: Final = np.uint32(0x3F800000)
_NOT_POINTWISE: Final = frozenset({"concat_bw", "embedding_bw", "repeat_bw"})
"""Gradients of operators that move values."""
_MODULES: Final = {"ttnn.ops.unary": "unary"}


@dataclass(frozen=True)
class Sweep:
    """The results of one operator for every input of one data type.

    Args:
        operator: Its name.
        parameters: Options of the call.
        arch: Generation of the chip, as `ARCH_NAME`.
        dtype: Data type of operands and result.
        values: Number of inputs.
        levels: CPU levels.
        differing_between_levels: Results whose bits depend on the level.
        max_ulp: Largest distance to the exact result, not rounded, over every bfloat16 value, as bounds are stated.
        worst_input: Where.
        bound_ulp: The operator's stated bound.
        statistics: Figures in the terms of the published tables.
    """

    operator: str
    parameters: Mapping[str, Any]
    arch: str
    dtype: str
    values: int
    levels: tuple[str, ...]
    differing_between_levels: int
    max_ulp: float
    worst_input: float
    bound_ulp: float | None
    statistics: Statistics

    @property
    def passed(self) -> bool:
        """Return True if all levels agree and the stated bound holds."""
        return not self.differing_between_levels and (self.bound_ulp is None or self.max_ulp <= self.bound_ulp)

    @property
    def label(self) -> str:
        """The call in short."""
        values = {name: value if isinstance(value, list) else [value] for name, value in self.parameters.items()}
        options = ", ".join(f"{name}={','.join(map(str, value))}" for name, value in values.items())
        return f"{self.operator}({options})" if options else self.operator


@dataclass(frozen=True)
class Outcome:
    """A sweep with the values of its statistics."""

    sweep: Sweep
    operands: Sequence[Floats] = field(repr=False)
    got: Floats = field(repr=False)
    exact: Floats = field(repr=False)

    @property
    def errors(self) -> Errors:
        """The error of every input."""
        return errors_of(self.operands, self.got, self.exact, self.sweep.dtype)


def family_of(entry: registry.Op) -> str:
    """Return whether an entry is element-wise, "" if not.

    It is a function of one or two tensors.
    """
    stated: str = getattr(entry, "family", "")
    if stated == "complex" or entry.name in _NOT_POINTWISE:
        return ""
    if stated or not entry.golden or entry.name.endswith("_"):
        return stated if entry.golden and not entry.name.endswith("_") else ""
    function = getattr(entry.run, "func", entry.run)
    return _MODULES.get(function.__module__, "")


def entries() -> tuple[registry.Op, ...]:
    """Return the registry's element-wise entries that compute in floating point."""
    return tuple(e for e in registry.entries() if family_of(e) and ttnn.bfloat16 in e.dtypes)


def unary_entries() -> tuple[registry.Op, ...]:
    """Return entries of unary floating-point functions without required arguments."""
    return tuple(entry for entry in entries() if family_of(entry) == "unary" and not needs_more(entry))


def needs_more(entry: registry.Op) -> bool:
    """Return True if an operator has required arguments besides its tensors."""
    if entry.name in ONE_OF_THESE:
        return True
    required = [param for param in entry.signatures[0].params if param.default is REQUIRED]
    return len(required) > arity(entry) + is_gradient(entry)


def is_gradient(entry: registry.Op) -> bool:
    """Return True if the first tensor is a gradient.

    It is incoming; a sweep sets it to 1.
    """
    return family_of(entry) == "backward"


def arity(entry: registry.Op, given: Mapping[str, Any] | None = None) -> int:
    """Return the number of swept tensors.

    Not those `given` by name, and not a gradient.
    """
    if given:
        return len(swept(signature_of(entry, given), given)) - is_gradient(entry)
    return max(len(swept(signature, {})) for signature in entry.signatures) - is_gradient(entry)


def find(name: str) -> registry.Op:
    """Return the entry of an element-wise operator.

    Raises:
        ArgumentError: there is none.
    """
    short = name.removeprefix("ttnn.")
    for entry in entries():
        if short == entry.name or short in entry.aliases:
            return entry
    known = [entry.name for entry in entries()]
    near = get_close_matches(short.lower(), known)
    advice = f"near it: {', '.join(near)}" if near else f"there are {', '.join(known)}"
    raise ArgumentError(f"sweep: no element-wise operator {name}; {advice}.")


def sweep(entry: registry.Op, dtype: str, device: ttnn.MeshDevice) -> Sweep:
    """Send every bfloat16 value through one operator, at every CPU level."""
    return run(entry, {}, dtype, device).sweep


def run(
    entry: registry.Op,
    parameters: Mapping[str, Any],
    dtype: str,
    device: ttnn.MeshDevice,
    level: str | None = None,
) -> Outcome:
    """Run one operator on every input, at all CPU levels.

    Or at the one given.

    Raises:
        UnsupportedError: the result is not of the operands' data type.
    """
    words = operands(arity(entry, parameters), dtype)
    levels = tuple(_engine.cpu_levels()) if level is None else (level,)
    per_level = results(entry, parameters, words, dtype, device, levels)
    first = per_level[0]
    differing = max(int(np.count_nonzero(first != other)) for other in per_level)
    got32 = (first if dtype == "float32" else first.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):  # the inputs hold NaN and infinity on purpose
        got = got32.astype(np.float64)
        x = [operand.view(np.float32).astype(np.float64) for operand in words]
        exact = _exact(entry, parameters, x)
        distance = _distance(entry, parameters, [operand[:STATED_FOR] for operand in x], got32[:STATED_FOR], dtype)
    # The first of equal errors: libraries differ in the last bits of float64, which would choose another one.
    largest = float(distance.max())
    worst = int(np.argmax(distance >= largest * (1 - 1e-6)))
    found = Sweep(
        operator=entry.name,
        parameters={name: shown(value) for name, value in parameters.items()},
        arch=device.arch().name.lower(),
        dtype=dtype,
        values=words[0].size,
        levels=levels,
        differing_between_levels=differing,
        max_ulp=largest,
        worst_input=float(x[0][worst]),
        # The bounds of gradients are about the operands of their tests.
        bound_ulp=_bound(entry, dtype, device.arch())
        if not parameters and len(x) == 1 and not is_gradient(entry)
        else None,
        statistics=measure(x, got, exact, dtype),
    )
    return Outcome(found, x, got, exact)


def results(
    entry: registry.Op,
    parameters: Mapping[str, Any],
    words: Sequence[Words],
    dtype: str,
    device: ttnn.MeshDevice,
    levels: Sequence[str] | None = None,
) -> list[Any]:
    """Return an operator's result words at every CPU level.

    Or at those given.
    """
    return [_result(entry, parameters, words, dtype, device) for _ in _each(levels or _engine.cpu_levels())]


def distances(
    entry: registry.Op, parameters: Mapping[str, Any], words: Sequence[Words], got: Any, dtype: str
) -> Floats:
    """Return results' distance from exact, in the stated bound's unit."""
    got32 = (got if dtype == "float32" else got.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        x = [operand.view(np.float32).astype(np.float64) for operand in words]
        magnitude = None if entry.accuracy is None else entry.accuracy.magnitude
        if magnitude is None:
            return _distance(entry, parameters, x, got32, dtype)
        unit = spacing(np.asarray(magnitude(*x, **parameters), np.float64), dtype)
        errors: Floats = np.abs(got32.astype(np.float64) - _exact(entry, parameters, x)) / unit
    return errors


def _exact(entry: registry.Op, parameters: Mapping[str, Any], x: Sequence[Floats]) -> Floats:
    return reference(entry, parameters, [np.ones_like(x[0]), *x] if is_gradient(entry) else x)


def _distance(entry: registry.Op, parameters: Mapping[str, Any], x: Sequence[Floats], got: Any, dtype: str) -> Floats:
    """Return the distances to exact results within the stated bound's scope."""
    # Functions of float32 may read subnormal operands as they are or as 0; those of bfloat16 see neither them nor -0.
    flushed = [np.where(np.abs(operand) < MIN_NORMAL, np.copysign(0.0, operand), operand) for operand in x]
    unsigned = [np.where(np.abs(operand) < MIN_NORMAL, 0.0, operand) for operand in x]
    readings = [chip_error(got, _exact(entry, parameters, reading), dtype) for reading in (x, flushed, unsigned)]
    errors: Floats = np.fmin.reduce(readings)
    errors[np.isnan(errors)] = np.inf
    largest: float = getattr(entry.accuracy, "largest", np.inf)
    lowest: float = getattr(entry.accuracy, "lowest", -np.inf)
    for operand in x:
        errors[np.isnan(operand) | (np.abs(operand) > largest) | (operand < lowest)] = 0.0
    return errors


def _bound(entry: registry.Op, dtype: str, arch: Arch) -> float | None:
    return None if entry.accuracy is None else entry.accuracy.bound(getattr(ttnn, dtype), arch)


def _each(levels: Sequence[str]) -> Iterator[str]:
    before = CONFIG.cpu_level
    try:
        for level in levels:
            CONFIG.cpu_level = level
            yield level
    finally:
        CONFIG.cpu_level = before


def _result(
    entry: registry.Op, parameters: Mapping[str, Any], words: Sequence[Words], dtype: str, device: ttnn.MeshDevice
) -> Any:
    """Return the words of the result, in the order of `words`.

    The tensors' tiles hold consecutive values, so that the operator needs no conversion.
    """
    ones = [np.full_like(words[0], _ONE)] if is_gradient(entry) else []
    tensors = [_tensor(operand, dtype, device) for operand in (*ones, *words)]
    operator = getattr(ttnn, entry.name)
    if parameters:
        names = swept(signature_of(entry, parameters), parameters)
        result = operator(**dict(zip(names, tensors, strict=True)), **parameters)
    else:
        result = operator(*tensors)
    if is_gradient(entry):
        result = result[0]
    if result.dtype is not getattr(ttnn, dtype):
        raise UnsupportedError(f"sweep: ttnn.{entry.name} of {dtype} gives {result.dtype.name}, which has no ULP.")
    if result.shape != tensors[0].shape:
        raise UnsupportedError(
            f"sweep: ttnn.{entry.name} gives {result.shape} of {tensors[0].shape}: no result belongs to an input."
        )
    return to_bytes(result).view(np.uint32 if dtype == "float32" else np.uint16)


def _tensor(words: Words, dtype: str, device: ttnn.MeshDevice) -> ttnn.Tensor:
    stored = words if dtype == "float32" else (words >> 16).astype(np.uint16)
    shape = (words.size // WIDTH, WIDTH)
    return ttnn.to_device(from_bytes(stored.view(np.uint8), shape, getattr(ttnn, dtype)), device)
