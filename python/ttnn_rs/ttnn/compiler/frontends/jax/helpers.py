"""Programs of jax as texts, sources and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ttnn.base.files import make_folder, write_atomically
from ttnn.compiler.frontends.jax.artifact import read_artifact
from ttnn.compiler.frontends.jax.options import check_options
from ttnn.compiler.frontends.jax.planned import plan_of
from ttnn.compiler.frontends.plan import Plan
from ttnn.compiler.pipelines import run
from ttnn.compiler.tools.translate import translate
from ttnn.compiler.version import NEWEST
from ttnn.compiler.versions import parse_module, print_module

__all__ = ["codegen_cpp", "codegen_py", "predicted_time", "serialize", "serialize_to_disk", "ttir"]


def compiled(function: Callable[..., Any], *args: Any, options: Mapping[str, Any] | None = None, **kwargs: Any) -> Plan:
    """Return the plan of a function for arguments of these shapes."""
    import jax
    from jaxlib.mlir.dialects import stablehlo

    jitted: Any = function if hasattr(function, "trace") else jax.jit(function)
    lowered = jitted.trace(*args, **kwargs).lower(lowering_platforms=("tt",))
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        artifact = stablehlo.serialize_portable_artifact(module, stablehlo.get_current_version())
    return plan_of(read_artifact(artifact), check_options(options or {}))


def ttir(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return the `ttir` program of a function, as text.

    Args:
        function: A function of jax, jitted or not.
        args: Its arguments, or others of their shapes.
        kwargs: Its keyword arguments.

    Raises:
        UnsupportedError: Operations cannot be imported: all of them.
    """
    return compiled(function, *args, **kwargs).ttir


def predicted_time(function: Callable[..., Any], *args: Any, **kwargs: Any) -> float:
    """Return the predicted time of a function on the chip, in nanoseconds.

    Args:
        function: A function of jax, jitted or not.
        args: Its arguments, or others of their shapes.
        kwargs: Its keyword arguments.

    Raises:
        UnsupportedError: Operations cannot be imported, or the time of one is not known.
    """
    from ttnn.compiler.frontends.jax.device import opened

    return compiled(function, *args, **kwargs).predicted_ns(opened())


def codegen_py(
    function: Callable[..., Any],
    *args: Any,
    compiler_options: Mapping[str, Any] | None = None,
    export_path: str = "codegen_result",
    **kwargs: Any,
) -> None:
    """Write a function as Python source to `main.py` in a folder.

    Args:
        function: A function of jax, jitted or not.
        args: Its arguments, or others of their shapes.
        compiler_options: Options of the compilation.
        export_path: The folder.
        kwargs: Its keyword arguments.

    Raises:
        ParameterError: It is no single program of the device.
    """
    _write(export_path, "main.py", compiled(function, *args, options=compiler_options, **kwargs).python())


def codegen_cpp(
    function: Callable[..., Any],
    *args: Any,
    compiler_options: Mapping[str, Any] | None = None,
    export_path: str = "codegen_result",
    **kwargs: Any,
) -> None:
    """Write a function as C++ source to `main.cpp` in a folder.

    Args:
        function: A function of jax, jitted or not.
        args: Its arguments, or others of their shapes.
        compiler_options: Options of the compilation.
        export_path: The folder.
        kwargs: Its keyword arguments.

    Raises:
        UnsupportedError: An operation has no form in C++.
    """
    plan = compiled(function, *args, options=compiler_options, **kwargs)
    source = translate("mlir-to-cpp", _lowered(plan, "ttir-to-emitc-pipeline"))
    _write(export_path, "main.cpp", str(source))


def serialize(
    function: Callable[..., Any], *args: Any, compiler_options: Mapping[str, Any] | None = None, **kwargs: Any
) -> tuple[str, str, bytes]:
    """Return a function's `ttir` text, `ttnn` text and binary.

    Args:
        function: A function of jax, jitted or not.
        args: Its arguments, or others of their shapes.
        compiler_options: Options of the compilation.
        kwargs: Its keyword arguments.

    Raises:
        ParameterError: It is no single program of the device.
    """
    plan = compiled(function, *args, options=compiler_options, **kwargs)
    return plan.ttir, _lowered(plan, "ttir-to-ttnn-backend-pipeline"), plan.binary.to_bytes()


def serialize_to_disk(
    function: Callable[..., Any],
    *args: Any,
    output_prefix: str,
    compiler_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Write what `serialize` returns to `<prefix>_ttir.mlir`, `<prefix>_ttnn.mlir` and `<prefix>.ttnn`.

    Args:
        function: A function of jax, jitted or not.
        args: Its arguments, or others of their shapes.
        output_prefix: Folder and first part of the names.
        compiler_options: Options of the compilation.
        kwargs: Its keyword arguments.

    Raises:
        ParameterError: It is no single program of the device.
    """
    tensors, library, binary = serialize(function, *args, compiler_options=compiler_options, **kwargs)
    place = Path(output_prefix)
    _write(str(place.parent), f"{place.name}_ttir.mlir", tensors)
    _write(str(place.parent), f"{place.name}_ttnn.mlir", library)
    _write(str(place.parent), f"{place.name}.ttnn", binary)


def _lowered(plan: Plan, pipeline: str) -> str:
    module = parse_module(plan.ttir, version=NEWEST)
    run(module, pipeline)
    return print_module(module)


def _write(folder: str, name: str, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    write_atomically(make_folder(folder, where="export_path") / name, data, where="export_path")
