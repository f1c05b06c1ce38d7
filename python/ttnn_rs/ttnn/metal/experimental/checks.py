"""Checks of a `ProgramSpec`: names resolve, ends meet, settings exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from ttnn.base.core_range import CoreRangeSet
from ttnn.base.data_format import DataFormat
from ttnn.base.enums import NOC_MODE, BufferType, DataMovementProcessor, DataType
from ttnn.base.exceptions import ArgumentError, ProgramConfigError, UnsupportedError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.base.tile import Tile
from ttnn.metal.configs import format_code
from ttnn.metal.experimental.hardware import ComputeHardwareConfig, DataMovementHardwareConfig, UnpackMode
from ttnn.metal.experimental.specs import (
    DataflowBufferSpec,
    DFBAccessPattern,
    DFBEndpointType,
    KernelSpec,
    ProgramSpec,
    ScratchpadSpec,
    SemaphoreSpec,
    TensorParameter,
    WorkUnitSpec,
)
from ttnn.metal.program_parts import as_cores, shared_core

_CALL = "make_program_from_spec"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = """alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default
    delete do double else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new noexcept not nullptr operator or private protected public register return short signed sizeof static struct
    switch template this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor"""
_CPP_KEYWORDS = frozenset(_KEYWORDS.split())
_MAX_ENTRIES = 65535


def fail(text: str, vendor: str = "") -> NoReturn:
    """Raise that a specification contradicts itself."""
    raise ProgramConfigError(f"{_CALL}: {text}", vendor=vendor)


def check_spec(spec: ProgramSpec) -> None:
    """Check a specification.

    Raises:
        ArgumentError: a part of another type.
        ProgramConfigError: parts that contradict each other.
        UnsupportedError: what this chip does not have.
    """
    if not isinstance(spec, ProgramSpec):
        raise ArgumentError(f"{_CALL}: expected a ProgramSpec, got {type(spec).__name__}")
    if spec.cross_node_dataflow_buffers:
        raise UnsupportedError(f"{_CALL}: cross-node dataflow buffers are not implemented, officially either")
    parts: tuple[tuple[str, str, Sequence[Any], Any], ...] = (
        ("KernelSpec", "kernels", spec.kernels, KernelSpec),
        ("DFB", "dataflow_buffers", spec.dataflow_buffers, DataflowBufferSpec),
        ("SemaphoreSpec", "semaphores", spec.semaphores, SemaphoreSpec),
        ("ScratchpadSpec", "scratchpads", spec.scratchpads, ScratchpadSpec),
        ("TensorParameter", "tensor_parameters", spec.tensor_parameters, TensorParameter),
    )
    for title, where, items, kind in parts:
        _check_parts(title, where, items, kind)
    if not spec.kernels:
        fail("the program has no kernel", "A ProgramSpec must have at least one KernelSpec")
    for dfb in spec.dataflow_buffers:
        _check_buffer(dfb)
    for pad in spec.scratchpads:
        _check_memory("scratchpad", pad.unique_id, pad.size_per_node)
        _check_format("scratchpad", pad.unique_id, pad.data_format_metadata, pad.tile_format_metadata)
    for parameter in spec.tensor_parameters:
        if not isinstance(parameter.spec, TensorSpec):
            raise ArgumentError(
                f"{_CALL}: tensor parameter {parameter.unique_id!r}: spec must be a ttnn.TensorSpec, got "
                f"{type(parameter.spec).__name__}"
            )
    for kernel in spec.kernels:
        _check_kernel(kernel)
        _check_names(spec, kernel)
    _check_work_units(spec)
    _check_use(spec)
    for dfb in spec.dataflow_buffers:
        _check_ends(spec, dfb)
    _check_aliases(spec)


def _check_parts(title: str, where: str, items: Sequence[Any], kind: Any) -> None:
    if not isinstance(items, (list, tuple)):
        raise ArgumentError(f"{_CALL}: {where} must be a list of {kind.__name__}, got {items!r}")
    seen: set[str] = set()
    for item in items:
        if not isinstance(item, kind):
            raise ArgumentError(f"{_CALL}: {where} must hold {kind.__name__}, got {type(item).__name__}")
        if not isinstance(item.unique_id, str) or not item.unique_id:
            raise ArgumentError(f"{_CALL}: a name in {where} must be a text, got {item.unique_id!r}")
        if item.unique_id in seen:
            fail(f"{where} has two parts of the name {item.unique_id!r}", f"Duplicate {title} name '{item.unique_id}'")
        seen.add(item.unique_id)


def _check_memory(what: str, name: str, *sizes: object) -> None:
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int):
            raise ArgumentError(f"{_CALL}: {what} {name!r}: sizes must be integers, got {size!r}")
        if not 0 < size < 1 << 32:
            fail(f"{what} {name!r} has a size of {size}; it must be greater than 0")


def _check_format(what: str, name: str, form: object, tile: object) -> None:
    if form is not None and not isinstance(form, (DataFormat, DataType)):
        raise ArgumentError(f"{_CALL}: {what} {name!r}: data_format_metadata must be a DataFormat, got {form!r}")
    if tile is not None and not isinstance(tile, Tile):
        raise ArgumentError(f"{_CALL}: {what} {name!r}: tile_format_metadata must be a ttnn.Tile, got {tile!r}")
    if tile is not None and form is None:
        fail(f"{what} {name!r} has tile_format_metadata, and needs data_format_metadata too")


def _check_buffer(dfb: DataflowBufferSpec) -> None:
    name = dfb.unique_id
    _check_memory("dataflow buffer", name, dfb.entry_size, dfb.num_entries)
    _check_format("dataflow buffer", name, dfb.data_format_metadata, dfb.tile_format_metadata)
    if dfb.num_entries > _MAX_ENTRIES:
        fail(f"dataflow buffer {name!r} has {dfb.num_entries} entries, at most {_MAX_ENTRIES} are counted")
    if dfb.advanced_options.prefetcher_pipe_relays:
        raise UnsupportedError(f"{_CALL}: dataflow buffer {name!r}: prefetcher pipes are not modelled")


def check_identifier(owner: str, kind: str, name: object) -> None:
    """Check that a name is a valid identifier in a kernel's source."""
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or name in _CPP_KEYWORDS:
        fail(
            f"kernel {owner!r}: {kind} name {name!r} is not an identifier",
            f"KernelSpec '{owner}' {kind} name '{name}' is not a valid C++ identifier.",
        )


def _check_kernel(kernel: KernelSpec) -> None:
    """Check the fields of a kernel."""
    name = kernel.unique_id
    if kernel.num_threads != 1:
        fail(f"kernel {name!r} has {kernel.num_threads} threads; kernels of this chip have one")
    if kernel.advanced_options.prefetcher_pipe_bindings:
        raise UnsupportedError(f"{_CALL}: kernel {name!r}: prefetcher pipes are not modelled")
    if isinstance(kernel.hw_config, ComputeHardwareConfig):
        if kernel.semaphore_bindings:
            fail(f"compute kernel {name!r} binds semaphores; on this chip only data-movement kernels have them")
        if kernel.hw_config.config_1xx is not None and kernel.hw_config.config_1xx.enable_trisc2_rvv:
            raise UnsupportedError(f"{_CALL}: kernel {name!r}: this chip has no vector extension (enable_trisc2_rvv)")
    elif not isinstance(kernel.hw_config, DataMovementHardwareConfig):
        raise ArgumentError(
            f"{_CALL}: kernel {name!r}: hw_config must be a DataMovementHardwareConfig or ComputeHardwareConfig, got "
            f"{kernel.hw_config!r}"
        )
    elif kernel.hw_config.config_1xx is None:
        fail(f"kernel {name!r}: this chip needs config_1xx, see create_reader_datamovement_config")
    elif kernel.hw_config.config_1xx.processor.value > 1:
        fail(f"kernel {name!r}: this chip has no processor {kernel.hw_config.config_1xx.processor}")
    kinds: dict[str, str] = {}
    for kind, names in (
        ("named RTA", kernel.runtime_arg_schema.runtime_arg_names),
        ("named CRTA", kernel.runtime_arg_schema.common_runtime_arg_names),
        ("named CTA", kernel.compile_time_args),
    ):
        for argument in names:
            check_identifier(name, kind, argument)
            if argument in kinds:
                fail(
                    f"kernel {name!r} has two arguments of the name {argument!r}",
                    f"KernelSpec '{name}' has a naming collision: '{argument}' is declared as both a {kinds[argument]} "
                    f"and a {kind}.",
                )
            kinds[argument] = kind
    _check_ends_of(kernel)
    for what, pairs in (
        ("semaphore", [(b.semaphore_spec_name, b.accessor_name) for b in kernel.semaphore_bindings]),
        ("scratchpad", [(b.scratchpad_spec_name, b.accessor_name) for b in kernel.scratchpad_bindings]),
        ("tensor", [(b.tensor_parameter_name, b.accessor_name) for b in kernel.tensor_bindings]),
    ):
        for _, accessor in pairs:
            check_identifier(name, f"{what} accessor", accessor)
        _check_once(name, f"{what} accessor", [accessor for _, accessor in pairs])
        if what != "tensor":
            _check_once(name, what, [bound for bound, _ in pairs])
    _check_sequences(kernel)


def _check_once(kernel: str, what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            fail(f"kernel {kernel!r} binds {what} {name!r} twice")
        seen.add(name)


def _check_ends_of(kernel: KernelSpec) -> None:
    """Check a kernel's dataflow buffers: ends once, accessors for one buffer."""
    name = kernel.unique_id
    ends: set[tuple[str, object]] = set()
    owners: dict[str, str] = {}
    for binding in kernel.dfb_bindings:
        check_identifier(name, "DFB accessor", binding.accessor_name)
        if binding.access_pattern is DFBAccessPattern.BLOCKED or binding.block_size:
            raise UnsupportedError(f"{_CALL}: kernel {name!r}: BLOCKED access is not implemented, officially either")
        producer = binding.endpoint_type is DFBEndpointType.PRODUCER
        if producer and binding.access_pattern is not DFBAccessPattern.STRIDED:
            fail(f"kernel {name!r}: the producer of dataflow buffer {binding.dfb_spec_name!r} must be STRIDED")
        end = (binding.dfb_spec_name, binding.endpoint_type)
        if end in ends:
            fail(f"kernel {name!r} binds dataflow buffer {end[0]!r} twice as {binding.endpoint_type.name}")
        ends.add(end)
        if owners.setdefault(binding.accessor_name, binding.dfb_spec_name) != binding.dfb_spec_name:
            fail(f"kernel {name!r} has two dataflow buffers of the name {binding.accessor_name!r}")


def _check_sequences(kernel: KernelSpec) -> None:
    accessors = {binding.accessor_name for binding in kernel.tensor_bindings}
    names = []
    for sequence in kernel.advanced_options.tensor_binding_sequences:
        check_identifier(kernel.unique_id, "tensor sequence", sequence.sequence_name)
        if sequence.sequence_name in accessors:
            fail(f"kernel {kernel.unique_id!r}: {sequence.sequence_name!r} is a tensor and a sequence of tensors")
        names.append(sequence.sequence_name)
        _check_once(kernel.unique_id, f"in sequence {sequence.sequence_name!r} tensor", sequence.members)
        for member in sequence.members:
            if member not in accessors:
                fail(
                    f"kernel {kernel.unique_id!r}: sequence {sequence.sequence_name!r} names tensor {member!r}, which "
                    "the kernel does not bind"
                )
    _check_once(kernel.unique_id, "tensor sequence", names)


def _check_names(spec: ProgramSpec, kernel: KernelSpec) -> None:
    """Check that a kernel's bindings exist, and their settings."""
    buffers = {dfb.unique_id: dfb for dfb in spec.dataflow_buffers}
    known: tuple[tuple[str, Iterable[str], Iterable[str]], ...] = (
        ("dataflow buffer", (b.dfb_spec_name for b in kernel.dfb_bindings), buffers),
        (
            "semaphore",
            (b.semaphore_spec_name for b in kernel.semaphore_bindings),
            {semaphore.unique_id for semaphore in spec.semaphores},
        ),
        (
            "scratchpad",
            (b.scratchpad_spec_name for b in kernel.scratchpad_bindings),
            {pad.unique_id for pad in spec.scratchpads},
        ),
        (
            "tensor parameter",
            (b.tensor_parameter_name for b in kernel.tensor_bindings),
            {parameter.unique_id for parameter in spec.tensor_parameters},
        ),
    )
    for what, names, there in known:
        for name in names:
            if name not in there:
                fail(f"kernel {kernel.unique_id!r} binds {what} {name!r}, which the program does not have")
    if isinstance(kernel.hw_config, ComputeHardwareConfig):
        _check_unpacking(kernel, kernel.hw_config, buffers)


def _check_unpacking(
    kernel: KernelSpec, config: ComputeHardwareConfig, buffers: Mapping[str, DataflowBufferSpec]
) -> None:
    bound = {binding.dfb_spec_name for binding in kernel.dfb_bindings}
    for name in config.unpack_modes:
        if name not in bound:
            fail(f"kernel {kernel.unique_id!r}: unpack_modes names {name!r}, which the kernel does not bind")
    for binding in kernel.dfb_bindings:
        name, form = binding.dfb_spec_name, buffers[binding.dfb_spec_name].data_format_metadata
        if form is None:
            fail(
                f"compute kernel {kernel.unique_id!r} binds dataflow buffer {name!r}, which needs data_format_metadata"
            )
        if binding.endpoint_type is not DFBEndpointType.CONSUMER:
            continue
        mode = config.unpack_modes.get(name)
        if mode is UnpackMode.UnpackToDest and not config.enable_32_bit_dest:
            fail(f"kernel {kernel.unique_id!r}: UnpackToDest of {name!r} needs enable_32_bit_dest")
        if mode is None and config.enable_32_bit_dest and format_code(form) == DataFormat.Float32.value:
            fail(
                f"kernel {kernel.unique_id!r}: unpack_modes needs an entry for {name!r}: with enable_32_bit_dest, "
                "float32 has no default"
            )


def _check_work_units(spec: ProgramSpec) -> None:
    kernels = {kernel.unique_id: kernel for kernel in spec.kernels}
    placed: set[str] = set()
    before: list[tuple[WorkUnitSpec, CoreRangeSet]] = []
    for unit in spec.work_units:
        if not isinstance(unit, WorkUnitSpec):
            raise ArgumentError(f"{_CALL}: work_units must hold WorkUnitSpec, got {type(unit).__name__}")
        if not unit.kernels:
            fail(f"work unit {unit.name!r} has no kernel")
        nodes = as_cores(unit.target_nodes)
        if nodes.empty():
            fail(f"work unit {unit.name!r} has no nodes")
        for name in unit.kernels:
            if name not in kernels:
                fail(
                    f"work unit {unit.name!r} lists kernel {name!r}, which the program does not have",
                    f"WorkUnitSpec '{unit.name}' references unknown kernel '{name}'",
                )
        if len(set(unit.kernels)) != len(unit.kernels):
            fail(f"work unit {unit.name!r} lists a kernel twice")
        for other, others in before:
            core = shared_core(nodes, others)
            if core is not None:
                fail(
                    f"work units {other.name!r} and {unit.name!r} both have node {core}",
                    f"WorkUnitSpecs '{other.name}' and '{unit.name}' overlap in target nodes",
                )
        before.append((unit, nodes))
        placed.update(unit.kernels)
        _check_together(unit.name, [kernels[name] for name in unit.kernels])
    for name in kernels:
        if name not in placed:
            fail(f"no work unit lists kernel {name!r}", f"Kernel '{name}' is not referenced by any WorkUnitSpec")


def _check_together(unit: str, kernels: Sequence[KernelSpec]) -> None:
    """Check kernels that run on the same nodes."""
    computing = [kernel.unique_id for kernel in kernels if kernel.is_compute_kernel()]
    if len(computing) > 1:
        fail(f"work unit {unit!r} has {len(computing)} compute kernels, a node has room for one: {computing}")
    moving = [
        (kernel.unique_id, kernel.hw_config.config_1xx)
        for kernel in kernels
        if isinstance(kernel.hw_config, DataMovementHardwareConfig) and kernel.hw_config.config_1xx is not None
    ]
    if len(moving) > 2:
        fail(f"work unit {unit!r} has {len(moving)} data-movement kernels, a node has room for two")
    if len(moving) == 2:
        (first, one), (second, two) = moving
        if one.processor is two.processor:
            fail(f"work unit {unit!r}: kernels {first!r} and {second!r} both use {one.processor}")
        if one.noc_mode is not two.noc_mode:
            fail(f"work unit {unit!r}: kernels {first!r} and {second!r} differ in noc_mode")
        if one.noc_mode is NOC_MODE.DM_DEDICATED_NOC and one.noc is two.noc:
            fail(f"work unit {unit!r}: kernels {first!r} and {second!r} both use {one.noc}")
    pads: dict[str, str] = {}
    for kernel in kernels:
        for binding in kernel.scratchpad_bindings:
            other = pads.setdefault(binding.scratchpad_spec_name, kernel.unique_id)
            if other != kernel.unique_id:
                fail(
                    f"work unit {unit!r}: kernels {other!r} and {kernel.unique_id!r} bind scratchpad "
                    f"{binding.scratchpad_spec_name!r}, which belongs to one"
                )


def _check_use(spec: ProgramSpec) -> None:
    """Check that everything that is declared is bound."""
    bound = {
        "dataflow_buffers": {b.dfb_spec_name for kernel in spec.kernels for b in kernel.dfb_bindings},
        "scratchpads": {b.scratchpad_spec_name for kernel in spec.kernels for b in kernel.scratchpad_bindings},
        "tensor_parameters": {b.tensor_parameter_name for kernel in spec.kernels for b in kernel.tensor_bindings}
        | {dfb.borrowed_from for dfb in spec.dataflow_buffers if dfb.borrowed_from is not None},
    }
    titles = {"dataflow_buffers": "DFB", "scratchpads": "Scratchpad", "tensor_parameters": "TensorParameter"}
    for where, names in bound.items():
        for part in getattr(spec, where):
            if part.unique_id not in names:
                fail(
                    f"no kernel binds {part.unique_id!r} of {where}",
                    f"{titles[where]} '{part.unique_id}' is defined but not bound by any kernel",
                )
    parameters = {parameter.unique_id: parameter.spec for parameter in spec.tensor_parameters}
    for dfb in spec.dataflow_buffers:
        if dfb.borrowed_from is None:
            continue
        if dfb.borrowed_from not in parameters:
            fail(
                f"dataflow buffer {dfb.unique_id!r} borrows from {dfb.borrowed_from!r}, which is not a tensor parameter"
            )
        if parameters[dfb.borrowed_from].memory_config.buffer_type not in (BufferType.L1, BufferType.L1_SMALL):
            fail(f"dataflow buffer {dfb.unique_id!r} borrows from {dfb.borrowed_from!r}, which is not in L1")


def _ends(
    spec: ProgramSpec, dfb: DataflowBufferSpec, end: DFBEndpointType
) -> Iterator[tuple[KernelSpec, KernelSpec.DFBBinding]]:
    for kernel in spec.kernels:
        for binding in kernel.dfb_bindings:
            if binding.dfb_spec_name == dfb.unique_id and binding.endpoint_type is end:
                yield kernel, binding


def _check_ends(spec: ProgramSpec, dfb: DataflowBufferSpec) -> None:
    """Check one producer and one consumer per node, alike on all."""
    ends = {end: list(_ends(spec, dfb, end)) for end in DFBEndpointType}
    several = dfb.advanced_options.allow_instance_multi_binding
    for unit in spec.work_units:
        found = {
            end: [kernel.unique_id for kernel, _ in bound if kernel.unique_id in unit.kernels]
            for end, bound in ends.items()
        }
        for end, names in found.items():
            if any(found.values()) and (not names or (len(names) > 1 and not several)):
                fail(
                    f"in work unit {unit.name!r} dataflow buffer {dfb.unique_id!r} has {len(names)} kernels as "
                    f"{end.name}, it needs one"
                )
    for end, bound in ends.items():
        if len({(kernel.is_compute_kernel(), binding.access_pattern) for kernel, binding in bound}) > 1:
            fail(f"the {end.name} kernels of dataflow buffer {dfb.unique_id!r} differ in kind or access pattern")
        processors: set[DataMovementProcessor] = {
            kernel.hw_config.config_1xx.processor
            for kernel, _ in bound
            if isinstance(kernel.hw_config, DataMovementHardwareConfig) and kernel.hw_config.config_1xx is not None
        }
        if len(processors) > 1 and not several:
            fail(f"the {end.name} kernels of dataflow buffer {dfb.unique_id!r} run on different processors")


def _check_aliases(spec: ProgramSpec) -> None:
    buffers = {dfb.unique_id: dfb for dfb in spec.dataflow_buffers}
    for dfb in spec.dataflow_buffers:
        group = {dfb.unique_id, *dfb.advanced_options.alias_with}
        for name in dfb.advanced_options.alias_with:
            other = buffers.get(name)
            if other is None:
                fail(f"dataflow buffer {dfb.unique_id!r} has the alias {name!r}, which the program does not have")
            if {name, *other.advanced_options.alias_with} != group:
                fail(f"dataflow buffers {dfb.unique_id!r} and {name!r} must name each other and the same aliases")
            if other.entry_size * other.num_entries != dfb.entry_size * dfb.num_entries:
                fail(f"dataflow buffers {dfb.unique_id!r} and {name!r} are aliases and differ in size")
            if nodes_of_buffer(spec, name) != nodes_of_buffer(spec, dfb.unique_id):
                fail(f"dataflow buffers {dfb.unique_id!r} and {name!r} are aliases on different nodes")


def nodes_of_kernel(spec: ProgramSpec, name: str) -> CoreRangeSet:
    """Return the nodes of the work units that list a kernel."""
    nodes = CoreRangeSet()
    for unit in spec.work_units:
        if name in unit.kernels:
            nodes = nodes.merge(as_cores(unit.target_nodes))
    return nodes


def nodes_of_buffer(spec: ProgramSpec, name: str) -> CoreRangeSet:
    """Return the nodes of the kernels that bind a dataflow buffer."""
    nodes = CoreRangeSet()
    for kernel in spec.kernels:
        if any(binding.dfb_spec_name == name for binding in kernel.dfb_bindings):
            nodes = nodes.merge(nodes_of_kernel(spec, kernel.unique_id))
    return nodes
