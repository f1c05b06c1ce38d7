"""Operators with their arguments and types. Written by `cargo xtask stubs` from the registry."""
# ruff: noqa: N803, N816
# fmt: off

from collections.abc import Sequence
from typing import overload

from ttnn.base.activation import Activation, UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.conv_config import Conv2dConfig, Op2DSliceConfig
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreRangeSet
from ttnn.base.enums import DataType, Layout, ShardOrientation, TensorMemoryLayout
from ttnn.base.memory_config import MemoryConfig
from ttnn.base.op_enums import (
    BcastOpDim,
    BcastOpMath,
    EmbeddingsType,
    GeluVariant,
    LossReductionMode,
    MorehSoftmaxBackwardOp,
    MorehSoftmaxBackwardOpParallelizationStrategy,
    MorehSoftmaxOp,
    MorehSoftmaxOpParallelizationStrategy,
    SigmoidMode,
    UnaryOpType,
)
from ttnn.base.program_config import (
    LayerNormDefaultProgramConfig,
    LayerNormShardedMultiCoreProgramConfig,
    SoftmaxDefaultProgramConfig,
    SoftmaxShardedMultiCoreProgramConfig,
)
from ttnn.base.shape import Shape
from ttnn.base.system_enums import TileReshapeMapMode, Topology
from ttnn.base.tile import Tile
from ttnn.device.coordinates import MeshCoordinate, SubDeviceId
from ttnn.device.mesh_device import MeshDevice
from ttnn.operation.registry import FastOperation
from ttnn.ops.backward.family import Gradients
from ttnn.ops.eltwise.complex.tensor import ComplexTensor
from ttnn.ops.matmul.configs import AnyProgramConfig
from ttnn.tensor.distribution import MeshMapperConfig
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

class _AdaptiveAvgPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int,
        output_size: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None,
        dram_slice_config: Op2DSliceConfig | None = None, applied_shard_scheme: TensorMemoryLayout | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, deallocate_input: bool = False,
        reallocate_output: bool = True, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _AdaptiveMaxPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int,
        output_size: Shape | Sequence[int], *, memory_config: MemoryConfig | None = None,
        dram_slice_config: Op2DSliceConfig | None = None, applied_shard_scheme: TensorMemoryLayout | None = None,
        deallocate_input: bool = False, reallocate_output: bool = True, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

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

class _AvgPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int], padding: Shape | Sequence[int],
        ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *,
        memory_config: MemoryConfig | None = None, dram_slice_config: Op2DSliceConfig | None = None,
        applied_shard_scheme: TensorMemoryLayout | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, deallocate_input: bool = False,
        reallocate_halo_output: bool = True, dtype: DataType = ..., output_layout: Layout = ...,
        config_tensor_in_dram: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _BatchNorm(FastOperation):
    def __call__(self, input: Tensor, *, running_mean: Tensor | None = None, running_var: Tensor | None = None,
        training: bool = False, eps: float = 1e-05, momentum: float = 0.1, weight: Tensor | None = None,
        bias: Tensor | None = None, output: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Bcast(FastOperation):
    def __call__(self, input_a: Tensor, input_b: Tensor, math_op: BcastOpMath, dim: BcastOpDim, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Bernoulli(FastOperation):
    def __call__(self, input: Tensor, seed: int = 0, *, output: Tensor | None = None, dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Chunk(FastOperation):
    def __call__(self, input_tensor: Tensor, chunks: int, dim: int, *, queue_id: int | None = None,
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

class _CompositeExample(FastOperation):
    def __call__(self, input_tensor: Tensor, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _CompositeExampleMultipleReturn(FastOperation):
    def __call__(self, input_tensor: Tensor, return_output1: bool = True, return_output2: bool = True, *,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor | None]: ...

class _Concat(FastOperation):
    def __call__(self, tensors: Sequence[Tensor], dim: int = 0, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, groups: int = 1, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Conv1D(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, device: MeshDevice | None = None,
        in_channels: int, out_channels: int, batch_size: int, input_length: int, kernel_size: int, stride: int = 1,
        padding: int | Sequence[int] = 0, dilation: int = 1, groups: int = 1, dtype: DataType | None = None,
        bias_tensor: Tensor | None = None, conv_config: Conv2dConfig | None = None,
        compute_config: WormholeComputeKernelConfig | None = None, memory_config: MemoryConfig | None = None,
        slice_config: Op2DSliceConfig | None = None, return_output_dim: bool = False,
        return_weights_and_bias: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor | tuple[object, ...]: ...

class _Conv2D(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, device: MeshDevice | None = None,
        in_channels: int, out_channels: int, batch_size: int, input_height: int, input_width: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int] = ..., padding: Shape | Sequence[int] = ...,
        dilation: Shape | Sequence[int] = ..., groups: int = 1, dtype: DataType | None = None,
        bias_tensor: Tensor | None = None, conv_config: Conv2dConfig | None = None,
        compute_config: WormholeComputeKernelConfig | None = None, memory_config: MemoryConfig | None = None,
        slice_config: Op2DSliceConfig | None = None, return_output_dim: bool = False,
        return_weights_and_bias: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor | tuple[object, ...]: ...

class _ConvTranspose2D(FastOperation):
    def __call__(self, input_tensor: Tensor, weight_tensor: Tensor, *, device: MeshDevice | None = None,
        in_channels: int, out_channels: int, batch_size: int, input_height: int, input_width: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int] = ..., padding: Shape | Sequence[int] = ...,
        output_padding: Shape | Sequence[int] = ..., dilation: Shape | Sequence[int] = ..., groups: int = 1,
        dtype: DataType | None = None, bias_tensor: Tensor | None = None, conv_config: Conv2dConfig | None = None,
        compute_config: WormholeComputeKernelConfig | None = None, memory_config: MemoryConfig | None = None,
        dram_slice_config: Op2DSliceConfig | None = None, mirror_kernel: bool = True, return_output_dim: bool = False,
        return_weights_and_bias: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor | tuple[object, ...]: ...

class _Copy(FastOperation):
    def __call__(self, input_a: Tensor, input_b: Tensor, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Cumprod(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, dtype: DataType | None = None, reverse_order: bool = False,
        out: Tensor | None = None, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Cumsum(FastOperation):
    def __call__(self, input: Tensor, dim: int, *, dtype: DataType | None = None, reverse_order: bool = False,
        out: Tensor | None = None, memory_config: MemoryConfig | None = None, disable_compensated_sum: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Dequantize(FastOperation):
    def __call__(self, input_tensor: Tensor, scale: Tensor | float, zero_point: Tensor | int, *,
        axis: int | None = None, dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Ema(FastOperation):
    def __call__(self, input_tensor: Tensor, alpha: float, *, out: Tensor | None = None,
        core_grid: CoreGrid | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Embedding(FastOperation):
    def __call__(self, input_tensor: Tensor, weight: Tensor, *, padding_idx: int | None = None,
        layout: Layout | None = None, embeddings_type: EmbeddingsType = ..., dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

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

class _Expand(FastOperation):
    def __call__(self, input_tensor: Tensor, output_shape: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _PaddedSlice(FastOperation):
    def __call__(self, input_tensor: Tensor, padded_slice_start: Shape | Sequence[int],
        padded_slice_end: Shape | Sequence[int], padded_slice_step: Shape | Sequence[int] | None = None, *,
        memory_config: MemoryConfig, output_tensor: Tensor | None = None, pad_value: float | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Fill(FastOperation):
    def __call__(self, input_tensor: Tensor, fill_value: int | float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _FillCache(FastOperation):
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, batch_idx: int, *, update_idx: int = 0,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FillImplicitTilePadding(FastOperation):
    def __call__(self, input_tensor: Tensor, fill_value: int | float, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FillOnesRm(FastOperation):
    def __call__(self, N: int, C: int, H: int, W: int, hOnes: int, wOnes: int, any: Tensor, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FillRm(FastOperation):
    def __call__(self, N: int, C: int, H: int, W: int, hOnes: int, wOnes: int, any: Tensor, val_hi: int | float,
        val_lo: int | float, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
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

class _Fold(FastOperation):
    def __call__(self, input: Tensor, stride_h: int, stride_w: int, use_transpose_as_fold: bool = False,
        output_shape: Shape | Sequence[int] | None = None, padding: Shape | Sequence[int] = ...,
        grid_size: CoreRangeSet | None = None, override_memory_config: MemoryConfig | None = None,
        collapse_output: bool = False, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FromBuffer(FastOperation):
    def __call__(self, buffer: Sequence[float], shape: Shape | Sequence[int], dtype: DataType, device: MeshDevice,
        layout: Layout | None = None, memory_config: MemoryConfig | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Full(FastOperation):
    def __call__(self, shape: Shape | Sequence[int], fill_value: int | float, dtype: DataType | None = None,
        layout: Layout | None = None, device: MeshDevice | None = None, memory_config: MemoryConfig | None = None,
        optional_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _FullLike(FastOperation):
    def __call__(self, tensor: Tensor, fill_value: int | float, dtype: DataType | None = None,
        layout: Layout | None = None, device: MeshDevice | None = None, memory_config: MemoryConfig | None = None,
        optional_tensor: Tensor | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Gather(FastOperation):
    def __call__(self, input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False,
        memory_config: MemoryConfig | None = None, out: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

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

class _GlobalAvgPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Glu(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _GridSample(FastOperation):
    def __call__(self, input_tensor: Tensor, grid: Tensor, *, mode: str = 'bilinear', padding_mode: str = 'zeros',
        align_corners: bool = False, use_precomputed_grid: bool = False, batch_output_channels: bool = False,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _GroupNorm(FastOperation):
    def __call__(self, input_tensor: Tensor, *, num_groups: int, epsilon: float = 1e-12,
        input_mask: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None,
        memory_config: MemoryConfig | None = None, dtype: DataType | None = None, core_grid: CoreGrid | None = None,
        inplace: bool = True, output_layout: Layout | None = None, num_out_blocks: int | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, negative_mask: Tensor | None = None,
        use_welford: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _IndexFill(FastOperation):
    def __call__(self, input: Tensor, dim: int, index: Tensor, value: int | float, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _IndexedFill(FastOperation):
    def __call__(self, batch_id: Tensor, input_tensor_a: Tensor, input_tensor_b: Tensor, *,
        memory_config: MemoryConfig | None = None, dim: int = 0, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _InterleavedToSharded(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, grid: CoreCoord | tuple[int, int] | CoreRangeSet,
        shard_shape: Shape | Sequence[int], shard_scheme: TensorMemoryLayout, shard_orientation: ShardOrientation,
        output_dtype: DataType | None = None, *, keep_l1_aligned: bool | None = False, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, sharded_memory_config: MemoryConfig, output_dtype: DataType | None = None,
        *, keep_l1_aligned: bool | None = False, preallocated_output: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _InterleavedToShardedPartial(FastOperation):
    def __call__(self, input_tensor: Tensor, grid: CoreCoord | tuple[int, int] | CoreRangeSet,
        shard_shape: Shape | Sequence[int], num_slices: int, slice_index: int, shard_scheme: TensorMemoryLayout,
        shard_orientation: ShardOrientation, *, output_dtype: DataType | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Isclose(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, rtol: float = 9.999999747378752e-06,
        atol: float = 9.99999993922529e-09, equal_nan: bool = False, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _L1Loss(FastOperation):
    def __call__(self, input_reference: Tensor, input_prediction: Tensor, *, reduction: LossReductionMode = ...,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _LayerNorm(FastOperation):
    def __call__(self, input_tensor: Tensor, *, epsilon: float = 1e-12, weight: Tensor | None = None,
        bias: Tensor | None = None, residual_input_tensor: Tensor | None = None,
        memory_config: MemoryConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, recip_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _LayerNormPostAllGather(FastOperation):
    def __call__(self, input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-12, weight: Tensor | None = None,
        bias: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        dtype: DataType | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _LayerNormPreAllGather(FastOperation):
    def __call__(self, input_tensor: Tensor, *, dtype: DataType = ..., residual_input_tensor: Tensor | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        memory_config: MemoryConfig | None = None, recip_tensor: Tensor | None = None,
        fast_and_approximate_mode: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _ManualSeed(FastOperation):
    def __call__(self, seeds: int | Tensor = 0, *, device: MeshDevice | None = None,
        user_ids: int | Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

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

class _MaxPool2D(FastOperation):
    def __call__(self, input_tensor: Tensor, batch_size: int, input_h: int, input_w: int, channels: int,
        kernel_size: Shape | Sequence[int], stride: Shape | Sequence[int], padding: Shape | Sequence[int],
        dilation: Shape | Sequence[int], ceil_mode: bool = False, *, memory_config: MemoryConfig | None = None,
        dram_slice_config: Op2DSliceConfig | None = None, applied_shard_scheme: TensorMemoryLayout | None = None,
        deallocate_input: bool = False, reallocate_halo_output: bool = True, return_indices: bool = False,
        dtype: DataType = ..., output_layout: Layout = ..., config_tensor_in_dram: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor | list[Tensor]: ...

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

class _Moe(FastOperation):
    def __call__(self, input_tensor: Tensor, expert_mask_tensor: Tensor, topk_mask_tensor: Tensor, k: int = 32, *,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehAbsPow(FastOperation):
    def __call__(self, input: Tensor, p: float, *, output: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehAdam(FastOperation):
    def __call__(self, param_in: Tensor, grad: Tensor, exp_avg_in: Tensor, exp_avg_sq_in: Tensor, *,
        lr: float = 0.0010000000474974513, beta1: float = 0.8999999761581421, beta2: float = 0.9990000128746033,
        eps: float = 9.99999993922529e-09, weight_decay: float = 0.0, step: int = 0, amsgrad: bool = False,
        max_exp_avg_sq_in: Tensor | None = None, param_out: Tensor | None = None, exp_avg_out: Tensor | None = None,
        exp_avg_sq_out: Tensor | None = None, max_exp_avg_sq_out: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehAdamw(FastOperation):
    def __call__(self, param_in: Tensor, grad: Tensor, exp_avg_in: Tensor, exp_avg_sq_in: Tensor,
        lr: float = 0.0010000000474974513, beta1: float = 0.8999999761581421, beta2: float = 0.9990000128746033,
        eps: float = 9.99999993922529e-09, weight_decay: float = 0.009999999776482582, step: int = 0,
        amsgrad: bool = False, *, max_exp_avg_sq_in: Tensor | None = None, param_out: Tensor | None = None,
        exp_avg_out: Tensor | None = None, exp_avg_sq_out: Tensor | None = None,
        max_exp_avg_sq_out: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehArange(FastOperation):
    @overload
    def __call__(self, start: float, end: float, step: float, device: MeshDevice, *, output: Tensor | None = None,
        untilize_out: bool = False, dtype: DataType = ..., memory_config: MemoryConfig = ...,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, start: float = 0, *, end: float, step: float = 1, device: MeshDevice,
        output: Tensor | None = None, untilize_out: bool = False, dtype: DataType = ...,
        memory_config: MemoryConfig = ..., queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, end: float, step: float, device: MeshDevice, *, output: Tensor | None = None,
        untilize_out: bool = False, dtype: DataType = ..., memory_config: MemoryConfig = ...,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehBmm(FastOperation):
    def __call__(self, input: Tensor, mat2: Tensor, *, output: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehBmmBackward(FastOperation):
    def __call__(self, output_grad: Tensor, input: Tensor, mat2: Tensor, *, are_required_outputs: Sequence[bool] = ...,
        input_grad: Tensor | None = None, mat2_grad: Tensor | None = None,
        input_grad_memory_config: MemoryConfig | None = None, mat2_grad_memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehClipGradNorm(FastOperation):
    def __call__(self, inputs: Sequence[Tensor], max_norm: float, norm_type: float = 2.0,
        error_if_nonfinite: bool = False, *, total_norm: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehCumsum(FastOperation):
    def __call__(self, input: Tensor, dim: int, *, output: Tensor | None = None,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehCumsumBackward(FastOperation):
    def __call__(self, output_grad: Tensor, dim: int, *, input_grad: Tensor | None = None,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehDot(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, output: Tensor | None = None,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehDotBackward(FastOperation):
    def __call__(self, output_grad: Tensor, input: Tensor, other: Tensor, *, input_grad: Tensor | None = None,
        other_grad: Tensor | None = None, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehFold(FastOperation):
    @overload
    def __call__(self, input: Tensor, output: Tensor | None, output_size: Shape | Sequence[int],
        kernel_size: Shape | Sequence[int], dilation: Shape | Sequence[int] = ..., padding: Shape | Sequence[int] = ...,
        stride: Shape | Sequence[int] = ..., memory_config: MemoryConfig | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, output: Tensor | None = None, *, output_size: Shape | Sequence[int],
        kernel_size: Shape | Sequence[int], dilation: Shape | Sequence[int] = ..., padding: Shape | Sequence[int] = ...,
        stride: Shape | Sequence[int] = ..., memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehFull(FastOperation):
    def __call__(self, shape: Shape | Sequence[int], fill_value: int | float, device: MeshDevice, *,
        dtype: DataType = ..., layout: Layout = ..., memory_config: MemoryConfig = ..., queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehFullLike(FastOperation):
    def __call__(self, input: Tensor, fill_value: int | float, dtype: DataType | None = None,
        layout: Layout | None = None, memory_config: MemoryConfig | None = None, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehGetitem(FastOperation):
    @overload
    def __call__(self, input: Tensor | None, index_tensors: Sequence[Tensor], index_dims: Shape | Sequence[int], *,
        output: Tensor | None = None, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor | None = None, *, index_tensors: Sequence[Tensor],
        index_dims: Shape | Sequence[int], output: Tensor | None = None, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehGroupNorm(FastOperation):
    def __call__(self, input: Tensor, num_groups: int, eps: float = 9.999999747378752e-06, gamma: Tensor | None = None,
        beta: Tensor | None = None, *, are_required_outputs: Sequence[bool] = ..., output: Tensor | None = None,
        mean: Tensor | None = None, rstd: Tensor | None = None, memory_config: MemoryConfig | None = None,
        mean_memory_config: MemoryConfig | None = None, rstd_memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehGroupNormBackward(FastOperation):
    def __call__(self, output_grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, num_groups: int, *,
        are_required_outputs: Sequence[bool] = ..., gamma: Tensor | None = None, input_grad: Tensor | None = None,
        gamma_grad: Tensor | None = None, beta_grad: Tensor | None = None,
        input_grad_memory_config: MemoryConfig | None = None, gamma_grad_memory_config: MemoryConfig | None = None,
        beta_grad_memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehLayerNorm(FastOperation):
    def __call__(self, input: Tensor, normalized_dims: int, eps: float = 9.999999747378752e-06,
        gamma: Tensor | None = None, beta: Tensor | None = None, *, output: Tensor | None = None,
        mean: Tensor | None = None, rstd: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehLayerNormBackward(FastOperation):
    def __call__(self, output_grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, normalized_dims: int, *,
        gamma: Tensor | None = None, input_grad: Tensor | None = None, gamma_grad: Tensor | None = None,
        beta_grad: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehLinear(FastOperation):
    def __call__(self, input: Tensor, weight: Tensor, *, bias: Tensor | None = None, output: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehLinearBackward(FastOperation):
    def __call__(self, output_grad: Tensor, input: Tensor, weight: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., bias: Tensor | None = None, input_grad: Tensor | None = None,
        weight_grad: Tensor | None = None, bias_grad: Tensor | None = None,
        input_grad_memory_config: MemoryConfig | None = None, weight_grad_memory_config: MemoryConfig | None = None,
        bias_grad_memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehLogsoftmax(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, output_tensor: Tensor | None = None, op: MorehSoftmaxOp = ...,
        strategy: MorehSoftmaxOpParallelizationStrategy = ..., memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehLogsoftmaxBackward(FastOperation):
    def __call__(self, output_tensor: Tensor, output_grad_tensor: Tensor, dim: int, *,
        input_grad_tensor: Tensor | None = None, op: MorehSoftmaxBackwardOp = ...,
        strategy: MorehSoftmaxBackwardOpParallelizationStrategy = ..., memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehMatmul(FastOperation):
    def __call__(self, input: Tensor, other: Tensor, *, transpose_input: bool = False, transpose_other: bool = False,
        output: Tensor | None = None, bias: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehMatmulBackward(FastOperation):
    def __call__(self, output_grad: Tensor, input_a: Tensor, input_b: Tensor, *,
        are_required_outputs: Sequence[bool] = ..., input_a_grad: Tensor | None = None,
        input_b_grad: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehMean(FastOperation):
    def __call__(self, input: Tensor, *, dim: int | Sequence[int] | None = None, keepdim: bool = False,
        divisor: int | None = None, output: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehMeanBackward(FastOperation):
    def __call__(self, output_grad: Tensor, *, dim: int | Sequence[int] | None = None, keepdim: bool = False,
        input_grad_shape: Shape | Sequence[int] | None = None, input_grad: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehNllLoss(FastOperation):
    def __call__(self, input_tensor: Tensor, target_tensor: Tensor, reduction: str, *,
        weight_tensor: Tensor | None = None, divisor_tensor: Tensor | None = None, output_tensor: Tensor | None = None,
        ignore_index: int = -100, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehNllLossBackward(FastOperation):
    def __call__(self, target_tensor: Tensor, output_grad_tensor: Tensor, reduction_mean: bool, *,
        weight_tensor: Tensor | None = None, input_grad_tensor: Tensor | None = None,
        divisor_tensor: Tensor | None = None, ignore_index: int = -100, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehNllLossUnreducedBackward(FastOperation):
    def __call__(self, target_tensor: Tensor, output_grad_tensor: Tensor, *, weight_tensor: Tensor | None = None,
        input_grad_tensor: Tensor | None = None, ignore_index: int = -100, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehNorm(FastOperation):
    def __call__(self, input: Tensor, p: float, *, dim: int | Sequence[int] | None = None, keepdim: bool = False,
        output: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehNormBackward(FastOperation):
    def __call__(self, input: Tensor, output: Tensor, output_grad: Tensor, p: float, *,
        dim: int | Sequence[int] | None = None, keepdim: bool = False, input_grad: Tensor | None = None,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MorehSgd(FastOperation):
    def __call__(self, param_in: Tensor, grad: Tensor, momentum_buffer_in: Tensor | None = None,
        param_out: Tensor | None = None, momentum_buffer_out: Tensor | None = None, lr: float = 0.001,
        momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False, *,
        momentum_initialized: bool, param_out_memory_config: MemoryConfig | None = None,
        momentum_buffer_out_memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor | None]: ...

class _MorehSum(FastOperation):
    def __call__(self, input: Tensor, dim: int | Sequence[int] | None = None, *, keepdim: bool = False,
        output: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _MorehSumBackward(FastOperation):
    def __call__(self, output_grad: Tensor, *, input: Tensor | None = None, dim: int | Sequence[int] | None = None,
        keepdim: bool = False, input_grad: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
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

class _Narrow(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, start: int, length: int, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Nonzero(FastOperation):
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

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

class _PlusOne(FastOperation):
    def __call__(self, input_tensor: Tensor, sub_core_grids: CoreRangeSet | None = None,
        skip_negative_entries: bool = False, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Rand(FastOperation):
    def __call__(self, shape: Shape | Sequence[int], device: MeshDevice, *, dtype: DataType = ..., layout: Layout = ...,
        memory_config: MemoryConfig = ..., low: float = 0.0, high: float = 1.0, seed: int = 0,
        mesh_mapper: MeshMapperConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Randn(FastOperation):
    def __call__(self, shape: Shape | Sequence[int], device: MeshDevice, *, dtype: DataType = ..., layout: Layout = ...,
        memory_config: MemoryConfig = ..., compute_kernel_config: WormholeComputeKernelConfig | None = None,
        seed: int | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Repeat(FastOperation):
    def __call__(self, input_tensor: Tensor, repeat_dims: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, optional_output_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _RepeatBw(FastOperation):
    def __call__(self, grad_tensor: Tensor, input_tensor: Tensor, shape: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _RepeatInterleave(FastOperation):
    def __call__(self, input_tensor: Tensor, repeats: int, dim: int, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Requantize(FastOperation):
    def __call__(self, input_tensor: Tensor, in_scale: Tensor | float, in_zero_point: Tensor | int,
        out_scale: Tensor | float, out_zero_point: Tensor | int, *, axis: int | None = None,
        dtype: DataType | None = None, memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _ReshapeOnDevice(FastOperation):
    def __call__(self, input_tensor: Tensor, W: int, Z: int, Y: int, X: int, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Reshard(FastOperation):
    def __call__(self, input_tensor: Tensor, output_memory_config: MemoryConfig, output_tensor: Tensor | None = None, *,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _RmsNorm(FastOperation):
    def __call__(self, input_tensor: Tensor, *, epsilon: float = 1e-12, weight: Tensor | None = None,
        bias: Tensor | None = None, residual_input_tensor: Tensor | None = None,
        memory_config: MemoryConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _RmsNormPostAllGather(FastOperation):
    def __call__(self, input_tensor: Tensor, stats: Tensor, *, epsilon: float = 1e-12, weight: Tensor | None = None,
        bias: Tensor | None = None, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        dtype: DataType | None = None, use_2d_core_grid: bool | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _RmsNormPreAllGather(FastOperation):
    def __call__(self, input_tensor: Tensor, *, dtype: DataType = ..., residual_input_tensor: Tensor | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None,
        program_config: LayerNormDefaultProgramConfig | LayerNormShardedMultiCoreProgramConfig | None = None,
        memory_config: MemoryConfig | None = None, use_2d_core_grid: bool | None = None,
        fast_and_approximate_mode: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Roll(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, shifts: Shape | Sequence[int], dim: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, shifts: int, dim: int, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, shifts: int, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Rotate(FastOperation):
    def __call__(self, input_tensor: Tensor, angle: float, *, center: tuple[float, float] | None = None,
        fill: float = 0.0, expand: bool = False, interpolation_mode: str = 'nearest',
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Sampling(FastOperation):
    def __call__(self, input_values_tensor: Tensor, input_indices_tensor: Tensor, k: Tensor, p: Tensor, temp: Tensor, *,
        seed: int | None = None, sub_core_grids: CoreRangeSet | None = None, output_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ScaleCausalMaskHwDimsSoftmaxInPlace(FastOperation):
    def __call__(self, input_tensor: Tensor, scale: float | None = None, mask: Tensor | None = None, *,
        program_config: SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, numeric_stable: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ScaleMaskSoftmax(FastOperation):
    def __call__(self, input_tensor: Tensor, scale: float | None = None, mask: Tensor | None = None, *,
        memory_config: MemoryConfig | None = None, is_causal_mask: bool = False,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, numeric_stable: bool = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ScaleMaskSoftmaxInPlace(FastOperation):
    def __call__(self, input_tensor: Tensor, scale: float | None = None, mask: Tensor | None = None, *,
        program_config: SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig | None = None,
        is_causal_mask: bool = False, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        numeric_stable: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Scatter(FastOperation):
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *,
        memory_config: MemoryConfig | None = None, reduce: str | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ScatterAdd(FastOperation):
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Selu(FastOperation):
    def __call__(self, input_tensor: Tensor, *, scale: float = 1.0506999492645264, alpha: float = 1.673259973526001,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _ShardedToInterleaved(FastOperation):
    def __call__(self, input_tensor: Tensor, memory_config: MemoryConfig | None = None,
        output_dtype: DataType | None = None, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ShardedToInterleavedPartial(FastOperation):
    def __call__(self, input_tensor: Tensor, cache_tensor: Tensor, num_slices: int, slice_index: int, *,
        memory_config: MemoryConfig | None = None, output_dtype: DataType | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

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

class _SnakeBeta(FastOperation):
    def __call__(self, input_tensor: Tensor, alpha: Tensor, beta: Tensor, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Softcap(FastOperation):
    def __call__(self, input_tensor: Tensor, beta: float, *, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Softmax(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, *, memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, numeric_stable: bool = True,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _SoftmaxInPlace(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, *,
        program_config: SoftmaxDefaultProgramConfig | SoftmaxShardedMultiCoreProgramConfig | None = None,
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

class _Sort(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *,
        memory_config: MemoryConfig | None = None, out: tuple[Tensor, Tensor] | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...

class _SparseMatmul(FastOperation):
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, sparsity: Tensor,
        program_config: AnyProgramConfig, nnz: int | None = None, is_input_a_sparse: bool = False,
        is_input_b_sparse: bool = True, memory_config: MemoryConfig | None = None, dtype: DataType | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, core_grid: CoreGrid | None = None,
        output_tile: Tile | None = None, optional_output_tensor: Tensor | None = None, global_cb: object | None = None,
        sub_device_id: SubDeviceId | None = None, indices: Tensor | None = None, bias: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Stack(FastOperation):
    def __call__(self, input_tensors: Sequence[Tensor], dim: int, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Std(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        scalar: float = 1.0, correction: bool = True, sub_core_grids: CoreRangeSet | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Topk(FastOperation):
    def __call__(self, input_tensor: Tensor, k: int = 32, dim: int = -1, largest: bool = True, sorted: bool = True, *,
        memory_config: MemoryConfig | None = None, sub_core_grids: CoreRangeSet | None = None,
        indices_tensor: Tensor | None = None, output_tensor: tuple[Tensor, Tensor] | None = None, stable: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> list[Tensor]: ...

class _TosaGather(FastOperation):
    def __call__(self, input: Tensor, index: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _TosaScatter(FastOperation):
    def __call__(self, input: Tensor, index: Tensor, src: Tensor, *, memory_config: MemoryConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

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

class _Uniform(FastOperation):
    def __call__(self, input: Tensor, from_: float = 0.0, to: float = 1.0, seed: int = 0, *,
        memory_config: MemoryConfig | None = None, compute_kernel_config: WormholeComputeKernelConfig | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Unsqueeze(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _UnsqueezeTo4D(FastOperation):
    def __call__(self, tensor: Tensor, *, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _Untilize(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        use_pack_untilize: bool, sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _UntilizeWithUnpadding(FastOperation):
    @overload
    def __call__(self, input_tensor: Tensor, output_tensor_end: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, use_multicore: bool = True,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, output_tensor_end: Shape | Sequence[int], *,
        memory_config: MemoryConfig | None = None, use_multicore: bool = True, use_pack_untilize: bool,
        sub_core_grids: CoreRangeSet | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _UpdateCache(FastOperation):
    def __call__(self, cache: Tensor, input: Tensor, update_idx: int, *, batch_offset: int = 0,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _Upsample(FastOperation):
    def __call__(self, input_tensor: Tensor, scale_factor: int | Sequence[int] | float | Sequence[float], *,
        mode: str = 'nearest', memory_config: MemoryConfig | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, queue_id: int | None = None,
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

class _AllBroadcast(FastOperation):
    def __call__(self, input_tensor: Tensor, *, cluster_axis: int | None = None,
        subdevice_id: SubDeviceId | None = None, memory_config: MemoryConfig | None = None, num_links: int | None = 1,
        topology: Topology | None = ..., use_l1_small_for_semaphores: bool = False, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _AllGather(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, cluster_axis: int | None = None,
        memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        subdevice_id: SubDeviceId | None = None, sub_core_grids: CoreRangeSet | None = None,
        num_links: int | None = None, topology: Topology | None = None, chunks_per_sync: int | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        use_l1_small_for_semaphores: bool = False, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _AllReduce(FastOperation):
    def __call__(self, input_tensor: Tensor, *, cluster_axis: int | None = None,
        subdevice_id: SubDeviceId | None = None, memory_config: MemoryConfig | None = None,
        num_links: int | None = None, topology: Topology | None = None, queue_id: int | None = None,
        cq_id: int | None = None) -> Tensor: ...

class _AllToAllCombine(FastOperation):
    def __call__(self, input_tensor: Tensor, expert_metadata_tensor: Tensor, expert_mapping_tensor: Tensor, *,
        local_reduce: bool = False, output_shard_dim: int | None = 1, cluster_axis: int | None = None,
        subdevice_id: SubDeviceId | None = None, memory_config: MemoryConfig | None = None,
        output_tensor: Tensor | None = None, num_links: int | None = None, topology: Topology | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _AllToAllDispatch(FastOperation):
    def __call__(self, input_tensor: Tensor, expert_indices_tensor: Tensor, expert_mapping_tensor: Tensor, *,
        cluster_axis: int | None = None, output_tensors: Sequence[Tensor] | None = None, num_links: int | None = None,
        topology: Topology | None = None, memory_config: MemoryConfig | None = None,
        subdevice_id: SubDeviceId | None = None, output_concat_dim: int | None = 1, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _Broadcast(FastOperation):
    def __call__(self, input_tensor: Tensor, sender_coord: MeshCoordinate, *, num_links: int | None = None,
        memory_config: MemoryConfig | None = None, topology: Topology = ..., cluster_axis: int | None = None,
        subdevice_id: SubDeviceId | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MeshPartition(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, cluster_axis: int | None = None, *,
        memory_config: MemoryConfig | None = None, queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _MoeExpertTokenRemap(FastOperation):
    def __call__(self, topk_tensor: Tensor, expert_mapping_tensor: Tensor, expert_metadata_tensor: Tensor, *,
        memory_config: MemoryConfig | None = None, optional_output_mapping_tensor: Tensor | None = None,
        optional_output_reduced_tensor: Tensor | None = None, reduction_size: int = 16, queue_id: int | None = None,
        cq_id: int | None = None) -> list[Tensor]: ...

class _MoeRoutingRemap(FastOperation):
    def __call__(self, routing_weights_tensor: Tensor, non_zero_weight_size: int, expert_parallel_size: int,
        cluster_axis: int, *, memory_config: MemoryConfig | None = None, optional_output_tensor: Tensor | None = None,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _PointToPoint(FastOperation):
    def __call__(self, input_tensor: Tensor, sender_coord: MeshCoordinate, receiver_coord: MeshCoordinate, *,
        output_tensor: Tensor | None = None, intermediate_tensor: Tensor | None = None, topology: Topology = ...,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

class _ReduceScatter(FastOperation):
    def __call__(self, input_tensor: Tensor, dim: int, *, cluster_axis: int | None = None,
        subdevice_id: SubDeviceId | None = None, memory_config: MemoryConfig | None = None,
        intermediate_memory_config: MemoryConfig | None = None, output_tensor: Tensor | None = None,
        num_links: int | None = None, topology: Topology | None = None, chunks_per_sync: int | None = None,
        num_workers_per_link: int | None = None, num_buffers_per_channel: int | None = None,
        compute_kernel_config: WormholeComputeKernelConfig | None = None, use_l1_small_for_semaphores: bool = False,
        queue_id: int | None = None, cq_id: int | None = None) -> Tensor: ...

abs: _Abs
"""Return the element-wise absolute value of `input_tensor`."""
abs_bw: _AbsBw
"""Return the list of gradients `[grad * sign(x)]`."""
acos: _Acos
"""Return the element-wise inverse cosine, in radians, of `input_tensor`."""
acos_bw: _AcosBw
"""Return the list of gradients `[-grad / sqrt(1 - x^2)]`."""
acosh: _Acos
"""Return the element-wise inverse hyperbolic cosine of `input_tensor`."""
acosh_bw: _AcosBw
"""Return the list of gradients `[grad / sqrt(x^2 - 1)]`."""
adaptive_avg_pool2d: _AdaptiveAvgPool2D
"""Return the adaptive average pooling of images to `output_size`."""
adaptive_max_pool2d: _AdaptiveMaxPool2D
"""Return the adaptive max pooling of images to `output_size`."""
add: _Add
"""Return the element-wise sum `a + b`, with broadcasting."""
add_: _AddInPlace
"""Write the sum `a + b` to the first operand."""
add_bw: _AddBw
"""Return the list of gradients `[grad, grad]`."""
addalpha: _Addalpha
"""Return the element-wise sum `a + alpha * b`, with broadcasting."""
addalpha_bw: _AddalphaBw
"""Return the list of gradients `[grad, alpha * grad]`."""
addcdiv: _Addcdiv
"""Return `input_a + value * input_b / input_c` element-wise, with broadcasting."""
addcdiv_bw: _AddcdivBw
"""Return the list of gradients `[grad, grad * alpha / c, -grad * alpha * b / c^2]`."""
addcmul: _Addcmul
"""Return `input_a + value * input_b * input_c` element-wise, with broadcasting."""
addcmul_bw: _AddcdivBw
"""Return the list of gradients `[grad, grad * alpha * c, grad * alpha * b]`."""
addmm: _Addmm
"""Return `beta * input_tensor + alpha * (mat1_tensor @ mat2_tensor)`."""
alt_complex_rotate90: _Acos
"""Return the complex values of `input_tensor` multiplied by i."""
angle: _Angle
"""Return the element-wise angle of `input_tensor` in radians, in [-pi, pi]."""
angle_bw: _AngleBw
"""Return the list of gradients `[grad * (-imag + i * real) / |x|^2 where x != 0 else 0]`."""
arange: _Arange
"""Create a tensor with the values `start`, `start + step`, ... below `end`."""
argmax: _Argmax
"""Return the index of the maximum along `dim`, as uint32 in rows."""
asin: _Acos
"""Return the element-wise inverse sine, in radians, of `input_tensor`."""
asin_bw: _AcosBw
"""Return the list of gradients `[grad / sqrt(1 - x^2)]`."""
asinh: _Acos
"""Return the element-wise inverse hyperbolic sine of `input_tensor`."""
asinh_bw: _AcosBw
"""Return the list of gradients `[grad / sqrt(x^2 + 1)]`."""
assign: _Assign
"""Return a copy in `memory_config`, or `input_b` with the values of `input_a`."""
assign_bw: _AssignBw
"""Return the list of gradients `[grad, grad]`."""
atan: _Acos
"""Return the element-wise inverse tangent, in radians, of `input_tensor`."""
atan2: _Atan2
"""Return the element-wise angle `atan2(a, b)` in radians, in [-pi, pi], with broadcasting."""
atan2_bw: _Atan2Bw
"""Return the list of gradients `[grad * b / (a^2 + b^2), -grad * a / (a^2 + b^2)]`."""
atan_bw: _AcosBw
"""Return the list of gradients `[grad / (1 + x^2)]`."""
atanh: _Acos
"""Return the element-wise inverse hyperbolic tangent of `input_tensor`."""
atanh_bw: _AcosBw
"""Return the list of gradients `[grad / (1 - x^2)]`."""
avg_pool2d: _AvgPool2D
"""Return the average pooling of images, channel by channel."""
batch_norm: _BatchNorm
"""Return `(x - mean) / sqrt(variance + eps)` of every channel, times `weight`, plus `bias`."""
bcast: _Bcast
"""Return sums, differences or products with each matrix's row, column or scalar."""
bernoulli: _Bernoulli
"""Return 1 with the probability that the input has, else 0."""
bias_gelu: _BiasGelu
"""Return the element-wise GELU `gelu(a + b)` of the sum, with broadcasting."""
bias_gelu_: _BiasGeluInPlace
"""Write the GELU `gelu(a + b)` of the sum to the first operand."""
bias_gelu_bw: _BiasGeluBw
"""Return the list of gradients `[grad * gelu'(a + b), the same tensor]`."""
bitcast: _Bitcast
"""Return the bits of `input_tensor` as another data type of equal size."""
bitwise_and: _BitwiseAnd
"""Return the element-wise bitwise AND of `a` and `b`, with broadcasting."""
bitwise_left_shift: _BitwiseAnd
"""Return the element-wise left shift of `a` by `b` bits, with broadcasting."""
bitwise_not: _Acos
"""Return the element-wise bitwise NOT of `input_tensor`."""
bitwise_or: _BitwiseAnd
"""Return the element-wise bitwise OR of `a` and `b`, with broadcasting."""
bitwise_right_shift: _BitwiseAnd
"""Return the element-wise arithmetic right shift of `a` by `b`, with broadcasting."""
bitwise_xor: _BitwiseAnd
"""Return the element-wise bitwise XOR of `a` and `b`, with broadcasting."""
cbrt: _Acos
"""Return the element-wise cube root of `input_tensor`."""
ceil: _Acos
"""Return the smallest integers not below the elements of `input_tensor`."""
ceil_bw: _AcosBw
"""Return the list of gradients `[0]`."""
celu: _Celu
"""Return the element-wise CELU, `x if x > 0 else alpha * (e^(x / alpha) - 1)`, of `input_tensor`."""
celu_bw: _CeluBw
"""Return the list of gradients `[grad where x > 0 else grad * e^(x / alpha)]`."""
chunk: _Chunk
"""Return `chunks` pieces of `input_tensor` along `dim`; the last may be smaller."""
clamp: _Clamp
"""Return `input_tensor` clamped to [`min`, `max`]."""
clamp_bw: _ClampBw
"""Return the list of gradients `[grad where min <= x <= max else 0]`."""
clamped_silu_glu: _ClampedSiluGlu
"""Return `silu(min(gate, limit)) * clamp(up, -limit, limit)` element-wise, with broadcasting."""
clip: _Clip
"""Return `input_tensor` clamped to [`min`, `max`]."""
clip_bw: _ClampBw
"""Return the list of gradients `[grad where min <= x <= max else 0]`."""
clone: _Clone
"""Return a copy of `input_tensor`, optionally in another memory config or type."""
complex_tensor: _ComplexTensor
"""Create a complex tensor from real and imaginary part, without copies."""
composite_example: _CompositeExample
"""Return a copy of `input_tensor`: an example of writing operators."""
composite_example_multiple_return: _CompositeExampleMultipleReturn
"""Return two copies of `input_tensor`: an example with several results."""
concat: _Concat
"""Return tensors joined along `dim`."""
concat_bw: _ConcatBw
"""Return the list of gradients `[slice of grad for a, slice of grad for b]`."""
conj: _Conj
"""Return the element-wise complex conjugate of `input_tensor`."""
conj_bw: _ConjBw
"""Return the list of gradients `[conj(grad)]`."""
conv1d: _Conv1D
"""Return the convolution of rows with `weight_tensor`, plus `bias_tensor`."""
conv2d: _Conv2D
"""Return the convolution of images with `weight_tensor`, plus `bias_tensor`."""
conv_transpose2d: _ConvTranspose2D
"""Return the transposed convolution of images with `weight_tensor`, plus `bias_tensor`."""
copy: _Copy
"""Write the values of `input_a` to `input_b`, and return `input_b`."""
cos: _Acos
"""Return the element-wise cosine of `input_tensor`."""
cos_bw: _AcosBw
"""Return the list of gradients `[-grad * sin(x)]`."""
cosh: _Acos
"""Return the element-wise hyperbolic cosine of `input_tensor`."""
cosh_bw: _AcosBw
"""Return the list of gradients `[grad * sinh(x)]`."""
cumprod: _Cumprod
"""Return the cumulative product of the elements along `dim`."""
cumsum: _Cumsum
"""Return the sums of the elements along `dim` up to each element."""
deg2rad: _Acos
"""Return `input_tensor` converted element-wise from degrees to radians."""
deg2rad_bw: _AcosBw
"""Return the list of gradients `[grad * pi / 180]`."""
dequantize: _Dequantize
"""Return `(input_tensor - zero_point) * scale` as bfloat16 or float32, bfloat16 without `dtype`."""
digamma: _Acos
"""Return the element-wise digamma function, the derivative of `ln(gamma(x))`, of `input_tensor`."""
digamma_bw: _AcosBw
"""Return the list of gradients `[grad * polygamma(x, 1)]`."""
div: _Div
"""Return the element-wise quotient `a / b`, with broadcasting."""
divide: _Div
"""Return the element-wise quotient `a / b`, with broadcasting."""
div_bw: _DivBw
"""Return the list of gradients `[grad / b, -grad * a / b^2]`."""
div_no_nan: _DivNoNan
"""Return the element-wise quotient `a / b`, 0 where `b` is 0, with broadcasting."""
div_no_nan_bw: _DivNoNanBw
"""Return the list of gradients `[grad / scalar if scalar != 0 else 0]`."""
divide_: _DivideInPlace
"""Write the quotient `a / b` to the first operand."""
div_: _DivideInPlace
"""Write the quotient `a / b` to the first operand."""
elu: _Celu
"""Return the element-wise ELU, `x if x > 0 else alpha * (e^x - 1)`, of `input_tensor`."""
elu_bw: _CeluBw
"""Return the list of gradients `[grad where x > 0 else grad * alpha * e^x]`."""
ema: _Ema
"""Return `y[t] = alpha * y[t - 1] + (1 - alpha) * x[t]` along the last dimension, `y` being 0 before."""
embedding: _Embedding
"""Return the rows of `weight` that `input_tensor` names."""
embedding_bw: _EmbeddingBw
"""Return the gradient of the embedding table, summed over equal indices."""
empty: _Empty
"""Create an uninitialized tensor of `shape` on a device."""
empty_like: _EmptyLike
"""Create an uninitialized device tensor like `tensor`."""
eq: _Eq
"""Return the element-wise comparison `a == b` (1 or 0), with broadcasting."""
eq_: _BiasGeluInPlace
"""Write the comparison `a == b` (1 or 0) to the first operand."""
eq_bw: _EqBw
"""Return the list of gradients `[0, 0]`."""
eqz: _Acos
"""Return 1 where `input_tensor` is 0, else 0."""
erf: _Erf
"""Return the element-wise error function of `input_tensor`."""
erf_bw: _AcosBw
"""Return the list of gradients `[grad * 2 / sqrt(pi) * e^(-x^2)]`."""
erfc: _Acos
"""Return the element-wise complementary error function, `1 - erf(x)`, of `input_tensor`."""
erfc_bw: _AcosBw
"""Return the list of gradients `[-grad * 2 / sqrt(pi) * e^(-x^2)]`."""
erfinv: _Acos
"""Return the element-wise inverse error function of `input_tensor`."""
erfinv_bw: _AcosBw
"""Return the list of gradients `[grad * sqrt(pi) / 2 * e^(erfinv(x)^2)]`."""
exp: _Erf
"""Return the element-wise exponential, `e^x`, of `input_tensor`."""
exp2: _Acos
"""Return the element-wise base-2 exponential, `2^x`, of `input_tensor`."""
exp2_bw: _AcosBw
"""Return the list of gradients `[grad * 2^x * ln(2)]`."""
exp_bw: _ExpBw
"""Return the list of gradients `[grad * e^x]`."""
expand: _Expand
"""Return `input_tensor` with dimensions of size 1 repeated."""
padded_slice: _PaddedSlice
"""Return a slice of images, pixel sharded, channels padded to shard width."""
expm1: _Acos
"""Return the element-wise exponential minus 1, `e^x - 1`, of `input_tensor`."""
expm1_bw: _AcosBw
"""Return the list of gradients `[grad * e^x]`."""
fill: _Fill
"""Create a tensor like `input_tensor` with every element set to `fill_value`."""
fill_bw: _ExpBw
"""Return the list of gradients `[0]`."""
fill_cache: _FillCache
"""Write a user's prompt's keys or values into the cache; return it."""
fill_implicit_tile_padding: _FillImplicitTilePadding
"""Return `input_tensor` with its tile padding filled; itself if there is none."""
fill_ones_rm: _FillOnesRm
"""Return matrices with 1 in the first rows and columns, else 0."""
fill_rm: _FillRm
"""Return matrices with one value in first rows and columns, else another."""
fill_zero_bw: _AcosBw
"""Return the list of gradients `[0]`."""
floor: _Acos
"""Return the largest integers not above the elements of `input_tensor`."""
floor_bw: _AcosBw
"""Return the list of gradients `[0]`."""
floor_div: _DivNoNan
"""Return the element-wise rounded-down quotient `floor(a / b)`, with broadcasting."""
fmod: _Fmod
"""Return the element-wise remainder `a - b * trunc(a / b)` with the sign of `a`, with broadcasting."""
fmod_bw: _FmodBw
"""Return the list of gradients `[grad, -grad * trunc(a / b)]`."""
fold: _Fold
"""Return images whose blocks of pixels are channels."""
frac: _Acos
"""Return the element-wise fractional part, `x - trunc(x)`, of `input_tensor`."""
frac_bw: _AcosBw
"""Return the list of gradients `[grad]`."""
from_buffer: _FromBuffer
"""Return a device tensor of the elements of a list."""
full: _Full
"""Create a tensor of `shape` with every element set to `fill_value`."""
full_like: _FullLike
"""Create a tensor like `tensor` with every element set to `fill_value`."""
gather: _Gather
"""Return the elements of `input` at `index` along `dim`, as in `torch.gather`."""
gcd: _Gcd
"""Return the element-wise greatest common divisor of `a` and `b`, with broadcasting."""
ge: _Eq
"""Return the element-wise comparison `a >= b` (1 or 0), with broadcasting."""
ge_: _BiasGeluInPlace
"""Write the comparison `a >= b` (1 or 0) to the first operand."""
ge_bw: _EqBw
"""Return the list of gradients `[0, 0]`."""
geglu: _Geglu
"""Return `a * gelu(b)` of the halves `a`, `b` of the padded last dimension."""
gelu: _Gelu
"""Return the element-wise GELU, `x * cdf(x)` of the standard normal distribution, of `input_tensor`."""
gelu_bw: _GeluBw
"""Return the list of gradients `[grad * (normal_cdf(x) + x * normal_pdf(x))]`."""
gez: _Acos
"""Return 1 where `input_tensor` is at least 0, else 0."""
global_avg_pool2d: _GlobalAvgPool2D
"""Return the mean of every channel of images."""
glu: _Glu
"""Return `a * sigmoid(b)` of the halves `a`, `b` of the padded last dimension."""
grid_sample: _GridSample
"""Return images sampled at grid points by bilinear interpolation."""
group_norm: _GroupNorm
"""Return the group norm over rows and the channels of every group."""
gt: _Eq
"""Return the element-wise comparison `a > b` (1 or 0), with broadcasting."""
gt_: _BiasGeluInPlace
"""Write the comparison `a > b` (1 or 0) to the first operand."""
gt_bw: _EqBw
"""Return the list of gradients `[0, 0]`."""
gtz: _Acos
"""Return 1 where `input_tensor` is greater than 0, else 0."""
hardmish: _Acos
"""Return the element-wise hard Mish, `x * clamp(x + 2, 0, 2) / 2`, of `input_tensor`."""
hardshrink: _Hardshrink
"""Return `input_tensor` where `|input_tensor| > lambd`, and 0 elsewhere."""
hardshrink_bw: _HardshrinkBw
"""Return the list of gradients `[grad where |x| > lambd else 0]`."""
hardsigmoid: _Acos
"""Return the element-wise hard sigmoid, `clamp(x / 6 + 1 / 2, 0, 1)`, of `input_tensor`."""
hardsigmoid_bw: _AcosBw
"""Return the list of gradients `[grad / 6 where -3 < x < 3 else 0]`."""
hardswish: _Acos
"""Return the element-wise hard Swish, `x * clamp(x / 6 + 1 / 2, 0, 1)`, of `input_tensor`."""
hardswish_bw: _AcosBw
"""Return the list of gradients `[grad * (x / 3 + 1 / 2) where -3 <= x <= 3, grad where x > 3, else 0]`."""
hardtanh: _Hardtanh
"""Return `input_tensor` clamped to [`min_val`, `max_val`]."""
hardtanh_bw: _HardtanhBw
"""Return the list of gradients `[grad where min < x < max else 0]`."""
heaviside: _Heaviside
"""Return 0 for negative, 1 for positive elements, and `value` for zeros."""
hypot: _Atan2
"""Return the element-wise hypotenuse `sqrt(a^2 + b^2)`, with broadcasting."""
hypot_bw: _Atan2Bw
"""Return the list of gradients `[grad * a / hypot(a, b), grad * b / hypot(a, b)]`."""
i0: _Acos
"""Return the element-wise modified Bessel function `I0` of `input_tensor`."""
i0_bw: _AcosBw
"""Return the list of gradients `[grad * i1(x)]`."""
i1: _Acos
"""Return the element-wise modified Bessel function `I1` of `input_tensor`."""
identity: _Acos
"""Return a copy of `input_tensor` that has passed through Dst."""
imag: _Angle
"""Return the imaginary part of `input_tensor`, [..., H, W]."""
imag_bw: _AngleBw
"""Return the list of gradients `[0 + i * grad]`."""
index_fill: _IndexFill
"""Return `input` with a value in the slices `index` along `dim`."""
index_fill_new: _IndexFill
"""Return `input` with the slices `index` along `dim` filled with a value."""
indexed_fill: _IndexedFill
"""Return `input_tensor_a` with slices replaced by those of `input_tensor_b`."""
interleaved_to_sharded: _InterleavedToSharded
"""Return an interleaved tensor sharded over L1 of a core grid."""
interleaved_to_sharded_partial: _InterleavedToShardedPartial
"""Return a slice of the rows of all matrices in shards."""
is_imag: _Angle
"""Return 1 where the real part of `input_tensor` is 0, else 0."""
is_real: _Angle
"""Return 1 where the imaginary part of `input_tensor` is 0, else 0."""
isclose: _Isclose
"""Return the element-wise comparison `|a - b| <= atol + rtol * |b|` (0/1; int32 in float32), with broadcasting."""
isfinite: _Acos
"""Return 1 where `input_tensor` is finite, else 0."""
isinf: _Acos
"""Return 1 where `input_tensor` is infinity or -infinity, else 0."""
isnan: _Acos
"""Return 1 where `input_tensor` is NaN, else 0."""
isneginf: _Acos
"""Return 1 where `input_tensor` is -infinity, else 0."""
isposinf: _Acos
"""Return 1 where `input_tensor` is +infinity, else 0."""
l1_loss: _L1Loss
"""Return the absolute differences of both tensors, or their sum or mean."""
layer_norm: _LayerNorm
"""Return `(x - mean) / sqrt(variance + epsilon)` over the last dimension of `x = input_tensor + residual_input_tensor`,
times `weight`, plus `bias`.
"""
layer_norm_post_all_gather: _LayerNormPostAllGather
"""Return the layer norm of a device's row parts, from gathered statistics."""
layer_norm_pre_all_gather: _LayerNormPreAllGather
"""Return the sum of squares and the sum of every row."""
lcm: _Gcd
"""Return the element-wise least common multiple of `a` and `b`, with broadcasting."""
ldexp: _Eq
"""Return the element-wise product `a * 2^b`, with broadcasting."""
ldexp_: _BiasGeluInPlace
"""Write the product `a * 2^b` to the first operand."""
ldexp_bw: _Atan2Bw
"""Return the list of gradients `[grad * 2^b, grad * a * 2^b * ln(2)]`."""
le: _Eq
"""Return the element-wise comparison `a <= b` (1 or 0), with broadcasting."""
le_: _BiasGeluInPlace
"""Write the comparison `a <= b` (1 or 0) to the first operand."""
le_bw: _EqBw
"""Return the list of gradients `[0, 0]`."""
leaky_relu: _LeakyRelu
"""Return `input_tensor` where it is not negative, and `negative_slope * input_tensor` elsewhere."""
leaky_relu_bw: _LeakyReluBw
"""Return the list of gradients `[grad where x > 0 else negative_slope * grad]`."""
lerp: _Lerp
"""Return the element-wise linear interpolation `input + weight * (end - input)`, with broadcasting."""
lerp_bw: _LerpBw
"""Return the list of gradients `[grad * (1 - weight), grad * weight, grad * (b - a)]`."""
lez: _Acos
"""Return 1 where `input_tensor` is at most 0, else 0."""
lgamma: _Acos
"""Return the element-wise logarithm of the absolute gamma function, `ln(|gamma(x)|)`, of `input_tensor`."""
lgamma_bw: _AcosBw
"""Return the list of gradients `[grad * digamma(x)]`."""
linear: _Linear
"""Return `activation(input_tensor_a @ input_tensor_b + bias)`."""
log: _Erf
"""Return the element-wise natural logarithm of `input_tensor`."""
log10: _Erf
"""Return the element-wise base-10 logarithm of `input_tensor`."""
log10_bw: _AcosBw
"""Return the list of gradients `[grad / (x * ln(10))]`."""
log1p: _Erf
"""Return the element-wise natural logarithm `ln(1 + x)` of `input_tensor`."""
log1p_bw: _AcosBw
"""Return the list of gradients `[grad / (x + 1)]`."""
log2: _Erf
"""Return the element-wise base-2 logarithm of `input_tensor`."""
log2_bw: _AcosBw
"""Return the list of gradients `[grad / (x * ln(2))]`."""
log_bw: _AcosBw
"""Return the list of gradients `[grad / x]`."""
log_sigmoid: _Acos
"""Return the element-wise logarithm of the sigmoid, `-ln(1 + e^-x)`, of `input_tensor`."""
log_sigmoid_bw: _AcosBw
"""Return the list of gradients `[grad / (1 + e^x)]`."""
logaddexp: _Eq
"""Return the element-wise logarithm `ln(e^a + e^b)`, with broadcasting."""
logaddexp2: _Eq
"""Return the element-wise base-2 logarithm `log2(2^a + 2^b)`, with broadcasting."""
logaddexp2_: _BiasGeluInPlace
"""Write the base-2 logarithm `log2(2^a + 2^b)` to the first operand."""
logaddexp2_bw: _Atan2Bw
"""Return the list of gradients `[grad / (1 + 2^(b - a)), grad / (1 + 2^(a - b))]`."""
logaddexp_: _BiasGeluInPlace
"""Write the logarithm `ln(e^a + e^b)` to the first operand."""
logaddexp_bw: _Atan2Bw
"""Return the list of gradients `[grad / (1 + e^(b - a)), grad / (1 + e^(a - b))]`."""
logical_and: _Eq
"""Return the element-wise logical AND `a and b` (1 or 0), with broadcasting."""
logical_and_: _BiasGeluInPlace
"""Write the logical AND `a and b` (1 or 0) to the first operand."""
logical_left_shift: _BitwiseAnd
"""Return the element-wise left shift of `a` by `b` bits, with broadcasting."""
logical_not: _Acos
"""Return 1 where `input_tensor` is 0, else 0."""
logical_not_: _LogicalNotInPlace
"""Write 1 to `input_tensor` where it is 0, else 0."""
logical_or: _Eq
"""Return the element-wise logical OR `a or b` (1 or 0), with broadcasting."""
logical_or_: _BiasGeluInPlace
"""Write the logical OR `a or b` (1 or 0) to the first operand."""
logical_right_shift: _Eq
"""Return the element-wise logical right shift of `a` by `b`, with broadcasting."""
logical_xor: _Eq
"""Return the element-wise logical XOR `a xor b` (1 or 0), with broadcasting."""
logical_xor_: _BiasGeluInPlace
"""Write the logical XOR `a xor b` (1 or 0) to the first operand."""
logit: _Logit
"""Return the element-wise logit, `ln(x / (1 - x))`, of `input_tensor`."""
logit_bw: _AcosBw
"""Return the list of gradients `[grad / (x * (1 - x))]`."""
logiteps_bw: _LogitepsBw
"""Return the list of gradients `[grad / (x * (1 - x)) where eps <= x <= 1 - eps else 0]`."""
lt: _Eq
"""Return the element-wise comparison `a < b` (1 or 0), with broadcasting."""
lt_: _BiasGeluInPlace
"""Write the comparison `a < b` (1 or 0) to the first operand."""
lt_bw: _EqBw
"""Return the list of gradients `[0, 0]`."""
ltz: _Acos
"""Return 1 where `input_tensor` is less than 0, else 0."""
mac: _Mac
"""Return the element-wise multiply-add `a * b + c`, with broadcasting."""
manual_seed: _ManualSeed
"""Write seeds of the users' random generators; return a single 0."""
matmul: _Matmul
"""Return the matmul `input_tensor_a @ input_tensor_b`."""
max: _Max
"""Return the maximum of `input_tensor` over `dim`."""
max_bw: _Atan2Bw
"""Return the list of gradients `[grad where a > b, grad / 2 where a = b, else 0; grad where b > a, grad / 2 where a =
b, else 0]`.
"""
max_pool2d: _MaxPool2D
"""Return the max pooling of images, channel by channel."""
maximum: _Maximum
"""Return the element-wise maximum of `a` and `b`, with broadcasting."""
mean: _Mean
"""Return the mean of `input_tensor` over `dim`."""
min: _Max
"""Return the minimum of `input_tensor` over `dim`."""
min_bw: _Atan2Bw
"""Return the list of gradients `[grad where a < b, grad / 2 where a = b, else 0; grad where b < a, grad / 2 where a =
b, else 0]`.
"""
minimum: _Maximum
"""Return the element-wise minimum of `a` and `b`, with broadcasting."""
mish: _Erf
"""Return the element-wise Mish, `x * tanh(softplus(x))`, of `input_tensor`."""
moe: _Moe
"""Return expert 0's softmax weight among the 32 largest scores, else 0."""
moreh_abs_pow: _MorehAbsPow
"""Return `|x| ** p`: repeated products for the exponent rounded down, times `exp(log(|x|) * rest)`."""
moreh_adam: _MorehAdam
"""Return parameter, averages and AMSGrad's largest average after an Adam step."""
moreh_adamw: _MorehAdamw
"""Return parameter, averages and AMSGrad's largest average after an AdamW step."""
moreh_arange: _MorehArange
"""Create values `start + step * i` up to `end`, in FP32, then truncated."""
moreh_bmm: _MorehBmm
"""Return the batched matmul of two tensors."""
moreh_bmm_backward: _MorehBmmBackward
"""Return the requested gradients of both operands; None for the others."""
moreh_clip_grad_norm: _MorehClipGradNorm
"""Return the norm of all gradients together, and clip them in place."""
moreh_cumsum: _MorehCumsum
"""Return the cumulative sum along `dim`, same as `ttnn.cumsum`."""
moreh_cumsum_backward: _MorehCumsumBackward
"""Return the sums of the elements along `dim` from each element on."""
moreh_dot: _MorehDot
"""Return the dot product of two vectors."""
moreh_dot_backward: _MorehDotBackward
"""Return gradients of vectors with preallocated tensors, else None."""
moreh_fold: _MorehFold
"""Return images of added overlapping blocks, as in `torch.nn.functional.fold`."""
moreh_full: _MorehFull
"""Create a tensor of `shape` with every element set to `fill_value`."""
moreh_full_like: _MorehFullLike
"""Create a tensor like `input` with every element set to `fill_value`."""
moreh_getitem: _MorehGetitem
"""Return `input[..., i, j, ...]` for index tensors."""
moreh_group_norm: _MorehGroupNorm
"""Return the group norm `(x - mean) * rstd * gamma + beta`, and optionally `mean` and `rstd`."""
moreh_group_norm_backward: _MorehGroupNormBackward
"""Return requested gradients of input, gamma and beta; else None."""
moreh_layer_norm: _MorehLayerNorm
"""Return `(x - mean) * rstd * gamma + beta`, `mean` and `rstd` of last dimensions."""
moreh_layer_norm_backward: _MorehLayerNormBackward
"""Return gradients of input, gamma and beta with preallocated tensors, else None."""
moreh_linear: _MorehLinear
"""Return the matmul with the transposed weight, plus a bias."""
moreh_linear_backward: _MorehLinearBackward
"""Return the requested gradients of input and weight; None for the others."""
moreh_logsoftmax: _MorehLogsoftmax
"""Return the log-softmax `x - log(sum(exp(x)))` along `dim`."""
moreh_logsoftmax_backward: _MorehLogsoftmaxBackward
"""Return the gradient of the logsoftmax: `dy - sum(dy) * exp(y)`."""
moreh_matmul: _MorehMatmul
"""Return the matmul of two tensors, plus a bias."""
moreh_matmul_backward: _MorehMatmulBackward
"""Return the requested gradients of both operands; None for the others."""
moreh_mean: _MorehMean
"""Return the mean along `dim`: the sum of `x / D` in bfloat16."""
moreh_mean_backward: _MorehMeanBackward
"""Return a mean's gradient: the broadcast output gradient over the count."""
moreh_nll_loss: _MorehNllLoss
"""Return the negative log likelihood loss: the sum or mean of `-input[n, target[n]] * weight[target[n]]`."""
moreh_nll_loss_backward: _MorehNllLossBackward
"""Return a summed loss's gradient: `-weight * output_grad / divisor` at classes, else 0."""
moreh_nll_loss_unreduced_backward: _MorehNllLossUnreducedBackward
"""Return unsummed losses' gradient: `-weight * output_grad` at classes, else 0."""
moreh_norm: _MorehNorm
"""Return the p-norm along `dim`: `sum(|x| ** p) ** (1 / p)`."""
moreh_norm_backward: _MorehNormBackward
"""Return the gradient of a p-norm: `sign(x) * |x| ** (p - 1) * y * dy / y ** p`."""
moreh_sgd: _MorehSgd
"""Return the parameter, and with `momentum` the momentum, after an SGD step."""
moreh_softmax: _MorehLogsoftmax
"""Return the softmax `exp(x) / sum(exp(x))` along `dim`."""
moreh_softmax_backward: _MorehLogsoftmaxBackward
"""Return the gradient of the softmax: `(dy - sum(y * dy)) * y`."""
moreh_softmin: _MorehLogsoftmax
"""Return the softmin `exp(-x) / sum(exp(-x))` along `dim`."""
moreh_softmin_backward: _MorehLogsoftmaxBackward
"""Return the gradient of the softmin: `-(dy - sum(y * dy)) * y`."""
moreh_sum: _MorehSum
"""Return the sum along `dim`, rounded to bfloat16 at every addition."""
moreh_sum_backward: _MorehSumBackward
"""Return the gradient of a sum: the broadcast output gradient."""
move: _LogicalNotInPlace
"""Return a copy of `input_tensor`, and deallocate it."""
mse_loss: _L1Loss
"""Return the squared differences of both tensors, or their sum or mean."""
mul_bw: _MulBw
"""Return the list of gradients `[grad * b, grad * a]`."""
multigammaln: _LogicalNotInPlace
"""Return the element-wise 4-dimensional multivariate log-gamma function of `input_tensor`."""
multigammaln_bw: _AcosBw
"""Return the list of gradients `[grad * sum(digamma(x - i / 2) for i = 0, 1, 2, 3)]`."""
multiply: _Multiply
"""Return the element-wise product `a * b`, with broadcasting."""
mul: _Multiply
"""Return the element-wise product `a * b`, with broadcasting."""
multiply_: _DivideInPlace
"""Write the product `a * b` to the first operand."""
mul_: _DivideInPlace
"""Write the product `a * b` to the first operand."""
narrow: _Narrow
"""Return `length` indices of `input_tensor` along `dim`, from `start`."""
ne: _Eq
"""Return the element-wise comparison `a != b` (1 or 0), with broadcasting."""
ne_: _BiasGeluInPlace
"""Write the comparison `a != b` (1 or 0) to the first operand."""
ne_bw: _EqBw
"""Return the list of gradients `[0, 0]`."""
neg: _Acos
"""Return the element-wise negative of `input_tensor`."""
neg_bw: _ExpBw
"""Return the list of gradients `[-grad]`."""
nextafter: _Atan2
"""Return the element-wise next representable value after `a` toward `b`, with broadcasting."""
nez: _Acos
"""Return 1 where `input_tensor` is not 0, else 0."""
nonzero: _Nonzero
"""Return the number of nonzero elements, and their positions in row-major order."""
normalize_global: _LogicalNotInPlace
"""Return `(x - mean) / sqrt(variance)` of all elements, padding among them."""
normalize_hw: _LogicalNotInPlace
"""Return `(x - mean) / sqrt(variance)` of `input_tensor`, normalized over the last two dimensions."""
ones: _Ones
"""Create a tensor of `shape` with ones."""
ones_like: _OnesLike
"""Create a tensor like `tensor` with ones."""
outer: _Atan2
"""Return the outer product of the last dimensions of two tensors."""
pad: _Pad
"""Return `input_tensor` padded with `value`."""
permute: _Permute
"""Return `input_tensor` with its dimensions permuted to the order `dims`."""
plus_one: _PlusOne
"""Write `input_tensor + 1` into `input_tensor` and return it."""
polar: _Conj
"""Return the complex tensor `real * (cos(imag) + i * sin(imag))`."""
polar_bw: _ConjBw
"""Return the list of gradients `[Re(conj(grad) * polar(x) / |polar(x)|) + i * Re(conj(grad) * i * polar(x))]`."""
polygamma: _Polygamma
"""Return the element-wise polygamma function of order `k` of `input_tensor`."""
polygamma_bw: _PolygammaBw
"""Return the list of gradients `[grad * polygamma(x, n + 1)]`."""
polyval: _Polyval
"""Return the element-wise polynomial of `input_tensor` with the coefficients `coeffs`."""
pow: _Pow
"""Return the element-wise power `a^b`, with broadcasting."""
pow_bw: _PowBw
"""Return the list of gradients `[grad * exponent * x^(exponent - 1)]`."""
prelu: _Prelu
"""Return `input_tensor_a` where it is not negative, and `weight * input_tensor_a` elsewhere."""
prod: _Prod
"""Return the product of elements of `input_tensor`, along `dim` or all."""
prod_bw: _ProdBw
"""Return the list of gradients `[grad * prod(x) / x]`."""
quantize: _Dequantize
"""Return `input_tensor / scale + zero_point` as int32, rounded to nearest, ties away from zero."""
rad2deg: _Acos
"""Return `input_tensor` converted element-wise from radians to degrees."""
rad2deg_bw: _AcosBw
"""Return the list of gradients `[grad * 180 / pi]`."""
rand: _Rand
"""Create a `shape` tensor with uniform random values from `low` to `high`."""
randn: _Randn
"""Create a tensor of `shape` with standard normal random values."""
rdiv: _Rdiv
"""Return the element-wise quotient `value / input_tensor`, rounded by `rounding_mode`."""
rdiv_bw: _RdivBw
"""Return the list of gradients `[-grad * scalar / x^2]`."""
real: _Angle
"""Return the real part of `input_tensor`, [..., H, W]."""
real_bw: _AngleBw
"""Return the list of gradients `[grad + 0 * i]`."""
reciprocal: _Reciprocal
"""Return the element-wise reciprocal, `1 / x`, of `input_tensor`."""
reciprocal_bw: _ReciprocalBw
"""Return the list of gradients `[-grad / x^2]`."""
reglu: _Glu
"""Return `a * relu(b)` of the halves `a`, `b` of the padded last dimension."""
relu: _Acos
"""Return the element-wise maximum of `input_tensor` and 0."""
relu6: _Acos
"""Return `input_tensor` clamped to [0, 6]."""
relu6_bw: _AcosBw
"""Return the list of gradients `[grad where 0 < x < 6 else 0]`."""
relu_bw: _AcosBw
"""Return the list of gradients `[grad where x > 0 else 0]`."""
relu_max: _ReluMax
"""Return `input_tensor` clamped to [0, `upper_limit`]."""
relu_min: _ReluMin
"""Return the element-wise maximum of `input_tensor` and `lower_limit`."""
remainder: _Eq
"""Return the element-wise modulus `a - b * floor(a / b)` with the sign of `b`, with broadcasting."""
remainder_bw: _FmodBw
"""Return the list of gradients `[grad, -grad * floor(a / b)]`."""
repeat: _Repeat
"""Return `input_tensor` repeated along each dimension."""
repeat_bw: _RepeatBw
"""Return the list of gradients `[the sum of grad over the repetitions]`."""
repeat_interleave: _RepeatInterleave
"""Return `input_tensor` with each element repeated along `dim`."""
requantize: _Requantize
"""Return `(input_tensor - in_zero_point) * in_scale / out_scale + out_zero_point` as int32, rounded to nearest."""
reshape: _Reshape
"""Return `input_tensor` with a new shape and elements in equal order."""
reshape_on_device: _ReshapeOnDevice
"""Return `input_tensor` reshaped to a shape of rank 4."""
reshard: _Reshard
"""Return a sharded tensor with another shard specification."""
rms_norm: _RmsNorm
"""Return `x / sqrt(mean(x ** 2) + epsilon)` over the last dimension of `x = input_tensor + residual_input_tensor`,
times `weight`, plus `bias`.
"""
rms_norm_post_all_gather: _RmsNormPostAllGather
"""Return the RMS norm of a device's row parts, from gathered statistics."""
rms_norm_pre_all_gather: _RmsNormPreAllGather
"""Return every row's sum of squares, in column 0 of a tile."""
roll: _Roll
"""Return `input_tensor` with elements rolled along dimensions, wrapping at the end."""
rotate: _Rotate
"""Return images rotated around a point."""
round: _Round
"""Return `input_tensor` rounded to `decimals` decimal places, ties to even."""
round_bw: _AcosBw
"""Return the list of gradients `[0]`."""
rpow: _Rpow
"""Return the element-wise power `exponent^x` of `input_tensor`."""
rpow_bw: _RpowBw
"""Return the list of gradients `[grad * exponent * x^(exponent - 1)]`."""
rsqrt: _Erf
"""Return the element-wise reciprocal square root, `1 / sqrt(x)`, of `input_tensor`."""
rsqrt_bw: _ExpBw
"""Return the list of gradients `[-grad / 2 * x^(-3/2)]`."""
rsub: _Rsub
"""Return the element-wise reversed difference `b - a`, with broadcasting."""
rsub_: _RsubInPlace
"""Write the reversed difference `b - a` to the first operand."""
rsub_bw: _RsubBw
"""Return the list of gradients `[-grad, grad]`."""
sampling: _Sampling
"""Return a token for every user, sampled from the largest scores."""
scale_causal_mask_hw_dims_softmax_in_place: _ScaleCausalMaskHwDimsSoftmaxInPlace
"""Write the softmax of `scale * input_tensor + mask` to the input; return it."""
scale_mask_softmax: _ScaleMaskSoftmax
"""Return the softmax of `scale * input_tensor + mask` over the last dimension."""
scale_mask_softmax_in_place: _ScaleMaskSoftmaxInPlace
"""Write the softmax of `scale * input_tensor + mask` to the input; return it."""
scatter: _Scatter
"""Return `input` with elements of `src` scattered to `index` along `dim`."""
scatter_add: _ScatterAdd
"""Return `input` with elements of `src` added at `index` along `dim`."""
selu: _Selu
"""Return the element-wise SELU, `scale * (x if x > 0 else alpha * (e^x - 1))`, of `input_tensor`."""
selu_bw: _AcosBw
"""Return the list of gradients `[scale * grad where x > 0 else scale * alpha * grad * e^x]`."""
sharded_to_interleaved: _ShardedToInterleaved
"""Return a sharded tensor as an interleaved one."""
sharded_to_interleaved_partial: _ShardedToInterleavedPartial
"""Write a slice of rows into a tensor, and return that."""
sigmoid: _Sigmoid
"""Return the element-wise sigmoid, `1 / (1 + e^-x)`, of `input_tensor`."""
sigmoid_accurate: _SigmoidAccurate
"""Return the element-wise sigmoid, `1 / (1 + e^-x)`, of `input_tensor`."""
sigmoid_bw: _SigmoidBw
"""Return the list of gradients `[grad * sigmoid(x) * (1 - sigmoid(x))]`."""
sign: _Acos
"""Return the element-wise sign (-1, 0 or 1) of `input_tensor`."""
sign_bw: _AcosBw
"""Return the list of gradients `[0]`."""
signbit: _Acos
"""Return 1 where `input_tensor` has the sign bit set, else 0."""
silu: _Acos
"""Return the element-wise SiLU, `x * sigmoid(x)`, of `input_tensor`."""
silu_bw: _ExpBw
"""Return the list of gradients `[grad * sigmoid(x) * (1 + x * (1 - sigmoid(x)))]`."""
sin: _Acos
"""Return the element-wise sine of `input_tensor`."""
sin_bw: _AcosBw
"""Return the list of gradients `[grad * cos(x)]`."""
sinh: _Acos
"""Return the element-wise hyperbolic sine of `input_tensor`."""
sinh_bw: _AcosBw
"""Return the list of gradients `[grad * cosh(x)]`."""
situ_glu: _SituGlu
"""Return `softcap(gate, beta1) * sigmoid(gate) * softcap(up, beta2)` element-wise, with broadcasting."""
slice: _Slice
"""Return the elements from `starts` to `ends` (excluded), with `steps`."""
snake_beta: _SnakeBeta
"""Return the element-wise activation `x + sin(alpha * x)**2 / beta`, with broadcasting."""
softcap: _Softcap
"""Return the element-wise soft cap, `beta * tanh(x / beta)`, of `input_tensor`."""
softmax: _Softmax
"""Return the softmax `exp(x) / sum(exp(x))` of `input_tensor` along `dim`."""
softmax_in_place: _SoftmaxInPlace
"""Write the softmax of `input_tensor` along `dim` to it; return it."""
softplus: _Softplus
"""Return the element-wise softplus, `ln(1 + e^(beta * x)) / beta`, of `input_tensor`."""
softplus_bw: _SoftplusBw
"""Return the list of gradients `[grad where beta * x > threshold else grad / (1 + e^(-beta * x))]`."""
softshrink: _Hardshrink
"""Return `input_tensor` moved toward 0 by `lambd`, and 0 where `|input_tensor| <= lambd`."""
softshrink_bw: _HardshrinkBw
"""Return the list of gradients `[grad where |x| > lambd else 0]`."""
softsign: _Acos
"""Return the element-wise softsign, `x / (1 + |x|)`, of `input_tensor`."""
softsign_bw: _AcosBw
"""Return the list of gradients `[grad / (1 + |x|)^2]`."""
sort: _Sort
"""Return the sorted elements along `dim`, and their indices."""
sparse_matmul: _SparseMatmul
"""Return the matmuls that `sparsity` selects, and zeros for the others."""
split: _Split
"""Return the list of pieces of `input_tensor` along `dim`."""
sqrt: _Erf
"""Return the element-wise square root of `input_tensor`."""
sqrt_bw: _ExpBw
"""Return the list of gradients `[grad / (2 * sqrt(x))]`."""
square: _Acos
"""Return the element-wise square of `input_tensor`."""
square_bw: _AcosBw
"""Return the list of gradients `[2 * grad * x]`."""
squared_difference: _Eq
"""Return the element-wise squared difference `(a - b)^2`, with broadcasting."""
squared_difference_: _BiasGeluInPlace
"""Write the squared difference `(a - b)^2` to the first operand."""
squared_difference_bw: _Atan2Bw
"""Return the list of gradients `[2 * grad * (a - b), -2 * grad * (a - b)]`."""
squeeze: _Squeeze
"""Return `input_tensor` without its dimensions of size 1."""
stack: _Stack
"""Return tensors joined along a new dimension `dim`."""
std: _Std
"""Return the standard deviation along `dim`."""
std_hw: _LogicalNotInPlace
"""Return the standard deviation of every matrix."""
sub_bw: _AddBw
"""Return the list of gradients `[grad, -grad]`."""
subalpha: _Addalpha
"""Return the element-wise difference `a - alpha * b`, with broadcasting."""
subalpha_bw: _SubalphaBw
"""Return the list of gradients `[grad, -alpha * grad]`."""
subtract: _Add
"""Return the element-wise difference `a - b`, with broadcasting."""
sub: _Add
"""Return the element-wise difference `a - b`, with broadcasting."""
subtract_: _AddInPlace
"""Write the difference `a - b` to the first operand."""
sub_: _AddInPlace
"""Write the difference `a - b` to the first operand."""
sum: _Mean
"""Return the sum of `input_tensor` over `dim`."""
swiglu: _Glu
"""Return `a * silu(b)` of the halves `a`, `b` of the padded last dimension."""
swish: _Acos
"""Return the element-wise SiLU, `x * sigmoid(x)`, of `input_tensor`."""
tan: _Acos
"""Return the element-wise tangent of `input_tensor`."""
tan_bw: _AcosBw
"""Return the list of gradients `[grad * (1 + tan(x)^2)]`."""
tanh: _Tanh
"""Return the element-wise hyperbolic tangent of `input_tensor`."""
tanh_bw: _TanhBw
"""Return the list of gradients `[grad * (1 - tanh(x)^2)]`."""
tanhshrink: _Acos
"""Return the element-wise difference `x - tanh(x)` of `input_tensor`."""
tanhshrink_bw: _AcosBw
"""Return the list of gradients `[grad * tanh(x)^2]`."""
threshold: _Threshold
"""Return `input_tensor` where it is greater than `threshold`, and `value` elsewhere."""
threshold_bw: _ThresholdBw
"""Return the list of gradients `[grad where x > min else 0]`."""
tilize: _Tilize
"""Return `input_tensor` in TILE_LAYOUT, values unchanged."""
tilize_with_val_padding: _TilizeWithValPadding
"""Return `input_tensor` in TILE_LAYOUT, padded with `pad_value` to `output_tensor_shape`."""
tilize_with_zero_padding: _TilizeWithZeroPadding
"""Return `input_tensor` in TILE_LAYOUT, padded with zeros to full tiles."""
to_layout: _ToLayout
"""Return `tensor` in `layout`, values unchanged."""
to_memory_config: _ToMemoryConfig
"""Return `tensor` in `memory_config`, values unchanged."""
topk: _Topk
"""Return the sorted `k` largest or smallest elements along `dim`, with indices."""
tosa_gather: _TosaGather
"""Return every batch's rows at `index`, as TOSA defines it."""
tosa_scatter: _TosaScatter
"""Return `input` with rows of every batch replaced, as TOSA defines it."""
transpose: _Transpose
"""Return `input_tensor` with the dimensions `dim1` and `dim2` transposed."""
tril: _Tril
"""Return the lower triangle of each matrix of `input_tensor`, and 0 elsewhere."""
triu: _Tril
"""Return the upper triangle of each matrix of `input_tensor`, and 0 elsewhere."""
trunc: _Acos
"""Return the element-wise integer part, the input rounded toward 0, of `input_tensor`."""
trunc_bw: _AcosBw
"""Return the list of gradients `[0]`."""
typecast: _Typecast
"""Return `input_tensor` converted to another data type, on its host or device."""
unary_chain: _UnaryChain
"""Return `input_tensor` with the functions of `ops_chain` applied in order."""
uniform: _Uniform
"""Write uniform random values from `from` to `to` into `input`; return it."""
unsqueeze: _Unsqueeze
"""Return `input_tensor` with a new dimension of size 1 at index `dim`."""
unsqueeze_to_4D: _UnsqueezeTo4D
"""Return `tensor` as rank 4, with leading dimensions of size 1."""
untilize: _Untilize
"""Return `input_tensor` in ROW_MAJOR_LAYOUT, without its tile padding."""
untilize_with_unpadding: _UntilizeWithUnpadding
"""Return `input_tensor` in ROW_MAJOR_LAYOUT, cropped to `output_tensor_end`."""
update_cache: _UpdateCache
"""Write each user's token's keys or values into the cache."""
upsample: _Upsample
"""Return upsampled images: nearest or bilinear."""
var: _Std
"""Return the variance along `dim`."""
var_hw: _LogicalNotInPlace
"""Return every matrix's variance, the mean of squared deviations."""
view: _View
"""Return a view of `input_tensor` with a new shape, sharing pages."""
where: _Where
"""Return `true_value` where `predicate` is not 0, and `false_value` elsewhere, with broadcasting."""
where_bw: _WhereBw
"""Return the list of gradients `[grad where the condition is not 0 else 0, grad where the condition is 0 else 0]`."""
xielu: _Xielu
"""Return the element-wise xIELU activation of `input_tensor`."""
xlogy: _Eq
"""Return the element-wise product `a * ln(b)`, with broadcasting."""
xlogy_bw: _Atan2Bw
"""Return the list of gradients `[grad * ln(b), grad * a / b]`."""
zeros: _Ones
"""Create a tensor of `shape` with zeros."""
zeros_like: _OnesLike
"""Create a tensor like `tensor` with zeros."""
all_broadcast: _AllBroadcast
"""Return the list of the tensors of a group's chips."""
all_gather: _AllGather
"""Return the joined tensors of a group's chips."""
all_reduce: _AllReduce
"""Return the sum of a group's tensors, on each chip."""
all_to_all_combine: _AllToAllCombine
"""Return what experts made of each chip's own tokens."""
all_to_all_dispatch: _AllToAllDispatch
"""Return the tokens of a group that have experts on each chip."""
broadcast: _Broadcast
"""Return one chip's tensor on all chips of its group."""
mesh_partition: _MeshPartition
"""Return each chip's slice of its tensor."""
moe_expert_token_remap: _MoeExpertTokenRemap
"""Return the scores of each chip's own experts."""
moe_routing_remap: _MoeRoutingRemap
"""Return each chip's share of the weights that are not zero."""
point_to_point: _PointToPoint
"""Return a tensor that has one chip's values on another chip."""
reduce_scatter: _ReduceScatter
"""Return each chip's slice of its group's sum."""
fused_rms_minimal: FastOperation
reduce_to_root: FastOperation
dram_prefetcher: FastOperation
matmul_batched_weights: FastOperation
