"""The model of a device that the optimizer asks.

The compiler layer does not know operators; whoever runs programs gives it this model (`runtime.op_model`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.ir.module import Module

__all__ = ["Log", "Model", "ModelOfDevice", "ProductConfig", "Time"]


@dataclass(frozen=True)
class Time:
    """The predicted time of a lowered module's public functions.

    Attributes:
        nanoseconds: Device operations with the gaps between them.
        operations: Number of device operations.
        of_operation: Nanoseconds of each operation, by function and number.
        missing: Device operations without a time, which count as nothing.
    """

    nanoseconds: int
    operations: int
    of_operation: dict[tuple[str, int], int]
    missing: int


@dataclass(frozen=True)
class ProductConfig:
    """A program configuration of a product.

    Attributes:
        kind: "reuse", "reuse_multi_cast" or "reuse_multi_cast_1d".
        grid: Columns and rows of cores.
        inner: Tiles of the inner dimension per block.
        subblock: Rows and columns of a subblock.
        block: Rows and columns of tiles that a core computes.
        first: Of one dimension, whether the left operand is multicast.
        fidelity: "lofi" to "hifi4": that of the product without a configuration, whose default would be another one.
            Empty for a product that has a compute configuration.
        wide: Whether sums are of 32 bits.
    """

    kind: str
    grid: tuple[int, int]
    inner: int
    subblock: tuple[int, int]
    block: tuple[int, int]
    first: bool = False
    fidelity: str = ""
    wide: bool = False


class Model(Protocol):
    """Predicts times without running anything."""

    @property
    def queries(self) -> int:
        """Return how many calls were asked about."""

    def time(self, module: Module) -> Time:
        """Return the time of a lowered module.

        Raises:
            TtnnError: An operation is refused.
        """

    def alternatives(
        self, module: Module, candidates: Mapping[tuple[str, int], Sequence[ProductConfig]]
    ) -> dict[tuple[str, int], tuple[int, list[int | None]]]:
        """Return the times of products in other configurations.

        Args:
            module: A lowered module.
            candidates: Configurations by function and number of an operation.

        Returns:
            For each the nanoseconds as it is, and with each configuration; None for one that is refused.
        """


class Log:
    """The switch of what is written to standard error."""

    on: ClassVar[bool] = False


class ModelOfDevice:
    """The model that is in use."""

    _given: ClassVar[Model | None] = None

    @classmethod
    def give(cls, model: Model) -> None:
        """Use a model from now on."""
        cls._given = model

    @classmethod
    def get(cls) -> Model:
        """Return the model in use.

        Raises:
            UnsupportedError: there is none.
        """
        if cls._given is None:
            raise UnsupportedError(
                "the optimizer needs the operators of the package: import ttnn.compiler.runtime.op_model first."
            )
        return cls._given
