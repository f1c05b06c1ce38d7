"""Program captures, and records of Python calls meanwhile.

A program begins and ends them.

Source: tt-metal `ttnn/ttnn/graph.py` (names, and the file next to a report).
"""

from __future__ import annotations

import json
import os
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ttnn.base import config
from ttnn.base.config import CONFIG
from ttnn.base.exceptions import ArgumentError, ParameterError
from ttnn.base.files import make_folder, path_name, write_atomically
from ttnn.base.observers import OBSERVERS, Observer, observing
from ttnn.operation.operands import tensors_in
from ttnn.reports.capture import GraphCapture, RunMode
from ttnn.reports.files import report_of
from ttnn.reports.nodes import Node
from ttnn.reports.texts import argument_text

_PACKAGE: Final = str(Path(__file__).parent.parent)
_HARNESS: Final = ("/_pytest/", "/pluggy/", "/bin/pytest", "/runpy.py")


@dataclass
class _Recording:
    """Recording options of Python calls."""

    on: bool = False
    stacks: bool = False
    pages: bool = False
    stacks_of_capture: bool = False
    """True if `CONFIG` enabled stacks for the open capture."""
    calls: list[dict[str, Any]] = field(default_factory=list)


RECORDING: Final = _Recording()


class GraphModule(ModuleType):
    """The module `ttnn.graph`, whose list of recorded calls may be assigned."""

    @property
    def _python_io_data(self) -> list[dict[str, Any]]:
        return RECORDING.calls

    @_python_io_data.setter
    def _python_io_data(self, calls: list[dict[str, Any]]) -> None:
        RECORDING.calls = calls


class _Recorder(Observer):
    """Observer of called operators, for a report's companion file."""

    blocks = False
    in_full = False

    def __init__(self) -> None:
        self.depth = 0
        self.record: dict[str, Any] | None = None
        self.thread = threading.get_ident()

    def operation_start(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record a call of the program."""
        if threading.get_ident() != self.thread:
            return
        self.depth += 1
        if self.depth == 1 and RECORDING.on:
            self.record = record_python_operation(operation.__name__, args, kwargs)

    def operation_end(self, result: Any) -> None:
        """Record the results of a call of the program."""
        if threading.get_ident() != self.thread:
            return
        if self.depth == 1 and RECORDING.on:
            store_output_tensor_ids([tensor.tensor_id for tensor in tensors_in(result)])
        self.depth -= 1

    def operation_failed(self, error: BaseException) -> None:
        """Record the error of a call of the program."""
        if threading.get_ident() != self.thread:
            return
        if self.depth == 1 and RECORDING.on:
            record_python_operation_error(self.record, type(error).__name__, str(error))
        self.depth -= 1


_open: Final[list[tuple[GraphCapture, _Recorder | None]]] = []


def begin_graph_capture(run_mode: RunMode | None = None) -> None:
    """Start capturing operators.

    Captures may be nested; the outermost selects whether operators run.

    Args:
        run_mode: NORMAL, the default: operators run. NO_DISPATCH: nothing is allocated, transferred or run; tensors
            that are made have the address 0, hold zeros, and are unallocated when the capture ends.

    Raises:
        ArgumentError: `run_mode` is none.
    """
    mode = RunMode.NORMAL if run_mode is None else run_mode
    if not isinstance(mode, RunMode):
        raise ArgumentError(f"begin_graph_capture: run_mode must be a ttnn.graph.RunMode, got {run_mode!r}")
    recorder = None
    if not _open:
        RECORDING.calls = []
        RECORDING.on = True
        configure_stacks_of_capture(config)
        recorder = _Recorder()
    capture = GraphCapture(mode)
    OBSERVERS.append(capture)
    if recorder is not None:
        OBSERVERS.append(recorder)
    _open.append((capture, recorder))


def configure_stacks_of_capture(package: Any) -> None:
    """Record the stacks of a capture if the package's `CONFIG` demands them."""
    if getattr(package.CONFIG, "enable_graph_python_stack_traces", False) and not RECORDING.stacks:
        RECORDING.stacks = RECORDING.stacks_of_capture = True


def end_graph_capture() -> list[Node]:
    """End the innermost capture; return its nodes in the order of time.

    Raises:
        ParameterError: no capture is open.
    """
    return _end("end_graph_capture").nodes


def end_graph_capture_to_file(report_path: str | os.PathLike[str]) -> list[Node]:
    """End the innermost capture, write it, and return its nodes.

    It is written to a JSON file with its devices.

    The recorded Python calls are written to a second file, `<name>.python_io.json`, next to the first.

    Raises:
        ArgumentError: `report_path` is no path.
        ParameterError: no capture is open.
    """
    if not isinstance(report_path, str | os.PathLike):
        raise ArgumentError(f"end_graph_capture_to_file: expected a path, got {report_path!r}")
    call = "end_graph_capture_to_file"
    capture = _end(call)
    path = Path(path_name(call, report_path))
    make_folder(path.parent, where=call)
    write_atomically(path, json.dumps(report_of(capture, pages=RECORDING.pages), indent=2), where=call)
    if RECORDING.calls:
        write_atomically(path.with_suffix(".python_io.json"), json.dumps(RECORDING.calls), where=call)
    return capture.nodes


def _end(call: str) -> GraphCapture:
    if not _open:
        raise ParameterError(f"{call}: no capture is open; begin one with ttnn.graph.begin_graph_capture")
    capture, recorder = _open.pop()
    try:
        capture.end()
    finally:
        OBSERVERS.remove(capture)
        if recorder is not None:
            OBSERVERS.remove(recorder)
    if not _open:
        RECORDING.on = False
        if RECORDING.stacks_of_capture:
            RECORDING.stacks = RECORDING.stacks_of_capture = False
    return capture


@contextmanager
def full_graph_capture(
    report_path: str | os.PathLike[str], *, run_mode: RunMode | None = None, slow_dispatch: bool = True
) -> Iterator[None]:
    """Capture a `with` block into a JSON file.

    With stacks and pages of buffers.

    Args:
        report_path: The file.
        run_mode: Whether operators run.
        slow_dispatch: Set `CONFIG.enable_fast_runtime_mode` to False inside.
    """
    stacks, pages, fast = RECORDING.stacks, RECORDING.pages, CONFIG.enable_fast_runtime_mode
    RECORDING.stacks = RECORDING.pages = True
    if slow_dispatch:
        CONFIG.enable_fast_runtime_mode = False
    begin_graph_capture(run_mode)
    try:
        yield
    except BaseException:
        _end("full_graph_capture")
        raise
    else:
        end_graph_capture_to_file(report_path)
    finally:
        RECORDING.stacks, RECORDING.pages, CONFIG.enable_fast_runtime_mode = stacks, pages, fast


def is_graph_capture_active() -> bool:
    """Return whether a capture is open."""
    return bool(_open)


def track_function_start(name: str, *args: Any) -> None:
    """Add a function's start to the open captures, if any."""
    for observer in observing():
        observer.function_start(name, args)


def track_function_end(result: Any = None) -> None:
    """Add the end of the innermost function to the open captures."""
    for observer in observing():
        observer.function_end(result)


# Python calls.


def enable_python_io_recording() -> None:
    """Record a capture's call arguments and results.

    A capture does so from its beginning.
    """
    RECORDING.on = True


def disable_python_io_recording() -> None:
    """Record no further arguments and results."""
    RECORDING.on = False


def is_python_io_recording_enabled() -> bool:
    """Return whether arguments and results are recorded."""
    return RECORDING.on


def enable_python_stack_traces() -> None:
    """Record the Python stack of each call."""
    RECORDING.stacks = True


def disable_python_stack_traces() -> None:
    """Record no Python stacks."""
    RECORDING.stacks = False


def is_python_stack_trace_enabled() -> bool:
    """Return whether Python stacks are recorded."""
    return RECORDING.stacks


def enable_detailed_buffer_tracing() -> None:
    """Write the pages of buffers into the files of captures."""
    RECORDING.pages = True


def disable_detailed_buffer_tracing() -> None:
    """Write no pages of buffers."""
    RECORDING.pages = False


def is_detailed_buffer_tracing_enabled() -> bool:
    """Return whether pages of buffers are written."""
    return RECORDING.pages


def append_python_io_record(name: str) -> dict[str, Any]:
    """Record a call by name; return its record, without arguments."""
    record: dict[str, Any] = {"name": name, "arguments": {}, "input_tensor_ids": []}
    RECORDING.calls.append(record)
    return record


def record_python_operation(
    name: str,
    function_args: Sequence[Any],
    function_kwargs: dict[str, Any],
    *,
    record: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Record a call: argument texts and tensor ids.

    Args:
        name: The operator.
        function_args: Its positional arguments.
        function_kwargs: Its keyword arguments.
        record: A record of `append_python_io_record`; a new one if None.
    """
    if record is None:
        record = append_python_io_record(name)
    arguments = {str(name): argument_text(value) for name, value in function_kwargs.items()}
    arguments |= {str(index): argument_text(value) for index, value in enumerate(function_args)}
    record["arguments"] = arguments
    record["input_tensor_ids"] = [
        tensor.tensor_id for tensor in tensors_in((*function_args, *function_kwargs.values()))
    ]
    if RECORDING.stacks:
        record["python_stack_trace"] = python_stack()
    return record


def record_python_operation_error(record: dict[str, Any] | None, error_type: str, error_message: str) -> None:
    """Record that a recorded call raised; a record keeps its first error."""
    if record is not None and "error" not in record:
        record["error"] = {"type": error_type, "message": error_message}


def store_output_tensor_ids(output_tensor_ids: Sequence[int]) -> None:
    """Record the ids of the tensors that the last recorded call returned."""
    if RECORDING.calls:
        RECORDING.calls[-1]["output_tensor_ids"] = list(output_tensor_ids)


def store_captured_graph(captured_graph_json: Any) -> None:
    """Record the graph of the last recorded call."""
    if RECORDING.calls:
        RECORDING.calls[-1]["captured_graph"] = captured_graph_json


def python_frames() -> list[traceback.FrameSummary]:
    """Return the calling program's frames, innermost first.

    Those of this package and of pytest left out.
    """
    return [
        frame
        for frame in reversed(traceback.extract_stack())
        if not frame.filename.startswith((_PACKAGE, "<frozen")) and not any(part in frame.filename for part in _HARNESS)
    ]


def python_stack() -> list[str]:
    """Return the frames of the calling program as texts, the innermost first."""
    return traceback.format_list(python_frames())
