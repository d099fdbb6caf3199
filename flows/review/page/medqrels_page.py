"""Django settings of the local review server: those of Label Studio, with the templates beside this file.

The server's process reads them in its own environment: nothing here imports medqrels, and this is no package.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

_LABEL_STUDIO = "label_studio.core.settings.label_studio"

os.environ["DJANGO_SETTINGS_MODULE"] = _LABEL_STUDIO  # they read themselves before they are complete
_given = vars(import_module(_LABEL_STUDIO))
os.environ["DJANGO_SETTINGS_MODULE"] = __name__
globals().update({name: value for name, value in _given.items() if name.isupper()})

TEMPLATES: list[dict[str, Any]] = _given["TEMPLATES"]
TEMPLATES[0]["DIRS"] = [str(Path(__file__).parent / "templates"), *TEMPLATES[0]["DIRS"]]
