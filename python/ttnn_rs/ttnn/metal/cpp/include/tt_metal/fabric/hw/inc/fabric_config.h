// Settings of the fabric.
#pragma once

#include "hostdev/fabric_edm_packet_header.hpp"

#ifndef TTNN_RS_FABRIC_PAYLOAD
#define TTNN_RS_FABRIC_PAYLOAD 4352
#endif

namespace tt::tt_fabric {

FORCE_INLINE std::uint32_t get_fabric_max_packet_size() { return TTNN_RS_FABRIC_PAYLOAD; }

}  // namespace tt::tt_fabric
