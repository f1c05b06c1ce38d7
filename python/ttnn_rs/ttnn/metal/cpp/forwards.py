"""Official headers that forward to ours.

One function each, older names, parts of other headers.
"""

from __future__ import annotations

from functools import lru_cache

_COMPUTE = "api/compute/compute_kernel_api.h"
_PARTS = """
    add_int_sfpu atan2 binary_bitwise_sfpu binary_comp binary_fmod binary_max_min binary_remainder binary_shift
    blank cb_api clamped_silu_glu common_globals compute_kernel_hw_startup copy_dest_values cumsum div_int32_floor
    div_int32_sfpu eltwise_binary_sfpu ema gcd isclose lcm logaddexp logaddexp2 logsigmoid mask mul_int_sfpu
    mul_int32_sfpu nextafter quantization reconfig_data_format reg_api reshuffle remainder_int32 sfpu_binary_bcast
    situ_glu src_order sub_int_sfpu topk triangle_solve untilize pack_untilize welford xlogy transpose_wh
    transpose_dest transpose_wh_dest max_pool_indices sfpu_int_sum compute_kernel_api_debug sentinel
"""
_UNARY = """
    activations addcdiv addcmul binop_with_scalar bitwise bitwise_and bitwise_not bitwise_or bitwise_xor cbrt clamp comp
    digamma dropout eltwise_unary elu erf_erfc erfinv exp fill fmod gelu hardmish hardtanh i0 i1 identity isinf_isnan
    left_shift lerp lgamma log1p logical_not logical_not_noti mac max min mish negative polygamma prelu rand rdiv recip
    relu remainder reverseops right_shift rounding rpow rsqrt rsub selu sfpu_int_sum sfpu_split_includes shift
    snake_beta softcap softplus sqrt tanh_derivative tanhshrink threshold trigonometry typecast unary_max_min where
    xielu
"""
_REAL = ("bcast", "common", "eltwise_binary", "matmul", "pack", "reduce", "tile_move_copy", "tilize", "transpose")
"""Compute headers that we have under their own names."""
_OTHERS = {
    "api/compute/layernorm.h": _COMPUTE,
    "api/compute/softmax.h": _COMPUTE,
    "api/dataflow/noc_semaphore.h": "api/semaphore.h",
    "api/dataflow/semaphore_binding_token.h": "api/semaphore.h",
    "api/dataflow/dfb_access.h": "api/dataflow/dataflow_buffer.h",
    "api/scratchpad_binding_token.h": "api/scratchpad.h",
    "api/tensor/pages_address_iterator.h": "api/tensor/tensor_accessor.h",
    "api/tensor/shard_pages_address_iterator.h": "api/tensor/tensor_accessor.h",
    "api/debug/pause.h": "api/debug/waypoint.h",
    "api/debug/ring_buffer.h": "api/debug/waypoint.h",
    "api/debug/checkpoint.h": "api/debug/waypoint.h",
    "api/kernel_thread_globals.h": "ttnn_rs/threads.h",
    "internal/dataflow/dataflow_api_addrgen.h": "ttnn_rs/addresses.h",
    "internal/risc_common.h": "ttnn_rs/risc.h",
    "internal/tensor/dspec.h": "ttnn_rs/distribution.h",
    "risc_common.h": "ttnn_rs/risc.h",
    "risc_attribs.h": "internal/risc_attribs.h",
    "tensix_types.h": "internal/tensix_types.h",
    "circular_buffer.h": "internal/circular_buffer_interface.h",
    "mod_div_lib.h": "internal/mod_div_lib.h",
    "noc_parameters.h": "noc/noc_parameters.h",
    "noc_nonblocking_api.h": "noc/noc_parameters.h",
    "core_config.h": "ttnn_rs/semaphores.h",
    "dataflow_api.h": "ttnn_rs/experimental_names.h",
    "hw/inc/dataflow_api.h": "ttnn_rs/experimental_names.h",
    "hw/inc/compile_time_args.h": "api/compile_time_args.h",
    "hw/inc/risc_attribs.h": "internal/risc_attribs.h",
    "hw/inc/tt-1xx/risc_common.h": "ttnn_rs/risc.h",
    "dataflow_api_addrgen.h": "ttnn_rs/addresses.h",
    "compute_kernel_api.h": _COMPUTE,
    "compile_time_args.h": "api/compile_time_args.h",
    "remote_circular_buffer_api.h": "api/remote_circular_buffer.h",
    "accessor/tensor_accessor.h": "api/tensor/tensor_accessor.h",
    "accessor/tensor_accessor_args.h": "api/tensor/tensor_accessor_args.h",
    "experimental/noc.h": "ttnn_rs/experimental_names.h",
    "experimental/circular_buffer.h": "ttnn_rs/experimental_names.h",
    "experimental/dataflow_buffer.h": "ttnn_rs/experimental_names.h",
    "experimental/core_local_mem.h": "ttnn_rs/experimental_names.h",
    "experimental/endpoints.h": "ttnn_rs/experimental_names.h",
    "experimental/noc_semaphore.h": "ttnn_rs/experimental_names.h",
    "experimental/tensor.h": "api/tensor/noc_traits.h",
    "experimental/lock.h": "ttnn_rs/experimental_names.h",
    "ckernel.h": "ttnn_rs/llk.h",
    "ckernel_addrmod.h": "ttnn_rs/llk.h",
    "ckernel_sfpu.h": "ttnn_rs/llk.h",
    "ckernel_defs.h": "ttnn_rs/llk.h",
    "ckernel_include.h": "ttnn_rs/llk.h",
    "ckernel_globals.h": "ttnn_rs/llk.h",
    "llk_defs.h": "ttnn_rs/llk.h",
    "llk_io.h": "ttnn_rs/llk.h",
    "llk_io_pack.h": "ttnn_rs/llk.h",
    "llk_io_unpack.h": "ttnn_rs/llk.h",
    "llk_math_eltwise_binary.h": "ttnn_rs/llk.h",
    "llk_pack_common.h": "ttnn_rs/llk.h",
    "llk_pack_common_api.h": "ttnn_rs/llk.h",
    "llk_unpack_common.h": "ttnn_rs/llk.h",
    "llk_math_common.h": "ttnn_rs/llk.h",
    "llk_math_common_api.h": "ttnn_rs/llk.h",
    "llk_math_binary_api.h": "ttnn_rs/llk.h",
    "llk_math_unary_datacopy_api.h": "ttnn_rs/llk.h",
    "llk_math_reduce_api.h": "ttnn_rs/llk.h",
    "llk_math_matmul_api.h": "ttnn_rs/llk.h",
    "llk_math_eltwise_unary_sfpu.h": "ttnn_rs/llk.h",
    "llk_math_eltwise_unary_sfpu_params.h": "ttnn_rs/llk.h",
    "llk_unpack_common_api.h": "ttnn_rs/llk.h",
    "llk_unpack_AB_api.h": "ttnn_rs/llk.h",
    "llk_unpack_A_api.h": "ttnn_rs/llk.h",
    "llk_unpack_AB_reduce_api.h": "ttnn_rs/llk.h",
    "llk_unpack_AB_matmul_api.h": "ttnn_rs/llk.h",
    "llk_pack_api.h": "ttnn_rs/llk.h",
    "experimental/semaphore.h": "ttnn_rs/experimental_names.h",
    "api/dataflow/tensor_accessor.h": "api/tensor/tensor_accessor.h",
    "chlkc_list.h": "ttnn_rs/llk.h",
    "llk_math_eltwise_unary_sfpu_macros.h": "ttnn_rs/llk.h",
    "llk_math_eltwise_binary_sfpu_macros.h": "ttnn_rs/llk.h",
    "llk_math_eltwise_ternary_sfpu_macros.h": "ttnn_rs/llk.h",
}
_SFPU = """
    abs binary binary_bitwise binary_max_min cdf clamp comp converter copy_dest_values cumsum exp exp2 expm1 fill gelu
    identity int_sum isinf_isnan load_config log mask mul_int32 negative polyval power quant recip relu reshuffle
    rounding_ops rsqrt rsqrt_compat sigmoid sign silu softplus sqrt square sub_int tanh topk trigonometry typecast
    typecast_fp32_uint16 unary_comp where
"""
"""Listings of functions, which the engine has."""


@lru_cache(maxsize=1)
def forwards() -> dict[str, str]:
    """Return the header that each name forwards to."""
    names = {f"api/compute/{part}.h": _COMPUTE for part in _PARTS.split()}
    names |= {f"api/compute/eltwise_unary/{part}.h": _COMPUTE for part in _UNARY.split()}
    names |= _OTHERS
    names |= {f"ckernel_sfpu_{part}.h": "ttnn_rs/llk.h" for part in _SFPU.split()}
    names |= {f"compute_kernel_api/{part}.h": f"api/compute/{part}.h" for part in (*_REAL, "layernorm", "softmax")}
    names |= {f"compute_kernel_api/{part}.h": _COMPUTE for part in _PARTS.split()}
    names |= {f"compute_kernel_api/eltwise_unary/{part}.h": _COMPUTE for part in _UNARY.split()}
    for part in ("dprint.h", "dprint_pages.h", "dprint_tile.h", "device_print.h", "assert.h", "waypoint.h"):
        names[f"debug/{part}"] = f"api/debug/{part}"
    names |= {
        "debug/kernel_profiler.hpp": "api/debug/kernel_profiler.hpp",
        "debug/ring_buffer.h": "api/debug/waypoint.h",
    }
    names |= {
        "tools/profiler/kernel_profiler.hpp": "api/debug/kernel_profiler.hpp",
        "debug/pause.h": "api/debug/waypoint.h",
    }
    return names
