"""Enumerations that name operators and their variants.

Names and numbers are those of ttnn 0.81.1; files and reports store the numbers.
"""

from __future__ import annotations

from ttnn.base.vendor_enum import VendorEnum


class BcastOpDim(VendorEnum):
    """The dimensions that the old broadcast operators repeat."""

    H = 0
    W = 1
    HW = 2


class BcastOpMath(VendorEnum):
    """Arithmetic of the old broadcast operators."""

    ADD = 0
    SUB = 1
    MUL = 2


class BinaryOpType(VendorEnum):
    """Operators on two tensors."""

    ADD = 0
    SUB = 1
    MUL = 2
    GT = 3
    LT = 4
    LE = 5
    GE = 6
    EQ = 7
    NE = 8
    SQUARED_DIFFERENCE = 9
    BIAS_GELU = 10
    LOGADDEXP = 11
    LOGICAL_AND = 12
    LOGICAL_OR = 13
    LOGICAL_XOR = 14
    LDEXP = 15
    LOGADDEXP2 = 16
    DIV = 17
    DIV_FLOOR = 18
    DIV_TRUNC = 19
    REMAINDER = 20
    FMOD = 21
    RSUB = 22
    POWER = 23
    BITWISE_XOR = 24
    BITWISE_AND = 25
    BITWISE_OR = 26
    LEFT_SHIFT = 27
    RIGHT_SHIFT = 28
    LOGICAL_RIGHT_SHIFT = 29
    QUANT = 30
    REQUANT = 31
    DEQUANT = 32
    MAXIMUM = 33
    MINIMUM = 34
    GCD = 35
    LCM = 36
    ADDALPHA = 37
    SUBALPHA = 38
    XLOGY = 39
    HYPOT = 40
    ATAN2 = 41
    NEXTAFTER = 42
    WHERE_TST = 43
    WHERE_TTS = 44
    ISCLOSE = 45
    SITU_GLU = 46


class EmbeddingsType(VendorEnum):
    """The special indices of an embedding."""

    GENERIC = 0
    PADDED = 1
    BINARY = 2


class GeluVariant(VendorEnum):
    """The GELU variant."""

    Accurate = 0
    FastLut = 1
    Tanh = 2


class LayerNormType(VendorEnum):
    """Layer norm or RMS norm."""

    LAYERNORM = 0
    RMSNORM = 1


class DistributedLayerNormStage(VendorEnum):
    """Stage of a layer norm that is spread over chips."""

    NOT_DISTRIBUTED = 0
    PRE_ALL_GATHER = 1
    POST_ALL_GATHER = 2


class LossReductionMode(VendorEnum):
    """The reduction of a loss."""

    NONE = 0
    MEAN = 1
    SUM = 2


class MorehSoftmaxOp(VendorEnum):
    """The Moreh softmax function."""

    SOFTMAX = 0
    SOFTMIN = 1
    LOGSOFTMAX = 2


class MorehSoftmaxOpParallelizationStrategy(VendorEnum):
    """The parallelization and order of sums of a Moreh softmax."""

    NONE = 0
    SMALL_W = 1
    SMALL_H = 2
    LARGE_W = 3
    LARGE_H = 4
    LARGE_C = 5


class MorehSoftmaxBackwardOp(VendorEnum):
    """The Moreh softmax function whose gradient is computed."""

    SOFTMAX = 0
    SOFTMIN = 1
    LOGSOFTMAX = 2


class MorehSoftmaxBackwardOpParallelizationStrategy(VendorEnum):
    """The parallelization and order of sums of a Moreh softmax gradient."""

    NONE = 0
    SMALL_W = 1
    SMALL_H = 2
    LARGE_W = 3
    LARGE_H = 4
    LARGE_C = 5


class PaddingMode(VendorEnum):
    """The content of a convolution's border."""

    Zeros = 0
    Replicate = 1


class ReduceType(VendorEnum):
    """Operators that reduce dimensions."""

    Sum = 0
    Mean = 1
    Max = 2
    Min = 3
    Std = 4
    Var = 5
    Prod = 6


class SigmoidMode(VendorEnum):
    """The sigmoid variant."""

    Accurate = 2
    AccurateWithFastExp = 1
    FastApproximate = 0


class UnaryOpType(VendorEnum):
    """Operators on one tensor, as fused activations name them."""

    EXP = 0
    RECIP = 1
    GELU = 2
    GELU_TANH = 3
    RELU = 4
    SQRT = 5
    SIGMOID = 6
    LOG = 7
    LOG1P = 8
    TANH = 9
    LOG2 = 10
    LOG10 = 11
    SIN = 12
    COS = 13
    COSH = 14
    SINH = 15
    ABS = 16
    ABS_INT32 = 17
    SIGN = 18
    SQUARE = 19
    EQZ = 20
    NEZ = 21
    GTZ = 22
    LTZ = 23
    GEZ = 24
    LEZ = 25
    RELU_MAX = 26
    RELU_MIN = 27
    POWER = 28
    POWER_ITERATIVE = 29
    LEAKY_RELU = 30
    ELU = 31
    EXP2 = 32
    HEAVISIDE = 33
    EXPM1 = 34
    SIGNBIT = 35
    ASIN = 36
    ACOS = 37
    ACOSH = 38
    RSQRT = 39
    RELU6 = 40
    ATAN = 41
    ASINH = 42
    ATANH = 43
    ERF = 44
    ERFC = 45
    ISINF = 46
    ISPOSINF = 47
    ISNEGINF = 48
    ISNAN = 49
    LOGICAL_NOT_UNARY = 50
    ISFINITE = 51
    ERFINV = 52
    I0 = 53
    I1 = 54
    TAN = 55
    RSUB = 56
    RDIV = 57
    SILU = 58
    SOFTPLUS = 59
    IDENTITY = 60
    NEG = 61
    ADD_UNARY_SFPU = 62
    SUB_UNARY_SFPU = 63
    MUL_UNARY_SFPU = 64
    DIV_UNARY_SFPU = 65
    UNARY_NE = 66
    UNARY_EQ = 67
    UNARY_GT = 68
    UNARY_LT = 69
    UNARY_GE = 70
    UNARY_LE = 71
    TILED_PROD = 72
    TYPECAST = 73
    BITCAST = 74
    BITWISE_XOR = 75
    BITWISE_NOT = 76
    BITWISE_AND = 77
    BITWISE_OR = 78
    RIGHT_SHIFT = 79
    FLOOR = 80
    CEIL = 81
    TRUNC = 82
    FRAC = 83
    ROUND = 84
    LEFT_SHIFT = 85
    REMAINDER = 86
    FMOD = 87
    DROPOUT = 88
    FILL = 89
    PRELU_SFPU = 90
    ZERO_POINT = 91
    ALT_COMPLEX_ROTATE90 = 92
    MISH = 93
    HARDMISH = 94
    MAXIMUM = 95
    MINIMUM = 96
    TANHSHRINK = 97
    THRESHOLD = 98
    SOFTSHRINK = 99
    HARDSHRINK = 100
    HARDTANH = 101
    HARDSIGMOID = 102
    HARDSWISH = 103
    WHERE_TSS = 104
    MAC_TSS = 105
    SOFTSIGN = 106
    CELU = 107
    CLAMP_TSS = 108
    SELU = 109
    RPOW = 110
    CBRT = 111
    LOGSIGMOID = 112
    LOGIT = 113
    XIELU = 114
    LGAMMA = 115
    DIGAMMA = 116
    POLYGAMMA = 117
    SOFTCAP = 118
