"""Runs of models, one at a time, in a child process.

The stock server makes an adapter for each request, so that the state is kept here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, ClassVar, Final

from ttnn.base.exceptions import ParameterError, TtnnError, UnsupportedError
from ttnn.base.files import read_json, read_text, write_atomically
from ttnn.compiler.explorer import models
from ttnn.compiler.explorer.folder import artifact_folder, root
from ttnn.compiler.explorer.graph import Numbered, build
from ttnn.compiler.explorer.options import Settings
from ttnn.compiler.limits import FILE_BYTES

__all__ = ["BINARY", "CPP", "LOWERED", "PYTHON", "RECORDS", "REQUEST", "RESULT", "Run", "Runner"]

REQUEST: Final = "request.json"
RESULT: Final = "result.json"
LOWERED: Final = "lowered.mlir"
BINARY: Final = "program.ttnn"
CPP: Final = "program.cpp"
PYTHON: Final = "program.py"
RECORDS: Final = "chisel.jsonl"
_WHERE: Final = "tt-explorer"
_LINES: Final = 20_000
"""Lines of the log that are kept."""
_PROGRESS: Final = "@progress "


@dataclass(frozen=True)
class Run:
    """Results of a run.

    Attributes:
        folder: Its files.
        settings: What was asked for.
        result: Times, memory and names of files.
        time: When it ended, UTC.
    """

    folder: Path
    settings: Settings
    result: dict[str, Any]
    time: str

    def lowered(self, name: str) -> Numbered:
        """Return the graph of the lowered module."""
        return build(models.load(self.folder / LOWERED), name)

    def text(self, file: str) -> str | None:
        """Return the content of a file that the run wrote, or None."""
        path = self.folder / file
        return read_text(path, where=_WHERE, limit=FILE_BYTES) if path.exists() else None

    @property
    def operations(self) -> dict[tuple[str, int], dict[str, Any]]:
        """Return the measured operations by program and number."""
        return {(one["program"], one["operation"]): one for one in self.result["operations"]}


class Runner:
    """The runs of this process.

    Attributes:
        enabled: Whether models may be executed.
    """

    enabled: ClassVar[bool] = True
    _lock: ClassVar[threading.Lock] = threading.Lock()
    _busy: ClassVar[bool] = False
    _progress: ClassVar[int] = 0
    _error: ClassVar[str | None] = None
    _log: ClassVar[deque[str]] = deque(maxlen=_LINES)
    _last: ClassVar[dict[Path, Run]] = {}

    @classmethod
    def start(cls, model: Path, settings: Settings) -> None:
        """Begin a run.

        Raises:
            ParameterError: Another one has not ended.
            UnsupportedError: Runs are switched off.
        """
        cls._begin()
        threading.Thread(target=cls._work, args=(model, settings), daemon=True).start()

    @classmethod
    def run(cls, model: Path, settings: Settings) -> Run:
        """Return the run of a model, that of before if nothing changed.

        Raises:
            ParameterError: Another one has not ended.
            TtnnError: A step failed.
            UnsupportedError: Runs are switched off.
        """
        folder = artifact_folder(model, settings.key)
        known = cls._known(folder, settings)
        if known is not None:
            return known
        cls._begin()
        found = cls._work(model, settings)
        if found is None:
            raise TtnnError(cls._error or "tt-explorer: the run failed.")
        return found

    @classmethod
    def status(cls) -> dict[str, Any]:
        """Return the progress of a run, and new lines of its log."""
        lines = []
        while cls._log:
            lines.append(cls._log.popleft())
        return {
            "isDone": not cls._busy,
            "progress": cls._progress,
            "total": 100,
            "error": cls._error,
            "stdout": "\n".join(lines),
        }

    @classmethod
    def last(cls, model: Path) -> Run | None:
        """Return the last run of a model that ended well, or None."""
        return cls._last.get(model)

    @classmethod
    def _begin(cls) -> None:
        if not cls.enabled:
            raise UnsupportedError("tt-explorer: models are not executed: it was started with --no-model-execution.")
        with cls._lock:
            if cls._busy:
                raise ParameterError("tt-explorer: a model is being executed; wait until it has ended.")
            cls._busy, cls._progress, cls._error = True, 0, None
            cls._log.clear()

    @classmethod
    def _work(cls, model: Path, settings: Settings) -> Run | None:
        """Run the steps; set `_error` and return None if one fails."""
        try:
            folder = artifact_folder(model, settings.key)
            found = cls._known(folder, settings) or cls._steps(model, settings, folder)
            if found is not None:
                cls._last[model] = found
            return found
        except (TtnnError, OSError) as error:
            cls._error = str(error)
            return None
        finally:
            cls._progress = 100
            cls._busy = False

    @classmethod
    def _known(cls, folder: Path, settings: Settings) -> Run | None:
        if not (folder / RESULT).exists():
            return None
        result = read_json(folder / RESULT, where=_WHERE)
        now = datetime.now(timezone.utc).strftime("%H:%M:%S")
        return Run(folder, settings, result, now)

    @classmethod
    def _steps(cls, model: Path, settings: Settings, folder: Path) -> Run | None:
        request = {
            "model": str(model),
            "options": settings.pipeline_options,
            "cpp": settings.cpp,
            "seed": settings.seed,
            "chisel": settings.chisel,
        }
        if settings.overrides and not settings.optimize:
            cls._log.append("Overrides have no effect: the optimizer is disabled.")
        write_atomically(folder / REQUEST, json.dumps(request, indent=1) + "\n", where=_WHERE)
        command = [sys.executable, "-m", "ttnn.compiler.explorer.steps", str(folder)]
        with subprocess.Popen(
            command,
            cwd=root(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            last: deque[str] = deque(maxlen=5)
            for line in process.stdout:
                text = line.rstrip("\n")
                if text.startswith(_PROGRESS) and text[len(_PROGRESS) :].isdigit():
                    cls._progress = int(text[len(_PROGRESS) :])
                else:
                    cls._log.append(text)
                    last.append(text)
        if process.returncode != 0:
            cls._error = "\n".join(last) or f"tt-explorer: the steps ended with code {process.returncode}."
            return None
        return cls._known(folder, settings)
