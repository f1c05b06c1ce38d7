// NoC addresses of the fabric: coordinates mean the same on both networks, so they stay as they are.
#pragma once

#include "api/dataflow/dataflow_api.h"
#include "tt-metalium/experimental/fabric/fabric_edm_types.hpp"

constexpr std::size_t VIRTUAL_COORDS_START_X = 16;
constexpr std::size_t VIRTUAL_COORDS_START_Y = 16;

FORCE_INLINE bool is_using_noc_coords(std::uint16_t noc_x, std::uint16_t noc_y) {
#ifdef ARCH_WORMHOLE
    return noc_x < VIRTUAL_COORDS_START_X && noc_y < VIRTUAL_COORDS_START_Y;
#else
    return false;
#endif
}
FORCE_INLINE std::uint64_t safe_get_noc_addr(
    std::uint8_t dest_noc_x, std::uint8_t dest_noc_y, std::uint32_t dest_bank_addr, std::uint8_t noc_id = noc_index) {
    return get_noc_addr(dest_noc_x, dest_noc_y, dest_bank_addr, noc_id);
}
FORCE_INLINE std::pair<tt::tt_fabric::WorkerXY, std::uint32_t> get_noc_address_components(std::uint64_t noc_addr) {
    return {
        tt::tt_fabric::WorkerXY(NOC_UNICAST_ADDR_X(noc_addr), NOC_UNICAST_ADDR_Y(noc_addr)), ttnn_rs::low(noc_addr)};
}
