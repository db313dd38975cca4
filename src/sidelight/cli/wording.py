"""What the library says in Python's words, said in the options of the command line.

A reader's error advises ``ignore='note'``; whoever typed a command wants ``--ignore note``. The words are translated in
one place, here, so that no room below has to know who is asking.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

_ADVICE = re.compile(r"\b([a-z_]+)=(?:'([^']*)'|\"([^\"]*)\"|(True|False)\b|(?![\w'\"]))")
_SWITCHES = {"header": {"False": "--no-header", "True": "--header"}}
CONVERT = "sidelight convert"  # the command that takes every option about reading a file


def in_options(text: str, known: Collection[str]) -> str:
    """Return ``text`` with advice such as ``bag=`` or ``ignore='x'`` put as options.

    Parameters
    ----------
    text : str
        A message of the library.
    known : collection of str
        The options of the command that was typed. An option it does not have is one of ``sidelight convert``.
    """
    from sidelight.jobs.tables import ROLES  # not at the top: `sidelight --help` should not wait for the readers

    option_of = {parameter: "--" + role.replace("_", "-") for role, parameter in ROLES.items()} | {"events": "--event"}

    def as_option(match: re.Match[str]) -> str:
        name, single, double, switch = match.groups()
        if name not in option_of:
            return match.group()
        option = option_of[name]
        if switch:
            option = _SWITCHES.get(name, {}).get(switch) or f"{option} none"
        elif single is not None or double is not None:
            option = f"{option} {shlex.quote(single if single is not None else double)}"
        return option if option.split()[0] in known else f"{CONVERT} {option}"

    return _ADVICE.sub(as_option, text)
