// Workers that send through a mux core of the second kind, which lives as long as they are connected.
#pragma once

#include "tt_metal/fabric/hw/inc/tt_fabric_mux.hpp"

namespace tt::tt_fabric {

enum class FabricMuxV2SenderState : std::uint8_t { Disconnected = 0, Staging = 1, Connected = 2 };
constexpr std::uint8_t kInvalidStatusReadTrid = 0xFF;

template <bool EAGER_STAGING = false, std::uint8_t NUM_BUFFERS = 0>
class FabricMuxV2Sender : public ttnn_rs::FabricConnection {
public:
    static constexpr bool USER_DEFINED_NUM_BUFFERS = NUM_BUFFERS != 0;

    FabricMuxV2Sender() = default;

    // Eleven words: the core, the channel, then sizes, addresses and semaphores of the official protocol.
    static FabricMuxV2Sender build_from_args(std::size_t& arg_idx) {
        FabricMuxV2Sender sender;
        sender.channel = ttnn_rs::mux_channel(
            get_arg_val<std::uint32_t>(arg_idx), get_arg_val<std::uint32_t>(arg_idx + 1),
            get_arg_val<std::uint32_t>(arg_idx + 2));
        arg_idx += 11;
        return sender;
    }

    void open([[maybe_unused]] std::uint8_t status_trid = kInvalidStatusReadTrid) { tt_call_fabric_open(channel); }
    // The core is ready at once, so nothing is staged.
    template <bool Blocking = true>
    bool flush() {
        return true;
    }
    void close() {
        tt_call_fabric_close(channel);
        noc_async_write_barrier();
    }

    template <std::size_t num_slots = 1>
    FORCE_INLINE bool has_space_for_packet() const {
        return get_num_free_write_slots() >= num_slots;
    }
    FORCE_INLINE bool is_staging_ring_full() const { return false; }
};

}  // namespace tt::tt_fabric
