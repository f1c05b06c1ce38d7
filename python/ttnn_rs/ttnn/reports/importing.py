"""The database of a report, made from captured graphs in JSON files.

An operation is an outermost function of the graph; the functions that move tensors between host and device are no
operations of their own. Files of this package and of the official one are read.

Source: tt-metal `ttnn/ttnn/graph_report.py` (names, and which functions are left out).
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import re
import sqlite3
import subprocess
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import FileAccessError, FileFormatError, TtnnError
from ttnn.base.files import make_folder, path_name, read_json, read_text, write_atomically
from ttnn.base.paths import is_inside, path_below
from ttnn.reports import schema
from ttnn.reports.comparison import import_tensor_comparison_records
from ttnn.reports.drawing import visualize
from ttnn.reports.extract import Graph
from ttnn.reports.files import REPORT_VERSION
from ttnn.reports.nodes import Node, for_viewer, new_node
from ttnn.reports.writer import MAX_SOURCE_BYTES, source_file, write_graph

_log: Final = logging.getLogger("ttnn")
_NO_OPERATIONS: Final = (
    "ttnn::convert_python_tensor_to_tt_tensor",
    "tt::tt_metal::",
    "Tensor::",
)
_LAYOUTS: Final = {"INTERLEAVED": 0, "HEIGHT_SHARDED": 1, "WIDTH_SHARDED": 2, "BLOCK_SHARDED": 3}
_FRAME: Final = re.compile(r'File "([^"]+)"')
_DEVICE: Final = tuple(column.split()[0] for column in schema.TABLES["devices"].split(", "))[:-1]
_PAGE: Final = tuple(column.split()[0] for column in schema.TABLES["buffer_pages"].split(", "))[1:-1]
_PER_FILE: Final = 10000
"""Numbers of operations that each file of a folder has for itself."""


def _int(params: Mapping[str, Any], name: str) -> int | None:
    value = params.get(name)
    return None if value is None else int(value)


@dataclass
class _Operation:
    """An outermost function of a graph, with the nodes inside of it."""

    start: Node
    end: Node | None = None
    nodes: list[Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.start["params"]["name"])


def _operations(graph: Graph) -> list[_Operation]:
    """Return a graph's operations in start order."""
    found: list[_Operation] = []
    depth = 0
    current: _Operation | None = None
    for node in graph:
        kind = node["node_type"]
        if kind == "function_start":
            if current is None and not node["params"]["name"].startswith(_NO_OPERATIONS):
                current = _Operation(node)
                found.append(current)
                depth = 0
            depth += 1
        if current is not None:
            current.nodes.append(node)
        if kind == "function_end" and current is not None:
            depth -= 1
            if depth == 0:
                current.end = node
                current = None
    return found


def _tensor_ids(graph: Graph, counters: Iterable[int]) -> list[int]:
    nodes = (graph[counter] for counter in counters if counter < len(graph))
    ids = (_int(node["params"], "tensor_id") for node in nodes if node["node_type"] == "tensor")
    return list(dict.fromkeys(number for number in ids if number is not None))


def _inputs(graph: Graph, operation: _Operation) -> list[int]:
    """Return an operation's input tensors, own or of inner functions.

    Those of inner functions that none of them made.
    """
    own = _tensor_ids(graph, operation.start.get("input_tensors", ()))
    if own:
        return own
    taken: dict[int, None] = {}
    made: set[int] = set()
    for node in operation.nodes:
        if node["node_type"] == "function_start":
            taken.update(
                dict.fromkeys(
                    set_of for set_of in _tensor_ids(graph, node.get("input_tensors", ())) if set_of not in made
                )
            )
        elif node["node_type"] == "function_end":
            made.update(_tensor_ids(graph, node.get("connections", ())))
    return list(taken)


def _outputs(graph: Graph, operation: _Operation) -> list[int]:
    """Return an operation's output tensors, or its last inner function's."""
    ends = [node for node in reversed(operation.nodes) if node["node_type"] == "function_end"]
    return next(filter(None, (_tensor_ids(graph, end.get("connections", ())) for end in ends)), [])


def _subgraph(operation: _Operation) -> list[Node]:
    """Return one operation's graph, between start and end nodes."""
    first, last = operation.nodes[0]["counter"], operation.nodes[-1]["counter"]
    start = new_node(first - 1, "capture_start", 0)
    start["connections"] = [first]
    return for_viewer([start, *operation.nodes, new_node(last + 1, "capture_end", 0)])


def import_graph(
    cursor: sqlite3.Cursor,
    graph: Graph,
    base_operation_id: int = 0,
    devices: Sequence[Mapping[str, Any]] | None = None,
    python_io: Sequence[Mapping[str, Any]] | None = None,
    per_operation_buffers: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    *,
    allow_files: bool = False,
) -> dict[str, Any]:
    """Write a captured graph into a database; return row counts.

    Of each kind.

    Args:
        cursor: The database.
        graph: The nodes.
        base_operation_id: The number before that of the first operation.
        devices: Devices of the report, for sizes per bank that the nodes lack.
        python_io: Records of Python calls; the next one of an operation's name has its arguments and tensors.
        per_operation_buffers: Buffers that exist when a function has run, by the counter of its start; without it they
            follow from the events of the graph.
        allow_files: Copy source files outside of the working folder too, if stack traces name them.
    """
    recorded: dict[str, deque[Mapping[str, Any]]] = {}
    for record in python_io or ():
        recorded.setdefault(record["name"], deque()).append(record)
    counts = dict.fromkeys(("operations", "tensors", "buffers", "errors", "stack_traces"), 0)
    numbers: dict[int, int] = {}
    used: set[int] = set()
    living = _Living(devices or ())
    passed = 0
    for number, operation in enumerate(_operations(graph), base_operation_id + 1):
        calls = recorded.get(operation.name)
        call: Mapping[str, Any] = calls.popleft() if calls else {}
        numbers[operation.start["counter"]] = number
        if operation.end is None:
            said = f"Operation '{operation.name}' started but never completed"
            schema.insert(cursor, "errors", [(number, operation.name, "incomplete_operation", said, "", "")])
            counts["errors"] += 1
        duration = (operation.end or {}).get("duration_ns", 0) / 1e9
        schema.insert(cursor, "operations", [(number, operation.name, duration)])
        arguments = call.get("arguments") or {
            f"arg_{index}": text for index, text in enumerate(operation.start.get("arguments", ()))
        }
        rows = [(number, str(name), str(value)) for name, value in arguments.items()]
        schema.insert(cursor, "operation_arguments", rows)
        inputs = call.get("input_tensor_ids") or _inputs(graph, operation)
        outputs = call.get("output_tensor_ids") or _outputs(graph, operation)
        for table, ids in (("input_tensors", inputs), ("output_tensors", outputs)):
            used.update(map(int, ids))
            schema.insert(cursor, table, [(number, index, int(tensor)) for index, tensor in enumerate(ids)])
        if call.get("python_stack_trace"):
            text = "\n".join(call["python_stack_trace"])
            path = normalize_source_path_from_stack_trace(text)
            file = None if path is None else _source(cursor, path, allow_files)
            schema.insert(cursor, "stack_traces", [(number, text, file)])
            counts["stack_traces"] += 1
        counts["errors"] += _import_errors(cursor, number, operation, call)
        write_graph(cursor, number, _subgraph(operation))
        last = operation.nodes[-1]["counter"]
        living.follow(graph[passed : last + 1])
        passed = last + 1
        listed = (per_operation_buffers or {}).get(str(operation.start["counter"]))
        buffers = living.rows() if listed is None else [_buffer(record) for record in listed]
        schema.insert(cursor, "buffers", [(number, *buffer) for buffer in buffers])
        counts["buffers"] += len(buffers)
        counts["operations"] += 1
    counts["tensors"] = _import_tensors(cursor, graph, used)
    schema.insert(cursor, "tensor_lifetime", compute_tensor_lifetime_records(cursor))
    return {**counts, "graph_counter_to_op_id": numbers}


def _import_errors(cursor: sqlite3.Cursor, number: int, operation: _Operation, call: Mapping[str, Any]) -> int:
    found = [node["params"] for node in operation.nodes if node["node_type"] == "error"][:1]
    if call.get("error"):
        error = call["error"]
        stack = "\n".join(call.get("python_stack_trace", ()))
        found = [{"error_type": error["type"], "error_message": error["message"], "stack_trace": stack}]
    rows = [
        (
            number,
            operation.name,
            error.get("error_type", ""),
            error.get("error_message", ""),
            error.get("stack_trace", ""),
            "",
        )
        for error in found
    ]
    schema.insert(cursor, "errors", rows)
    return len(rows)


def _buffer(record: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("device_id", "address", "max_size_per_bank", "buffer_type", "buffer_layout")
    return tuple(record.get(name) for name in names)


class _Living:
    """The existing buffers, from the events of a graph."""

    def __init__(self, devices: Sequence[Mapping[str, Any]]) -> None:
        self.banks = {
            device.get("device_id", 0): (device.get("num_dram_channels", 0), device.get("l1_num_banks", 0))
            for device in devices
        }
        self.found: dict[tuple[int, int, int], tuple[Any, ...]] = {}

    def follow(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if node["node_type"] not in ("buffer_allocate", "buffer_deallocate"):
                continue
            params = node["params"]
            kind = _int(params, "buffer_type")
            kind = int(params.get("type") == "L1") if kind is None else kind
            key = (_int(params, "device_id") or 0, kind, _int(params, "address") or 0)
            if node["node_type"] == "buffer_deallocate":
                self.found.pop(key, None)
            else:
                layout = _LAYOUTS.get(params.get("layout", ""), 0)
                self.found[key] = (key[0], key[2], self._per_bank(params, key[0], kind), kind, layout)

    def rows(self) -> list[tuple[Any, ...]]:
        return [row for _, row in sorted(self.found.items())]

    def _per_bank(self, params: Mapping[str, Any], device: int, kind: int) -> int:
        given = _int(params, "max_size_per_bank")
        if given is not None:
            return given
        size, page = _int(params, "size") or 0, _int(params, "page_size") or 0
        banks = _int(params, "num_cores") or self.banks.get(device, (0, 0))[kind != 0]
        pages = math.ceil(size / page) if page else 0
        return math.ceil(pages / banks) * page if pages and banks else size


def _import_tensors(cursor: sqlite3.Cursor, graph: Graph, used: set[int]) -> int:
    """Write device tensors, and host tensors of operations.

    Those that operations take or return.
    """
    rows = {}
    for node in graph:
        params = node.get("params") or {}
        number = _int(params, "tensor_id") if node["node_type"] == "tensor" else None
        if number is None or (params.get("device_id") is None and number not in used):
            continue
        kinds = (str(params.get(name) or "").replace("::", ".") for name in ("dtype", "layout"))
        place = tuple(_int(params, name) for name in ("device_id", "address", "buffer_type"))
        rows[number] = (
            number,
            params.get("shape", ""),
            *kinds,
            params.get("memory_config"),
            *place,
            params.get("storage_type"),
            _int(params, "size"),
        )
    schema.insert(cursor, "tensors", rows.values())
    placed = [(row[0], row[5], row[6]) for row in rows.values() if row[5] is not None]
    schema.insert(cursor, "device_tensors", placed)
    return len(rows)


def compute_tensor_lifetime_records(cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
    """Return `tensor_lifetime` rows from a database's operations."""
    rows = cursor.execute(
        "SELECT t.tensor_id, (SELECT min(operation_id) FROM output_tensors o WHERE o.tensor_id = t.tensor_id), "
        "(SELECT max(operation_id) FROM input_tensors i WHERE i.tensor_id = t.tensor_id), "
        "(SELECT min(i.operation_id) FROM input_tensors i JOIN operations p USING (operation_id) "
        "WHERE i.tensor_id = t.tensor_id AND p.name LIKE '%deallocate') FROM tensors t"
    ).fetchall()
    return [tuple(row) for row in rows]


def import_devices(cursor: sqlite3.Cursor, devices: Sequence[Mapping[str, Any]]) -> set[int]:
    """Write devices; return their numbers."""
    schema.insert(cursor, "devices", [tuple(device.get(name, 0) for name in _DEVICE) for device in devices])
    return {device.get("device_id", 0) for device in devices}


def import_metadata(cursor: sqlite3.Cursor, metadata: Mapping[str, Any]) -> None:
    """Write the metadata of a report."""
    schema.insert(cursor, "report_metadata", [(key, str(value)) for key, value in metadata.items()])


def import_report(
    report_path: str | os.PathLike[str],
    output_dir: str | os.PathLike[str],
    db_name: str = "db.sqlite",
    generate_svgs: bool = False,
    *,
    allow_files: bool = False,
) -> Path:
    """Write captured graphs into a report's database; return its path.

    Args:
        report_path: A JSON file of `end_graph_capture_to_file`, or a folder of such files.
        output_dir: The report folder. It is made if need be.
        db_name: Name of the database.
        generate_svgs: Draw each graph into the folder `graphs`.
        allow_files: Copy source files outside of the working folder too, if the report names them.

    Raises:
        FileFormatError: there is no file, or one is no report, or one of another version.
        UnsupportedError: `generate_svgs` is set and graphviz is not installed.
    """
    source = Path(path_name("import_report", report_path))
    folder = Path(path_name("import_report", output_dir))
    sidecars = (".python_io.json", ".comparison_records.json")
    files = [source] if os.path.isfile(source) else sorted(source.glob("*.json")) if os.path.isdir(source) else []
    files = [file for file in files if not file.name.endswith(sidecars)]
    if not files:
        what = "a folder without reports (.json)" if os.path.isdir(source) else "no file and no folder"
        raise FileFormatError(f"import_report: {source} is {what}; ttnn.graph.full_graph_capture writes reports")
    reports = [_read(file) for file in files]
    path = path_below(folder, db_name, "import_report: db_name")
    make_folder(folder, where="import_report")
    connection = schema.connect(path)
    try:
        with schema.refusing(path), connection, _described(source):
            cursor = connection.cursor()
            for index, (file, report) in enumerate(zip(files, reports, strict=True)):
                _import_file(cursor, file, report, folder, index * _PER_FILE, allow_files)
                if generate_svgs:
                    generate_svg(report["graph"], folder / "graphs" / f"{file.stem}.svg")
    finally:
        connection.close()
    config = folder / "config.json"
    if not config.exists():
        text = json.dumps({"report_name": derive_report_name(source)}, indent=4) + "\n"
        write_atomically(config, text, where="import_report")
    return path


@contextmanager
def _described(source: Path) -> Iterator[None]:
    """Turn a damaged report's reading errors into a named one.

    It names the report.
    """
    try:
        yield
    except TtnnError:
        raise
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError, sqlite3.Error) as error:
        raise FileFormatError(f"import_report: {source} is damaged: {type(error).__name__}: {error}") from None


def _read(file: Path) -> dict[str, Any]:
    report = read_json(file, where="import_report")
    if not isinstance(report, dict) or report.get("version") != REPORT_VERSION or "graph" not in report:
        raise FileFormatError(f"import_report: {file} is not a report of version {REPORT_VERSION}")
    return report


def _import_file(
    cursor: sqlite3.Cursor, file: Path, report: dict[str, Any], folder: Path, base: int, allow_files: bool
) -> None:
    devices = report.get("devices", [])
    import_devices(cursor, devices)
    python_io = report.get("python_io") or _sidecar(file, ".python_io.json")
    buffers = report.get("per_operation_buffers")
    found = import_graph(cursor, report["graph"], base, devices, python_io, buffers, allow_files=allow_files)
    import_metadata(cursor, report.get("metadata", {}))
    comparisons = _sidecar(file, ".comparison_records.json")
    if comparisons:
        import_tensor_comparison_records(cursor, comparisons)
    if report.get("buffer_pages") and found["graph_counter_to_op_id"]:
        last = max(found["graph_counter_to_op_id"].values())
        pages = [(last, *(page.get(name, 0) for name in _PAGE)) for page in report["buffer_pages"]]
        schema.insert(cursor, "buffer_pages", pages)
    described = {
        "cluster_descriptor.yaml": report.get("cluster_descriptor"),
        "physical_chip_mesh_coordinate_mapping.yaml": report.get("mesh_coordinate_mapping"),
    }
    for name, text in described.items():
        if text and not (folder / name).exists():
            write_atomically(folder / name, text, where="import_report")


def _sidecar(file: Path, suffix: str) -> Any:
    beside = file.with_suffix(suffix)
    return read_json(beside, where="import_report") if beside.exists() else None


def generate_svg(graph: Graph, output_path: str | os.PathLike[str]) -> Path:
    """Draw a graph into a file; return its path.

    Raises:
        UnsupportedError: graphviz is not installed.
    """
    path = Path(output_path)
    make_folder(path.parent, where="generate_svg")
    visualize(graph, file_name=path)
    return path


def derive_report_name(report_path: str | os.PathLike[str]) -> str:
    """Return the name of a report: that of its file or folder."""
    return Path(report_path).stem


def _source(cursor: sqlite3.Cursor, path: str, allow_files: bool) -> int | None:
    """Return a report's source file number; None if unreadable.

    It may not or cannot be read.
    """
    if allow_files or is_inside(path, "."):
        return source_file(cursor, path)
    _log.warning(
        "import_report: the text of %s, which the report names, is left out: it is not below the working folder. "
        "Use --allow-files (allow_files=True) if you trust the report.",
        path,
    )
    return None


def normalize_source_path_from_stack_trace(stack_trace: str) -> str | None:
    """Return the file of the first frame of a stack, or None."""
    found = _FRAME.search(stack_trace)
    return None if found is None else str(Path(found[1]).resolve())


def read_source_file(path: str) -> str | None:
    """Return a file's text, or None if unreadable."""
    try:
        return read_text(path, where="read_source_file", limit=MAX_SOURCE_BYTES)
    except FileAccessError:
        return None


def get_source_file_id(cursor: sqlite3.Cursor, path: str, contents: str) -> int:
    """Return a source file's database number, assigned if missing."""
    cursor.execute("INSERT OR IGNORE INTO source_files (path, contents) VALUES (?, ?)", [path, contents])
    return int(cursor.execute("SELECT id FROM source_files WHERE path = ?", [path]).fetchone()[0])


def sanitize_git_remote_url(url: str) -> str:
    """Return the address of a repository without a user's name and password."""
    return re.sub(r"(?<=://)[^/@]*@", "", url.strip())


def get_tt_metal_git_report_metadata(folder: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Return a folder's repository address and commit, else nothing.

    Args:
        folder: The folder; by default `TT_METAL_HOME`.
    """
    home = folder or os.environ.get("TT_METAL_HOME")
    found = {}
    asked = {"git_url": ["remote", "get-url", "origin"], "git_sha": ["rev-parse", "HEAD"]}
    for key, command in asked.items() if home else ():
        try:
            run = subprocess.run(["git", "-C", str(home), *command], capture_output=True, text=True, check=False)
        except OSError:
            return {}
        if run.returncode == 0:
            found[key] = sanitize_git_remote_url(run.stdout)
    return found


def _imported(given: argparse.Namespace) -> Path:
    return import_report(
        given.report_path, given.output_dir, given.db_name, generate_svgs=given.svg, allow_files=given.allow_files
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run `python -m ttnn.graph_report REPORT FOLDER [--db-name NAME] [--svg]`."""
    parser = argparse.ArgumentParser(
        "python -m ttnn.graph_report", description="Write captured graphs into a report folder."
    )
    parser.add_argument("report_path", help="JSON file of a captured graph, or a folder of such files")
    parser.add_argument("output_dir", help="report folder")
    parser.add_argument("--db-name", default="db.sqlite", help="name of the database (default: db.sqlite)")
    parser.add_argument(
        "--allow-files", action="store_true", help="copy source files outside of the working folder too"
    )
    parser.add_argument("--svg", action="store_true", help="draw the graphs")
    given = parser.parse_args(arguments)
    try:
        print(_imported(given))
    except (OSError, TtnnError) as error:
        parser.error(str(error))
