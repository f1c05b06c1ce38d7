"""The dialects under their official names: `ttnn.compiler.tools.bindings`."""

from ttnn.compiler.tools.bindings import tt as tt
from ttnn.compiler.tools.bindings.builders import arith as arith
from ttnn.compiler.tools.bindings.builders import func as func
from ttnn.compiler.tools.bindings.builders import scf as scf
from ttnn.compiler.tools.bindings.builders import tensor as tensor
from ttnn.compiler.tools.bindings.builders import ttcore as ttcore
from ttnn.compiler.tools.bindings.builders import ttir as ttir
from ttnn.compiler.tools.bindings.builders import ttkernel as ttkernel
from ttnn.compiler.tools.bindings.builders import ttnn as ttnn
