"""Compilation and execution, as the engine's PJRT plugin calls them.

Calls come from threads of jax; one at a time uses the device.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

from ttnn.base.exceptions import UnsupportedError
from ttnn.compiler.frontends.jax.artifact import Artifact, read_artifact
from ttnn.compiler.frontends.jax.divided import Divided
from ttnn.compiler.frontends.jax.options import check_options
from ttnn.compiler.frontends.jax.planned import Run, build, build_divided
from ttnn.compiler.frontends.jax.shortcuts import shortcut
from ttnn.compiler.frontends.jax.values import Value, from_host

__all__ = ["Program", "compile", "forget", "from_host"]

_KEPT: Final = 256
"""Most compiled programs that are kept for a program that comes again."""

_lock = threading.RLock()


class Program:
    """A compiled program.

    Attributes:
        name: Its name.
        output_types: Names of the types of its results.
        output_shapes: Their shapes.
        donated: Numbers of the arguments that the program may overwrite.
        argument_bytes: Size of all arguments.
        code_bytes: Size of the binary.
    """

    def __init__(self, artifact: Artifact, run: Run, code_bytes: int, divided: Divided | None = None) -> None:
        self._artifact = artifact
        self._run = run
        self._divided = divided
        self.name = artifact.name
        outputs = artifact.outputs if divided is None else divided.outputs
        self.output_types = [one.dtype.name for one in outputs]
        self.output_shapes = [one.shape for one in outputs]
        self.donated = artifact.donated
        self.argument_bytes = sum(one.nbytes for one in artifact.inputs)
        self.code_bytes = code_bytes

    @property
    def text(self) -> str:
        """The program as StableHLO text."""
        with _lock:
            return self._artifact.text if self._divided is None else self._divided.text

    def execute(self, arguments: Sequence[Value], donated: Sequence[int], devices: Sequence[int] = (0,)) -> list[Value]:
        """Return the results, device by device.

        Args:
            arguments: The arguments in the same order.
            donated: Numbers of the arguments that nobody reads afterwards.
            devices: Numbers of the devices.
        """
        with _lock:
            results = self._run(arguments, donated, devices)
            for i in donated:
                arguments[i].drop()
        return results


_programs: OrderedDict[tuple[bytes, tuple[tuple[str, object], ...], int], Program] = OrderedDict()


def compile(artifact: bytes, options: Mapping[str, object], replicas: int, partitions: int) -> Program:
    """Return the compiled program of an artifact.

    Args:
        artifact: A StableHLO portable artifact.
        options: The `compiler_options` of `jax.jit`.
        replicas: Copies of the program that run side by side.
        partitions: Devices that a copy is divided among.

    Raises:
        ArgumentError: An option is unknown or has a wrong value.
        UnsupportedError: The program cannot be compiled.
    """
    if replicas != 1:
        raise UnsupportedError(
            f"{replicas} replicas of a program: programs of jax are divided among devices by shardings instead."
        )
    checked = check_options(options)
    key = (artifact, tuple(sorted(checked.items())), partitions)
    with _lock:
        known = _programs.get(key)
        if known is None:
            known = _programs[key] = _compile(read_artifact(artifact), checked, partitions)
            if len(_programs) > _KEPT:
                _programs.popitem(last=False)
        _programs.move_to_end(key)
        return known


def forget() -> None:
    """Drop the compiled programs; those that jax holds stay."""
    with _lock:
        _programs.clear()


def _compile(artifact: Artifact, options: Mapping[str, object], partitions: int) -> Program:
    if partitions > 1:
        run, divided = build_divided(artifact, options, partitions)
        return Program(artifact, run, 0, divided)
    made = shortcut(artifact)
    if made is not None:
        function = made
        return Program(artifact, lambda values, *_: [Value(one) for one in function([v.array for v in values])], 0)
    run, code_bytes = build(artifact, options)
    return Program(artifact, run, code_bytes)
