"""Technical words that pages of several jobs use, each in one line for a newcomer."""

from __future__ import annotations

TERMS = {
    "agreement": "The share of rows (or pairs of rows) that two groupings treat alike.",
    "bag": "Rows that belong together, such as the segments of one recording or the frames of one film.",
    "bit": "A unit of information: one bit halves the uncertainty about an answer.",
    "cluster": "Rows (or bags) that are alike and were put together; numbers count from 0, as in the files.",
    "F1": "How well sets of labels match: 100% means no label too many and none missing.",
    "held out": "Kept aside while fitting, so that it can judge fairly.",
    "label": "A name given to a bag or a row, such as a species.",
    "normalised mutual information": "How much two groupings tell about each other: 1 means everything, 0 nothing.",
    "probability": "How sure the method is, from 0% to 100%, given its model of the data.",
    "rand index, adjusted": "How far two groupings agree on which rows belong together: 1 is the same, 0 is chance.",
    "standard deviation": "The usual distance from the mean; beyond 2 a value is rare.",
    "standard error": "How far a score would move if other rows had been drawn.",
    "stands out by": "Features whose mean in the cluster is far from the mean of all rows, in standard deviations.",
}
