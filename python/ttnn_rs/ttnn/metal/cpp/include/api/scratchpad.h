// Memory of the kernel's own in L1.
#pragma once

#include "api/core_local_mem.h"
#include "experimental/kernel_args.h"
#include "internal/llk_metadata.h"
#include "internal/tensix_types.h"
#include "ttnn_rs/arguments.h"

template <typename T>
class Scratchpad;

class ScratchpadBindingToken {
public:
    explicit constexpr ScratchpadBindingToken(std::uint32_t crta_offset, std::uint32_t size_in_bytes) noexcept :
        crta_offset(crta_offset), size_in_bytes(size_in_bytes) {}
    constexpr ScratchpadBindingToken(
        std::uint32_t crta_offset, std::uint32_t size_in_bytes, binding_details::LLKMetadata metadata) noexcept :
        crta_offset(crta_offset), size_in_bytes(size_in_bytes), metadata(metadata) {}

private:
    template <typename T>
    friend class Scratchpad;

    std::uint32_t crta_offset;
    std::uint32_t size_in_bytes;
    binding_details::LLKMetadata metadata{};
};

template <typename T>
class Scratchpad {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using size_type = std::uint32_t;
    using pointer = CoreLocalMem<T>;
    using const_pointer = CoreLocalMem<const T>;
    using reference = T&;
    using const_reference = const T&;
    using iterator = pointer;

    [[nodiscard]] explicit Scratchpad(const ScratchpadBindingToken& token) noexcept :
        address(get_common_arg_val<std::uint32_t>(token.crta_offset / 4)), bytes(token.size_in_bytes),
        format(static_cast<DataFormat>(token.metadata.format)) {}

    [[nodiscard]] reference operator[](std::uint32_t index) const { return begin()[index]; }
    [[nodiscard]] size_type size() const noexcept { return bytes / sizeof(T); }
    [[nodiscard]] size_type size_in_bytes() const noexcept { return bytes; }
    [[nodiscard]] constexpr DataFormat get_dataformat() const noexcept { return format; }
    [[nodiscard]] std::uint32_t get_base_address() const noexcept { return address; }
    [[nodiscard]] iterator begin() const noexcept { return pointer(static_cast<std::uintptr_t>(address)); }
    [[nodiscard]] iterator end() const noexcept { return begin() + size(); }
    [[nodiscard]] pointer local_mem() const noexcept { return begin(); }
    [[nodiscard]] auto scoped_lock(std::uint32_t, std::uint32_t) const {
        return Lock([] {});
    }

private:
    std::uint32_t address;
    std::uint32_t bytes;
    DataFormat format;
};

#ifndef COMPILE_FOR_TRISC
template <typename T>
struct noc_traits_t<Scratchpad<T>> : ttnn_rs::LocalTraits<Scratchpad<T>, noc_traits_t<Scratchpad<T>>> {
    static std::uint32_t reads(const Scratchpad<T>& pad) { return pad.get_base_address(); }
    static std::uint32_t writes(const Scratchpad<T>& pad) { return pad.get_base_address(); }
};
template <typename T>
inline constexpr bool noc_zero_l1_endpoint_v<Scratchpad<T>> = true;
template <typename T>
inline constexpr bool is_scratchpad_v<Scratchpad<T>> = true;
#endif
