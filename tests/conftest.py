"""What every test shares: a hypothesis profile, a numba cache per worker and source, and the way to the public data."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
import threading
from pathlib import Path

import pytest


def _kernel_sources() -> str:
    """Name the source of all kernels: numba forgets to recompile a kernel when only one that it calls has changed."""
    package = Path(__file__).parents[1] / "src" / "sidelight"
    texts = [path.read_bytes() for path in sorted(package.rglob("*.py"))]
    return hashlib.sha256(b"".join(text for text in texts if b"@kernel" in text)).hexdigest()[:16]


# Workers that share one numba cache race each other; a folder per worker keeps compiled kernels between runs.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
_cache = Path(tempfile.gettempdir()) / f"sidelight-numba-{os.getuid()}" / _kernel_sources() / _worker
os.environ.setdefault("NUMBA_CACHE_DIR", str(_cache))

from hypothesis import HealthCheck, settings  # noqa: E402 - numba reads its environment when it is first imported
from tests.examples import up_to  # noqa: E402

# The first example may compile a kernel, so no deadline; derandomised, so that a red run can be repeated.
settings.register_profile(
    "sidelight",
    deadline=None,
    derandomize=True,
    max_examples=up_to(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("sidelight")


def skip_or_fail(reason: str, variable: str) -> None:
    """Skip a test for want of a program; fail where the environment says that the program was installed."""
    if os.environ.get(variable):
        pytest.fail(f"{reason} ({variable} is set)")
    pytest.skip(reason)


def find_data() -> Path | None:
    """Return the folder of public data sets, if this machine has one."""
    named = os.environ.get("SIDELIGHT_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(autouse=True)
def _signals():
    """A command that is done ignores signals until its process ends; here the process goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) != handler:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium, driven by Playwright; no browser is ever downloaded."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        skip_or_fail("no Chromium on this machine (Debian: apt-get install chromium)", "SIDELIGHT_NEEDS_BROWSER")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        try:  # the sandbox refuses to run as root and in most containers, which also have a small /dev/shm
            browser = play.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        except sync_api.Error as error:
            skip_or_fail(f"Chromium does not start on this machine: {str(error)[:200]}", "SIDELIGHT_NEEDS_BROWSER")
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of public data sets; tests that need it skip where there is none."""
    folder = find_data()
    if folder is None:
        pytest.skip("public data not found: set SIDELIGHT_DATA to the folder that holds hja/, msrcv2/, ...")
    return folder
