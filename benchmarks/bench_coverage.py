"""Coverage: time to convergence on the papers' sets, growth to a million rows, memory, and the kernel's error."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.special import log_softmax

import sidelight as sl
from datasets import load, title
from runner import Sheet, peak_megabytes
from sidelight._models.objective import BlockedObjective, SoftmaxLinear, block_cuts
from sidelight._terms.information import Balance, Confidence
from sidelight.estimators._labelled_bags.coverage import BagPlan, coverage_posteriors
from sidelight.estimators._labelled_bags.supervision import plan_bags
from sidelight.estimators.coverage.problem import Coverage

TITLE = "Coverage: speed and memory"
LIMITS = {"hja": 2.0, "msrcv2": 1.0, "carroll": 0.3}
SIZES = (10_000, 100_000, 1_000_000)
MOST_TIMES = 4.0  # the default may take that many times as long as straight boundaries


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        '`CoverageClustering(boundary="straight")` until answers stop moving (`tol="auto"`), after compilation, unless '
        "it says otherwise; generated bags: ten rows, three labels, 20 classes. Sets differ in iterations, so "
        "growth is measured for ten of them too."
    )
    for name, limit in LIMITS.items():
        X, bags, _ = load(name)
        straight = sl.CoverageClustering(boundary="straight")
        sheet.time(
            f"{title(name)}, K = C", lambda X=X, bags=bags, straight=straight: straight.fit(X, bags=bags), at_most=limit
        )
        the_default(sheet, name)
    evaluation(sheet)
    took: dict[int, tuple[float, int]] = {}
    sheet.growth("one start to convergence, 40 features", SIZES, lambda n: took.setdefault(n, one_start(n))[0])
    sheet.row("iterations to convergence", ", ".join(f"{n:,}: {took[n][1]}" for n in SIZES))
    slope = sheet.growth("ten iterations, 40 features", SIZES, lambda n: one_start(n, max_iter=10, tol=0.0)[0])
    sheet.row("growth with rows, at a fixed number of iterations", f"slope {slope:.2f}", "<= 1.1", slope <= 1.1)
    last = took[SIZES[-1]][0]
    sheet.row("1,000,000 rows x 40, one start", f"{last:.0f} s", "<= 50 s", last <= 50)
    memory(sheet)
    beyond_the_cap(sheet)


def the_default(sheet: Sheet, name: str) -> None:
    """How much longer the default takes, which tries both boundaries: processor time, least of three."""
    X, bags, _ = load(name)

    def least(fit: Callable[[], object]) -> float:
        times = []
        for _ in range(3):
            begin = time.process_time()
            fit()
            times.append(time.process_time() - begin)
        return min(times)

    straight, default = (
        least(lambda how=how: sl.CoverageClustering(boundary=how, random_state=0).fit(X, bags=bags))
        for how in ("straight", "auto")
    )
    sheet.row(
        f"{title(name)}: the default against straight boundaries, processor time",
        f"{default / straight:.1f} times ({default:.2f} s)",
        f"<= {MOST_TIMES:g} times",
        default / straight <= MOST_TIMES,
    )


def evaluation(sheet: Sheet) -> None:
    """One evaluation of the objective at 200,000 x 48, K = 20: wall clock, and processor time by cores."""
    n, d, K = 200_000, 48, 20
    generator = np.random.default_rng(0)
    chosen = np.argsort(generator.random((n // 10, K)), axis=1)[:, :3]
    X = generator.standard_normal((n, d)) + generator.standard_normal((K, d))[chosen[:, np.arange(10) % 3].ravel()]
    Y = np.zeros((n // 10, K), dtype=np.int8)
    np.put_along_axis(Y, chosen, 1, axis=1)
    bags = sl.Bags.from_indicator(np.repeat(np.arange(n // 10), 10), Y)
    plan = plan_bags(bags, np.full(n, -1), anything_novel=False, wrong=0.0, forgotten=0.0)
    terms = [(1.0, Coverage(plan, np.arange(K))), (0.3 * n, Balance()), (0.3 * n, Confidence(n_rows=n))]
    model = SoftmaxLinear(d, K)
    objective = BlockedObjective(model, X, terms, 1.5, block_cuts(plan.starts, K))
    theta = 0.1 * generator.standard_normal(model.n_parameters)
    walls, processors = [], []
    for _ in range(10):
        wall, processor = time.perf_counter(), time.process_time()
        objective(theta)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    what = "one evaluation of the objective, 200,000 x 48, K = 20"
    sheet.row(what, f"{min(walls):.3f} s", "<= 0.12 s", min(walls) <= 0.12)
    sheet.row(f"{what}: processor time", f"{min(processors):.3f} s")


def made(n_rows: int, seed: int = 0) -> tuple[np.ndarray, sl.Bags]:
    """Bags of ten rows of three classes out of 20, in 40 dimensions."""
    generator = np.random.default_rng(seed)
    n_bags, centres = n_rows // 10, generator.standard_normal((20, 40))
    chosen = np.argsort(generator.random((n_bags, 20)), axis=1)[:, :3]
    y = chosen[:, generator.permutation(np.arange(10) % 3)].ravel()
    X = generator.standard_normal((n_rows, 40))
    X += centres[y]
    Y = np.zeros((n_bags, 20), dtype=np.int8)
    np.put_along_axis(Y, chosen, 1, axis=1)
    return X, sl.Bags.from_indicator(np.repeat(np.arange(n_bags), 10), Y)


def one_start(n_rows: int, **options: float) -> tuple[float, int]:
    """Seconds and iterations of one start: to convergence, or as far as ``options`` let it go."""
    X, bags = made(n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if options else "error", sl.errors.ConvergenceWarning)
        begin = time.perf_counter()
        model = sl.CoverageClustering(n_init=1, boundary="straight", **options).fit(X, bags=bags)
        return time.perf_counter() - begin, model.n_iter_


def memory(sheet: Sheet) -> None:
    """Peak memory of a million rows beyond the rows themselves."""
    code = "from bench_coverage import made; import sidelight as sl; X, bags = made(1_000_000)"
    for boundary, limit in (("straight", 4), ("curved", 6)):
        short = f"sl.CoverageClustering(n_init=1, boundary={boundary!r}, max_iter=2, tol=0).fit(X, bags=bags)"
        import_and_fit = f"import warnings; warnings.simplefilter('ignore'); {code}; {short}"
        beyond = (peak_megabytes(import_and_fit) - 1_000_000 * 40 * 8 / 2**20) / 1024
        what = f"1,000,000 rows x 40, {boundary} boundaries: peak memory beyond X"
        sheet.row(what, f"{beyond:.2f} GB", f"<= {limit} GB", beyond <= limit)


def beyond_the_cap(sheet: Sheet) -> None:
    """Error of the approximation for more than 12 labels, against the exact pass."""
    rows = []
    for m in (13, 14, 16):
        for ratio in (1, 2, 4):
            errors, drops = [], []
            for seed in range(10):
                n = m * ratio
                log_P = log_softmax(2.0 * np.random.default_rng(seed).normal(size=(n, m)), axis=1)
                plan = BagPlan(
                    np.arange(n), np.array([0, n]), np.array([0, m]), np.arange(m), np.array([m]), np.zeros(1),
                    np.full(n, -1),
                )  # fmt: skip
                exact, value = coverage_posteriors(np.exp(log_P), log_P, np.arange(m), plan, cap=m)
                near, approximate = coverage_posteriors(np.exp(log_P), log_P, np.arange(m), plan)
                errors.append(np.abs(exact - near).mean())
                drops.append(abs(value[0] - approximate[0]))
            rows.append([m, m * ratio, f"{np.mean(errors):.5f}", f"{np.max(errors):.5f}", f"{np.mean(drops):.3f}"])
    sheet.section(
        "Bags of more labels than the cap of 12: error against the exact pass",
        ["labels", "rows", "mean |Q - exact|", "worst of 10 bags", "mean error of log likelihood"],
        rows,
    )
