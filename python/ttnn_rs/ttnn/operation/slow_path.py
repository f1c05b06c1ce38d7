"""An operator call's slow path: hooks, golden comparison, logging.

It is taken when `CONFIG.enable_fast_runtime_mode` is off, an observer is active, or one of
`CONFIG.enable_comparison_mode` and `CONFIG.enable_logging` is on. In the fast path hooks are not called; that is the
behaviour of the official package.

Source: TT-NN docs, "Hooks, golden functions, testing helpers".
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import numpy as np

from ttnn.base.config import CONFIG
from ttnn.base.exceptions import TtnnError
from ttnn.operation.carried import TRANSFERS, LostError, carried_by, is_carried, keep
from ttnn.operation.observation import Operator
from ttnn.operation.operands import tensors_in
from ttnn.operation.signature import REQUIRED
from ttnn.tensor.tensor import Tensor

_log: Final = logging.getLogger("ttnn")


class HookError(TtnnError, RuntimeError):
    """A hook returned something; hooks observe, they do not replace results."""


class ComparisonError(TtnnError, RuntimeError):
    """A result below `CONFIG.comparison_mode_pcc`, or without a golden function."""


Level = Literal["local", "global"]
"""Golden function inputs: actual operands, or carried golden values.

The latter are computed from the program's inputs.
"""


@dataclass(frozen=True)
class Comparison:
    """A result compared with its golden function."""

    tensor: Tensor
    actual_pcc: float
    desired_pcc: float

    @property
    def matches(self) -> bool:
        """Return True if the correlation is high enough."""
        return self.actual_pcc >= self.desired_pcc


class Reporter(Protocol):
    """Writes the report of a run."""

    def call(self, operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operator and write it into the report."""

    def compared(self, comparisons: Sequence[Comparison], level: Level) -> None:
        """Write golden comparisons of an operator or the program before.

        The program up to it.
        """


REPORTERS: Final[list[Reporter]] = []
"""Stack of report writers; the last one writes."""

Hook = Callable[..., None]
PRE_HOOKS: Final[list[Hook]] = []
POST_HOOKS: Final[list[Hook]] = []


def _call_hooks(kind: str, hooks: Sequence[Hook], *arguments: Any) -> None:
    for hook in tuple(hooks):
        result = hook(*arguments)
        if result is not None:
            raise HookError(f"{kind}-operation hook {hook} returned {result!r} but must return None")


_inside: Final = threading.local()
"""True if this thread is inside an operator.

Operators that it calls belong to it.
"""


def call_slowly(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator with the slow path's additions, once.

    For it and all operators that it calls.

    Raises:
        HookError: a hook returned something.
        ComparisonError: comparison mode is on, and the golden function raised, or it is set to raise and the result is
            too far off.
    """
    if CONFIG.enable_fast_runtime_mode and not CONFIG.enable_comparison_mode and not CONFIG.enable_logging:
        return operation.function(*args, **kwargs)
    if getattr(_inside, "operator", False):
        return operation.function(*args, **kwargs)
    _inside.operator = True
    try:
        return _observed(operation, args, kwargs)
    finally:
        _inside.operator = False


def _observed(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _call_hooks("Pre", PRE_HOOKS, operation, args, kwargs)
    if CONFIG.enable_logging:
        _log.debug("Started %s", operation)
    compared = CONFIG.enable_comparison_mode and operation.plain_golden is not None
    # Before the operator runs: it may write into its operands, or free them.
    golden: Any = None
    whole: Any = _LOST
    if compared:
        try:
            golden = _golden_result(operation, args, kwargs)
        except Exception as error:  # a call that the operator refuses, too, raises itself
            golden = error
    if CONFIG.enable_comparison_mode and CONFIG.report_name is not None:
        whole = _carried_result(operation, args, kwargs)
    reporter = REPORTERS[-1] if REPORTERS else None
    if reporter is not None and CONFIG.enable_logging and CONFIG.report_name is not None:
        output = reporter.call(operation, args, kwargs)
    else:
        output = operation.function(*args, **kwargs)
    if CONFIG.enable_logging:
        _log.debug("Finished %s", operation)
    if isinstance(golden, Exception):
        raise ComparisonError(f"{operation.__name__}: the golden function raised {golden!r}.") from golden
    if CONFIG.enable_comparison_mode and CONFIG.report_name is not None:
        _carry(whole, output)
    if compared:
        levels: list[tuple[Level, Any]] = [("local", golden), ("global", whole)]
        for level, expected in levels[: 1 if whole is _LOST else 2]:
            comparisons = _compare_all(operation, expected, output)
            if reporter is not None:
                reporter.compared(comparisons, level)
            _judge(operation, comparisons, level, args, kwargs)
    _call_hooks("Post", POST_HOOKS, operation, args, kwargs, output)
    return output


def float64_values(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the elements of a tensor, wherever it lives, as float64."""
    with np.errstate(invalid="ignore"):  # of signalling NaN, which the chip writes as well
        return np.asarray(tensor.to_numpy(), np.float64).reshape(tuple(tensor.shape))


def plain(value: Any, values: Callable[[Tensor], Any] = float64_values) -> Any:
    """Return an argument for golden functions.

    Tensors as float64, complex tensors as complex128.
    """
    if isinstance(value, Tensor):
        return values(value)
    real, imag = getattr(value, "real", None), getattr(value, "imag", None)
    if isinstance(real, Tensor) and isinstance(imag, Tensor):
        return values(real) + 1j * values(imag)
    return value


_LOST: Final = object()
"""Error for an unknown golden value of the program."""
_START: Final = object()
"""Observe an input of the program: elements are golden values."""


def _carried_result(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the golden value of a call with what its operands carry."""

    def values(tensor: Tensor) -> Any:
        return carried_by(tensor, float64_values)

    def inside(value: Any) -> Any:
        if isinstance(value, list | tuple) and any(isinstance(item, Tensor) for item in value):
            return [plain(item, values) for item in value]
        return plain(value, values)

    try:
        if operation.plain_golden is None:
            tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
            if operation.__name__ in TRANSFERS and len(tensors) == 1:
                return values(tensors[0])
            # What is made of inputs of the program alone is one itself.
            return _LOST if any(map(is_carried, tensors)) else _START
        with np.errstate(all="ignore"):
            result = call_golden(operation, args, kwargs, inside)
    except LostError:
        _log.warning("%s: an operand was made by an operator without a golden value; so is the result", operation)
        return _LOST
    except Exception as error:  # a call that the operator refuses, too, raises itself
        _log.warning("%s: the golden function raised %r for what the operands carry", operation, error)
        return _LOST
    return result if isinstance(result, list | tuple) else np.asarray(result)


def _carry(whole: Any, output: Any) -> None:
    """Carry golden values with the results of an operator."""
    if whole is _START:
        return
    outputs = output if isinstance(output, list | tuple) else [output]
    # One golden value is that of the first result; what comes with it, prepared weights for instance, begins anew.
    values = [_LOST] * len(outputs) if whole is _LOST else whole if isinstance(whole, list | tuple) else [whole]
    for tensor, value in zip(outputs, values, strict=False):
        parts = (
            (tensor,) if isinstance(tensor, Tensor) else (getattr(tensor, "real", None), getattr(tensor, "imag", None))
        )
        for part, of in zip(parts, (np.real, np.imag), strict=False):
            if isinstance(part, Tensor):
                keep(part, None if value is _LOST else of(value))


def _golden_result(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        result = call_golden(operation, args, kwargs)
    return result if isinstance(result, list | tuple) else np.asarray(result)


def call_golden(
    operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], plainly: Callable[[Any], Any] = plain
) -> Any:
    """Return the golden function's result for a call.

    It gets the required operands by position, for which it has names of its own, and all options by name.

    Args:
        operation: The operator.
        args: Arguments of the call by position.
        kwargs: Those by name.
        plainly: What is taken for an argument: for a tensor its elements.
    """
    outputs = operation.output_tensor_kwarg_names
    golden, entry = plain_golden(operation), operation.entry
    fitting = (s for s in entry.signatures if s.bind(args, kwargs) is not None) if entry is not None else iter(())
    signature = next(fitting, None)
    if signature is not None and golden is entry.golden:
        if entry.golden_of_shards is not None and any(_is_sharded(value) for value in args[:1]):
            golden = entry.golden_of_shards
        given = dict(zip((param.name for param in signature.positional), args, strict=False)) | kwargs
        required = [param.name for param in signature.positional if param.default is REQUIRED]
        args, kwargs = tuple(given.pop(name) for name in required if name not in outputs), given
    options = {name: plainly(value) for name, value in kwargs.items() if name not in outputs}
    return golden(*map(plainly, args), **options)


def _is_sharded(value: Any) -> bool:
    return isinstance(value, Tensor) and value.memory_config().is_sharded()


def _compare_all(operation: Operator, golden: Any, output: Any) -> list[Comparison]:
    """Compare an operator's result or results.

    None was not requested.
    """
    if not isinstance(output, list | tuple):
        golden, output = [golden], [output]
    found = []
    for expected, actual in zip(golden, output, strict=False):
        values = plain(actual)
        if isinstance(values, np.ndarray):
            tensor = actual if isinstance(actual, Tensor) else actual.real
            for part in (np.real, np.imag) if np.iscomplexobj(values) else (np.real,):
                pcc = correlation(part(expected), part(values))
                found.append(Comparison(tensor, pcc, CONFIG.comparison_mode_pcc))
    return found


def _judge(
    operation: Operator,
    comparisons: Sequence[Comparison],
    level: Level,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    to = "the golden function" if level == "local" else "the golden functions from the start of the program"
    for comparison in comparisons:
        if not comparison.matches:
            desired, actual = comparison.desired_pcc, comparison.actual_pcc
            text = f"{operation.__name__}: PCC to {to} is {actual:.6f}, below {desired}{_chip(args, kwargs)}."
            if advice := _advice(operation, args, kwargs):
                text = f"{text} {advice}."
            if CONFIG.comparison_mode_should_raise_exception:
                raise ComparisonError(text)
            _log.error(text)


def _chip(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the chip of a call's tensors."""
    devices = (tensor.device() for tensor in tensors_in((*args, *kwargs.values())))
    return next((f" on {device.arch().name.lower()}" for device in devices if device is not None), "")


def _advice(operation: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the entry's advice for a call whose result is inaccurate."""
    entry = operation.entry
    if entry is None or entry.advice is None:
        return ""
    bound = (signature.bind(args, kwargs) for signature in entry.signatures)
    values = next((values for values in bound if values is not None), None)
    return "" if values is None else entry.advice(*values)


def correlation(expected: Any, actual: Any) -> float:
    """Return two arrays' Pearson correlation.

    1.0 if both are constant and equal, 0.0 if shapes differ.

    Values that are not finite must be in the same places. Which they are does not count: the packer makes infinities
    of NaN in bfloat16.
    """
    left, right = np.asarray(expected, np.float64).ravel(), np.asarray(actual, np.float64).ravel()
    if left.shape != right.shape:
        return 0.0
    usable = np.isfinite(left)
    if not np.array_equal(usable, np.isfinite(right)):
        return 0.0
    left, right = left[usable], right[usable]
    if left.size == 0 or np.array_equal(left, right):
        return 1.0
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return float(np.allclose(left, right, rtol=1e-2, atol=0))
    return float(np.corrcoef(left, right)[0, 1])


def plain_golden(operation: Operator) -> Callable[..., Any]:
    """Return an operator's golden function on numpy arrays.

    Raises:
        ComparisonError: it has none.
    """
    golden = operation.plain_golden
    if golden is None:
        raise ComparisonError(f"{operation.__name__} does not have a golden function")
    return golden
