"""Paper 000: particle swarms that learn in two dimensions, against seven rivals."""

from swarmrs.experiments._papers._paper import Handling, Paper, PaperTable, Study

_METHODS = {
    "GA": "ga",
    "ACO": "aco",
    "BPSO": "bpso",
    "CBPSO": "cbpso",
    "ErFS": "erfs",
    "PSO-42": "pso42",
    "chBPSO": "chbpso",
    "2D-UPSO": "upso2d",
}
_NB = Study("nb", _METHODS, "resub", {"preset": "000-nb"})
_KNN = Study("knn", _METHODS, "resub", {"preset": "000"})

_OPTIMISTIC = (
    "Errors are those that the search lowered, on its own ten folds; no rows were held out."
)
_FIRST_COLUMN = (
    "J(U), the error of all features, fits most data sets only as the error of the first column "
    "alone. So PI % is given twice: with that, and with the error of all features."
)
_CDF = (
    "The naive Bayes of the paper fits the data only with cumulative normal probabilities in the "
    "place of densities (classifier nb-cdf); true naive Bayes errs far less."
)
_AVERAGE = "Average ranks are over the data sets shown, and so are those of the paper beside them."
_SIZES = "The sizes printed for GA are near half of all features on every data set."
_TIMES = "Times are of the paper's MATLAB and machine, and of this one with all else it does."
_SWAPPED = (
    "the paper's errors fit only with the first column for the classes and the classes for the "
    "last feature; so it is done here"
)
_ALL_TRUE = "its J(U) fits as that of all features"


def _table(number: str, title: str, study: Study, ranked_by: str, *notes: str) -> PaperTable:
    return PaperTable(
        "000",
        number,
        title,
        (study,),
        ranked_by=ranked_by,
        notes=notes + ((_CDF,) if study is _NB else ()),
    )


PAPER = Paper(
    number="000",
    title="swarms that learn in two dimensions (2D-UPSO) and seven rivals",
    runs=40,
    protocol="6000 evaluations, ten stratified folds of all rows, values as they are",
    missing="knn",
    handling={
        "australian": Handling(_SWAPPED, target=0),
        "ionosphere": Handling(f"{_SWAPPED}; {_ALL_TRUE}", target=0, is_all_true=True),
        "zoo": Handling("the 17 features of the paper count the name of the animal, left out here"),
        "lung_cancer_uci": Handling(
            f"the 27 rows without gaps; {_ALL_TRUE}", missing="drop-rows", is_all_true=True
        ),
        "ozone_eighthr": Handling("the 1847 rows without gaps", missing="drop-rows"),
        "hill_valley": Handling("the file without noise; the paper does not say which it took"),
        "arrhythmia": Handling(
            f"13 of the 16 classes declared have rows; {_ALL_TRUE}", is_all_true=True
        ),
        "lsvt": Handling("neither the first column nor all features give its J(U)"),
        "secom": Handling("590 measured features; the paper counts one more"),
    },
    tables=(
        PaperTable(
            "000",
            "1",
            "data sets and the error of all features",
            notes=(
                "J(U) fits most data sets only as the error of the first column alone: so it is "
                "found here, with that of all features after it. Where the latter fits better, it "
                "is taken and a note says so: a choice made by looking at the printed figure.",
                _CDF,
            ),
        ),
        _table(
            "3",
            "error with naive Bayes",
            _NB,
            "improvement",
            _OPTIMISTIC,
            _FIRST_COLUMN,
            _AVERAGE,
        ),
        _table(
            "4",
            "error with 5-NN",
            _KNN,
            "improvement",
            _OPTIMISTIC,
            _FIRST_COLUMN,
            _AVERAGE,
        ),
        _table("6", "size with naive Bayes", _NB, "reduction", _SIZES, _AVERAGE),
        _table("7", "size with 5-NN", _KNN, "reduction", _SIZES, _AVERAGE),
        _table("8", "seconds with naive Bayes", _NB, "seconds", _TIMES, _AVERAGE),
        _table("9", "seconds with 5-NN", _KNN, "seconds", _TIMES, _AVERAGE),
    ),
)
