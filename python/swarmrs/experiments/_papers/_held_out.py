"""Common to xue2014 and xue2016: seven of ten folds searched by 5-NN, three held out."""

from swarmrs.experiments._papers._paper import RIVALS, Handling, Setup

# They scale features, as the program that the papers ran does.
SEQUENTIAL = Setup(
    "sequential",
    {"LFS": "lfs", "GSBS": "gsbs"},
    "split70",
    RIVALS | {"n_neighbors": 5, "cv": "wrap5"},
    accuracy="ovr_accuracy",
    test_scale="none",
)

ONE_VERSUS_REST = (
    "Accuracy is the mean over classes of one-versus-rest accuracy, 1 - 2 (1 - accuracy) / classes:"
    " with more than two classes it is far higher than plain accuracy."
)
SCALED = (
    "LFS and GSBS search scaled features, as in the program of the paper, and are tested unscaled."
)
TENTHS = Handling(
    "the paper's accuracies are tenths: plain accuracy, as used here", accuracy="accuracy"
)
