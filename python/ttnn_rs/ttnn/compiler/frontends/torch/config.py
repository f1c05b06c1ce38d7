"""Configuration of tt-torch: its fields, defaults, and variables of the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from typing import Any, Final

from ttnn.base.exceptions import ParameterError

__all__ = ["CompileDepth", "CompilerConfig", "OpByOpBackend", "OpCompilationStatus"]


class CompileDepth(Enum):
    """Depths of compilation.

    Below EXECUTE results are those of PyTorch itself.
    """

    TORCH_FX = 1
    STABLEHLO = 2
    TTNN_IR = 3
    COMPILE_OP_BY_OP = 4
    EXECUTE_OP_BY_OP = 5
    EXECUTE = 6


class OpByOpBackend(Enum):
    """Sources of single operations."""

    TORCH = 1
    STABLEHLO = 2


class OpCompilationStatus(IntEnum):
    """Steps that an operation reached."""

    NOT_STARTED = 0
    CREATED_GRAPH = 1
    CONVERTED_TO_TORCH_IR = 2
    CONVERTED_TO_TORCH_BACKEND_IR = 3
    CONVERTED_TO_STABLE_HLO = 4
    CONVERTED_TO_TTIR = 5
    CONVERTED_TO_TTNN = 6
    EXECUTED = 7


@dataclass
class CompilerConfig:
    """Configuration with the fields of tt-torch.

    Fields of other compilers and of the real machine have no effect.

    Attributes:
        compile_depth: How far.
        op_by_op_backend: What single operations are made of.
        check_all_ops_execute: Whether an operation that runs on the host is an error.
        verify_op_by_op: Whether each operation is compared with PyTorch in op-by-op mode.
        single_op_timeout: Seconds for each operation of op-by-op mode.
        results_path: Folder of the results of op-by-op mode.
        save_mlir_override: Programs to save: TTIR.
        dump_binary: Whether to save the binary.
    """

    compile_depth: CompileDepth = CompileDepth.EXECUTE
    profile_ops: bool = True
    torch_mlir_module: Any = None
    stablehlo_mlir_module: Any = None
    unique_ops: dict[str, Any] = field(default_factory=dict)
    stable_hlo_ops: list[Any] = field(default_factory=list)
    model_name: str = ""
    model_group: str = ""
    results_path: str = "results/models/"
    single_op_timeout: int = 30
    op_by_op_backend: OpByOpBackend = OpByOpBackend.TORCH
    enable_consteval: bool = False
    enable_optimizer: bool = False
    consteval_parameters: bool = False
    enable_intermediate_verification: bool = False
    dump_debug: bool = False
    dump_info: bool = False
    check_all_ops_execute: bool = False
    verify_op_by_op: bool = False
    typecast_inputs: bool = True
    cache_preprocessed_constants: bool = False
    inline_parameters: bool = False
    record_property: Callable[..., Any] = lambda *args, **kwargs: None
    runtime_intermediate_cache: Any = None
    save_mlir_override: tuple[str, ...] | None = None
    dump_binary: bool = False
    output_mlir_dir: str = "model_mlir"
    output_binary_dir: str = "model_flatbuffer"
    valid_dialects: tuple[str, ...] = ("STABLEHLO", "TTIR", "TTNN")
    device_map: dict[Any, Any] = field(default_factory=dict)
    automatic_parallelization: bool = False
    mesh_shape: tuple[int, ...] = (1, 1)
    push_outputs_to_cpu: bool = True
    arg_type_map_override: bool = False
    xla_mesh: Any = None

    def with_environment(self, environment: Mapping[str, str] | None = None) -> CompilerConfig:
        """Return the configuration with the values of TT_TORCH_* variables.

        Variables take precedence over fields that are set.

        Raises:
            ParameterError: A variable has a wrong value.
        """
        given = os.environ if environment is None else environment
        changed: dict[str, Any] = {}
        for name, (key, read) in _VARIABLES.items():
            text = given.get(f"TT_TORCH_{name}")
            if text is not None:
                try:
                    changed[key] = read(text)
                except (KeyError, ValueError):
                    raise ParameterError(f"TT_TORCH_{name}: {text!r} is no value of it.") from None
        return replace(self, **changed)


def _flag(text: str) -> bool:
    return {"1": True, "0": False, "true": True, "false": False, "": False}[text.lower()]


def _programs(text: str) -> tuple[str, ...]:
    known = {one: one for one in ("STABLEHLO", "TTIR", "TTNN")}
    return tuple(known[one.strip().upper()] for one in text.split(",") if one.strip())


_VARIABLES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "CHECK_ALL_OPS_EXECUTE": ("check_all_ops_execute", _flag),
    "COMPILE_DEPTH": ("compile_depth", lambda text: CompileDepth[text]),
    "CONSTEVAL": ("enable_consteval", _flag),
    "CONSTEVAL_PARAMETERS": ("consteval_parameters", _flag),
    "INLINE_PARAMETERS": ("inline_parameters", _flag),
    "IR_LOG_LEVEL": ("dump_debug", lambda text: {"DEBUG": True, "INFO": False, "": False}[text.upper()]),
    "OPTIMIZER": ("enable_optimizer", _flag),
    "SAVE_BINARY": ("dump_binary", _flag),
    "SAVE_MLIR": ("save_mlir_override", _programs),
    "VERIFY_INTERMEDIATES": ("enable_intermediate_verification", _flag),
    "VERIFY_OP_BY_OP": ("verify_op_by_op", _flag),
}
