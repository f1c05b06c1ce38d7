// What is linked to every kernel: variables that the engine fills, the start, and functions that the compiler calls.
#include "ttnn_rs/calls.h"

extern "C" {

tt_word cb_interface[32][8] __attribute__((aligned(32)));
std::uint8_t my_x[2];
std::uint8_t my_y[2];
std::uint8_t my_logical_x_;
std::uint8_t my_logical_y_;
std::uint8_t my_relative_x_;
std::uint8_t my_relative_y_;

extern void (*const __init_array_start[])();
extern void (*const __init_array_end[])();
void tt_entry();
// Tiles that the unpacker brought and math took, in kernels that call the two one by one.
struct Unpacked {
    tt_word brought, taken;
};
extern __attribute__((weak)) const Unpacked tt_unpacked;

// Takes no time: it stands for what the firmware does before and after a kernel.
[[noreturn]] __attribute__((section(".tt_calls.start"), used)) void _start() {
    for (auto constructor = __init_array_start; constructor != __init_array_end; ++constructor) {
        (*constructor)();
    }
    tt_entry();
    if (&tt_unpacked != nullptr && tt_unpacked.brought != tt_unpacked.taken) {
        tt_call_invalid(
            "llk_unpack_A", "math takes fewer tiles than the unpacker has brought, which would wait for it for ever");
    }
    tt_call_finish();
}

// Whole words where both ends lie on words, as a card's library has it.
void* memcpy(void* target, const void* source, std::size_t size) {
    auto* to = static_cast<std::uint8_t*>(target);
    auto* from = static_cast<const std::uint8_t*>(source);
    if (((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 3) == 0) {
        for (; size >= 4; size -= 4, to += 4, from += 4) {
            *reinterpret_cast<tt_word*>(to) = *reinterpret_cast<const tt_word*>(from);
        }
    }
    for (; size > 0; --size) {
        *to++ = *from++;
    }
    return target;
}

void* memmove(void* target, const void* source, std::size_t size) {
    auto* to = static_cast<std::uint8_t*>(target);
    auto* from = static_cast<const std::uint8_t*>(source);
    if (to <= from || to >= from + size) {
        return memcpy(target, source, size);
    }
    while (size-- > 0) {
        to[size] = from[size];
    }
    return target;
}

void* memset(void* target, int value, std::size_t size) {
    auto* to = static_cast<std::uint8_t*>(target);
    const tt_word word = static_cast<std::uint8_t>(value) * 0x01010101u;
    for (; size > 0 && (reinterpret_cast<std::uintptr_t>(to) & 3) != 0; --size) {
        *to++ = static_cast<std::uint8_t>(value);
    }
    for (; size >= 4; size -= 4, to += 4) {
        *reinterpret_cast<tt_word*>(to) = word;
    }
    for (; size > 0; --size) {
        *to++ = static_cast<std::uint8_t>(value);
    }
    return target;
}

int memcmp(const void* one, const void* other, std::size_t size) {
    auto* a = static_cast<const std::uint8_t*>(one);
    auto* b = static_cast<const std::uint8_t*>(other);
    for (; size > 0; --size, ++a, ++b) {
        if (*a != *b) {
            return *a - *b;
        }
    }
    return 0;
}

// What the compiler makes of a comparison with zero.
int bcmp(const void* one, const void* other, std::size_t size) { return memcmp(one, other, size); }

// What std::find is made of, for bytes and for words.
void* memchr(const void* data, int value, std::size_t size) {
    for (auto* at = static_cast<const std::uint8_t*>(data); size > 0; --size, ++at) {
        if (*at == static_cast<std::uint8_t>(value)) {
            return const_cast<std::uint8_t*>(at);
        }
    }
    return nullptr;
}

wchar_t* wmemchr(const wchar_t* words, wchar_t value, std::size_t count) {
    for (; count > 0; --count, ++words) {
        if (*words == value) {
            return const_cast<wchar_t*>(words);
        }
    }
    return nullptr;
}

std::size_t strlen(const char* text) {
    std::size_t length = 0;
    while (text[length] != 0) {
        ++length;
    }
    return length;
}

// What libc++ calls where the host would end the process.
[[noreturn]] void abort() { tt_call_invalid("abort", "it was called"); }
[[noreturn]] void __cxa_pure_virtual() { tt_call_invalid("virtual", "a pure virtual function was called"); }
int atexit(void (*)()) { return 0; }
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
void* __dso_handle = nullptr;

}  // extern "C"
