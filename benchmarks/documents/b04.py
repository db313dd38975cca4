"""[B04]: Bouvrie 2004, multi-source contingency clustering."""

from __future__ import annotations

from verdicts import (
    FACT,
    METHOD,
    RIVAL,
    Cell,
    Document,
    Draws,
    Item,
    Part,
    Said,
    apart,
    cannot,
    claim,
    figure,
    judged,
)

PAGE, WORKED, IN_TURN, TRIED = "sources_fidelity", "worked_examples", "sources_interleaving", "sources_trials"
PEOPLE = "sources_people"
GONE = "the thesis' recordings of people were never published"
PAIRS = ("face/upper", "face/lower", "face/height")
MARGINS = "Tables 4.2, 4.4, 4.5 and 4.7: two-way margins and three-way joints, errors in %"
TURNS = "Tables 4.3, 4.6 and 4.8 of [B04], errors in %"
BEST = "Tables 4.9 and 4.11: the best margin of each method, and how much its raw error varies"
NOISY = "Table 4.12: 1094 of 19,136 points corrupted, final error in % (face/upper; faces alone for agglomeration)"
LINKED = "Table 4.1: seeded agglomeration of faces, error in %"
# raw and final error in % by subjects and table
TABLE_4_2 = {
    "5": ("8.5 and 1.2", "16.9 and 24.9", "18.2 and 21.8"),
    "10": ("7.4 and 8.4", "7.2 and 9.2", "13.8 and 15.0"),
}
TABLE_4_4 = {
    "3": ("22.6 and 30.0", "23.0 and 29.9", "21.7 and 27.6"),
    "5": ("28.8 and 34.7", "29.5 and 35.5", "28.8 and 33.9"),
    "10": ("30.2 and 35.0", "31.1 and 36.1", "32.0 and 37.4"),
}
TABLE_4_5 = {
    "5": ("6.3 and 8.2", "8.5 and 14.7", "7.8 and 10.6", "6.7 and 10.1", "7.1 and 9.6"),
    "10": ("1.2 and 1.6", "4.1 and 6.6", "12.3 and 13.3", "5.2 and 6.2", "4.5 and 5.7"),
}
TABLE_4_7 = {
    "5": ("15.0 and 20.3", "18.7 and 27.9", "15.1 and 19.2"),
    "10": ("13.3 and 17.0", "14.2 and 18.9", "18.8 and 22.2"),
}
TABLE_4_1 = {"5": ("59.1", "36.2", "13.1"), "10": ("22.8", "57.0", "30.7")}
INTERLEAVED = {
    "spectral": ("8.5 and 1.2", "1.7 and 0.9"),
    "annealed": ("7.0 and 7.8", "1.1 and 1.3"),
    "information": ("(illegible) and 16.3", "12.7 and 15.3"),
}
TABLE_4_11 = {
    "annealed": ("2.0", "1.7"),
    "spectral": ("2.7", "3.8"),
    "weights": ("4.1", "5.2"),
    "information": ("5.6", "5.2"),
}
TABLE_4_12 = {
    "spectral": ("8.4", "14.3"),
    "seeded agglomeration, single": ("22.8", "58.0"),
    "seeded agglomeration, average": ("30.7", "30.7"),
    "seeded agglomeration, complete": ("57.0", "57.5"),
}
SUBJECTS = ("5", "10")


def error(subjects: str, method: str, table: str, column: str = "FE") -> Cell:
    """An error on generated people."""
    return Cell(PAGE, MARGINS, f"{subjects} / {method} / {table}", column)


def trials(method: str) -> Draws:
    """How many trials of a method there are, of the thesis'."""
    return Said(PAGE, rf"Trials:[^.]*\b{method} (\d+)"), 55 if method == "annealed" else 100


def shown(method: str, printed: dict[str, tuple[str, ...]], tables: tuple[str, ...] = PAIRS) -> list[Item]:
    """The rows of a table, with what generated people gave beside them."""
    return [
        cannot(
            f"{n} subjects, {table}: RE and FE, %",
            text,
            GONE,
            error(n, method, table, "RE"),
            error(n, method, table),
            draws=trials(method),
            whose=whose(method),
        )
        for n, texts in printed.items()
        for table, text in zip(tables, texts)
    ]


def turned(method: str) -> list[Item]:
    """A table of interleaving, and whether it is at least as good as the best margin."""
    return [
        cannot(
            f"{n} subjects: RE and FE, %",
            text,
            GONE,
            Cell(IN_TURN, TURNS, f"{n} / {method}", "RE"),
            Cell(IN_TURN, TURNS, f"{n} / {method}", "FE"),
            draws=(Said(IN_TURN, rf"\| {n} \| {method} \| \d+ \| (\d+) of"), 50 if method == "annealed" else 100),
            whose=whose(method),
        )
        for n, text in zip(SUBJECTS, INTERLEAVED[method])
    ]


def seen(what: str, *names: str, subjects: tuple[str, ...] = ("5", "10", "20")) -> Item:
    """A claim on people who walk: one method or table before another, compared on the same draws of people."""
    cells = [
        (f"{name}, {n} subjects", Cell(PEOPLE, "Draw by draw", f"{name}, {n} subjects", "difference in %"))
        for name in names
        for n in subjects
    ]
    return apart(f"{what} {WALKING}", cells, draws=(Said(PEOPLE, r"(\d+) draws of 5, 10 or 20"), 20))


def whose(method: str) -> str:
    """Dhillon's algorithm and seeded agglomeration are other people's; the thesis compares with them."""
    return RIVAL if method == "information" or "agglomeration" in method else METHOD


def seconds(subjects: str, method: str) -> Cell:
    """The time of a trial."""
    return Cell(PAGE, BEST, f"{subjects} / {method}", "time of a trial")


ON, WALKING = "(generated people)", "(people who walk)"
JOINTS = (*PAIRS, "face/upper/lower", "face/upper/height")
DOCUMENT = Document(
    key="b04",
    title="[B04] Several related sources",
    about="Jake V. Bouvrie, *Multi-source contingency clustering*, thesis, Massachusetts Institute of "
    "Technology, 2004.",
    benchmarks=(PAGE, IN_TURN, TRIED, WORKED, PEOPLE),
    remarks=(
        "**The thesis' recordings cannot be had**, so that no error of chapter 4 can be compared: figures of generated "
        "people (`make_sources`), with as many subjects, sequences and points, stand beside the thesis' without a "
        "verdict. **Which method or table is ahead is judged on people who walk** (USF gait gallery, 20 draws of 5, 10 "
        "and 20 people; [our page](../benchmarks/sources_people.md)): heads, upper and lower parts of silhouettes are "
        "the channels. A claim holds where a difference, draw by draw, is two standard errors below 0. Silhouettes "
        "have no clothes, on which the thesis' upper and lower bodies rest, and no heights.",
    ),
    parts=(
        Part(
            "Section 1.4.3: the 4 x 4 example",
            [
                figure(
                    "D_KL(P, Q), bits",
                    "0.0137",
                    Cell(WORKED, "Section 1.4.3 of [B04]", "D_KL(P, Q), bits", "1"),
                    lower=True,
                    whose=FACT,
                ),
                figure(
                    "D_KL(P, P_2), bits",
                    "0.0154",
                    Cell(WORKED, "Section 1.4.3 of [B04]", "D_KL(P, P_2), bits, P_2 normalised", "1"),
                    lower=True,
                    whose=FACT,
                ),
                figure(
                    "norm of P - Q", "0.0400", Cell(WORKED, "Section 1.4.3 of [B04]", "norm of P - Q", "1"), whose=FACT
                ),
                figure(
                    "norm of P - P_2",
                    "0.0382",
                    Cell(WORKED, "Section 1.4.3 of [B04]", "norm of P - P_2", "1"),
                    lower=True,
                    whose=FACT,
                ),
            ],
        ),
        Part(
            "Table 4.1: seeded agglomeration (p. 61)",
            [
                cannot(
                    f"{n} subjects, {link}: error, %",
                    text,
                    GONE,
                    Cell(PAGE, LINKED, f"{n} subjects", link),
                    whose=RIVAL,
                )
                for n, texts in TABLE_4_1.items()
                for link, text in zip(("single", "complete", "average"), texts)
            ],
        ),
        Part(
            "Table 4.2 and figure 4-4: spectral (p. 66)",
            [
                *shown("spectral", TABLE_4_2),
                seen("the margin with the upper body has the lowest final error", "spectral: upper before lower"),
            ],
            pictures=[("sources_fidelity-1.png", "As figure 4-4: raw and final error by subjects and table")],
        ),
        Part(
            "Table 4.3: spectral, interleaved (p. 67)",
            [
                *turned("spectral"),
                seen("better than the best margin alone", "spectral: in turn before the best margin"),
            ],
        ),
        Part(
            "Table 4.4 and figure 4-6: weights (p. 69)",
            [
                *shown("weights", TABLE_4_4),
                seen(
                    "not as competitive as annealing and spectral", "annealed before weights", "spectral before weights"
                ),
            ],
            pictures=[("sources_fidelity-2.png", "As figure 4-6: weights")],
        ),
        Part(
            "Table 4.5, figures 4-8 and 4-9: annealing (p. 73)",
            [
                *shown("annealed", TABLE_4_5, JOINTS),
                seen("the margin with the upper body has the lowest final error", "annealed: upper before lower"),
                seen(
                    "three channels at once are not better than the best margin on average",
                    "annealed: the best margin before three channels",
                ),
            ],
            pictures=[
                ("sources_fidelity-3.png", "As figure 4-8: annealing, two channels"),
                ("sources_fidelity-4.png", "As figure 4-9: annealing, three channels"),
            ],
        ),
        Part(
            "Table 4.6: annealing, interleaved (p. 75)",
            [*turned("annealed"), seen("better than the best margin", "annealed: in turn before the best margin")],
        ),
        Part(
            "Table 4.7 and figure 4-10: Dhillon's algorithm (p. 77)",
            [
                *shown("information", TABLE_4_7),
                seen("10 subjects: upper bodies tell most", "information: upper before lower", subjects=("10",)),
            ],
            pictures=[("sources_fidelity-5.png", "As figure 4-10: Dhillon's algorithm")],
        ),
        Part(
            "Table 4.8: Dhillon's algorithm, interleaved (p. 77)",
            [
                *turned("information"),
                seen("better than the best margin", "information: in turn before the best margin"),
            ],
        ),
        Part(
            "Tables 4.9 and 4.10: who is best (p. 79)",
            [
                seen("5 subjects: spectral before annealing", "spectral before annealed", subjects=("5",)),
                seen("10 subjects: annealing before spectral", "annealed before spectral", subjects=("10",)),
                seen(
                    "annealing and spectral before Dhillon's and weights",
                    *(f"{a} before {b}" for a in ("annealed", "spectral") for b in ("information", "weights")),
                ),
                seen("Dhillon's before weights", "information before weights"),
                claim(
                    "run times: Dhillon's and spectral take seconds, weights minutes, annealing hours (here: that "
                    f"order) {ON}",
                    [
                        (f"{fast} before {slow}, {n} subjects", seconds(n, fast), [seconds(n, slow)])
                        for n in SUBJECTS
                        for fast, slow in (("spectral", "weights"), ("information", "weights"), ("weights", "annealed"))
                    ],
                    lower=True,
                ),
            ],
        ),
        Part(
            "Table 4.11: deviation of the raw error (p. 79)",
            [
                *(
                    cannot(
                        f"{n} subjects, {method}: %",
                        text,
                        GONE,
                        Cell(PAGE, BEST, f"{n} / {method}", "standard deviation of RE in %, mean of margins"),
                        whose=whose(method),
                    )
                    for method, texts in TABLE_4_11.items()
                    for n, text in zip(SUBJECTS, texts)
                ),
                seen(
                    "annealing varies least",
                    *(f"annealed varies less than {other}" for other in ("spectral", "information", "weights")),
                ),
            ],
        ),
        Part(
            "Table 4.12: noise (p. 83)",
            [
                *(
                    cannot(
                        f"{method}: final error, original and corrupted, %",
                        f"{before} and {after}",
                        GONE,
                        Cell(PAGE, NOISY, method, "original"),
                        Cell(PAGE, NOISY, method, "corrupted"),
                        whose=whose(method),
                    )
                    for method, (before, after) in TABLE_4_12.items()
                ),
                seen(
                    "the error of spectral grows by less than that of single and complete linkage",
                    *(f"noise: spectral grows less than {link} linkage" for link in ("single", "complete")),
                ),
            ],
        ),
        Part(
            "Section 1.5.1: mixtures that share posteriors (p. 28)",
            [
                judged(
                    f"the strong channel is worse off than alone, the weak one better {ON}",
                    TRIED,
                    "1.5.1: paired, the stronger channel is worse off than alone, and the weaker one better",
                ),
            ],
            text="Two mixtures are paired by a Boltzmann distribution, after Ivanov and Blumberg.",
        ),
    ),
    story="claims that co-clustering tables of codes seen together, by annealing or by singular vectors, finds "
    "people who were recorded in several channels, better than Dhillon's algorithm and than weights, and that "
    "margins clustered in turn are better than the best alone. The recordings were never published; orders are "
    "judged on people who walk, seen as silhouettes. **Holds** there, with 5, 10 and 20 people: {0} **The opposite "
    "holds** (silhouettes have no clothes): {1} What is not named here differs with the number of people or is "
    "level. **Our default** on generated people, one joint table: {2} % before the majority of the sequence (ten "
    "people).",
    quoted=(
        Said(PEOPLE, r"Holds: ([^\n]+)"),
        Said(PEOPLE, r"Does not: ([^\n]+)"),
        Cell(
            PAGE,
            "Why not just concatenate? Error in %, before and after following the majority of the sequence",
            "this pipeline, one joint table (default)",
            "10 subjects",
        ),
    ),
    plain=(
        ("Figures 1-1, 4-1, 4-2 and 5-1", "illustrations of the problem, the recordings and a kernel."),
        ("Figure 2-1", "interleaving; `estimators/sources`, measured in tables 4.3, 4.6 and 4.8."),
        ("Figure 4-3", "seeded agglomeration, measured in table 4.1."),
        ("Figure 4-5", "how spectral clustering is seeded; `estimators/sources/spectral.py`."),
        ("Figures 4-7 and 4-11", "a typical matrix of weights and a clustered table; `sidelight.plot` draws both."),
    ),
    wrong=(
        "Algorithm 3 asks for eigenvectors of a matrix that is neither symmetric nor, in general, square: singular "
        "vectors are meant.",
        "A temperature from 5 to 0.005 does not fit the scale of the objective, which differs from table to table: "
        "with "
        "32 codes it ends a little too warm and keeps less information than ours, which is calibrated on the table; "
        "with 200 rows a move changes the objective by far less than 0.005, and the end state is still random.",
        "(5.1) adds lambda |h|^2 to what is maximised: it must be taken away.",
        "3.1.1: W^r and W^c are swapped in both derivatives, the norm form takes roots of negatives, and U = "
        "P(x^)P(y^) only "
        "if the weights sum to one.",
        "(3.9): the multipliers are minimised over; (3.7) is an inequality. C_row runs to m. RE = TE - QE can "
        "be negative.",
        "0.0154 bits for P_2 in 1.4.3 needs P_2 normalised.",
        "4.4 says that faces with lower bodies were worst for all algorithms and all sets; by tables 4.2, 4.4, "
        "4.5 and 4.7 "
        "faces with heights are worst for 10 subjects.",
        "4.5 says that the error of all linkages but the average grew far more than that of spectral; by table "
        "4.12 complete "
        "linkage grew by 0.5, spectral by 5.9 points.",
        "4.4 says that Dhillon's algorithm was always worse than seeded agglomeration; with 10 subjects its "
        "17.0 to 22.2 % are "
        "below the best linkage's 22.8 %.",
        "The raw errors of 5 subjects in table 4.4 and all of 5 subjects in table 4.7 are shares of about 7,180 "
        "points, by the "
        "counts beside them (1075 is 15.0 % of 7,167); the set has 7,379.",
    ),
    own=(
        (
            "5 subjects, one joint table, our default: total error before the majority, %",
            Cell(
                PAGE,
                "Why not just concatenate? Error in %, before and after following the majority of the sequence",
                "this pipeline, one joint table (default)",
                "5 subjects",
            ),
        ),
        (
            "10 subjects, the same",
            Cell(
                PAGE,
                "Why not just concatenate? Error in %, before and after following the majority of the sequence",
                "this pipeline, one joint table (default)",
                "10 subjects",
            ),
        ),
        (
            "six views of digits, NMI, all views balanced",
            Cell(
                PAGE,
                "mfeat: 2000 digits seen six ways, NMI with the digits (mean of five seeds)",
                "all views, balanced k-means",
                "NMI",
            ),
        ),
        *(
            (
                f"5.1.1: weights in an RKHS, lambda {lam}, {n} subjects, face/upper: final error, %",
                Cell(TRIED, "5.1.1: weights in an RKHS", f"{n} / face/upper / {lam}", "FE"),
            )
            for n in SUBJECTS
            for lam in ("0", "0.0001")
        ),
        *(
            (
                f"4.3.3: {n} subjects, face/upper, information in nats: the printed schedule, and ours",
                Cell(
                    TRIED, "4.3.3: the printed schedule of temperatures", f"{n} / face/upper", f"information, {which}"
                ),
            )
            for n in SUBJECTS
            for which in ("printed", "ours")
        ),
    ),
)
