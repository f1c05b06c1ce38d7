// Pages of a tensor: addresses, places, walks.
#pragma once

#include "api/tensor/tensor_accessor_args.h"
#include "api/tensor/tensor_binding_token.h"
#include "ttnn_rs/addresses.h"
#include "ttnn_rs/distribution.h"
#include "ttnn_rs/page_walks.h"

namespace tensor_accessor::detail {

template <typename T>
concept Coordinates = requires(const T& coordinates) { coordinates[0]; };

// What both kinds of accessor answer alike.
template <typename Accessor>
struct Places {
    FORCE_INLINE bool is_local_bank(
        std::uint32_t virtual_x, std::uint32_t virtual_y, std::uint8_t noc = noc_index) const {
        return virtual_x == my_x[noc] && virtual_y == my_y[noc];
    }
    FORCE_INLINE bool is_local_addr(const std::uint64_t noc_addr, std::uint8_t noc = noc_index) const {
        return is_local_bank(NOC_UNICAST_ADDR_X(noc_addr), NOC_UNICAST_ADDR_Y(noc_addr), noc);
    }
    FORCE_INLINE bool is_local_page(const std::uint32_t page_id, std::uint8_t noc = noc_index) const {
        return is_local_addr(self().get_noc_addr(page_id, 0, noc), noc);
    }
    FORCE_INLINE bool is_local_shard(const std::uint32_t shard_id, std::uint8_t noc = noc_index) const {
        return is_local_addr(self().get_shard_noc_addr(shard_id, 0, noc), noc);
    }

private:
    FORCE_INLINE const Accessor& self() const { return static_cast<const Accessor&>(*this); }
};

}  // namespace tensor_accessor::detail

template <typename DSpecT>
struct TensorAccessor : tensor_accessor::detail::Places<TensorAccessor<DSpecT>> {
    using DSpec = DSpecT;
    static constexpr bool is_dram = DSpec::is_dram;

    struct PageMapping {
        std::size_t bank_id;
        std::size_t bank_page_offset;
    };

    template <std::size_t CTA, std::size_t CRTA>
    TensorAccessor(
        const TensorAccessorArgs<CTA, CRTA>& args, const std::size_t bank_base_address_in,
        const std::uint32_t page_size_in = TensorAccessorArgs<CTA, CRTA>::AlignedPageSize) :
        spec(args), bank_base_address(bank_base_address_in), page_size(page_size_in) {}
    template <std::uint32_t CTA, std::uint32_t ADDR>
    TensorAccessor(tensor_accessor::TensorBindingToken<CTA, ADDR>) :
        TensorAccessor(
            TensorAccessorArgs<CTA, ADDR / 4 + 1>(), get_common_arg_val<std::uint32_t>(ADDR / 4)) {}
    TensorAccessor(const DSpec& dspec, const std::size_t bank_base_address_in, const std::uint32_t page_size_in = 0) :
        spec(dspec), bank_base_address(bank_base_address_in), page_size(page_size_in) {}

    constexpr const DSpec& dspec() const { return spec; }
    FORCE_INLINE std::uint32_t get_aligned_page_size() const { return page_size; }
    FORCE_INLINE constexpr std::uint32_t get_bank_base_address() const { return bank_base_address; }

    FORCE_INLINE std::uint64_t get_noc_addr(
        const std::uint32_t page_id, const std::uint32_t offset = 0, std::uint8_t noc = noc_index) const {
        return address(get_bank_and_offset(page_id), offset, noc);
    }
    template <tensor_accessor::detail::Coordinates C>
    FORCE_INLINE std::uint64_t get_noc_addr(
        const C& page_coord, const std::uint32_t offset = 0, std::uint8_t noc = noc_index) const {
        return address(get_bank_and_offset(page_coord), offset, noc);
    }
    FORCE_INLINE std::uint64_t get_shard_noc_addr(
        const std::uint32_t shard_id, const std::uint32_t offset = 0, std::uint8_t noc = noc_index) const {
        return address(first_page(shard_id), offset, noc);
    }
    template <tensor_accessor::detail::Coordinates C>
    FORCE_INLINE std::uint64_t get_shard_noc_addr(
        const C& shard_coord, const std::uint32_t offset = 0, std::uint8_t noc = noc_index) const {
        std::uint32_t shard = 0;
        for (std::uint32_t i = 0; i < spec.rank(); ++i) {
            shard += shard_coord[i] * spec.shard_grid_strides()[i];
        }
        return get_shard_noc_addr(shard, offset, noc);
    }

    PageMapping get_bank_and_offset(std::uint32_t page_id) const {
        typename DSpec::Shape coordinates;
        for (std::uint32_t i = spec.rank(); i-- > 0;) {
            coordinates[i] = page_id % spec.tensor_shape()[i];
            page_id /= spec.tensor_shape()[i];
        }
        return get_bank_and_offset(coordinates);
    }
    template <tensor_accessor::detail::Coordinates C>
    PageMapping get_bank_and_offset(const C& page_coord) const {
        std::uint32_t shard = 0, inside = 0;
        for (std::uint32_t i = 0; i < spec.rank(); ++i) {
            const std::uint32_t extent = spec.shard_shape()[i];
            shard += page_coord[i] / extent * spec.shard_grid_strides()[i];
            inside += page_coord[i] % extent * spec.shard_strides()[i];
        }
        PageMapping place = first_page(shard);
        place.bank_page_offset += inside;
        return place;
    }

    tensor_accessor::Pages<TensorAccessor> pages(
        std::uint32_t start_page_id = 0, std::uint32_t end_page_id = 0, std::uint8_t noc = noc_index) const {
        const std::uint32_t end = end_page_id != 0 ? end_page_id : spec.tensor_volume();
        return {*this, start_page_id, end, 1, noc};
    }
    tensor_accessor::Pages<TensorAccessor> strided_pages(std::uint8_t noc = noc_index) const { return pages(0, 0, noc); }
    tensor_accessor::ShardPages<TensorAccessor> shard_pages(
        std::uint32_t shard_id, std::uint32_t start_page_offset = 0, std::uint32_t end_page_offset = 0,
        std::uint8_t noc = noc_index) const {
        const std::uint32_t end = end_page_offset != 0 ? end_page_offset : spec.shard_volume();
        return {*this, shard_id, start_page_offset, end, noc};
    }

    // Finds the number of a page by its place in a shard; false for the padding of a shard.
    bool page_of_shard(std::uint32_t shard, std::uint32_t place, std::uint32_t& page) const {
        page = 0;
        for (std::uint32_t i = 0; i < spec.rank(); ++i) {
            const std::uint32_t extent = spec.shard_shape()[i];
            const std::uint32_t start = shard / spec.shard_grid_strides()[i] % spec.shard_grid()[i] * extent;
            const std::uint32_t coordinate = start + place / spec.shard_strides()[i] % extent;
            if (coordinate >= spec.tensor_shape()[i]) {
                return false;
            }
            page += coordinate * spec.tensor_strides()[i];
        }
        return true;
    }

private:
    PageMapping first_page(std::uint32_t shard) const {
        const std::uint32_t banks = spec.num_banks();
        if (spec.resolve_shard_contiguous()) {
            const std::uint32_t each = (spec.num_shards() + banks - 1) / banks;
            return {shard / each, shard % each * spec.shard_volume()};
        }
        return {shard % banks, shard / banks * spec.shard_volume()};
    }
    FORCE_INLINE std::uint64_t address(PageMapping place, std::uint32_t offset, std::uint8_t) const {
        const std::uint32_t packed = spec.packed_xy_coords()[place.bank_id];
        const std::uint32_t local = bank_base_address + place.bank_page_offset * page_size + offset;
        if constexpr (is_dram) {
            // The upper byte is the number of the bank.
            return get_noc_addr_helper(ttnn_rs::dram_bank_xy[packed >> 8], local);
        } else {
            return NOC_XY_ADDR(packed >> 8, packed & 0xFF, local);
        }
    }

    DSpec spec;
    const std::uint32_t bank_base_address;
    const std::uint32_t page_size;
};

// Interleaved tensors: the engine finds their pages.
template <typename Args>
    requires(!Args::is_sharded)
struct TensorAccessor<tensor_accessor::DistributionSpec<Args>>
    : tensor_accessor::detail::Places<TensorAccessor<tensor_accessor::DistributionSpec<Args>>> {
    using DSpec = tensor_accessor::DistributionSpec<Args>;
    static constexpr bool is_dram = Args::is_dram;
    const std::uint32_t bank_base_address;
    const std::uint32_t page_size;

    template <std::size_t CTA, std::size_t CRTA>
    TensorAccessor(const TensorAccessorArgs<CTA, CRTA>& args, const std::uint32_t bank_base_address_in) :
        TensorAccessor(args, bank_base_address_in, args.get_aligned_page_size()) {}
    template <std::size_t CTA, std::size_t CRTA>
    TensorAccessor(
        const TensorAccessorArgs<CTA, CRTA>&, const std::uint32_t bank_base_address_in,
        const std::uint32_t page_size_in) :
        bank_base_address(bank_base_address_in), page_size(page_size_in) {}
    template <std::uint32_t CTA, std::uint32_t ADDR>
    TensorAccessor(tensor_accessor::TensorBindingToken<CTA, ADDR>) :
        TensorAccessor(TensorAccessorArgs<CTA, ADDR / 4 + 1>(), get_common_arg_val<std::uint32_t>(ADDR / 4)) {}

    FORCE_INLINE ttnn_rs::Interleaved interleaved() const { return {is_dram, bank_base_address, page_size}; }
    FORCE_INLINE std::uint32_t get_aligned_page_size() const { return page_size; }
    FORCE_INLINE constexpr std::uint32_t get_bank_base_address() const { return bank_base_address; }
    FORCE_INLINE std::uint64_t get_noc_addr(
        const std::uint32_t id, const std::uint32_t offset = 0, std::uint8_t = noc_index) const {
        return interleaved().address(id, offset);
    }
    FORCE_INLINE std::uint64_t get_shard_noc_addr(
        const std::uint32_t id, const std::uint32_t offset = 0, std::uint8_t noc = noc_index) const {
        return get_noc_addr(id, offset, noc);
    }

    tensor_accessor::Pages<TensorAccessor> pages(
        std::uint32_t start_page_id, std::uint32_t end_page_id, std::uint8_t noc = noc_index) const {
        return {*this, start_page_id, end_page_id, 1, noc};
    }
    tensor_accessor::Pages<TensorAccessor> strided_pages(
        std::uint32_t total_pages, std::uint8_t noc = noc_index) const {
        return pages(0, total_pages, noc);
    }
    tensor_accessor::ShardPages<TensorAccessor> shard_pages(
        std::uint32_t shard_id, std::uint32_t start_page_offset = 0, std::uint32_t = 0,
        std::uint8_t noc = noc_index) const {
        return {*this, shard_id, start_page_offset, 1, noc};
    }
    bool page_of_shard(std::uint32_t shard, std::uint32_t, std::uint32_t& page) const {
        page = shard;
        return true;
    }
};

// A tensor that the program leaves out: kernels name it in branches that are not taken.
namespace tensor_accessor {
struct NullDSpec {
    static constexpr bool is_dram = true;
    static constexpr bool is_interleaved = true;
    static constexpr bool has_static_rank = false;
};
}  // namespace tensor_accessor

template <>
struct TensorAccessor<tensor_accessor::NullDSpec>
    : tensor_accessor::detail::Places<TensorAccessor<tensor_accessor::NullDSpec>> {
    using DSpec = tensor_accessor::NullDSpec;
    static constexpr bool is_dram = true;
    static constexpr std::uint32_t page_size = 0;
    explicit TensorAccessor(const tensor_accessor::NullTensorBindingToken&) {}
    std::uint32_t get_aligned_page_size() const { return 0; }
    std::uint32_t get_bank_base_address() const { return 0; }
    std::uint64_t get_noc_addr(std::uint32_t, std::uint32_t = 0, std::uint8_t = noc_index) const {
        tt_call_invalid("TensorAccessor", "the program binds no tensor to this name");
    }
    std::uint64_t get_shard_noc_addr(std::uint32_t page, std::uint32_t = 0, std::uint8_t = noc_index) const {
        return get_noc_addr(page);
    }
};

template <std::size_t CTA, std::size_t CRTA>
TensorAccessor(const TensorAccessorArgs<CTA, CRTA>&, std::size_t)
    -> TensorAccessor<tensor_accessor::DistributionSpec<TensorAccessorArgs<CTA, CRTA>>>;
template <std::size_t CTA, std::size_t CRTA>
TensorAccessor(const TensorAccessorArgs<CTA, CRTA>&, std::size_t, std::uint32_t)
    -> TensorAccessor<tensor_accessor::DistributionSpec<TensorAccessorArgs<CTA, CRTA>>>;
template <std::uint32_t CTA, std::uint32_t ADDR>
TensorAccessor(tensor_accessor::TensorBindingToken<CTA, ADDR>)
    -> TensorAccessor<tensor_accessor::DistributionSpec<TensorAccessorArgs<CTA, ADDR / 4 + 1>>>;
TensorAccessor(const tensor_accessor::NullTensorBindingToken&) -> TensorAccessor<tensor_accessor::NullDSpec>;
template <typename Args>
TensorAccessor(tensor_accessor::DistributionSpec<Args>, std::size_t, std::uint32_t)
    -> TensorAccessor<tensor_accessor::DistributionSpec<Args>>;

namespace tensor_accessor::detail {

template <typename... Args, std::size_t... Is>
auto accessor_tuple(const std::tuple<Args...>& args, std::uint32_t first, std::index_sequence<Is...>) {
    return std::make_tuple(TensorAccessor(std::get<Is>(args), get_arg_val<std::uint32_t>(first + Is))...);
}

}  // namespace tensor_accessor::detail

template <typename... Args>
auto make_tensor_accessor_tuple(const std::tuple<Args...>& args, std::uint32_t address_rt_arg_index_start) {
    return tensor_accessor::detail::accessor_tuple(
        args, address_rt_arg_index_start, std::make_index_sequence<sizeof...(Args)>());
}
template <typename... Tokens>
auto make_tensor_accessors(const std::tuple<Tokens...>& tokens) {
    return std::apply([](const auto&... token) { return std::make_tuple(TensorAccessor(token)...); }, tokens);
}

// One type for accessors of different tensors.
class AbstractTensorAccessorWrapper {
public:
    AbstractTensorAccessorWrapper() = default;
    template <typename Accessor>
    AbstractTensorAccessorWrapper(const Accessor& accessor) :
        accessor(&accessor),
        find([](const void* pages, std::uint32_t page, std::uint32_t offset, std::uint8_t noc) {
            return static_cast<const Accessor*>(pages)->get_noc_addr(page, offset, noc);
        }) {}
    std::uint64_t get_noc_addr(
        std::uint32_t page_idx, std::uint32_t offset = 0, std::uint8_t noc = noc_index) const {
        return find(accessor, page_idx, offset, noc);
    }

private:
    const void* accessor = nullptr;
    std::uint64_t (*find)(const void*, std::uint32_t, std::uint32_t, std::uint8_t) = nullptr;
};

template <typename... Accessors>
auto make_abstract_tensor_accessor_wrappers(const std::tuple<Accessors...>& accessors) {
    return std::apply(
        [](const auto&... accessor) {
            return std::array<AbstractTensorAccessorWrapper, sizeof...(Accessors)>{
                AbstractTensorAccessorWrapper(accessor)...};
        },
        accessors);
}

template <typename Accessor>
struct PageView {
    const Accessor& accessor;
    explicit PageView(const Accessor& acc) : accessor(acc) {}
    std::uint64_t get_noc_addr(std::uint32_t page_id, std::uint32_t offset, std::uint8_t noc) const {
        return accessor.get_noc_addr(page_id, offset, noc);
    }
};

template <typename Accessor>
struct ShardView {
    const Accessor& accessor;
    explicit ShardView(const Accessor& acc) : accessor(acc) {}
    bool is_local_shard(std::uint32_t shard_id, std::uint8_t noc) const {
        return accessor.is_local_shard(shard_id, noc);
    }
    std::uint64_t get_noc_addr(std::uint32_t shard_id, std::uint32_t offset, std::uint8_t noc) const {
        return accessor.get_shard_noc_addr(shard_id, offset, noc);
    }
};
