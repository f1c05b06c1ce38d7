// Commands whose targets are pages. A page has the same address on every chip.
#pragma once

#include "api/tensor/tensor_accessor.h"
#include "hostdev/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/fabric_config.h"
#include "ttnn_rs/addresses.h"

#define FABRIC_MAX_PACKET_SIZE (tt::tt_fabric::get_fabric_max_packet_size())

namespace tt::tt_fabric::linear {

namespace addrgen_detail {

template <typename AddrGenType>
std::uint32_t get_page_size(const AddrGenType& d) {
    if constexpr (requires { d.CONSTANT_ARGS.page_size_jump; }) {
        return d.CONSTANT_ARGS.page_size_jump;
    } else if constexpr (requires { d.aligned_page_size; }) {
        return d.aligned_page_size;
    } else {
        return d.page_size;
    }
}
template <typename DSpec>
std::uint32_t get_page_size(const TensorAccessor<DSpec>& d) {
    return d.page_size;
}

template <typename AddrGenType>
FORCE_INLINE std::uint64_t get_noc_address(const AddrGenType& d, const std::uint32_t id, std::uint32_t offset = 0) {
    return d.get_noc_addr(id, offset, edm_to_local_chip_noc);
}

}  // namespace addrgen_detail

template <typename AddrGenType>
FORCE_INLINE void to_noc_unicast_write(
    std::uint32_t packet_payload_size, volatile PACKET_HEADER_TYPE* pkt_hdr, const std::uint32_t id,
    const AddrGenType& d, std::uint32_t offset = 0) {
    pkt_hdr->to_noc_unicast_write({addrgen_detail::get_noc_address(d, id, offset)}, packet_payload_size);
}
template <typename AddrGenType>
FORCE_INLINE void to_noc_unicast_write(
    volatile PACKET_HEADER_TYPE* pkt_hdr, const std::uint32_t id, const AddrGenType& d, std::uint32_t offset = 0) {
    to_noc_unicast_write(addrgen_detail::get_page_size(d), pkt_hdr, id, d, offset);
}

template <typename AddrGenType>
FORCE_INLINE void to_noc_sparse_mcast_write(
    std::uint32_t packet_payload_size, volatile PACKET_HEADER_TYPE* pkt_hdr, const std::uint32_t* ids,
    std::uint8_t num_dests, const std::uint8_t* counts, std::uint8_t num_chips, const AddrGenType& d,
    std::uint32_t offset = 0) {
    NocSparseMulticastWriteCommandHeader command{};
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(num_dests, NOC_SPARSE_MCAST_WRITE_MAX_DESTS); ++i) {
        command.noc_address[i] = addrgen_detail::get_noc_address(d, ids[i], offset);
    }
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(num_chips, NOC_SPARSE_MCAST_WRITE_MAX_DESTS); ++i) {
        command.counts[i] = counts[i];
    }
    command.num_dests = num_dests;
    command.num_chips = num_chips;
    pkt_hdr->to_noc_sparse_mcast_write(command, packet_payload_size);
}

template <typename AddrGenType>
FORCE_INLINE void to_noc_fused_unicast_write_atomic_inc(
    std::uint32_t page_size, volatile PACKET_HEADER_TYPE* pkt_hdr,
    const NocUnicastAtomicIncCommandHeader& atomic_inc_spec, const std::uint32_t id, const AddrGenType& d,
    std::uint32_t offset = 0) {
    pkt_hdr->to_noc_fused_unicast_write_atomic_inc(
        NocUnicastAtomicIncFusedCommandHeader(
            addrgen_detail::get_noc_address(d, id, offset), atomic_inc_spec.noc_address, atomic_inc_spec.val,
            atomic_inc_spec.flush),
        page_size);
}
template <typename AddrGenType>
FORCE_INLINE void to_noc_fused_unicast_write_atomic_inc(
    volatile PACKET_HEADER_TYPE* pkt_hdr, const NocUnicastAtomicIncCommandHeader& atomic_inc_spec,
    const std::uint32_t id, const AddrGenType& d, std::uint32_t offset = 0) {
    to_noc_fused_unicast_write_atomic_inc(
        addrgen_detail::get_page_size(d), pkt_hdr, atomic_inc_spec, id, d, offset);
}

template <typename AddrGenType>
FORCE_INLINE void to_noc_unicast_scatter_write(
    std::uint32_t page_size, volatile PACKET_HEADER_TYPE* pkt_hdr, const std::uint32_t id0, const std::uint32_t id1,
    const AddrGenType& d, std::uint32_t offset0 = 0, std::uint32_t offset1 = 0) {
    pkt_hdr->to_noc_unicast_scatter_write(
        NocUnicastScatterCommandHeader(
            {addrgen_detail::get_noc_address(d, id0, offset0), addrgen_detail::get_noc_address(d, id1, offset1)},
            {static_cast<std::uint16_t>(page_size)}),
        page_size * 2);
}
template <typename AddrGenType>
FORCE_INLINE void to_noc_unicast_scatter_write(
    volatile PACKET_HEADER_TYPE* pkt_hdr, const std::uint32_t id0, const std::uint32_t id1, const AddrGenType& d,
    std::uint32_t offset0 = 0, std::uint32_t offset1 = 0) {
    to_noc_unicast_scatter_write(addrgen_detail::get_page_size(d), pkt_hdr, id0, id1, d, offset0, offset1);
}

}  // namespace tt::tt_fabric::linear

namespace tt::tt_fabric {
namespace addrgen_detail = linear::addrgen_detail;
}
