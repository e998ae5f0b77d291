"""Models to beat: what GeoLifeCLEF 2022 and 2023 published as theirs, each from a built dataset to a submission.

`dataset` reads what participants are given, `ranking` makes sets of ranked species, `frequent`, `forest` and `cnn` are
the models, and `running` takes one from the folder to a checked submission with its validation score.
"""
