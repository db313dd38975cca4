"""What a run can be told: one typed model for the columns, one for each method of each job, all quick to import.

The command line, ``run.toml``, the help, the table in the docs and forms are made from these models; nothing about an
option is written anywhere else. ``catalogue.py`` lists the jobs, ``model.py`` says how a model is written.
"""

from sidelight.jobs.options.catalogue import JOBS, Job, find_job
from sidelight.jobs.options.model import Field, Options, fields_of
from sidelight.jobs.options.roles import Roles

__all__ = ["JOBS", "Field", "Job", "Options", "Roles", "fields_of", "find_job"]
