"""How the command line spells a setting: as the option to type."""

from __future__ import annotations

import shlex

from sidelight.words import Setting

_FLAGS = {"events": "--event", "channels": "--channel"}
_SWITCHES = {("header", False): "--no-header", ("header", True): "--header"}


def as_flag(setting: Setting) -> str:
    """Return ``--ignore note`` for ``ignore="note"``; False is ``none``."""
    if (setting.name, setting.value) in _SWITCHES:
        return _SWITCHES[setting.name, setting.value]
    flag = _FLAGS.get(setting.name, "--" + setting.name.replace("_", "-"))
    if setting.value is None:
        return flag
    return f"{flag} {'none' if setting.value is False else shlex.quote(str(setting.value))}"
