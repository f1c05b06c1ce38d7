"""Operators with their arguments and types. Written by `cargo xtask stubs` from the registry."""
# ruff: noqa: N816
# fmt: off

from collections.abc import Sequence
from typing import overload

from ttnn.base.activation import Activation, UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreRangeSet
from ttnn.base.enums import DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.op_enums import GeluVariant, LossReductionMode, SigmoidMode, UnaryOpType
from ttnn.base.shape import Shape
from ttnn.base.system_enums import TileReshapeMapMode
from ttnn.base.tile import Tile
from ttnn.device.coordinates import SubDeviceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.registry import FastOperation
from ttnn.ops.backward.family import Gradients
from ttnn.ops.eltwise.complex.tensor import ComplexTensor
from ttnn.ops.matmul.config_data import AnyProgramConfig
from ttnn.tensor.tensor import Tensor

class _Abs(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: ComplexTensor, *, memory_config: MemoryConfig, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _AbsBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig,
        queue_id: int | None = None, cq_id: int | None = None) -> list[ComplexTensor]: ...

class _Acos(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _AcosBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...

class _Add(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = True,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = True,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: int | float, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = True,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _AddInPlace(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _AddBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, scalar: float, *,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, other_tensor: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, other_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: ComplexTensor, input_tensor_a: ComplexTensor, input_tensor_b: ComplexTensor,
        alpha: float, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[ComplexTensor]: ...

class _Addalpha(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _AddalphaBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float = 1.0, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_a_grad: Tensor | None = None, input_b_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Addcdiv(FastOperation):
    def __call__(self, input_a: Tensor, input_b: Tensor, input_c: Tensor, *, value: float = 1.0,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _AddcdivBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor,
        alpha: float, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Addcmul(FastOperation):
    def __call__(self, input_a: Tensor, input_b: Tensor, input_c: Tensor, *, value: int | float = 1.0,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Addmm(FastOperation):
    def __call__(self, input_tensor: Tensor, mat1_tensor: Tensor, mat2_tensor: Tensor, *, alpha: float = 1.0,
        beta: float = 1.0, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        program_config: AnyProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Angle(FastOperation):
    def __call__(self, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _AngleBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig,
        queue_id: int | None = None, cq_id: int | None = None) -> list[ComplexTensor]: ...

class _Arange(FastOperation):
    @overload
    def __call__(self, start: int, end: int, step: int = 1, *, dtype: DataType = ..., device: MeshDevice | None = None,
        memory_config: MemoryConfig = ..., layout: Layout = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, end: int, *, dtype: DataType = ..., device: MeshDevice | None = None,
        memory_config: MemoryConfig = ..., layout: Layout = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Argmax(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int | None = None, keepdim: bool = False, *,
        sub_core_grids: CoreRangeSet | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, enable_secondary_dm: bool | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Assign(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig, dtype: DataType | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _AssignBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        input_a_grad: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_a_grad: Tensor | None = None, input_b_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Atan2(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Atan2Bw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _BiasGelu(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _BiasGeluInPlace(FastOperation):
    @overload
    def __call__(self, input_a: Tensor, input_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _BiasGeluBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *,
        variant: GeluVariant = ..., memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *, approximate: str,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, bias: float, *, variant: GeluVariant = ...,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, bias: float, *, approximate: str,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Bitcast(FastOperation):
    def __call__(self, input_tensor: Tensor, dtype: DataType, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _BitwiseAnd(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_b: int, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Celu(FastOperation):
    def __call__(self, input_tensor: Tensor, *, alpha: float = 1.0, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _CeluBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, alpha: float = 1.0,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Clamp(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, min: Tensor | None = None, max: Tensor | None = None, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, min: float | None = None, max: float | None = None, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ClampBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, min: float | None = None, max: float | None = None, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, min: Tensor | None = None, max: Tensor | None = None,
        *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _ClampedSiluGlu(FastOperation):
    def __call__(self, gate: Tensor, up: Tensor, limit: float, *, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Clip(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, min: Tensor | None = None, max: Tensor | None = None, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, min: float | None = None, max: float | None = None, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Clone(FastOperation):
    def __call__(self, input: Tensor, *, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ComplexTensor(FastOperation):
    def __call__(self, real: Tensor, imag: Tensor, *, queue_id: int | None = None,
        cq_id: int | None = None) -> ComplexTensor: ...

class _ConcatBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, dim: int = 0, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_a_grad: Tensor | None = None, input_b_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Conj(FastOperation):
    def __call__(self, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> ComplexTensor: ...

class _ConjBw(FastOperation):
    def __call__(self, grad_tensor: ComplexTensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig,
        queue_id: int | None = None, cq_id: int | None = None) -> list[ComplexTensor]: ...

class _Copy(FastOperation):
    def __call__(self, input_a: Tensor, input_b: Tensor, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Div(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, value: int | float, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: int | float, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = False,
        rounding_mode: str | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _DivBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, scalar: float, rounding_mode: str | None = None, *,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, other_tensor: Tensor, *,
        rounding_mode: str | None = None, are_required_outputs: Sequence[bool] = ...,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, other_grad: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: ComplexTensor, input_tensor_a: ComplexTensor, input_tensor_b: ComplexTensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[ComplexTensor]: ...

class _DivNoNan(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, value: int | float, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _DivNoNanBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, scalar: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _DivideInPlace(FastOperation):
    @overload
    def __call__(self, input_a: Tensor, input_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = False, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = False, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _EmbeddingBw(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, output_gradient_tensor: Tensor, *,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Empty(FastOperation):
    @overload
    def __call__(self, shape: Shape | Sequence[int], dtype: DataType, layout: Layout, device: MeshDevice,
        memory_config: MemoryConfig = ..., *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, shape: Shape | Sequence[int], dtype: DataType = ..., layout: Layout = ..., *, device: MeshDevice,
        memory_config: MemoryConfig = ..., queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _EmptyLike(FastOperation):
    def __call__(self, tensor: Tensor, *, dtype: DataType | None = None, layout: Layout | None = None,
        device: MeshDevice | None = None, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Eq(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _EqBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, scalar: float, *,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, other_tensor: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, other_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Erf(FastOperation):
    def __call__(self, input_tensor: Tensor, *, fast_and_approximate_mode: bool = False,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ExpBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...

class _Fill(FastOperation):
    def __call__(self, input_tensor: Tensor, fill_value: int | float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Fmod(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, scalar: int | float, *, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, sub_device_id: SubDeviceId | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FmodBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, scalar: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Full(FastOperation):
    def __call__(self, shape: Shape | Sequence[int], fill_value: int | float, dtype: DataType | None = None,
        layout: Layout | None = None, device: MeshDevice | None = None, memory_config: MemoryConfig | None = None,
        optional_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FullLike(FastOperation):
    def __call__(self, tensor: Tensor, fill_value: int | float, dtype: DataType | None = None,
        layout: Layout | None = None, device: MeshDevice | None = None, memory_config: MemoryConfig | None = None,
        optional_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Gcd(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Geglu(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, *, memory_config: MemoryConfig | None = None,
        variant: GeluVariant = ..., queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Gelu(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, *, variant: GeluVariant = ..., memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, fast_and_approximate_mode: bool = False,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _GeluBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, variant: GeluVariant = ...,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Glu(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Hardshrink(FastOperation):
    def __call__(self, input_tensor: Tensor, *, lambd: float = 0.5, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _HardshrinkBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, lambd: float = 0.5,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Hardtanh(FastOperation):
    def __call__(self, input_tensor: Tensor, *, min_val: float = -1.0, max_val: float = 1.0,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _HardtanhBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, min: float = -1.0, max: float = 1.0,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Heaviside(FastOperation):
    def __call__(self, input_tensor: Tensor, value: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _InterleavedToSharded(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, grid: CoreCoord | CoreRangeSet, shard_shape: Shape | Sequence[int],
        shard_scheme: TensorMemoryLayout, shard_orientation: ShardOrientation, output_dtype: DataType | None = None, *,
        keep_l1_aligned: bool | None = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, sharded_memory_config: MemoryConfig, output_dtype: DataType | None = None,
        *, keep_l1_aligned: bool | None = False, preallocated_output: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Isclose(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, rtol: float = 9.999999747378752e-06,
        atol: float = 9.99999993922529e-09, equal_nan: bool = False, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _L1Loss(FastOperation):
    def __call__(self, input_reference: Tensor, input_prediction: Tensor, *, reduction: LossReductionMode = ...,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _LeakyRelu(FastOperation):
    def __call__(self, input_tensor: Tensor, negative_slope: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _LeakyReluBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, negative_slope: float = 0.009999999776482582,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Lerp(FastOperation):
    @overload
    def __call__(self, input: Tensor, end: Tensor, weight: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, end: Tensor, weight: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _LerpBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, scalar: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Linear(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, bias: Tensor | None = None,
        transpose_a: bool = False, transpose_b: bool = False, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, program_config: AnyProgramConfig | None = None,
        activation: str | UnaryWithParam | UnaryOpType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, global_cb: object | None = None,
        sub_device_id: SubDeviceId | None = None, prefetcher_pipes: Sequence[object] = ...,
        in0_column_offset: int | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _LogicalNotInPlace(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Logit(FastOperation):
    def __call__(self, input_tensor: Tensor, *, eps: float | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _LogitepsBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, eps: float = 0.0,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Mac(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, value: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, value: float, input_tensor_c: Tensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, value1: float, value2: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Matmul(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, transpose_a: bool = False,
        transpose_b: bool = False, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        program_config: AnyProgramConfig | None = None, activation: str | UnaryWithParam | UnaryOpType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, global_cb: object | None = None,
        sub_device_id: SubDeviceId | None = None, prefetcher_pipes: Sequence[object] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Max(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        scalar: float = 1.0, correction: bool | None = None, sub_core_grids: CoreRangeSet | None = None,
        fast_and_approximate_mode: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Maximum(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_b: int | float, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Mean(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        scalar: float = 1.0, correction: bool | None = None, sub_core_grids: CoreRangeSet | None = None,
        fast_and_approximate_mode: bool = False, output_layout: Layout | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MulBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, scalar: float, *,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, other_tensor: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, other_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...
    @overload
    def __call__(self, grad_tensor: ComplexTensor, input_tensor_a: ComplexTensor, input_tensor_b: ComplexTensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[ComplexTensor]: ...

class _Multiply(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: int | float, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: int | float, input_tensor_b: Tensor, *, fast_and_approximate_mode: bool = False,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Ones(FastOperation):
    def __call__(self, shape: Shape | Sequence[int], dtype: DataType | None = None, layout: Layout | None = None,
        device: MeshDevice | None = None, memory_config: MemoryConfig | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _OnesLike(FastOperation):
    def __call__(self, tensor: Tensor, dtype: DataType | None = None, layout: Layout | None = None,
        device: MeshDevice | None = None, memory_config: MemoryConfig | None = None,
        optional_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Pad(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, padding: Sequence[Sequence[int]], value: float, *,
        use_multicore: bool = True, memory_config: MemoryConfig | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, output_padded_shape: Shape | Sequence[int],
        input_tensor_start: Shape | Sequence[int], value: float, *, use_multicore: bool = True,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Permute(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dims: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None,
        pad_value: float = 0.0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dims: Shape | Sequence[int], pad_value: float = 0.0, *,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Polygamma(FastOperation):
    def __call__(self, input_tensor: Tensor, k: int, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _PolygammaBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, n: int, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...

class _Polyval(FastOperation):
    def __call__(self, input_tensor_a: Tensor, coeffs: Sequence[float], *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Pow(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, exponent: int, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, exponent: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, exponent: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: float, exponent: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _PowBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, exponent: float, *,
        memory_config: MemoryConfig | None = None, input_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Prelu(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, weight: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, weight: int | float, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, weight: Sequence[float], *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Prod(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dim: int | None = None, keepdim: bool = False, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, output_tensor: Tensor, *, dims: Shape | Sequence[int],
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ProdBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, dim: int | None = None,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Rdiv(FastOperation):
    def __call__(self, input_tensor: Tensor, value: float, *, rounding_mode: str | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _RdivBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, scalar: float, *, rounding_mode: str | None = None,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Reciprocal(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: ComplexTensor, *, memory_config: MemoryConfig, queue_id: int | None = None,
        cq_id: int | None = None) -> ComplexTensor: ...

class _ReciprocalBw(FastOperation):
    @overload
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, grad_tensor: ComplexTensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig,
        queue_id: int | None = None, cq_id: int | None = None) -> list[ComplexTensor]: ...

class _ReluMax(FastOperation):
    def __call__(self, input_tensor: Tensor, upper_limit: int | float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ReluMin(FastOperation):
    def __call__(self, input_tensor: Tensor, lower_limit: int | float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _RepeatBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, shape: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Reshape(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, shape: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None,
        pad_value: int | float | None = None, reshape_tile_mode: TileReshapeMapMode = ...,
        sub_core_grids: CoreRangeSet | None = None, skip_padding_fill: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, logical_shape: Shape | Sequence[int], padded_shape: Shape | Sequence[int],
        *, memory_config: MemoryConfig | None = None, pad_value: int | float | None = None,
        reshape_tile_mode: TileReshapeMapMode = ..., sub_core_grids: CoreRangeSet | None = None,
        skip_padding_fill: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Reshard(FastOperation):
    def __call__(self, input_tensor: Tensor, output_memory_config: MemoryConfig, output_tensor: Tensor | None = None, *,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Round(FastOperation):
    def __call__(self, input_tensor: Tensor, *, decimals: int | None = 0, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Rpow(FastOperation):
    def __call__(self, input_tensor: Tensor, exponent: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _RpowBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, exponent: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Rsub(FastOperation):
    @overload
    def __call__(self, input_tensor_a: Tensor, input_b: int | float, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., fast_and_approximate_mode: bool | None = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        activations: Sequence[Activation] = ..., input_tensor_a_activations: Sequence[Activation] = ...,
        input_tensor_b_activations: Sequence[Activation] = ..., fast_and_approximate_mode: bool | None = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _RsubInPlace(FastOperation):
    @overload
    def __call__(self, input_a: Tensor, input_b: int | float, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, *, activations: Sequence[Activation] = ...,
        input_tensor_a_activations: Sequence[Activation] = ..., input_tensor_b_activations: Sequence[Activation] = ...,
        fast_and_approximate_mode: bool | None = True, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _RsubBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, other_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Selu(FastOperation):
    def __call__(self, input_tensor: Tensor, *, scale: float = 1.0506999492645264, alpha: float = 1.673259973526001,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ShardedToInterleaved(FastOperation):
    def __call__(self, input_tensor: Tensor, memory_config: MemoryConfig | None = None,
        output_dtype: DataType | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Sigmoid(FastOperation):
    def __call__(self, input_tensor: Tensor, *, vector_mode: int = 4, mode: SigmoidMode = ...,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _SigmoidAccurate(FastOperation):
    def __call__(self, input_tensor: Tensor, fast_and_approximate_mode: bool = False, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _SigmoidBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Gradients: ...

class _SituGlu(FastOperation):
    def __call__(self, gate: Tensor, up: Tensor, beta1: float, beta2: float, *,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None,
        sub_device_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Slice(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, starts: Tensor, ends: Tensor,
        slice_step: Shape | Sequence[int] | None = None, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, pad_value: float | None = None, slice_dim: int | None = None,
        num_devices: int | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, starts: Shape | Sequence[int], ends: Shape | Sequence[int],
        steps: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        pad_value: float | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, slice_start: Shape | Sequence[int], slice_end: Shape | Sequence[int],
        slice_step: Shape | Sequence[int] | None = None, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, pad_value: float | None = None, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Softcap(FastOperation):
    def __call__(self, input_tensor: Tensor, beta: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Softmax(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, *, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, numeric_stable: bool = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Softplus(FastOperation):
    def __call__(self, input_tensor: Tensor, *, beta: float = 1.0, threshold: float = 20.0,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _SoftplusBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, beta: float = 1.0, threshold: float = 20.0,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Split(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, split_size: int, dim: int = 0, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...
    @overload
    def __call__(self, input_tensor: Tensor, split_size: Shape | Sequence[int], dim: int = 0, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Squeeze(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _SubalphaBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, alpha: float = 1.0, *,
        are_required_outputs: Sequence[bool] = ..., memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, other_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Tanh(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, fast_and_approximate_mode: bool = False,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TanhBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        input_grad: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Gradients: ...

class _Threshold(FastOperation):
    def __call__(self, input_tensor: Tensor, threshold: float, value: float, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ThresholdBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, min: float, max: float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Tilize(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, use_multicore: bool = True, use_low_perf: bool = False, tile: Tile = ...,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TilizeWithValPadding(FastOperation):
    def __call__(self, input_tensor: Tensor, output_tensor_shape: Shape | Sequence[int], pad_value: int | float, *,
        memory_config: MemoryConfig | None = None, dtype: DataType | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _TilizeWithZeroPadding(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        output_dtype: DataType | None = None, use_multicore: bool = True, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ToLayout(FastOperation):
    def __call__(self, tensor: Tensor, layout: Layout, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None, pad_value: float = 0.0,
        *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ToMemoryConfig(FastOperation):
    def __call__(self, tensor: Tensor, memory_config: MemoryConfig, dtype: DataType | None = None,
        output_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Transpose(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dim1: int, dim2: int, *, memory_config: MemoryConfig | None = None,
        pad_value: float = 0.0, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim1: int, dim2: int, pad_value: float = 0.0, *,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Tril(FastOperation):
    def __call__(self, input_tensor: Tensor, *, diagonal: int = 0, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Typecast(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, dtype: DataType, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, input_dtype: DataType, output_dtype: DataType, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _UnaryChain(FastOperation):
    def __call__(self, input_tensor: Tensor, ops_chain: Sequence[Activation], *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Unsqueeze(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _UnsqueezeTo4D(FastOperation):
    def __call__(self, tensor: Tensor, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Untilize(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _UntilizeWithUnpadding(FastOperation):
    def __call__(self, input_tensor: Tensor, output_tensor_end: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _View(FastOperation):
    def __call__(self, input_tensor: Tensor, shape: Shape | Sequence[int], *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Where(FastOperation):
    @overload
    def __call__(self, predicate: Tensor, true_value: Tensor, false_value: Tensor, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, predicate: Tensor, true_value: int | float, false_value: Tensor, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, predicate: Tensor, true_value: Tensor, false_value: int | float, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, predicate: Tensor, true_value: int | float, false_value: int | float, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _WhereBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, input_tensor_c: Tensor, *,
        memory_config: MemoryConfig | None = None, are_required_outputs: Sequence[bool] = ...,
        input_a_grad: Tensor | None = None, input_b_grad: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Gradients: ...

class _Xielu(FastOperation):
    def __call__(self, input_tensor: Tensor, *, alpha_p: float = 0.800000011920929, alpha_n: float = 0.800000011920929,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

abs: _Abs
"""Return the magnitude of every element."""
abs_bw: _AbsBw
"""Return [grad * sign(x)]."""
acos: _Acos
"""Return the arc cosine of every element."""
acos_bw: _AcosBw
"""Return [-grad / sqrt(1 - x^2)]."""
acosh: _Acos
"""Return the inverse hyperbolic cosine of every element."""
acosh_bw: _AcosBw
"""Return [grad / sqrt(x^2 - 1)]."""
add: _Add
"""Return a + b, element by element, broadcast."""
add_: _AddInPlace
"""Write a + b, into the first operand and return it; views of it see the result."""
add_bw: _AddBw
"""Return [grad, grad]."""
addalpha: _Addalpha
"""Return a + alpha * b, element by element, broadcast."""
addalpha_bw: _AddalphaBw
"""Return [grad, alpha * grad]."""
addcdiv: _Addcdiv
"""Return input_a + value * input_b / input_c. The words of uint32 tensors are read as float32, as on the chip."""
addcdiv_bw: _AddcdivBw
"""Return [grad, grad * alpha / c, -grad * alpha * b / c^2]. At c = 0: infinity and -infinity whatever the sign of grad,
NaN for grad = 0.
"""
addcmul: _Addcmul
"""Return input_a + value * input_b * input_c."""
addcmul_bw: _AddcdivBw
"""Return [grad, grad * alpha * c, grad * alpha * b]."""
addmm: _Addmm
"""Return beta * input_tensor + alpha * (mat1_tensor @ mat2_tensor), one operator after the other."""
alt_complex_rotate90: _Acos
"""Return complex numbers times i: real parts lie in even columns, imaginary parts in the odd ones next to them, so that
column 2k becomes the negative of column 2k + 1, and that column 2k. The last column of an odd width pairs with
padding, which is 0 in row-major tensors.
"""
angle: _Angle
"""Return the angle to the positive real axis, from -pi to pi."""
angle_bw: _AngleBw
"""Return [grad * (-imag + i real) / |x|^2, 0 at the origin]."""
arange: _Arange
"""Return the integers from `start` (0) up to `end`, as a tensor of rank 1."""
argmax: _Argmax
"""Return the index of the largest element as UINT32 rows. NaN outranks all, ties go to the first."""
asin: _Acos
"""Return the arc sine of every element."""
asin_bw: _AcosBw
"""Return [grad / sqrt(1 - x^2)]."""
asinh: _Acos
"""Return the inverse hyperbolic sine of every element."""
asinh_bw: _AcosBw
"""Return [grad / sqrt(x^2 + 1)]."""
assign: _Assign
"""Return a copy in another place, or write the first tensor into the second."""
assign_bw: _AssignBw
"""Return [grad, grad]. Of one operand: the gradient itself, unless a place or a tensor is given."""
atan: _Acos
"""Return the arc tangent of every element."""
atan2: _Atan2
"""Return the angle of the point with abscissa b and ordinate a, in radians, element by element, broadcast."""
atan2_bw: _Atan2Bw
"""Return [grad * b / (a^2 + b^2), -grad * a / (a^2 + b^2)]."""
atan_bw: _AcosBw
"""Return [grad / (1 + x^2)]."""
atanh: _Acos
"""Return the inverse hyperbolic tangent of every element."""
atanh_bw: _AcosBw
"""Return [grad / (1 - x^2)]."""
bias_gelu: _BiasGelu
"""Return gelu(a + b), element by element, broadcast."""
bias_gelu_: _BiasGeluInPlace
"""Write gelu(a + b), into the first operand and return it; views of it see the result."""
bias_gelu_bw: _BiasGeluBw
"""Return [grad * gelu'(a + b), the same tensor again]. Once if the bias is a number."""
bitcast: _Bitcast
"""Return the bits of every element as another data type of the same size, unchanged."""
bitwise_and: _BitwiseAnd
"""Return a and b, bit by bit, element by element, broadcast."""
bitwise_left_shift: _BitwiseAnd
"""Return a shifted left by b bits, element by element, broadcast."""
bitwise_not: _Acos
"""Return every element with all bits inverted; of floating point the bits of the datum in Dst: float32 words, or the 16
bits of a bfloat16, for the kernel reads two of those as one word. What enters or leaves Dst follows the rules of
floating point: zeros and denormals enter as +0, whose complement leaves as -infinity, and denormals leave as +0. No
vector settles this; it is how the public descriptions of Dst and of the vector unit's loads read.
"""
bitwise_or: _BitwiseAnd
"""Return a or b, bit by bit, element by element, broadcast."""
bitwise_right_shift: _BitwiseAnd
"""Return a shifted right by b bits, element by element, broadcast."""
bitwise_xor: _BitwiseAnd
"""Return a xor b, bit by bit, element by element, broadcast."""
cbrt: _Acos
"""Return the cube root of every element."""
ceil: _Acos
"""Return the next integer above of every element."""
ceil_bw: _AcosBw
"""Return [0 everywhere]."""
celu: _Celu
"""Return the continuously differentiable exponential unit of every element."""
celu_bw: _CeluBw
"""Return [grad where x > 0, grad * e^(x / alpha) elsewhere]. Of integers the result has their type, as in the official
composition: where the formula's second part is chosen, it holds the words of that float32 value, which `ttnn.where`
moves as they are. No vector settles these bits.
"""
clamp: _Clamp
"""Return every element, held to [`min`, `max`]; where `min` is larger than `max`, `max`."""
clamp_bw: _ClampBw
"""Return [grad where min <= x <= max, 0 elsewhere]."""
clamped_silu_glu: _ClampedSiluGlu
"""Return silu(min(gate, `limit`)) times `up`, which is held to [-`limit`, `limit`]."""
clip: _Clip
"""Return every element, held to [`min`, `max`]; where `min` is larger than `max`, `max`."""
clip_bw: _ClampBw
"""Return [grad where min <= x <= max, 0 elsewhere]."""
clone: _Clone
"""Return a copy, possibly in another place or data type."""
complex_tensor: _ComplexTensor
"""Return the complex tensor of two real ones, which are not copied."""
concat_bw: _ConcatBw
"""Return [the part of grad that belongs to a, the part that belongs to b]. The second one is 0 where the first operand
is all of grad.
"""
conj: _Conj
"""Return the conjugate: the imaginary part negated."""
conj_bw: _ConjBw
"""Return [the conjugate of grad]."""
copy: _Copy
"""Write the first tensor into the second and return that."""
cos: _Acos
"""Return the cosine of every element."""
cos_bw: _AcosBw
"""Return [-grad * sin(x)]."""
cosh: _Acos
"""Return the hyperbolic cosine of every element."""
cosh_bw: _AcosBw
"""Return [grad * sinh(x)]. Products from 3.4e38 on are infinite."""
deg2rad: _Acos
"""Return the radians of a number of degrees, for every element."""
deg2rad_bw: _AcosBw
"""Return [grad * pi / 180]."""
digamma: _Acos
"""Return the derivative of the logarithm of the gamma function of every element."""
digamma_bw: _AcosBw
"""Return [grad * polygamma(x, 1)]. At x = 0: infinity with the sign of grad, NaN for grad = 0."""
div: _Div
"""Return a / b, element by element, broadcast."""
divide: _Div
"""Return a / b, element by element, broadcast."""
div_bw: _DivBw
"""Return [grad / b, -grad * a / b^2]. 0 with a rounding mode. By the number 0: infinity with the sign of grad, NaN for
grad = 0.
"""
div_no_nan: _DivNoNan
"""Return a / b, 0 where b is 0, element by element, broadcast."""
div_no_nan_bw: _DivNoNanBw
"""Return [grad / scalar, 0 where the scalar is 0]."""
divide_: _DivideInPlace
"""Write a / b, into the first operand and return it; views of it see the result."""
div_: _DivideInPlace
"""Write a / b, into the first operand and return it; views of it see the result."""
elu: _Celu
"""Return the exponential linear unit of every element."""
elu_bw: _CeluBw
"""Return [grad where x > 0, grad * alpha e^x elsewhere]."""
embedding_bw: _EmbeddingBw
"""Return, for every row of the table, the sum of the gradients of its uses. A tensor [1, 1, rows, width], not a list.
Sums are cut to bfloat16 after every addition, in the order of the indices.
"""
empty: _Empty
"""Return a device tensor whose values are not set."""
empty_like: _EmptyLike
"""Return a device tensor with the properties of another one whose values are not set."""
eq: _Eq
"""Return whether a == b, 1 or 0, element by element, broadcast."""
eq_: _BiasGeluInPlace
"""Write whether a == b, 1 or 0, into the first operand and return it; views of it see the result."""
eq_bw: _EqBw
"""Return [0, 0]. Of older releases of the official package."""
eqz: _Acos
"""Return whether it is 0 of every element."""
erf: _Erf
"""Return the error function of every element."""
erf_bw: _AcosBw
"""Return [grad * 2 / sqrt(pi) * e^(-x^2)]. Of int32 and uint32 a float32 tensor, as the official composition gives it:
the fused functions run on the words of x, those without a kernel for integers reading them as float32, so that it is
no gradient. No vector settles these bits.
"""
erfc: _Acos
"""Return 1 minus the error function of every element."""
erfc_bw: _AcosBw
"""Return [-grad * 2 / sqrt(pi) * e^(-x^2)]."""
erfinv: _Acos
"""Return the inverse of the error function of every element."""
erfinv_bw: _AcosBw
"""Return [grad * sqrt(pi) / 2 * e^(erfinv(x)^2)]. NaN for |x| > 1. Of int32 and uint32 a float32 tensor, as the
official composition gives it: the fused functions run on the words of x, those without a kernel for integers reading
them as float32, so that it is no gradient. No vector settles these bits.
"""
exp: _Erf
"""Return e to the power of every element."""
exp2: _Acos
"""Return 2 to the power of every element."""
exp2_bw: _AcosBw
"""Return [grad * 2^x * ln 2]."""
exp_bw: _ExpBw
"""Return [grad * e^x]."""
expm1: _Acos
"""Return e to the power, less 1, of every element."""
expm1_bw: _AcosBw
"""Return [grad * e^x]."""
fill: _Fill
"""Return a tensor like the input that holds one value everywhere."""
fill_bw: _ExpBw
"""Return [0 everywhere]."""
fill_zero_bw: _AcosBw
"""Return [0 everywhere]."""
floor: _Acos
"""Return the next integer below of every element."""
floor_bw: _AcosBw
"""Return [0 everywhere]."""
floor_div: _DivNoNan
"""Return a / b rounded down, element by element, broadcast."""
fmod: _Fmod
"""Return what a / b rounded toward 0 leaves of a, with the sign of a, element by element, broadcast."""
fmod_bw: _FmodBw
"""Return [grad, -grad * trunc(a / b)]."""
frac: _Acos
"""Return the fraction of every element."""
frac_bw: _AcosBw
"""Return [grad]. The tensor itself, unless a place is given."""
full: _Full
"""Return a tensor that holds one value everywhere."""
full_like: _FullLike
"""Return a tensor with the properties of another one that holds one value everywhere."""
gcd: _Gcd
"""Return the greatest common divisor, element by element, broadcast."""
ge: _Eq
"""Return whether a >= b, 1 or 0, element by element, broadcast."""
ge_: _BiasGeluInPlace
"""Write whether a >= b, 1 or 0, into the first operand and return it; views of it see the result."""
ge_bw: _EqBw
"""Return [0, 0]. Of older releases of the official package."""
geglu: _Geglu
"""Return the first half of the padded last dimension times the gelu of the second."""
gelu: _Gelu
"""Return every element times the normal distribution function of it."""
gelu_bw: _GeluBw
"""Return [grad * (cdf(x) + x pdf(x)) of the normal distribution]."""
gez: _Acos
"""Return whether it is 0 or above of every element."""
glu: _Glu
"""Return the first half of the padded last dimension times the sigmoid of the second."""
gt: _Eq
"""Return whether a > b, 1 or 0, element by element, broadcast."""
gt_: _BiasGeluInPlace
"""Write whether a > b, 1 or 0, into the first operand and return it; views of it see the result."""
gt_bw: _EqBw
"""Return [0, 0]. Of older releases of the official package."""
gtz: _Acos
"""Return whether it is above 0 of every element."""
hardmish: _Acos
"""Return the piecewise form of mish of every element."""
hardshrink: _Hardshrink
"""Return every element, or 0 where it is within `lambd` of 0."""
hardshrink_bw: _HardshrinkBw
"""Return [grad where |x| > lambd, 0 elsewhere]."""
hardsigmoid: _Acos
"""Return x / 6 + 1 / 2, held to [0, 1], of every element."""
hardsigmoid_bw: _AcosBw
"""Return [grad / 6 where -3 < x < 3, 0 elsewhere]."""
hardswish: _Acos
"""Return every element times the element / 6 + 1 / 2, the factor held to [0, 1]."""
hardswish_bw: _AcosBw
"""Return [0 below -3, grad * (x / 3 + 1/2) up to 3, grad above]. The slope is the official constant 0.3333; -3 and 3
count as between, unlike in PyTorch.
"""
hardtanh: _Hardtanh
"""Return every element, held to [`min_val`, `max_val`]."""
hardtanh_bw: _HardtanhBw
"""Return [grad where min < x < max, 0 elsewhere]."""
heaviside: _Heaviside
"""Return 0 for negative elements, 1 for positive ones, and `value` for 0."""
hypot: _Atan2
"""Return the root of a squared plus b squared, element by element, broadcast."""
hypot_bw: _Atan2Bw
"""Return [grad * a / hypot(a, b), grad * b / hypot(a, b)]."""
i0: _Acos
"""Return the modified Bessel function of order 0 of every element."""
i0_bw: _AcosBw
"""Return [grad * i1(x)]."""
i1: _Acos
"""Return the modified Bessel function of order 1 of every element."""
identity: _Acos
"""Return a copy that has passed through Dst."""
imag: _Angle
"""Return the imaginary part: the tensor itself, unless a place is given."""
imag_bw: _AngleBw
"""Return [0 + i grad]."""
interleaved_to_sharded: _InterleavedToSharded
"""Return an interleaved tensor in shards in the L1 of a grid of cores."""
is_imag: _Angle
"""Return where the real part is 0, 1 or 0."""
is_real: _Angle
"""Return where the imaginary part is 0, 1 or 0."""
isclose: _Isclose
"""Return whether |a - b| is at most atol + rtol * |b|, 1 or 0, in float32 for int32 operands, element by element,
broadcast.
"""
isfinite: _Acos
"""Return whether it is finite of every element."""
isinf: _Acos
"""Return whether it is infinite of every element."""
isnan: _Acos
"""Return whether it is NaN of every element."""
isneginf: _Acos
"""Return whether it is -infinity of every element."""
isposinf: _Acos
"""Return whether it is +infinity of every element."""
l1_loss: _L1Loss
"""Return the magnitudes of the differences, element by element or reduced."""
lcm: _Gcd
"""Return the least common multiple, element by element, broadcast."""
ldexp: _Eq
"""Return a times 2 to the power b, element by element, broadcast."""
ldexp_: _BiasGeluInPlace
"""Write a times 2 to the power b, into the first operand and return it; views of it see the result."""
ldexp_bw: _Atan2Bw
"""Return [grad * 2^b, grad * a 2^b ln 2]."""
le: _Eq
"""Return whether a <= b, 1 or 0, element by element, broadcast."""
le_: _BiasGeluInPlace
"""Write whether a <= b, 1 or 0, into the first operand and return it; views of it see the result."""
le_bw: _EqBw
"""Return [0, 0]. Of older releases of the official package."""
leaky_relu: _LeakyRelu
"""Return every element, times `negative_slope` where it is negative."""
leaky_relu_bw: _LeakyReluBw
"""Return [grad where x > 0, negative_slope * grad elsewhere]. Of integers the result has their type, as in the official
composition: where the formula's second part is chosen, it holds the words of that float32 value, which `ttnn.where`
moves as they are. No vector settles these bits.
"""
lerp: _Lerp
"""Return input + weight * (end - input), rounded once after the difference; integers by three operators."""
lerp_bw: _LerpBw
"""Return [grad * (1 - weight), grad * weight, grad * (b - a)]. The third one only if the weight is a tensor."""
lez: _Acos
"""Return whether it is 0 or below of every element."""
lgamma: _Acos
"""Return the logarithm of |gamma| of every element."""
lgamma_bw: _AcosBw
"""Return [grad * digamma(x)]."""
linear: _Linear
"""Return the matrix product of two tensors plus a bias, with an activation."""
log: _Erf
"""Return the natural logarithm of every element."""
log10: _Erf
"""Return the decimal logarithm of every element."""
log10_bw: _AcosBw
"""Return [grad / (x ln 10)]."""
log1p: _Erf
"""Return the natural logarithm of 1 plus the value of every element."""
log1p_bw: _AcosBw
"""Return [grad / (x + 1)]."""
log2: _Erf
"""Return the binary logarithm of every element."""
log2_bw: _AcosBw
"""Return [grad / (x ln 2)]."""
log_bw: _AcosBw
"""Return [grad / x]. At x = 0: infinity with the sign of grad, NaN for grad = 0."""
log_sigmoid: _Acos
"""Return -ln(1 + e^-x) of every element: of the approximate exponential above 4, a polynomial, and x below -4."""
log_sigmoid_bw: _AcosBw
"""Return [grad / (1 + e^x)]."""
logaddexp: _Eq
"""Return ln(e^a + e^b), element by element, broadcast."""
logaddexp2: _Eq
"""Return log2(2^a + 2^b), element by element, broadcast."""
logaddexp2_: _BiasGeluInPlace
"""Write log2(2^a + 2^b), into the first operand and return it; views of it see the result."""
logaddexp2_bw: _Atan2Bw
"""Return [grad / (1 + 2^(b - a)), grad / (1 + 2^(a - b))]."""
logaddexp_: _BiasGeluInPlace
"""Write ln(e^a + e^b), into the first operand and return it; views of it see the result."""
logaddexp_bw: _Atan2Bw
"""Return [grad / (1 + e^(b - a)), grad / (1 + e^(a - b))]."""
logical_and: _Eq
"""Return logical and, 1 or 0, element by element, broadcast."""
logical_and_: _BiasGeluInPlace
"""Write logical and, 1 or 0, into the first operand and return it; views of it see the result."""
logical_left_shift: _BitwiseAnd
"""Return a shifted left by b bits, element by element, broadcast."""
logical_not: _Acos
"""Return whether it is 0 of every element."""
logical_not_: _LogicalNotInPlace
"""Write whether every element is 0 into the tensor and return it; views of it see the result."""
logical_or: _Eq
"""Return logical or, 1 or 0, element by element, broadcast."""
logical_or_: _BiasGeluInPlace
"""Write logical or, 1 or 0, into the first operand and return it; views of it see the result."""
logical_right_shift: _Eq
"""Return a shifted right by b bits, filled with zeros, element by element, broadcast."""
logical_xor: _Eq
"""Return logical xor, 1 or 0, element by element, broadcast."""
logical_xor_: _BiasGeluInPlace
"""Write logical xor, 1 or 0, into the first operand and return it; views of it see the result."""
logit: _Logit
"""Return ln(x / (1 - x)) of every element."""
logit_bw: _AcosBw
"""Return [grad / (x (1 - x))]. NaN outside of [0, 1]."""
logiteps_bw: _LogitepsBw
"""Return [grad / (x (1 - x)) inside of [eps, 1 - eps], 0 outside]."""
lt: _Eq
"""Return whether a < b, 1 or 0, element by element, broadcast."""
lt_: _BiasGeluInPlace
"""Write whether a < b, 1 or 0, into the first operand and return it; views of it see the result."""
lt_bw: _EqBw
"""Return [0, 0]. Of older releases of the official package."""
ltz: _Acos
"""Return whether it is below 0 of every element."""
mac: _Mac
"""Return input_tensor_a * input_tensor_b + input_tensor_c, rounded once; twice if one of them is a number."""
matmul: _Matmul
"""Return the matrix product of two tensors."""
max: _Max
"""Return the largest value along the given dimensions. bfloat8_b loses values that share their group of 16 with tile
padding, as on the chip: use sizes that are multiples of 16.
"""
max_bw: _Atan2Bw
"""Return [grad where a > b, grad where b > a; half of it where a = b]. Of int32 the result is int32. Its half is
computed in float32 and converted back, as `typecast` does: an assumption, for the official sum of the two data types
has no vector.
"""
maximum: _Maximum
"""Return the larger of a and b, element by element, broadcast."""
mean: _Mean
"""Return the mean over the given dimensions. For bfloat16 and bfloat8_b, 1/N is truncated to bfloat16."""
min: _Max
"""Return the smallest value along the given dimensions. bfloat8_b loses values that share their group of 16 with tile
padding, as on the chip: use sizes that are multiples of 16.
"""
min_bw: _Atan2Bw
"""Return [grad where a < b, grad where b < a; half of it where a = b]. Of int32 the result is int32. Its half is
computed in float32 and converted back, as `typecast` does: an assumption, for the official sum of the two data types
has no vector.
"""
minimum: _Maximum
"""Return the smaller of a and b, element by element, broadcast."""
mish: _Erf
"""Return x times tanh(softplus(x)) of every element."""
move: _LogicalNotInPlace
"""Return a copy and deallocate the input."""
mse_loss: _L1Loss
"""Return the squares of the differences, element by element or reduced."""
mul_bw: _MulBw
"""Return [grad * b, grad * a]."""
multigammaln: _LogicalNotInPlace
"""Return the logarithm of the multivariate gamma function of order 4 of every element."""
multigammaln_bw: _AcosBw
"""Return [grad * sum of digamma(x - i / 2) for i = 0 to 3]."""
multiply: _Multiply
"""Return a * b, element by element, broadcast."""
mul: _Multiply
"""Return a * b, element by element, broadcast."""
multiply_: _DivideInPlace
"""Write a * b, into the first operand and return it; views of it see the result."""
mul_: _DivideInPlace
"""Write a * b, into the first operand and return it; views of it see the result."""
ne: _Eq
"""Return whether a != b, 1 or 0, element by element, broadcast."""
ne_: _BiasGeluInPlace
"""Write whether a != b, 1 or 0, into the first operand and return it; views of it see the result."""
ne_bw: _EqBw
"""Return [0, 0]. Of older releases of the official package."""
neg: _Acos
"""Return the negative of every element."""
neg_bw: _ExpBw
"""Return [-grad]."""
nextafter: _Atan2
"""Return the next value of the data type after a in the direction of b, element by element, broadcast."""
nez: _Acos
"""Return whether it is not 0 of every element."""
normalize_hw: _LogicalNotInPlace
"""Return (x - mean) / sqrt(variance) of a tensor [N, C, H, W], each of its matrices [H, W] by itself."""
ones: _Ones
"""Return a tensor of ones."""
ones_like: _OnesLike
"""Return a tensor of ones with the properties of another one."""
outer: _Atan2
"""Return [..., N, M], the products of the elements of two last dimensions."""
pad: _Pad
"""Return the tensor with elements of one value added around it. Tiled tensors grow at their ends only."""
permute: _Permute
"""Return the tensor with its dimensions in the order `dims`."""
polar: _Conj
"""Return magnitude times (cos angle + i sin angle); magnitude and angle are the parts of the input."""
polar_bw: _ConjBw
"""Return [Re(conj(grad) * direction) + i Re(conj(grad) * i * polar(x))]."""
polygamma: _Polygamma
"""Return the k-th derivative of digamma of every element, which is positive."""
polygamma_bw: _PolygammaBw
"""Return [grad * polygamma(x, n + 1)]."""
polyval: _Polyval
"""Return the polynomial of every element, by Horner's scheme."""
pow: _Pow
"""Return the first operand to the power of the second, element by element, broadcast."""
pow_bw: _PowBw
"""Return [grad * exponent * x^(exponent - 1)]. Infinite for x <= 0, as on the chip."""
prelu: _Prelu
"""Return every element, times the weight of its channel, dimension 1, where it is negative."""
prod: _Prod
"""Return the product of all elements, or along one dimension, in TILE_LAYOUT; 1 where there is nothing to multiply.
Products are cut or rounded to bfloat16 one after the other; along a dimension those of float32, too. The elements of
the last tile are multiplied on the host, each product rounded to nearest: in bfloat16, in FP32 for the other types
(that of block floats is an assumption).
"""
prod_bw: _ProdBw
"""Return [grad * prod(x) / x]. In TILE_LAYOUT. Of all dimensions the first element of grad counts. As the official
composition divides by x, the gradient of a 0 is not finite.
"""
rad2deg: _Acos
"""Return the degrees of a number of radians, for every element."""
rad2deg_bw: _AcosBw
"""Return [grad * 180 / pi]."""
rdiv: _Rdiv
"""Return `value` over every element, rounded down or toward 0 if asked for."""
rdiv_bw: _RdivBw
"""Return [-grad * scalar / x^2]. 0 with a rounding mode."""
real: _Angle
"""Return the real part: the tensor itself, unless a place is given."""
real_bw: _AngleBw
"""Return [grad + 0i]."""
reciprocal: _Reciprocal
"""Return 1 over the value of every element."""
reciprocal_bw: _ReciprocalBw
"""Return [-grad / x^2]. Of int32 and uint32 a float32 tensor, as the official composition gives it: the fused functions
run on the words of x, those without a kernel for integers reading them as float32, so that it is no gradient. No
vector settles these bits.
"""
reglu: _Glu
"""Return the first half of the padded last dimension times the relu of the second."""
relu: _Acos
"""Return every element where it is positive and 0 elsewhere."""
relu6: _Acos
"""Return every element, held to [0, 6]."""
relu6_bw: _AcosBw
"""Return [grad where 0 < x < 6, 0 elsewhere]."""
relu_bw: _AcosBw
"""Return [grad where x > 0, 0 elsewhere]."""
relu_max: _ReluMax
"""Return every element, held to [0, `upper_limit`]."""
relu_min: _ReluMin
"""Return every element, or `lower_limit` if that is larger."""
remainder: _Eq
"""Return a modulo b, with the sign of b, element by element, broadcast."""
remainder_bw: _FmodBw
"""Return [grad, -grad * floor(a / b)]."""
repeat_bw: _RepeatBw
"""Return [grad summed over the repetitions]. Summed as ttnn.sum does over a leading dimension."""
reshape: _Reshape
"""Return the elements in their order with another shape: a view of the same pages where they allow it."""
reshard: _Reshard
"""Return a sharded tensor in other shards."""
round: _Round
"""Return every element rounded to `decimals` decimals, halves to even."""
round_bw: _AcosBw
"""Return [0 everywhere]."""
rpow: _Rpow
"""Return `exponent`, the base, to the power of every element."""
rpow_bw: _RpowBw
"""Return [grad * exponent * x^(exponent - 1)]. NaN for x < 0. It is the gradient of x^exponent, which the official
operator of this name returns.
"""
rsqrt: _Erf
"""Return 1 over the root of every element."""
rsqrt_bw: _ExpBw
"""Return [-grad / 2 * x^(-3/2)]. NaN for x < 0."""
rsub: _Rsub
"""Return b - a, element by element, broadcast."""
rsub_: _RsubInPlace
"""Write b - a, into the first operand and return it; views of it see the result."""
rsub_bw: _RsubBw
"""Return [-grad, grad]."""
selu: _Selu
"""Return the scaled exponential linear unit of every element."""
selu_bw: _AcosBw
"""Return [scale * grad where x > 0, scale * alpha * grad * e^x elsewhere]. With the official constants 1.0507 and
1.67326.
"""
sharded_to_interleaved: _ShardedToInterleaved
"""Return a sharded tensor interleaved; an interleaved one as it is."""
sigmoid: _Sigmoid
"""Return 1 / (1 + e^-x) of every element."""
sigmoid_accurate: _SigmoidAccurate
"""Return 1 / (1 + e^-x) of every element."""
sigmoid_bw: _SigmoidBw
"""Return [grad * s (1 - s), s = sigmoid(x)]."""
sign: _Acos
"""Return the sign, -1, 0 or 1, of every element."""
sign_bw: _AcosBw
"""Return [0 everywhere]."""
signbit: _Acos
"""Return whether its sign bit is set of every element."""
silu: _Acos
"""Return x times sigmoid(x) of every element."""
silu_bw: _ExpBw
"""Return [grad * s (1 + x (1 - s)), s = sigmoid(x)]."""
sin: _Acos
"""Return the sine of every element."""
sin_bw: _AcosBw
"""Return [grad * cos(x)]."""
sinh: _Acos
"""Return the hyperbolic sine of every element."""
sinh_bw: _AcosBw
"""Return [grad * cosh(x)]. Products from 3.4e38 on are infinite."""
situ_glu: _SituGlu
"""Return softcap(gate, `beta1`) times sigmoid(gate) times softcap(up, `beta2`), each rounded. On Blackhole only. The
bits follow the steps of the official operator; no vector settles those of `ttnn.softcap`.
"""
slice: _Slice
"""Return the elements from the start indices up to the end indices, with steps."""
softcap: _Softcap
"""Return every element, bent towards a bound: `beta` tanh(x / `beta`), rounded once. On Blackhole only. The bits follow
the sources of the official function; no vector settles them.
"""
softmax: _Softmax
"""Return exp(x) / sum(exp(x)) along the last dimension, in TILE_LAYOUT."""
softplus: _Softplus
"""Return ln(1 + e^x) of every element."""
softplus_bw: _SoftplusBw
"""Return [grad / (1 + e^(-beta x)), grad where beta x > threshold]. Of integers the result has their type, as in the
official composition: where the formula's second part is chosen, it holds the words of that float32 value, which
`ttnn.where` moves as they are. No vector settles these bits.
"""
softshrink: _Hardshrink
"""Return every element, moved toward 0 by `lambd`."""
softshrink_bw: _HardshrinkBw
"""Return [grad where |x| > lambd, 0 elsewhere]."""
softsign: _Acos
"""Return x / (1 + |x|) of every element."""
softsign_bw: _AcosBw
"""Return [grad / (1 + |x|)^2]."""
split: _Split
"""Return the pieces [..., `split_size`, ...] of a tensor [..., D, ...] along `dim`, as a list."""
sqrt: _Erf
"""Return the square root of every element."""
sqrt_bw: _ExpBw
"""Return [grad / (2 sqrt(x))]. NaN for x < 0."""
square: _Acos
"""Return the square of every element; integers wrap."""
square_bw: _AcosBw
"""Return [2 grad * x]."""
squared_difference: _Eq
"""Return (a - b) squared, element by element, broadcast."""
squared_difference_: _BiasGeluInPlace
"""Write (a - b) squared, into the first operand and return it; views of it see the result."""
squared_difference_bw: _Atan2Bw
"""Return [2 grad * (a - b), -2 grad * (a - b)]."""
squeeze: _Squeeze
"""Return the tensor without its dimensions of size 1, or without those that `dim` names and that have size 1."""
sub_bw: _AddBw
"""Return [grad, -grad]."""
subalpha: _Addalpha
"""Return a - alpha * b, element by element, broadcast."""
subalpha_bw: _SubalphaBw
"""Return [grad, -alpha * grad]."""
subtract: _Add
"""Return a - b, element by element, broadcast."""
sub: _Add
"""Return a - b, element by element, broadcast."""
subtract_: _AddInPlace
"""Write a - b, into the first operand and return it; views of it see the result."""
sub_: _AddInPlace
"""Write a - b, into the first operand and return it; views of it see the result."""
sum: _Mean
"""Return the sum over the given dimensions. Sums of int32 and uint32 wrap modulo 2^32 (our reading)."""
swiglu: _Glu
"""Return the first half of the padded last dimension times the silu of the second."""
swish: _Acos
"""Return x times sigmoid(x) of every element."""
tan: _Acos
"""Return the tangent of every element."""
tan_bw: _AcosBw
"""Return [grad * (1 + tan(x)^2)]."""
tanh: _Tanh
"""Return the hyperbolic tangent of every element."""
tanh_bw: _TanhBw
"""Return [grad * (1 - tanh(x)^2)]."""
tanhshrink: _Acos
"""Return x - tanh(x) of every element."""
tanhshrink_bw: _AcosBw
"""Return [grad * tanh(x)^2]."""
threshold: _Threshold
"""Return every element above `threshold`, and `value` for the others."""
threshold_bw: _ThresholdBw
"""Return [grad where x > min, 0 elsewhere]."""
tilize: _Tilize
"""Return a row-major tensor of whole tiles in TILE_LAYOUT."""
tilize_with_val_padding: _TilizeWithValPadding
"""Return a row-major tensor in TILE_LAYOUT, padded with a value up to whole tiles."""
tilize_with_zero_padding: _TilizeWithZeroPadding
"""Return a row-major tensor in TILE_LAYOUT, padded with zeros up to whole tiles."""
to_layout: _ToLayout
"""Return the tensor in the given layout; the tensor itself if it has it. Block floats become bfloat16 rows."""
to_memory_config: _ToMemoryConfig
"""Return the tensor in another place; the tensor itself if it is already there."""
transpose: _Transpose
"""Return the tensor with two dimensions exchanged."""
tril: _Tril
"""Return the lower triangle of every matrix, 0 elsewhere."""
triu: _Tril
"""Return the upper triangle of every matrix, 0 elsewhere."""
trunc: _Acos
"""Return the integer part of every element."""
trunc_bw: _AcosBw
"""Return [0 everywhere]."""
typecast: _Typecast
"""Return the tensor in another data type, on the side where it lives."""
unary_chain: _UnaryChain
"""Return every element with several functions applied in one visit to Dst."""
unsqueeze: _Unsqueeze
"""Return the tensor with a new dimension of size 1."""
unsqueeze_to_4D: _UnsqueezeTo4D
"""Return the tensor with leading dimensions of size 1 up to rank 4."""
untilize: _Untilize
"""Return a tiled tensor in ROW_MAJOR_LAYOUT without its padding. Block floats become bfloat16."""
untilize_with_unpadding: _UntilizeWithUnpadding
"""Return the leading part of a tiled tensor in ROW_MAJOR_LAYOUT."""
view: _View
"""Return a tensor of another shape over the same pages."""
where: _Where
"""Return the second operand where the first is not 0, else the third. In float32 -0 and subnormals are not 0. The
result has the data type of the first value that is a tensor. Where float32 and integers meet as values, words are
moved as they are, not converted: the kernel selects 32-bit words (how its sources read; no vector settles it). Row-
major tensors are taken unless both values are tensors.
"""
where_bw: _WhereBw
"""Return [grad where the condition is not 0, grad where it is 0; 0 elsewhere]. The condition, input_tensor_a, has no
gradient.
"""
xielu: _Xielu
"""Return the expanded integral of the exponential linear unit of every element."""
xlogy: _Eq
"""Return a times the logarithm of b, element by element, broadcast."""
xlogy_bw: _Atan2Bw
"""Return [grad * ln b, grad * a / b]."""
zeros: _Ones
"""Return a tensor of zeros."""
zeros_like: _OnesLike
"""Return a tensor of zeros with the properties of another one."""
