// Traits of tensors, their pages and shards, and of address generators.
#pragma once

#include "api/dataflow/noc.h"
#include "api/tensor/tensor_accessor.h"

namespace ttnn_rs {

struct PageArgs {
    std::uint32_t page_id{};
    std::uint32_t offset_bytes = 0;
};
struct ShardArgs {
    std::uint32_t shard_id{};
    std::uint32_t offset_bytes = 0;
};

template <typename T>
struct PageTraits {
    using src_args_type = PageArgs;
    using dst_args_type = PageArgs;
    template <Noc::AddressType type>
    static auto src_addr(const T& pages, const Noc& noc, const src_args_type& args)
        -> std::conditional_t<type == Noc::AddressType::LOCAL_L1, std::uint32_t, std::uint64_t> {
        return pages.get_noc_addr(args.page_id, args.offset_bytes, noc.get_noc_id());
    }
    template <Noc::AddressType type>
    static auto dst_addr(const T& pages, const Noc& noc, const dst_args_type& args)
        -> std::conditional_t<type == Noc::AddressType::LOCAL_L1, std::uint32_t, std::uint64_t> {
        return src_addr<type>(pages, noc, args);
    }
};

template <typename T>
struct OnePageTraits {
    using src_args_type = LocalArgs;
    using dst_args_type = LocalArgs;
    template <Noc::AddressType type>
    static auto src_addr(const T& page, const Noc&, const src_args_type& args)
        -> std::conditional_t<type == Noc::AddressType::LOCAL_L1, std::uint32_t, std::uint64_t> {
        return page.noc_addr() + args.offset_bytes;
    }
    template <Noc::AddressType type>
    static auto dst_addr(const T& page, const Noc& noc, const dst_args_type& args)
        -> std::conditional_t<type == Noc::AddressType::LOCAL_L1, std::uint32_t, std::uint64_t> {
        return src_addr<type>(page, noc, args);
    }
};

}  // namespace ttnn_rs

template <typename DSpecT>
struct noc_traits_t<TensorAccessor<DSpecT>> : ttnn_rs::PageTraits<TensorAccessor<DSpecT>> {};
template <typename Accessor>
struct noc_traits_t<PageView<Accessor>> : ttnn_rs::PageTraits<PageView<Accessor>> {};
template <>
struct noc_traits_t<AbstractTensorAccessorWrapper> : ttnn_rs::PageTraits<AbstractTensorAccessorWrapper> {};
template <bool DRAM>
struct noc_traits_t<InterleavedAddrGen<DRAM>> : ttnn_rs::PageTraits<InterleavedAddrGen<DRAM>> {};
template <bool DRAM>
struct noc_traits_t<InterleavedPow2AddrGen<DRAM>> : ttnn_rs::PageTraits<InterleavedPow2AddrGen<DRAM>> {};
template <bool DRAM, std::uint32_t tile_hw>
struct noc_traits_t<InterleavedAddrGenFast<DRAM, tile_hw>>
    : ttnn_rs::PageTraits<InterleavedAddrGenFast<DRAM, tile_hw>> {};
template <bool DRAM>
struct noc_traits_t<InterleavedPow2AddrGenFast<DRAM>> : ttnn_rs::PageTraits<InterleavedPow2AddrGenFast<DRAM>> {};

template <typename Accessor>
struct noc_traits_t<ShardView<Accessor>> {
    using src_args_type = ttnn_rs::ShardArgs;
    using dst_args_type = ttnn_rs::ShardArgs;
    template <Noc::AddressType type>
    static auto src_addr(const ShardView<Accessor>& shards, const Noc& noc, const src_args_type& args)
        -> std::conditional_t<type == Noc::AddressType::LOCAL_L1, std::uint32_t, std::uint64_t> {
        return shards.get_noc_addr(args.shard_id, args.offset_bytes, noc.get_noc_id());
    }
    template <Noc::AddressType type>
    static auto dst_addr(const ShardView<Accessor>& shards, const Noc& noc, const dst_args_type& args)
        -> std::conditional_t<type == Noc::AddressType::LOCAL_L1, std::uint32_t, std::uint64_t> {
        return src_addr<type>(shards, noc, args);
    }
};

template <>
struct noc_traits_t<tensor_accessor::Page> : ttnn_rs::OnePageTraits<tensor_accessor::Page> {};
template <>
struct noc_traits_t<tensor_accessor::ShardPage> : ttnn_rs::OnePageTraits<tensor_accessor::ShardPage> {};
