"""What a run can be told: one typed model for the columns here, one for each method in its job's folder.

The command line, ``run.toml``, the help, the table in the docs and forms are made from these models; nothing about an
option is written anywhere else. ``model.py`` says how a model is written.
"""

from sidelight.app.jobs.options.model import Field, Kind, Options, fields_of
from sidelight.app.jobs.options.roles import Roles

__all__ = ["Field", "Kind", "Options", "Roles", "fields_of"]
