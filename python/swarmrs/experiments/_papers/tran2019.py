"""Tran and others 2019: variable-length swarms in high dimensions, against swarms and filters."""

from swarmrs.experiments._papers._paper import RIVALS, Mark, Paper, PaperTable, Setup

_NAME = "tran2019"
_SWARMS = Setup(
    "swarms",
    {
        "Full": "all",
        "PSO": "pso",
        "ECLPSO": "eclpso",
        "CSO": "cso",
        "VLPSO": "vlpso",
        "VLPSO-LS": "vlpso-ls",
        "W": "vlpso-ls",
        "WO": "vlpso-ls[length_gap=null]",
    },
    "cv10",
    {"preset": _NAME},
    accuracy="balanced_accuracy",
)
# With their own evaluation; a filter uses no classifier.
_OTHERS = Setup(
    "others",
    {"LFS": "lfs", "CFS": "cfs", "FCBF": "fcbf"},
    "cv10",
    RIVALS | {"n_neighbors": 1, "cv": "wrap5"},
    accuracy="balanced_accuracy",
)
# What programs of CSO do beside the default here, as far as its parameters allow: a public one in
# Python has 100 particles, 10000 evaluations, phi 0.05, the threshold 0.6 of this study and sparse
# initial subsets; one in MATLAB has 50 particles and samples features by a sigmoid. The last of
# the first five stands for a sparse initialization: 5 % of the features.
_CSO = Setup(
    "cso",
    {
        "threshold 0.6": "cso[threshold=0.6]",
        "equal budget": "cso[iterations=200]",
        "as in Python": "cso[population=100,iterations=198,mean_pull=0.05,threshold=0.6]",
        "as in MATLAB": "cso[population=50]",
        "threshold 0.95": "cso[threshold=0.95]",
    },
    "cv10",
    {"preset": _NAME},
    accuracy="balanced_accuracy",
)
_CSO_ERROR = Setup(
    "cso-error",
    {"own fitness": "cso", "own fitness, threshold 0.95": "cso[threshold=0.95]"},
    "cv10",
    {"preset": "gu2018"},
    accuracy="balanced_accuracy",
)
# VLPSO-LS has about 2.8 times the evaluations of the other swarms in 100 iterations.
_BUDGET_NAME = "VLPSO-LS, 36 iterations"
_BUDGET = Setup(
    "budget",
    {_BUDGET_NAME: "vlpso-ls[iterations=36]"},
    "cv10",
    {"preset": _NAME},
    accuracy="balanced_accuracy",
    stands_for={_BUDGET_NAME: "VLPSO-LS"},
)
_ACCURACY = (
    "Accuracy is balanced accuracy, by Euclidean 1-NN on the held-out fold; the search evaluates "
    "by leave-one-out with Manhattan distance. The folds of the paper are not known: another split "
    "seed gives others."
)
_TIMES = "Times are the mean of a search on one fold; the paper does not say what its own are of."

PAPER = Paper(
    name=_NAME,
    title="variable-length swarms in high dimensions (VLPSO)",
    proposed=("VLPSO", "VLPSO-LS", "W"),
    runs=30,
    protocol="10-fold stratified outer cross-validation; population 1/20 of the features, 100 to "
    "300; 100 iterations",
    absent={"lung_cancer_gems": "its table of 12600 genes is in no public collection known here"},
    readings=(_CSO, _CSO_ERROR, _BUDGET),
    tables=(
        PaperTable(_NAME, "I", "data sets"),
        PaperTable(
            _NAME,
            "III",
            "swarms",
            (_SWARMS,),
            marks={"vs_vlpso": Mark("VLPSO"), "vs_vlpso_ls": Mark("VLPSO-LS")},
            notes=(
                _ACCURACY,
                _TIMES,
                "The sizes printed for CSO are far below those of its threshold of 0.5 and a "
                "uniform initial population; how the paper initialized it is not known.",
                "The tests' - means that the method is worse than VLPSO; a sentence of the paper "
                "says the opposite, its means do not.",
            ),
        ),
        PaperTable(
            _NAME,
            "IV",
            "a sequential search and two filters",
            (_OTHERS, _SWARMS),
            marks={"vs_vlpso_ls": Mark("VLPSO-LS")},
            notes=(_ACCURACY, _TIMES),
        ),
        PaperTable(
            _NAME,
            "V",
            "VLPSO-LS with (W) and without (WO) change of lengths",
            (_SWARMS,),
            marks={"vs_vlpso_ls": Mark("W")},
            notes=(_ACCURACY, _TIMES),
        ),
    ),
)
