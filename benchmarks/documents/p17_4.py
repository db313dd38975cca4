"""[P17] chapter 4: Bayesian active clustering."""

from __future__ import annotations

from verdicts import LEVEL, Cell, Document, Item, Part, Said, claim, exactly, figure, judged

PAGE, WORKED = "ask_fidelity", "worked_examples"
TABLE_4_1 = {
    "Fertility": "100 / 9 / 2",
    "Parkinsons": "195 / 22 / 2",
    "crabs, sex": "200 / 5 / 2",
    "sonar": "208 / 60 / 2",
    "balance": "625 / 4 / 3",
    "Transfusion": "748 / 4 / 2",
    "letters-IJ": "1502 / 16 / 2",
    "digits-389": "3165 / 16 / 3",
}
SETS = tuple(TABLE_4_1)
RANDOM, CHOSEN = "Random pairs (figure 4.1)", "Chosen pairs (figure 4.2)"
DROPPED, OTHER = "Dropped pairs (table 4.2)", "Other parameters"
TAKEN = "tau=1, eps=0.05, penalty=10"
DRAWS = (Said(PAGE, r"mean of (\d+(?: to \d+)?) runs a cell"), 30)
TABLE_4_2 = {  # Info and Uncertain at questions 10, 20, ..., 60
    "Fertility": ("0.4, 0.6, 0.9, 2.7, 4.2, 10.8", "0.0, 0.1, 0.1, 1.9, 14.3, 32.0"),
    "Parkinsons": ("0.1, 0.0, 0.5, 0.8, 0.9, 1.7", "0.0, 0.0, 0.0, 0.3, 0.6, 1.7"),
    "crabs, sex": ("0.6, 0.2, 0.0, 0.1, 0.2, 0.4", "0.0, 0.0, 0.0, 0.3, 0.6, 1.5"),
    "sonar": ("0.7, 0.2, 0.4, 0.5, 0.5, 0.6", "0.0, 0.0, 0.1, 0.2, 0.2, 0.2"),
    "balance": ("0.0, 0.3, 1.7, 2.6, 3.3, 2.9", "0.0, 0.0, 0.0, 0.0, 0.1, 0.0"),
    "Transfusion": ("0.3, 1.3, 2.4, 2.3, 4.6, 4.9", "0.0, 0.0, 0.0, 0.0, 0.0, 0.1"),
    "letters-IJ": ("0.0, 0.2, 0.3, 0.2, 0.5, 0.7", "0.0, 0.0, 0.0, 0.0, 0.0, 0.0"),
    "digits-389": ("0.0, 0.0, 0.1, 0.1, 0.0, 0.3", "0.0, 0.0, 0.0, 0.0, 0.0, 0.0"),
}
CURVE = ", mean of the curve"
CRITERIA = ("info+BC", "uncertain+BC")
RIVALS = ("npu+ITML", "npu+MPCK-Means", "minmax+ITML", "minmax+MPCK-Means")


def dropped(name: str, at: int) -> Item:
    """The mean of six counts of table 4.2."""
    counts = [float(count) for count in TABLE_4_2[name][at].split(", ")]
    printed = f"{sum(counts) / 6:.2f} (mean of {TABLE_4_2[name][at]})"
    ours = Cell(PAGE, DROPPED, f"{name} / {CRITERIA[at]}", "mean of the six")
    return figure(f"{name}, {('Info', 'Uncertain')[at]}", printed, ours, lower=True, draws=DRAWS)


def other(*values: str) -> list[tuple[str, Cell, list[Cell]]]:
    """Other values of a parameter against the thesis' own, on all sets."""
    return [
        (f"{name}, {value}", Cell(PAGE, OTHER, name, value), [Cell(PAGE, OTHER, name, TAKEN)])
        for value in values
        for name in SETS
    ]


def above(what: str, *comparisons: tuple[str, str, str, tuple[str, ...]]) -> list[Item]:
    """A claim about figures 4.1 and 4.2, over the whole curve and at its end: our left against the best of others."""
    return [
        claim(
            f"{what} on most sets, {when}",
            [
                (name, Cell(PAGE, left + at, name, method), [Cell(PAGE, right + at, name, other) for other in others])
                for left, method, right, others in comparisons
                for name in SETS
            ],
            most=True,
            draws=DRAWS,
        )
        for at, when in ((CURVE, "mean of the curve"), ("", "after all answers"))
    ]


def restriction(clusterer: str) -> Item:
    """With and without the forest, hardly any difference."""
    return claim(
        f"4.4.2: {clusterer} with and without the forest can hardly be told apart (within {LEVEL}), on most sets",
        [(n, Cell(PAGE, RANDOM, n, f"{clusterer}+tree"), [Cell(PAGE, RANDOM, n, clusterer)]) for n in SETS],
        within=LEVEL,
        level=True,
        most=True,
        draws=DRAWS,
    )


DOCUMENT = Document(
    key="p17-4",
    title="[P17] chapter 4: active clustering",
    about="Yuanli Pei, *Learning with partial supervision for clustering and classification*, thesis, Oregon State "
    "University, 2017, chapter 4.",
    benchmarks=(PAGE, WORKED),
    remarks=(
        "The prior is the printed one, a Gaussian centred on 0, with the thesis' lambda, tau, eps and number of "
        "particles. Figures have no printed numbers: the text's claims are checked. Other centres of the Gaussian, our "
        "default among them, have tables of their own on our page.",
    ),
    parts=(
        Part(
            "Table 4.1: the sets (p. 71)",
            [
                *(
                    exactly(f"{name}: rows, features, classes", printed, Cell(WORKED, "Table 4.1 of [P17]", name, "1"))
                    for name, printed in TABLE_4_1.items()
                ),
            ],
        ),
        Part(
            "Figure 4.1: random pairs (p. 72)",
            [
                *above(
                    "BC+tree above ITML and MPCK-Means, with and without the forest,",
                    (RANDOM, "BC+tree", RANDOM, ("ITML", "ITML+tree", "MPCK-Means", "MPCK-Means+tree")),
                ),
                restriction("ITML"),
                restriction("MPCK-Means"),
            ],
            pictures=[("ask_fidelity-1.png", "Random pairs")],
        ),
        Part(
            "Figure 4.2: chosen pairs (p. 74)",
            [
                *(
                    item
                    for method in CRITERIA
                    for item in above(
                        f"{method} above NPU and MinMax, with either clusterer,", (CHOSEN, method, CHOSEN, RIVALS)
                    )
                ),
                *above("Info+BC above Uncertain+BC", (CHOSEN, CRITERIA[0], CHOSEN, CRITERIA[1:])),
                *(
                    item
                    for method in CRITERIA
                    for item in above(f"{method} above random pairs", (CHOSEN, method, RANDOM, ("BC+tree",)))
                ),
            ],
            pictures=[("ask_fidelity-2.png", "Chosen pairs")],
        ),
        Part(
            "Table 4.2: dropped pairs, Info/Uncertain (p. 77)",
            [
                *(dropped(name, at) for name in TABLE_4_2 for at in (0, 1)),
                claim(
                    "slightly more pairs are dropped for Info than for Uncertain, on most sets",
                    [
                        (
                            name,
                            Cell(PAGE, DROPPED, f"{name} / uncertain+BC", "mean of the six"),
                            [Cell(PAGE, DROPPED, f"{name} / info+BC", "mean of the six")],
                        )
                        for name in SETS
                    ],
                    most=True,
                    lower=True,
                    draws=DRAWS,
                ),
                judged(
                    "a pair has to be dropped for less than 10 % of the questions",
                    PAGE,
                    "questions for which a pair had to be dropped, of those in the table",
                    draws=DRAWS,
                ),
            ],
            text="The mean of the six numbers of a row is compared. The thesis chooses from a pool of pairs whose "
            "size it does not say, ours from all pairs: where Info keeps asking about the same few rows (Fertility, "
            "balance), all questions chain into one tree, and many of the best pairs would close a cycle.",
        ),
        Part(
            "Section 4.4.1: parameters",
            [
                claim(
                    f"not sensitive to tau (0.5 and 2 within {LEVEL} of 1)",
                    other("tau=0.5", "tau=2"),
                    within=LEVEL,
                    level=True,
                    draws=DRAWS,
                ),
                claim(
                    f"not sensitive to eps (0.01, 0.1 and 0.2 within {LEVEL} of 0.05)",
                    other("eps=0.01", "eps=0.1", "eps=0.2"),
                    within=LEVEL,
                    level=True,
                    draws=DRAWS,
                ),
                claim(
                    f"of 1, 10 and 100, lambda = 10 is uniformly good (at most {LEVEL} below the best)",
                    [
                        (
                            name,
                            Cell(PAGE, OTHER, name, TAKEN),
                            [Cell(PAGE, OTHER, name, value) for value in ("penalty=1", "penalty=100")],
                        )
                        for name in SETS
                    ],
                    within=LEVEL,
                    draws=DRAWS,
                ),
            ],
            text="Random pairs in a forest, after all answers.",
        ),
    ),
    story="claims that questions chosen by a Bayesian model, kept exact by asking no pair that closes a cycle, "
    "cluster better than those of MinMax and NPU and than random pairs, by information (Info) more than by "
    "uncertainty. **Holds** on its eight sets, five runs each: Info is above MinMax and NPU with either clusterer on "
    "all eight (Fertility {0}, best of theirs {1}), random pairs in a forest are above ITML and MPCK-Means on most, "
    "and the forest costs these nothing. **Open**: Info against Uncertain, and chosen against random pairs, are "
    "mostly level after all answers. **Does not**: crabs, where other values of eps and lambda change everything; "
    "and Info drops many pairs on Fertility and balance, where all questions chain into one tree. **Our default** "
    "prior, which is not centred on 0, ends at {2} on crabs (printed centre {3}) and {4} on digits-389 ({5}).",
    quoted=(
        Cell(PAGE, CHOSEN, "Fertility", "info+BC"),
        Cell(PAGE, CHOSEN, "Fertility", "npu+MPCK-Means"),
        Cell(PAGE, "Centre of the prior, after all answers", "crabs, sex", "info+either BC"),
        Cell(PAGE, "Centre of the prior, after all answers", "crabs, sex", "info+BC"),
        Cell(PAGE, "Centre of the prior, after all answers", "digits-389", "info+either BC"),
        Cell(PAGE, "Centre of the prior, after all answers", "digits-389", "info+BC"),
    ),
    picture=("../benchmarks/ask_fidelity-2.png", "Pairwise F over the number of questions"),
    wrong=(
        "The gradient below (4.13) has the wrong sign on its last term.",
        "lambda multiplies |W|^2 / 2: it is the precision of the Gaussian, not its variance.",
        "Without answers the prior as written has its mode at W = 0 on every set tried: it clusters nothing before the "
        "first answer. There the gradient of (4.13) is exactly 0 whatever was answered, because clusters may change "
        "places: a search that begins at 0 stays there.",
    ),
    own=(
        *(
            (
                f"{name}: our default prior, Info, after all answers; pairwise F, first ten runs",
                Cell(PAGE, "Centre of the prior, after all answers", name, "info+either BC"),
            )
            for name in SETS
        ),
        (
            "digits, raw, 100 exact answers, adjusted Rand index, our session",
            Cell("ask_quality", "Exact answers, number of clusters given", "digits, raw", "100 questions"),
        ),
        (
            "gain of the pair chosen with our caps, of the best of all",
            Cell(PAGE, "", "gain with both caps, judged by all particles", "measured"),
        ),
    ),
)
