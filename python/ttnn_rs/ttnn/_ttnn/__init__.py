"""The modules of the official package's extension module that programs name: reports and the system mesh."""

from ttnn._ttnn import multi_device as multi_device
from ttnn._ttnn import reports as reports
