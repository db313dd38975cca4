"""Tell people apart by their faces, with the help of what they wear; then co-cluster a plain table."""

import numpy as np

import sidelight as sl

# Frames of several sessions: each session shows one person through four channels of different strength.
seen = sl.data.make_sources(5, random_state=0)
X, channels = sl.stack_channels(seen.channels)

model = sl.MultiSourceClustering(5, channels=channels, primary="face", random_state=0)
model.fit(X, sequences=seen.sequences)
accuracy = sl.metrics.clustering_accuracy(seen.subjects, model.labels_)
print(f"through what occurs together: {accuracy:.0%} of the frames are with the right person")

foil = sl.peers.ConcatenatedKMeans(5, random_state=0).fit(X)
print(f"all columns in one row, k-means: {sl.metrics.clustering_accuracy(seen.subjects, foil.labels_):.0%}")

# New frames of one channel, and a session of somebody who was never seen.
print("clusters of new faces:", model.predict_channel("face", seen.channels["face"][:3]))
stranger = X[:50] + 10.0
print("is the stranger new?", bool(model.is_new(stranger, sequences=["today"] * 50).all()))

# A table of counts alone: documents x words.
rng = np.random.default_rng(0)
topic = np.arange(60) % 3
counts = rng.poisson(np.where(topic[:, None] == np.arange(30)[None, :] % 3, 3.0, 0.5))
co = sl.InformationCoclustering((3, 3), random_state=0).fit(counts)
kept = co.information_ / co.total_information_
print(f"3 x 3 clusters keep {kept:.0%} of the information of a {counts.shape[0]} x {counts.shape[1]} table")
