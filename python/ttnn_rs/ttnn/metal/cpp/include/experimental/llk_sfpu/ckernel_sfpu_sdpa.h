// Vector functions of the attention kernels, made of instructions that are not modelled one by one: they can be named.
#pragma once

#include "ttnn_rs/llk.h"

namespace ckernel::sfpu {

#define TTNN_RS_REFUSED(name)                                                                          \
    template <auto... options, typename... Words>                                                      \
    inline void name(Words...) {                                                                       \
        ttnn_rs::unsupported(#name, "Tensix instructions of one's own are not modelled; use exp_tile, " \
                                    "recip_tile and other functions of the compute API");              \
    }
TTNN_RS_REFUSED(calculate_recip_first_column)
TTNN_RS_REFUSED(calculate_exponential_polynomial)
TTNN_RS_REFUSED(calculate_exponential_first_column)
TTNN_RS_REFUSED(calculate_fused_max_sub_exp_add_tile)
TTNN_RS_REFUSED(calculate_softplus_first_column)
TTNN_RS_REFUSED(sdpa_insert_sfpnop)
#undef TTNN_RS_REFUSED

}  // namespace ckernel::sfpu
