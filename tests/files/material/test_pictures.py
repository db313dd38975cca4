"""Photographs cut into regions: do regions follow what is on them, and is every odd picture read or refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from sidelight.data.synth.material import make_photographs
from sidelight.errors import UnreadableFile
from sidelight.files.material import pictures
from sidelight.files.material.pictures import PictureRecipe, cut_picture, regions_of, taken_at


def test_regions_follow_what_is_on_a_photograph():
    shares = []
    for photograph in make_photographs(10, random_state=0):
        regions = regions_of(pictures._planes(photograph.pixels), 6)
        counts = np.zeros((6, len(photograph.kinds)))
        np.add.at(counts, (regions.ravel(), photograph.kind_of.ravel()), 1)
        shares.append(counts.max(axis=1).sum() / counts.sum())
    assert np.mean(shares) > 0.9  # of the pixels are of the main kind of their region


def test_a_region_has_a_box_a_share_and_named_features(tmp_path):
    path = tmp_path / "p.png"
    Image.fromarray(make_photographs(1, random_state=1)[0].pixels).save(path)
    regions = cut_picture(path, PictureRecipe(regions=4))
    assert len(regions) == 4
    assert sum(region.share for region in regions) == pytest.approx(1.0)
    assert [r.share for r in regions] == sorted((r.share for r in regions), reverse=True)
    names = PictureRecipe().feature_names
    assert len(names) == len(set(names)) == 66
    assert all(region.features.shape == (66,) and np.isfinite(region.features).all() for region in regions)
    for left, top, width, height in (region.box for region in regions):
        assert 0 <= left < 100
        assert 0 <= top < 100
        assert left + width <= 100.001
        assert top + height <= 100.001


def test_a_whole_picture_is_one_row_with_its_quarters(tmp_path):
    path = tmp_path / "p.png"
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:20, :30] = 255
    Image.fromarray(pixels).save(path)
    (whole,) = cut_picture(path, PictureRecipe(whole=True))
    names = PictureRecipe(whole=True).feature_names
    assert len(names) == len(set(names)) == whole.features.size
    light = {name: value for name, value in zip(names, whole.features) if name.startswith("mean lightness")}
    assert light["mean lightness, upper left"] == pytest.approx(100, abs=0.1)
    assert light["mean lightness, lower right"] == pytest.approx(0, abs=0.1)


def test_lab_is_that_of_the_standard():
    rgb = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0]]], np.uint8)
    expected = [[53.24, 80.09, 67.20], [87.73, -86.18, 83.18], [32.30, 79.19, -107.86], [100, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(pictures._lab(rgb)[0], expected, atol=0.02)


def test_patterns_against_a_plain_loop():
    light = np.random.default_rng(0).uniform(0, 100, size=(9, 11))
    codes = pictures._patterns(light, 1)
    for y in range(2, 7):
        for x in range(2, 9):
            around = []
            for k in range(8):
                dy, dx = np.sin(2 * np.pi * k / 8), np.cos(2 * np.pi * k / 8)
                y0, x0 = int(np.floor(dy)), int(np.floor(dx))
                wy, wx = dy - y0, dx - x0
                corner = light[y + y0 : y + y0 + 2, x + x0 : x + x0 + 2]
                value = (
                    np.array([1 - wy, wy])
                    @ np.pad(corner, ((0, 2 - corner.shape[0]), (0, 2 - corner.shape[1])))
                    @ [1 - wx, wx]
                )
                around.append(value >= light[y, x] - 1e-9)
            changes = sum(around[k] != around[k - 1] for k in range(8))
            assert codes[y, x] == (sum(around) if changes <= 2 else 9)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_every_mode_of_pixels(tmp_path, mode):
    grey = Image.fromarray((np.arange(48 * 32).reshape(32, 48) % 251).astype(np.uint8))
    image = (
        Image.fromarray(np.arange(48 * 32, dtype=np.uint16).reshape(32, 48)) if mode == "I;16" else grey.convert(mode)
    )
    path = tmp_path / ("p.tif" if mode in ("CMYK", "I;16", "F") else "p.png")
    image.save(path)
    assert cut_picture(path, PictureRecipe(regions=2))


def test_one_pixel_an_animation_and_a_wrong_ending(tmp_path):
    Image.new("RGB", (1, 1)).save(tmp_path / "one.png")
    assert len(cut_picture(tmp_path / "one.png", PictureRecipe())) == 1
    frames = [Image.new("P", (20, 20), k) for k in range(3)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])
    assert cut_picture(tmp_path / "moving.gif", PictureRecipe(regions=1))
    Image.new("RGB", (30, 20), "red").save(tmp_path / "really.png")
    (tmp_path / "really.png").rename(tmp_path / "really.jpg")
    assert cut_picture(tmp_path / "really.jpg", PictureRecipe(regions=1))


def test_orientation_is_obeyed_and_the_camera_is_asked_for_date_and_place(tmp_path):
    pixels = np.zeros((20, 60, 3), np.uint8)
    image = Image.fromarray(pixels)
    exif = image.getexif()
    exif[0x0112] = 6  # turn by a quarter
    exif[0x0132] = "2024:05:06 07:08:09"
    exif.get_ifd(0x8825).update({1: "S", 2: (12.0, 30.0, 0.0), 3: "E", 4: (45.0, 0.0, 36.0)})
    image.save(tmp_path / "p.jpg", exif=exif)
    assert pictures._pixels(tmp_path / "p.jpg").shape[:2] == (60, 20)
    facts = taken_at(tmp_path / "p.jpg")
    assert facts["date"] == "2024-05-06 07:08:09"
    assert facts["latitude"] == pytest.approx(-12.5)
    assert facts["longitude"] == pytest.approx(45.01)


def test_what_is_too_large_or_no_picture_is_refused_by_name(tmp_path, monkeypatch):
    Image.new("L", (40, 40)).save(tmp_path / "large.png")
    monkeypatch.setattr(pictures, "_MOST_PIXELS", 1000)
    with pytest.raises(UnreadableFile, match=r"large\.png: 40 x 40 pixels are more"):
        cut_picture(tmp_path / "large.png", PictureRecipe())
    (tmp_path / "no.jpg").write_bytes(b"\xff\xd8\xff\xe0 cut off")
    with pytest.raises(UnreadableFile, match=r"no\.jpg: no picture that can be read"):
        cut_picture(tmp_path / "no.jpg", PictureRecipe())
