// Several connections of a worker, each with a tag: in two dimensions its direction.
#pragma once

#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

#ifndef TT_FABRIC_MAX_ROUTING_PLANE_CONNECTIONS
#define TT_FABRIC_MAX_ROUTING_PLANE_CONNECTIONS 4
#endif

namespace tt::tt_fabric {

class RoutingPlaneConnectionManager final {
public:
    static constexpr std::size_t MaxConnections = TT_FABRIC_MAX_ROUTING_PLANE_CONNECTIONS;
    using Sender = WorkerToFabricEdmSender;
    enum BuildFromArgsMode : std::uint8_t {
        BUILD_ONLY,
        BUILD_AND_OPEN_CONNECTION,
        BUILD_AND_OPEN_CONNECTION_START_ONLY
    };

#ifdef FABRIC_2D
    std::uint16_t my_mesh_id;
    std::uint16_t my_chip_id;
#endif

    struct ConnectionSlot {
        Sender sender;
        std::uint8_t tag;
#ifdef FABRIC_2D
        std::uint16_t dst_dev_id;
        std::uint16_t dst_mesh_id;
#endif
    };

    RoutingPlaneConnectionManager() : slots_{}, num_active_(0) {}

    // For each connection its tag and three words; in two dimensions this chip, its mesh, and for each connection the
    // chip and the mesh to which it leads.
    template <
        BuildFromArgsMode build_mode = BUILD_ONLY, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc(),
        bool sem_args_are_l1_addresses = false>
    static RoutingPlaneConnectionManager build_from_args(
        std::size_t& arg_idx, std::uint32_t num_connections_to_build) {
        if (num_connections_to_build > MaxConnections) {
            tt_call_invalid("RoutingPlaneConnectionManager::build_from_args", "more connections than directions");
        }
        RoutingPlaneConnectionManager manager;
        manager.num_active_ = num_connections_to_build;
        manager.each([&](ConnectionSlot& slot) {
            slot.tag = static_cast<std::uint8_t>(get_arg_val<std::uint32_t>(arg_idx++));
            slot.sender =
                Sender::build_from_args<ProgrammableCoreType::TENSIX, sem_args_are_l1_addresses>(arg_idx);
            if constexpr (build_mode != BUILD_ONLY) {
                slot.sender.template open_start<false, false, WORKER_HANDSHAKE_NOC>();
            }
        });
        if constexpr (build_mode == BUILD_AND_OPEN_CONNECTION) {
            manager.open_finish<WORKER_HANDSHAKE_NOC>();
        }
#ifdef FABRIC_2D
        manager.my_chip_id = get_arg_val<std::uint32_t>(arg_idx++);
        manager.my_mesh_id = get_arg_val<std::uint32_t>(arg_idx++);
        manager.each([&](ConnectionSlot& slot) {
            slot.dst_dev_id = get_arg_val<std::uint32_t>(arg_idx++);
            slot.dst_mesh_id = get_arg_val<std::uint32_t>(arg_idx++);
        });
#endif
        return manager;
    }

    std::uint32_t get_tag(std::uint32_t index) const { return get(index).tag; }
    ConnectionSlot& get(std::uint32_t index) {
        check(index);
        return slots_[index];
    }
    const ConnectionSlot& get(std::uint32_t index) const {
        check(index);
        return slots_[index];
    }
    std::uint32_t active_count() const { return num_active_; }

    template <typename Fn>
    void for_each(Fn&& fn) {
        for (std::uint32_t i = 0; i < num_active_; ++i) {
            fn(slots_[i].sender, i, slots_[i].tag);
        }
    }

    template <bool SEND_CREDIT_ADDR = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void open_start() {
        each([](ConnectionSlot& slot) {
            slot.sender.template open_start<SEND_CREDIT_ADDR, false, WORKER_HANDSHAKE_NOC>();
        });
    }
    template <std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void open_finish() {
        each([](ConnectionSlot& slot) { slot.sender.template open_finish<false, WORKER_HANDSHAKE_NOC>(); });
    }
    template <bool SEND_CREDIT_ADDR = false, std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void open() {
        open_start<SEND_CREDIT_ADDR, WORKER_HANDSHAKE_NOC>();
        open_finish<WORKER_HANDSHAKE_NOC>();
    }
    template <std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void close_start() {
        each([](ConnectionSlot& slot) { slot.sender.template close_start<false, WORKER_HANDSHAKE_NOC>(); });
    }
    template <std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void close_finish() {
        each([](ConnectionSlot& slot) { slot.sender.template close_finish<false, WORKER_HANDSHAKE_NOC>(); });
    }
    template <std::uint8_t WORKER_HANDSHAKE_NOC = get_fabric_worker_noc()>
    void close() {
        close_start<WORKER_HANDSHAKE_NOC>();
        close_finish<WORKER_HANDSHAKE_NOC>();
    }

private:
    std::array<ConnectionSlot, MaxConnections> slots_;
    std::uint32_t num_active_;

    template <typename Function>
    FORCE_INLINE void each(Function function) {
        for (std::uint32_t i = 0; i < num_active_; ++i) {
            function(slots_[i]);
        }
    }
    void check(std::uint32_t index) const {
        if (index >= num_active_) {
            tt_call_invalid("RoutingPlaneConnectionManager::get", "there is no connection of this number");
        }
    }
};

}  // namespace tt::tt_fabric
