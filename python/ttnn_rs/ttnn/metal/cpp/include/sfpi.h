// Functions of the SFPU that a kernel writes itself: vectors of 32 lanes, conditions per lane, registers of Dst.
//
// A vector is the number of a result that the engine knows. Operations are recorded and run at the next call of another
// kind, so that a product whose only use is a sum becomes one multiply-add, as the device's compiler makes it.
#pragma once

#include "ttnn_rs/vector_calls.h"

#define sfpi_inline FORCE_INLINE

namespace sfpi {

class vFloat;
class vInt;
class vUInt;

// A float of 16 bits that fills a vector.
class sFloat16b {
public:
    FORCE_INLINE explicit sFloat16b(float value) : word_(ttnn_rs::bits(value) & 0xffff0000) {}
    FORCE_INLINE explicit sFloat16b(std::uint32_t bits) : word_(bits << 16) {}
    FORCE_INLINE explicit sFloat16b(std::int32_t bits) : word_(static_cast<std::uint32_t>(bits) << 16) {}
    FORCE_INLINE std::uint32_t word() const { return word_; }

private:
    std::uint32_t word_;
};
class sFloat16a {
public:
    FORCE_INLINE explicit sFloat16a(std::uint32_t bits) : word_(ttnn_rs::float_of_half(bits)) {}
    FORCE_INLINE explicit sFloat16a(std::int32_t bits) : sFloat16a(static_cast<std::uint32_t>(bits)) {}
    FORCE_INLINE std::uint32_t word() const { return word_; }

private:
    std::uint32_t word_;
};
using s2vFloat16a = sFloat16a;
using s2vFloat16b = sFloat16b;

namespace impl_ {

struct Made {
    std::uint32_t id;
};

// What all kinds of vectors share. An assignment changes enabled lanes only.
class vVal {
public:
    vVal() = default;
    vVal(const vVal&) = default;
    FORCE_INLINE explicit vVal(Made made) : id_(made.id) {}
    FORCE_INLINE vVal& operator=(const vVal& other) {
        id_ = id_ == NONE ? other.id_ : tt_call_sfpi_assign(id_, other.id_);
        return *this;
    }
    FORCE_INLINE std::uint32_t id() const { return id_; }
    FORCE_INLINE Made get() const { return {id_}; }

protected:
    static constexpr std::uint32_t NONE = 0xffffffff;
    std::uint32_t id_ = NONE;
};

// A condition of lanes.
class vCond {
public:
    FORCE_INLINE explicit vCond(std::uint32_t mask) : mask_(mask) {}
    FORCE_INLINE vCond(ttnn_rs::Compare compare, const vVal& a, const vVal& b) :
        mask_(tt_call_sfpi_compare(compare, a.id(), b.id())) {}
    FORCE_INLINE std::uint32_t mask() const { return mask_; }

private:
    std::uint32_t mask_;
};
FORCE_INLINE vCond operator&&(vCond a, vCond b) { return vCond(tt_call_sfpi_join(0, a.mask(), b.mask())); }
FORCE_INLINE vCond operator||(vCond a, vCond b) { return vCond(tt_call_sfpi_join(1, a.mask(), b.mask())); }
FORCE_INLINE vCond operator!(vCond a) { return vCond(tt_call_sfpi_join(2, a.mask(), a.mask())); }

FORCE_INLINE Made word(std::uint32_t value) { return {tt_call_sfpi_word(value)}; }
FORCE_INLINE Made unary(ttnn_rs::Unary function, const vVal& a, bool stochastic = false) {
    return {tt_call_sfpi_unary(function, a.id(), stochastic)};
}
FORCE_INLINE Made binary(ttnn_rs::Binary function, const vVal& a, const vVal& b) {
    return {tt_call_sfpi_binary(function, a.id(), b.id())};
}

}  // namespace impl_

class vFloat : public impl_::vVal {
public:
    vFloat() = default;
    vFloat(const vFloat&) = default;
    vFloat& operator=(const vFloat&) = default;
    FORCE_INLINE vFloat(impl_::Made made) : vVal(made) {}
    FORCE_INLINE vFloat(float value) : vVal(impl_::word(ttnn_rs::bits(value))) {}
    template <typename T, std::enable_if_t<std::is_arithmetic_v<T>>* = nullptr>
    FORCE_INLINE vFloat(T value) : vFloat(static_cast<float>(value)) {}
    FORCE_INLINE vFloat(sFloat16a value) : vVal(impl_::word(value.word())) {}
    FORCE_INLINE vFloat(sFloat16b value) : vVal(impl_::word(value.word())) {}

    FORCE_INLINE vFloat operator-() const { return impl_::unary(ttnn_rs::NEGATE, *this); }
    FORCE_INLINE vFloat operator+() const { return *this; }
    FORCE_INLINE vFloat& operator+=(vFloat b);
    FORCE_INLINE vFloat& operator-=(vFloat b);
    FORCE_INLINE vFloat& operator*=(vFloat b);
    FORCE_INLINE vFloat operator++() { return *this += vFloat(1.0f); }
    FORCE_INLINE vFloat operator--() { return *this -= vFloat(1.0f); }
    FORCE_INLINE vFloat operator++(int) {
        vFloat before = *this;
        *this += vFloat(1.0f);
        return before;
    }
    FORCE_INLINE vFloat operator--(int) {
        vFloat before = *this;
        *this -= vFloat(1.0f);
        return before;
    }
};

// Integers: the operators that both kinds have.
#define TTNN_RS_INTEGERS(name, other)                                                                              \
    class name : public impl_::vVal {                                                                              \
    public:                                                                                                        \
        name() = default;                                                                                          \
        name(const name&) = default;                                                                               \
        name& operator=(const name&) = default;                                                                    \
        FORCE_INLINE name(impl_::Made made) : vVal(made) {}                                                        \
        template <typename T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>                                  \
        FORCE_INLINE name(T value) : vVal(impl_::word(static_cast<std::uint32_t>(value))) {}                       \
        FORCE_INLINE name(impl_::vCond condition) :                                                                \
            vVal(impl_::Made{tt_call_sfpi_select(                                                                  \
                condition.mask(), tt_call_sfpi_word(1), tt_call_sfpi_word(0))}) {}                                 \
        FORCE_INLINE name(const other& value);                                                                     \
        FORCE_INLINE name operator-() const { return impl_::binary(ttnn_rs::INTEGER_SUBTRACT, name(0), *this); }   \
        FORCE_INLINE name operator+() const { return *this; }                                                      \
        FORCE_INLINE name operator~() const { return impl_::unary(ttnn_rs::NOT, *this); }                          \
        FORCE_INLINE name& operator+=(name b) { return *this = impl_::binary(ttnn_rs::INTEGER_ADD, *this, b); }    \
        FORCE_INLINE name& operator-=(name b) {                                                                    \
            return *this = impl_::binary(ttnn_rs::INTEGER_SUBTRACT, *this, b);                                     \
        }                                                                                                          \
        FORCE_INLINE name& operator&=(name b) { return *this = impl_::binary(ttnn_rs::AND, *this, b); }            \
        FORCE_INLINE name& operator|=(name b) { return *this = impl_::binary(ttnn_rs::OR, *this, b); }             \
        FORCE_INLINE name& operator^=(name b) { return *this = impl_::binary(ttnn_rs::XOR, *this, b); }            \
        FORCE_INLINE name& operator<<=(name b) { return *this = impl_::binary(ttnn_rs::SHIFT, *this, b); }         \
        FORCE_INLINE name operator++() { return *this += name(1); }                                                \
        FORCE_INLINE name operator--() { return *this -= name(1); }                                                \
        FORCE_INLINE name operator++(int) {                                                                        \
            name before = *this;                                                                                   \
            *this += name(1);                                                                                      \
            return before;                                                                                         \
        }                                                                                                          \
        FORCE_INLINE name operator--(int) {                                                                        \
            name before = *this;                                                                                   \
            *this -= name(1);                                                                                      \
            return before;                                                                                         \
        }                                                                                                          \
    }
TTNN_RS_INTEGERS(vInt, vUInt);
TTNN_RS_INTEGERS(vUInt, vInt);
#undef TTNN_RS_INTEGERS
FORCE_INLINE vInt::vInt(const vUInt& value) : vVal(value.get()) {}
FORCE_INLINE vUInt::vUInt(const vInt& value) : vVal(value.get()) {}

// Registers of Dst: 32 datums each, by number from the tile (or face) at hand on.
namespace impl_ {

class vDReg {
public:
    FORCE_INLINE explicit constexpr vDReg(int index) : address_(2 * index) {}

    FORCE_INLINE operator vFloat() const { return Made{tt_call_sfpi_load(address_, ttnn_rs::FLOAT)}; }
    FORCE_INLINE operator vInt() const { return Made{tt_call_sfpi_load(address_, ttnn_rs::SIGN_MAGNITUDE)}; }
    FORCE_INLINE operator vUInt() const { return Made{tt_call_sfpi_load(address_, ttnn_rs::WORD)}; }

    FORCE_INLINE vFloat operator=(vFloat value) const {
        tt_call_sfpi_store(address_, ttnn_rs::FLOAT, value.id());
        return value;
    }
    FORCE_INLINE vInt operator=(vInt value) const {
        tt_call_sfpi_store(address_, ttnn_rs::SIGN_MAGNITUDE, value.id());
        return value;
    }
    FORCE_INLINE vUInt operator=(vUInt value) const {
        tt_call_sfpi_store(address_, ttnn_rs::WORD, value.id());
        return value;
    }
    FORCE_INLINE vFloat operator=(float value) const { return *this = vFloat(value); }
    FORCE_INLINE vFloat operator=(double value) const { return *this = vFloat(value); }
    FORCE_INLINE vFloat operator=(const vDReg& other) const { return *this = vFloat(other); }
    FORCE_INLINE vFloat operator+=(vFloat value) const;
    FORCE_INLINE vFloat operator-=(vFloat value) const;
    FORCE_INLINE vFloat operator*=(vFloat value) const;
    FORCE_INLINE vFloat operator-() const { return -vFloat(*this); }

private:
    std::int32_t address_;
};

class DstFile {
public:
    FORCE_INLINE constexpr vDReg operator[](int index) const { return vDReg(index); }
    FORCE_INLINE void operator++() const { tt_call_sfpi_advance(2); }
    FORCE_INLINE void operator++(int) const { tt_call_sfpi_advance(2); }
    FORCE_INLINE void operator+=(int registers) const { tt_call_sfpi_advance(2 * registers); }
};

// A register that holds a constant; some can be filled by the kernel.
template <typename V>
class vConst {
public:
    FORCE_INLINE explicit constexpr vConst(ttnn_rs::Constant constant) : constant_(constant) {}
    FORCE_INLINE operator V() const { return Made{tt_call_sfpi_constant(constant_)}; }
    FORCE_INLINE void operator=(V value) const { tt_call_sfpi_program(constant_, value.id()); }
    FORCE_INLINE V operator-() const { return -V(*this); }

private:
    ttnn_rs::Constant constant_;
};

template <typename T>
struct Operand {
    using type = std::conditional_t<std::is_arithmetic_v<T>, float, void>;
};
template <>
struct Operand<vFloat> {
    using type = vFloat;
};
template <>
struct Operand<vDReg> {
    using type = vFloat;
};
template <>
struct Operand<sFloat16a> {
    using type = float;
};
template <>
struct Operand<sFloat16b> {
    using type = float;
};
template <>
struct Operand<vConst<vFloat>> {
    using type = vFloat;
};
// Whether an operator of these two takes vectors of floats: one is a vector, the other may be a number.
template <typename A, typename B>
constexpr bool floats = !std::is_void_v<typename Operand<A>::type> && !std::is_void_v<typename Operand<B>::type> &&
                        (std::is_same_v<typename Operand<A>::type, vFloat> ||
                         std::is_same_v<typename Operand<B>::type, vFloat>);

template <typename V, typename T>
constexpr bool joins = std::is_same_v<T, V> || std::is_same_v<T, vConst<V>>;
template <typename V, typename A, typename B>
constexpr bool integers = (joins<V, A> && (joins<V, B> || std::is_integral_v<B>)) ||
                          (std::is_integral_v<A> && joins<V, B>);
// Mixed signs give unsigned lanes.
template <typename A, typename B>
constexpr bool mixed = (joins<vInt, A> && std::is_same_v<B, vUInt>) || (std::is_same_v<A, vUInt> && joins<vInt, B>);

}  // namespace impl_

constexpr impl_::DstFile dst_reg;

#define TTNN_RS_ARITHMETIC(symbol, call)                                                        \
    template <typename A, typename B, std::enable_if_t<impl_::floats<A, B>>* = nullptr>         \
    FORCE_INLINE vFloat operator symbol(const A& a, const B& b) {                               \
        const vFloat x(a), y(b);                                                                \
        return impl_::Made{call(x.id(), y.id())};                                               \
    }
TTNN_RS_ARITHMETIC(+, tt_call_sfpi_add)
TTNN_RS_ARITHMETIC(-, tt_call_sfpi_subtract)
TTNN_RS_ARITHMETIC(*, tt_call_sfpi_multiply)
#undef TTNN_RS_ARITHMETIC

FORCE_INLINE vFloat& vFloat::operator+=(vFloat b) { return *this = *this + b; }
FORCE_INLINE vFloat& vFloat::operator-=(vFloat b) { return *this = *this - b; }
FORCE_INLINE vFloat& vFloat::operator*=(vFloat b) { return *this = *this * b; }
FORCE_INLINE vFloat impl_::vDReg::operator+=(vFloat value) const { return *this = vFloat(*this) + value; }
FORCE_INLINE vFloat impl_::vDReg::operator-=(vFloat value) const { return *this = vFloat(*this) - value; }
FORCE_INLINE vFloat impl_::vDReg::operator*=(vFloat value) const { return *this = vFloat(*this) * value; }

#define TTNN_RS_INTEGER(V, symbol, function)                                                       \
    template <typename A, typename B, std::enable_if_t<impl_::integers<V, A, B>>* = nullptr>       \
    FORCE_INLINE V operator symbol(const A& a, const B& b) {                                       \
        return impl_::binary(ttnn_rs::function, V(a), V(b));                                       \
    }
#define TTNN_RS_INTEGER_OF_BOTH(symbol, function)                                                  \
    TTNN_RS_INTEGER(vInt, symbol, function)                                                        \
    TTNN_RS_INTEGER(vUInt, symbol, function)                                                       \
    template <typename A, typename B, std::enable_if_t<impl_::mixed<A, B>>* = nullptr>             \
    FORCE_INLINE vUInt operator symbol(const A& a, const B& b) {                                   \
        return impl_::binary(ttnn_rs::function, vUInt(vInt(a)), vUInt(vInt(b)));                   \
    }
TTNN_RS_INTEGER_OF_BOTH(+, INTEGER_ADD)
TTNN_RS_INTEGER_OF_BOTH(-, INTEGER_SUBTRACT)
TTNN_RS_INTEGER_OF_BOTH(&, AND)
TTNN_RS_INTEGER_OF_BOTH(|, OR)
TTNN_RS_INTEGER_OF_BOTH(^, XOR)
TTNN_RS_INTEGER_OF_BOTH(<<, SHIFT)
#undef TTNN_RS_INTEGER_OF_BOTH
#undef TTNN_RS_INTEGER

// This unit shifts right logically, so signed vectors have no such operator.
FORCE_INLINE vUInt operator>>(vUInt a, vUInt count) {
    return impl_::binary(ttnn_rs::SHIFT, a, -count);
}
FORCE_INLINE vUInt operator>>(vUInt a, unsigned count) {
    return impl_::binary(ttnn_rs::SHIFT, a, vInt(-static_cast<int>(count)));
}
FORCE_INLINE vUInt operator>>(vUInt a, int count) { return a >> static_cast<unsigned>(count); }
FORCE_INLINE vUInt& operator>>=(vUInt& a, unsigned count) { return a = a >> count; }
FORCE_INLINE vUInt& operator>>=(vUInt& a, vUInt count) { return a = a >> count; }

#define TTNN_RS_COMPARE(symbol, of_floats, of_signed, of_unsigned)                                         \
    template <typename A, typename B, std::enable_if_t<impl_::floats<A, B>>* = nullptr>                    \
    FORCE_INLINE impl_::vCond operator symbol(const A& a, const B& b) {                                    \
        return impl_::vCond(ttnn_rs::of_floats, vFloat(a), vFloat(b));                                     \
    }                                                                                                      \
    template <typename A, typename B, std::enable_if_t<impl_::integers<vInt, A, B>>* = nullptr>            \
    FORCE_INLINE impl_::vCond operator symbol(const A& a, const B& b) {                                    \
        return impl_::vCond(ttnn_rs::of_signed, vInt(a), vInt(b));                                         \
    }                                                                                                      \
    template <typename A, typename B, std::enable_if_t<impl_::integers<vUInt, A, B>>* = nullptr>           \
    FORCE_INLINE impl_::vCond operator symbol(const A& a, const B& b) {                                    \
        return impl_::vCond(ttnn_rs::of_unsigned, vUInt(a), vUInt(b));                                     \
    }                                                                                                      \
    template <typename A, typename B, std::enable_if_t<impl_::mixed<A, B>>* = nullptr>                     \
    FORCE_INLINE impl_::vCond operator symbol(const A& a, const B& b) {                                    \
        return impl_::vCond(ttnn_rs::of_signed, vInt(a), vInt(b));                                         \
    }
TTNN_RS_COMPARE(<, LESS, INTEGER_LESS, UNSIGNED_LESS)
TTNN_RS_COMPARE(>, GREATER, INTEGER_GREATER, UNSIGNED_GREATER)
TTNN_RS_COMPARE(<=, LESS_EQUAL, INTEGER_LESS_EQUAL, UNSIGNED_LESS_EQUAL)
TTNN_RS_COMPARE(>=, GREATER_EQUAL, INTEGER_GREATER_EQUAL, UNSIGNED_GREATER_EQUAL)
TTNN_RS_COMPARE(==, EQUAL, INTEGER_EQUAL, INTEGER_EQUAL)
TTNN_RS_COMPARE(!=, NOT_EQUAL, INTEGER_NOT_EQUAL, INTEGER_NOT_EQUAL)
#undef TTNN_RS_COMPARE
FORCE_INLINE impl_::vCond operator!(vInt a) { return a == 0; }
FORCE_INLINE impl_::vCond operator!(vUInt a) { return a == 0; }

// Numbers of lanes have no sign.
FORCE_INLINE vUInt operator>>(const impl_::vConst<vInt>& a, unsigned count) { return vUInt(vInt(a)) >> count; }
FORCE_INLINE vUInt operator>>(const impl_::vConst<vInt>& a, int count) { return vUInt(vInt(a)) >> count; }

// Constants.
constexpr impl_::vConst<vFloat> vConst0p8373(ttnn_rs::CLOSE);
constexpr impl_::vConst<vFloat> vConst0(ttnn_rs::ZERO);
constexpr impl_::vConst<vFloat> vConst1(ttnn_rs::ONE);
constexpr impl_::vConst<vFloat> vConstNeg1(ttnn_rs::PROGRAM_0);
constexpr impl_::vConst<vFloat> vConstFloatPrgm0(ttnn_rs::PROGRAM_1);
constexpr impl_::vConst<vFloat> vConstFloatPrgm1(ttnn_rs::PROGRAM_2);
constexpr impl_::vConst<vFloat> vConstFloatPrgm2(ttnn_rs::PROGRAM_3);
constexpr impl_::vConst<vInt> vConstTileId(ttnn_rs::LANE_NUMBER);
constexpr impl_::vConst<vInt> vConstIntPrgm0(ttnn_rs::PROGRAM_1);
constexpr impl_::vConst<vInt> vConstIntPrgm1(ttnn_rs::PROGRAM_2);
constexpr impl_::vConst<vInt> vConstIntPrgm2(ttnn_rs::PROGRAM_3);

// Lane registers by number: what a function gets and gives in them.
enum class LRegs : std::uint8_t { LReg0, LReg1, LReg2, LReg3, LReg4, LReg5, LReg6, LReg7, LRegCount };

namespace impl_ {

inline std::uint32_t lane_registers[8];

class vLReg {
public:
    FORCE_INLINE explicit constexpr vLReg(LRegs number) : number_(static_cast<unsigned>(number)) {}
    FORCE_INLINE operator vFloat() const { return Made{lane_registers[number_]}; }
    FORCE_INLINE operator vInt() const { return Made{lane_registers[number_]}; }
    FORCE_INLINE operator vUInt() const { return Made{lane_registers[number_]}; }
    FORCE_INLINE void operator=(const vVal& value) const { lane_registers[number_] = value.id(); }

private:
    unsigned number_;
};

class LaneFile {
public:
    FORCE_INLINE constexpr vLReg operator[](LRegs number) const { return vLReg(number); }
};

// The condition that a scope is under.
class Condition {
public:
    FORCE_INLINE Condition() { begin(); }
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    FORCE_INLINE ~Condition() {
        for (unsigned i = 0; i < depth_; ++i) {
            tt_call_sfpi_end();
        }
    }
    FORCE_INLINE void begin() {
        ++depth_;
        tt_call_sfpi_begin();
    }
    FORCE_INLINE void narrow(vCond condition) { tt_call_sfpi_narrow(condition.mask()); }
    FORCE_INLINE void otherwise() { tt_call_sfpi_otherwise(); }

private:
    unsigned depth_ = 0;
};

}  // namespace impl_

constexpr impl_::LaneFile l_reg;

#define v_if(condition)                           \
    {                                             \
        ::sfpi::impl_::Condition ttnn_rs_lanes;   \
        ttnn_rs_lanes.narrow(condition);          \
        {
#define v_elseif(condition)           \
    }                                 \
    ttnn_rs_lanes.otherwise();        \
    ttnn_rs_lanes.begin();            \
    ttnn_rs_lanes.narrow(condition);  \
    {
#define v_else                    \
    }                             \
    ttnn_rs_lanes.otherwise();    \
    {
#define v_endif \
    }           \
    }
#define v_block                                  \
    {                                            \
        ::sfpi::impl_::Condition ttnn_rs_lanes;
#define v_and(condition) ttnn_rs_lanes.narrow(condition)
#define v_endblock }

}  // namespace sfpi

#include "ttnn_rs/vector_functions.h"
