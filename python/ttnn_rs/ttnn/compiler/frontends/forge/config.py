"""Settings of a compilation, by the names of tt-forge."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.frontends.forge.formats import DataFormat, MathFidelity, format_of

__all__ = ["CompileDepth", "CompilerConfig", "MLIRConfig", "check"]


class CompileDepth(Enum):
    """Stages of a compilation."""

    INIT_COMPILE = 0
    GENERATE_INITIAL_GRAPH = 1
    POST_INITIAL_GRAPH_PASS = 2
    CONSTEVAL_GRAPH = 3
    POST_PATTERN_MATCHER = 4
    OPTIMIZED_GRAPH = 5
    AUTOGRAD = 6
    POST_AUTOGRAD_PASS = 7
    PRE_LOWERING_PASS = 8
    SPLIT_GRAPH = 9
    RUN_MLIR_COMPILER = 10
    FINISH_COMPILE = 11
    FULL = 12


class MLIRConfig:
    """Settings of the compiler; each setter returns the object.

    Attributes:
        settings: What is set, by name.
    """

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}

    def _set(self, name: str, value: Any) -> MLIRConfig:
        self.settings[name] = value
        return self

    def set_enable_consteval(self, enable: bool) -> MLIRConfig:
        """Set constant evaluation, which is always done."""
        return self._set("enable_consteval", enable)

    def set_enable_optimizer(self, enable: bool) -> MLIRConfig:
        """Set whether layouts are searched; accepted without effect."""
        return self._set("enable_optimizer", enable)

    def set_enable_memory_layout_analysis(self, enable: bool) -> MLIRConfig:
        """Set whether placements are searched; accepted without effect."""
        return self._set("enable_memory_layout_analysis", enable)

    def set_enable_fusing(self, enable: bool) -> MLIRConfig:
        """Set whether operations are fused; accepted without effect."""
        return self._set("enable_fusing", enable)

    def set_custom_config(self, text: str) -> MLIRConfig:
        """Set options of the pipeline, as text."""
        return self._set("custom_config", text)


@dataclass
class CompilerConfig:
    """Settings of a compilation.

    Fields that steer TVM are accepted without effect.

    Attributes:
        compile_depth: How far; RUN_MLIR_COMPILER and later ones are all of it.
        default_df_override: Element type of the model, which has to be its own.
        default_math_fidelity: Accepted: operators run with their own.
        mlir_config: Settings of the compiler.
    """

    enable_training: bool = False
    enable_recompute: bool = False
    match_subgraph_patterns: int | None = None
    enable_optimization_passes: bool = False
    enable_consteval: bool = True
    compile_subgraphs: bool = False
    enable_pt2_fx_graph_link: bool = False
    compile_depth: CompileDepth = CompileDepth.FULL
    enable_tvm_cpu_fallback: bool = False
    cpu_fallback_ops: set[str] = field(default_factory=lambda: {"embedding"})
    enable_tm_cpu_fallback: bool = False
    tm_cpu_fallback_max_depth: int = 10
    enable_tvm_dropout: bool = False
    enable_tvm_unsupported_ops: bool = False
    enable_tvm_constant_prop: bool = False
    convert_framework_params_to_tvm: bool = False
    enable_xla_jax_convert: bool = False
    enable_tvm_jax_freeze_large_model: bool = True
    framework_model_output_names: list[str] = field(default_factory=list)
    tvm_constnat_prop_mask: set[str] = field(default_factory=set)
    compile_tvm_to_python: bool = True
    retain_tvm_python_files: bool = False
    tvm_graph_store_path: str = ""
    tvm_graph_load_path: str = ""
    tvm_module_to_num_patterns: dict[str, int] = field(default_factory=dict)
    extract_tvm_unique_ops_config: bool = False
    export_tvm_unique_ops_config_details: bool = False
    loopback_outputs: dict[str, int] = field(default_factory=dict)
    default_df_override: DataFormat | None = None
    default_accumulate_df: DataFormat | None = None
    enable_broadcast_splitting: bool = False
    default_math_fidelity: MathFidelity = MathFidelity.HiFi3
    amp_level: int | None = None
    fracture_groups: list[Any] = field(default_factory=list)
    amp_properties: list[Any] = field(default_factory=list)
    mlir_config: MLIRConfig | None = None


def check(config: CompilerConfig, tensors: list[Any]) -> str:
    """Return the options of the pipeline that a config asks for.

    Args:
        config: How to compile.
        tensors: Parameters and inputs of the model.

    Raises:
        ParameterError: It is no config.
        UnsupportedError: It asks for what is not done here.
    """
    if not isinstance(config, CompilerConfig):
        raise ParameterError(f"compiler_cfg: expected a forge.config.CompilerConfig, got {type(config).__name__}.")
    if config.compile_depth.value < CompileDepth.RUN_MLIR_COMPILER.value:
        raise UnsupportedError(
            f"compile_depth {config.compile_depth.name} is a stage that is not there; compile with CompileDepth.FULL."
        )
    if config.amp_level:
        raise UnsupportedError(f"amp_level {config.amp_level}: convert the model with .to() instead.")
    wanted = config.default_df_override
    if wanted is not None:
        others = {format_of(one.dtype) for one in tensors if one.dtype.is_floating_point} - {wanted}
        if others:
            names = ", ".join(sorted(one.name for one in others))
            raise UnsupportedError(
                f"default_df_override {wanted.name}: the model and its inputs have {names}; convert them with .to()."
            )
    return str(config.mlir_config.settings.get("custom_config", "")) if config.mlir_config is not None else ""
