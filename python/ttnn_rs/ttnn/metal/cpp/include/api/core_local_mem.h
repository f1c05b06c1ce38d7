// A typed place in this core's L1.
#pragma once

#include "api/lock.h"
#ifndef COMPILE_FOR_TRISC
#include "ttnn_rs/local_traits.h"
#endif

template <typename T, typename AddressType = std::uintptr_t>
class CoreLocalMem {
    using difference_type = std::ptrdiff_t;
    static_assert(std::is_integral_v<AddressType>, "CoreLocalMem: an address is an integer");
    static_assert(std::is_unsigned_v<AddressType>, "CoreLocalMem: an address has no sign");

public:
    CoreLocalMem(AddressType address) : address(address) {}
    CoreLocalMem(T* ptr) : address(reinterpret_cast<AddressType>(ptr)) {}
    CoreLocalMem(const CoreLocalMem&) = default;
    CoreLocalMem& operator=(const CoreLocalMem&) = default;

    tt_l1_ptr T* get_unsafe_ptr() const { return reinterpret_cast<T*>(address); }
    AddressType get_address() const { return address; }
    T& operator[](std::uint32_t index) const { return get_unsafe_ptr()[index]; }
    T& operator*() const { return *get_unsafe_ptr(); }
    tt_l1_ptr T* operator->() const { return get_unsafe_ptr(); }

    CoreLocalMem& operator+=(difference_type offset) {
        address += offset * static_cast<difference_type>(sizeof(T));
        return *this;
    }
    CoreLocalMem& operator-=(difference_type offset) { return *this += -offset; }
    CoreLocalMem& operator++() { return *this += 1; }
    CoreLocalMem& operator--() { return *this -= 1; }
    CoreLocalMem operator++(int) {
        const CoreLocalMem before = *this;
        ++*this;
        return before;
    }
    CoreLocalMem operator--(int) {
        const CoreLocalMem before = *this;
        --*this;
        return before;
    }
    CoreLocalMem operator+(difference_type offset) const { return CoreLocalMem(*this) += offset; }
    CoreLocalMem operator-(difference_type offset) const { return CoreLocalMem(*this) -= offset; }
    difference_type operator-(const CoreLocalMem& other) const {
        return (static_cast<difference_type>(address) - static_cast<difference_type>(other.address)) /
               static_cast<difference_type>(sizeof(T));
    }
    [[nodiscard]] auto scoped_lock([[maybe_unused]] std::size_t num_elements) const {
        return Lock([] {});
    }
    bool operator==(const CoreLocalMem& other) const { return address == other.address; }
    auto operator<=>(const CoreLocalMem& other) const { return address <=> other.address; }
    explicit operator bool() const { return address != 0; }

private:
    AddressType address;
};

#ifndef COMPILE_FOR_TRISC
template <typename T, typename AddressType>
struct noc_traits_t<CoreLocalMem<T, AddressType>>
    : ttnn_rs::LocalTraits<CoreLocalMem<T, AddressType>, noc_traits_t<CoreLocalMem<T, AddressType>>> {
    static std::uint32_t reads(const CoreLocalMem<T, AddressType>& memory) { return memory.get_address(); }
    static std::uint32_t writes(const CoreLocalMem<T, AddressType>& memory) { return memory.get_address(); }
};
template <typename T, typename AddressType>
inline constexpr bool noc_zero_l1_endpoint_v<CoreLocalMem<T, AddressType>> = true;
#endif
