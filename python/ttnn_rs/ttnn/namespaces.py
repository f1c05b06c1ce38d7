"""Operator namespaces such as `ttnn.transformer` and `ttnn.experimental`.

Names in them have a dot.
"""

import sys
from types import ModuleType
from typing import Any, Final

from ttnn.base import enums, refused_names, yuv
from ttnn.base.conv_config import Conv2dConfig, Conv2dSliceConfig
from ttnn.base.enums import Topology
from ttnn.base.system_enums import MoEActivationFunction
from ttnn.operation import activations
from ttnn.operation.hooks import get_golden_function
from ttnn.operation.registry import exports
from ttnn.operation.vendor_names import missing
from ttnn.ops.conv.prepare import get_conv_output_dim
from ttnn.ops.conversion import quantize_weights_via_host
from ttnn.ops.eltwise.complex.parts import complex_mul
from ttnn.ops.normalization.parameters import dram_group_norm_virtual_columns


class Namespace(ModuleType):
    """Operators below a name.

    A missing one raises an error with the reason.
    """

    def __getattr__(self, name: str) -> Any:
        """Refuse a name that is not here.

        Raises:
            AttributeError: always; `MissingNameError` if the official package has the name.
        """
        raise missing(f"{self.__name__.partition('.')[2]}.{name}")


def _made() -> dict[str, Namespace]:
    """Return all namespaces by their names below `ttnn`, filled."""
    found: dict[str, Namespace] = {}
    for name, operation in exports().items():
        *path, last = name.split(".")
        for depth in range(1, len(path) + 1):
            inner = ".".join(path[:depth])
            if inner not in found:
                found[inner] = sys.modules[f"ttnn.{inner}"] = Namespace(f"ttnn.{inner}", f"Operators of ttnn.{inner}.")
                if depth > 1:
                    setattr(found[".".join(path[: depth - 1])], path[depth - 1], found[inner])
        if path:
            setattr(found[".".join(path)], last, operation)
    return found


# In the official module the strategies of softmax have both names.
_MOREH_KINDS: Final = {
    "SoftmaxBackwardOp": enums.MorehSoftmaxBackwardOp,
    "SoftmaxBackwardOpParallelizationStrategy": enums.MorehSoftmaxBackwardOpParallelizationStrategy,
    "SoftmaxOp": enums.MorehSoftmaxOpParallelizationStrategy,
    "SoftmaxOpParallelizationStrategy": enums.MorehSoftmaxOpParallelizationStrategy,
}


def _with_modules(found: dict[str, Namespace]) -> dict[str, Namespace]:
    """Return the namespaces with their official modules without operators."""
    operations = found.setdefault("operations", Namespace("ttnn.operations", "Operators of ttnn.operations."))
    sys.modules["ttnn.operations"] = operations
    sys.modules["ttnn.operations.activations"] = activations
    operations.activations = activations
    moreh = Namespace("ttnn.operations.moreh", "Operators of the moreh family, without that word.")
    for name, operation in exports().items():
        if name.startswith("moreh_"):
            setattr(moreh, name.removeprefix("moreh_"), operation)
    moreh.abs = moreh.abs_pow
    for name, kind in _MOREH_KINDS.items():
        setattr(moreh, name, kind)
    sys.modules["ttnn.operations.moreh"] = operations.moreh = moreh
    _add_categories(operations)
    found["experimental"].complex_mul = complex_mul
    found["experimental"].quantize_weights_via_host = quantize_weights_via_host
    found["experimental"].rgb_to_yuv = refused_names.rgb_to_yuv
    for name in yuv.__all__:
        setattr(found["experimental"], name, getattr(yuv, name))
    for kind in (enums.RGBRange, enums.YUVColorSpace, enums.YUVFormat, enums.YUVRange):
        setattr(found["experimental"], kind.__name__, kind)
    found["transformer"].SparseKVFormat = enums.SparseKVFormat
    return found


class OperationModule(Namespace):
    """An official operator module.

    Its other official names are those of `ttnn`; a star import has none.
    """

    def __init__(self, name: str, doc: str, others: str = "") -> None:
        super().__init__(f"ttnn.operations.{name}", doc)
        self.__all__: list[str] = []
        self._others = frozenset(others.split())

    def __getattr__(self, name: str) -> Any:
        """Return a name of `ttnn` that the official module has too.

        Raises:
            AttributeError: the official module does not have it; `MissingNameError` if it has and `ttnn` has not.
        """
        if name in self.__dict__.get("_others", ()):
            return getattr(sys.modules["ttnn"], name)
        return super().__getattr__(name)


_OTHERS: Final = {
    "binary_backward": "",
    "binary_complex": "",
    "ccl": "DispatchAlgorithm MMSignalAggregatorMode WorkerMode get_num_links get_usable_topology",
    "comparison": "pearson_correlation_coefficient",
    "complex_unary_backward": "",
    "conv2d": "Conv2dDRAMSliceHeight Conv2dDRAMSliceWidth Conv2dL1Full Conv2dL1FullSliceConfig Op2DDRAMSliceHeight "
    "Op2DDRAMSliceWidth Op2DL1Full Op2DL1FullSliceConfig Op2DSliceConfig PaddingMode SlidingWindowParallelConfig "
    "prepare_conv_bias prepare_conv_transpose2d_bias prepare_conv_transpose2d_weights prepare_conv_weights",
    "core": "as_tensor dump_tensor from_torch load_tensor to_torch",
    "data_movement": "SliceDeviceOperation SliceInputs SliceParams SliceTileProgramFactory",
    "embedding": "EmbeddingsType",
    "losses": "LossReductionMode",
    "matmul": "MatmulMultiCoreReuseMultiCast1DProgramConfig MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig "
    "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig MatmulMultiCoreReuseMultiCastProgramConfig "
    "MatmulDeviceOperation MatmulInputs MatmulMultiCoreReuseProgramConfig "
    "MatmulParams create_matmul_attributes matmul_select_program_factory",
    "normalization": "DistributedLayerNormStage LayerNormDefaultProgramConfig LayerNormShardedMultiCoreProgramConfig "
    "LayerNormDeviceOperation LayerNormInputs LayerNormMultiCoreProgramFactory LayerNormParams "
    "LayerNormShardedProgramFactory LayerNormType SoftmaxDefaultProgramConfig SoftmaxProgramConfig "
    "SoftmaxShardedMultiCoreProgramConfig "
    "create_group_norm_input_mask create_group_norm_input_negative_mask "
    "create_group_norm_weight_bias_rm create_layer_norm_reciprocals create_layernorm_program_config "
    "determine_expected_group_norm_dram_grid_size determine_expected_group_norm_sharded_config_and_grid_size "
    "dram_group_norm_params_from_torch "
    "get_group_norm_cores_across_channel layernorm_default_compute_config rmsnorm_default_compute_config",
    "pool": "prepare_grid_sample_grid",
    "reduction": "ReduceType",
    "ternary_backward": "",
    "transformer": "ChunkGdnFusedProgramConfig ChunkGdnMonoProgramConfig ChunkGdnPhasedProgramConfig "
    "ChunkGdnWyInverse PagedCacheGeometryOverride SDPAProgramConfig SparseKVFormat",
    "unary": "GeluVariant SigmoidMode",
    "unary_backward": "",
    "unary_complex": "",
}
"""Official modules below `ttnn.operations`, and their names that are no operators."""
_CATEGORIES: Final = {
    "binary": "eltwise/binary",
    "ccl": "ccl",
    "conv2d": "conv",
    "creation": "creation",
    "data_movement": "data_movement",
    "embedding": "embedding",
    "losses": "losses",
    "matmul": "matmul",
    "normalization": "normalization",
    "pool": "pool",
    "reduction": "reduction",
    "ternary": "eltwise/ternary",
    "transformer": "transformer",
    "unary": "eltwise/unary",
}
"""Official modules below `ttnn.operations`, and the categories whose operators they have."""


_POOLS: Final = (
    "max_pool2d", "avg_pool2d", "global_avg_pool2d", "adaptive_avg_pool2d", "rotate", "upsample", "grid_sample",
)  # fmt: skip
"""Operators whose golden functions have names in the official module."""


def _add_categories(operations: Namespace) -> None:
    """Make the official operator category modules, with other used names.

    Programs import the other names from them.
    """
    operations.__path__ = []  # what makes a module a package
    modules = {
        name: OperationModule(name, f"Operators of {_CATEGORIES.get(name, name)}.", _OTHERS.get(name, ""))
        for name in {**_CATEGORIES, **_OTHERS}
    }
    owners = {path: modules[name] for name, path in _CATEGORIES.items()}
    for name, operation in exports().items():
        entry = operation.entry
        if entry is not None and "." not in name and entry.category in owners:
            setattr(owners[entry.category], name, operation)
    modules["ccl"].Topology = Topology
    modules["ccl"].MoEActivationFunction = MoEActivationFunction
    modules["conv2d"].Conv2dConfig = Conv2dConfig
    modules["conv2d"].Conv2dSliceConfig = Conv2dSliceConfig
    modules["conv2d"].get_conv_output_dim = get_conv_output_dim
    modules["normalization"].dram_group_norm_virtual_columns = dram_group_norm_virtual_columns
    for name in _POOLS:
        setattr(modules["pool"], f"golden_{name.replace('max_pool', 'maxpool')}", get_golden_function(exports()[name]))
    modules["pool"].golden_adaptive_max_pool2d = get_golden_function(exports()["adaptive_max_pool2d"])
    for name, module in modules.items():
        sys.modules[f"ttnn.operations.{name}"] = module
        setattr(operations, name, module)


_outer = {name: namespace for name, namespace in _with_modules(_made()).items() if "." not in name}
__all__ = list(_outer)
globals().update(_outer)
