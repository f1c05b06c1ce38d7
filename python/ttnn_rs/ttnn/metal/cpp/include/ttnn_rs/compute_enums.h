// Enumerations of the compute API.
#pragma once

#include "ttnn_rs/base.h"

namespace ckernel {

enum class VectorMode : std::uint8_t { None = 0, R = 1, C = 2, RC = 4, RC_custom = 6, Invalid = 0xFF };
enum class ReduceDim : std::uint8_t { REDUCE_ROW, REDUCE_COL, REDUCE_SCALAR };
using enum ReduceDim;
enum class PoolType : std::uint8_t { SUM, AVG, MAX, MIN };
enum class DataCopyType : std::uint8_t { A2D, B2D };
using enum DataCopyType;
enum class EltwiseBinaryType : std::uint8_t { ELWMUL, ELWDIV, ELWADD, ELWSUB, ELWLESS };
using enum EltwiseBinaryType;
enum class EltwiseBinaryReuseDestType { NONE = 0, DEST_TO_SRCA = 1, DEST_TO_SRCB = 2 };
enum class DstSync : std::uint8_t { SyncHalf = 0, SyncFull = 1 };
using enum DstSync;
enum class BroadcastType : std::uint8_t { NONE = 0, COL = 1, ROW = 2, SCALAR = 3 };
using enum BroadcastType;
enum class Transpose : std::uint8_t { None = 0, IntraFace = 1, InterFace = 2, Both = 3 };
enum class MathFidelity : std::uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };
enum class SrcOrder : std::uint8_t { Regular = 0, Reverse = 1 };
enum class DataLayout { TILE = 0, ROW_MAJOR = 1 };
enum class RoundingMode : std::uint8_t { None = 0, Trunc = 1, Floor = 2 };
enum class DstRoundingMode : std::uint8_t { Default = 0, NearestEven = 1 };
enum class InputClamping : std::uint8_t { None = 0, ClampToNegative = 1 };
enum class RsqrtMode { Default, Fast };
enum class ReciprocalDestAcc { BF16, FP32 };
enum class ReciprocalApproxMode { Default, Precise, Approximate };
enum class TopkTieOrder : std::uint8_t { Unset, Ascending, Descending };
enum class WelfordInitMode { ClearStats, PreserveStats };
enum class TwoPassAccumulation : std::uint8_t { ShiftedSum, CentredM2 };
enum class TwoPassAnchor : std::uint8_t { Reuse, Initialise };
enum class ActivationType { Celu, Elu, Gelu, Hardtanh, Hardsigmoid };
enum class StochRndType : std::uint8_t { None = 0, Fpu = 1, Pack = 2, All = 0xF };

enum class ReluType : std::uint8_t { NO_RELU = 0, ZERO_RELU, MIN_THRESHOLD_RELU, MAX_THRESHOLD_RELU };

// Clipping of the packer: a mode and the upper half of a float32.
struct ReluConfig {
    ReluType mode = ReluType::NO_RELU;
    std::uint32_t threshold = 0;

    static constexpr ReluConfig none() { return {ReluType::NO_RELU}; }
    static constexpr ReluConfig zero() { return {ReluType::ZERO_RELU}; }
    static constexpr ReluConfig min_threshold(std::uint32_t t) { return {ReluType::MIN_THRESHOLD_RELU, t}; }
    static constexpr ReluConfig max_threshold(std::uint32_t t) { return {ReluType::MAX_THRESHOLD_RELU, t}; }
    static constexpr ReluConfig from_packed(std::uint32_t packed) {
        return {static_cast<ReluType>(packed & 3), packed >> 16};
    }
    constexpr ReluType get_mode() const { return mode; }
    constexpr std::uint32_t get_threshold() const { return threshold; }
};

// Rows and faces of a tile.
struct TensorShape {
    std::uint8_t face_r_dim = 16;
    std::uint8_t face_c_dim = 16;
    std::uint8_t num_faces_r_dim = 2;
    std::uint8_t num_faces_c_dim = 2;
    constexpr std::uint32_t total_num_faces() const { return num_faces_r_dim * num_faces_c_dim; }
    constexpr std::uint32_t total_row_dim() const { return face_r_dim * num_faces_r_dim; }
    constexpr std::uint32_t total_col_dim() const { return face_c_dim * num_faces_c_dim; }
    constexpr std::uint32_t total_tensor_size() const { return total_row_dim() * total_col_dim(); }
};

struct p_sfpu {
    static constexpr std::uint32_t kCONST_1_FP16B = 0x3F80;
};

constexpr std::uint32_t TILE_R_DIM = 32;
constexpr std::uint32_t TILE_C_DIM = 32;
constexpr std::uint32_t FACE_R_DIM = 16;
constexpr std::uint32_t FACE_C_DIM = 16;
#ifdef COMPILE_FOR_TRISC
// Kernels of data movement take these from tt::constants.
constexpr std::uint32_t TILE_HEIGHT = TILE_R_DIM;
constexpr std::uint32_t TILE_WIDTH = TILE_C_DIM;
constexpr std::uint32_t FACE_HEIGHT = FACE_R_DIM;
constexpr std::uint32_t FACE_WIDTH = FACE_C_DIM;
constexpr std::uint32_t TILE_NUM_FACES = 4;
#endif

}  // namespace ckernel

using namespace ckernel;

// Before they were scoped, modes were integers: functions take both.
namespace ttnn_rs {
struct Faces {
    std::uint32_t mode;
    constexpr Faces(ckernel::VectorMode mode) : mode(static_cast<std::uint32_t>(mode)) {}
    constexpr Faces(int mode) : mode(mode) {}
};
}  // namespace ttnn_rs
