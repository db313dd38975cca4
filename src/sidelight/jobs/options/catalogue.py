"""Every job, in a few words and with its options: what commands, overviews, forms and run.toml are made from.

A new job is one entry here, a module of its name in ``jobs`` with ``work(config) -> Result``, and a page in
``report/pages``. A new method of a job is one more entry in its ``methods``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from sidelight.errors import InvalidParameter, UnknownName, nearest
from sidelight.jobs.options.bags import Margin, Medoids, Words
from sidelight.jobs.options.hierarchy import Hierarchy
from sidelight.jobs.options.instances import Coverage, Dmnl, FastMiml, Spectral
from sidelight.jobs.options.model import Options, build, fields_of
from sidelight.jobs.options.relations import Peer, Peers, Relations
from sidelight.jobs.options.sources import Coclusters, Sources
from sidelight.words import Setting


@dataclass(frozen=True, slots=True)
class Job:
    """One job.

    Attributes
    ----------
    summary : str
        One line: what it does.
    text : str
        What it does and what it writes, for the help.
    you_have : str
        What a person has who needs this job.
    example : mapping
        Roles and options of a first call.
    methods : mapping of str to model
        The options of each method; the first is the default. A job with one method calls it "".
    """

    summary: str
    text: str
    you_have: str
    example: Mapping[str, Any]
    methods: Mapping[str, type[Options]]

    def options(self, content: Any) -> Options:
        """Return the options of a run, checked against the method they name."""
        default = next(iter(self.methods))
        method = content.get("method", default) if default and isinstance(content, Mapping) else default
        if not isinstance(method, str) or method not in self.methods:
            raise UnknownName(f"There is no method {method!r:.80}. {nearest(method, self.methods)}")
        own = {field.name for field in fields_of(self.methods[method])}
        for name in content if isinstance(content, Mapping) else ():
            others = [
                other for other in self.methods if name in {field.name for field in fields_of(self.methods[other])}
            ]
            if name not in own and others:
                raise InvalidParameter(
                    f"{name} is an option of the method {others[0]!r}, and the method is {method!r}.",
                    do=["Choose it with ", Setting("method", others[0]), ", or leave ", Setting(name), " out."],
                )
        return build(self.methods[method], content, "option")


JOBS: Mapping[str, Job] = {
    "instances": Job(
        "Name and cluster the rows of labelled bags.",
        "Name and cluster the rows of TABLE by the labels of their bags.\n\nA bag (a recording, an image, a document) "
        "has several rows and a list of labels; nobody labelled a row. With the method coverage no row carries a label "
        "outside its bag's list, and every label on the list is carried by a row. The method spectral clusters the "
        "rows and reads the clusters by the lists; dmnl finds labels that no list names by the structure of the rows; "
        "fast-miml ranks labels for bags and rows."
        "\n\nWrites assignments (.parquet, .csv), clusters.csv, bags.csv (all but spectral) or class_shares.csv "
        "(spectral), model.sidelight, run.toml and report.html into the output folder.",
        "rows in bags, and a list of labels for each bag (which birds are in which recording)",
        {"bag": "recording", "label": "species"},
        {"coverage": Coverage, "spectral": Spectral, "dmnl": Dmnl, "fast-miml": FastMiml},
    ),
    "bags": Job(
        "Cluster bags of rows that nobody labelled.",
        "Cluster the bags of TABLE (any file that `sidelight describe` understands).\n\nA bag is several rows with the "
        "same name in the bag column. Writes bags.csv (cluster of each bag, how sure it is, and its witness: the row "
        "that speaks loudest), assignments (.parquet, .csv), clusters.csv, model.sidelight, run.toml and report.html "
        "into the output folder; stability.csv when the number of clusters was chosen.",
        "rows in bags (regions of images, passages of documents), and no labels",
        {"bag": "COLUMN"},
        {"words": Words, "margin": Margin, "medoids": Medoids},
    ),
    "relations": Job(
        "Cluster the rows of a table by answers about pairs and triplets of them.",
        "Cluster the rows of TABLE (any file that `sidelight describe` understands) into clusters that respect what "
        "people said: these two are the same, these two are different; of these three this one is the odd one out. "
        "Answers may be wrong now and then; without any the rows alone decide.\n\nWrites assignments (.parquet, "
        ".csv), clusters.csv, broken_answers.csv (answers that do not fit), model.sidelight, run.toml and report.html "
        "into the output folder.",
        "a table of rows, and maybe answers about which of them belong together",
        {},
        {"discriminative": Relations, **dict.fromkeys(get_args(Peers), Peer)},
    ),
    "hierarchy": Job(
        "Find the tree behind labels with gaps, and fill the gaps.",
        "Find the tree behind the labels of the rows of TABLE, and the labels that somebody forgot.\n\nEvery row has "
        "several labels, some ticked and some forgotten: a column of 0 and 1 for each label (an empty cell means that "
        "nobody looked), a column of label sets, or a second table. A label that was ticked is certain; one that was "
        "not may be a gap.\n\nWrites assignments (.parquet, .csv) with the gaps filled, gaps.csv (what was added, and "
        "how sure), tree.csv, model.sidelight, run.toml and report.html into the output folder.",
        "several labels a row, some of them forgotten (tags, topics, gene functions)",
        {"label": ["tag_*"]},
        {"": Hierarchy},
    ),
    "sources": Job(
        "Cluster several channels recorded together.",
        "Cluster the channels of TABLE through how often their codes occur together.\n\nWrites assignments (.parquet, "
        ".csv), clusters.csv, channels.csv, curve.csv, sequences.csv, new.csv (for a second table), model.sidelight, "
        "run.toml and report.html into the output folder.",
        "several measurements of the same moments (a face, a jacket, a height), maybe in sequences",
        {"channels": {"face": "face_*", "upper": "upper_*"}, "sequence": "session"},
        {"": Sources},
    ),
    "coclusters": Job(
        "Cluster rows and columns of a table of counts.",
        "Cluster the rows and the columns of TABLE, so that the clusters keep as much of its information as they can."
        "\n\nTABLE is a matrix of counts (a row each, a numeric column each) or a list of events. Writes assignments "
        "(.parquet, .csv) of the first axis, columns.csv for a matrix or axis2.csv, axis3.csv, ... for events, "
        "cells.csv, curve.csv, model.sidelight, run.toml and report.html.",
        "counts of things that occur together (documents x words, users x items), as a matrix or as events",
        {},
        {"": Coclusters},
    ),
}
ALIASES = {"coverage": ("instances", {"method": "coverage"})}  # what an older name means now


def find_job(name: str) -> Job:
    """Return the job called ``name``."""
    if not isinstance(name, str) or name not in JOBS:
        raise UnknownName(f"There is no job called {name!r:.80}. {nearest(name, JOBS)}")
    return JOBS[name]
