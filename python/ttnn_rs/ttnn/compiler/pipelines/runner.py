"""Running passes and pipelines, also from the text `builtin.module(a{x=1}, func.func(b))`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ttnn.compiler.features import DIALECT_TT
from ttnn.compiler.ir.diagnostics import CompileError
from ttnn.compiler.ir.module import Module
from ttnn.compiler.ir.verifier import verify
from ttnn.compiler.ir.xdsl_adapter import VerifyException
from ttnn.compiler.limits import DEPTH, shortened
from ttnn.compiler.limits import PASSES as MOST_PASSES
from ttnn.compiler.pipelines.catalog import PIPELINES, Step
from ttnn.compiler.pipelines.passes import PASSES
from ttnn.compiler.pipelines.registry import find
from ttnn.compiler.pipelines.spec import check_version
from ttnn.compiler.transforms.options import OptionError, parse_options
from ttnn.compiler.version import span

__all__ = ["parse_pipeline", "run", "run_steps"]

_NAME = re.compile(r"\s*([\w.-]+)\s*")
After = Callable[[str, Module], None]


def parse_pipeline(text: str) -> list[Step]:
    """Return a pipeline text's passes, flattened.

    Every pass here runs on a whole module.

    Raises:
        OptionError: The text is not a pipeline, nests too deeply, or has too many passes.
    """
    steps: list[Step] = []
    position = _list(text, 0, steps, 0)
    if position != len(text):
        raise OptionError(f"pipeline text has {shortened(text[position:])!r} after its end.")
    return steps


def _list(text: str, position: int, steps: list[Step], depth: int) -> int:
    """Append the passes of a list; return where it ends."""
    if depth > DEPTH:
        raise OptionError(f"the pipeline {shortened(text)!r} nests more than {DEPTH} levels deep.")
    while position < len(text):
        found = _NAME.match(text, position)
        if found is None:
            raise OptionError(f"expected the name of a pass in a pipeline at {shortened(text[position:])!r}.")
        name, position = found.group(1), found.end()
        if text.startswith("(", position):
            position = _list(text, position + 1, steps, depth + 1)
            if not text.startswith(")", position):
                raise OptionError(f"expected ')' in the pipeline {shortened(text)!r}.")
            position += 1
        else:
            options = ""
            if text.startswith("{", position):
                end = _closing(text, position)
                options, position = text[position + 1 : end], end + 1
            if len(steps) == MOST_PASSES:
                raise OptionError(f"the pipeline {shortened(text)!r} has more than {MOST_PASSES} passes.")
            steps.append((name, options))
        while position < len(text) and text[position].isspace():
            position += 1
        if not text.startswith(",", position):
            break
        position += 1
    return position


def _closing(text: str, start: int) -> int:
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i
    raise OptionError(f"expected '}}' in the pipeline {shortened(text)!r}.")


def run(module: Module, text: str) -> None:
    """Run a pipeline text on a module, in place.

    Raises:
        OptionError: A pass or option does not exist.
        CompileError: The module cannot be transformed, or is not valid afterwards.
    """
    run_steps(module, parse_pipeline(text))


def run_steps(module: Module, steps: list[Step], after: After | None = None) -> None:
    """Run passes in order; `after` sees the module after each of them."""
    for name, options in steps:
        pipeline = PIPELINES.get(name)
        if pipeline is not None:
            check_version(module, f"pipeline {name!r}", span(pipeline.versions))
            later = not DIALECT_TT.of(module.version) and pipeline.later_steps is not None
            known = pipeline.later_options if later and pipeline.later_options is not None else pipeline.options
            values = {**parse_options(f"pipeline {name}", known, options), "version": module.version}
            build = pipeline.later_steps if later and pipeline.later_steps is not None else pipeline.steps
            run_steps(module, build(values), after)
            continue
        spec = PASSES.get(name)
        if spec is None:
            raise OptionError(f"there is no pass or pipeline {shortened(name)!r}; ttmlir-opt --help lists them.")
        check_version(module, f"pass {name!r}", spec.versions)
        try:
            values = parse_options(f"pass {name}", spec.options, options)
            find(name)(module, *([values] if spec.options else []))
        except VerifyException as error:
            # What is wrong with an operation or attribute that the pass looked at or made.
            raise CompileError(module.whole(f"pass {name!r}: {error}")) from None
        verify(module)
        if after is not None:
            after(name, module)
