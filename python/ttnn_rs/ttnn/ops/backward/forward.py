"""The forward operators as steps of compositions, with one result memory config."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ttnn.base.activation import UnaryWithParam
from ttnn.base.enums import DataType, UnaryOpType
from ttnn.base.exceptions import TtnnError
from ttnn.base.memory_config import MemoryConfig
from ttnn.operation.registry import find
from ttnn.operation.steps import ChainStep, step
from ttnn.ops._programs.activations import chain
from ttnn.ops._programs.common import INTEGERS
from ttnn.ops._programs.sfpu_chain import apply_chain, refuse_integers
from ttnn.ops._programs.typecast import cast
from ttnn.tensor.tensor import Tensor

_INTEGER_STEPS: Final = {
    UnaryOpType.ABS: (DataType.UINT32, DataType.UINT16),
    UnaryOpType.ADD_UNARY_SFPU: (DataType.INT32, DataType.UINT32),
    UnaryOpType.NEG: (DataType.INT32,),
    UnaryOpType.SQUARE: (DataType.INT32, DataType.UINT32, DataType.UINT16),
    UnaryOpType.SUB_UNARY_SFPU: (DataType.INT32, DataType.UINT32),
}
"""Integer operations that the official validation accepts as steps of a chain."""

INF: Final = math.inf
NAN: Final = math.nan


class Forward:
    """Calls operators by name: `do.multiply(a, b)` is `ttnn.multiply(a, b, memory_config=place)`.

    Every step is a program of its own whose result is rounded to its data type, as on the chip. `place` is where all of
    them leave their results; None means where the first operand of each lives. A step that is given `output_tensor` and
    no place writes there, wherever that is.
    """

    __slots__ = ("place",)

    def __init__(self, place: MemoryConfig | None = None) -> None:
        self.place = place

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        function = find(f"ttnn.{name}")
        place = self.place

        def call(*operands: Any, **options: Any) -> Tensor:
            if "output_tensor" not in options:
                options["memory_config"] = place
            result: Tensor = function(*operands, **options)
            return result

        return call

    def where(self, predicate: Tensor, true: Tensor | float, false: Tensor | float, **options: Any) -> Tensor:
        """Return `true` where the predicate is not 0, else `false`.

        Integers between two numbers become float32.
        """
        if predicate.dtype in INTEGERS and isinstance(true, float) and isinstance(false, float):
            predicate = self._single(predicate)
        return self.__getattr__("where")(predicate, true, false, **options)

    def _single(self, x: Tensor) -> Tensor:
        return cast("ttnn.typecast", x, DataType.FLOAT32, self.place) if x.dtype in INTEGERS else x

    def chain(self, x: Tensor, *functions: UnaryOpType | tuple[UnaryOpType, float]) -> Tensor:
        """Return a chain of SFPU functions, in one visit to Dst."""
        steps = [UnaryWithParam(item) for item in functions]
        if x.dtype in INTEGERS:
            for item in steps:
                if x.dtype not in _INTEGER_STEPS.get(item.op_type, ()):
                    refuse_integers("ttnn.unary_chain", item.op_type, x.dtype)
        return apply_chain("ttnn.unary_chain", x, chain("ttnn.unary_chain", steps), memory_config=self.place)

    def power(self, x: Tensor, exponent: float, output: Tensor) -> Tensor:
        """Return a power by logarithms, whatever the exponent."""
        steps: list[ChainStep] = [step("power", "default", exponent)]
        return apply_chain("ttnn.power", x, steps, memory_config=self.place, output_tensor=output)

    def zeros_like(self, x: Tensor, output_tensor: Tensor | None = None) -> Tensor:
        """Return zeros of a tensor's shape, data type and layout."""
        option = {"memory_config": self.place} if output_tensor is None else {"optional_tensor": output_tensor}
        zeros: Tensor = find("ttnn.zeros_like")(x, **option)
        return zeros

    def empty_like(self, x: Tensor) -> Tensor:
        """Return a tensor for a result of the specification of `x`."""
        empty: Tensor = find("ttnn.empty_like")(x, memory_config=self.place)
        return empty

    def passed_on(self, grad: Tensor) -> Tensor:
        """Return the gradient itself, or a copy in the requested memory config."""
        if self.place is None or self.place == grad.memory_config():
            return grad
        moved: Tensor = find("ttnn.to_memory_config")(grad, self.place)
        return moved

    def signed_infinity(self, x: Tensor, sign: float = 1.0) -> Tensor:
        """Return `sign` infinity with the sign of `x`."""
        infinity: Tensor = self.multiply(self.sign(x), sign * INF)
        return infinity


@contextmanager
def named(operator: str) -> Iterator[None]:
    """Prefix the text of a step's error with the operator's name."""
    try:
        yield
    except TtnnError as error:
        error.say_outer(operator)
        raise
