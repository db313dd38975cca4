"""Rows as people know them: thumbnails, sounds with their spectrogram, excerpts of text, or their values."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.app.report.components.charts import swatch
from sidelight.app.report.components.markup import Markup, clean, clip, element
from sidelight.app.report.components.tables import number
from sidelight.app.report.gallery import Group, Media, Member, Profile

_WORDS = {"typical": "Typical", "doubtful": "Doubtful", "novel": "Most novel"}
_LONG = 48  # characters of a row's name


def gallery(groups: Sequence[Group], *, notes: Sequence[str] = (), what: str = "row") -> Markup:
    """Return the members of every group, by kind, each with what there is to see or hear of it.

    Parameters
    ----------
    groups : sequence of Group
        A cluster each.
    notes : sequence of str
        What could not be shown, and limits.
    what : str
        What a member is.
    """
    drawn = [_group(group, what) for group in groups]
    return element("div", drawn, [element("p", note, class_="faint") for note in notes], class_="gallery")


def media(shown: Media, alt: str) -> Markup | None:
    """Return one image, sound or text."""
    if shown.kind == "image":
        return element("img", src=shown.uri, alt=clean(alt), class_="thumb pixels" if shown.is_tiny else "thumb")
    if shown.kind == "sound":
        spectrogram = None
        if shown.picture:
            spectrogram = element("img", src=shown.picture, alt=clean(f"Spectrogram of {alt}"), class_="spectrogram")
        return element(
            "div", spectrogram, element("audio", controls=True, preload="none", src=shown.uri, aria_label=clean(alt))
        )
    if shown.kind == "text":
        return element("blockquote", shown.text, dir="auto")
    return None


def profile(values: Profile, alt: str) -> Markup:
    """Return a row's values against its cluster: the band is where most rows of the cluster lie, the dot is the row.

    Values are in standard deviations from the mean of all rows, so that features can share one scale.
    """
    wide, step = 112, 15  # pixels: the chart is not scaled, so that its lines meet the names beside them
    tall = step * len(values.features) + 4
    spread = max([2.0, *(abs(v) for v in values.row), *(abs(m) + s for m, s in zip(values.mean, values.spread))])

    def across(value: float) -> float:
        return wide / 2 + (wide / 2 - 5) * value / spread

    drawn = [element("line", x1=across(0.0), x2=across(0.0), y1="0", y2=str(tall), class_="grid")]
    words = []
    for i, name in enumerate(values.features):
        y = step * i + step / 2 + 2
        low, high = across(values.mean[i] - values.spread[i]), across(values.mean[i] + values.spread[i])
        tip = f"{clip(name)}: {values.row[i]:+.1f}, in this cluster {values.mean[i]:+.1f} ± {values.spread[i]:.1f}"
        drawn.append(
            element("rect", x=low, width=max(high - low, 2.0), y=y - 4, height=8.0, rx="4", class_="band", data_tip=tip)
        )
        drawn.append(element("circle", cx=across(values.row[i]), cy=y, r="3.5", class_="point", data_tip=tip))
        words.append(element("li", clip(name, 18)))
    svg = element(
        "svg", drawn, viewBox=f"0 0 {wide} {tall}", width=str(wide), height=str(tall), role="img", aria_label=clean(alt)
    )
    return element("div", element("ul", words), svg, class_="profile")


def _group(group: Group, what: str) -> Markup:
    size = f"{number(group.size)} {what if group.size == 1 else what + 's'}"
    head = element("h3", swatch(group.number), " ", clip(group.name, 60), element("span", f" {size}", class_="faint"))
    kinds = [
        element(
            "div", element("h4", _WORDS.get(kind, kind)), element("ul", [_member(m) for m in members], class_="members")
        )
        for kind, members in group.members.items()
        if members
    ]
    return element("section", head, element("div", kinds, class_="kinds"), class_="group")


def _member(member: Member) -> Markup:
    name = clip(member.name, _LONG)
    words = ", ".join(part for part in (clip(member.bag, _LONG) if member.bag else "", member.why) if part)
    shown = media(member.media, f"{name}, {words}" if words else name) if member.media is not None else None
    if shown is None and member.profile is not None:
        shown = profile(member.profile, f"Values of {name} against its cluster")
    caption = element("p", element("b", name), element("span", f", {words}", class_="faint") if words else None)
    return element("li", shown, caption)
