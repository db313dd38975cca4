"""One example of each component of a report, on made-up numbers: the docs show them, the tests look at them."""

from __future__ import annotations

import numpy as np

from sidelight.app.report import components as parts
from sidelight.app.report.components import Markup
from sidelight.app.report.gallery import Group, Media, Member, Profile


def bars() -> Markup:
    """Bars: sizes of clusters, with their colour and mark."""
    return parts.bars(
        ["wren", "thrush", "owl", "novel-1"],
        [120, 96, 44, 17],
        "Clusters by number of rows.",
        name_title="cluster",
        value_title="rows",
        colours=[0, 1, 2, 3],
        tips=["in 40 bags", "in 31 bags", "in 20 bags", "in 9 bags"],
    )


def lines() -> Markup:
    """Lines: a score over what was tried, its uncertainty as a band, the number in use marked."""
    return parts.lines(
        [1, 2, 3, 4, 5, 6],
        {"labels told rightly": [0.61, 0.78, 0.84, 0.85, 0.845, 0.84]},
        "Share of labels told rightly, over the number of novel clusters.",
        alt="The score rises to 84% at 3 novel clusters, in use, and stays there.",
        x_title="novel clusters",
        y_title="labels told rightly",
        errors=[0.03, 0.02, 0.02, 0.02, 0.03, 0.03],
        marked=3,
        is_share=True,
    )


def histogram() -> Markup:
    """Histogram: how often values occur, one colour a cluster, with a line at the value that matters."""
    generator = np.random.default_rng(0)
    return parts.histogram(
        {"cluster 0": generator.normal(1.1, 0.2, 60), "cluster 1": generator.normal(0.9, 0.3, 40)},
        "Margins of the bags. Left of the line no row was clear enough.",
        alt="Most of 100 bags reach a margin of 1.",
        x_title="margin",
        y_title="bags",
        marked=1.0,
        mark_name="clear",
    )


def heat() -> Markup:
    """Heat table: shares in percent; cells that say nothing by construction are left out."""
    return parts.heat(
        [[1.0, 0.31, 0.04], [0.28, 1.0, 0.12], [0.02, 0.62, 1.0]],
        ["wren", "thrush", "owl"],
        ["wren", "thrush", "owl"],
        "Percent of a cluster's rows that are in bags which list a label.",
        row_title="cluster",
        skip=[(0, 0), (1, 1), (2, 2)],
    )


def blocks() -> Markup:
    """Blocks: a table of counts beside what its clusters remember of it."""
    generator = np.random.default_rng(0)
    rate = np.kron([[6.0, 0.5, 1.0], [0.5, 5.0, 0.5]], np.ones((8, 6)))
    return parts.blocks(
        generator.poisson(rate),
        rate,
        [8],
        [6, 12],
        "Counts, and their approximation by clusters.",
        alt="2 by 3 blocks keep the pattern of the table.",
        titles=("as counted", "from the clusters alone"),
        axes=("visitors", "places"),
    )


def tree() -> Markup:
    """Tree: labels below the ones that they imply, folded where it is long."""
    branches = [
        parts.Branch("bird"),
        parts.Branch("wren", 0, "88 of 90"),
        parts.Branch("owl", 0, "12 of 13", "weak", "evidence 1.2"),
        parts.Branch("frog"),
        parts.Branch("tree frog", 3, "40 of 71", "odd"),
    ]
    legend = {"weak": "dashed: could be chance", "odd": "the gaps do not look like forgetting"}
    return parts.tree(branches, "The labels, each below the one that it implies.", legend=legend)


def row_map() -> Markup:
    """Map: rows that can be hovered, tapped, searched by name and filtered by cluster."""
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 100)
    points = np.array([[0, 3], [3, 0], [-2, -2]])[labels] + generator.normal(size=(300, 2))
    return parts.row_map(
        points,
        labels,
        ["wren", "thrush", "owl"],
        [f"seg{i:03d}" for i in range(300)],
        "Each dot is a row, coloured by its cluster.",
        alt="A map of 300 rows in 3 clusters that hardly touch.",
        axes=("first main direction →", "second main direction →"),
        bags=[f"rec{i // 10:02d}" for i in range(300)],
        sure=generator.uniform(0.6, 1.0, 300),
    )


def picture() -> Markup:
    """Picture: a small still map for a card."""
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 40)
    points = generator.normal(size=(160, 2)) + 3 * np.column_stack([labels % 2, labels // 2])
    return parts.picture(points, labels, alt="A map of 160 dots in 4 clusters.")


def tree_picture() -> Markup:
    """Picture of a tree: a small still tree for a card."""
    return parts.tree_picture([-1, 0, 0, 2, 2, -1, 5], alt="A tree of 7 labels.")


def gallery() -> Markup:
    """Gallery: typical and doubtful members of each cluster, with what there is to see of them."""
    square = Media("image", _png(), is_tiny=True)
    texts = [Member("a17", "bag rec01", "99% sure", Media("text", text="The wren sang twice, then flew off."))]
    values = Profile(["pitch", "length", "loudness"], [1.2, -0.4, 2.1], [1.0, 0.1, 1.4], [0.4, 0.6, 0.3])
    return parts.gallery(
        [
            Group(0, "wren", 120, {"typical": [Member("a3", "bag rec01", "100% sure", square)] * 3, "doubtful": texts}),
            Group(1, "owl", 44, {"typical": [Member("b8", "bag rec07", "97% sure", profile=values)] * 2}),
        ],
        notes=["2 rows could not be shown: 2 missing (such as 'a9.png')."],
    )


def table() -> Markup:
    """Table: numbers to the right, shares as percentages, a click on a title sorts."""
    columns = {"cluster": ["wren", "thrush", "owl"], "rows": [120, 96, 44], "share": [0.4615, 0.3692, 0.1692]}
    return parts.table(columns, "Sizes of the clusters.", percents=("share",))


def notice() -> Markup:
    """Notice: one warning, with what to do about it."""
    return parts.notice("2 of 10 rows have a gap in 'pitch': left out. Fill the cells to use them.")


def glossary() -> Markup:
    """Glossary: technical words in one line each."""
    return parts.glossary(
        {"bag": "Rows that belong together.", "witness": "The row that decided the cluster of its bag."}
    )


def command() -> Markup:
    """Command: what to type, with a button that copies it."""
    return parts.command("sidelight instances birds.csv --bag recording --novel 1")


def cards() -> Markup:
    """Cards: a picture, a sentence and a command each."""
    drawn = [
        parts.card(
            "Birds", "Who sings where.", href="#", picture=picture(), command_text="sidelight demo --only instances"
        ),
        parts.card("Labels", "What implies what.", href="#", picture=tree_picture(), command_text="sidelight demo"),
    ]
    return parts.cards(drawn)


EXAMPLES = {
    make.__name__: make
    for make in (
        bars, lines, histogram, heat, blocks, tree, row_map, gallery, table, cards, picture, tree_picture, notice,
        glossary, command,
    )
}  # fmt: skip


def _png() -> str:
    """Return an image of 8 x 8 grey pixels."""
    from sidelight.app.jobs.media import of_array

    return of_array(np.minimum.outer(np.arange(8.0), np.arange(8.0))).uri
