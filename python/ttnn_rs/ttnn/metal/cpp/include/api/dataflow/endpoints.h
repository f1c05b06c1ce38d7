// Cores, rectangles of cores and banks that take part in transfers.
#pragma once

#include "api/dataflow/noc.h"

struct UnicastEndpoint {
    std::uint64_t get_noc_unicast_addr(
        std::uint32_t noc_x, std::uint32_t noc_y, std::uint32_t addr, std::uint8_t noc) const {
        return get_noc_addr(noc_x, noc_y, addr, noc);
    }
};

template <>
struct noc_traits_t<UnicastEndpoint> {
    struct src_args_type {
        std::uint32_t noc_x{};
        std::uint32_t noc_y{};
        std::uint32_t addr{};
    };
    using dst_args_type = src_args_type;
    template <Noc::AddressType>
    static auto src_addr(const UnicastEndpoint& end, const Noc& noc, const src_args_type& args) {
        return end.get_noc_unicast_addr(args.noc_x, args.noc_y, args.addr, noc.get_noc_id());
    }
    template <Noc::AddressType type>
    static auto dst_addr(const UnicastEndpoint& end, const Noc& noc, const dst_args_type& args) {
        return src_addr<type>(end, noc, args);
    }
};

struct PrecomposedUnicastEndpoint {};

template <>
struct noc_traits_t<PrecomposedUnicastEndpoint> {
    struct src_args_type {
        std::uint64_t noc_addr{};
    };
    using dst_args_type = src_args_type;
    template <Noc::AddressType>
    static auto src_addr(const PrecomposedUnicastEndpoint&, const Noc&, const src_args_type& args) {
        return args.noc_addr;
    }
    template <Noc::AddressType>
    static auto dst_addr(const PrecomposedUnicastEndpoint&, const Noc&, const dst_args_type& args) {
        return args.noc_addr;
    }
};

struct MulticastEndpoint {
    std::uint64_t get_noc_multicast_addr(
        std::uint32_t noc_x_start, std::uint32_t noc_y_start, std::uint32_t noc_x_end, std::uint32_t noc_y_end,
        std::uint32_t addr, std::uint8_t noc) const {
        return ::get_noc_multicast_addr(noc_x_start, noc_y_start, noc_x_end, noc_y_end, addr, noc);
    }
};

template <>
struct noc_traits_t<MulticastEndpoint> {
    struct dst_args_mcast_type {
        std::uint32_t noc_x_start{};
        std::uint32_t noc_y_start{};
        std::uint32_t noc_x_end{};
        std::uint32_t noc_y_end{};
        std::uint32_t addr{};
    };
    template <Noc::AddressType>
    static auto dst_addr_mcast(const MulticastEndpoint& end, const Noc& noc, const dst_args_mcast_type& args) {
        return end.get_noc_multicast_addr(
            args.noc_x_start, args.noc_y_start, args.noc_x_end, args.noc_y_end, args.addr, noc.get_noc_id());
    }
};

enum class AllocatorBankType { L1, DRAM };

template <AllocatorBankType bank_type>
struct AllocatorBank {
    std::uint64_t get_noc_addr_from_bank_id(std::uint32_t bank_id, std::uint32_t addr, std::uint8_t noc) const {
        return ::get_noc_addr_from_bank_id<bank_type == AllocatorBankType::DRAM>(bank_id, addr, noc);
    }
};

template <AllocatorBankType bank_type>
struct noc_traits_t<AllocatorBank<bank_type>> {
    struct src_args_type {
        std::uint32_t bank_id{};
        std::uint32_t addr{};
    };
    using dst_args_type = src_args_type;
    template <Noc::AddressType>
    static auto src_addr(const AllocatorBank<bank_type>& bank, const Noc& noc, const src_args_type& args) {
        return bank.get_noc_addr_from_bank_id(args.bank_id, args.addr, noc.get_noc_id());
    }
    template <Noc::AddressType type>
    static auto dst_addr(const AllocatorBank<bank_type>& bank, const Noc& noc, const dst_args_type& args) {
        return src_addr<type>(bank, noc, args);
    }
};
