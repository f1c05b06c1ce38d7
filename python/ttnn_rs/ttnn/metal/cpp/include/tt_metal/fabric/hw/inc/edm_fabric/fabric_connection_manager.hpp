// The connections of a line or ring: forward and backward, each there or not.
#pragma once

#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

class FabricConnectionManager final {
public:
    using Sender = tt::tt_fabric::WorkerToFabricEdmSender;
    enum BuildFromArgsMode : std::uint8_t {
        BUILD_ONLY,
        BUILD_AND_OPEN_CONNECTION,
        BUILD_AND_OPEN_CONNECTION_START_ONLY
    };

    // Twice: whether there is a connection, then its three words.
    template <BuildFromArgsMode build_mode = BUILD_ONLY>
    static FabricConnectionManager build_from_args(std::size_t& arg_idx) {
        FabricConnectionManager manager;
        for (Side& side : manager.sides) {
            side.there = get_arg_val<std::uint32_t>(arg_idx++) != 0;
            if (side.there) {
                side.sender = Sender::build_from_args<ProgrammableCoreType::TENSIX>(arg_idx);
                if constexpr (build_mode != BUILD_ONLY) {
                    side.sender.open_start();
                }
            }
        }
        if constexpr (build_mode == BUILD_AND_OPEN_CONNECTION) {
            manager.open_finish();
        }
        return manager;
    }

    bool is_logically_connected() const { return has_forward_connection() || has_backward_connection(); }
    bool has_forward_connection() const { return sides[0].there; }
    bool has_backward_connection() const { return sides[1].there; }
    Sender& get_forward_connection() { return get(0, "FabricConnectionManager::get_forward_connection"); }
    Sender& get_backward_connection() { return get(1, "FabricConnectionManager::get_backward_connection"); }

    template <bool SEND_CREDIT_ADDR = false>
    void open() {
        each([](Sender& sender) { sender.open_start<SEND_CREDIT_ADDR>(); });
        open_finish();
    }
    void open_finish() {
        each([](Sender& sender) { sender.open_finish(); });
    }
    void close_start() {
        each([](Sender& sender) { sender.close_start(); });
    }
    void close_finish() {
        each([](Sender& sender) { sender.close_finish(); });
    }
    void close() {
        close_start();
        close_finish();
    }

private:
    struct Side {
        Sender sender;
        bool there = false;
    };
    Side sides[2];

    template <typename Function>
    FORCE_INLINE void each(Function function) {
        for (Side& side : sides) {
            if (side.there) {
                function(side.sender);
            }
        }
    }
    Sender& get(std::uint32_t side, const char* call) {
        if (!sides[side].there) {
            tt_call_invalid(call, "there is no connection in this direction");
        }
        return sides[side].sender;
    }
};
