"""What a kernel may call: the kernel API of TT-Metalium, under its C++ names.

Kernels are plain Python functions without arguments; `from ttnn.kernel_api import *` stands for the includes. Template
arguments of C++ are keyword arguments here, addresses are integers, `L1Pointer` stands for a cast to a pointer.
"""

from ttnn.kernel_api.addresses import *  # noqa: F403
from ttnn.kernel_api.arguments import *  # noqa: F403
from ttnn.kernel_api.circular_buffers import *  # noqa: F403
from ttnn.kernel_api.compute import *  # noqa: F403
from ttnn.kernel_api.dataflow import *  # noqa: F403
from ttnn.kernel_api.l1 import *  # noqa: F403
from ttnn.kernel_api.layouts import *  # noqa: F403
from ttnn.kernel_api.matrix import *  # noqa: F403
from ttnn.kernel_api.objects import *  # noqa: F403
from ttnn.kernel_api.stateful import *  # noqa: F403
from ttnn.kernel_api.unsupported import *  # noqa: F403
from ttnn.kernel_api.vector import *  # noqa: F403
from ttnn.kernel_api.vector_binary import *  # noqa: F403
from ttnn.kernel_api.vector_integers import *  # noqa: F403
from ttnn.kernel_api.vector_special import *  # noqa: F403
from ttnn.kernel_api.vector_variants import *  # noqa: F403
