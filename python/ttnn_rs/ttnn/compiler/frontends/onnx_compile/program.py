"""Compiled ONNX models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ttnn.base.exceptions import ParameterError
from ttnn.compiler.frontends.devices import current_device
from ttnn.compiler.frontends.onnx_compile.border import back, checked, to_device
from ttnn.compiler.frontends.onnx_compile.files import External, load_model, parse_model
from ttnn.compiler.frontends.onnx_compile.versions import check_version
from ttnn.compiler.frontends.plan import Plan
from ttnn.compiler.importers.onnx import Limits, import_model

__all__ = ["OnnxProgram", "compile_onnx"]


class OnnxProgram:
    """A compiled model.

    Calls take arrays or tensors for the inputs, in order or by name, and return arrays. Parameters are copied to the
    device at the first call.

    Attributes:
        inputs: The model's inputs.
        outputs: Its outputs.
        plan: The plan of its program; None if nothing is computed by the device.
        runs: How often the program ran.
    """

    def __init__(
        self,
        model: Any,
        read: Any,
        *,
        shapes: Mapping[str, Iterable[int]] | None = None,
        samples: Mapping[str, Any] | None = None,
        options: str = "",
        limits: Limits | None = None,
        device: Any = None,
    ) -> None:
        """Compile a model; see `compile_onnx`."""
        imported = import_model(model, shapes=shapes, samples=samples, read=read, limits=limits)
        self.inputs, self.outputs = imported.inputs, imported.outputs
        self.plan = None if imported.module is None else Plan(imported.module, None, options)
        self._parameters = imported.parameters
        self._device, self._bound = device, None
        self.runs = 0

    def __call__(self, *values: Any, **named: Any) -> list[Any]:
        """Return the outputs as arrays.

        Raises:
            ParameterError: Another number of inputs, an unknown name, or another value of an input that decided
                shapes.
            ShapeError: An input has another shape.
            UnsupportedError: An input has integers beyond 32 bits.
        """
        arrays = self._inputs(values, named)
        results = self._run(arrays) if self.plan is not None else []
        found = []
        for one in self.outputs:
            if one.result is not None:
                found.append(back(results[one.result], one.described))
            else:
                found.append((one.known if one.input is None else arrays[one.input]).copy())
        return found

    def _inputs(self, values: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        import numpy as np

        names = [one.name for one in self.inputs]
        if len(values) > len(names):
            raise ParameterError(f"the model has {len(names)} inputs, got {len(values)}.")
        given = dict(zip(names, values, strict=False))
        for name, value in named.items():
            if name not in names or name in given:
                raise ParameterError(f"the model has the inputs {', '.join(names)}; got {name!r}.")
            given[name] = value
        missing = [one for one in names if one not in given]
        if missing:
            raise ParameterError(f"the model has {len(names)} inputs; {', '.join(missing)} missing.")
        arrays = []
        for one in self.inputs:
            array = checked(given[one.name], one.described, one.name)
            if one.bound is not None and not np.array_equal(array, one.bound):
                raise ParameterError(
                    f"input {one.name!r} decides shapes, and the model was compiled for {one.bound.tolist()}; got "
                    f"{array.tolist()}. Compile it again for this value."
                )
            arrays.append(array)
        return arrays

    def _run(self, arrays: Sequence[Any]) -> list[Any]:
        assert self.plan is not None
        device = self._device if self._device is not None else current_device()
        if self._bound is not device:
            described = {one.argument: one for one in self.inputs if one.argument is not None}
            assert not set(described) & set(self._parameters)
            self.plan.bind({number: _stored(array) for number, array in self._parameters.items()}, device)
            self._bound = device
        given = [
            to_device(array, one.described, one.name)
            for one, array in zip(self.inputs, arrays, strict=True)
            if one.argument is not None
        ]
        results = self.plan(*given, device=device)
        self.runs += 1
        return results

    def describe(self) -> str:
        """Return the borders and the segments of the plan, one a line."""
        return self.plan.describe() if self.plan is not None else "all outputs are known: no program of the device"


def _stored(array: Any) -> Any:
    """Return a parameter with the device's elements."""
    import numpy as np

    from ttnn.compiler.importers.onnx.scope import Described
    from ttnn.compiler.importers.onnx.types import dtype_of_array

    return to_device(np.ascontiguousarray(array), Described(array.shape, dtype_of_array(array)), "a parameter")


def compile_onnx(
    model: Any,
    samples: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    shapes: Mapping[str, Iterable[int]] | None = None,
    options: str = "",
    limits: Limits | None = None,
    device: Any = None,
) -> OnnxProgram:
    """Return a model compiled for the device.

    Args:
        model: A ModelProto, its bytes, or the path of its file.
        samples: Inputs in order or by name. Their shapes take the place of open dimensions, and an input on whose
            elements shapes depend is bound to its value.
        shapes: Shapes of inputs by name.
        options: Options of the compiler's pipeline.
        limits: Limits of the import.
        device: The device; default: the default one, which is opened if none is.

    Raises:
        CompileError: The model is wrong.
        FileAccessError: A file cannot be read, or lies outside of the model's folder.
        FileFormatError: A file is no model, or has not the elements that the model states.
        UnsupportedError: What the device cannot do: all such operators.
    """
    check_version()
    reader = External()
    if isinstance(model, (str, os.PathLike)):
        model, reader = load_model(model)
    elif isinstance(model, (bytes, bytearray)):
        model = parse_model(bytes(model))
    return OnnxProgram(
        model,
        reader,
        shapes=shapes,
        samples=_samples(model, samples),
        options=options,
        limits=limits,
        device=device,
    )


def _samples(model: Any, given: Sequence[Any] | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return sample inputs by name, as arrays."""
    import numpy as np

    if given is None:
        return {}
    if not isinstance(given, Mapping):
        weights = {one.name for one in model.graph.initializer}
        names = [one.name for one in model.graph.input if one.name not in weights]
        if len(given) > len(names):
            raise ParameterError(f"the model has {len(names)} inputs, got {len(given)} samples.")
        given = dict(zip(names, given, strict=False))
    return {
        name: np.asarray(one.detach().float().cpu() if str(getattr(one, "dtype", "")) == "torch.bfloat16" else one)
        for name, one in given.items()
    }
