"""Every element-wise operator of the tables, by name."""

from ttnn.ops.eltwise.binary import compositions as _compositions
from ttnn.ops.eltwise.binary import integers as _integers
from ttnn.ops.eltwise.binary import other as _other
from ttnn.ops.eltwise.binary import quotients as _quotients
from ttnn.ops.eltwise.binary import table as _pairs
from ttnn.ops.eltwise.binary.arithmetic import rsub_ as rsub_
from ttnn.ops.eltwise.binary.arithmetic import squared_difference as squared_difference
from ttnn.ops.eltwise.binary.arithmetic import squared_difference_ as squared_difference_
from ttnn.ops.eltwise.binary.compositions import outer as outer
from ttnn.ops.eltwise.binary.compositions import prelu as prelu
from ttnn.ops.eltwise.binary.glu import clamped_silu_glu as clamped_silu_glu
from ttnn.ops.eltwise.binary.glu import situ_glu as situ_glu
from ttnn.ops.eltwise.binary.power import polyval as polyval
from ttnn.ops.eltwise.binary.power import pow as pow
from ttnn.ops.eltwise.binary.quotients import rdiv as rdiv
from ttnn.ops.eltwise.ternary.functions import addcdiv as addcdiv
from ttnn.ops.eltwise.ternary.functions import addcmul as addcmul
from ttnn.ops.eltwise.ternary.functions import lerp as lerp
from ttnn.ops.eltwise.ternary.functions import mac as mac
from ttnn.ops.eltwise.ternary.functions import where as where
from ttnn.ops.eltwise.unary import activations as _activations
from ttnn.ops.eltwise.unary import math as _math
from ttnn.ops.eltwise.unary import predicates as _tests
from ttnn.ops.eltwise.unary.bits import bitwise_not as bitwise_not
from ttnn.ops.eltwise.unary.bits import fill as fill
from ttnn.ops.eltwise.unary.chain import unary_chain as unary_chain
from ttnn.ops.eltwise.unary.clamp import clamp as clamp
from ttnn.ops.eltwise.unary.clamp import clip as clip
from ttnn.ops.eltwise.unary.composites import deg2rad as deg2rad
from ttnn.ops.eltwise.unary.composites import hardswish as hardswish
from ttnn.ops.eltwise.unary.composites import lgamma as lgamma
from ttnn.ops.eltwise.unary.composites import log_sigmoid as log_sigmoid
from ttnn.ops.eltwise.unary.composites import logit as logit
from ttnn.ops.eltwise.unary.composites import multigammaln as multigammaln
from ttnn.ops.eltwise.unary.composites import polygamma as polygamma
from ttnn.ops.eltwise.unary.composites import rad2deg as rad2deg
from ttnn.ops.eltwise.unary.glu import geglu as geglu
from ttnn.ops.eltwise.unary.glu import glu as glu
from ttnn.ops.eltwise.unary.glu import reglu as reglu
from ttnn.ops.eltwise.unary.glu import swiglu as swiglu
from ttnn.ops.eltwise.unary.predicates import logical_not_ as logical_not_
from ttnn.ops.eltwise.unary.rotation import alt_complex_rotate90 as alt_complex_rotate90
from ttnn.ops.eltwise.unary.signatures import gelu as gelu
from ttnn.ops.eltwise.unary.signatures import sigmoid as sigmoid
from ttnn.ops.eltwise.unary.signatures import sigmoid_accurate as sigmoid_accurate
from ttnn.ops.eltwise.unary.signatures import square as square
from ttnn.ops.eltwise.unary.signatures import tanh as tanh
from ttnn.ops.eltwise.unary.softcap import softcap as softcap
from ttnn.ops.eltwise.unary.triangle import tril as tril
from ttnn.ops.eltwise.unary.triangle import triu as triu
from ttnn.ops.losses.functions import l1_loss as l1_loss
from ttnn.ops.losses.functions import mse_loss as mse_loss

acos = _math.OPERATORS["acos"]
acosh = _math.OPERATORS["acosh"]
asin = _math.OPERATORS["asin"]
asinh = _math.OPERATORS["asinh"]
atan = _math.OPERATORS["atan"]
atanh = _math.OPERATORS["atanh"]
cbrt = _math.OPERATORS["cbrt"]
cos = _math.OPERATORS["cos"]
cosh = _math.OPERATORS["cosh"]
digamma = _math.OPERATORS["digamma"]
erf = _math.OPERATORS["erf"]
erfc = _math.OPERATORS["erfc"]
erfinv = _math.OPERATORS["erfinv"]
exp2 = _math.OPERATORS["exp2"]
expm1 = _math.OPERATORS["expm1"]
i0 = _math.OPERATORS["i0"]
i1 = _math.OPERATORS["i1"]
log = _math.OPERATORS["log"]
log10 = _math.OPERATORS["log10"]
log1p = _math.OPERATORS["log1p"]
log2 = _math.OPERATORS["log2"]
reciprocal = _math.OPERATORS["reciprocal"]
rsqrt = _math.OPERATORS["rsqrt"]
sin = _math.OPERATORS["sin"]
sinh = _math.OPERATORS["sinh"]
sqrt = _math.OPERATORS["sqrt"]
tan = _math.OPERATORS["tan"]
rpow = _math.OPERATORS["rpow"]
abs = _math.OPERATORS["abs"]
neg = _math.OPERATORS["neg"]
sign = _math.OPERATORS["sign"]
ceil = _math.OPERATORS["ceil"]
floor = _math.OPERATORS["floor"]
trunc = _math.OPERATORS["trunc"]
frac = _math.OPERATORS["frac"]
round = _math.OPERATORS["round"]
gtz = _tests.OPERATORS["gtz"]
ltz = _tests.OPERATORS["ltz"]
gez = _tests.OPERATORS["gez"]
lez = _tests.OPERATORS["lez"]
eqz = _tests.OPERATORS["eqz"]
nez = _tests.OPERATORS["nez"]
logical_not = _tests.OPERATORS["logical_not"]
signbit = _tests.OPERATORS["signbit"]
isfinite = _tests.OPERATORS["isfinite"]
isinf = _tests.OPERATORS["isinf"]
isnan = _tests.OPERATORS["isnan"]
isneginf = _tests.OPERATORS["isneginf"]
isposinf = _tests.OPERATORS["isposinf"]
celu = _activations.OPERATORS["celu"]
elu = _activations.OPERATORS["elu"]
hardmish = _activations.OPERATORS["hardmish"]
hardshrink = _activations.OPERATORS["hardshrink"]
hardsigmoid = _activations.OPERATORS["hardsigmoid"]
hardtanh = _activations.OPERATORS["hardtanh"]
heaviside = _activations.OPERATORS["heaviside"]
leaky_relu = _activations.OPERATORS["leaky_relu"]
mish = _activations.OPERATORS["mish"]
relu6 = _activations.OPERATORS["relu6"]
relu_max = _activations.OPERATORS["relu_max"]
relu_min = _activations.OPERATORS["relu_min"]
selu = _activations.OPERATORS["selu"]
silu = _activations.OPERATORS["silu"]
softplus = _activations.OPERATORS["softplus"]
softshrink = _activations.OPERATORS["softshrink"]
softsign = _activations.OPERATORS["softsign"]
swish = _activations.OPERATORS["swish"]
tanhshrink = _activations.OPERATORS["tanhshrink"]
threshold = _activations.OPERATORS["threshold"]
xielu = _activations.OPERATORS["xielu"]
eq = _pairs.OPERATORS["eq"]
eq_ = _pairs.OPERATORS["eq_"]
ne = _pairs.OPERATORS["ne"]
ne_ = _pairs.OPERATORS["ne_"]
lt = _pairs.OPERATORS["lt"]
lt_ = _pairs.OPERATORS["lt_"]
le = _pairs.OPERATORS["le"]
le_ = _pairs.OPERATORS["le_"]
gt = _pairs.OPERATORS["gt"]
gt_ = _pairs.OPERATORS["gt_"]
ge = _pairs.OPERATORS["ge"]
ge_ = _pairs.OPERATORS["ge_"]
logical_and = _pairs.OPERATORS["logical_and"]
logical_and_ = _pairs.OPERATORS["logical_and_"]
logical_or = _pairs.OPERATORS["logical_or"]
logical_or_ = _pairs.OPERATORS["logical_or_"]
logical_xor = _pairs.OPERATORS["logical_xor"]
logical_xor_ = _pairs.OPERATORS["logical_xor_"]
xlogy = _pairs.OPERATORS["xlogy"]
logaddexp = _pairs.OPERATORS["logaddexp"]
logaddexp_ = _pairs.OPERATORS["logaddexp_"]
logaddexp2 = _pairs.OPERATORS["logaddexp2"]
logaddexp2_ = _pairs.OPERATORS["logaddexp2_"]
ldexp = _pairs.OPERATORS["ldexp"]
ldexp_ = _pairs.OPERATORS["ldexp_"]
atan2 = _pairs.OPERATORS["atan2"]
hypot = _pairs.OPERATORS["hypot"]
nextafter = _pairs.OPERATORS["nextafter"]
bitwise_and = _integers.OPERATORS["bitwise_and"]
bitwise_or = _integers.OPERATORS["bitwise_or"]
bitwise_xor = _integers.OPERATORS["bitwise_xor"]
bitwise_left_shift = _integers.OPERATORS["bitwise_left_shift"]
logical_left_shift = _integers.OPERATORS["logical_left_shift"]
bitwise_right_shift = _integers.OPERATORS["bitwise_right_shift"]
logical_right_shift = _integers.OPERATORS["logical_right_shift"]
maximum = _integers.OPERATORS["maximum"]
minimum = _integers.OPERATORS["minimum"]
gcd = _integers.OPERATORS["gcd"]
lcm = _integers.OPERATORS["lcm"]
div = _quotients.OPERATORS["div"]
divide_ = _quotients.OPERATORS["divide_"]
fmod = _quotients.OPERATORS["fmod"]
remainder = _quotients.OPERATORS["remainder"]
divide = div
div_ = divide_
isclose = _other.OPERATORS["isclose"]
addalpha = _other.OPERATORS["addalpha"]
subalpha = _other.OPERATORS["subalpha"]
bias_gelu = _other.OPERATORS["bias_gelu"]
bias_gelu_ = _other.OPERATORS["bias_gelu_"]
div_no_nan = _compositions.OPERATORS["div_no_nan"]
floor_div = _compositions.OPERATORS["floor_div"]
