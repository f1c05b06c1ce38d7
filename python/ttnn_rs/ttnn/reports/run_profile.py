"""A profile's memory report.

`Profile.report` writes the calls that it has seen into the database of a folder.

What a run with `CONFIG.enable_logging` writes call by call, this writes at the end, from what a profile keeps: the
calls, numbers of their tensors, and the journal of buffers that were allocated and freed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from ttnn._engine import __version__
from ttnn.base.enums import BufferType, TensorMemoryLayout
from ttnn.base.files import part_path, write_atomically
from ttnn.base.tensor_spec import TensorSpec
from ttnn.profiler.plan import Plan, PlanCb
from ttnn.profiler.recorder import BufferChange, Event, Recorder, SeenDevice, SeenTensor
from ttnn.profiler.session import REPORT_WRITERS, Done
from ttnn.reports import database, schema
from ttnn.reports.device_operations import circular_buffers, in_result
from ttnn.reports.importing import compute_tensor_lifetime_records
from ttnn.reports.nodes import Node, new_node
from ttnn.reports.texts import enum_text, memory_config_text, text_of
from ttnn.reports.writer import source_file, write_graph

_CALL: Final = "Profile.report"
_FILES: Final = ("cluster_descriptor.yaml", "physical_chip_mesh_coordinate_mapping.yaml")


def write(folder: Path, recorder: Recorder, done: Done) -> None:
    """Write the memory report of a recorder's calls.

    A database that is there is replaced.

    Args:
        folder: The folder.
        recorder: What has seen the calls.
        done: Is called with the name of each call.
    """
    devices = {seen.id: seen for seen in recorder.devices.values()}
    config = json.dumps({"report_name": folder.resolve().name}) + "\n"
    write_atomically(folder / database.CONFIG_PATH, config, where=_CALL)
    for seen in list(devices.values())[:1]:
        for name, text in zip(_FILES, (seen.cluster, seen.mesh), strict=True):
            write_atomically(folder / name, text, where=_CALL)
    with _new_database(folder / database.SQLITE_DB_PATH) as cursor:
        schema.insert(cursor, "devices", [(seen.id, *astuple(seen.info)) for seen in devices.values()])
        report = _Report(recorder)
        for number, event in enumerate(recorder.events, 1):
            for table, rows in report.rows_of(number, event).items():
                schema.insert(cursor, table, rows)
            write_graph(cursor, number, report.graph)
            if event.place is not None:
                code, line = event.place
                frame = f'  File "{code.co_filename}", line {line}, in {code.co_name}'
                schema.insert(cursor, "stack_traces", [(number, frame, source_file(cursor, code.co_filename))])
            done(event.known.operator)
        schema.insert(cursor, "tensor_lifetime", compute_tensor_lifetime_records(cursor))
        said = {
            "capture_timestamp_ns": report.clock(report.first),
            "total_duration_ns": report.last - report.first,
            "world_size": 1,
            "ttnn_rs_version": __version__,
        }
        schema.insert(cursor, "report_metadata", [(key, str(value)) for key, value in said.items()])


@contextmanager
def _new_database(path: Path) -> Iterator[sqlite3.Cursor]:
    """Yield a cursor on a new database, replacing a file's.

    It takes its place when all is written.
    """
    with part_path(path, where=_CALL) as part:
        connection = schema.connect(part)
        try:
            # A journal beside the part file would stay if the process died; the part file is lost then anyway.
            with schema.refusing(path), connection:
                connection.execute("PRAGMA journal_mode = MEMORY")
                yield connection.cursor()
        finally:
            connection.close()


class _Report:
    """The rows of one call after the other.

    Attributes:
        graph: The captured graph of the call whose rows were made last.
        first: Host time at which the first call began, in nanoseconds.
        last: Host time at which the last one returned.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.graph: list[Node] = []
        self.first = self.last = 0
        self._recorder = recorder
        self._ids = {number: seen.id for number, seen in recorder.devices.items()}
        self._chips: dict[int, SeenDevice] = {seen.id: seen for seen in recorder.devices.values()}
        self._living: dict[int, BufferChange] = {change.number: change for change in recorder.before}
        self._places: dict[int, BufferChange] = dict(self._living)
        self._specs: dict[int, TensorSpec] = {}
        self._tensors: dict[tuple[int, TensorSpec], int] = {}
        self._passed = 0

    def clock(self, at: int) -> int:
        """Return a host time's time of day, in nanoseconds since 1970."""
        return self._recorder.epoch + at

    def rows_of(self, number: int, event: Event) -> Mapping[str, list[tuple[Any, ...]]]:
        """Return the rows of a call by table, and make its graph."""
        self.first, self.last = self.first or event.started, event.ended
        known, changes = event.known, self._recorder.changes[self._passed : event.changes]
        self._passed = event.changes
        for change in changes:
            self._places[change.number] = change
            if change.allocated:
                self._living[change.number] = change
            else:
                self._living.pop(change.number, None)
        inputs = [SeenTensor(*pair) for pair in zip(event.inputs, (t.spec for t in known.inputs), strict=True)]
        outputs = [SeenTensor(*pair) for pair in zip(event.outputs, (t.spec for t in known.outputs), strict=True)]
        new: list[tuple[Any, ...]] = []
        read = [self._tensor(tensor, new) for tensor in inputs]
        made = [self._tensor(tensor, new) for tensor in outputs]
        named = [dict(zip(ids, seen, strict=True)) for ids, seen in ((read, inputs), (made, outputs))]
        self.graph = list(self._nodes(event, changes, *named))
        name = known.operator
        rows: dict[str, list[tuple[Any, ...]]] = {
            "operations": [(number, name, (event.ended - event.started) / 1e9 if event.failure is None else None)],
            "operation_arguments": [(number, key, _text(value)) for key, value in known.arguments.items()],
            "tensors": new,
            "device_tensors": [(row[0], row[5], row[6]) for row in new if row[5] is not None],
            "input_tensors": [(number, index, tensor) for index, tensor in enumerate(read)],
            "output_tensors": [(number, index, tensor) for index, tensor in enumerate(made)],
            "buffers": [(number, *self._buffer(change)) for change in self._in_order()],
        }
        if event.failure is not None:
            kind, message, stack = event.failure
            when = datetime.fromtimestamp(self.clock(event.ended) / 1e9, timezone.utc).isoformat()
            rows["errors"] = [(number, name, kind, message, stack, when)]
        return rows

    def _in_order(self) -> list[BufferChange]:
        return sorted(self._living.values(), key=lambda change: (change.device, change.buffer_type, change.address))

    def _buffer(self, change: BufferChange) -> tuple[int, ...]:
        spec = self._specs.get(change.number)
        layout = TensorMemoryLayout.INTERLEAVED if spec is None else spec.memory_config.memory_layout
        place = (self._ids.get(change.device, 0), change.address, change.bytes_per_bank)
        return (*place, change.buffer_type, layout.value)

    def _tensor(self, tensor: SeenTensor, new: list[tuple[Any, ...]]) -> int:
        """Return a tensor's id, adding its row when new."""
        found = self._tensors.get(tensor)
        if found is not None:
            return found
        number = self._tensors[tensor] = len(self._tensors) + 1
        spec, place = tensor.spec, self._places.get(tensor.number)
        self._specs.setdefault(tensor.number, spec)
        where: tuple[Any, ...] = (None, None, None)
        if place is not None:
            where = (self._ids.get(place.device, 0), place.address, place.buffer_type)
        names = (enum_text(kind).replace("::", ".") for kind in (spec.dtype, spec.layout))
        kinds = (str(spec.shape), *names, memory_config_text(spec.memory_config))
        storage = "StorageType::HOST" if place is None else "StorageType::DEVICE"
        new.append((number, *kinds, *where, storage, spec.page_bytes * spec.num_pages))
        return number

    def _nodes(
        self,
        event: Event,
        changes: Sequence[BufferChange],
        read: Mapping[int, SeenTensor],
        made: Mapping[int, SeenTensor],
    ) -> Iterator[Node]:
        """Yield a call's graph: consecutive device operations with their allocations."""
        device = 0 if event.known.device is None else event.known.device.id()
        seen = self._chips.get(device)
        counter = 0

        def node(kind: str, level: int, params: Mapping[str, str] | None = None) -> Node:
            nonlocal counter
            counter += 1
            return new_node(counter - 1, kind, level, params)

        yield node("capture_start", 0)
        outer = {"inputs": str(len(event.known.arguments)), "name": event.known.operator}
        yield node("function_start", 1, outer)
        # Which device operation of a call allocates is not known: all of its buffers stand before the first one.
        for change in changes:
            kind = "buffer_allocate" if change.allocated else "buffer_deallocate"
            yield node(kind, 2, self._buffer_params(change))
        for plan in event.known.plans:
            params = {"inputs": str(len(plan.inputs)), "name": plan.name, "device_id": str(device)}
            yield node("function_start", 2, params)
            for tensor, facts in read.items():
                yield node("tensor", 3, {"tensor_id": str(tensor), "shape": str(facts.spec.shape)})
            if isinstance(plan, Plan) and seen is not None:
                place = self._borrowed(read, made)
                for cb in circular_buffers(plan.cbs, plan.cores, seen.chip, device, place):
                    yield node("circular_buffer_allocate", 3, cb)
            yield node("circular_buffer_deallocate_all", 3, {"device_id": str(device)})
            yield node("function_end", 2, {"name": plan.name})
        for tensor, facts in made.items():
            yield node("tensor", 2, {"tensor_id": str(tensor), "shape": str(facts.spec.shape)})
        aborted = {} if event.failure is None else {"aborted": "true"}
        yield node("function_end", 1, {"name": event.known.operator, **aborted})
        yield node("capture_end", 0)

    def _buffer_params(self, change: BufferChange) -> dict[str, str]:
        spec = self._specs.get(change.number)
        config = None if spec is None else spec.memory_config
        shards = None if config is None else config.shard_spec or config.nd_shard_spec
        layout = TensorMemoryLayout.INTERLEAVED if config is None else config.memory_layout
        in_l1 = change.buffer_type in (BufferType.L1.value, BufferType.L1_SMALL.value)
        return {
            "address": str(change.address),
            "size": str(change.bytes_per_bank),
            "max_size_per_bank": str(change.bytes_per_bank),
            "type": "L1" if in_l1 else "DRAM",
            "layout": layout.name,
            "num_cores": "0" if shards is None else str(shards.grid.num_cores()),
            "page_size": "0" if spec is None else str(spec.page_bytes),
            "buffer_type": str(change.buffer_type),
            "device_id": str(self._ids.get(change.device, 0)),
        }

    def _borrowed(self, read: Mapping[int, SeenTensor], made: Mapping[int, SeenTensor]) -> Any:
        def address(cb: PlanCb) -> int:
            first, second = (made, read) if in_result(cb) else (read, made)
            for tensor in (*first.values(), *second.values()):
                place = self._places.get(tensor.number)
                sharded = tensor.spec.memory_config.is_sharded()
                if place is not None and sharded and place.buffer_type == BufferType.L1.value:
                    return place.address
            return 0

        return address


def _text(value: Any) -> str:
    """Return an argument as text, as captured graphs have it."""
    if isinstance(value, SeenTensor):
        spec = value.spec
        fields = {
            "shape": str(spec.shape),
            "dtype": enum_text(spec.dtype),
            "layout": enum_text(spec.layout),
            "memory_config": memory_config_text(spec.memory_config),
            "storage_type": "StorageType::HOST" if value.number < 0 else "StorageType::DEVICE",
        }
        return f"Tensor({','.join(f'{name}={text}' for name, text in fields.items())})"
    if isinstance(value, list) and any(isinstance(part, SeenTensor | list | dict) for part in value):
        return f"{{{', '.join(map(_text, value))}}}"
    return text_of(value)


REPORT_WRITERS.append(write)
