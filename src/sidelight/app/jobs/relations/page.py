"""The page about clusters of rows."""

from __future__ import annotations

from sidelight.app.jobs.pages.common import MAP_OF_CLUSTERS, clusters_section, gallery_sections, map_section
from sidelight.app.jobs.relations.result import RelationsResult
from sidelight.app.report.components import percent, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, Setting, counted, sizes_in_words

_UNSURE = 0.8  # share of sure rows below which more answers are advised


def page(result: RelationsResult) -> Page:
    """Say how large the clusters are, which answers they break, and what each stands out by."""
    n_used = sum(1 for size in result.sizes if size)
    return Page(
        "Clusters of rows",
        [
            f"{counted(result.reading.n_rows, 'row')} fell into {counted(n_used, 'cluster')}"
            f"{sizes_in_words(result.sizes)}.",
            *_about_answers(result),
        ],
        [
            *_broken(result),
            *gallery_sections(result),
            map_section(result.map, MAP_OF_CLUSTERS),
            clusters_section(
                result, "Sizes, and the features that each cluster stands out by, in standard deviations."
            ),
        ],
        sure=_certainty(result),
        next=_next(result),
        terms=["cluster", "probability", "stands out by", "standard deviation"],
    )


def _about_answers(result: RelationsResult) -> list[Sentence]:
    n_answers = result.n_pairs + result.n_triplets
    if not n_answers:
        return ["No answers about pairs or triplets were given: the rows alone decided."]
    kinds = [counted(n, kind) for n, kind in ((result.n_pairs, "pair"), (result.n_triplets, "triplet")) if n]
    kept = n_answers - result.n_broken
    sentences: list[Sentence] = [
        f"People judged {' and '.join(kinds)}; the clusters keep {percent(kept / n_answers)} of the answers."
    ]
    if result.eps > 0.02 and not result.eps_is_estimated:
        sentences.append(f"The answers were weighed as if {percent(result.eps)} of them were wrong.")
    elif result.eps > 0.02:
        sentences.append(f"About {percent(result.eps)} of the answers seem to be wrong, and were weighed accordingly.")
    worst = max(result.annotator_errors, key=lambda name: result.annotator_errors[name], default=None)
    if worst is not None and result.annotator_errors[worst] > 0.1:
        sentences.append(f"{worst} errs most often, in about {percent(result.annotator_errors[worst])} of the answers.")
    return sentences


def _certainty(result: RelationsResult) -> list[Sentence]:
    if result.share_sure is None:
        return ["This method gives no probabilities."]
    told: list[Sentence] = [f"{percent(result.share_sure)} of the rows have a probability above 90% for their cluster."]
    if result.n_pairs + result.n_triplets:
        moved = f"{counted(result.n_moved, 'row')} ({percent(result.n_moved / max(1, result.reading.n_rows))})"
        told.append(
            f"The answers put {moved} into another cluster than the features alone would ('by_features_alone' in "
            "assignments.csv). New rows have no answers: sidelight predict places every row by its features alone."
        )
    return told


def _next(result: RelationsResult) -> list[Sentence]:
    told: list[Sentence] = []
    if result.n_broken:
        told.append("Look at the answers that do not fit: correct the wrong ones and run again.")
    if not result.n_pairs + result.n_triplets:
        told.append(
            ["Answer a few questions about pairs (sidelight ask), and give the answers with ", Setting("pairs"), "."]
        )
    elif result.share_sure is not None and result.share_sure < _UNSURE:
        told.append("More answers about doubtful rows would help: sidelight ask chooses the ones that tell most.")
    told.append(["Compare with another number of clusters: ", Setting("n_clusters"), "."])
    return told


def _broken(result: RelationsResult) -> list[Section]:
    if "broken_answers" not in result.tables:
        return []
    text = "Look at these first: either the answer is wrong, or the features cannot tell the rows apart."
    caption = "Answers that the clusters break: the rows, what was said, and the clusters they are in."
    shown = table(result.tables["broken_answers"], caption, file="broken_answers.csv")
    return [Section("Answers that do not fit", [text], [shown])]
