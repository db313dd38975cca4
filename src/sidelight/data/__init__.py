"""KNOWLEDGE: what somebody told us, frozen and valid from birth; splits of it, and data made up for trying."""

from sidelight.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bags": ("Bags",),
        "channels": ("stack_channels",),
        "cooccurrence": ("CoOccurrence",),
        "dataset": ("Dataset",),
        "hierarchy": ("LabelTree",),
        "label_matrix": ("LabelMatrix",),
        "relations": ("Labeller", "Pairs", "Triplets"),
        "splits": ("AnswerKFold", "BagKFold"),
        "samples": ("load_digit_bags",),
        "synth.label_tree": ("make_label_tree",),
        "synth.material": ("make_letters", "make_photographs", "make_recordings"),
        "synth.bags": ("make_overlapping_bags", "make_rectangles"),
        "synth.sources": ("make_sources",),
    },
)
