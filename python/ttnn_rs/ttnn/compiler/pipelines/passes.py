"""All passes: names and options; `registry` has what they run."""

from __future__ import annotations

from ttnn.compiler.pipelines.spec import PassSpec
from ttnn.compiler.transforms.options import Option

__all__ = ["PASSES"]

_MESH = Option("mesh-shape", "ints", (), "Chips per dimension of the mesh.")
_OVERRIDES = (
    Option("override-grid-sizes", "strs", (), "name=RxC,...: grids by location name."),
    Option("override-output-layout", "strs", (), "name=RxC:space:layout,...: outputs by location name."),
    Option("sharding-pass-enabled", "bool", False, "Keep chains of operations in L1."),
)

_FILES = (
    Option("tensor-load-directory", "str", "", "Folder of the files."),
    Option("tensor-load-file-prefix", "str", "arg", "What their names begin with."),
)

EMITPY_OPTIONS = (
    Option("target-module", "bool", False, "One function `forward` that is given its device."),
    Option("load-input-tensors-from-disk", "bool", False, "Read the inputs of the main function from files."),
    *_FILES,
    Option("tuplify-input-if-empty", "bool", False, "No effect: a function without inputs takes an empty list."),
    Option("split-files", "bool", True, "No effect: what computes constants stands in the same file."),
    Option("try-recover-structure", "bool", False, "No effect: a function is not split by its locations."),
)
"""Options of the conversion to Python, which the pipelines have, too."""

_ALL = (
    PassSpec("canonicalize", "Fold and simplify operations.", since="2024-09"),
    PassSpec("cse", "Let equal operations share one result.", since="2024-09"),
    PassSpec("symbol-dce", "Erase symbols that nobody uses.", since="2024-09"),
    PassSpec("inline", "Put bodies of functions in the place of calls.", since="2024-09"),
    PassSpec("remove-dead-values", "Erase values that nobody uses.", since="2024-09"),
    PassSpec(
        "ttir-load-system-desc",
        "Put a system descriptor on the module.",
        (Option("path", "str", "", "File of a descriptor; empty for the default."),),
        only="2024-09",
    ),
    PassSpec("ttir-implicit-device", "Put a device on the module.", (_MESH,), only="2024-09"),
    PassSpec(
        "ttir-generic-kernel",
        "Wrap operations as kernels in dispatch regions.",
        only="2024-09",
    ),
    PassSpec("ttir-generic", "Wrap operations in dispatch regions.", only="2024-09"),
    PassSpec(
        "ttir-generic-region-operands-to-memref",
        "Turn the arguments of dispatch regions into buffers.",
        only="2024-09",
    ),
    PassSpec(
        "ttir-layout",
        "Give layouts to tensors.",
        (
            Option("init-memory-space", "str", "system", "Where arguments and results of functions are."),
            Option("default-memory-space", "str", "dram", "Where operands are if they may."),
            Option("default-device-memory-layout", "str", "interleaved", "Their memory layout if they may."),
        ),
        only="2024-09",
    ),
    PassSpec("ttir-split-compound-layout", "Split changes of layout into single changes.", only="2024-09"),
    PassSpec("ttir-constant-as-fill", "Turn constants into fills.", only="2024-09"),
    PassSpec("ttir-sliding-window-2d-fix-shapes", "Flatten images around pools.", only="2024-09"),
    PassSpec("ttir-optimizer", "Choose grids and layouts of outputs.", _OVERRIDES, only="2024-09"),
    PassSpec("ttir-allocate", "Give addresses to tensors.", only="2024-09"),
    PassSpec(
        "ttir-element-type-normalization",
        "Give tensors element types that the chip has.",
        (Option("enable-bfp8-conversion", "bool", False, "Compute in bfp_bf8 where it was bfloat16 (2025)."),),
    ),
    PassSpec(
        "ttir-to-ttir-decomposition",
        "Decompose what the library does not have.",
        (Option("config", "str", "ttnn", "For which target: ttnn, ttmetal or cpu-fallback."),),
    ),
    PassSpec("ttir-explicate-tms", "Write the broadcasts that operations do themselves."),
    PassSpec(
        "ttir-erase-inverse-ops",
        "Move permutations and reshapes until they join or cancel.",
        (
            Option("enable-commute-upwards", "bool", True, "Move them from results to operands."),
            Option("enable-commute-downwards", "bool", True, "Move them from operands to results."),
            Option("max-iterations", "int", 100, "How often to do both before it is an error."),
            Option("force", "bool", True, "Also in functions where no image was flattened."),
        ),
    ),
    PassSpec(
        "ttir-fusing",
        "Let operations that together do what one does become it.",
        (
            Option("ttnn-enable-conv2d-with-multiply-pattern", "bool", False, "Let weights take in scales."),
            Option("ttnn-enable-global-avg-pool-pattern", "bool", False, "Let scaled sums become pools (2025)."),
            Option("enable-permute-matmul-fusion", "bool", False, "Let products transpose their operands (2026)."),
            Option("enable-permute-slice-after-matmul-fusion", "bool", True, "Slice operands of products (2026)."),
        ),
    ),
    PassSpec(
        "ttir-fold-constant-reshape-broadcast",
        "Fold reshapes and broadcasts of constants of one number.",
    ),
    PassSpec(
        "ttir-move-reshape-to-constant",
        "Reshape constants instead of the tensors that meet them.",
    ),
    PassSpec("ttir-reduction-force-keep-dim", "Let reductions keep their dimensions."),
    PassSpec(
        "ttir-infer-kv-cache-argument-types",
        "Mark arguments that are caches of keys and values.",
        only="2026-08",
    ),
    PassSpec(
        "ttir-consolidate-static-cache-updates",
        "Let caches that advance together share one length.",
    ),
    PassSpec(
        "ttir-decompose-complex-permute",
        "Split permutations into exchanges of the last two dimensions and of the others.",
    ),
    PassSpec(
        "ttir-decompose-complex-reshape",
        "Split reshapes that move ones to or from the end.",
    ),
    PassSpec(
        "ttir-global-data-format-conversion",
        "Compute in one data format.",
        (Option("target-format", "str", "bf16", "f32, bf16 or bfp_bf8."),),
    ),
    PassSpec(
        "ttir-quant-data-type-conversion",
        "Store quantized numbers in integers of one width.",
        (Option("target-bit-width", "int", 32, "8, 16, 32 or 64."),),
    ),
    PassSpec(
        "ttir-decompose-composites",
        "Decompose norms, softmax, attention and repetition.",
    ),
    PassSpec("ttir-fold-full-to-scalar", "Make filled tensors one element."),
    PassSpec("ttir-predicate-type-alignment", "Give truth values the types of what they judge."),
    PassSpec("ttir-cpu-boolean-narrowing", "Give truth values one bit."),
    PassSpec("ttir-implicit-broadcast-fold", "Let operations repeat their operands themselves."),
    PassSpec(
        "ttir-propagate-weight-dtype",
        "Bring formats of weights from arguments to their users.",
    ),
    PassSpec("ttir-flatten-sliding-window", "Flatten images around convolutions and pools."),
    PassSpec("ttcore-wrap-device-module", "Move the module into a device module."),
    PassSpec("ttcore-unwrap-device-module", "Move the device module back to the top."),
    PassSpec(
        "ttcore-mark-functions-as-forward",
        "Mark public functions as programs of the device.",
        only="2026-08",
    ),
    PassSpec(
        "ttcore-register-device",
        "Put a system descriptor and a device on the module.",
        (
            Option("system-desc-path", "str", "", "File of a system descriptor."),
            Option("mock-system-desc-arch", "str", "", "Architecture where no file is given."),
            _MESH,
            Option("mesh-topology", "strs", (), "Topology per dimension of the mesh."),
        ),
    ),
    PassSpec("ttnn-layout", "Give tensors layouts of the library."),
    PassSpec(
        "ttnn-set-compute-kernel-config",
        "Complete the compute configurations of operations.",
        (
            Option("math-fidelity", "str", "hifi4", "lofi, hifi2, hifi3, hifi4 or undefined."),
            Option("math-approx-mode", "str", "unset", "true, false or unset."),
            Option("fp32-dest-acc-en", "str", "true", "true, false or unset."),
            Option("packer-l1-acc", "str", "unset", "true, false or unset."),
            Option("dst-full-sync-en", "str", "unset", "true, false or unset."),
        ),
    ),
    PassSpec(
        "tt-populate-argument-types",
        "Mark arguments as inputs, parameters and constants.",
        (Option("argument-types", "str", "", "function=input,parameter,constant;...: a type for each argument."),),
    ),
    PassSpec("ttnn-fusing", "Let convolutions and products compute activations."),
    PassSpec(
        "ttnn-workaround",
        "Convert operands and decompose operations to what kernels of the library take.",
        (
            Option("ttnn-enable-layout-workaround-pass", "bool", True, "Convert operands and results."),
            Option("ttnn-enable-decomposition-workaround-pass", "bool", True, "Decompose operations."),
            Option("ttnn-optimization-level", "int", 0, "From 1 on an optimizer chooses layouts."),
            Option("ttnn-is-optimizer-enabled", "bool", False, "Whether an optimizer chooses layouts."),
        ),
    ),
    PassSpec(
        "const-eval-hoist-transform",
        "Compute what depends on parameters only by functions of its own.",
    ),
    PassSpec(
        "ttnn-prepare-conv3d-weights",
        "Make matrices of the weights of convolutions of volumes.",
        only="2026-08",
    ),
    PassSpec("ttnn-trace-hoist-transform", "Record what programs compute as traces."),
    PassSpec(
        "ttnn-const-eval-inputs-to-system-memory",
        "Let arguments that only functions of constants read lie on the host.",
        only="2026-08",
    ),
    PassSpec(
        "ttnn-weight-dtype-conversion",
        "Convert weights of products of matrices to block formats.",
        (Option("target-dtype", "str", "none", "bfp_bf8, bfp_bf4 or none: for weights that name no format."),),
        only="2026-08",
    ),
    PassSpec(
        "ttnn-ccl-activation-dtype-lowering",
        "Let chips exchange projections of a transformer in bfp_bf8.",
        only="2026-08",
    ),
    PassSpec(
        "ttnn-kv-cache-dtype-conversion",
        "Keep caches of keys and values in block formats.",
        (Option("target-dtype", "str", "none", "bfp_bf8, bfp_bf4 or none."),),
        only="2026-08",
    ),
    PassSpec(
        "ttnn-resolve-composites",
        "Put decompositions in the place of composite operations.",
        (Option("composite-resolution", "str", "auto", "auto, inline, validate or force-promote."),),
        only="2026-08",
    ),
    PassSpec(
        "ttnn-decomposition",
        "Decompose operations that programs do without.",
        only="2026-08",
    ),
    PassSpec("ttnn-adjust-deallocs", "Keep parameters and what comes from them."),
    PassSpec("ttnn-force-final-deallocs", "Free shared buffers once."),
    PassSpec(
        "ttnn-emitpy-workarounds",
        "Write constants of 2025-10 with four dimensions and in floating point.",
        only="2025-10",
    ),
    PassSpec(
        "ttnn-tuplify-tensors",
        "Put the tensors of signatures in tuples.",
        (Option("tuplify-input-if-empty", "bool", False, "Give an empty tuple to programs without inputs."),),
    ),
    PassSpec("ttnn-create-input-gens", "Make functions that create inputs, and a main function."),
    PassSpec(
        "ttnn-load-input-tensors",
        "Make functions that read inputs from files, and a main function.",
        _FILES,
    ),
    PassSpec("ttnn-prepare-module-for-export", "Make a function forward(input, device)."),
    PassSpec("ttnn-decompose-layouts", "Change one property of a tensor at a time."),
    PassSpec(
        "ttnn-collect-perf-metrics",
        "Write a sheet of what a program computes, and of the least time that takes.",
        (
            Option("ttnn-perf-metrics-output-file", "str", "", "Where; default: perf_metrics/NAME_perf_metrics.json."),
            Option("ttnn-perf-metrics-verbose-output-enabled", "bool", False, "List operations one by one."),
            Option("ttnn-enable-trace", "bool", False, "Count the function that is recorded."),
        ),
        only="2026-08",
    ),
    PassSpec("ttnn-deallocate", "Free tensors after their last use."),
    PassSpec(
        "convert-ttkernel-to-emitc",
        "Turn calls of the kernel API into statements of C++.",
    ),
    PassSpec(
        "form-expressions",
        "Leave statements as they are; each value of C++ has a name.",
        since="2024-09",
    ),
    PassSpec(
        "convert-ttnn-to-emitc",
        "Turn calls of the library into statements of C++.",
    ),
    PassSpec(
        "convert-ttnn-to-emitpy",
        "Turn calls of the library into statements of Python.",
        EMITPY_OPTIONS,
    ),
    PassSpec("convert-ttir-to-ttmetal", "Lower to commands and kernels.", only="2024-09"),
    PassSpec("convert-ttir-to-ttnn", "Lower tensor operations to the library.", since="2024-09"),
)

PASSES: dict[str, PassSpec] = {one.name: one for one in _ALL}
