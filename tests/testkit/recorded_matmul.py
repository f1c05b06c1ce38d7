"""The language of the recorded matmul calls, evaluated against this package.

Calls and their helpers are texts in the golden vectors. Tensors are allocated and never written: the decisions look at
their specifications and at what L1 holds, and the recorded tensors are up to 16384 x 16384.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ttnn.base.activation import UnaryWithParam
from ttnn.base.compute_config import WormholeComputeKernelConfig
from ttnn.base.core_range import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ttnn.base.enums import (
    BufferType,
    DataType,
    Layout,
    MathFidelity,
    ShardOrientation,
    TensorMemoryLayout,
    UnaryOpType,
)
from ttnn.base.memory_config import DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, MemoryConfig, ShardSpec
from ttnn.base.program_config import (
    MatmulMultiCoreReuseMultiCast1DProgramConfig,
    MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig,
    MatmulMultiCoreReuseMultiCastProgramConfig,
    MatmulMultiCoreReuseProgramConfig,
)
from ttnn.base.tensor_spec import TensorSpec
from ttnn.device.lifecycle import MeshDevice
from ttnn.ops.matmul.configs import activation_of, compute_config_of, program_config_of
from ttnn.ops.matmul.matmul import chip_of
from ttnn.ops.matmul.resolve import MatmulCall
from ttnn.ops.matmul.specs import Operand, operand_of, placement_of
from ttnn.tensor.tensor import Tensor, allocate_tensor_on_device

DTYPES = {
    "bf16": DataType.BFLOAT16,
    "f32": DataType.FLOAT32,
    "bf8": DataType.BFLOAT8_B,
    "bf4": DataType.BFLOAT4_B,
    "i32": DataType.INT32,
    "u32": DataType.UINT32,
    "u16": DataType.UINT16,
}

_LAYOUTS = {
    "H": TensorMemoryLayout.HEIGHT_SHARDED,
    "W": TensorMemoryLayout.WIDTH_SHARDED,
    "B": TensorMemoryLayout.BLOCK_SHARDED,
}


@dataclass
class L1:
    """One chip's memory during a call.

    Tensors are allocated, but never written.
    """

    device: MeshDevice
    tensors: list[Tensor] = field(default_factory=list)

    def allocate(self, spec: TensorSpec) -> None:
        self.tensors.append(allocate_tensor_on_device(spec, self.device))

    @property
    def lowest(self) -> int | None:
        lowest: int | None = self.device.engine.lowest_l1_address()
        return lowest


@dataclass
class Recorded:
    """The request of a recorded expression."""

    call: MatmulCall
    l1: L1
    after: tuple[str, ...] = ()
    """Device operators after the matmul, which the call also includes."""


class OtherOperator(Exception):
    """The expression calls an operator that multiplies no matrices."""


def t(
    l1: L1,
    shape: tuple[int, ...],
    kind: str = "bf16",
    mc: MemoryConfig | None = None,
    L: Layout = Layout.TILE,  # noqa: N803 - the recorded calls spell it so
) -> Operand:
    spec = TensorSpec.of(shape, DTYPES[kind], L, mc or DRAM_MEMORY_CONFIG)
    l1.allocate(spec)
    return operand_of(spec)


def sh(
    kind: str, x: int, y: int, h: int, w: int, o: str = "R", x0: int = 0, y0: int = 0, buf: str = "L1"
) -> MemoryConfig:
    cores = CoreRangeSet([CoreRange(CoreCoord(x0, y0), CoreCoord(x0 + x - 1, y0 + y - 1))])
    orientation = ShardOrientation.ROW_MAJOR if o == "R" else ShardOrientation.COL_MAJOR
    return MemoryConfig(_LAYOUTS[kind], BufferType[buf], ShardSpec(cores, (h, w), orientation))


def shm(kind: str) -> MemoryConfig:
    return MemoryConfig(_LAYOUTS[kind], BufferType.L1)


def ck(
    fid: str = "HiFi2", fp32: bool = False, l1: bool = True, approx: bool = False, full: bool = False
) -> WormholeComputeKernelConfig:
    return WormholeComputeKernelConfig(
        math_fidelity=MathFidelity[fid],
        fp32_dest_acc_en=fp32,
        packer_l1_acc=l1,
        math_approx_mode=approx,
        dst_full_sync_en=full,
    )


def u(name: str, *params: float) -> UnaryWithParam:
    return UnaryWithParam(UnaryOpType[name], *params)


def _blocks(values: tuple[int, ...]) -> dict[str, Any]:
    gx, gy, *rest = values
    names = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
    return {"compute_with_storage_grid_size": CoreCoord(gx, gy), **dict(zip(names, rest, strict=True))}


def pc2(
    *values: int,
    tr: bool = False,
    act: UnaryWithParam | None = None,
    fb: bool = True,
) -> MatmulMultiCoreReuseMultiCastProgramConfig:
    bh, bw = (*values[7:], None, None)[:2]
    return MatmulMultiCoreReuseMultiCastProgramConfig(
        **_blocks(values[:7]), out_block_h=bh, out_block_w=bw, transpose_mcast=tr, fused_activation=act, fuse_batch=fb
    )


def pc1(
    *values: int,
    mc: bool = True,
    bh: int | None = None,
    bw: int | None = None,
    act: UnaryWithParam | None = None,
    fb: bool = True,
    un: bool = False,
    **other: Any,
) -> MatmulMultiCoreReuseMultiCast1DProgramConfig:
    return MatmulMultiCoreReuseMultiCast1DProgramConfig(
        **_blocks(values),
        out_block_h=bh,
        out_block_w=bw,
        fuse_batch=fb,
        fused_activation=act,
        mcast_in0=mc,
        untilize_out=un,
        **other,
    )


def pcr(*values: int) -> MatmulMultiCoreReuseProgramConfig:
    return MatmulMultiCoreReuseProgramConfig(**_blocks(values))


def pcd(
    in0_block_w: int, per_core_m: int, per_core_n: int, act: UnaryWithParam | None = None
) -> MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig:
    return MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
        in0_block_w=in0_block_w, per_core_M=per_core_m, per_core_N=per_core_n, fused_activation=act
    )


def _call(l1: L1, a: Operand, b: Operand, **options: Any) -> Recorded:
    """Return the call with L1 state after operand allocation."""
    grid = options.pop("core_grid", None)
    memory_config = options.pop("memory_config", None)
    config = options.pop("program_config", None)
    compute = options.pop("compute_kernel_config", None)
    activation = activation_of(options.pop("activation", None))
    chip = replace(chip_of(l1.device), l1_lowest_tensor=l1.lowest)
    call = MatmulCall(
        a,
        b,
        chip,
        bias=options.pop("bias", None),
        transpose_a=options.pop("transpose_a", False),
        transpose_b=options.pop("transpose_b", False),
        placement=None if memory_config is None else placement_of(memory_config),
        dtype=options.pop("dtype", None),
        config=None if config is None else program_config_of(config),
        activation=activation,
        compute=None if compute is None else compute_config_of(compute),
        core_grid=None if grid is None else (grid.x, grid.y),
        output=options.pop("optional_output_tensor", None),
    )
    assert not options, f"options the runner does not know: {sorted(options)}"
    return Recorded(call, l1)


def _addmm(l1: L1, x: Operand, a: Operand, b: Operand, alpha: float = 1.0, beta: float = 1.0) -> Recorded:
    """Return an addmm's matmul and following element-wise operators."""
    assert x.shape == (a.shape[-2], b.shape[-1])
    following = 1 + (alpha != 1.0) + (beta != 1.0)
    return replace(_call(l1, a, b), after=("BinaryNgDeviceOperation",) * following)


@dataclass
class _Module:
    """Placeholder for `ttnn` in expressions, where only matmuls are tested."""

    l1: L1

    def addmm(self, *args: Any, **kwargs: Any) -> Recorded:
        return _addmm(self.l1, *args, **kwargs)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise OtherOperator(name)

        return refuse


def evaluate(device: MeshDevice, expression: str) -> Recorded:
    """Return what a recorded expression asks for.

    Raises:
        OtherOperator: it calls no operator that multiplies matrices.
    """
    l1 = L1(device)
    names: dict[str, Any] = {
        "t": lambda *args, **kwargs: t(l1, *args, **kwargs),
        "mm": lambda *args, **kwargs: _call(l1, *args, **kwargs),
        "lin": lambda *args, **kwargs: _call(l1, *args, **kwargs),
        "T": Layout.TILE,
        "R": Layout.ROW_MAJOR,
        "L1": L1_MEMORY_CONFIG,
        "DRAM": DRAM_MEMORY_CONFIG,
        "dt": DTYPES,
        "CG": CoreGrid,
        "sh": sh,
        "shm": shm,
        "ck": ck,
        "u": u,
        "pc1": pc1,
        "pc2": pc2,
        "pcr": pcr,
        "pcd": pcd,
        "ttnn": _Module(l1),
    }
    recorded = eval(expression, {"__builtins__": {}}, names)
    assert isinstance(recorded, Recorded)
    return recorded
