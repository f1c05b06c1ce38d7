"""`ttrt run`: execution of binaries on made inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, ClassVar

from ttnn.base.exceptions import TtnnError, UnsupportedError
from ttnn.base.files import write_atomically
from ttnn.compiler.tools.ttrt import runtime
from ttnn.compiler.tools.ttrt.chisel import Chisel
from ttnn.compiler.tools.ttrt.command import Command
from ttnn.compiler.tools.ttrt.query import Query
from ttnn.compiler.tools.ttrt.util import Binary

__all__ = ["Run"]


def require_torch() -> Any:
    """Return torch.

    Raises:
        UnsupportedError: It is not installed.
    """
    try:
        import torch
    except ImportError:
        raise UnsupportedError('ttrt run makes inputs with torch: pip install "ttnn-rs[torch]".') from None
    return torch


class Run(Command):
    """Runs the programs of binaries."""

    name = "run"

    def preprocess(self) -> None:
        """Ask for the simulated system."""
        self.query = Query({"--quiet": True, "--allow-files": self["--allow-files"]}, self.logger, self.artifacts)
        self.query()
        super().preprocess()

    def check_constraints(self) -> None:
        """Leave out binaries of other versions and systems."""

        def check(binary: Binary) -> None:
            binary.check_version(self["--ignore-version"])
            binary.check_system_desc(self.query)
            self.indices(binary)

        self.binaries = self.load_binaries(check)

    def execute(self) -> None:
        """Run the programs, and compare as asked for."""
        if not self.binaries:
            return
        torch = require_torch()
        runtime.DebugEnv.get(self["--load-kernels-from-disk"], self["--enable-async-ttnn"])
        torch.manual_seed(self["--seed"])
        for binary in self.binaries:
            runtime.set_compatible_runtime(binary.fbb)
            failures: list[str] = []
            chisel = Chisel() if self["--chisel"] else None
            try:
                for mesh, indices in self.by_mesh(binary):
                    with runtime.opened(mesh, self.fabric()) as device:
                        device.observe = chisel
                        for index in indices:
                            failures += self.run_program(device, binary, index)
            except TtnnError as error:
                binary.test_result = "error"
                self.result(binary.file_path, "error", str(error))
                continue
            if chisel is not None:
                failures += self.save_records(binary, chisel)
            binary.test_result = "fail" if failures else "pass"
            self.result(binary.file_path, binary.test_result, "; ".join(failures))

    def save_records(self, binary: Binary, chisel: Chisel) -> list[str]:
        """Save the records of a binary's operations; return what is far off."""
        folder = f"{self.artifacts.get_binary_folder_path(binary)}/run"
        self.file_manager.create_directory(folder)
        path = f"{folder}/chisel.jsonl"
        write_atomically(path, chisel.lines, where="ttrt run")
        print(f"{path}: {chisel.summary()}")
        return chisel.failures

    def fabric(self) -> runtime.FabricConfig:
        """Return the fabric of meshes."""
        return runtime.FabricConfig[str(self["--fabric-config"]).upper()]

    def by_mesh(self, binary: Binary) -> Iterator[tuple[tuple[int, int], list[int]]]:
        """Yield meshes and the numbers of their programs, in order."""
        for mesh, indices in groupby(self.indices(binary), lambda index: runtime.mesh_of(binary.fbb, index)):
            yield mesh, list(indices)

    def indices(self, binary: Binary) -> list[int]:
        """Return the numbers of the programs to run."""
        return binary.chosen_programs(str(self["--program-index"]))

    def run_program(self, device: runtime.Device, binary: Binary, index: int) -> list[str]:
        """Run one program repeatedly; return its output errors.

        As often as requested.
        """
        torch = require_torch()
        program = binary.get_program(index)
        program.populate_inputs(Run.TorchInitializer.get_initilizer(self["--init"]))
        program.populate_outputs(Run.TorchInitializer.get_initilizer("zeros"))
        inputs = [self._tensor(one) for one in program.input_tensors]
        outputs = [self._tensor(one) for one in program.output_tensors]
        for _ in range(self["--loops"]):
            event = runtime.submit(device, binary.fbb, index, inputs, outputs, allow_files=self["--allow-files"])
            runtime.wait(event)
        if self["--print-input-output-tensors"]:
            for kind, tensors in (("input", program.input_tensors), ("output", program.output_tensors)):
                for number, tensor in enumerate(tensors):
                    print(f"program {index} {kind} {number}: {tensor}")
        failures = []
        if self["--identity"]:
            for number, (given, got) in enumerate(zip(program.input_tensors, program.output_tensors, strict=False)):
                same = given.shape == got.shape and torch.allclose(given, got, rtol=self["--rtol"], atol=self["--atol"])
                if not same:
                    failures.append(f"program {index}: output {number} differs from input {number}")
        if self["--non-zero"]:
            for number, tensor in enumerate(program.output_tensors):
                if not torch.any(tensor):
                    failures.append(f"program {index}: output {number} is zero everywhere")
        return failures

    @staticmethod
    def _tensor(tensor: Any) -> runtime.Tensor:
        return runtime.create_tensor(
            tensor.data_ptr(),
            list(tensor.shape),
            list(tensor.stride()),
            tensor.element_size(),
            Binary.Program.to_data_type(tensor.dtype),
        )

    def postprocess(self) -> None:
        """Save the binaries with inputs and outputs, and the results."""
        if self["--save-artifacts"]:
            for binary in self.binaries:
                self.artifacts.save_binary(binary, self.query)
        super().postprocess()

    class TorchInitializer:
        """Functions that make the inputs."""

        init_fns: ClassVar[list[str]] = ["arange", "ones", "randn", "zeros"]

        @staticmethod
        def get_init_fns() -> list[str]:
            """Return the names of the functions."""
            return Run.TorchInitializer.init_fns

        @staticmethod
        def get_initilizer(name: str) -> Callable[..., Any]:
            """Return a function by its name, spelled as in the official tool."""
            found: Callable[..., Any] = getattr(Run.TorchInitializer, name)
            return found

        @staticmethod
        def randn(shape: list[int], dtype: Any) -> Any:
            """Return normally distributed numbers; integers from the whole range of their type."""
            torch = require_torch()
            if not dtype.is_floating_point:
                return torch.randint(0, torch.iinfo(dtype).max, shape).to(dtype)
            return torch.randn(shape, dtype=dtype)

        @staticmethod
        def arange(shape: list[int], dtype: Any) -> Any:
            """Return 0, 1, 2, ... in row-major order."""
            return require_torch().arange(math.prod(shape)).to(dtype).reshape(shape)

        @staticmethod
        def zeros(shape: list[int], dtype: Any) -> Any:
            """Return zeros."""
            return require_torch().zeros(shape, dtype=dtype)

        @staticmethod
        def ones(shape: list[int], dtype: Any) -> Any:
            """Return ones."""
            return require_torch().ones(shape, dtype=dtype)
