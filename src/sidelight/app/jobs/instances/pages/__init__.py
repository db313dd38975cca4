"""The pages of the instances job, one a kind of result, and the words that only they use."""

TERMS = {
    "novel": "Not named by any list: rows that no label of their bag explains.",
    "weight of the bags": "How strongly shared bags pull rows together, against their features (the parameter alpha).",
}
