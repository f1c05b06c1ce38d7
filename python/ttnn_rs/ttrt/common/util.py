"""The official name of `ttnn.compiler.tools.ttrt.util`."""

from ttnn.compiler.tools.ttrt.util import Artifacts as Artifacts
from ttnn.compiler.tools.ttrt.util import Binary as Binary
from ttnn.compiler.tools.ttrt.util import FileManager as FileManager
from ttnn.compiler.tools.ttrt.util import Flatbuffer as Flatbuffer
from ttnn.compiler.tools.ttrt.util import Logger as Logger
from ttnn.compiler.tools.ttrt.util import Results as Results
from ttnn.compiler.tools.ttrt.util import SystemDesc as SystemDesc
