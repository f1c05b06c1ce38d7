"""Logs, files, artifacts and results of the commands."""

from __future__ import annotations

import json
import logging
import math
import os
import shutil
from pathlib import Path
from typing import Any, Final

import ttnn
from ttnn.base.exceptions import DeviceError, FileFormatError, StorageError
from ttnn.base.files import make_folder, open_atomically, open_file, write_atomically
from ttnn.base.paths import path_below
from ttnn.compiler.limits import ELEMENTS, shortened
from ttnn.compiler.target.flatbuffer.binary import SUFFIXES
from ttnn.compiler.target.flatbuffer.system_desc import from_table
from ttnn.compiler.tools.ttrt import binary as binaries
from ttnn.compiler.tools.ttrt.indices import below, index_limits

__all__ = ["Artifacts", "Binary", "FileManager", "Flatbuffer", "Logger", "Results", "SystemDesc"]


class _Lines(logging.Handler):
    """Appender of lines to a file, created at first write."""

    def __init__(self, file_name: str) -> None:
        super().__init__()
        self._path = Path(file_name)
        write_atomically(self._path, "", where="ttrt")

    def emit(self, record: logging.LogRecord) -> None:
        """Append a record."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(self.format(record) + "\n")


class Logger:
    """The log of a command: standard error, or a file.

    Attributes:
        file_name: The file, empty for standard error.
        logging: What writes it; `TTRT_LOGGER_LEVEL` is its level, WARNING by default.
    """

    _count = 0

    def __init__(self, file_name: str = "") -> None:
        Logger._count += 1
        self.file_name = file_name
        self.logging = logging.Logger(f"ttrt.{Logger._count}")
        name = os.environ.get("TTRT_LOGGER_LEVEL", "WARNING")
        level = logging.getLevelName(name)
        self.logging.setLevel(level if isinstance(level, int) else logging.WARNING)
        handler = _Lines(file_name) if file_name else logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s - %(levelname)s - %(message)s"))
        self.logging.addHandler(handler)

    def get_logger(self) -> logging.Logger:
        """Return what writes the log."""
        return self.logging


class FileManager:
    """Files and folders.

    Attributes:
        logger: The log that is told of them.
    """

    def __init__(self, logger: Logger) -> None:
        self.logger = logger

    def create_directory(self, directory_path: str) -> None:
        """Make a folder and those above it."""
        make_folder(directory_path, where="ttrt")

    def remove_directory(self, directory_path: str) -> None:
        """Remove an existing folder with its content."""
        if self.check_directory_exists(directory_path):
            shutil.rmtree(directory_path)

    def create_file(self, file_path: str) -> None:
        """Make an empty file and the folders above it."""
        self.create_directory(os.path.dirname(file_path) or ".")
        write_atomically(file_path, "", where="ttrt")

    def remove_file(self, file_path: str) -> None:
        """Remove a file, if it is there."""
        Path(file_path).unlink(missing_ok=True)

    def copy_file(self, dest_file_path: str, src_file_path: str) -> None:
        """Copy a file to a file or into a folder."""
        target = Path(dest_file_path)
        target = target / Path(src_file_path).name if target.is_dir() else target
        with open_file(src_file_path, where="ttrt") as old, open_atomically(target, where="ttrt") as new:
            shutil.copyfileobj(old, new)
        shutil.copystat(src_file_path, target)

    def copy_directory(self, dest_directory_path: str, src_directory_path: str) -> None:
        """Copy a folder to one that is not there."""
        shutil.copytree(src_directory_path, dest_directory_path)

    def check_file_exists(self, file_path: str) -> bool:
        """Return whether there is such a file or folder."""
        return os.path.exists(file_path)

    def check_directory_exists(self, directory_path: str) -> bool:
        """Return whether there is such a folder."""
        return os.path.isdir(directory_path)

    def is_file(self, file_path: str) -> bool:
        """Return whether a path is a file."""
        return os.path.isfile(file_path)

    def is_directory(self, directory_path: str) -> bool:
        """Return whether a path is a folder."""
        return os.path.isdir(directory_path)

    def get_file_name(self, file_path: str) -> str:
        """Return the last part of a path."""
        return os.path.basename(file_path)

    def get_file_extension(self, file_path: str) -> str:
        """Return the suffix of a path, with its dot."""
        return os.path.splitext(file_path)[1]

    def _find(self, path: str, identifier: str) -> list[str]:
        suffixes = SUFFIXES[identifier]
        if self.is_file(path):
            return [path] if self.get_file_extension(path) in suffixes else []
        found = [
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if self.get_file_extension(name) in suffixes
        ]
        return sorted(found)

    def find_ttnn_binary_paths(self, path: str) -> list[str]:
        """Return a TTNN binary file, or a folder's.

        They are recognized by their names.
        """
        return self._find(path, "TTNN")

    def find_ttmetal_binary_paths(self, path: str) -> list[str]:
        """Return a TTMetal binary file, or a folder's.

        They are recognized by their names.
        """
        return self._find(path, "TTM0")

    def find_ttsys_binary_paths(self, path: str) -> list[str]:
        """Return a system descriptor file, or a folder's.

        They are recognized by their names.
        """
        return self._find(path, "TTSY")


class Artifacts:
    """The folder in which commands leave binaries, tensors and reports."""

    def __init__(
        self, logger: Logger, file_manager: FileManager | None = None, artifacts_folder_path: str = ""
    ) -> None:
        from ttrt._arguments import default_artifacts

        self.logger = logger
        self.logging = logger.get_logger()
        self.file_manager = file_manager or FileManager(logger)
        self.artifacts_folder_path = artifacts_folder_path or default_artifacts()

    def get_artifacts_folder_path(self) -> str:
        """Return the folder."""
        return self.artifacts_folder_path

    def get_binary_folder_path(self, binary: Flatbuffer) -> str:
        """Return the folder of a binary."""
        return str(path_below(self.artifacts_folder_path, binary.name, "name of the binary"))

    def get_binary_perf_folder_path(self, binary: Flatbuffer) -> str:
        """Return the folder of a binary's performance reports."""
        return f"{self.get_binary_folder_path(binary)}/perf"

    def create_artifacts(self) -> None:
        """Make the folder.

        Raises:
            StorageError: It cannot be made.
        """
        try:
            self.file_manager.create_directory(self.artifacts_folder_path)
        except OSError as error:
            raise StorageError(
                f"folder of artifacts {self.artifacts_folder_path}: {error.strerror}. "
                "Choose another with --artifact-dir."
            ) from None

    def clean_artifacts(self) -> None:
        """Remove the folder."""
        self.file_manager.remove_directory(self.artifacts_folder_path)

    def clean_binary_artifacts(self, binary: Flatbuffer) -> None:
        """Remove the folder of a binary."""
        self.file_manager.remove_directory(self.get_binary_folder_path(binary))

    def save_binary(self, binary: Binary, query: Any = None) -> None:
        """Save a binary, its programs' tensors, and the system descriptor.

        Inputs and outputs are torch files.
        """
        folder = self.get_binary_folder_path(binary)
        for part in ("run", "perf"):
            self.file_manager.create_directory(f"{folder}/{part}")
        self.file_manager.copy_file(folder, binary.file_path)
        for program in binary.programs:
            place = f"{folder}/run/program_{program.index}"
            self.file_manager.create_directory(place)
            for kind, tensors in (("input", program.input_tensors), ("output", program.output_tensors)):
                for number, tensor in enumerate(tensors):
                    self.save_torch_tensor(place, tensor, f"program_{program.index}_{kind}_{number}.pt")
        if query is not None:
            self.save_system_desc(query.system_desc, folder)

    def save_torch_tensor(self, folder_path: str, torch_tensor: Any, torch_tensor_name: str) -> None:
        """Save a tensor as a torch file."""
        import torch

        path = path_below(folder_path, torch_tensor_name, "torch_tensor_name")
        with open_atomically(path, where="ttrt") as file:
            torch.save(torch_tensor, file)

    def save_system_desc(
        self,
        system_desc: binaries.SystemDesc,
        system_desc_folder: str = "",
        system_desc_name: str = "system_desc.ttsys",
    ) -> None:
        """Save a system descriptor."""
        folder = system_desc_folder or self.artifacts_folder_path
        self.file_manager.create_directory(folder)
        system_desc.store(str(path_below(folder, system_desc_name, "system_desc_name")))


class Flatbuffer:
    """A file of a binary.

    Attributes:
        file_path: Where it is.
        name: Its last part.
        test_result: "pass", or what came out otherwise.
    """

    ttnn_file_extension = ".ttnn"
    ttmetal_file_extension = ".ttm"
    ttsys_file_extension = ".ttsys"

    def __init__(self, logger: Logger, file_manager: FileManager, file_path: str, capsule: Any = None) -> None:
        self.logger = logger
        self.logging = logger.get_logger()
        self.file_manager = file_manager
        self.file_path = file_path if file_path is not None else "<binary-from-capsule>"
        self.name = file_manager.get_file_name(self.file_path)
        self.extension = file_manager.get_file_extension(self.file_path)
        self.fbb: binaries.Flatbuffer = self._read(capsule)
        self.fbb_dict = binaries.as_dict(self.fbb)
        self.version = self.fbb.version
        self.test_result = "pass"

    def _read(self, capsule: Any) -> binaries.Flatbuffer:
        return binaries.load_from_path(self.file_path)

    def check_version(self, ignore: bool = False) -> bool:
        """Return True if the binary is of this version of the package.

        Raises:
            FileFormatError: It is of another, and that is not to be ignored.
        """
        mine = ".".join((ttnn.__version__.split("+")[0] + ".0.0").split(".")[:3])
        if self.version != mine and not ignore:
            raise FileFormatError(
                f"{self.file_path}: written by version {self.version}, this is version {mine}. "
                "Build it again, or pass --ignore-version."
            )
        return True

    @staticmethod
    def get_ttnn_file_extension() -> str:
        """Return the suffix of TTNN binaries."""
        return Flatbuffer.ttnn_file_extension

    @staticmethod
    def get_ttmetal_file_extension() -> str:
        """Return the suffix of TTMetal binaries."""
        return Flatbuffer.ttmetal_file_extension

    @staticmethod
    def get_ttsys_file_extension() -> str:
        """Return the suffix of system descriptors."""
        return Flatbuffer.ttsys_file_extension


class Binary(Flatbuffer):
    """A file of a binary with programs.

    Attributes:
        programs: Its programs.
    """

    def __init__(self, logger: Logger, file_manager: FileManager, file_path: str, capsule: Any = None) -> None:
        super().__init__(logger, file_manager, file_path, capsule)
        tables = self.fbb_dict.get("programs", [])
        self.programs = [Binary.Program(i, table, tables) for i, table in enumerate(tables)]

    def _read(self, capsule: Any) -> binaries.Flatbuffer:
        if capsule is not None:
            return binaries.load_binary_from_capsule(capsule)
        return binaries.load_binary_from_path(self.file_path)

    def check_system_desc(self, query: Any) -> bool:
        """Return True if the binary was built for the simulated system.

        Raises:
            DeviceError: It was built for another one, or does not say for which.
        """
        compare_systems(self, query.current_system_table(self.fbb.content.language), "the simulated system")
        return True

    def get_num_programs(self) -> int:
        """Return the number of programs."""
        return len(self.programs)

    def check_program_index_exists(self, program_index: int) -> bool:
        """Return whether there is a program of that number."""
        return 0 <= program_index < len(self.programs)

    def chosen_programs(self, index: str) -> list[int]:
        """Return the program numbers of `--program-index`.

        "all" are those that nothing else calls.

        Raises:
            StorageError: There is none of that number, or it is a step of another program's trace.
        """
        if index == "all":
            return [program.index for program in self.programs if not program.program.get("private")]
        if not (index.isascii() and index.isdigit() and len(index) < 10) or not self.check_program_index_exists(
            int(index)
        ):
            raise StorageError(
                f"{self.file_path}: there is no program {shortened(index)}; "
                f"there are 0 to {self.get_num_programs() - 1}."
            )
        program = self.programs[int(index)].program
        kinds = {operation.get("type_type") for operation in program.get("operations", ())}
        if program.get("private") and kinds & _TRACE_STEPS:
            raise StorageError(
                f"{self.file_path}: program {index}, {shortened(str(program.get('name')))}, is a step of another "
                "program's trace and does not run alone; choose the program that calls it."
            )
        return [int(index)]

    def get_program(self, program_index: int) -> Program:
        """Return a program.

        Raises:
            FileFormatError: There is none of that number.
        """
        if not self.check_program_index_exists(program_index):
            raise FileFormatError(f"{self.file_path}: programs 0 to {len(self.programs) - 1}, got {program_index}.")
        return self.programs[program_index]

    def save(self, artifacts: Artifacts, query: Any = None) -> None:
        """Save the binary, its inputs and outputs."""
        artifacts.save_binary(self, query)

    class Program:
        """A program of a binary.

        Attributes:
            index: Its number.
            program: Its table.
            input_tensors: Torch tensors, filled by `populate_inputs`.
            output_tensors: Torch tensors, filled by `populate_outputs`.
        """

        def __init__(self, index: int, program: dict[str, Any], programs: list[dict[str, Any]] | None = None) -> None:
            self.index = index
            self.program = program
            self._programs = programs
            self.input_tensors: list[Any] = []
            self.output_tensors: list[Any] = []

        @staticmethod
        def _make(references: list[dict[str, Any]], init_fn: Any) -> list[Any]:
            made = []
            for number, one in enumerate(references):
                shape = one["desc"].get("shape", [])
                if any(size < 0 for size in shape) or math.prod(shape) > ELEMENTS:
                    raise FileFormatError(
                        f"tensor {number} of the program has the shape {shape}; at most {ELEMENTS:,} elements are made."
                    )
                dtype = Binary.Program.from_data_type(one["desc"]["layout"]["memory_desc"]["data_type"])
                made.append(init_fn(shape, dtype=dtype))
            return made

        def populate_inputs(self, init_fn: Any) -> None:
            """Create inputs by shape and dtype; indices fit their table."""
            self.input_tensors = self._make(self.program.get("inputs", []), init_fn)
            if self._programs is not None:
                for position, limit in index_limits(self._programs, self.index).items():
                    self.input_tensors[position] = below(self.input_tensors[position], limit)

        def populate_outputs(self, init_fn: Any) -> None:
            """Make the outputs with a function of shape and dtype."""
            self.output_tensors = self._make(self.program.get("outputs", []), init_fn)

        @staticmethod
        def to_data_type(dtype: Any) -> Any:
            """Return the data type of `ttrt.runtime` of a torch one.

            Raises:
                FileFormatError: There is none.
            """
            from ttnn.compiler.tools.ttrt.runtime import DataType

            for name, word in _TORCH.items():
                if str(dtype) == f"torch.{word}":
                    return DataType[name]
            raise FileFormatError(f"torch type {dtype} has no data type of binaries.")

        @staticmethod
        def from_data_type(dtype: str) -> Any:
            """Return a binary data type's torch type.

            Tensors of block formats are made of bfloat16.

            Raises:
                FileFormatError: There is none.
            """
            import torch

            if dtype in _BLOCKS:
                return torch.bfloat16
            if dtype not in _TORCH:
                raise FileFormatError(f"data type {dtype} has no torch type; there are {', '.join(_TORCH)}.")
            return getattr(torch, _TORCH[dtype])


Program = Binary.Program
_TRACE_STEPS: Final = frozenset({"BeginTraceCaptureOp", "EndTraceCaptureOp", "ExecuteTraceOp"})
"""Trace id operations, which programs cannot load or store.

From a file or to one.
"""
_TORCH: Final = {
    "Float32": "float32",
    "Float16": "float16",
    "BFloat16": "bfloat16",
    "UInt32": "uint32",
    "UInt16": "uint16",
    "UInt8": "uint8",
    "Int32": "int32",
}
_BLOCKS: Final = ("BFP_BFloat8", "BFP_BFloat4")


class SystemDesc(Flatbuffer):
    """A file of a system descriptor."""

    def _read(self, capsule: Any) -> binaries.Flatbuffer:
        return binaries.load_system_desc_from_path(self.file_path)


def compare_systems(binary: Flatbuffer, table: dict[str, Any], name: str) -> None:
    """Compare the system of a binary with another.

    Args:
        binary: The binary.
        table: Table of the other system.
        name: What to call the other system.

    Raises:
        DeviceError: They differ; both are described.
    """
    mine = binary.fbb_dict.get("system_desc")
    if mine is None:
        raise DeviceError(f"{binary.file_path}: the binary has no description of its system.")
    here = from_table(mine, binary.file_path)
    there = from_table(table, name)
    lines = here.differences(there)
    if lines:
        shown = "\n".join(f"  {line}" for line in lines[:8])
        more = f"\n  and {len(lines) - 8} more" if len(lines) > 8 else ""
        raise DeviceError(
            f"{binary.file_path} was built for another system than {name}.\n"
            f"  binary: {here.summary()}\n  {name}: {there.summary()}\n"
            f"{shown}{more}\n"
            "Build it with the descriptor that ttrt query --save-artifacts writes, or choose the chip with ARCH_NAME."
        )


class Results:
    """Results of each file."""

    def __init__(self, logger: Logger, file_manager: FileManager | None = None) -> None:
        self.logger = logger
        self.logging = logger.get_logger()
        self.file_manager = file_manager
        self.results: list[dict[str, Any]] = []

    def add_result(self, result: dict[str, Any]) -> None:
        """Add what came out for a file."""
        self.results.append(result)
        if result["result"] != "pass":
            self.logging.warning("%s: %s: %s", result["file_path"], result["result"], result["exception"])

    def save_results(self, file_name: str = "results.json") -> None:
        """Write all to a JSON file."""
        write_atomically(file_name, json.dumps(self.results, indent=2) + "\n", where="ttrt")

    def get_result_code(self) -> int:
        """Return 0 if all files passed, else 1."""
        return int(any(result["result"] != "pass" for result in self.results))

    def get_results(self) -> list[dict[str, Any]]:
        """Return what came out for each file."""
        return self.results
