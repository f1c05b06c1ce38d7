// Traits of what lies in this core's L1: an address with an offset, here, on the network, or on a rectangle of cores.
#pragma once

#include "api/dataflow/noc.h"

namespace ttnn_rs {

struct LocalMulticastArgs {
    std::uint32_t noc_x_start{};
    std::uint32_t noc_y_start{};
    std::uint32_t noc_x_end{};
    std::uint32_t noc_y_end{};
    std::uint32_t offset_bytes{};
};

template <Noc::AddressType type>
FORCE_INLINE auto local_place(const Noc& noc, std::uint32_t address) {
    if constexpr (type == Noc::AddressType::LOCAL_L1) {
        return address;
    } else {
        return ::get_noc_addr(address, noc.get_noc_id());
    }
}

// Derived classes say where transfers read from and write to: `Traits::reads(object)`, `Traits::writes(object)`.
template <typename T, typename Traits>
struct LocalTraits {
    using src_args_type = LocalArgs;
    using dst_args_type = LocalArgs;
    using dst_args_mcast_type = LocalMulticastArgs;

    template <Noc::AddressType type>
    static auto src_addr(const T& object, const Noc& noc, const src_args_type& args) {
        return local_place<type>(noc, Traits::reads(object) + args.offset_bytes);
    }
    template <Noc::AddressType type>
    static auto dst_addr(const T& object, const Noc& noc, const dst_args_type& args) {
        return local_place<type>(noc, Traits::writes(object) + args.offset_bytes);
    }
    template <Noc::AddressType>
    static auto dst_addr_mcast(const T& object, const Noc& noc, const dst_args_mcast_type& args) {
        return ::get_noc_multicast_addr(
            args.noc_x_start, args.noc_y_start, args.noc_x_end, args.noc_y_end,
            Traits::writes(object) + args.offset_bytes, noc.get_noc_id());
    }
};

}  // namespace ttnn_rs
