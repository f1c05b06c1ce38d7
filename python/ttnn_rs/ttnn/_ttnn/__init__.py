"""Official extension modules that programs name, mostly in annotations."""

from ttnn._ttnn import core as core
from ttnn._ttnn import device as device
from ttnn._ttnn import fabric as fabric
from ttnn._ttnn import global_semaphore as global_semaphore
from ttnn._ttnn import graph as graph
from ttnn._ttnn import mesh_socket as mesh_socket
from ttnn._ttnn import multi_device as multi_device
from ttnn._ttnn import operations as operations
from ttnn._ttnn import reports as reports
from ttnn._ttnn import tensor as tensor
