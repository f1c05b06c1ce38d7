// The vector function of the programming example of sums.
#pragma once

#include "sfpi.h"

namespace ckernel::sfpu {

// A face of Dst[odst] = Dst[idst0] + Dst[idst1].
inline void my_add_tile_face(const std::uint32_t idst0, const std::uint32_t idst1, const std::uint32_t odst) {
    for (std::uint32_t i = 0; i < 8; ++i) {
        const sfpi::vFloat a = sfpi::dst_reg[32 * idst0 + i], b = sfpi::dst_reg[32 * idst1 + i];
        sfpi::dst_reg[32 * odst + i] = a + b;
    }
}

}  // namespace ckernel::sfpu
