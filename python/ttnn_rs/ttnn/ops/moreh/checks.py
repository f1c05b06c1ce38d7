"""Shared code of the moreh family: operand checks, kernel settings, options.

Source: tt-metal `ttnn/cpp/ttnn/operations/moreh/moreh_helper_functions.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ttnn.base.compute_config import FIDELITY_NUMBER, WormholeComputeKernelConfig
from ttnn.base.enums import BufferType, DataType, Layout, MathFidelity
from ttnn.base.exceptions import DTypeError, LayoutError, ShapeError
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice, get_allocator_base_address
from ttnn.operation.signature import COMPUTE_KERNEL_CONFIG, Kind, Param
from ttnn.ops._programs.common import allocate, full_tiles, on_device, same_device, take_output
from ttnn.ops._programs.element_map import copy_into
from ttnn.ops.normalization.softmax_programs import Numerics
from ttnn.tensor.tensor import Tensor

Compute = WormholeComputeKernelConfig | None
BF16: Final = DataType.BFLOAT16
FLAGS: Final = Kind(
    "collections.abc.Sequence[bool]",
    lambda value: isinstance(value, list | tuple) and all(isinstance(item, bool) for item in value),
    "Sequence[bool]",
)
COMPUTE: Final = Param(
    "compute_kernel_config",
    COMPUTE_KERNEL_CONFIG,
    None,
    doc="Math fidelity, Dst width and approximation. Default: HiFi4, 16 bits (32 for FLOAT32), approximate.",
)


def numerics_of(dtype: DataType, config: Compute) -> Numerics:
    """Return a configuration's values.

    Default: HiFi4, approximate and a 16-bit Dst, which has 32 bits for FLOAT32.
    """
    fidelity = MathFidelity.HiFi4
    if config is not None and config.math_fidelity is not MathFidelity.Invalid:
        fidelity = config.math_fidelity
    dst32 = dtype is DataType.FLOAT32 if config is None else config.fp32_dest_acc_en
    approximate = config is None or config.math_approx_mode
    return Numerics(dtype, FIDELITY_NUMBER[fidelity], approximate, dst32)


def check_operand(
    name: str,
    label: str,
    tensor: Tensor,
    device: MeshDevice | None = None,
    dtypes: Sequence[DataType] = (BF16,),
    *,
    layout: Layout = Layout.TILE,
    vendor: tuple[str | None, str | None, str | None] = (None, None, None),
) -> MeshDevice:
    """Return the device of an operand that the kernels can read.

    Args:
        name: Who asks.
        label: The name of the parameter.
        tensor: The operand.
        device: Where it has to be; any device if it is not given.
        dtypes: Data types that are taken.
        layout: The layout that is taken.
        vendor: Official sentences for another place, layout and data type.

    Raises:
        StorageError: it is on the host or on another device.
        LayoutError: it has another layout.
        DTypeError: it has another data type.
    """
    own = on_device(name, tensor, label, vendor[0])
    if device is not None:
        same_device(name, device, tensor, label)
    spec = tensor.spec
    if spec.layout is not layout:
        raise LayoutError(
            f"{name}: {label} has layout {spec.layout.name}; convert it with "
            f"ttnn.to_layout(..., ttnn.{layout.name}_LAYOUT).",
            vendor=vendor[1] or "",
        )
    if spec.dtype not in dtypes:
        names = " or ".join(dtype.name for dtype in dtypes)
        raise DTypeError(f"{name}: {label} is {spec.dtype.name}; it must be {names}.", vendor=vendor[2] or "")
    full_tiles(name, tensor, label)
    return own


def check_shape(name: str, label: str, tensor: Tensor, shape: Sequence[int], vendor: str = "") -> None:
    """Refuse an operand of another shape.

    Raises:
        ShapeError: its shape is not `shape`.
    """
    if tuple(tensor.spec.shape) != tuple(shape):
        raise ShapeError(f"{name}: {label} has shape {tensor.spec.shape}; it must be {list(shape)}.", vendor=vendor)


class Result:
    """An output tensor and the preallocated one that receives its elements."""

    def __init__(
        self,
        name: str,
        shape: Sequence[int],
        dtype: DataType,
        place: MemoryConfig,
        device: MeshDevice,
        given: Tensor | None = None,
    ) -> None:
        if given is not None:
            take_output(name, given, tuple(shape), Layout.TILE, device, dtype=dtype)
            place = given.spec.memory_config
        self.given = given
        self.written = allocate(TensorSpec.of(tuple(shape), dtype, Layout.TILE, place), device)

    def tensor(self) -> Tensor:
        """Return the result, in the output that was given."""
        return self.take(self.written)

    def take(self, source: Tensor) -> Tensor:
        """Return the elements of a tensor as the result."""
        target = self.written if self.given is None else self.given
        if source is not target:
            copy_into(source, target)
        return target


def l1_base(device: MeshDevice) -> int:
    """Return a core's first free L1 address, where circular buffers begin."""
    return get_allocator_base_address(device, BufferType.L1)
