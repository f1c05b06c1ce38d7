"""Execution of tt-mlir's public lit tests, with checks of results.

They are in a checkout outside of this repository.

    python tests/testkit execute_lit_files CHECKOUT --version 2024-09
    python tests/testkit execute_lit_files CHECKOUT --version 2026-08 --sample 150 --seed 0

Each file is lowered by its own RUN lines, translated, and run by `ttrt run --seed 0`. Where those lines stop at a pass
of the dialect `ttir`, or after layouts, what is left of the pipeline follows; where they write source, the pipeline to
binaries takes the file. Files in the dialect `ttnn` get a device, layouts and what kernels of the library take, if
their lines stop before; functions that only change an argument return it. `tests/testkit/ttir_inputs.py` chooses inputs
that are indices, positions or truth values.

Every output is compared with a float64 interpreter of the file before its passes, of its `ttir`
(`tests/testkit/ttir_reference.py`) or of its `ttnn` (`tests/testkit/ttnn_reference.py`): the correlation of a large
output must be above 0.99 and its distance below `LARGEST` of the reference's norm, or below what the roundings of a
long product or the steps of a format of four bits allow; what differs runs again in the exact configuration, or with
small inputs where large exponents make much of roundings. Functions whose results are random or whose types contradict
each other are left out and counted, and files that have no others. A file is refused, neither right nor wrong, where a
pass or an operator of the library says that it does not do what the file asks for; the other functions of such a file
run alone. `--files` names a list of the files to take, as `run_lit_files --passed` writes it.

Negative controls: `--control zeros` replaces the executor by one that returns zeros, `--control nothing` the lowering
by one that copies its input; programs in `ttnn`, which may need no lowering, return ones instead. Both must fail nearly
every file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import random
import re
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testkit.lit_files import (
    LOWERS,
    IllTyped,
    NotExecuted,
    alone,
    lowering,
    parts,
    rest,
    rest_of_library,
)

LARGEST = 0.05
#: Elements of the largest tensor; the reference takes eight bytes for each, and several times that for convolutions.
MOST = 1 << 27
#: Long sums of the default configuration, LoFi with bfloat16 in Dst, are far from float64: what differs runs again so.
EXACT = "--ttnn-set-compute-kernel-config=math-fidelity=hifi4 fp32-dest-acc-en=true"
#: What inputs are multiplied with, the first that neither overflows nor has too large exponents.
SCALES = (1.0, 1 / 4, 1 / 16, 1 / 64)
GROUPS = ("Dialect/TTNN", "Dialect/TTIR", "Silicon/TTNN", "Silicon/TTMetal", "Translate", "EmitPy")
OTHER = re.compile(r"/(llmbox|n300|tg|galaxy)/")


class Refused(Exception):
    """A feature that the tools or the library reject, with their diagnostic."""


class Overflow(Exception):
    """Unstable softmax, or sum of products, out of float32's range.

    These inputs make it leave the range.
    """


class Imprecise(AssertionError):
    """An output that differs from its reference."""


class NotFinite(Imprecise):
    """An output of infinities or NaN.

    A root or a logarithm of a sum near zero has either sign.
    """


class Amplified(Imprecise):
    """An output whose exponentials amplify roundings beyond the bound."""


WINDOWED = re.compile(r"ttir\.(conv2d|conv_transpose2d|max_pool2d|avg_pool2d)\b")
#: Passes of emitted programs, whose tuples have no binary form, and addresses, which only the dispatches of the metal
#: backend have: what stands before them is executed.
EMITTED = re.compile(
    "-?-ttir-allocate|-?-convert-ttnn-to-emit(c|py)|-?-ttnn-(tuplify-tensors|create-input-gens|load-input-tensors|prepare-module-for-export)"
)
#: How passes say that they do not lower what a valid module asks for, and binaries why no call is there.
REFUSALS = re.compile(
    r"error: ((?:failed to legalize operation|'[\w.]+' op (?:only supports|cannot be lowered with(?:out)?) "
    r"|.* is not executed: |.* are not executed\.|(?:.*: )?data type \w+: TT-NN has no tensors of it"
    r"|.* a value of type \S+ has no form in TTNN binaries).*)$",
    re.MULTILINE,
)


def finished(tool: str, code: int, messages: str) -> None:
    """Nothing, if a tool has ended well.

    Raises:
        NotExecuted: It asks for other chips, or its text has a resource that is none of its type.
        Refused: It says that it does not do this.
        AssertionError: It has failed.
    """
    if code == 0:
        return
    if re.search(
        r"needs \d+ chips, the system descriptor has 1|TT-NN has no public operator|was built for another system",
        messages,
    ):
        raise NotExecuted("other chips")
    if re.search(r"resource '\w+' has \d+ bytes, its type needs \d+", messages):
        raise IllTyped("a resource of another size than its type")
    found = REFUSALS.search(messages)
    if found:
        raise Refused(f"{tool}: {found[1]}")
    raise AssertionError(f"{tool}: {messages[:1000]}")


def rewritten(path: Path, version: str, *changes: Callable[[Any], None]) -> None:
    """Change the module of a file."""
    from ttnn.compiler.version import version_of
    from ttnn.compiler.versions import parse_module, print_module

    module = parse_module(path.read_text(), path.name, default_version=version_of(version))
    for change in changes:
        change(module)
    path.write_text(print_module(module))


def call(function: Any, arguments: list[str]) -> tuple[int, str]:
    """Exit code and messages of a tool."""
    messages = io.StringIO()
    with contextlib.redirect_stderr(messages), contextlib.redirect_stdout(messages):
        try:
            code = function(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    return code, messages.getvalue()


def allowed_distance(module: Any) -> float:
    """Allowed difference of an output as share of its norm.

    bfloat16 rounds a product at every factor by up to 2^-9.
    """
    factors = [1]
    for operation in module.op.walk():
        if operation.name in ("ttir.prod", "ttnn.prod"):
            before, after = (
                math.prod(value.type.get_shape()) for value in (operation.operands[0], operation.results[0])
            )
            factors.append(before // max(1, after))
    return max(LARGEST, max(factors) * 2.0**-9)


def step(kind: Any) -> float:
    """Return a block format's relative step; 0 for fine formats.

    It is the distance of adjacent values, relative to its power of two.
    """
    layout = getattr(kind, "encoding", None)
    return 2.0**-2 if getattr(layout, "dtype", "") == "bfp_bf4" else 0.0


def compare(got: NDArray[Any], expected: NDArray[Any], allowed: float = LARGEST, correlation: float = 0.99) -> str:
    """Return the error of an output; empty if there is none."""
    if got.shape != expected.shape:
        return f"shape {got.shape} for {expected.shape}"
    got = got.astype(np.float64)
    known = np.isfinite(expected)
    if not known.any():
        same = np.array_equal(got, expected, equal_nan=True)
        return "" if same else "the reference has no finite value, and the output is another"
    a, b = got[known], expected[known]
    if not np.isfinite(a).all():
        return f"{np.count_nonzero(~np.isfinite(a))} of {a.size} values are not finite"
    norm = np.linalg.norm(b)
    distance = np.linalg.norm(a - b)
    if norm == 0:
        return "" if distance == 0 else f"{distance} where the reference is zero"
    if distance > allowed * norm:
        return f"distance {distance / norm:.3f}"
    # Where all values are nearly equal, their differences are below the resolution of the formats.
    if a.size > 16 and b.std() > LARGEST * norm / np.sqrt(b.size) and np.corrcoef(a, b)[0, 1] < correlation:
        return f"correlation {np.corrcoef(a, b)[0, 1]:.4f}"
    return ""


def execute_module(
    text: str, name: str, options: list[str], folder: Path, descriptor: str, control: str, version: str
) -> int:
    """Lower, translate, run and compare a module; return compared outputs' number.

    Raises:
        NotExecuted: It cannot be compared.
        Refused: A tool or an operator says that it does not do this.
        AssertionError: A tool fails, or an output is wrong.
    """
    from testkit import ttnn_reference
    from testkit.ttir_inputs import chosen
    from testkit.ttir_windows import is_typed_as_computed
    from testkit.ttnn_completion import complete, emptied
    from ttmlir._translate import main as translate
    from ttnn.compiler.tools.opt import main as opt
    from ttnn.compiler.version import version_of
    from ttnn.compiler.versions import parse_module
    from ttrt import main as ttrt

    source, lowered = folder / "source.mlir", folder / "lowered.mlir"
    source.write_text(text)
    module = parse_module(text, name, default_version=version_of(version))
    if not [function for function in module.functions() if function.body.blocks]:
        raise NotExecuted("no function")
    if max(map(ttnn_reference.elements, module.op.walk()), default=0) > MOST:
        raise NotExecuted("tensors too large for the reference")
    if not all(map(ttnn_reference.is_typed_as_computed, module.op.walk())):
        raise IllTyped("results of another type than computed")
    if any(op.name == "ttir.pooling" and not is_typed_as_computed(op) for op in module.op.walk()):
        raise IllTyped("a pooling whose result has another shape than its windows give")
    library = not any(op.name.startswith("ttir.") for op in module.op.walk())
    if library:
        complete(module)
    options = [option for option in options if not re.match("-?-split-input|-?-verify-diag", option)]
    if any(re.match("-?-ttir-to-emit(c|py)-pipeline", option) for option in options):
        options = []
    if not any("ttmetal" in option for option in options):
        options = [option for option in options if not EMITTED.match(option)]
    if WINDOWED.search(text) and not LOWERS.search(" ".join(options)):
        # Windows become rows before layouts: what is left of the pipeline would not do it.
        options = [option for option in options if not re.match("-?-ttnn-layout", option)]
    if control != "nothing":
        code, messages = call(opt, [f"--default-version={version}", *options, str(source), "-o", str(lowered)])
        finished("ttmlir-opt", code, messages)
        left = rest(text, lowered.read_text(), options, descriptor)
        if library:
            rewritten(lowered, version, complete)
        if left:
            options += left
            code, messages = call(opt, [f"--default-version={version}", *left, str(lowered), "-o", str(lowered)])
            finished(f"ttmlir-opt {' '.join(left)}", code, messages)
        if "ttnn.to_tensor_spec" in lowered.read_text():
            # The file's lines stop before the pass without which there is no binary.
            line = ["--ttnn-decompose-layouts", f"--default-version={version}", str(lowered), "-o", str(lowered)]
            code, messages = call(opt, line)
            finished("ttmlir-opt --ttnn-decompose-layouts", code, messages)
    else:
        lowered.write_text(text)
        if library:
            # A program of the library may need no lowering.
            rewritten(lowered, version, complete, emptied)
    metal = any("ttmetal" in option for option in options)
    binary = folder / ("program.ttm" if metal else "program.ttnn")
    kind = "--ttmetal-to-flatbuffer" if metal else "--ttnn-to-flatbuffer"

    named = re.search(r"ttnn-weight-dtype-conversion=\S*target-dtype=(\w+)", " ".join(options))
    asked = named[1] if named else None

    def result(scale: float = 1.0, *, positive: bool = False) -> int:
        code, messages = call(translate, [kind, f"--default-version={version}", str(lowered), "-o", str(binary)])
        finished("ttmlir-translate", code, messages)
        with inputs_of(chosen(module), scale, positive=positive), refusals_of_operators():
            code, messages = call(ttrt, ["run", str(binary), "--seed", "0", "--save-artifacts", "--result-file", ""])
        finished("ttrt", code, messages)
        return compare_outputs(module, binary, folder, asked)

    def first_result(scales: tuple[float, ...]) -> tuple[int, float]:
        try:
            return result(scales[0]), scales[0]
        except (Overflow, Amplified):
            if len(scales) == 1:
                raise
        except Imprecise:
            if version == "2024-09" or control:
                raise
            return 0, scales[0]
        return first_result(scales[1:])

    try:
        compared, scale = first_result(SCALES)
    except AssertionError as error:
        said = refusal_of_operator(str(error)) if library and not control else ""
        if said:
            before = folder / "before.mlir"
            before.write_text(text)
            rewritten(before, version, complete)
            left = rest_of_library(text, text, [], descriptor)
            code, _ = call(opt, [f"--default-version={version}", *left, str(before), "-o", str(lowered)])
            code, messages = call(translate, [kind, f"--default-version={version}", str(lowered), "-o", str(binary)])
            code, messages = call(ttrt, ["run", str(binary), "--seed", "0", "--result-file", ""])
            if refusal_of_operator(messages) == said:
                # The file itself has operands that the operator does not take, before any of its passes.
                raise Refused(f"ttrt: {said}") from None
        raise
    if compared:
        return compared
    line = [EXACT, f"--default-version={version}", str(lowered), "-o", str(lowered)]
    code, messages = call(opt, line)
    finished(f"ttmlir-opt {EXACT}", code, messages)
    try:
        return result(scale)
    except NotFinite:
        return result(scale, positive=True)


def compare_outputs(module: Any, binary: Path, folder: Path, weights: str | None = None) -> int:
    """Compare saved outputs of `ttrt run` with references; return their number.

    Args:
        module: The module as the file has it.
        binary: What it was made to.
        folder: Where `ttrt run` has run.
        weights: The format in which a program of the library is asked to multiply parameters.

    Raises:
        NotExecuted: The interpreter does not know an operation.
        Overflow: A softmax without the subtraction of the largest value, or a sum, leaves the range of float32.
        AssertionError: An output is wrong.
    """
    import torch

    from testkit.ttir_inputs import truths
    from testkit.ttir_reference import NoReference, in_range
    from testkit.ttir_reference import interpret as interpret_tensors
    from testkit.ttnn_reference import interpret as interpret_library

    library = not any(op.name.startswith("ttir.") for op in module.op.walk())
    interpret: Any = partial(interpret_library, weights=weights) if library else interpret_tensors
    compared, unknown = 0, ""
    from ttnn.compiler.target.flatbuffer.binary import Binary

    for number, program in enumerate(Binary.load(binary).values["programs"]):
        if program.get("private"):
            # Only other programs call it: `ttrt run` does not run it by itself.
            continue
        run = folder / f"ttrt-artifacts/{binary.name}/run/program_{number}"

        def load(kind: str, run: Path = run, number: int = number) -> list[NDArray[Any]]:
            found = sorted(run.glob(f"program_{number}_{kind}_*.pt"), key=lambda path: int(path.stem.split("_")[-1]))
            tensors = [torch.load(path) for path in found]
            return [one.to(torch.float64).numpy() for one in tensors]

        exponents = [0.0]

        def observe(op: Any, operands: list[NDArray[Any]], exponents: list[float] = exponents) -> None:
            if op.name.partition(".")[2] in ("exp", "expm1"):
                exponents.append(float(operands[0].max(initial=0)))

        try:
            expected = interpret(module, program["name"], load("input"), observe)
        except NoReference as error:
            unknown = unknown or str(error)
            continue
        except OverflowError:
            raise Overflow from None
        except MemoryError:
            raise NotExecuted("tensors too large for the reference") from None
        function = next(one for one in module.functions() if one.sym_name.data == program["name"])
        results = function.function_type.outputs.data
        kinds = [getattr(one, "element_type", None) for one in results]
        # The stack counts what is true.
        any_number = truths(function)
        got = load("output")
        assert len(got) == len(expected), f"{program['name']}: {len(got)} outputs for {len(expected)}"
        for place, (one, other) in enumerate(zip(got, expected, strict=True)):
            if other is None:
                # Random numbers, or memory that nothing was written to.
                unknown = unknown or "values that the program does not define"
                continue
            # Narrow integers are unsigned on the chip: the bits of negative ones are there.
            one = one != 0 if any_number[place] else in_range(one, kinds[place])
            allowed = max(allowed_distance(module), step(results[place]))
            # Of a distance that one step of a block format allows the correlation says no more.
            problem = compare(one, other, allowed, min(0.99, 1 - step(results[place]) ** 2 / 2))
            if problem:
                # The relative error of exp(x) is the error of x, which bfloat16 rounds by up to 2^-9 of it.
                amplified = max(exponents) * 2.0**-9 > LARGEST
                kind = Amplified if amplified else Imprecise
                kind = NotFinite if "not finite" in problem or "no finite" in problem else kind
                raise kind(f"{program['name']}, output {place}: {problem}")
            compared += 1
    if unknown and (not library or not compared):
        raise NotExecuted(f"no reference of {unknown}")
    return compared


@contextlib.contextmanager
def inputs_of(arguments: dict[tuple[str, int], NDArray[Any]], scale: float, *, positive: bool) -> Iterator[None]:
    """Replace `ttrt run` arguments, and scale random ones.

    Or make them positive.
    """
    from ttnn.compiler.tools.ttrt.util import Binary

    original = Binary.Program.populate_inputs

    def populate(self: Any, init_fn: Any) -> None:
        import torch

        original(self, init_fn)
        for index, tensor in enumerate(self.input_tensors):
            values = arguments.get((self.program.get("name"), index))
            if values is not None:
                self.input_tensors[index] = torch.from_numpy(np.ascontiguousarray(values)).to(tensor.dtype)
            elif tensor.is_floating_point():
                self.input_tensors[index] = (tensor.abs() if positive else tensor) * scale

    Binary.Program.populate_inputs = populate  # type: ignore[method-assign]
    try:
        yield
    finally:
        Binary.Program.populate_inputs = original  # type: ignore[method-assign]


@contextlib.contextmanager
def refusals_of_operators() -> Iterator[None]:
    """Stop the run at a `ttnn` operator that rejects its arguments.

    That is what is not built, and values of arguments that it does not take. Operands of other shapes, types, layouts
    or places than it takes would be a mistake of the lowering.
    """
    from ttnn.base.exceptions import ParameterError, UnsupportedError
    from ttnn.compiler.tools.ttrt.run import Run

    original = Run.run_program

    def run(self: Any, device: Any, binary: Any, index: int) -> list[str]:
        try:
            return original(self, device, binary, index)
        except (ParameterError, UnsupportedError) as error:
            if not error.operator:
                raise
            raise Refused(f"ttrt: {error}") from None

    Run.run_program = run  # type: ignore[method-assign]
    try:
        yield
    finally:
        Run.run_program = original  # type: ignore[method-assign]


def refusal_of_operator(messages: str) -> str:
    """Return an operator's argument message in its program, else empty."""
    found = re.search(r"error: (ttnn\.[\w.]+: program \S+), operation \d+: (.*)", messages)
    return f"{found[1]}: {found[2]}" if found and "was deallocated" not in found[2] else ""


@contextlib.contextmanager
def controlled(control: str) -> Iterator[None]:
    """Replace the executor by one that returns zeros, as control."""
    from ttnn.compiler.tools.ttrt import runtime

    original = runtime.submit

    def zeros(device: Any, executable: Any, program_index: int, inputs: Any, outputs: Any, **options: Any) -> Any:
        del options
        for one in outputs:
            one.array[...] = 0
        return runtime.Event()

    if control == "zeros":
        runtime.submit = zeros  # type: ignore[assignment]
    try:
        yield
    finally:
        runtime.submit = original


def execute_file(
    path: Path, name: str, descriptor: str, control: str, version: str = "2024-09", left_out: list[str] | None = None
) -> int:
    """Execute a file's modules; return the number of compared outputs.

    Functions that cannot be compared run alone, and `left_out` is told why one is left out while others are right.

    Raises:
        NotExecuted: Nothing of it can be compared.
        Refused: A tool or an operator says that it does not do what the file asks for.
        AssertionError: A tool fails, or an output is wrong.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    if OTHER.search(name):
        raise NotExecuted("other chips")
    if re.search(r"\b(stablehlo|tosa|linalg|mhlo)\.[a-z]", re.sub(r"mhlo\.\w+ = ", "", text)):
        raise NotExecuted("front ends")
    options = lowering(text, descriptor)
    if "expected-error" in text:
        raise NotExecuted("expects an error")
    model = re.search(r"%models/(\S+\.mlir)", text)
    if model and "func.func" not in text:
        # Its lines read a file beside the tests.
        folder = next(one for one in path.parents if one.name == "ttmlir")
        text = (folder / "models" / model[1]).read_text(encoding="utf-8")
    if re.search(r"mesh-shape=(?!1,1\b|1\b)\S*[2-9]", " ".join(options)):
        raise NotExecuted("other chips")
    compared = 0
    refused: Refused | None = None
    reasons: list[NotExecuted] = []

    def run(module: str) -> bool:
        """Return True if a module runs completely; failures are recorded."""
        nonlocal compared, refused
        try:
            compared += execute_part(module, name, options, descriptor, control, version)
        except Refused as reason:
            refused = refused or reason
        except NotExecuted as reason:
            reasons.append(reason)
        else:
            return True
        return False

    for part in parts(text):
        if "func.func" in part and not run(part):
            before = len(reasons)
            for function in alone(part, name, version):
                run(function)
            if len(reasons) > before:
                # What the functions say is more than what the module says.
                del reasons[before - 1]
    if refused is not None:
        raise refused
    if not compared:
        raise reasons[0] if reasons else NotExecuted("no function")
    if left_out is not None:
        left_out += map(str, reasons)
    return compared


def execute_part(part: str, name: str, options: list[str], descriptor: str, control: str, version: str) -> int:
    """Execute a module in its own folder; return compared outputs' number."""
    with tempfile.TemporaryDirectory() as work:
        before = Path.cwd()
        os.chdir(work)
        try:
            return execute_module(part, name, options, Path(work), descriptor, control, version)
        finally:
            os.chdir(before)


def main() -> int:
    """Run the harness; return 0 if enough files are right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--version", choices=("2024-09", "2025-10", "2026-08"), default="2024-09")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--files", type=Path, help="take the files that this list names, one a line")
    parser.add_argument("--enough", type=float, default=0.0, help="percent of the executed files that must be right")
    parser.add_argument("--control", choices=("zeros", "nothing"), default="")
    arguments = parser.parse_args()
    root = arguments.checkout / "test" / "ttmlir"
    files = sorted(path for group in GROUPS for path in (root / group).rglob("*.mlir"))
    files = [path for path in files if arguments.only in str(path)]
    if arguments.files:
        named = set(arguments.files.read_text().split())
        files = [path for path in files if str(path.relative_to(arguments.checkout / "test")) in named]
    if arguments.sample:
        files = sorted(random.Random(arguments.seed).sample(files, min(arguments.sample, len(files))))
    from ttrt import main as ttrt

    with tempfile.TemporaryDirectory() as work:
        call(ttrt, ["query", "--save-artifacts", "--artifact-dir", work, "--result-file", ""])
        left_out: Counter[str] = Counter()
        right = wrong = refused = outputs = 0
        in_part: Counter[str] = Counter()
        with controlled(arguments.control):
            for path in files:
                name = str(path.relative_to(root))
                try:
                    partly: list[str] = []
                    descriptor = f"{work}/system_desc.ttsys"
                    outputs += execute_file(path, name, descriptor, arguments.control, arguments.version, partly)
                    right += 1
                    in_part.update(partly)
                except NotExecuted as reason:
                    left_out[str(reason)] += 1
                except Refused as reason:
                    refused += 1
                    print(f"REFUSED {name}: {' '.join(str(reason).split())[:500]}", flush=True)
                except Exception as error:
                    wrong += 1
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    where = f"{place.name}, line {place.lineno}: " if not str(error) else ""
                    print(f"WRONG {name}: {type(error).__name__}: {where}{str(error)[:500]}", flush=True)
    for reason, count in left_out.most_common():
        print(f"left out: {count} {reason}")
    for reason, count in in_part.most_common():
        print(f"functions left out of right files: {count} {reason}")
    share = 100 * right / max(right + wrong, 1)
    print(
        f"{right} of {right + wrong} files right ({share:.1f} %), {outputs} outputs compared, "
        f"{refused} files refused, {len(files)} files seen"
    )
    return int(share < arguments.enough)


if __name__ == "__main__":
    sys.exit(main())
