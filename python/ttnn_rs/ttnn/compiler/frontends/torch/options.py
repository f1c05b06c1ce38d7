"""Options of the backends: names, defaults, and refusal of unknown ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ttnn.base.exceptions import ParameterError, UnsupportedError
from ttnn.compiler.frontends.torch.config import CompilerConfig

__all__ = ["BackendOptions", "Options", "TorchTtnnOption", "options_of"]


@dataclass
class BackendOptions:
    """Options of the backends of tt-torch, as an object.

    Attributes:
        compiler_config: How to compile.
        devices: The device, in a list; default: the default device.
        async_mode: No effect: results are read when they are asked for.
        buffer_cache: No effect: parameters stay on the device.
        constant_cache: No effect: what depends on parameters only is computed once.
    """

    compiler_config: CompilerConfig = field(default_factory=CompilerConfig)
    devices: list[Any] | None = None
    async_mode: bool = False
    buffer_cache: Any = None
    constant_cache: Any = None


@dataclass
class TorchTtnnOption:
    """Options of the backend `ttnn`.

    Attributes:
        device: The device.
        data_parallel: Chips that share the batch; one.
    """

    device: Any = None
    data_parallel: int = 1


_FIDELITIES: Final = ("lofi", "hifi2", "hifi3", "hifi4", "ttnn_default")
_NO_EFFECT: Final = frozenset(
    {
        "enable_const_eval",
        "enable_trace",
        "export_model_name",
        "fp32_dest_acc_en",
        "optimization_level",
        "tt_experimental_compile",
        "tt_lazy_execution",
        "tt_legacy_compile",
        "tt_use_aot_autograd",
    }
)
_KNOWN: Final = tuple(
    sorted(
        {
            *_NO_EFFECT,
            "backend",
            "device",
            "dry_run",
            "experimental_kv_cache_dtype",
            "experimental_weight_dtype",
            "export_path",
            "math_fidelity",
        }
    )
)


@dataclass
class Options:
    """Options of one compilation.

    Attributes:
        device: The device; None for the default one.
        config: How to compile.
        pipeline: Options of the compiler's pipeline.
        dry_run: Whether to compile only, and return eager results.
        export_path: Folder for the programs; None for none.
    """

    device: Any = None
    config: CompilerConfig = field(default_factory=CompilerConfig)
    pipeline: str = ""
    dry_run: bool = False
    export_path: str | None = None


def options_of(given: Any) -> Options:
    """Return the options of a `torch.compile` call.

    Args:
        given: None, a dictionary, `BackendOptions` or `TorchTtnnOption`.

    Raises:
        ParameterError: An option is unknown, or has a wrong value.
        UnsupportedError: Several devices, or an element type of weights that is not supported.
    """
    if given is None:
        return Options(config=CompilerConfig().with_environment())
    if isinstance(given, BackendOptions):
        return Options(device=_single(given.devices), config=given.compiler_config.with_environment())
    if isinstance(given, TorchTtnnOption):
        if given.data_parallel != 1:
            raise UnsupportedError(f"data_parallel={given.data_parallel}: programs of torch run on one device.")
        return Options(device=given.device, config=CompilerConfig().with_environment())
    if isinstance(given, Mapping):
        return _of_dictionary(given)
    raise ParameterError(
        f"options: expected a dictionary, BackendOptions or TorchTtnnOption, got {type(given).__name__}."
    )


def _single(devices: Any) -> Any:
    if not devices:
        return None
    if len(devices) > 1:
        raise UnsupportedError(f"{len(devices)} devices asked: programs of torch run on one device.")
    return devices[0]


def _of_dictionary(given: Mapping[str, Any]) -> Options:
    for key in given:
        if key not in _KNOWN:
            raise ParameterError(f'option "{key}" is unknown; known: {", ".join(_KNOWN)}')
    for key in ("experimental_weight_dtype", "experimental_kv_cache_dtype"):
        if given.get(key):
            raise UnsupportedError(f'option "{key}": weights of torch programs keep their own element type.')
    if given.get("backend", "ttnn_flatbuffer") != "ttnn_flatbuffer":
        raise UnsupportedError(
            f'option "backend": {given["backend"]!r} is not supported here; save the program (export_path) and '
            "translate it with ttmlir-translate."
        )
    fidelity = given.get("math_fidelity")
    if fidelity is not None and fidelity not in _FIDELITIES:
        raise ParameterError(f'option "math_fidelity": expected one of {", ".join(_FIDELITIES)}, got {fidelity!r}')
    if fidelity not in (None, "ttnn_default"):
        raise UnsupportedError(
            f'option "math_fidelity": {fidelity!r} is not passed on; operators run with their own (ttnn_default).'
        )
    return Options(
        device=given.get("device"),
        config=CompilerConfig().with_environment(),
        dry_run=bool(given.get("dry_run", False)),
        export_path=given.get("export_path"),
    )
