// One of the networks as an object; what takes part in a transfer says by its traits where it is.
#pragma once

#include "api/dataflow/dataflow_api.h"

template <typename DSpecT>
struct TensorAccessor;
struct UnicastEndpoint;
struct MulticastEndpoint;
class CircularBuffer;
class DataflowBuffer;

namespace ttnn_rs {
struct LocalArgs {
    std::uint32_t offset_bytes{};
};
}  // namespace ttnn_rs
using DataflowBufferArgs = ttnn_rs::LocalArgs;

// Users specialise it for types of their own.
template <typename T>
struct noc_traits_t {
    static_assert(sizeof(T) == 0, "noc_traits_t: this type takes part in no transfers");
};

template <typename T>
inline constexpr bool noc_zero_l1_endpoint_v = false;
template <typename T>
inline constexpr bool is_scratchpad_v = false;

enum class NocOptions : std::uint32_t {
    DEFAULT = 0,
    TXN_ID = 1u << 0,
    POSTED = 1u << 1,
    CUSTOM_VC = 1u << 2,
    MCAST_INCL_SRC = 1u << 3,
    INLINE_L1 = 1u << 4,
    INLINE_REG = 1u << 5,
};
constexpr NocOptions operator|(NocOptions a, NocOptions b) noexcept {
    return static_cast<NocOptions>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has_flag(NocOptions opts, NocOptions flag) noexcept {
    return (static_cast<std::uint32_t>(opts) & static_cast<std::uint32_t>(flag)) != 0;
}

struct NocOptVals {
    std::uint32_t vc = NOC_UNICAST_WRITE_VC;
    std::uint32_t trid = 0;
};

class Noc {
public:
    enum class AddressType { NOC, LOCAL_L1 };
    static constexpr std::uint32_t INVALID_TXN_ID = 0xFFFFFFFF;

private:
    template <typename T>
    using src_args_t = typename noc_traits_t<T>::src_args_type;
    template <typename T>
    using dst_args_t = typename noc_traits_t<T>::dst_args_type;
    template <typename T>
    using dst_args_mcast_t = typename noc_traits_t<T>::dst_args_mcast_type;

    // Gives what follows the transaction id of the call, if it has one.
    template <NocOptions opts>
    FORCE_INLINE void tag_reads(const NocOptVals& noc_opts) const {
        if constexpr (has_flag(opts, NocOptions::TXN_ID)) {
            noc_async_read_set_trid(noc_opts.trid, id);
        }
    }
    template <NocOptions opts>
    FORCE_INLINE void tag_writes(const NocOptVals& noc_opts) const {
        if constexpr (has_flag(opts, NocOptions::TXN_ID)) {
            noc_async_write_set_trid(noc_opts.trid, id);
        }
    }

    template <typename Src>
    FORCE_INLINE std::uint64_t source(const Src& src, const src_args_t<Src>& args) const {
        return noc_traits_t<Src>::template src_addr<AddressType::NOC>(src, *this, args);
    }
    template <typename Src>
    FORCE_INLINE std::uint32_t local_source(const Src& src, const src_args_t<Src>& args) const {
        return noc_traits_t<Src>::template src_addr<AddressType::LOCAL_L1>(src, *this, args);
    }
    template <typename Dst>
    FORCE_INLINE std::uint64_t target(const Dst& dst, const dst_args_t<Dst>& args) const {
        return noc_traits_t<Dst>::template dst_addr<AddressType::NOC>(dst, *this, args);
    }
    template <typename Dst>
    FORCE_INLINE std::uint32_t local_target(const Dst& dst, const dst_args_t<Dst>& args) const {
        return noc_traits_t<Dst>::template dst_addr<AddressType::LOCAL_L1>(dst, *this, args);
    }
    template <NocOptions opts>
    FORCE_INLINE std::int32_t waited_id(const NocOptVals& values) const {
        return has_flag(opts, NocOptions::TXN_ID) ? static_cast<std::int32_t>(values.trid) : -1;
    }

public:
    Noc() : id(noc_index) {}
    explicit Noc(std::uint8_t noc_id) : id(noc_id) {}

    std::uint8_t get_noc_id() const { return id; }
    bool is_local_bank(std::uint32_t virtual_x, std::uint32_t virtual_y) const {
        return virtual_x == my_x[id] && virtual_y == my_y[id];
    }
    bool is_local_addr(const std::uint64_t noc_addr) const {
        return is_local_bank(NOC_UNICAST_ADDR_X(noc_addr), NOC_UNICAST_ADDR_Y(noc_addr));
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1,
        bool enable_noc_tracing = true, typename Src, typename Dst>
    FORCE_INLINE void async_read(
        const Src& src, const Dst& dst, std::uint32_t size_bytes, const src_args_t<Src>& src_args,
        const dst_args_t<Dst>& dst_args, const NocOptVals& noc_opts = {}) const {
        static_assert(
            !has_flag(opts, NocOptions::POSTED) && !has_flag(opts, NocOptions::MCAST_INCL_SRC),
            "Noc::async_read: reads are neither posted nor multicast");
        tag_reads<opts>(noc_opts);
        noc_async_read(source(src, src_args), local_target(dst, dst_args), size_bytes, id);
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, typename Src>
    FORCE_INLINE void set_async_read_state(
        const Src& src, std::uint32_t size_bytes, const src_args_t<Src>& src_args,
        const NocOptVals& noc_opts = {}) const {
        tag_reads<opts>(noc_opts);
        if constexpr (max_page_size <= NOC_MAX_BURST_SIZE) {
            noc_async_read_one_packet_set_state(source(src, src_args), size_bytes, 0, id);
        } else {
            noc_async_read_set_state(source(src, src_args), id);
        }
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, typename Src,
        typename Dst>
    FORCE_INLINE void async_read_with_state(
        const Src& src, const Dst& dst, std::uint32_t size_bytes, const src_args_t<Src>& src_args,
        const dst_args_t<Dst>& dst_args, const NocOptVals& noc_opts = {}) const {
        tag_reads<opts>(noc_opts);
        const std::uint32_t place = ttnn_rs::low(source(src, src_args));
        if constexpr (max_page_size <= NOC_MAX_BURST_SIZE) {
            noc_async_read_one_packet_with_state(place, local_target(dst, dst_args), 0, id);
        } else {
            noc_async_read_with_state(place, local_target(dst, dst_args), size_bytes, id);
        }
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1,
        bool enable_noc_tracing = true, typename Src, typename Dst>
    FORCE_INLINE void async_write(
        const Src& src, const Dst& dst, std::uint32_t size_bytes, const src_args_t<Src>& src_args,
        const dst_args_t<Dst>& dst_args, const NocOptVals& noc_opts = {}) const {
        static_assert(
            !has_flag(opts, NocOptions::MCAST_INCL_SRC), "Noc::async_write: async_write_multicast includes the sender");
        tag_writes<opts>(noc_opts);
        noc_async_write(local_source(src, src_args), target(dst, dst_args), size_bytes, id);
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1,
        bool enable_noc_tracing = true, typename Src, typename Dst>
    FORCE_INLINE void async_write_multicast(
        const Src& src, const Dst& dst, std::uint32_t size_bytes, std::uint32_t num_dsts,
        const src_args_t<Src>& src_args, const dst_args_mcast_t<Dst>& dst_args, bool linked = false) const {
        static_assert(
            !has_flag(opts, NocOptions::TXN_ID) && !has_flag(opts, NocOptions::POSTED),
            "Noc::async_write_multicast: multicasts are neither posted nor have they transaction ids");
        const std::uint64_t place =
            noc_traits_t<Dst>::template dst_addr_mcast<AddressType::NOC>(dst, *this, dst_args);
        ttnn_rs::multicast(
            local_source(src, src_args), place, size_bytes, num_dsts, has_flag(opts, NocOptions::MCAST_INCL_SRC),
            linked, id);
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, typename Dst>
    FORCE_INLINE void set_async_write_state(
        const Dst& dst, std::uint32_t size_bytes, const dst_args_t<Dst>& dst_args,
        const NocOptVals& noc_opts = {}) const {
        tag_writes<opts>(noc_opts);
        if constexpr (max_page_size <= NOC_MAX_BURST_SIZE) {
            noc_async_write_one_packet_set_state(target(dst, dst_args), size_bytes, id);
        } else {
            noc_async_write_set_state(target(dst, dst_args), id);
        }
    }

    template <
        NocOptions opts = NocOptions::DEFAULT, std::uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, typename Src,
        typename Dst>
    FORCE_INLINE void async_write_with_state(
        const Src& src, const Dst& dst, std::uint32_t size_bytes, const src_args_t<Src>& src_args,
        const dst_args_t<Dst>& dst_args, const NocOptVals& noc_opts = {}) const {
        tag_writes<opts>(noc_opts);
        const std::uint32_t place = ttnn_rs::low(target(dst, dst_args));
        if constexpr (max_page_size <= NOC_MAX_BURST_SIZE) {
            noc_async_write_one_packet_with_state(local_source(src, src_args), place, id);
        } else {
            noc_async_write_with_state(local_source(src, src_args), place, size_bytes, id);
        }
    }

    template <NocOptions opts = NocOptions::DEFAULT, typename Dst>
    FORCE_INLINE void inline_dw_write(
        const Dst& dst, std::uint32_t val, const dst_args_t<Dst>& dst_args, std::uint8_t be = 0xF,
        const NocOptVals& noc_opts = {}) const {
        tag_writes<opts>(noc_opts);
        noc_inline_dw_write(target(dst, dst_args), val, be, id);
    }

    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void async_read_barrier(const NocOptVals& noc_opts = {}) const {
        ttnn_rs::barrier(ttnn_rs::READS, id, waited_id<opts>(noc_opts));
    }
    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void async_write_barrier(const NocOptVals& noc_opts = {}) const {
        ttnn_rs::barrier(ttnn_rs::WRITES, id, waited_id<opts>(noc_opts));
    }
    template <NocOptions opts = NocOptions::DEFAULT>
    FORCE_INLINE void async_writes_flushed(const NocOptVals& noc_opts = {}) const {
        ttnn_rs::barrier(ttnn_rs::FLUSHED, id, waited_id<opts>(noc_opts));
    }
    FORCE_INLINE void async_atomic_barrier() const { noc_async_atomic_barrier(id); }
    FORCE_INLINE void async_full_barrier() const { noc_async_full_barrier(id); }
    bool is_read_trid_flushed(std::uint32_t) const {
        ttnn_rs::unsupported(
            "Noc::is_read_trid_flushed", "the NoC's request counters are not modelled; barriers know their transfers");
    }

    // Own L1 is filled with zeros that the network copies from the core's block of zeros.
    template <typename Dst>
        requires(noc_zero_l1_endpoint_v<Dst>)
    FORCE_INLINE void async_write_zeros(const Dst& dst, std::uint32_t size_bytes, const dst_args_t<Dst>& args = {}) const {
        std::uint32_t place = local_target(dst, args);
        for (std::uint32_t left = size_bytes; left > 0;) {
            const std::uint32_t part = std::min(left, MEM_ZEROS_SIZE);
            noc_async_read(NOC_XY_ADDR(my_x[id], my_y[id], MEM_ZEROS_BASE), place, part, id);
            place += part;
            left -= part;
        }
    }
    template <typename DSpecT, typename Scratch>
    FORCE_INLINE void async_write_zeros(
        const ::TensorAccessor<DSpecT>& accessor, std::uint32_t size_bytes,
        const dst_args_t<::TensorAccessor<DSpecT>>& args, const Scratch&) const {
        ::noc_async_write_zeros(target(accessor, args), size_bytes, id);
    }
    FORCE_INLINE void write_zeros_l1_barrier() const { async_read_barrier(); }
    FORCE_INLINE void write_zeros_dram_barrier() const { async_write_barrier(); }

private:
    std::uint8_t id;
};

#include "api/dataflow/endpoints.h"
#include "api/tensor/noc_traits.h"
