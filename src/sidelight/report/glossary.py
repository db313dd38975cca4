"""Technical words that a page may use, each in one line for somebody who never met it."""

from __future__ import annotations

TERMS = {
    "agreement": "The share of rows (or pairs of rows) that two groupings treat alike.",
    "bag": "Rows that belong together, such as the segments of one recording or the frames of one film.",
    "bit": "A unit of information: one bit halves the uncertainty about an answer.",
    "channel": "One kind of measurement of every row, such as the face or the voice, with columns of its own.",
    "cluster": "Rows (or bags) that are alike and were put together; numbers count from 0, as in the files.",
    "code": "A typical value of a channel: similar measurements share a code, so that they can be counted.",
    "evidence": "How much better a link explains the rows than its absence, in nats; from 3 on the odds are 20 to 1.",
    "F1": "How well sets of labels match: 100% means no label too many and none missing.",
    "Hausdorff distance": "How far two bags are apart, measured between rows of one and the nearest rows of the other.",
    "held out": "Kept aside while fitting, so that it can judge fairly.",
    "label": "A name that somebody gave to a bag or a row, such as a species.",
    "margin": "How clearly a row speaks for its cluster: from 1 on it is beyond doubt, below 0 it speaks for another.",
    "medoid": "The bag in the middle of a cluster: the others are nearest to it.",
    "normalised mutual information": "How much two groupings tell about each other: 1 means everything, 0 nothing.",
    "novel": "Not named by any list: rows that no label of their bag explains.",
    "probability": "How sure the method is, from 0% to 100%, given its model of the data.",
    "rand index, adjusted": "How far two groupings agree on which rows belong together: 1 is the same, 0 is chance.",
    "standard deviation": "The usual distance from the mean; beyond 2 a value is rare.",
    "standard error": "How far a score would move if other rows had been drawn.",
    "stands out by": "Features whose mean in the cluster is far from the mean of all rows, in standard deviations.",
    "weight of the bags": "How strongly shared bags pull rows together, against their features (the parameter alpha).",
    "witness": "The row that decided the cluster of its bag: it speaks most clearly.",
}
