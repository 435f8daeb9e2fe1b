"""select(): the one path from a table to a selection."""

import json
import os
import secrets
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from swarmrs import _swarmrs
from swarmrs._constraints import Together, read_together, useless
from swarmrs._dataset import dataset_of
from swarmrs._evaluation import CV, Evaluation
from swarmrs._front import Pick
from swarmrs._groups import Groups, group_spec
from swarmrs._measure import is_regressor, read_measure
from swarmrs._objective import read_objective
from swarmrs._presets import Preset, count, find_preset
from swarmrs._scorer import Estimator, Outside, Scorer, Scoring
from swarmrs._selection import (
    Card,
    Selection,
    Setting,
    read_cards,
    read_selection,
)
from swarmrs._table import Data, Target, read_table
from swarmrs._threads import count_threads
from swarmrs._watch import OnTurn, Patience
from swarmrs._words import check_whole
from swarmrs.exceptions import SpecError, SwarmrsWarning

RandomState: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None


def select(
    data: Data,
    target: Target = None,
    *,
    algo: str = "bpso",
    preset: str | None = None,
    classifier: str | Estimator | None = None,
    k: int | None = None,
    metric: str | None = None,
    weights: str | None = None,
    cv: CV | None = None,
    cv_seed: int = 0,
    scale: str | None = None,
    scoring: Scoring | None = None,
    scorer: Scorer | None = None,
    objective: str | None = None,
    alpha: float | None = None,
    gamma: float | None = None,
    sim: str | None = None,
    sigma_log: str | None = None,
    max_evals: int | None = None,
    iterations: int | None = None,
    time_limit: float | None = None,
    target_cost: float | None = None,
    patience: int | None = None,
    params: Mapping[str, Setting] | None = None,
    include: Sequence[str | int] = (),
    exclude: Sequence[str | int] = (),
    max_features: int | None = None,
    together: Together = (),
    one_per_group: bool = False,
    prescreen: str | None = None,
    groups: Groups | None = None,
    pick: str = "best",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    memory: int = 2**30,
    checkpoint: str | os.PathLike[str] | None = None,
    on_turn: OnTurn | None = None,
    fit_params: Mapping[str, object] | None = None,
    missing: str = "error",
    encode: str = "error",
    rare_class: str = "warn",
    constant: str | None = None,
) -> Selection:
    """Search for the features that tell the classes apart best.

    Parameters
    ----------
    data : str, path, frame, array, pair or Table
        The samples: a file, ``"sklearn:wine"``, a frame, an array, or a pair of features and
        labels; see `read_table`.
    target : str, int or array-like, optional
        The column that holds the classes, or the labels themselves. By default the last column.
    algo : str
        The id of an algorithm; `algorithms` lists them.
    preset : {"000", "000-nb", "001", "002", "003", "004"}, optional
        Measure as a published study does, with its number of evaluations and size of swarm: takes
        the place of the defaults of `classifier`, `k`, `metric`, `weights`, `cv`, `scale`,
        `max_evals` and the algorithm's ``population``, in ``"002"`` of `objective` and in ``"003"``
        of `scoring`. What is set in the call stays.
    classifier : {"knn", "nb", "nb-cdf"} or estimator, optional
        What measures a subset: k nearest neighbors (the default), Gaussian naive Bayes, or any
        estimator of scikit-learn, which is given the features as they are, unscaled. A regressor
        makes the target numbers, not classes: folds are not stratified then, and rankings see
        five levels of the target. ``"nb-cdf"`` repeats an error of a publication and serves to
        repeat its numbers only.
    k : int, optional
        The neighbors of k-NN. By default as in the algorithm's paper: 5, or 1 in high dimensions.
    metric : {"euclidean", "manhattan"}, optional
        Their distance. By default as in the algorithm's paper: mostly Euclidean.
    weights : {"uniform", "distance"}, optional
        Their votes, uniform by default.
    cv : int, "loo", str, splitter or iterable of splits, optional
        Stratified folds, leave-one-out, ``"kfold=10,contiguous"``, ``"holdout=0.3"``, ``"wrap5"``
        (five folds, repeated up to five times while errors spread), a splitter of scikit-learn, or
        pairs of training and test rows. All subsets see the same folds. By default as in the
        algorithm's paper, mostly 10; for an estimator 10.
    cv_seed : int
        Shuffles the folds; apart from `random_state`, so that runs can be compared.
    scale : {"minmax", "standard", "none"}, optional
        How columns are scaled, to 0..1 by default.
    scoring : str or callable, optional
        The score whose shortfall from 1 the objective counts as the error: ``"accuracy"`` (the
        default), ``"balanced_accuracy"``, ``"ovr_accuracy"``, ``"macro_f1"`` or ``"mcc"``. An
        estimator is asked for any score that scikit-learn knows, by default its own: the accuracy
        of a classifier, r2 of a regressor. Whatever the score, the error is 1 - its mean over the
        folds, so that a higher score always costs less.
    scorer : callable, optional
        Takes the place of a classifier: given a batch of masks (a row each), returns their errors.
    objective : str, optional
        What is lowered. ``"error"``: the error. ``"weighted"``: `alpha` of it and the rest of the
        share of features kept. ``"hybrid"``: the negative of `gamma` of the balanced accuracy and
        the rest of how far classes lie apart. ``"gaussian"``: `alpha` of the error and the rest of
        what is missing to one feature of each group. ``"filter-cfs"`` and ``"filter-mrmr"``: what
        features tell about the class against what they tell about each other; the classifier
        measures the answer and the front alone, and errors in the trace are costs. By default what
        the algorithm's paper lowers; if that is hybrid, which only k-NN can measure, an estimator
        has the error lowered.
    alpha, gamma : float, optional
        The weights in the objectives: `alpha` 0.9 in weighted and 0.98 in gaussian, `gamma` 0.8.
    sim, sigma_log : {"plain", "literal", "mvn"}, {"log10", "ln"}, optional
        Of gaussian: what its similarity is divided by, by default nothing, and the logarithm in it.
    max_evals, iterations, time_limit, target_cost : optional
        When to stop: subsets asked for, turns, seconds, a cost that is good enough. Without the
        first three, the algorithm's own number of evaluations. A time limit is not reproducible.
    patience : int, optional
        Stop after so many turns without a better subset, too; `stop` is then ``"patience"``.
    params : mapping, optional
        Settings of the algorithm that differ from its defaults.
    include, exclude : sequence of str or int
        Features that are always, or never, in.
    max_features : int, optional
        How many features may be chosen.
    together : "encoded" or sequence
        Features that go in or out together: lists of them, and ``"encoded"`` for all that came from
        one column of text each. To include or exclude one does so with all of its list.
    one_per_group : bool
        Whether at most one feature of each group may be chosen.
    prescreen : {"su>0", "top=K", "fcbf", "cfs"}, optional
        Drop features before the search: keep those that tell anything about the class, the K that
        tell most, or those a filter chooses; see `rank`. Included ones always stay. It looks at all
        rows it is given, as the search does: hold rows out before, not after.
    groups : str, path, sequence of sequences or Grouping, optional
        Which features belong together, for algorithms that ask: a method, a file or lists, as `by`
        of `group` has it, or what `group` returned. By default ``"lbm"`` where it matters. A method
        looks at all rows it is given, but at no class, and does not depend on `random_state`.
    pick : {"best", "knee", "size<=K"}
        Which of the subsets tried is returned: the one of least cost; the one where the front of
        error and size bends most; or the one of least error with at most K features. It changes
        nothing about the search.
    random_state : int, RandomState, Generator or None
        The seed of the search. None draws one, which the result holds.
    n_jobs : int, optional
        Threads, by scikit-learn's convention: None is 1, -1 is all. It changes no result.
    memory : int
        Bytes for distances kept between evaluations. It changes no result.
    checkpoint : path, optional
        A file that holds what was measured. If it exists, the search goes on where it stopped and
        ends as if it never had.
    on_turn : callable, optional
        Told how far the search is after each turn; returns True to stop it.
    fit_params : mapping, optional
        What an estimator's `fit` is given beside the samples, such as ``sample_weight``; with
        scikit-learn's metadata routing enabled also its scorer, both by what they have requested.
    missing, encode : str
        What to do about missing values and text; see `read_table`.
    rare_class : {"warn", "error", "drop", "merge"}
        What to do about classes with fewer rows than there are folds: warn of them, refuse them,
        leave their rows out, or join them to one class. Folds are never reduced.
    constant : {"drop", "keep"}, optional
        Whether columns with one value are left out of the search. They are by default, but a preset
        keeps them, as its study did; included ones stay, so do those together with others that
        vary, and a `scorer` is asked about all.

    Returns
    -------
    Selection
        The best subset measured, or the one picked. After Ctrl-C that so far, `stop` being
        ``"interrupted"``.

    Raises
    ------
    SpecError
        If a setting is unknown, out of range or does not fit the others, or if no subset tried
        is small enough to be picked.
    DataError
        If the data is absent, unreadable or cannot be searched as it is.

    Examples
    --------
    >>> result = select("sklearn:wine", algo="sfs", max_features=2)
    >>> result.selected
    ('alcohol', 'flavanoids')
    """
    study, card = find_preset(preset), _find_card(algo)
    table, measure, scores = read_measure(
        read_table(
            data,
            target,
            missing=missing,
            encode=encode,
            exclude=exclude,
            continuous=scorer is None and is_regressor(classifier),
        ),
        study,
        card,
        classifier=classifier,
        k=k,
        metric=metric,
        weights=weights,
        cv=cv,
        cv_seed=cv_seed,
        scale=scale,
        scoring=scoring,
        scorer=scorer,
        rare_class=rare_class,
        n_jobs=n_jobs,
        fit_params=fit_params,
    )
    included, excluded = table.locate(include), table.locate(exclude)
    lists = read_together(table, together)
    default = "drop" if preset is None and scorer is None else "keep"
    excluded += useless(table, constant or default, included, excluded, lists)
    wanted = Pick.read(pick, len({*included}))
    limits = budget(max_evals, iterations, time_limit)
    settings, limits = _search(study, card, table.x.shape[1], params or {}, limits)
    goal = objective or study.objective
    lowers_hybrid = card is not None and card.objective["kind"] == "hybrid"
    if goal is None and lowers_hybrid and isinstance(measure, Outside):
        goal = "error"  # How far classes lie apart is known to our k-NN alone.
    patient = None if patience is None else Patience(check_whole("patience", patience), on_turn)
    spec = {
        "algorithm": algo,
        "params": settings,
        "seed": draw_seed(random_state),
        "evaluation": measure.spec(),
        "objective": read_objective(goal, alpha=alpha, gamma=gamma, sim=sim, sigma_log=sigma_log),
        "scoring": scores,
        "budget": {**limits, "target": target_cost},
        "include": included,
        "exclude": excluded,
        "max_features": None if max_features is None else check_whole("max_features", max_features),
        "together": lists,
        "one_per_group": bool(one_per_group),
        "prescreen": prescreen,
        "groups": None if groups is None else group_spec(groups, table)[1],
        "memory": check_whole("memory", memory, 0),
    }
    grid = measure.scale if isinstance(measure, Evaluation) else "minmax"
    dataset = dataset_of(table, grid)
    found = _swarmrs.run(
        dataset,
        json.dumps(spec, default=plain),
        threads=count_threads(n_jobs),
        checkpoint=None if checkpoint is None else os.fspath(checkpoint),
        on_turn=patient or on_turn,
        scorer=measure.scorer if isinstance(measure, Outside) else None,
    )
    selection = read_selection(found, table, dataset.fingerprint, measure, preset, wanted)
    if patient is not None:
        is_spent = patient.is_spent and selection.stop == "stopped"
        selection = replace(
            selection,
            stop="patience" if is_spent else selection.stop,
            budget=selection.budget | {"patience": patient.turns},
        )
    for message in selection.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    return selection


def algorithms() -> list[Card]:
    """Return the cards of all algorithms, by id.

    Examples
    --------
    >>> {card.id: card.year for card in algorithms()}["bpso"]
    1997
    """
    return read_cards(_swarmrs.algorithms())


def _find_card(algo: str) -> Card | None:
    """Return the card of an algorithm; None if there is none, which the engine says later."""
    names = ((card, name) for card in algorithms() for name in (card.id, *card.aliases))
    return next((card for card, name in names if name.lower() == str(algo).lower()), None)


def budget(
    max_evals: int | None, iterations: int | None, time_limit: float | None
) -> dict[str, float | None]:
    """Return the limits of a search as the engine names them."""
    return {
        "evaluations": None if max_evals is None else check_whole("max_evals", max_evals),
        "turns": None if iterations is None else check_whole("iterations", iterations),
        "seconds": time_limit,
    }


def _search(
    study: Preset,
    card: Card | None,
    n_features: int,
    params: Mapping[str, Setting],
    limits: Mapping[str, float | None],
) -> tuple[dict[str, Setting], dict[str, float | None]]:
    """Return the settings of an algorithm and its limits, filled up by what a study has."""
    settings, bounds = dict(params), dict(limits)
    if card is None:
        return settings, bounds
    has_members = any(parameter.name == "population" for parameter in card.params)
    if has_members and card.family in study.population:
        settings.setdefault("population", count(study.population[card.family], n_features))
    # A search that ends by itself is not cut.
    ends = card.evaluations is None
    if not ends and card.family in study.max_evals and all(n is None for n in limits.values()):
        bounds["evaluations"] = count(study.max_evals[card.family], n_features)
    return settings, bounds


def draw_seed(random_state: RandomState) -> int:
    """Return the seed that `random_state` stands for."""
    # 32 bits are enough to draw from, and every reader of JSON keeps them.
    if random_state is None:
        return secrets.randbits(32)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint64))
    if isinstance(random_state, int | np.integer) and 0 <= random_state < 2**64:
        return int(random_state)
    raise SpecError(
        f"random_state is {random_state!r}, expected a number from 0 to 2**64 - 1, a RandomState, "
        "a Generator or None"
    )


def plain(value: object) -> object:
    """Return a number of numpy as one of Python, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise SpecError(f"{value!r} is no setting", "give a number, a string, a boolean or None")
