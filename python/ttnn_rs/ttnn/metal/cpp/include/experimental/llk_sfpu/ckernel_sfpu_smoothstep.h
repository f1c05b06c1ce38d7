// The vector function of the programming example of smooth steps.
#pragma once

#include "sfpi.h"

namespace ckernel::sfpu {

inline void smoothstep_tile_face(float edge0, [[maybe_unused]] float edge1, float inv_delta) {
    for (std::uint32_t i = 0; i < 8; ++i) {
        const sfpi::vFloat x = sfpi::dst_reg[i];
        const sfpi::vFloat t = sfpi::clamp((x - edge0) * inv_delta, 0.0f, 1.0f);
        sfpi::dst_reg[i] = t * t * (3.0f - 2.0f * t);
    }
}

}  // namespace ckernel::sfpu
