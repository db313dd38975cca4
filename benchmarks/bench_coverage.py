"""Coverage: time to convergence on the papers' sets, growth to a million rows, memory, and the kernel's error."""

from __future__ import annotations

import time
import warnings

import numpy as np
from scipy.special import log_softmax

import sidelight as sl
from datasets import load, title
from runner import Sheet, peak_megabytes
from sidelight._core.coverage import BagPlan, coverage_posteriors

TITLE = "Coverage: speed and memory"
LIMITS = {"hja": 2.0, "msrcv2": 1.0, "carroll": 0.3}
SIZES = (10_000, 100_000, 1_000_000)


def fill(sheet: Sheet) -> None:
    """Measure and add the rows."""
    sheet.notes.append(
        "`CoverageClustering()` to convergence (tol 1e-6) after compilation; generated bags: ten rows, three labels, "
        "20 classes. Sets differ in the iterations they take, so growth is measured for ten of them too."
    )
    for name, limit in LIMITS.items():
        X, bags, _ = load(name)
        sheet.time(
            f"{title(name)}, K = C", lambda X=X, bags=bags: sl.CoverageClustering().fit(X, bags=bags), at_most=limit
        )
    took: dict[int, tuple[float, int]] = {}
    sheet.growth("one start to convergence, 40 features", SIZES, lambda n: took.setdefault(n, one_start(n))[0])
    sheet.row("iterations to convergence", ", ".join(f"{n:,}: {took[n][1]}" for n in SIZES))
    slope = sheet.growth("ten iterations, 40 features", SIZES, lambda n: one_start(n, max_iter=10, tol=0.0)[0])
    sheet.row("growth with rows, at a fixed number of iterations", f"slope {slope:.2f}", "<= 1.1", slope <= 1.1)
    last = took[SIZES[-1]][0]
    sheet.row("1,000,000 rows x 40, one start", f"{last:.0f} s", "<= 240 s", last <= 240)
    memory(sheet)
    beyond_the_cap(sheet)


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
        model = sl.CoverageClustering(n_init=1, **options).fit(X, bags=bags)
        return time.perf_counter() - begin, model.n_iter_


def memory(sheet: Sheet) -> None:
    """Peak memory of a million rows beyond the rows themselves."""
    code = "from bench_coverage import made; import sidelight as sl; X, bags = made(1_000_000)"
    short = "sl.CoverageClustering(n_init=1, max_iter=5, tol=0).fit(X, bags=bags)"
    import_and_fit = f"import warnings; warnings.simplefilter('ignore'); {code}; {short}"
    beyond = (peak_megabytes(import_and_fit) - 1_000_000 * 40 * 8 / 2**20) / 1024
    sheet.row("1,000,000 rows x 40: peak memory beyond X", f"{beyond:.2f} GB", "<= 4 GB", beyond <= 4)


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
