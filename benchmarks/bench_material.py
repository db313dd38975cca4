"""From raw material to named rows: spoken digits in noise, tagged photographs, posts in digests, judged by their truth.

Recordings are made from single spoken digits: 3 to 8 utterances of 2 to 4 digits in 8 to 12 s of white, pink or humming
noise; the list of digits is the recording's list. Nothing was chosen on these seeds (settings were tried on seed 0).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from datasets import folder as data_folder
from runner import Sheet, peak_megabytes
from sidelight.data.synth.material import RATE, make_photographs, make_recordings
from sidelight.files.material.pictures import PictureRecipe, _pixels, _planes, describe, regions_of
from sidelight.files.material.sounds import SoundRecipe, cut_recording, cut_samples

TITLE = "Raw material: sounds, pictures and texts cut into rows"
ROUNDS = int(os.environ.get("SIDELIGHT_ROUNDS", 3))
FIRST_SEED = 10
KINDS = [  # the numbers of the truth, from 1
    "building", "grass", "tree", "cow", "horse", "sheep", "sky", "mountain", "aeroplane", "water", "face", "car",
    "bicycle", "flower", "sign", "bird", "book", "chair", "road", "cat", "dog", "body", "boat",
]  # fmt: skip
WANTED = {  # the trial's: recall, precision, lists known, held out
    "10 to 20 dB": (0.994, 0.999, 0.990, 0.927),
    "5 dB, overlapping": (0.850, 0.998, 0.917, 0.821),
}


def fill(sheet: Sheet) -> None:
    """Measure sounds, pictures, and how fast both are."""
    sheet.say_if_busy()
    for name, wanted in WANTED.items():
        rounds = np.array([spoken(seed, name) for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS)])
        what = ("segments found", "segments that are utterances", "rows right, lists known", "held out, features alone")
        for k, told in enumerate(what):
            mean, error = rounds[:, k].mean(), rounds[:, k].std(ddof=1) / np.sqrt(ROUNDS)
            met = bool(mean >= wanted[k] - 2 * max(error, 0.005))
            sheet.row(f"spoken digits, {name}: {told}", f"{mean:.3f} ± {error:.3f}", f">= {wanted[k]:.3f}", met)
        sheet.row(f"spoken digits, {name}: logistic regression told every row, held out", f"{rounds[:, 4].mean():.3f}")
    known, held_out = photographs()
    sheet.row("photographs: pixels named right, tags known", f"{known:.3f}", ">= 0.785", known >= 0.785)
    sheet.row("photographs: pixels named right on held-out ones", f"{held_out:.3f}", ">= 0.658", held_out >= 0.658)
    posts = np.array([digests(seed) for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS)])
    for k, (told, wanted_share) in enumerate((("lists known", 0.860), ("held out, words alone", 0.536))):
        mean, error = posts[:, k].mean(), posts[:, k].std(ddof=1) / np.sqrt(ROUNDS)
        met = bool(mean >= wanted_share - 2 * error)
        sheet.row(
            f"digests of posts: posts named right, {told}", f"{mean:.3f} ± {error:.3f}", f">= {wanted_share}", met
        )
    sheet.notes.append(
        f"Spoken digits: seeds {FIRST_SEED} to {FIRST_SEED + ROUNDS - 1}, 150 recordings each, 70 % of them to learn "
        "from. Digests: the same seeds, 2,000 posts of 20 news groups, 3 to 8 of 2 to 4 groups each. Photographs: "
        "a third of MSRC v2 (197 of the trial's 591, so fewer to learn from), five folds. Fewer is why held-out ones "
        "are named worse than in the trial (measured once, on the same photographs and folds): its own features reach "
        "0.575 on our regions and 0.546 on its own; ours 0.403, 0.501, 0.570 and 0.584 with a quarter, half, three "
        "quarters and all of the others to learn from; a regression told the truth of every region 0.659."
    )
    overlaps(sheet)
    speed(sheet)


def digests(seed: int) -> tuple[float, float]:
    """Return the share of posts named right: lists of digests known, and on held-out digests by words alone."""
    data = sl.read(data_folder() / "newsgroups" / "mini_newsgroups.tar.gz")
    group, generator = data.y.astype(str), np.random.default_rng(seed)
    left = {name: generator.permutation(np.flatnonzero(group == name)).tolist() for name in sorted(set(group))}
    rows, bag, lists = [], [], {}
    while len(filled := [name for name in left if left[name]]) > 1:
        present = generator.choice(filled, size=min(len(filled), generator.integers(2, 5)), replace=False).tolist()
        more = generator.choice(present, size=max(0, int(generator.integers(3, 9)) - len(present))).tolist()
        dealt = [left[name].pop() for name in [*present, *more] if left[name]]
        rows += dealt
        bag += [len(lists)] * len(dealt)
        lists[len(lists)] = set(group[dealt].tolist())
    order, ids = np.array(rows), np.array(bag)
    learns = ids < 0.7 * len(lists)
    model = sl.Standardized(sl.CoverageClustering(random_state=seed), kind="words", n_directions=200)
    model.fit(data.X[order[learns]], bags=sl.Bags(ids[learns], labels={b: lists[b] for b in set(ids[learns].tolist())}))
    named = np.array(model.estimator_.cluster_names_)[model.labels_]
    placed = model.predict_labels(data.X[order[~learns]]).astype(str)
    return float((named == group[order[learns]]).mean()), float((placed == group[order[~learns]]).mean())


def overlaps(sheet: Sheet) -> None:
    """Compare cuts in time with patches of time and pitch, where calls overlap."""
    lines = []
    for share in (0.0, 0.5, 1.0):
        for cut in ("time", "masks"):
            found = np.array([_calls_named(seed, share, cut) for seed in range(FIRST_SEED, FIRST_SEED + ROUNDS)])
            lines.append((f"{share:.0%}", cut, f"{found[:, 0].mean():.3f}", f"{found[:, 1].mean():.3f}"))
    sheet.section(
        "Calls that overlap",
        ("calls that begin within another", "cut", "calls that a piece of their name covers", "pieces named right"),
        lines,
    )
    sheet.notes.append(
        "Calls that overlap: 60 made-up recordings a seed, five birds at different pitch, lists known. Where voices "
        "overlap at the same pitch (spoken digits, measured once) patches are worse held out, 0.69 of the pieces right "
        "against 0.90 by time, so time is the default."
    )
    sheet.notes.append(
        "Times are judged by processor time over two cores, because cores were shared; an earlier run, with less "
        "beside it, took 11.6 s for the sounds and 86.7 s for the pictures."
    )


def _calls_named(seed: int, share: float, cut: str) -> tuple[float, float]:
    recordings = make_recordings(60, overlapping=share, random_state=seed)
    recipe = SoundRecipe(RATE, cut)
    pieces = [(k, p) for k, made in enumerate(recordings) for p in cut_samples(made.samples, RATE, recipe)]
    bags = sl.Bags([k for k, _ in pieces], labels={k: made.species for k, made in enumerate(recordings)})
    model = sl.Standardized(sl.CoverageClustering(random_state=seed))
    model.fit(np.array([piece.features for _, piece in pieces]), bags=bags)
    named = np.array(model.estimator_.cluster_names_)[model.labels_]
    covered = [
        any(
            of == k and name == told and _shared(piece.start, piece.end, a, b) > 0.3 * (b - a)
            for (of, piece), told in zip(pieces, named)
        )
        for k, made in enumerate(recordings)
        for a, b, name in made.calls
    ]
    right = [
        any(
            name == told and _shared(piece.start, piece.end, a, b) > 0.3 * (piece.end - piece.start)
            for a, b, name in recordings[k].calls
        )
        for (k, piece), told in zip(pieces, named)
    ]
    return float(np.mean(covered)), float(np.mean(right))


def spoken(seed: int, name: str) -> tuple[float, ...]:
    """Return recall and precision of segments, rows right with lists known, held out, and a regression's held out."""
    import soundfile

    generator = np.random.default_rng(seed)
    folder = data_folder() / "spoken_digits" / "recordings"
    by_digit: dict[str, list[np.ndarray]] = {}
    for file in sorted(folder.glob("*.wav")):
        sound, _ = soundfile.read(file, dtype="float64")
        by_digit.setdefault(file.name[0], []).append(sound / max(np.sqrt((sound**2).mean()), 1e-9))
    X, y, bag, lists, found, n_calls = [], [], [], {}, 0, 0
    with tempfile.TemporaryDirectory() as place:
        for k in range(150):
            sound, calls = _mixture(by_digit, generator, overlapping=name != "10 to 20 dB")
            path = Path(place) / "r.wav"
            soundfile.write(path, sound, 8000)
            lists[k] = {digit for _, _, digit in calls}
            pieces = cut_recording(path, SoundRecipe(8000))
            n_calls += len(calls)
            found += sum(any(_shared(p.start, p.end, a, b) > 0.3 * (b - a) for p in pieces) for a, b, _ in calls)
            for piece in pieces:
                shares = [_shared(piece.start, piece.end, a, b) for a, b, _ in calls]
                best = int(np.argmax(shares))
                X.append(piece.features)
                bag.append(k)
                y.append(calls[best][2] if shares[best] > 0.3 * (piece.end - piece.start) else "")
    rows, truth, ids = np.array(X), np.array(y), np.array(bag)
    learns = ids < 105
    model = sl.Standardized(sl.CoverageClustering(random_state=seed))
    model.fit(rows[learns], bags=sl.Bags(ids[learns], labels={b: lists[b] for b in range(105)}))
    named = np.array(model.estimator_.cluster_names_)[model.labels_]
    is_call = truth != ""
    plain = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300))
    plain.fit(rows[learns & is_call], truth[learns & is_call])
    test = ~learns & is_call
    return (
        found / n_calls,
        float(is_call.mean()),
        float((named == truth[learns])[is_call[learns]].mean()),
        float((model.predict_labels(rows[test]).astype(str) == truth[test]).mean()),
        float(plain.score(rows[test], truth[test])),
    )


def _mixture(
    by_digit: dict[str, list[np.ndarray]], generator: np.random.Generator, *, overlapping: bool
) -> tuple[np.ndarray, list[tuple[float, float, str]]]:
    n = int(generator.uniform(8, 12) * 8000)
    noise = generator.normal(size=n)
    kind = generator.integers(3)
    if kind == 1:
        spectrum = np.fft.rfft(noise)
        noise = np.fft.irfft(spectrum / np.sqrt(np.arange(len(spectrum)) + 1), n)
    elif kind == 2:
        t = np.arange(n) / 8000
        noise = 0.5 * noise + 1.5 * np.sin(2 * np.pi * 60 * t) + 0.5 * np.sin(2 * np.pi * 180 * t)
    present = [str(d) for d in generator.choice(10, size=generator.integers(2, 5), replace=False)]
    names = [*present, *generator.choice(present, size=max(0, int(generator.integers(3, 9)) - len(present)))]
    sound, calls, at = np.zeros(n), [], 800
    for name in names:
        one = by_digit[str(name)][generator.integers(len(by_digit[str(name)]))]
        if overlapping:
            at = int(generator.integers(400, max(401, n - len(one) - 400)))
        else:
            at += int(generator.uniform(0.1, 0.5) * 8000)
        if at + len(one) > n - 400:
            break
        sound[at : at + len(one)] += one
        calls.append((at / 8000, (at + len(one)) / 8000, str(name)))
        at += len(one)
    level = 5.0 if overlapping else generator.uniform(10, 20)
    mixed = sound + noise / noise.std() * 10 ** (-level / 20)
    return mixed / (1.05 * np.abs(mixed).max()), calls


def _timed(folder: Path, out: Path) -> tuple[float, float]:
    """Return seconds and seconds of processor time of cutting a folder by the command, start and all."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    call = "from sidelight.app.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", call, "from", str(folder), "--out", str(out), "--jobs", "2", "-q"], check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begin, busy


def _shared(a: float, b: float, c: float, d: float) -> float:
    return max(0.0, min(b, d) - max(a, c))


def photographs() -> tuple[float, float]:
    """Return the share of pixels named right: tags known, and on held-out photographs by features alone."""
    folder = data_folder() / "msrcv2_photos"
    lines = (folder / "tags.csv").read_text().splitlines()[1:]
    tags = {line.split(",")[0]: set(line.split(",")[1].split()) for line in lines}
    cuts = []
    for name in tags:
        planes = _planes(_pixels(folder / "photos" / name))
        regions = regions_of(planes, PictureRecipe().regions)
        truth = Image.open(folder / "truth" / f"{Path(name).stem}.png").resize(
            regions.shape[::-1], Image.Resampling.NEAREST
        )
        cuts.append((name, regions, describe(planes, regions), np.asarray(truth)))

    def learnt(some: list[int]) -> sl.Standardized:
        ids = [cuts[k][0] for k in some for _ in cuts[k][2]]
        bags = sl.Bags(ids, labels={name: tags[name] for name in set(ids)})
        return sl.Standardized(sl.CoverageClustering(random_state=0)).fit(
            np.vstack([cuts[k][2] for k in some]), bags=bags
        )

    def right(some: list[int], names: np.ndarray) -> tuple[int, int]:
        n_right = n_seen = first = 0
        for k in some:
            _, regions, features, truth = cuts[k]
            own = np.array([KINDS.index(name) + 1 for name in names[first : first + len(features)]])
            first += len(features)
            seen = truth > 0
            n_right += int((own[regions] == truth)[seen].sum())
            n_seen += int(seen.sum())
        return n_right, n_seen

    every = list(range(len(cuts)))
    model = learnt(every)
    known = right(every, np.array(model.estimator_.cluster_names_)[model.labels_])
    folds = np.random.default_rng(1).permutation(len(cuts)) % 5
    totals = np.zeros(2)
    for fold in range(5):
        train, test = [k for k in every if folds[k] != fold], [k for k in every if folds[k] == fold]
        model = learnt(train)
        totals += right(test, model.predict_labels(np.vstack([cuts[k][2] for k in test])).astype(str))
    return known[0] / known[1], float(totals[0] / totals[1])


def speed(sheet: Sheet) -> None:
    """Cut 100 minutes of sound and 1,000 pictures, and one recording of ten hours."""
    import soundfile

    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "s").mkdir()
        (folder / "p").mkdir()
        t = np.arange(60 * 44_100) / 44_100
        chirps = np.sin(2 * np.pi * (2000 + 500 * np.sin(t)) * t) * (np.sin(2 * np.pi * t) > 0.6)
        for k in range(100):
            noise = 0.02 * generator.normal(size=t.size)
            soundfile.write(folder / "s" / f"{k}.wav", 0.4 * np.roll(chirps, k * 999) + noise, 44_100)
        for k, photograph in enumerate(make_photographs(10, random_state=0)):
            for copy in range(100):
                size = (640, 480)
                Image.fromarray(photograph.pixels).resize(size).save(folder / "p" / f"{k}-{copy}.jpg")
        for name, what, limit in (
            ("s", "100 minutes of 44.1 kHz sound", 40.0),
            ("p", "1,000 pictures of 640 x 480", 120.0),
        ):
            took, busy = _timed(folder / name, folder / f"{name}.parquet")
            told = f"{took:.1f} s ({busy:.1f} s of processor time)"
            sheet.row(f"{what}: two processes", told, f"<= {limit:g} s on two free cores", min(took, busy / 2) <= limit)
        hours = folder / "ten_hours.wav"
        with soundfile.SoundFile(hours, "w", 8000, 1) as file:
            for _ in range(600):
                file.write(0.1 * generator.normal(size=8000 * 60))
        code = (
            "from pathlib import Path\nfrom sidelight.files.material.sounds import SoundRecipe, cut_recording\n"
            f"cut_recording(Path({str(hours)!r}), SoundRecipe(8000))"
        )
        peak = peak_megabytes(code)
        sheet.row("one recording of ten hours: memory", f"{peak:.0f} MB", "<= 1000 MB", peak <= 1000)
