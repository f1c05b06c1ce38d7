"""Run arguments of a specified program: by name, node, and tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ttnn.base.core_range import CoreCoord, CoreRange, CoreRangeSet, as_core
from ttnn.base.exceptions import ArgumentError, KernelArgumentError, ProgramConfigError
from ttnn.base.tensor_spec import TensorSpec
from ttnn.metal.buffers import Buffer
from ttnn.metal.experimental.build import Specified, aligned_page_bytes, has_arguments, runtime_fields
from ttnn.metal.experimental.specs import KernelSpec, TensorParameter, TensorSpecRelaxations
from ttnn.metal.program import Program
from ttnn.metal.program_parts import Kernel, as_cores, as_words, check_count, require_program
from ttnn.tensor.shard_distribution import RUNTIME_PAGE_SIZE, RUNTIME_TENSOR_SHAPE, distribution_of
from ttnn.tensor.tensor import Tensor

__all__ = [
    "AdvancedKernelRunArgs",
    "ProgramRunArgs",
    "SetProgramRunArgs",
    "TensorArgument",
    "UpdateProgramRunArgs",
    "UpdateTensorArgs",
    "set_program_run_args",
    "tensorspecs_match_with_relaxation",
    "update_program_run_args",
    "update_tensor_args",
]

Node = CoreCoord | tuple[int, int]


@dataclass(kw_only=True)
class AdvancedKernelRunArgs:
    """Values of a kernel's arguments without names."""

    runtime_varargs: Mapping[Node, Sequence[int]] = field(default_factory=dict)
    common_runtime_varargs: Sequence[int] | None = None


@dataclass(kw_only=True)
class ProgramRunArgs:
    """The arguments of a run.

    Attributes:
        kernel_run_args: By the names of kernels.
        tensor_args: By the names of tensor parameters: tensors on the program's device.
        dfb_run_overrides: Other sizes of dataflow buffers, by their names.
    """

    @dataclass(kw_only=True)
    class KernelRunArgs:
        """The arguments of a kernel: per-node values by name, and common ones."""

        runtime_arg_values: Mapping[Node, Mapping[str, int]] = field(default_factory=dict)
        common_runtime_arg_values: Mapping[str, int] = field(default_factory=dict)
        advanced_options: AdvancedKernelRunArgs = field(default_factory=AdvancedKernelRunArgs)

    @dataclass(kw_only=True)
    class DFBRunOverrides:
        """Another size of a dataflow buffer."""

        entry_size: int | None = None
        num_entries: int | None = None

    @dataclass
    class TensorArgument:
        """The tensor of a run. A `Tensor` is accepted as well."""

        tensor: Tensor

    kernel_run_args: Mapping[str, KernelRunArgs] = field(default_factory=dict)
    tensor_args: Mapping[str, TensorArgument | Tensor] = field(default_factory=dict)
    dfb_run_overrides: Mapping[str, DFBRunOverrides] = field(default_factory=dict)


TensorArgument = ProgramRunArgs.TensorArgument


def set_program_run_args(program: Program, params: ProgramRunArgs, skip_validation: bool = False) -> None:
    """Set all arguments of a program's following runs.

    Args:
        program: A program of `make_program_from_spec`.
        params: A value for every argument of every kernel on each of its nodes, and a tensor for every parameter.
        skip_validation: Changes nothing: arguments are always checked.

    Raises:
        ProgramConfigError: the program was not made from a specification; a tensor that differs from its parameter; a
            size that fits no buffer.
        KernelArgumentError: an argument that is missing, unknown, or no 32-bit word.
        StorageError: a tensor that is not on the device.
    """
    call = "set_program_run_args"
    made = _require(call, program, params)
    for name in made.kernels:
        if name not in params.kernel_run_args and has_arguments(_spec_of(made, name)):
            raise KernelArgumentError(f"{call}: kernel {name!r} has arguments and gets none")
    _check_complete(call, made, params.tensor_args)
    planned = [_plan(call, made, name, given, complete=True) for name, given in params.kernel_run_args.items()]
    _set_tensors(call, made, params.tensor_args)
    for dfb in made.spec.dataflow_buffers:
        _resize(call, made, dfb.unique_id, params.dfb_run_overrides.get(dfb.unique_id), stateful=False)
    _apply(made, planned)
    made.is_set = True


def update_program_run_args(program: Program, params: ProgramRunArgs, skip_validation: bool = False) -> None:
    """Set some arguments of a program's later runs; the others are kept.

    Raises:
        ProgramConfigError: `set_program_run_args` was not called before, or as there.
        KernelArgumentError, StorageError: as `set_program_run_args`.
    """
    call = "update_program_run_args"
    made = _require(call, program, params)
    _check_set(call, made)
    planned = [_plan(call, made, name, given, complete=False) for name, given in params.kernel_run_args.items()]
    _set_tensors(call, made, params.tensor_args)
    for name, sizes in params.dfb_run_overrides.items():
        _resize(call, made, name, sizes, stateful=True)
    _apply(made, planned)


def update_tensor_args(
    program: Program, tensor_args: Mapping[str, TensorArgument | Tensor], skip_validation: bool = False
) -> None:
    """Set all tensors of a program's later runs; other arguments are kept.

    Raises:
        ProgramConfigError, StorageError: as `set_program_run_args`.
    """
    call = "update_tensor_args"
    made = _require(call, program, ProgramRunArgs(tensor_args=tensor_args))
    _check_set(call, made)
    _check_complete(call, made, tensor_args)
    _set_tensors(call, made, tensor_args)
    _apply(made, [])


def _require(call: str, program: object, params: object) -> Specified:
    require_program(call, program)
    made = program.specified  # type: ignore[attr-defined]
    if not isinstance(made, Specified):
        raise ProgramConfigError(f"{call}: the program was not made from a ProgramSpec; use set_runtime_args")
    if not isinstance(params, ProgramRunArgs):
        raise ArgumentError(f"{call}: expected ProgramRunArgs, got {type(params).__name__}")
    for what, given, known in (
        ("kernel", params.kernel_run_args, made.kernels),
        ("tensor parameter", params.tensor_args, {p.unique_id for p in made.spec.tensor_parameters}),
        ("dataflow buffer", params.dfb_run_overrides, made.buffers),
    ):
        if not isinstance(given, Mapping):
            raise ArgumentError(f"{call}: expected arguments by {what}, got {given!r}")
        for name in given:
            if name not in known:
                raise KernelArgumentError(f"{call}: the program has no {what} {name!r}, only {sorted(known)}")
    return made


def _check_set(call: str, made: Specified) -> None:
    if made.needs_arguments() and not made.is_set:
        raise ProgramConfigError(f"{call}: call set_program_run_args first, it sets all arguments")


def _check_complete(call: str, made: Specified, tensor_args: Mapping[str, object]) -> None:
    for parameter in made.spec.tensor_parameters:
        if parameter.unique_id not in tensor_args:
            raise KernelArgumentError(f"{call}: tensor parameter {parameter.unique_id!r} gets no tensor")


def _spec_of(made: Specified, name: str) -> KernelSpec:
    return next(kernel for kernel in made.spec.kernels if kernel.unique_id == name)


# Kernels.

_Plan = tuple[Kernel, dict[tuple[int, int], list[int]], list[int] | None, list[int] | None]
"""A kernel and its arguments; None keeps the previous ones.

Arguments of its cores, named common arguments, common varargs.
"""


def _plan(call: str, made: Specified, name: str, given: object, *, complete: bool) -> _Plan:
    """Return the arguments of a kernel, checked."""
    if not isinstance(given, ProgramRunArgs.KernelRunArgs):
        raise ArgumentError(f"{call}: kernel {name!r}: expected ProgramRunArgs.KernelRunArgs, got {given!r}")
    kernel, more = made.kernels[name], given.advanced_options
    spec = _spec_of(made, name)
    where = f"{call}: kernel {name!r}"
    values, varargs = _by_core(where, given.runtime_arg_values), _by_core(where, more.runtime_varargs)
    for x, y in (*values, *varargs):
        if not kernel.cores.contains((x, y)):
            raise KernelArgumentError(f"{where} does not run on node {x}-{y}")
    names = spec.runtime_arg_schema.runtime_arg_names
    rows: dict[tuple[int, int], list[int]] = {}
    for core in kernel.cores.cores():
        place = (core.x, core.y)
        before = kernel.args.get(place, [])
        count = _varargs(spec, core)
        here = f"{where} on node {core.x}-{core.y}"
        named = _named(here, names, values.get(place, {}), before if not complete else [])
        rest = varargs.get(place, before[len(names) :] if not complete else ())
        if len(rest) != count:
            raise KernelArgumentError(f"{here} takes {count} varargs, got {len(rest)}")
        rows[place] = as_words(here, [*named, *rest])
    common = spec.runtime_arg_schema.common_runtime_arg_names
    before = kernel.common_args[: len(common)] if not complete else []
    shared = _named(where, common, given.common_runtime_arg_values, before)
    tail = more.common_runtime_varargs
    if tail is None and not complete:
        return kernel, rows, as_words(where, shared), None
    count = spec.advanced_options.num_common_runtime_varargs
    if len(tail or ()) != count:
        raise KernelArgumentError(f"{where} takes {count} common varargs, got {len(tail or ())}")
    return kernel, rows, as_words(where, shared), as_words(where, tail or ())


def _by_core(where: str, given: object) -> dict[tuple[int, int], Any]:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{where}: expected arguments by node, got {given!r}")
    return {(core.x, core.y): values for core, values in ((as_core(node), row) for node, row in given.items())}


def _named(where: str, names: Sequence[str], given: object, before: Sequence[int]) -> Iterator[int]:
    """Return values in name order; missing ones stay."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{where}: expected arguments by name, got {given!r}")
    for name in given:
        if name not in names:
            raise KernelArgumentError(f"{where} has no argument {name!r}, only {list(names)}")
    missing = [name for number, name in enumerate(names) if name not in given and number >= len(before)]
    if missing:
        raise KernelArgumentError(f"{where} gets no value for {missing[0]!r}")
    return (given[name] if name in given else before[number] for number, name in enumerate(names))


def _varargs(spec: KernelSpec, core: CoreCoord) -> int:
    for nodes, count in spec.advanced_options.num_runtime_varargs_per_node.items():
        found: CoreRange | CoreRangeSet = as_cores(nodes)
        if found.contains(core):
            return count
    return spec.advanced_options.num_runtime_varargs


def _apply(made: Specified, planned: Sequence[_Plan]) -> None:
    """Store arguments.

    The addresses of tensors and scratchpads follow the named common ones.
    """
    for kernel, rows, _, _ in planned:
        kernel.args = rows
    changed = {id(kernel): (named, tail) for kernel, _, named, tail in planned}
    for name, kernel in made.kernels.items():
        bindings = kernel.bindings
        assert bindings is not None
        spec = _spec_of(made, name)
        named, tail = changed.get(id(kernel), (None, None))
        if named is None:
            named = kernel.common_args[: len(bindings.common_runtime_args)]
        if tail is None:
            tail = kernel.common_args[bindings.common_vararg_word :]
        words = list(named)
        for binding in spec.tensor_bindings:
            parameter = made.parameter(binding.tensor_parameter_name)
            tensor = made.tensors[parameter.unique_id]
            words += [tensor.buffer_address(), *_runtime_words(made, parameter, tensor.spec)]
        words += [made.scratchpads[pad.scratchpad_spec_name].address() for pad in spec.scratchpad_bindings]
        kernel.common_args = words + list(tail)
        most = max((len(row) for row in kernel.args.values()), default=0)
        check_count("set_program_run_args", kernel, most + len(kernel.common_args))


# Tensors.


def _set_tensors(call: str, made: Specified, tensor_args: Mapping[str, TensorArgument | Tensor]) -> None:
    checked = {}
    for name, given in tensor_args.items():
        tensor = given.tensor if isinstance(given, TensorArgument) else given
        if not isinstance(tensor, Tensor):
            raise ArgumentError(f"{call}: tensor parameter {name!r}: expected a ttnn.Tensor, got {tensor!r}")
        tensor._require_device(call, f"the tensor of parameter {name!r}")
        if tensor.device() is not made.device:
            raise ProgramConfigError(f"{call}: the tensor of parameter {name!r} is on another device than the program")
        parameter = made.parameter(name)
        _check_tensor(call, made, parameter, tensor.spec)
        checked[name] = tensor
    made.tensors.update(checked)
    for dfb in made.spec.dataflow_buffers:
        if dfb.borrowed_from in checked:
            tensor = checked[dfb.borrowed_from]
            memory = tensor._require_device(call, f"the tensor of parameter {dfb.borrowed_from!r}")
            buffer = Buffer(made.device, memory, distribution_of(tensor.spec, made.device))
            made.buffers[dfb.unique_id].config.set_globally_allocated_address(buffer)


def _check_tensor(call: str, made: Specified, parameter: TensorParameter, spec: TensorSpec) -> None:
    if not tensorspecs_match_with_relaxation(parameter.spec, spec, parameter.relaxations):
        raise ProgramConfigError(
            f"{call}: the tensor of parameter {parameter.unique_id!r} is {spec}, expected {parameter.spec}"
            + (f" with {parameter.relaxations}" if parameter.relaxations != TensorSpecRelaxations() else "")
        )
    if runtime_fields(parameter) & RUNTIME_TENSOR_SHAPE:
        before, now = made.distributions.get(parameter.unique_id), distribution_of(spec, made.device)
        if before is None or now is None or (len(before.tensor), *before[1:]) != (len(now.tensor), *now[1:]):
            raise ProgramConfigError(
                f"{call}: the tensor of parameter {parameter.unique_id!r} has the shards {now}, the parameter "
                f"{before}; only the shape in pages may differ"
            )


def _runtime_words(made: Specified, parameter: TensorParameter, spec: TensorSpec) -> Sequence[int]:
    """Return the words of a tensor's accessor that are set per run."""
    fields = runtime_fields(parameter)
    if fields & RUNTIME_PAGE_SIZE:
        return [aligned_page_bytes(made.device, spec)]
    if fields & RUNTIME_TENSOR_SHAPE:
        shards = distribution_of(spec, made.device)
        assert shards is not None
        return shards.tensor
    return ()


def tensorspecs_match_with_relaxation(a: TensorSpec, b: TensorSpec, relaxation: TensorSpecRelaxations) -> bool:
    """Return whether a tensor's specification matches its parameter, with relaxations.

    Raises:
        ArgumentError: a value of another kind.
    """
    for value, kind in ((a, TensorSpec), (b, TensorSpec), (relaxation, TensorSpecRelaxations)):
        if not isinstance(value, kind):
            raise ArgumentError(
                f"tensorspecs_match_with_relaxation: expected {kind.__name__}, got {type(value).__name__}"
            )
    if a == b:
        return True
    same = (a.dtype, a.layout, a.tile, a.memory_config) == (b.dtype, b.layout, b.tile, b.memory_config)
    if not same:
        return False
    if relaxation.dynamic_tensor_shape:
        ranks = relaxation.relax_logical_rank or a.shape.rank == b.shape.rank
        return ranks and (not relaxation.match_page_size or a.page_bytes == b.page_bytes)
    return relaxation.match_padded_shape_only and a.padded_shape == b.padded_shape


# Dataflow buffers.


def _resize(
    call: str, made: Specified, name: str, sizes: ProgramRunArgs.DFBRunOverrides | None, *, stateful: bool
) -> None:
    """Set a dataflow buffer's size for a run.

    A new one, or that of its specification.
    """
    dfb = next(dfb for dfb in made.spec.dataflow_buffers if dfb.unique_id == name)
    config, index = made.buffers[name].config, made.buffer_ids[name]
    if sizes is not None and not isinstance(sizes, ProgramRunArgs.DFBRunOverrides):
        raise ArgumentError(f"{call}: dataflow buffer {name!r}: expected ProgramRunArgs.DFBRunOverrides, got {sizes!r}")
    entry, count = dfb.entry_size, dfb.num_entries
    if stateful:
        entry, count = config.page_sizes[index], config.total_size // config.page_sizes[index]
    if sizes is not None:
        entry = entry if sizes.entry_size is None else sizes.entry_size
        count = count if sizes.num_entries is None else sizes.num_entries
    if entry <= 0 or count <= 0:
        raise ProgramConfigError(f"{call}: dataflow buffer {name!r} of {count} entries of {entry} B")
    if dfb.advanced_options.alias_with and entry * count != config.total_size:
        raise ProgramConfigError(f"{call}: dataflow buffer {name!r} has aliases, its bytes cannot change")
    config.set_total_size(entry * count).set_page_size(index, entry)


SetProgramRunArgs = set_program_run_args
UpdateProgramRunArgs = update_program_run_args
UpdateTensorArgs = update_tensor_args
