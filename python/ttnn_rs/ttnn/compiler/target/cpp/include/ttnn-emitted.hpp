// What emitted C++ needs of the TT-NN library: its names, without definitions. With it the text of
// `ttmlir-translate --mlir-to-cpp` compiles; to link it, include the library's headers instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace ttnn {

template <typename T> using SmallVector = std::vector<T>;

enum class Layout { ROW_MAJOR, TILE };
enum class DataType { BFLOAT16, FLOAT32, UINT32, BFLOAT8_B, BFLOAT4_B, UINT8, UINT16, INT32 };
enum class TensorMemoryLayout { INTERLEAVED, HEIGHT_SHARDED, WIDTH_SHARDED, BLOCK_SHARDED };
enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class ShardOrientation { ROW_MAJOR, COL_MAJOR };
enum class GeluVariant { Accurate, FastLut, Tanh };
enum class MathFidelity { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4 };

struct CoreCoord {
  CoreCoord(std::size_t x, std::size_t y);
};
struct CoreRange {
  CoreRange(CoreCoord start, CoreCoord end);
};
struct CoreRangeSet {
  CoreRangeSet(std::vector<CoreRange> ranges);
};
struct ShardSpec {
  ShardSpec(CoreRangeSet cores, SmallVector<std::int64_t> shape, ShardOrientation orientation);
};
struct MemoryConfig {
  MemoryConfig(TensorMemoryLayout layout, BufferType buffer, std::optional<ShardSpec> shards = std::nullopt);
};
struct WormholeComputeKernelConfig {
  template <typename... Fields> explicit WormholeComputeKernelConfig(Fields &&...fields);
};
enum class UnaryOpType { EXP, GELU, RELU, RELU6, SIGMOID, SILU, SQRT, TANH };
struct UnaryWithParam {
  template <typename... Numbers> explicit UnaryWithParam(UnaryOpType type, Numbers &&...numbers);
};
struct Conv2dConfig {
  template <typename... Fields> explicit Conv2dConfig(Fields &&...fields);
};
struct Conv3dConfig {
  template <typename... Fields> explicit Conv3dConfig(Fields &&...fields);
};
struct SDPAProgramConfig {
  template <typename... Fields> explicit SDPAProgramConfig(Fields &&...fields);
};
struct MatmulMultiCoreReuseProgramConfig {
  template <typename... Fields> explicit MatmulMultiCoreReuseProgramConfig(Fields &&...fields);
};
struct MatmulMultiCoreReuseMultiCastProgramConfig {
  template <typename... Fields> explicit MatmulMultiCoreReuseMultiCastProgramConfig(Fields &&...fields);
};
struct MatmulMultiCoreReuseMultiCast1DProgramConfig {
  template <typename... Fields> explicit MatmulMultiCoreReuseMultiCast1DProgramConfig(Fields &&...fields);
};
struct MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig {
  template <typename... Fields> explicit MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(Fields &&...fields);
};
class MeshDevice;
struct DeviceGetter {
  static MeshDevice *getInstance();
};
class Tensor {
public:
  static std::int64_t item(const Tensor &tensor);
};

/// The largest elements, with their pixels if these are asked for.
struct Pooled {
  Tensor values, indices;
  operator Tensor() const;
};

template <typename... Arguments> void deallocate(Arguments &&...arguments);
template <typename... Arguments> Tensor abs(Arguments &&...arguments);
template <typename... Arguments> Tensor acos(Arguments &&...arguments);
template <typename... Arguments> Tensor add(Arguments &&...arguments);
template <typename... Arguments> Tensor all_gather(Arguments &&...arguments);
template <typename... Arguments> Tensor arange(Arguments &&...arguments);
template <typename... Arguments> Tensor argmax(Arguments &&...arguments);
template <typename... Arguments> Tensor asin(Arguments &&...arguments);
template <typename... Arguments> Tensor asinh(Arguments &&...arguments);
template <typename... Arguments> Tensor assign(Arguments &&...arguments);
template <typename... Arguments> Tensor atan(Arguments &&...arguments);
template <typename... Arguments> Tensor atan2(Arguments &&...arguments);
template <typename... Arguments> Tensor avg_pool2d(Arguments &&...arguments);
template <typename... Arguments> Tensor batch_norm(Arguments &&...arguments);
template <typename... Arguments> Tensor bitcast(Arguments &&...arguments);
template <typename... Arguments> Tensor bitwise_and(Arguments &&...arguments);
template <typename... Arguments> Tensor bitwise_not(Arguments &&...arguments);
template <typename... Arguments> Tensor bitwise_or(Arguments &&...arguments);
template <typename... Arguments> Tensor bitwise_xor(Arguments &&...arguments);
template <typename... Arguments> Tensor cbrt(Arguments &&...arguments);
template <typename... Arguments> Tensor ceil(Arguments &&...arguments);
template <typename... Arguments> Tensor clamp(Arguments &&...arguments);
template <typename... Arguments> Tensor concat(Arguments &&...arguments);
template <typename... Arguments> Tensor conv1d(Arguments &&...arguments);
template <typename... Arguments> Tensor conv2d(Arguments &&...arguments);
template <typename... Arguments> Tensor conv_transpose2d(Arguments &&...arguments);
template <typename... Arguments> Tensor prepare_conv_bias(Arguments &&...arguments);
template <typename... Arguments> Tensor prepare_conv_transpose2d_bias(Arguments &&...arguments);
template <typename... Arguments> Tensor prepare_conv_transpose2d_weights(Arguments &&...arguments);
template <typename... Arguments> Tensor prepare_conv_weights(Arguments &&...arguments);
template <typename... Arguments> Tensor cos(Arguments &&...arguments);
template <typename... Arguments> Tensor cumprod(Arguments &&...arguments);
template <typename... Arguments> Tensor cumsum(Arguments &&...arguments);
template <typename... Arguments> Tensor dequantize(Arguments &&...arguments);
template <typename... Arguments> Tensor divide(Arguments &&...arguments);
template <typename... Arguments> Tensor embedding(Arguments &&...arguments);
template <typename... Arguments> Tensor embedding_bw(Arguments &&...arguments);
template <typename... Arguments> Tensor eq(Arguments &&...arguments);
template <typename... Arguments> Tensor erf(Arguments &&...arguments);
template <typename... Arguments> Tensor erfc(Arguments &&...arguments);
template <typename... Arguments> Tensor exp(Arguments &&...arguments);
template <typename... Arguments> Tensor expm1(Arguments &&...arguments);
template <typename... Arguments> Tensor fill_cache(Arguments &&...arguments);
template <typename... Arguments> Tensor floor(Arguments &&...arguments);
template <typename... Arguments> Tensor from_buffer(Arguments &&...arguments);
template <typename... Arguments> Tensor from_device(Arguments &&...arguments);
template <typename... Arguments> Tensor full(Arguments &&...arguments);
template <typename... Arguments> Tensor gather(Arguments &&...arguments);
template <typename... Arguments> Tensor ge(Arguments &&...arguments);
template <typename... Arguments> Tensor gelu(Arguments &&...arguments);
template <typename... Arguments> Tensor global_avg_pool2d(Arguments &&...arguments);
template <typename... Arguments> Tensor group_norm(Arguments &&...arguments);
template <typename... Arguments> Tensor gt(Arguments &&...arguments);
template <typename... Arguments> Tensor hardsigmoid(Arguments &&...arguments);
template <typename... Arguments> Tensor isfinite(Arguments &&...arguments);
template <typename... Arguments> Tensor layer_norm(Arguments &&...arguments);
template <typename... Arguments> Tensor le(Arguments &&...arguments);
template <typename... Arguments> Tensor leaky_relu(Arguments &&...arguments);
template <typename... Arguments> Tensor linear(Arguments &&...arguments);
template <typename... Arguments> Tensor log(Arguments &&...arguments);
template <typename... Arguments> Tensor log1p(Arguments &&...arguments);
template <typename... Arguments> Tensor logical_and(Arguments &&...arguments);
template <typename... Arguments> Tensor logical_left_shift(Arguments &&...arguments);
template <typename... Arguments> Tensor logical_not(Arguments &&...arguments);
template <typename... Arguments> Tensor logical_or(Arguments &&...arguments);
template <typename... Arguments> Tensor logical_right_shift(Arguments &&...arguments);
template <typename... Arguments> Tensor logical_xor(Arguments &&...arguments);
template <typename... Arguments> Tensor lt(Arguments &&...arguments);
template <typename... Arguments> Tensor matmul(Arguments &&...arguments);
template <typename... Arguments> Tensor max(Arguments &&...arguments);
template <typename... Arguments> Pooled max_pool2d(Arguments &&...arguments);
template <typename... Arguments> Tensor maximum(Arguments &&...arguments);
template <typename... Arguments> Tensor mean(Arguments &&...arguments);
template <typename... Arguments> Tensor min(Arguments &&...arguments);
template <typename... Arguments> Tensor minimum(Arguments &&...arguments);
template <typename... Arguments> Tensor mish(Arguments &&...arguments);
template <typename... Arguments> Tensor multiply(Arguments &&...arguments);
template <typename... Arguments> Tensor ne(Arguments &&...arguments);
template <typename... Arguments> Tensor neg(Arguments &&...arguments);
template <typename... Arguments> Tensor ones(Arguments &&...arguments);
template <typename... Arguments> Tensor pad(Arguments &&...arguments);
template <typename... Arguments> Tensor permute(Arguments &&...arguments);
template <typename... Arguments> Tensor pow(Arguments &&...arguments);
template <typename... Arguments> Tensor prod(Arguments &&...arguments);
template <typename... Arguments> Tensor quantize(Arguments &&...arguments);
template <typename... Arguments> Tensor rand(Arguments &&...arguments);
template <typename... Arguments> Tensor reciprocal(Arguments &&...arguments);
template <typename... Arguments> Tensor relu(Arguments &&...arguments);
template <typename... Arguments> Tensor relu6(Arguments &&...arguments);
template <typename... Arguments> Tensor remainder(Arguments &&...arguments);
template <typename... Arguments> Tensor repeat(Arguments &&...arguments);
template <typename... Arguments> Tensor repeat_interleave(Arguments &&...arguments);
template <typename... Arguments> Tensor requantize(Arguments &&...arguments);
template <typename... Arguments> Tensor reshape(Arguments &&...arguments);
template <typename... Arguments> Tensor rms_norm(Arguments &&...arguments);
template <typename... Arguments> Tensor rsqrt(Arguments &&...arguments);
template <typename... Arguments> Tensor sampling(Arguments &&...arguments);
template <typename... Arguments> Tensor scatter(Arguments &&...arguments);
template <typename... Arguments> Tensor sigmoid(Arguments &&...arguments);
template <typename... Arguments> Tensor sign(Arguments &&...arguments);
template <typename... Arguments> Tensor silu(Arguments &&...arguments);
template <typename... Arguments> Tensor sin(Arguments &&...arguments);
template <typename... Arguments> Tensor slice(Arguments &&...arguments);
template <typename... Arguments> Tensor softmax(Arguments &&...arguments);
template <typename... Arguments> Tensor sparse_matmul(Arguments &&...arguments);
template <typename... Arguments> Tensor sqrt(Arguments &&...arguments);
template <typename... Arguments> Tensor subtract(Arguments &&...arguments);
template <typename... Arguments> Tensor sum(Arguments &&...arguments);
template <typename... Arguments> Tensor tan(Arguments &&...arguments);
template <typename... Arguments> Tensor tanh(Arguments &&...arguments);
template <typename... Arguments> Tensor to_device(Arguments &&...arguments);
template <typename... Arguments> Tensor to_dtype(Arguments &&...arguments);
template <typename... Arguments> Tensor to_layout(Arguments &&...arguments);
template <typename... Arguments> Tensor to_memory_config(Arguments &&...arguments);
template <typename... Arguments> Tensor transpose(Arguments &&...arguments);
template <typename... Arguments> Tensor typecast(Arguments &&...arguments);
template <typename... Arguments> Tensor update_cache(Arguments &&...arguments);
template <typename... Arguments> Tensor upsample(Arguments &&...arguments);
template <typename... Arguments> Tensor where(Arguments &&...arguments);
template <typename... Arguments> Tensor zeros(Arguments &&...arguments);
template <typename... Arguments> std::vector<Tensor> gelu_bw(Arguments &&...arguments);
template <typename... Arguments> std::tuple<Tensor, Tensor> sort(Arguments &&...arguments);
template <typename... Arguments> std::tuple<Tensor, Tensor> topk(Arguments &&...arguments);

namespace experimental {
template <typename... Arguments> Tensor conv3d(Arguments &&...arguments);
template <typename... Arguments> Tensor dropout(Arguments &&...arguments);
template <typename... Arguments> Tensor nlp_concat_heads(Arguments &&...arguments);
template <typename... Arguments> Tensor nlp_concat_heads_decode(Arguments &&...arguments);
template <typename... Arguments> Tensor paged_fill_cache(Arguments &&...arguments);
template <typename... Arguments> Tensor paged_update_cache(Arguments &&...arguments);
template <typename... Arguments> Tensor prepare_conv3d_weights(Arguments &&...arguments);
template <typename... Arguments> Tensor rotary_embedding(Arguments &&...arguments);
template <typename... Arguments> Tensor rotary_embedding_llama(Arguments &&...arguments);
template <typename... Arguments>
std::tuple<Tensor, Tensor, Tensor> nlp_create_qkv_heads_decode(Arguments &&...arguments);
template <typename... Arguments> std::tuple<Tensor, Tensor> topk_router_gpt(Arguments &&...arguments);
} // namespace experimental

namespace transformer {
template <typename... Arguments> Tensor chunked_scaled_dot_product_attention(Arguments &&...arguments);
template <typename... Arguments> Tensor concatenate_heads(Arguments &&...arguments);
template <typename... Arguments> Tensor flash_mla_prefill(Arguments &&...arguments);
template <typename... Arguments> Tensor paged_flash_multi_latent_attention_decode(Arguments &&...arguments);
template <typename... Arguments> Tensor paged_scaled_dot_product_attention_decode(Arguments &&...arguments);
template <typename... Arguments> Tensor scaled_dot_product_attention(Arguments &&...arguments);
template <typename... Arguments> Tensor scaled_dot_product_attention_decode(Arguments &&...arguments);
template <typename... Arguments>
std::tuple<Tensor, Tensor, Tensor> split_query_key_value_and_split_heads(Arguments &&...arguments);
} // namespace transformer

} // namespace ttnn

/// The vector of some tensors.
template <typename... Tensors> std::vector<ttnn::Tensor> util_create_vec(Tensors &&...tensors);
