"""The page about clusters of rows."""

from __future__ import annotations

from sidelight.plot import ClusterScatterDisplay
from sidelight.report.page import Page, Section, Table
from sidelight.results.jobs import RelationsResult
from sidelight.words import counted, sizes_in_words


def page(result: RelationsResult) -> Page:
    """Say how large the clusters are, which answers they break, and what each stands out by."""
    n_used = sum(1 for size in result.sizes if size)
    return Page(
        "Clusters of rows",
        [
            f"{counted(result.reading.n_rows, 'row')} fell into {counted(n_used, 'cluster')}"
            f"{sizes_in_words(result.sizes)}.",
            *_about_answers(result),
            f"{result.share_sure:.0%} of the rows have a probability above 90 % for their cluster.",
            *_about_truth(result),
        ],
        [*_broken(result), *_clusters(result)],
    )


def _about_answers(result: RelationsResult) -> list[str]:
    n_answers = result.n_pairs + result.n_triplets
    if not n_answers:
        return ["No answers about pairs or triplets were given: the rows alone decided."]
    kinds = [
        counted(n, f"{kind} was", f"{kind}s were")
        for n, kind in ((result.n_pairs, "pair"), (result.n_triplets, "triplet"))
        if n
    ]
    kept = n_answers - result.n_broken
    sentences = [f"{' and '.join(kinds)} judged by people; the clusters keep {kept / n_answers:.0%} of the answers."]
    if result.eps > 0.02:
        sentences.append(f"About {result.eps:.0%} of the answers seem to be wrong, and were weighed accordingly.")
    worst = max(result.annotator_errors, key=lambda name: result.annotator_errors[name], default=None)
    if worst is not None and result.annotator_errors[worst] > 0.1:
        sentences.append(f"{worst} errs most often, in about {result.annotator_errors[worst]:.0%} of the answers.")
    return sentences


def _about_truth(result: RelationsResult) -> list[str]:
    if result.agreement is None or result.information is None:
        return []
    return [
        f"Against the labels in the table, which were not used: adjusted Rand index {result.agreement:.2f} "
        f"(1 is perfect, 0 is chance), normalised mutual information {result.information:.2f}."
    ]


def _broken(result: RelationsResult) -> list[Section]:
    if "broken_answers" not in result.tables:
        return []
    text = "Look at these first: either the answer is wrong, or the features cannot tell the rows apart."
    table = Table(
        result.tables["broken_answers"], "Answers that the clusters break: the rows, what was said, and where they are."
    )
    return [Section("Answers that do not fit", [text], tables=[table])]


def _clusters(result: RelationsResult) -> list[Section]:
    scatter = ClusterScatterDisplay(result.map.coordinates, result.map.labels, result.map.names)
    return [
        Section(
            "The rows on a map",
            ["Each dot is a row; the map keeps the two directions in which rows differ most."],
            [(scatter, "Rows by cluster, on the first two principal components.")],
        ),
        Section(
            "The clusters",
            tables=[
                Table(result.tables["clusters"], "Sizes, and the features that differ most, in standard deviations.")
            ],
        ),
    ]
