"""select(): the one path from a table to a selection."""

import os
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from swarmrs._base._arguments import check_arguments
from swarmrs._base._messages import MOST_RUNS, Setting, check_whole
from swarmrs._base._resources import RandomState, count_threads, draw_seed
from swarmrs.data._table import Data, read_table
from swarmrs.data._target import Target
from swarmrs.evaluation._estimator import Estimator, Scorer, Scoring, is_regressor
from swarmrs.evaluation._folds import CV
from swarmrs.exceptions import SpecError, SwarmrsWarning
from swarmrs.filters._groups import Groups
from swarmrs.search._constraints import Together
from swarmrs.search._nested import cross_validate, hold_out
from swarmrs.search._progress import Callback
from swarmrs.search._repeats import repeat
from swarmrs.search._results import Selection
from swarmrs.search._search import Search
from swarmrs.search._settings import Settings


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
    parsimony: str | None = None,
    repeats: int = 1,
    resample: float | None = None,
    test_size: float | None = None,
    outer_cv: CV | None = None,
    keep_all: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    memory: int = 2**30,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callback | None = None,
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
    scale : {"minmax", "standard", "none", "fold-minmax", "fold-standard"}, optional
        How features are scaled: to the range 0..1 by default. ``"fold-minmax"`` and
        ``"fold-standard"`` fit the scaling on the training rows of each fold, as a scikit-learn
        pipeline does.
    scoring : str or callable, optional
        The score whose shortfall from 1 the objective counts as the error: ``"accuracy"`` (the
        default), ``"balanced_accuracy"``, ``"ovr_accuracy"``, ``"f1_macro"`` or
        ``"matthews_corrcoef"``. An estimator is asked for any score that scikit-learn knows, by
        default its own: the accuracy of a classifier, r2 of a regressor. Whatever the score, the
        error is 1 - its mean over the folds, so that a higher score always costs less.
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
        When to stop: evaluations, iterations, seconds, a cost that is good enough. Without the
        first three, the algorithm's own number of evaluations. A time limit is not reproducible.
    patience : int, optional
        Stop after so many iterations without a better subset, too; `stop` is then ``"patience"``.
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
    parsimony : {"1se"}, optional
        Return the smallest subset tried whose error exceeds that of the best by one standard error
        at the most; see `Parsimony`. Like `pick` it changes nothing about the search.
    repeats : int
        How many times to search: with the seed, the one after it, and so on. The best run is
        returned, and `Selection.stability` tells how alike they are.
    resample : float, optional
        Give each of these runs a share of the rows, drawn anew from each class by `cv_seed`, the
        number after it, and so on. The result is then a search of all rows, and stability tells
        what other data would change.
    test_size : float, optional
        The share of rows of each class to hold out, drawn by `cv_seed`. The others are searched,
        and `Selection.held_out` tells what was found is worth on these.
    outer_cv : int, "loo", str, splitter or iterable of splits, optional
        Hold out each fold in turn, as `cv` has folds, and search the others. The result is a search
        of all rows, and `Selection.held_out` tells what such a search is worth.
    keep_all : bool
        Whether `Selection.all_evaluations` is to hold every unique subset evaluated.
    random_state : int, RandomState, Generator or None
        The seed of the search. None draws one, which the result holds.
    n_jobs : int, optional
        Threads, by scikit-learn's convention: None is 1, -1 is all. Several searches share them.
        It changes no result.
    memory : int
        Bytes for distances kept between evaluations, in each search. It changes no result.
    checkpoint : path, optional
        A file that holds what was measured. If it exists, the search goes on where it stopped and
        ends as if it never had. For one search only.
    callback : callable, optional
        Told how far the search is after each iteration; returns True to stop it. Of several
        searches it is told which, and stops all.
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
    check_arguments(select, locals())
    table = read_table(
        data,
        target,
        missing=missing,
        encode=encode,
        exclude=exclude,
        continuous=scorer is None and is_regressor(classifier),
    )
    settings = Settings(
        algo=algo,
        preset=preset,
        classifier=classifier,
        k=k,
        metric=metric,
        weights=weights,
        cv=cv,
        cv_seed=cv_seed,
        scale=scale,
        scoring=scoring,
        scorer=scorer,
        objective=objective,
        alpha=alpha,
        gamma=gamma,
        sim=sim,
        sigma_log=sigma_log,
        max_evals=max_evals,
        iterations=iterations,
        time_limit=time_limit,
        target_cost=target_cost,
        patience=patience,
        params=params,
        include=include,
        exclude=exclude,
        max_features=max_features,
        together=together,
        one_per_group=one_per_group,
        prescreen=prescreen,
        groups=groups,
        pick=pick,
        memory=memory,
        rare_class=rare_class,
        constant=constant,
        fit_params=fit_params,
        parsimony=parsimony,
    )
    n_runs = check_whole("repeats", repeats, most=MOST_RUNS)
    drawn, held = _check_share("resample", resample), _check_share("test_size", test_size)
    if drawn is not None and n_runs == 1:
        raise SpecError("resample needs repeats: one run has no stability", "repeat it 20 times")
    if held is not None and outer_cv is not None:
        raise SpecError("test_size and outer_cv both hold out rows", "give one of the two")
    if checkpoint is not None and (n_runs > 1 or outer_cv is not None):
        raise SpecError("a checkpoint is for one search, not for several", "leave it out")
    seed, threads = draw_seed(random_state), count_threads(n_jobs)
    search = Search.of(settings.settle(table), settings, n_jobs)

    def procedure(search: Search, threads: int, callback: Callback | None) -> Selection:
        if n_runs == 1:
            return search.run(
                seed, threads=threads, checkpoint=checkpoint, callback=callback, keep_all=keep_all
            )
        return repeat(
            search, seed, n_runs, drawn, threads=threads, callback=callback, keep_all=keep_all
        )

    if held is not None:
        selection = hold_out(search, held, procedure, threads, callback)
    elif outer_cv is not None:
        selection = cross_validate(search, outer_cv, seed, procedure, threads, callback)
    else:
        selection = procedure(search, threads, callback)
    for message in selection.warnings:
        warnings.warn(message, SwarmrsWarning, stacklevel=2)
    return selection


def _check_share(what: str, share: object) -> float | None:
    """Return a share of rows if it is one, and not all or none of them."""
    if share is None:
        return None
    if isinstance(share, float | np.floating) and 0 < share < 1:
        return float(share)
    raise SpecError(f"{what} is {share!r}, expected a share of the rows between 0 and 1")
