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
from ttnn.compiler.frontends.jax.options import check_options
from ttnn.compiler.frontends.jax.planned import Run, build
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

    def __init__(self, artifact: Artifact, run: Run, code_bytes: int) -> None:
        self._artifact = artifact
        self._run = run
        self.name = artifact.name
        self.output_types = [one.dtype.name for one in artifact.outputs]
        self.output_shapes = [one.shape for one in artifact.outputs]
        self.donated = artifact.donated
        self.argument_bytes = sum(one.nbytes for one in artifact.inputs)
        self.code_bytes = code_bytes

    @property
    def text(self) -> str:
        """The program as StableHLO text."""
        with _lock:
            return self._artifact.text

    def execute(self, arguments: Sequence[Value], donated: Sequence[int]) -> list[Value]:
        """Return the results.

        Args:
            arguments: The arguments.
            donated: Numbers of the arguments that nobody reads afterwards.
        """
        with _lock:
            results = self._run(arguments, donated)
            for i in donated:
                arguments[i].drop()
        return results


_programs: OrderedDict[tuple[bytes, tuple[tuple[str, object], ...]], Program] = OrderedDict()


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
    if replicas * partitions != 1:
        raise UnsupportedError(
            f"{replicas * partitions} devices: programs of jax run on one device of the platform tt; arrays may be on "
            "any. Remove the shardings, or put all arguments on one device with jax.device_put."
        )
    checked = check_options(options)
    key = (artifact, tuple(sorted(checked.items())))
    with _lock:
        known = _programs.get(key)
        if known is None:
            known = _programs[key] = _compile(read_artifact(artifact), checked)
            if len(_programs) > _KEPT:
                _programs.popitem(last=False)
        _programs.move_to_end(key)
        return known


def forget() -> None:
    """Drop the compiled programs; those that jax holds stay."""
    with _lock:
        _programs.clear()


def _compile(artifact: Artifact, options: Mapping[str, object]) -> Program:
    made = shortcut(artifact)
    if made is not None:
        function = made
        return Program(artifact, lambda values, _: [Value(one) for one in function([v.array for v in values])], 0)
    run, code_bytes = build(artifact, options)
    return Program(artifact, run, code_bytes)
