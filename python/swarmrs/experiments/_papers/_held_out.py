"""What papers 001 and 003 have in common: seven of ten folds searched by 5-NN, three tested."""

from swarmrs.experiments._papers._paper import Handling, Study

# In their own way, which scales: the program that the papers took them from does.
SEQUENTIAL = Study(
    "sequential",
    {"LFS": "lfs", "GSBS": "gsbs"},
    "split70",
    {"k": 5, "cv": "wrap5", "scale": "minmax", "constant": "keep"},
    accuracy="ovr_accuracy",
    test_scale="none",
)

ONE_VERSUS_REST = (
    "Accuracy is the mean over classes of one-versus-rest accuracy, 1 - 2 (1 - accuracy) / classes:"
    " of more than two classes much more than the share of rows that are right."
)
SCALED = (
    "LFS and GSBS search scaled values, as in the program of the paper, and are tested unscaled."
)
TENTHS = Handling(
    "the paper's accuracies are tenths: plain accuracy, so taken here", accuracy="accuracy"
)
