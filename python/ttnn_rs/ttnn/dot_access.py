"""Official module: dictionaries whose items are attributes too."""

from __future__ import annotations

from ttnn.base.dot_access import DotAccessDict as DotAccessDict
from ttnn.base.dot_access import ItemNameError as ItemNameError
from ttnn.base.dot_access import make_dot_access_dict as make_dot_access_dict
