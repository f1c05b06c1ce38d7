"""Shared code of commands: arguments, log, artifacts, results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ttnn.base.exceptions import ArgumentError, FileAccessError, TtnnError
from ttnn.base.paths import is_inside
from ttnn.compiler.tools.ttrt.util import Artifacts, Binary, FileManager, Logger, Results

__all__ = ["Command"]

Result = TypeVar("Result")


class Command:
    """A command: created with arguments, then called, stateless between calls.

    Attributes:
        name: Name on the command line.
        registered_args: Type, default, choices and help of each argument.
        logger: Its log.
        artifacts: Its folder of artifacts.
        results: What came out.
    """

    name: ClassVar[str] = ""
    registered_args: ClassVar[dict[str, dict[str, Any]]] = {}

    @classmethod
    def initialize_api(cls) -> None:
        """Register the arguments."""
        from ttrt._arguments import ARGUMENTS

        cls.registered_args = {}
        for argument in ARGUMENTS[cls.name]:
            cls.register_arg(argument.name, argument.type, argument.default, argument.choices, argument.help)

    @classmethod
    def register_arg(cls, name: str, type: type, default: Any, choices: Any, help: str) -> None:
        """Register an argument."""
        cls.registered_args[name] = {"type": type, "default": default, "choices": choices, "help": help}

    def __init__(
        self,
        args: Mapping[str, Any] | None = None,
        logger: Logger | None = None,
        artifacts: Artifacts | None = None,
    ) -> None:
        """Set arguments by name, with or without leading dashes.

        Raises:
            ArgumentError: An argument that the command does not have, or a value that is no choice.
        """
        if not self.registered_args:
            self.initialize_api()
        self.arguments = {name: facts["default"] for name, facts in self.registered_args.items()}
        for name, value in (args or {}).items():
            known = name if name in self.arguments else f"--{name.lstrip('-').replace('_', '-')}"
            if known not in self.arguments:
                raise ArgumentError(f"ttrt {self.name} has no argument {name}; it has {', '.join(self.arguments)}.")
            choices = self.registered_args[known]["choices"]
            if choices and value not in choices:
                raise ArgumentError(
                    f"ttrt {self.name}: {known} is one of {', '.join(map(str, choices))}, got {value!r}."
                )
            if known == "--loops" and value < 1:
                raise ArgumentError(
                    f"ttrt {self.name}: --loops is how often each program runs, 1 or more, got {value}."
                )
            self.arguments[known] = value
        self.logger = logger or Logger(self["--log-file"])
        self.logging = self.logger.get_logger()
        self.file_manager = FileManager(self.logger)
        self.artifacts = artifacts or Artifacts(self.logger, self.file_manager, self["--artifact-dir"])
        self.results = Results(self.logger, self.file_manager)

    def __getitem__(self, key: str) -> Any:
        return self.arguments[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.arguments[key] = value

    def result(self, path: str, result: str, exception: str = "", **more: Any) -> None:
        """Add what came out for a file: "pass", "fail", "skip" or "error"."""
        fields = {
            "file_path": path,
            "result": result,
            "exception": exception,
            "log_file": self.logger.file_name,
            "artifacts": self.artifacts.artifacts_folder_path,
        }
        if "--program-index" in self.arguments:
            fields["program_index"] = self["--program-index"]
        self.results.add_result(fields | more)

    def preprocess(self) -> None:
        """Clean and make the folder of artifacts, as asked for.

        Raises:
            FileAccessError: A link in the working folder or among the artifacts leads elsewhere.
        """
        if not self["--allow-files"]:
            self.refuse_links()
        if self["--clean-artifacts"]:
            self.artifacts.clean_artifacts()
        if self["--save-artifacts"]:
            self.artifacts.create_artifacts()

    def refuse_links(self) -> None:
        """Refuse to write through links that came with files.

        What the user names is the user's choice.

        Raises:
            FileAccessError: A link leads out of its folder.
        """
        result, artifacts = self["--result-file"], Path(self.artifacts.artifacts_folder_path)
        named = [Path(result)] if result == self.registered_args["--result-file"]["default"] else []
        named += [] if self["--artifact-dir"] or os.environ.get("TT_MLIR_HOME") else [artifacts]
        links = [path for path in named if os.path.lexists(path) and not is_inside(path, ".")]
        for place, folders, files in os.walk(artifacts):
            links += [path for name in (*folders, *files) if not is_inside(path := Path(place, name), artifacts)]
        if links:
            raise FileAccessError(
                f"ttrt {self.name}: {links[0]} leads to {os.path.realpath(links[0])}, which is outside of its folder. "
                "Remove the link, or use --allow-files if it is yours."
            )

    def check_constraints(self) -> None:
        """Find the binaries, without unusable ones, whose reasons are recorded."""

    def execute(self) -> None:
        """Do the work."""

    def postprocess(self) -> None:
        """Save artifacts and results."""
        if self["--result-file"]:
            self.results.save_results(self["--result-file"])

    def __call__(self) -> tuple[int, list[dict[str, Any]]]:
        """Run the command; return 0 if all passed, and results.

        1 if a file did not pass; the results are of each file.
        """
        self.results = Results(self.logger, self.file_manager)
        self.preprocess()
        self.check_constraints()
        self.execute()
        self.postprocess()
        return self.results.get_result_code(), self.results.get_results()

    def load_binaries(self, check: Callable[[Binary], None]) -> list[Binary]:
        """Return the `binary` argument's binaries.

        Those that are damaged or refused are results.

        Args:
            check: Raises what speaks against a binary.
        """
        path = self["binary"]
        paths = self.file_manager.find_ttnn_binary_paths(path) + self.file_manager.find_ttmetal_binary_paths(path)
        if not paths:
            reason = "there is no such file or folder" if not os.path.exists(path) else "no binary with a known suffix"
            self.result(path, "error", f"{path}: {reason}. Give a .ttnn or .ttm file, or a folder of them.")

        def load(one: str) -> Binary:
            binary = Binary(self.logger, self.file_manager, one)
            check(binary)
            return binary

        found = [self.attempt(one, "skip", load, one) for one in paths]
        return [binary for binary in found if binary is not None]

    def attempt(self, path: str, outcome: str, work: Callable[..., Result], *arguments: Any) -> Result | None:
        """Return a function's result; record refusals and return None.

        They are results of the file.
        """
        try:
            return work(*arguments)
        except TtnnError as error:
            self.result(path, outcome, str(error))
            return None
