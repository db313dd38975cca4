"""Photographs cut into regions: do regions follow what is on them, and is every odd picture read or refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from sidelight.data.synth.material import make_photographs
from sidelight.errors import UnreadableFile
from sidelight.files.material import pictures
from sidelight.files.material.pictures import PictureRecipe, cut_picture, regions_of, taken_at


@pytest.mark.slow
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


def test_regions_are_connected_in_wide_and_high_pictures():
    for shape in ((40, 160, 3), (160, 40, 3)):
        regions = regions_of(pictures._planes(np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)), 5)
        assert [ndimage.label(regions == k)[1] for k in range(5)] == [1] * 5


def test_edges_have_a_direction_and_flat_pictures_one_pattern():
    step = np.zeros((32, 32, 3), np.uint8)
    step[:, 16:] = 255
    names = PictureRecipe().feature_names
    directions = [j for j, name in enumerate(names) if name.startswith("edge")]
    for pixels, direction in ((step, 0), (step.transpose(1, 0, 2), 4)):
        planes = pictures._planes(pixels)
        assert (planes.direction[planes.edge > 1] == direction).all()
        features = pictures.describe(planes, np.zeros((32, 32), dtype=np.intp))[0]
        of_bins, mean = np.expm1(features[50:58]), np.expm1(features[58])
        assert of_bins.sum() == pytest.approx(mean), (directions, names[50:59])
        assert of_bins.argmax() == direction
    assert set(pictures._patterns(np.full((6, 7), 5.0), 1).ravel().tolist()) == {8}


def test_pixels_of_sixteen_bits_are_spread_and_transparency_is_kept(tmp_path):
    for values in (np.arange(600, dtype=np.uint16).reshape(20, 30), np.zeros((20, 30), np.uint16)):
        Image.fromarray(values).save(tmp_path / "p.tif")
        assert pictures._pixels(tmp_path / "p.tif").max() == (255 if values.any() else 0)
    Image.fromarray(np.linspace(0, 1, 600, dtype=np.float32).reshape(20, 30)).save(tmp_path / "f.tif")
    assert pictures._pixels(tmp_path / "f.tif").max() == 255
    image = Image.fromarray((np.arange(600) % 250).astype(np.uint8).reshape(20, 30)).convert("P")
    image.save(tmp_path / "t.png", transparency=bytes(range(250)))
    assert pictures._pixels(tmp_path / "t.png").shape == (20, 30, 3)


def test_other_formats_and_one_pixel_too_many_are_refused(tmp_path, monkeypatch):
    Image.new("RGB", (32, 32)).save(tmp_path / "p.ico")
    with pytest.raises(UnreadableFile, match=r"p\.ico: no picture"):
        cut_picture(tmp_path / "p.ico", PictureRecipe())
    Image.new("L", (40, 40)).save(tmp_path / "p.png")
    monkeypatch.setattr(pictures, "_MOST_PIXELS", 1600)
    assert cut_picture(tmp_path / "p.png", PictureRecipe(regions=1))
    monkeypatch.setattr(pictures, "_MOST_PIXELS", 1599)
    with pytest.raises(UnreadableFile, match="pixels are more"):
        cut_picture(tmp_path / "p.png", PictureRecipe(regions=1))


@pytest.mark.parametrize(("day", "date"), [("2024:05:06", "2024-05-06"), ("2024:05:0", None), ("", None)])
def test_a_date_has_ten_letters_at_least(tmp_path, day, date):
    image = Image.new("RGB", (20, 20))
    exif = image.getexif()
    exif[0x0132] = day
    image.save(tmp_path / "p.jpg", exif=exif)
    assert taken_at(tmp_path / "p.jpg").get("date") == date
