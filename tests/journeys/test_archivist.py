"""An archivist: photographs that lost their tags get them back, and what people confirm goes beside them."""

from __future__ import annotations

import csv
import json
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

pytestmark = pytest.mark.slow
pytest.importorskip("onnxruntime", reason="photographs are told apart by the extra eyes")


@pytest.fixture(scope="module")
def estate(tmp_path_factory, data_dir):
    """Photographs and the tags of two thirds of them; what the others show is known here alone."""
    source = data_dir / "msrcv2_photos"
    if not source.is_dir():
        pytest.skip("the photographs of MSRC v2 are not there")
    place = tmp_path_factory.mktemp("archivist")
    shutil.copytree(source / "photos", place / "photos")
    with (source / "tags.csv").open(encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    lost = set(random.Random(0).sample(range(len(lines)), len(lines) // 3))
    with (place / "tags.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *(line for k, line in enumerate(lines) if k not in lost)])
    return place, {lines[k][0]: set(lines[k][1].split()) for k in lost}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIDELIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(scope="module")
def made(estate, sidelight):
    place, _ = estate
    code, told = sidelight("studio", "new", "photos", "--labels", "tags.csv", "--name", "estate", cwd=place)
    assert code == 0, told
    assert "says nothing about 65 of 197 files" in told
    return place / "sidelight-studio" / "runs" / "estate"


def micro_f1(found, truth):
    both = sum(len(found[name] & tags) for name, tags in truth.items())
    return 2 * both / sum(len(found[name]) + len(tags) for name, tags in truth.items())


def test_photographs_get_their_tags_back(estate, made):
    with (made / "bags.csv").open(encoding="utf-8") as file:
        found = {line["bag"]: set(filter(None, line["by_features_alone"].split("|"))) for line in csv.DictReader(file)}
    assert micro_f1(found, estate[1]) >= 0.85


def test_what_people_confirm_goes_beside_the_photographs(estate, made, sidelight, chromium):
    place, truth = estate
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "sidelight", "studio", "--port", str(port), "--no-browser"], cwd=place
    )
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                with urllib.request.urlopen(f"{url}/api/projects", timeout=5) as answer:
                    number = json.load(answer)["projects"][0]["id"]
                break
            except OSError:  # it starts
                time.sleep(0.25)
        page = chromium.new_page()
        page.goto(f"{url}/p/{number}/tags")
        page.wait_for_selector(".photograph .tag")
        assert "65 photographs of 197 came without tags" in page.locator("#tags-left").inner_text()
        name = page.locator(".photograph .about b").first.inner_text()
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(".box.lit")
        page.keyboard.press("n")  # the first suggestion is refused, and another tag typed
        page.wait_for_selector(".photograph:first-child .tag.absent")
        refused = page.locator(".photograph:first-child .tag.absent .name").inner_text().split()[0]
        page.keyboard.press("t")
        page.keyboard.type("estate sale")
        page.keyboard.press("Enter")
        page.wait_for_selector(".photograph:first-child .tag.there")
        page.request.post(f"{url}/api/projects/{number}/write-back", headers={"X-Sidelight": "1"}, data={})
        page.close()
    finally:
        server.terminate()
        server.wait(30)
    assert name in truth
    code, told = sidelight("export", made, "--as", "digikam", cwd=place)
    assert code == 0, told
    written = (place / "photos" / f"{name}.xmp").read_text(encoding="utf-8")
    assert "estate sale" in written
    assert f">{refused}<" not in written
