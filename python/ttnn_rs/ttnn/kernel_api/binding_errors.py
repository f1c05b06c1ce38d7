"""Errors of calls that fit no signature, and other Python errors.

They are reported though a kernel catches them.

Python refuses such a call before any code of the kernel API runs, so nothing of ours sees it. A program one of whose
kernels can catch an error is run with a trace function that looks at each error in the kernels' own code.
"""

from __future__ import annotations

import dis
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from traceback import walk_tb
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import Any
from weakref import WeakKeyDictionary

from ttnn.base.exceptions import KernelArgumentError, TtnnError
from ttnn.kernel_api.ending import PACKAGE, is_of_package, name_of_call

_API = "ttnn.kernel_api"
_REFUSED = re.compile(r"([\w.<>]+)\(\) ((?:missing|takes|got) .*)", re.DOTALL)
"""Python's message about a call that fits no signature."""
_OTHERS = (TtnnError, StopIteration, StopAsyncIteration)
_MOST_CODE = 500
"""Maximum number of functions searched for handlers.

A kernel that reaches more is assumed to have one.
"""
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
_HANDLERS = {"SETUP_FINALLY", "SETUP_WITH"}
_may_catch: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
Trace = Callable[[FrameType, str, Any], Any]


def start_noticing(functions: Iterable[object]) -> bool:
    """Notice errors that kernels catch; return whether that is needed.

    A debugger keeps its trace.
    """
    if sys.gettrace() is not None or not any(map(_can_catch, functions)):
        return False
    sys.settrace(_enter)
    return True


def stop_noticing(noticing: bool) -> None:
    """End what `start_noticing` began."""
    if noticing:
        sys.settrace(None)


def wrong_call(error: BaseException, trace: TracebackType | None) -> str:
    """Return why a kernel API call raised a Python error.

    It is empty if none did.
    """
    frames = [frame for frame, _ in walk_tb(trace)]
    last = next((i for i in reversed(range(len(frames))) if not is_of_package(frames[i])), None)
    if last is None:
        return ""
    if last == len(frames) - 1:
        return _refused_call(error, frames[last]) if type(error) is TypeError else ""
    called = frames[last + 1]
    if not str(called.f_globals.get("__name__", "")).startswith(f"{_API}."):
        return ""
    line = linecache.getline(frames[last].f_code.co_filename, frames[last].f_lineno)
    is_number = isinstance(error, TypeError | OverflowError | KernelArgumentError)
    problem = (wrong_argument(called) if is_number else "") or f"{type(error).__name__}: {error}"
    return ": ".join(filter(None, (name_of_call(called, line), problem)))


def wrong_argument(frame: FrameType) -> str:
    """Return the argument of a call that no register can hold.

    It is empty if there is none.
    """
    code, parameters = frame.f_code, _parameters_of(frame)
    count = code.co_argcount + code.co_kwonlyargcount
    given = [(name, frame.f_locals.get(name)) for name in code.co_varnames[:count]]
    if code.co_flags & inspect.CO_VARARGS:
        given += [(code.co_varnames[count], value) for value in frame.f_locals.get(code.co_varnames[count], ())]
    given = [(name, value) for name, value in given if name in parameters and value is not parameters[name].default]
    for name, value in given:
        if parameters[name].annotation == "int" and not hasattr(type(value), "__index__"):
            return f"{name} must be an integer, got {_shown(value)}"
    # Addresses on the NoC have 64 bits, so what no width holds is looked for first.
    for bits in (64, 32):
        for name, value in given:
            if type(value) is int and not 0 <= value < 1 << bits:
                width = 64 if "noc_addr" in name else 32
                return f"{name} must be an integer from 0 to 2^{width} - 1, got {_shown(value)}"
    return ""


def _parameters_of(frame: FrameType) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of the function of a frame."""
    me, name = frame.f_locals.get("self"), frame.f_code.co_name
    owner = frame.f_globals.get(name) if me is None else getattr(type(me), name, None)
    return inspect.signature(owner).parameters if callable(owner) else {}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _refused_call(error: TypeError, frame: FrameType) -> str:
    found = _REFUSED.fullmatch(str(error))
    if found is None:
        return ""
    qualified, problem = found.groups()
    names = _names_of_calls().get(qualified, ())
    owner, _, method = qualified.partition(".")
    theirs = frame.f_locals.get(owner, frame.f_globals.get(owner))
    if not names or (theirs is not None and getattr(theirs, "__module__", "").partition(".")[0] != "ttnn"):
        return ""
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    name = next((name for name in names if re.search(rf"\b{name}\b", line)), names[0])
    method = "" if method.startswith("__") else method
    called = f"{name}.{method}" if method else name
    return f"{called}: {problem}; the call is {called}{_parameters(name, method)}"


def _parameters(name: str, method: str) -> str:
    value = getattr(sys.modules[_API], name)
    parameters = list(inspect.signature(getattr(value, method) if method else value).parameters.values())
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters[bool(method) :]]
    return str(inspect.Signature(plain))


@cache
def _names_of_calls() -> dict[str, tuple[str, ...]]:
    """Return the kernel API's names by their names in Python errors."""
    names: dict[str, tuple[str, ...]] = {}
    api = sys.modules[_API]
    for name in dir(api):
        value = getattr(api, name, None)
        if isinstance(value, FunctionType):
            found = [value.__qualname__]
        elif isinstance(value, type):
            found = [
                member.__qualname__
                for base in value.__mro__
                for member in vars(base).values()
                if isinstance(member, FunctionType) and member.__module__.startswith("ttnn")
            ]
        else:
            found = [getattr(type(value).__call__, "__qualname__", "")] if callable(value) else []
        for qualified in found:
            names[qualified] = (*names.get(qualified, ()), name)
    return names


def _enter(frame: FrameType, event: str, value: Any) -> Trace | None:
    if frame.f_code.co_filename.startswith(PACKAGE):
        return None
    frame.f_trace_lines = False
    return look


def look(frame: FrameType, event: str, value: Any) -> Trace:
    """Observe errors of a frame: the trace function of kernel code."""
    if event == "exception":
        error, trace = value[1], value[2]
        is_pythons = isinstance(error, Exception) and not isinstance(error, _OTHERS)
        if is_pythons and (text := wrong_call(error, trace)):
            KernelArgumentError(text)  # `ending` sees it, and ends the program
    return look


def _can_catch(kernel: object) -> bool:
    try:
        known = _may_catch.get(kernel)
    except TypeError:  # no key of such a dictionary
        return _find_handler(kernel)
    if known is None:
        known = _may_catch[kernel] = _find_handler(kernel)
    return known


def _find_handler(kernel: object) -> bool:
    """Return whether a kernel, or a function it names, catches errors."""
    home = (getattr(kernel, "__module__", "") or "").partition(".")[0]
    seen: set[int] = set()
    waiting = [kernel]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > _MOST_CODE:
            return True
        if isinstance(value, partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, MethodType):
            waiting += [value.__func__, value.__self__]
        elif isinstance(value, FunctionType):
            if _is_searched(value.__module__, home):
                codes = list(_codes_of(value.__code__))
                if any(map(_has_handler, codes)):
                    return True
                waiting += _named_by(value, codes)
        elif isinstance(value, type):
            if _is_searched(value.__module__, home):
                waiting += filter(_is_code, vars(value).values())
        elif _is_searched(type(value).__module__, home):
            waiting.append(type(value))
    return False


def _is_searched(module: str | None, home: str) -> bool:
    """Return whether a module's code may catch errors of a kernel.

    `home` is the package of the kernel.
    """
    first = (module or "").partition(".")[0]
    if first == home:
        return True
    file = getattr(sys.modules.get(first), "__file__", None) or ""
    return first != "ttnn" and first not in sys.stdlib_module_names and not _INSTALLED.search(file)


def _is_code(value: object) -> bool:
    return isinstance(value, FunctionType | MethodType | partial | type)


def _named_by(function: FunctionType, codes: list[CodeType]) -> Iterator[object]:
    """Yield what a function may call.

    By global names, as attributes of modules, in its cells and defaults.
    """
    for code in codes:
        named = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
        yield from named
        for module in named:
            if isinstance(module, ModuleType):
                yield from (vars(module)[name] for name in code.co_names if _is_code(vars(module).get(name)))
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not assigned yet
            yield cell.cell_contents
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _codes_of(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_of(constant)


def _has_handler(code: CodeType) -> bool:
    if sys.version_info >= (3, 11):
        return bool(code.co_exceptiontable)
    return any(step.opname in _HANDLERS for step in dis.get_instructions(code))
