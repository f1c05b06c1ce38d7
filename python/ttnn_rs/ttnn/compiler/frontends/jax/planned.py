"""Programs of jax as plans of the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.jax.artifact import Artifact
from ttnn.compiler.frontends.jax.device import mesh, tell_memory
from ttnn.compiler.frontends.jax.divided import Divided
from ttnn.compiler.frontends.jax.values import Joined, Value, joined
from ttnn.compiler.frontends.plan import Plan, compile_stablehlo
from ttnn.compiler.importers.stablehlo import UNROLLED, to_ttir

__all__ = ["Run", "build", "build_divided", "plan_of"]

_PIPELINE: Final = {
    "enable_const_eval": "enable-const-eval",
    "enable_trace": "enable-trace",
    "experimental_kv_cache_dtype": "experimental-kv-cache-dtype",
    "experimental_weight_dtype": "experimental-weight-dtype",
    "optimization_level": "optimization-level",
}
"""Options of the pipeline by those of the front ends."""

_FIXED: Final[dict[str, tuple[object, ...]]] = {
    "backend": ("ttnn_flatbuffer",),
    "dry_run": (False,),
    "export_path": (),
    "export_tensors": (False,),
    "fp32_dest_acc_en": (True,),
    "math_fidelity": ("hifi4", "ttnn_default"),
}
"""Supported values of options; others are refused."""


Run: TypeAlias = Callable[[Sequence[Value], Sequence[int], Sequence[int]], list[Value]]
"""Function of the arguments, numbers of donated ones, numbers of devices."""


def build(artifact: Artifact, options: Mapping[str, Any]) -> tuple[Run, int]:
    """Return a function that executes a program, and its size.

    Args:
        artifact: The program.
        options: Checked options.

    Raises:
        UnsupportedError: Operations have no form on the device: all of them.
    """
    plan = plan_of(artifact, options)
    # The outputs of a trace are overwritten by its next run.
    copied = bool(options.get("enable_trace"))

    def run(values: Sequence[Value], donated: Sequence[int], devices: Sequence[int]) -> list[Value]:
        device = mesh(devices)
        for value, border in zip(values, plan.inputs, strict=True):
            value.border = border
        results = plan.run(values, device, given=frozenset(donated))
        tell_memory(device)
        return [_result(border, one, copied) for border, one in zip(plan.outputs, results, strict=True)]

    return run, 0


def plan_of(artifact: Artifact, options: Mapping[str, Any]) -> Plan:
    """Return the plan of a program.

    Args:
        artifact: The program.
        options: Checked options.

    Raises:
        UnsupportedError: Operations have no form on the device: all of them.
    """
    return compile_stablehlo(artifact.module, "main", _pipeline(options), options.get("unrolled_operations", UNROLLED))


def build_divided(artifact: Artifact, options: Mapping[str, Any], count: int) -> tuple[Run, Divided]:
    """Return a function that executes a program on several devices.

    Args:
        artifact: The program, whose module is changed.
        options: Checked options.
        count: Number of devices.

    Raises:
        UnsupportedError: Operations have no form on the device: all of them.
    """
    divided = Divided(artifact, count)
    module = divided.module
    to_ttir(module, limit=options.get("unrolled_operations", UNROLLED))
    plan = Plan(module, "main", _pipeline(options))
    copied = bool(options.get("enable_trace"))

    def run(values: Sequence[Value], donated: Sequence[int], devices: Sequence[int]) -> list[Value]:
        device, step = mesh(devices, divided.mesh), len(plan.inputs)
        whole = [joined(values[i::step], border, device) for i, border in enumerate(plan.inputs)]
        # Every device has given its part.
        given = frozenset(i for i in range(step) if set(range(i, len(values), step)) <= set(donated))
        results = plan.run(whole, device, given=given)
        tell_memory(device)
        parts = []
        for border, tensor in zip(plan.outputs, results, strict=True):
            made = Joined(border, device, tensor)
            parts.append([Value(made.array(i) if copied else None, border=border) for i in range(len(devices))])
            if not copied:
                made.join(parts[-1])
        return [one[i] for i in range(len(devices)) for one in parts]

    return run, divided


def _result(border: Any, tensor: Any, copied: bool) -> Value:
    return Value(border.array(tensor)) if copied else Value(tensor=tensor, border=border)


def _pipeline(options: Mapping[str, Any]) -> str:
    for name, allowed in _FIXED.items():
        if name in options and options[name] not in allowed:
            known = f"only {', '.join(map(str, allowed))} is" if allowed else "it is not"
            raise UnsupportedError(f'option "{name}" = {options[name]}: {known} supported for programs of jax.')
    words = []
    for name, target in _PIPELINE.items():
        if name in options:
            value = options[name]
            words.append(f"{target}={str(value).lower() if isinstance(value, bool) else value}")
    return " ".join(words)
