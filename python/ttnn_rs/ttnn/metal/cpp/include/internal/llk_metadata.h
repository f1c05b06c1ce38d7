// Format and faces of what a name is bound to.
#pragma once

#include "ttnn_rs/base.h"

namespace binding_details {

struct LLKMetadata {
    static constexpr std::uint8_t kNoFormat = 0xFF;
    std::uint8_t format = kNoFormat;
    std::uint8_t face_r_dim = 16;
    std::uint8_t face_c_dim = 16;
    std::uint8_t num_faces_r_dim = 2;
    std::uint8_t num_faces_c_dim = 2;
};

}  // namespace binding_details
