// A tensor that the host bound to a name: where its description and its address are.
#pragma once

#include "api/tensor/tensor_accessor_args.h"
#include "internal/llk_metadata.h"

namespace tensor_accessor {

template <std::uint32_t CTA_OFFSET, std::uint32_t ADDR_CRTA_OFFSET>
struct TensorBindingToken {
    static constexpr std::uint32_t cta_offset = CTA_OFFSET;
    static constexpr std::uint32_t addr_crta_offset = ADDR_CRTA_OFFSET;
    binding_details::LLKMetadata llk_metadata{};
};

// Stands for a tensor that this program leaves out.
struct NullTensorBindingToken {};

}  // namespace tensor_accessor
