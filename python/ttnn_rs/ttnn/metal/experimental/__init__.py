"""The Metal 2.0 host API, `tt::tt_metal::experimental`.

Programs by specification, with names for all parts.
"""

from ttnn.metal.experimental.build import *  # noqa: F403
from ttnn.metal.experimental.hardware import *  # noqa: F403
from ttnn.metal.experimental.run_args import *  # noqa: F403
from ttnn.metal.experimental.specs import *  # noqa: F403
