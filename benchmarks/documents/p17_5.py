"""[P17] chapter 5: a latent label hierarchy from incomplete labels."""

from __future__ import annotations

from verdicts import LEVEL, Cell, Comparison, Document, Item, Part, Said, cannot, claim, not_yet

PAGE = "hierarchy_fidelity"
NOISES = ("0.1", "0.2", "0.3", "0.4", "0.5")
TREES = "Trees of newsgroups: Robinson-Foulds distance"
LEARN, GIVEN = "thesis' EM from Chow-Liu", "thesis' GT"
DRAWS = (Said(PAGE, r"(five) runs a cell"), "five")
PASCAL = "the OverFeat features of Pascal 2007 are not to be had"
NOT_ON = "the thesis' EM was run on newsgroups only"


def f1(kind: str, noise: str, column: str, name: str = "newsgroups") -> Cell:
    """A cell of figure 5.4."""
    return Cell(PAGE, f"Test F1-{kind} on {name}", noise, column)


def ahead(left: str, *rights: str) -> list[Comparison]:
    """One method against others, both measures, all noises."""
    return [
        (f"{kind}, {noise}", f1(kind, noise, left), [f1(kind, noise, right) for right in rights])
        for kind in ("micro", "macro")
        for noise in NOISES
    ]


def fasttag(kind: str) -> list[Comparison]:
    """FastTag against binary relevance on Church-FUN; micro should be lower, macro higher."""
    name = "Church-FUN, subtree 10"
    columns = ("BR", "FastTag") if kind == "micro" else ("FastTag", "BR")
    return [(n, f1(kind, n, columns[0], name), [f1(kind, n, columns[1], name)]) for n in NOISES]


FIGURE_5_3: list[Item] = [
    claim(
        "newsgroups: the thesis' EM, from Chow-Liu, closer to the true tree than Chow-Liu (directed against "
        "undirected)",
        [
            (
                f"noise {n}",
                Cell(PAGE, TREES, n, "from Chow-Liu, directed"),
                [Cell(PAGE, TREES, n, "Chow-Liu, undirected")],
            )
            for n in NOISES
        ],
        lower=True,
        draws=DRAWS,
    ),
    claim(
        "the same from a star",
        [
            (
                f"noise {n}",
                Cell(PAGE, TREES, n, "thesis' EM from a star, directed"),
                [Cell(PAGE, TREES, n, "Chow-Liu, undirected")],
            )
            for n in NOISES
        ],
        lower=True,
        draws=DRAWS,
    ),
    not_yet("Church-FUN: the same", "claim", NOT_ON),
    cannot("Pascal 2007: almost perfect with little noise, unlike Chow-Liu", "claim", PASCAL),
]
DOCUMENT = Document(
    key="p17-5",
    title="[P17] chapter 5: label hierarchy",
    about="Yuanli Pei, *Learning with partial supervision for clustering and classification*, thesis, Oregon State "
    "University, 2017, chapter 5.",
    benchmarks=(PAGE,),
    remarks=(
        "Verdicts are on the thesis' own EM with a fixed lambda; the thesis takes the best of three by its "
        "results. Our "
        "own method learns the tree from counts first and is judged at the end of this page. Figures have no printed "
        "numbers: the text's claims are checked.",
    ),
    parts=(
        Part(
            "Table 5.2: the sets (p. 90)",
            [
                cannot("Pascal 2007: rows, features, labels", "9963 / 4097 / 24", PASCAL),
                not_yet("20 Newsgroup", "2000 / 100 / 27", "the counts of our set are not on any page"),
                cannot(
                    "Church-FUN", "302 / 20 / 16", "the thesis does not say which subtree and which columns it took"
                ),
            ],
        ),
        Part("Figure 5.3: Robinson-Foulds distance (p. 91)", FIGURE_5_3),
        Part(
            "Figure 5.4: F1 on test rows (p. 94)",
            [
                claim("newsgroups: GT above BR", ahead(GIVEN, "BR"), draws=DRAWS),
                claim("newsgroups: learn above BR", ahead(LEARN, "BR"), draws=DRAWS),
                claim("newsgroups: GT always above learn", ahead(GIVEN, LEARN), draws=DRAWS),
                claim(
                    "newsgroups: GT above the other baselines (BR, FastTag) in most cases",
                    ahead(GIVEN, "BR", "FastTag"),
                    most=True,
                    draws=DRAWS,
                ),
                claim(
                    f"newsgroups: learn competitive with FastTag (at most {LEVEL} behind)",
                    ahead(LEARN, "FastTag"),
                    within=LEVEL,
                    draws=DRAWS,
                ),
                claim(
                    "Church-FUN: FastTag's F1-micro is lower than others' (here: than BR's)",
                    fasttag("micro"),
                    draws=DRAWS,
                ),
                claim(
                    "Church-FUN: FastTag's F1-macro is higher than others' (here: than BR's)",
                    fasttag("macro"),
                    draws=DRAWS,
                ),
                not_yet("Church-FUN: GT and learn", "claim", NOT_ON),
                not_yet("tanCVPR on all sets", "claim", "tanCVPR [96] is not implemented"),
                cannot("Pascal 2007: all methods", "claim", PASCAL),
            ],
        ),
        Part(
            "Figure 5.5: the rate of loss (p. 96)",
            [
                not_yet(
                    "learn underestimates alpha, most so when it is large",
                    "claim",
                    "our page tabulates absolute errors (at noise 0.1 and 0.5), not their sign",
                    Cell(PAGE, "Rate of loss on newsgroups: absolute error", "0.1", LEARN),
                    Cell(PAGE, "Rate of loss on newsgroups: absolute error", "0.5", LEARN),
                ),
            ],
            pictures=[("hierarchy_fidelity-1.png", "newsgroups: estimated rate of loss over the true one")],
        ),
        Part("Figure 5.6: Sosh (p. 98)", [cannot("subtrees of 95 labels", "picture", "the Sosh data are not public")]),
        Part(
            "Section 5.5.1: parameters",
            [not_yet("lambda from {0.01, 1, 100} / d", "protocol", "one value was run")],
        ),
    ),
    wrong=(
        "(5.5) divides by Q(y_p), which is 0 wherever z_p = 1.",
        "In (5.8) the factor is Q11 - (Q11 + Q10) sigma.",
        "lambda is divided by d in (5.2) and again in 5.5.",
        "The bound never drops at a fixed eps only, and eps shrinks at every round.",
        "Chow-Liu's tree has no directions: only the undirected distance is fair to it.",
    ),
    own=(
        *(
            (f"newsgroups, noise {n}: Robinson-Foulds distance, directed", Cell(PAGE, TREES, n, "ours, directed"))
            for n in NOISES
        ),
        *((f"newsgroups, noise {n}: test F1-micro", f1("micro", n, "ours, f1 threshold")) for n in NOISES),
        *(
            (
                f"newsgroups, noise {n}: error of alpha",
                Cell(PAGE, "Rate of loss on newsgroups: absolute error", n, "ours"),
            )
            for n in ("0.1", "0.5")
        ),
    ),
)
