"""Program source: Python importing only `ttnn`, and TT-NN C++.

Both write the calls that an executed binary makes. Names of values are v1, v2, ... in order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ttnn.base.exceptions import FileFormatError, UnsupportedError
from ttnn.compiler.conversion.ttnn_to_calls.calls import (
    CACHED,
    PROGRAM,
    TRACE,
    Call,
    DeviceArgument,
    Name,
    New,
    Ref,
    kept_by_traces,
    references,
)
from ttnn.compiler.conversion.ttnn_to_calls.programs import Program
from ttnn.compiler.ir.target_text import cpp_string, is_cpp_identifier, is_python_identifier, python_string

__all__ = [
    "RUN_TRACE",
    "cpp_literal",
    "cpp_name",
    "cpp_source",
    "identifiers",
    "last_uses",
    "python_literal",
    "python_source",
]

#: Functions whose result may be their argument, or share its memory: the argument must live as long as the result.
_SHARING: Final = {
    "ttnn.to_layout",
    "ttnn.to_device",
    "ttnn.from_device",
    "ttnn.to_memory_config",
    "ttnn.typecast",
    "ttnn.reshape",
    "ttnn.squeeze",
    "ttnn.unsqueeze",
    "ttnn.concat",
    "ttnn.slice",
    "ttnn.permute",
    "ttnn.transpose",
    "ttnn.pad",
    "ttnn.repeat",
}


class _Names:
    """Names of tensors by their numbers."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._count = 0

    def new(self, number: int) -> str:
        """Return a new name for a tensor that is made."""
        self._count += 1
        self._names[number] = f"v{self._count}"
        return self._names[number]

    def __getitem__(self, number: int) -> str:
        return self._names[number]


#: Names that emitted source uses for something else: variables, modules, and the builtins that it calls.
_RESERVED: Final = re.compile(r"(v|v_|var_|input_)\d+|main|ttnn|std|input|inputs|device|all|dict|float|zip")


def _identifier(name: str, taken: set[str]) -> str:
    """A name of a function as an identifier that nothing else has."""
    text = name if is_python_identifier(name) and name.isascii() else re.sub(r"\W", "_", name, flags=re.ASCII)
    text = text or "program"
    if not (is_python_identifier(text) and is_cpp_identifier(text)) or _RESERVED.fullmatch(text):
        text = f"f_{text}"
    # The functions that make and load inputs are named after it.
    while taken.intersection(names := (text, *(f"{verb}_inputs_for_{text}" for verb in ("create", "load")))):
        text += "_"
    taken.update(names)
    return text


def identifiers(programs: Sequence[Program], taken: set[str] | None = None) -> list[str]:
    """Return unused function names of all programs."""
    known = set() if taken is None else set(taken)
    return [_identifier(program.name, known) for program in programs]


def python_literal(value: Any) -> str:
    """Return an argument without tensors as Python."""
    return _python_value(value, _Names())


def last_uses(program: Program) -> dict[int, list[int]]:
    """Return for each call the tensors that may be freed after it."""
    kept = {number for number, _ in (*program.inputs, *program.outputs)} | kept_by_traces(program.calls)
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, call in enumerate(program.calls):
        for number in references([call.arguments, call.keywords]):
            last[number] = index
            if call.function in _SHARING or call.function == "ttnn.deallocate":
                kept.add(number)
        for number in call.outputs:
            if number in made:
                kept.add(number)
            made[number] = index
    freed: dict[int, list[int]] = {}
    for number, index in last.items():
        if number in made and number not in kept and program.calls[index].function not in _SHARING:
            freed.setdefault(index, []).append(number)
    return freed


def _python_value(value: Any, names: _Names) -> str:
    if isinstance(value, Ref):
        return names[value.id]
    if isinstance(value, Name):
        return value.path
    if isinstance(value, DeviceArgument):
        return "device"
    if isinstance(value, New):
        parts = [_python_value(part, names) for part in value.arguments]
        parts += [f"{name}={_python_value(part, names)}" for name, part in value.keywords]
        return f"{value.path}({', '.join(parts)})"
    if isinstance(value, list):
        return "[" + ", ".join(_python_value(part, names) for part in value) + "]"
    if isinstance(value, tuple):
        inner = ", ".join(_python_value(part, names) for part in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    if isinstance(value, str):
        return python_string(value)
    return repr(value)


def python_source(programs: Sequence[Program]) -> str:
    """Return a Python module of all programs.

    It has a function for each program, its inputs, and a `main` that runs all.

    A function takes a list of tensors, as `create_inputs_for_<name>` makes them, and the device; it returns the
    outputs.
    """
    traced = any(call.function == TRACE for program in programs for call in program.calls)
    lines = ["import ttnn", "", *(RUN_TRACE.splitlines() if traced else [])]
    taken: set[str] = {"TRACES", "on_device", "run_trace"} if traced else set()
    mains = []
    names = [_identifier(program.name, taken) for program in programs]
    for program, name in zip(programs, names, strict=True):
        lines += ["", f"def {name}(inputs, device):", *_python_body(program, names), "", ""]
        if program.private:
            continue
        lines += [f"def create_inputs_for_{name}(device):", *_python_inputs(program), ""]
        mains.append(f"        {name}(create_inputs_for_{name}(device), device)")
    lines += ["", "def main():", "    device = ttnn.open_device(device_id=0)", "    try:"]
    lines += mains or ["        pass"]
    lines += ["    finally:", "        ttnn.close_device(device)", "    return 0", "", ""]
    lines += ['if __name__ == "__main__":', "    main()", ""]
    return "\n".join(lines)


#: What emitted Python does where an executed binary captures or runs a trace.
RUN_TRACE: Final = """
TRACES = dict()  # captured traces: device, id, slots of inputs, which inputs are their own slots, outputs


def on_device(tensor):
    return tensor.storage_type() == ttnn.StorageType.DEVICE


def run_trace(inputs, device, outputs, allocate, capture, execute):
    where, trace_id, slots, fixed, results = TRACES.get(execute, (None, None, [], [], []))
    live = where is device and all(tensor.is_allocated() for tensor in [*slots, *results])
    if live and all(a is b for a, b, own in zip(inputs, slots, fixed) if own):
        for tensor, slot, own in zip(inputs, slots, fixed):
            if not own:
                (ttnn.copy if on_device(tensor) else ttnn.copy_host_to_device_tensor)(tensor, slot)
        execute([trace_id], device)
        return results
    if where is device:
        ttnn.release_trace(device, trace_id)
    if allocate is None:
        trace_id, *made = capture(inputs, device)
        slots, results = made[outputs : outputs + len(inputs)], made[outputs + len(inputs) :]
        for result, slot in zip(made, results):
            ttnn.copy(result, slot)
    else:
        made = allocate([tensor for tensor in inputs if on_device(tensor)], device)
        (trace_id,) = capture([tensor for tensor in inputs if not on_device(tensor)] + made, device)
        slots, results = made[: len(inputs)], made[len(inputs) :]
    TRACES[execute] = device, trace_id, slots, [a is b for a, b in zip(inputs, slots)], results
    return results
"""


def _python_body(program: Program, functions: Sequence[str]) -> list[str]:
    names = _Names()
    lines = []
    if program.inputs:
        inputs = [names.new(number) for number, _ in program.inputs]
        lines.append(f"    {', '.join(inputs)}{',' if len(inputs) == 1 else ''} = inputs")
    freed = last_uses(program)
    given = {number for number, _ in program.inputs} | kept_by_traces(program.calls)
    for index, call in enumerate(program.calls):
        parts = [_python_value(argument, names) for argument in call.arguments]
        parts += [f"{name}={_python_value(value, names)}" for name, value in call.keywords.items()]
        text = f"{call.function}({', '.join(parts)})"
        if call.function in (PROGRAM, CACHED):
            text = f"{_called(call, functions)}({parts[1]}, device)"
        elif call.function == TRACE:
            callees = ["None" if one is None else _function(one, functions) for one in call.arguments[:3]]
            text = f"run_trace({parts[3]}, device, {len(call.outputs)}, {', '.join(callees)})"
        elif call.function == "ttnn.deallocate" and call.arguments[0].id in given:
            continue
        finished = [names[number] for number in freed.get(index, [])]
        lines.append("    " + _assigned(call, text, names))
        lines += [f"    ttnn.deallocate({name})" for name in finished]
    lines.append(f"    return [{', '.join(names[number] for number, _ in program.outputs)}]")
    return lines


def _called(call: Call, functions: Sequence[str]) -> str:
    """The name of the function of a program that is called."""
    return _function(call.arguments[0], functions)


def _function(number: int, functions: Sequence[str]) -> str:
    if not 0 <= number < len(functions):
        raise FileFormatError(f"program {number} is called; the binary has {len(functions)}.")
    return functions[number]


def _assigned(call: Call, text: str, names: _Names) -> str:
    if not call.outputs:
        return text
    if call.function in (PROGRAM, CACHED, TRACE):
        made = [names.new(number) for number in call.outputs]
        return f"{', '.join(made)}{',' if len(made) == 1 else ''} = {text}"
    if len(call.outputs) == 1:
        pick = "" if call.returns is None else f"[{call.returns[0]}]"
        return f"{names.new(call.outputs[0])} = {text}{pick}"
    if call.returns is not None and call.returns != tuple(range(len(call.outputs))):
        raise UnsupportedError(f"{call.function}: some of several results cannot be written as source.")
    return f"{', '.join(names.new(number) for number in call.outputs)} = {text}"


def _python_inputs(program: Program) -> list[str]:
    if not program.inputs:
        return ["    return []"]
    lines = []
    for index, (_, want) in enumerate(program.inputs):
        names = _Names()
        parts = [str(list(want.shape)), want.dtype.path, want.layout.path]
        if want.memory is not None:
            parts += ["device", _python_value(want.memory, names)]
        lines.append(f"    input_{index} = ttnn.ones({', '.join(parts)})")
    lines.append(f"    return [{', '.join(f'input_{index}' for index in range(len(program.inputs)))}]")
    return lines


_CPP_NAMES: Final[dict[str, str]] = {
    "ttnn.TILE_LAYOUT": "ttnn::Layout::TILE",
    "ttnn.ROW_MAJOR_LAYOUT": "ttnn::Layout::ROW_MAJOR",
    "ttnn.float32": "ttnn::DataType::FLOAT32",
    "ttnn.bfloat16": "ttnn::DataType::BFLOAT16",
    "ttnn.bfloat8_b": "ttnn::DataType::BFLOAT8_B",
    "ttnn.bfloat4_b": "ttnn::DataType::BFLOAT4_B",
    "ttnn.uint32": "ttnn::DataType::UINT32",
    "ttnn.uint16": "ttnn::DataType::UINT16",
    "ttnn.uint8": "ttnn::DataType::UINT8",
    "ttnn.int32": "ttnn::DataType::INT32",
}


def cpp_name(path: str) -> str:
    """Return a public name as C++ has it."""
    return _CPP_NAMES.get(path) or path.replace(".", "::")


def _cpp_value(value: Any, names: _Names) -> str:
    if isinstance(value, Ref):
        return names[value.id]
    if isinstance(value, Name):
        return cpp_name(value.path)
    if isinstance(value, DeviceArgument):
        return "device"
    if isinstance(value, New):
        parts = [_cpp_value(part, names) for part in value.arguments]
        parts += [f"/*{name}=*/{_cpp_value(part, names)}" for name, part in value.keywords]
        return f"{cpp_name(value.path)}({', '.join(parts)})"
    if isinstance(value, list | tuple):
        inner = ", ".join(_cpp_value(part, names) for part in value)
        first = value[0] if value else 0
        if isinstance(first, Ref):
            return f"std::vector<ttnn::Tensor>{{{inner}}}"
        if isinstance(first, New):
            return f"std::vector<{cpp_name(first.path)}>{{{inner}}}"
        if isinstance(first, list | tuple):
            return f"std::vector<ttnn::SmallVector<int64_t>>{{{inner}}}"
        return f"ttnn::SmallVector<{'float' if isinstance(first, float) else 'int64_t'}>{{{inner}}}"
    if value is None:
        return "std::nullopt"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value:
            return "std::numeric_limits<float>::quiet_NaN()"
        if value in (float("inf"), float("-inf")):
            return f"{'-' if value < 0 else ''}std::numeric_limits<float>::infinity()"
        return f"{value!r}f"
    if isinstance(value, str):
        return cpp_string(value)
    return str(value)


def cpp_literal(value: Any) -> str:
    """Return an argument without tensors as C++."""
    return _cpp_value(value, _Names())


def cpp_source(programs: Sequence[Program]) -> str:
    """Return C++ with a function per program.

    Names of arguments are comments, as C++ arguments have only positions.
    """
    lines = ["// The functions of a module as calls of the TT-NN library.", '#include "ttnn-emitted.hpp"', ""]
    taken: set[str] = set()
    names = [_identifier(program.name, taken) for program in programs]
    for program, name in zip(programs, names, strict=True):
        lines += [*_cpp_function(program, name, names), ""]
    return "\n".join(lines)


def _cpp_function(program: Program, name: str, functions: Sequence[str]) -> list[str]:
    names = _Names()
    several = len(program.outputs) != 1
    result = "std::vector<ttnn::Tensor>" if several else "ttnn::Tensor"
    arguments = ", ".join(f"ttnn::Tensor {names.new(number)}" for number, _ in program.inputs)
    lines = [f"{result} {name}({arguments}) {{", "  ttnn::MeshDevice* device = ttnn::DeviceGetter::getInstance();"]
    freed = last_uses(program)
    given = {number for number, _ in program.inputs}
    for index, call in enumerate(program.calls):
        parts = [_cpp_value(argument, names) for argument in call.arguments]
        parts += [f"/*{key}=*/{_cpp_value(value, names)}" for key, value in call.keywords.items()]
        text = f"{cpp_name(call.function)}({', '.join(parts)})"
        if call.function == TRACE:
            raise UnsupportedError("traces are not written as C++: lower without enable-trace, or write Python.")
        if call.function == "ttnn.generic_op":
            raise UnsupportedError("programs of kernels are not written as C++: write Python.")
        if call.function in (PROGRAM, CACHED):
            text = f"{_called(call, functions)}({', '.join(names[one.id] for one in call.arguments[1])})"
        elif call.function == "ttnn.deallocate" and call.arguments[0].id in given:
            continue
        finished = [names[number] for number in freed.get(index, [])]
        if not call.outputs:
            lines.append(f"  {text};")
        elif len(call.outputs) == 1:
            pick = "" if call.returns is None or call.function == PROGRAM else f"[{call.returns[0]}]"
            lines.append(f"  ttnn::Tensor {names.new(call.outputs[0])} = {text}{pick};")
        else:
            made = ", ".join(names.new(number) for number in call.outputs)
            lines.append(f"  auto [{made}] = {text};")
        lines += [f"  ttnn::deallocate({one});" for one in finished]
    outputs = ", ".join(names[number] for number, _ in program.outputs)
    lines += [f"  return {'{' + outputs + '}' if several else outputs};", "}"]
    return lines
