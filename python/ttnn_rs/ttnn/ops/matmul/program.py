"""The decided program: data from a matmul call to the engine call.

It prints itself.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ttnn.base.enums import BLOCK_FLOATS, DataType, TensorMemoryLayout, UnaryOpType

from .configs import FACTORIES, Activation, ComputeConfig, Kind, ProgramConfig
from .problem import Problem
from .specs import Cores, Operand, cores_text, up

# Numbers under which the compute kernel knows the activations, and the parameters that it is given with them.
_ACTIVATION_NUMBER: Final = {
    UnaryOpType.GELU: 1,
    UnaryOpType.TANH: 3,
    UnaryOpType.SILU: 4,
    UnaryOpType.RELU6: 5,
    UnaryOpType.SIGMOID: 6,
    UnaryOpType.SELU: 9,
}

_SHORT_NAME: Final = {
    DataType.BFLOAT16: "BF16",
    DataType.FLOAT32: "FP32",
    DataType.BFLOAT8_B: "BFP8_b",
    DataType.BFLOAT4_B: "BFP4_b",
}


@dataclass(frozen=True)
class KernelBuffer:
    """A circular buffer as the compute kernel sees it.

    Args:
        id: Number, dense in binding order.
        l1: Format in L1.
        unpack: Format of the register that it is unpacked to; FP32 means straight into Dst.
        pack_from: Intermediate format of the packer when it is packed; "BFP8_b" is the E8M6 step of numerics.
    """

    id: int
    l1: str
    unpack: str
    pack_from: str


def kernel_buffer(number: int, dtype: DataType, *, fp32: bool) -> KernelBuffer:
    """Return the view of an operand or output buffer."""
    name = _SHORT_NAME[dtype]
    if dtype is DataType.FLOAT32:
        return KernelBuffer(number, name, "TF32", "FP32") if fp32 else KernelBuffer(number, name, "BF16", "BF16")
    return KernelBuffer(number, name, name, "BFP8_b" if dtype in BLOCK_FLOATS else "BF16")


@dataclass(frozen=True)
class L1Buffer:
    """A piece of L1 on the program's cores.

    `borrowed` if it is the memory of a tensor.
    """

    name: str
    bytes: int
    borrowed: bool = False


def own_bytes(buffers: tuple[L1Buffer, ...]) -> int:
    """Return the bytes of the buffers outside tensors."""
    return sum(buffer.bytes for buffer in buffers if not buffer.borrowed)


@dataclass(frozen=True)
class MatmulProgram:
    """A matrix multiplication as it will run.

    Args:
        problem: Operands after transposes, output placement, compute configuration, chip.
        config: Program configuration in force.
        chosen: Whether the configuration was chosen automatically.
        out: The result: shape, data type, layout, placement with its shards.
        transpose_a: Whether A is stored transposed.
        transpose_b: Whether B is stored transposed.
        bcast_batch: Whether one B serves all matrices of A.
        separate_bias: The bias if it is added by an operator of its own.
        separate_activation: The activation if it runs as an operator of its own.
        kernel_batch: Matrices that a core loops over.
        cores: Cores that work.
        buffers: L1 of the program, in creation order.
    """

    problem: Problem
    config: ProgramConfig
    chosen: bool
    out: Operand
    transpose_a: bool
    transpose_b: bool
    bcast_batch: bool
    separate_bias: Operand | None
    separate_activation: Activation | None
    kernel_batch: int
    cores: Cores
    buffers: tuple[L1Buffer, ...]

    @property
    def factory(self) -> str:
        """Name of the official program factory."""
        if self.config.gather_in0:
            return "MatmulMeshWorkloadMultiCoreReuseMcast1DProgramFactory"
        return FACTORIES[self.config.kind]

    @property
    def compute(self) -> ComputeConfig:
        """Compute configuration in force."""
        return self.problem.compute

    @property
    def in0_block_w(self) -> int:
        """Tiles of a K block.

        The one-tile program keeps the whole sum in Dst, and so does a ring with one subblock.
        """
        return self.problem.kt if sum_stays_in_dst(self.config) else self.config.in0_block_w

    @property
    def ring(self) -> tuple[int, int] | None:
        """Tile columns and K tiles of a ring core."""
        return (self.config.per_core_n, self.config.in0_block_w) if self.config.gather_in0 else None

    @property
    def num_k_blocks(self) -> int:
        """Number of K blocks."""
        return self.problem.kt // self.in0_block_w

    @cached_property
    def own_bytes(self) -> int:
        """L1 bytes of the program in each core, without those of tensors."""
        return own_bytes(self.buffers)

    @property
    def l1_accumulation(self) -> bool:
        """Return True if the packer accumulates partial sums in L1."""
        return uses_l1_accumulation(self.problem, self.config)

    @property
    def partials(self) -> DataType:
        """Format in which sums of K blocks are kept."""
        return partials_format(self.problem, self.config)

    @property
    def packer_relu(self) -> bool:
        """Return True if the last pack applies ReLU."""
        activation = self.config.fused_activation
        return activation is not None and activation.op is UnaryOpType.RELU and not activation.params

    @property
    def vector_activation(self) -> Activation | None:
        """Activation that the SFPU applies before the last pack."""
        return None if self.packer_relu else self.config.fused_activation

    def kernel_buffers(self) -> dict[str, KernelBuffer]:
        """Return the compute kernel's buffers by bound name."""
        problem, fp32 = self.problem, self.compute.fp32
        result: dict[str, KernelBuffer] = {}

        def bind(name: str, dtype: DataType) -> None:
            result[name] = kernel_buffer(len(result) + skipped, dtype, fp32=fp32)

        skipped = 0
        bind("in0", problem.a.dtype)
        bind("in1", problem.b.dtype)
        if has_in0_shards(problem, self.config):
            skipped = 1
        bind("out", self.out.dtype)
        if self.config.kind is Kind.MULTI_CORE:
            return result
        bind("intermed0", self.partials)
        if fp32:
            # Partials in FP32 are read back straight into Dst, but as an operand of the bias add they become TF32.
            number = result["intermed0"].id
            register = "TF32" if problem.bias is not None else "FP32"
            result["intermed0"] = KernelBuffer(number, "FP32", register, "FP32")
            if problem.bias is not None:
                result["intermed0_reload_alias"] = KernelBuffer(number + 1, "FP32", "FP32", "FP32")
        if problem.bias is not None:
            bind("bias", problem.bias.dtype)
        if self.transpose_a:
            bind("in0_transposed", problem.a.dtype)
        return result

    def compute_args(self) -> dict[str, int]:
        """Return compile-time arguments of the first core group's compute kernel."""
        config, kb = self.config, self.in0_block_w
        if config.kind is Kind.MULTI_CORE:
            return {"Kt": kb, "Mt": 1, "Nt": self._tiles_per_core(), "batch": 1}
        h, w = config.out_subblock_h, config.out_subblock_w
        block_h, block_w = config.out_block_h or config.per_core_m, config.out_block_w or config.per_core_n
        if config.kind is Kind.DRAM_SHARDED:
            block_w = up(self.problem.nt, self.problem.chip.dram_banks)
            h, w = 1, block_w
        in0_h = min(block_h, self.problem.mt) if config.kind is Kind.REUSE else block_h
        args = {
            "batch": self.kernel_batch,
            "get_batch_from_reader": 0,
            "in0_block_num_tiles": in0_h * kb,
            "in0_block_w": kb,
            "in0_num_subblocks": in0_h // h,
            "in0_subblock_num_tiles": h * kb,
            "in1_block_num_tiles": block_w * kb,
            "in1_block_w": block_w,
            "in1_num_subblocks": block_w // w,
            "num_blocks_h_dim": config.per_core_m // block_h,
            "num_blocks_inner_dim": self.num_k_blocks,
            "num_blocks_w_dim": 1 if config.kind is Kind.DRAM_SHARDED else config.per_core_n // block_w,
            "out_block_num_tiles": block_h * block_w,
            "out_subblock_h": h,
            "out_subblock_num_tiles": h * w,
            "out_subblock_w": w,
            "untilize_out": int(config.untilize_out),
        }
        if config.kind is not Kind.REUSE:
            args["bias_ntiles"] = block_w
        elif self.problem.bias is not None:
            args["bias_ntiles"] = in0_h * block_w
        if config.kind is Kind.DRAM_SHARDED:
            args["last_subblock_w_valid"] = w
        if self.problem.bias is not None:
            args["row_broadcast_bias"] = int(self.problem.bias_is_row)
        activation = self.vector_activation
        if activation is not None and activation.op in _ACTIVATION_NUMBER:
            args |= _activation_args(activation)
        return dict(sorted(args.items()))

    def defines(self) -> list[str]:
        """Return what the compute kernel is built with."""
        problem = self.problem
        flags = {
            "BIAS_FULL_BLOCK": problem.bias is not None and self.config.kind is Kind.REUSE,
            "FP32_DEST_ACC_EN": self.compute.fp32,
            "FUSE_BIAS": problem.bias is not None,
            "IN0_TRANSPOSE_TILE": self.transpose_a,
            "IN1_TRANSPOSE_TILE": self.transpose_b,
            "MATMUL_DRAM_SHARDED": self.config.kind is Kind.DRAM_SHARDED,
            "MM_PARTIALS_RELOAD_ALIAS": problem.bias is not None and self.compute.fp32,
            "PACKER_L1_ACC": self.l1_accumulation,
            "PACK_RELU": self.packer_relu,
            "SFPU_ACTIVATION": self.vector_activation is not None,
        }
        return [f"{name} 1" for name, on in flags.items() if on]

    def _tiles_per_core(self) -> int:
        total = self.problem.batch_a * self.problem.mt * self.problem.nt
        return up(total, sum(box.cores for box in self.cores))

    def __str__(self) -> str:
        problem = self.problem
        fused = [name for name, on in (("bias", problem.bias is not None),) if on]
        if self.config.fused_activation is not None:
            fused.append(self.config.fused_activation.op.name.lower())
        after = [name for name, on in (("add", self.separate_bias is not None),) if on]
        if self.separate_activation is not None:
            after.append(self.separate_activation.op.name.lower())
        how = "accumulated in L1" if self.l1_accumulation else "reloaded"
        lines = [
            f"{self.factory} ({'chosen' if self.chosen else 'given'} configuration)",
            f"  [{problem.batch_a}, {problem.mt}, {problem.kt}] x [{problem.batch_b}, {problem.kt}, {problem.nt}] "
            "tiles, "
            f"{problem.a.dtype.name} x {problem.b.dtype.name} -> {self.out.dtype.name}, {self.out.placement}",
            f"  {self.config}",
            f"  {self.compute}",
            f"  {self.num_k_blocks} K blocks of {self.in0_block_w} tiles"
            + (f", partial sums in {self.partials.name}, {how}" if self.num_k_blocks > 1 else ""),
            f"  cores {cores_text(self.cores)}, {self.kernel_batch} matrices per core",
            "  L1 "
            + ", ".join(f"{buffer.name} {buffer.bytes}{' (borrowed)' * buffer.borrowed}" for buffer in self.buffers),
        ]
        if fused:
            lines.append(f"  fused: {', '.join(fused)}")
        if after:
            lines.append(f"  followed by: {', '.join(after)}")
        return "\n".join(lines)


def _activation_args(activation: Activation) -> dict[str, int]:
    params = (*activation.params, 0.0, 0.0, 0.0)[:3]
    values = [int(value) for value in params]
    if activation.op is UnaryOpType.RELU6:
        values = [_float_bits(6.0), 0, 0]
    elif activation.op is UnaryOpType.SELU:
        values = [_float_bits(1.0507010221481323), _float_bits(1.6732631921768188), 0]
    return {"activation_type": _ACTIVATION_NUMBER[activation.op]} | {
        f"activation_param{i}": value for i, value in enumerate(values)
    }


def _float_bits(value: float) -> int:
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits


def sum_stays_in_dst(config: ProgramConfig) -> bool:
    """Return whether there are no partial sums."""
    subblock = config.out_subblock_h * config.out_subblock_w
    one_subblock = subblock == config.per_core_m * config.per_core_n
    return config.kind is Kind.MULTI_CORE or (config.gather_in0 and one_subblock)


def uses_l1_accumulation(problem: Problem, config: ProgramConfig) -> bool:
    """Return whether partial sums add in L1.

    It is requested, and there is more than one K block.
    """
    if sum_stays_in_dst(config):
        return False
    return problem.compute.l1_acc and problem.kt // config.in0_block_w > 1


def partials_format(problem: Problem, config: ProgramConfig) -> DataType:
    """Return the partial sums' format.

    Without L1 accumulation it is the output format, block floats included.
    """
    if problem.compute.fp32:
        return DataType.FLOAT32
    return DataType.BFLOAT16 if uses_l1_accumulation(problem, config) else problem.out_dtype


def has_in0_shards(problem: Problem, config: ProgramConfig) -> bool:
    """Return whether A's shard is a buffer of its own.

    It is next to the normal in0 buffer, which other cores fill.
    """
    return (
        config.kind in (Kind.MCAST_1D, Kind.MCAST_2D)
        and not config.gather_in0
        and problem.a.placement.layout in (TensorMemoryLayout.BLOCK_SHARDED, TensorMemoryLayout.WIDTH_SHARDED)
    )
