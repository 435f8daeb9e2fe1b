"""Mutation testing of the Python code: `make mutants` runs it.

A mutant is one small change to a module: another comparison, another sign, another constant, a
condition negated, a statement left out. The tests that concern the module run on each mutant; a
mutant that no test fails on survives. Every survivor is a missing test, or an equivalent change.
Equivalent changes are listed in ``mutants_equivalent.txt``, each with the reason; they are not run
and count as not caught.

The tests run on a copy of the package. pytest collects them once and is forked for each mutant, in
which the changed function is given its new code; the test that found the last mutant runs first. A
change outside functions needs a process of its own that imports the changed module. A mutant that
runs too long is caught.
"""

import argparse
import ast
import importlib
import inspect
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("python/swarmrs")
DATA = PACKAGE / "data"
STATISTICS = PACKAGE / "experiments/_analysis/_statistics"
EQUIVALENT = ROOT / "tests/mutants_equivalent.txt"
# The other tests of tables take twenty times as long. What only they find needs a fact, too.
TABLE_TESTS = "test_table_facts"
STATISTICS_TESTS = "test_statistics_facts test_statistics"
OUTPUT = "output.txt"
# The CPU seconds of one test; the longest takes two.
TEST_LIMIT = 10
# The tests of each module, the quickest first; its own examples come second.
TESTS = {
    STATISTICS / "_ranks.py": STATISTICS_TESTS,
    STATISTICS / "_moments.py": STATISTICS_TESTS,
    STATISTICS / "_pairs.py": STATISTICS_TESTS,
    STATISTICS / "_friedman.py": STATISTICS_TESTS,
    DATA / "_encode.py": TABLE_TESTS,
    DATA / "_target.py": TABLE_TESTS,
    DATA / "_table.py": TABLE_TESTS,
    DATA / "_impute.py": TABLE_TESTS,
}
GROUPS = {"statistics": STATISTICS, "table": DATA}

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """A changed module.

    Attributes
    ----------
    module : Path
        Its path, from the root of the project.
    line : int
        The line that is changed.
    change : str
        Where and what, without the number of the line: it names the mutant.
    source : str
        The module with the change.
    """

    module: Path
    line: int
    change: str
    source: str

    @property
    def name(self) -> str:
        """The text by which the list of equivalent mutants names it."""
        return f"{self.module.relative_to(PACKAGE)}: {self.change}"


def mutants_of(module: Path, text: str) -> Iterator[Mutant]:
    """Return every mutant of a module."""
    tree = ast.parse(text)
    seen: dict[str, int] = {}
    texts = [ast.unparse(statement) for statement in tree.body]
    for number, statement in enumerate(tree.body):
        part = ast.Module([statement], [])
        for scope, holder, field, at in _places(part):
            held = getattr(holder, field)
            node = held if at is None else held[at]
            before = ast.unparse(node)
            # A constant alone says little: the expression around it names it, too.
            around = isinstance(node, ast.Constant) and isinstance(holder, ast.expr | ast.keyword)
            where = f"{scope}, {_short(ast.unparse(holder))}" if around else scope
            for changed in _changes(node):
                _put(holder, field, at, changed)
                source = ast.unparse(ast.fix_missing_locations(part))
                change = f"{where}: {_short(before)} -> {_short(ast.unparse(changed))}"
                seen[change] = seen.get(change, 0) + 1
                again = f" #{seen[change]}" if seen[change] > 1 else ""
                whole = "\n".join([*texts[:number], source, *texts[number + 1 :]])
                yield Mutant(module, node.lineno, change + again, whole)
            _put(holder, field, at, node)


def _put(holder: ast.AST, field: str, at: int | None, node: ast.AST) -> None:
    if at is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[at] = node


def _short(code: str) -> str:
    first, *rest = code.splitlines()
    return first + (" ..." if rest else "")


Place = tuple[str, ast.AST, str, int | None]


def _places(node: ast.AST, scope: str = "module") -> Iterator[Place]:
    """Return where expressions and statements stand that may be changed."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "ctx", "op", "ops", "type_params"):
            continue
        for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_left_alone(child, node, field, at):
                continue
            if isinstance(child, ast.stmt | ast.expr):
                yield scope, node, field, at
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                yield from _places(child, child.name)
            else:
                yield from _places(child, scope)


def _is_left_alone(child: ast.AST, parent: ast.AST, field: str, at: int | None) -> bool:
    """Tell whether a change there would be no change, or one of words for people alone."""
    if isinstance(child, ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
        return True  # a docstring
    if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
        return True
    if isinstance(child, ast.Assign | ast.AnnAssign):
        targets = child.targets if isinstance(child, ast.Assign) else [child.target]
        return ast.unparse(targets[0]) == "__all__" or (
            isinstance(child, ast.AnnAssign) and ast.unparse(child.annotation) == "TypeAlias"
        )
    # What an error says is checked by reading; that it is raised is changed one level above.
    if isinstance(parent, ast.Raise):
        return True
    # The first argument of cast() is a type.
    is_cast = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "cast"
    return is_cast and field == "args" and at == 0


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Return what may stand in place of an expression or a statement."""
    match node:
        case ast.Compare(left=left, ops=[op, *rest], comparators=right):
            for other in COMPARISONS[type(op)]:
                yield ast.Compare(left, [other(), *rest], right)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.AugAssign(target=target, op=op, value=value):
            if type(op) in OPERATORS:
                yield ast.AugAssign(target, OPERATORS[type(op)](), value)
            yield ast.Pass()
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 2 if value else 1.0)
        case ast.Constant(value=str(value)):
            yield ast.Constant(f"not {value}")
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield ast.Return(ast.Constant(None))
        case ast.If(test=test, body=body, orelse=orelse) if not isinstance(test, ast.Compare):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.IfExp(test=test, body=body, orelse=orelse) if not isinstance(test, ast.Compare):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.comprehension():
            pass
        case ast.Raise() | ast.Expr(value=ast.Call() | ast.Yield()) | ast.Break() | ast.Continue():
            yield ast.Pass()


@dataclass(frozen=True)
class Job:
    """A mutant that runs: in which process, where, since when."""

    mutant: Mutant
    process: int
    home: Path
    since: float


class Runner:
    """Runs tests on mutants, several at once.

    Parameters
    ----------
    jobs : int
        How many at once.
    limit : float
        The seconds of processor time one may take; by the clock it may take twenty times as long.
    """

    def __init__(self, jobs: int, limit: float) -> None:
        self.limit = limit
        self.work = Path(tempfile.mkdtemp(prefix="swarmrs-mutants-"))
        self.free = [self._home(at) for at in range(jobs)]
        self.running: list[Job] = []

    def _home(self, at: int) -> Path:
        home = self.work / str(at)
        for part in ("python", "tests", "benches"):
            ignored = shutil.ignore_patterns("*.so", "results", "golden", "fuzz")
            shutil.copytree(ROOT / part, home / part, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", home)
        for compiled in (ROOT / PACKAGE).glob("_swarmrs*.so"):
            (home / PACKAGE / compiled.name).symlink_to(compiled)
        # What is changed is compiled each time; two changes within a second would look alike.
        for module in TESTS:
            for stale in (home / module.parent / "__pycache__").glob(f"{module.stem}.*"):
                stale.unlink()
        return home

    def close(self) -> None:
        """Remove the copies."""
        shutil.rmtree(self.work)

    def run(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
        """Return each mutant with ``caught``, ``late`` or ``survived``, as they end."""
        waiting = list(reversed(mutants))
        while waiting or self.running:
            while waiting and self.free:
                self.running.append(self._start(waiting.pop(), self.free.pop()))
            ended = [(job, how) for job in self.running if (how := self._look(job)) is not None]
            for job, how in ended:
                self.running.remove(job)
                self.free.append(job.home)
                yield job.mutant, how
            if not ended:
                time.sleep(0.02)

    def run_functions(self, mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
        """Return those mutants of one module that change a function, with how they ended."""
        home = self.free[-1]
        lines, pipe = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(lines)
            try:
                _pytest(mutants[0].module, home, Forks(mutants, self.limit, pipe))
            finally:
                os._exit(0)
        os.close(pipe)
        with open(lines) as ended:
            for line in ended:
                number, how = line.split()
                yield mutants[int(number)], how
        os.waitpid(process, 0)

    def _start(self, mutant: Mutant, home: Path) -> Job:
        process = os.fork()
        if process == 0:
            # A group of its own, so that what a test starts ends with it.
            os.setpgid(0, 0)
            code = 1
            try:
                cpu = int(self.limit)
                resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
                code = _test(mutant, home)
            finally:
                os._exit(code)
        return Job(mutant, process, home, time.monotonic())

    def _look(self, job: Job) -> str | None:
        done, status = os.waitpid(job.process, os.WNOHANG)
        if done:
            how = "caught" if os.waitstatus_to_exitcode(status) != 0 else "survived"
        elif time.monotonic() - job.since > 20 * self.limit:
            os.killpg(job.process, signal.SIGKILL)
            os.waitpid(job.process, 0)
            how = "late"
        else:
            return None
        shutil.copy(ROOT / job.mutant.module, job.home / job.mutant.module)
        return how


def _test(mutant: Mutant, home: Path) -> int:
    """Run the tests of a mutant in this process; 0 if it survives."""
    (home / mutant.module).write_text(mutant.source)
    return _pytest(mutant.module, home)


def _pytest(module: Path, home: Path, *plugins: object) -> int:
    """Run the tests of a module in this process, on a copy of the project."""
    import hypothesis
    import pytest

    # A loaded machine must not count as a test that fails.
    steady = hypothesis.settings(
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.register_profile("mutants", steady)
    hypothesis.settings.load_profile("mutants")
    os.chdir(home)
    sys.path[:0] = [str(home / "python")]
    output = os.open(home / OUTPUT, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    for stream in (0, 1, 2):
        os.dup2(output, stream)
    first, *rest = (f"tests/{name}.py" for name in TESTS[module].split())
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=0"]
    options += ["--basetemp", str(home / "temporary")]
    for warning in ("PytestAssertRewriteWarning", "PytestCollectionWarning"):
        options += ["-W", f"ignore::pytest.{warning}"]
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    try:
        return int(pytest.main([*options, first, str(module), *rest], [*plugins]))
    finally:
        sys.stdout.flush()


class Forks:
    """A plugin of pytest: runs the tests in a child process for each mutant of functions.

    Parameters
    ----------
    mutants : sequence of Mutant
        Mutants of one module; the first may be the unchanged module.
    limit : float
        The seconds of processor time one may take; by the clock it may take twenty times as long.
    pipe : int
        Where it writes a line for each mutant it has run: its position, and how it ended.
    """

    def __init__(self, mutants: Sequence[Mutant], limit: float, pipe: int) -> None:
        self.mutants = mutants
        self.limit = limit
        self.pipe = pipe

    def pytest_runtestloop(self, session: "pytest.Session") -> bool:
        """Run the tests on each mutant."""
        module = self.mutants[0].module
        name = ".".join(module.relative_to("python").with_suffix("").parts)
        functions = _functions(importlib.import_module(name))
        unchanged = _codes(_compiled(ast.unparse(ast.parse(Path(module).read_text()))))
        tests, failed = list(session.items), Path("failed.txt").resolve()
        for number, mutant in enumerate(self.mutants):
            codes = _codes(_compiled(mutant.source))
            changed = [name for name, code in codes.items() if _key(code) != _key(unchanged[name])]
            if mutant.line and (len(changed) != 1 or changed[0] not in functions):
                continue
            failed.unlink(missing_ok=True)
            process = os.fork()
            if process == 0:
                try:
                    for name in changed:
                        functions[name].__code__ = codes[name]
                    at = self._first_failure(session, tests)
                    if at is not None:
                        failed.write_text(str(at))
                    os._exit(0 if at is None else 1)
                finally:
                    os._exit(1)
            os.write(self.pipe, f"{number} {self._wait(process)}\n".encode())
            if failed.exists():
                tests.insert(0, tests.pop(int(failed.read_text())))
        return True

    def _first_failure(
        self, session: "pytest.Session", tests: Sequence["pytest.Item"]
    ) -> int | None:
        os.setpgid(0, 0)
        for at, (test, following) in enumerate(zip(tests, [*tests[1:], None], strict=True)):
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime + TEST_LIMIT)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            session.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if session.testsfailed:
                return at
        return None

    def _wait(self, process: int) -> str:
        since = time.monotonic()
        while time.monotonic() - since < 20 * self.limit:
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                return "caught" if os.waitstatus_to_exitcode(status) != 0 else "survived"
            time.sleep(min(0.1, 0.005 + (time.monotonic() - since) / 10))
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return "late"


def _compiled(source: str) -> CodeType:
    return compile(source, "mutant", "exec", dont_inherit=True)


def _codes(code: CodeType) -> dict[str, CodeType]:
    """Return the code of each function of a module, methods included, by qualified name."""
    found: dict[str, CodeType] = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            is_function = bool(inner.co_flags & inspect.CO_OPTIMIZED)
            found |= {inner.co_qualname: inner} if is_function else _codes(inner)
    return found


def _key(code: CodeType) -> tuple[Any, ...]:
    """Return what a function does, without its lines."""
    constants = tuple(
        _key(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return code.co_code, code.co_names, code.co_varnames, constants


def _functions(module: ModuleType) -> dict[str, FunctionType]:
    """Return the functions that a module defines, methods included, by qualified name."""
    own = [each for each in vars(module).values() if _is_of(each, module)]
    classes = [each for each in own if inspect.isclass(each)]
    held = [*own, *(member for each in classes for member in vars(each).values())]
    functions = [function for each in held if (function := _function(each)) is not None]
    return {
        function.__code__.co_qualname: function
        for function in functions
        if _is_of(function, module)
    }


def _is_of(each: object, module: ModuleType) -> bool:
    return getattr(each, "__module__", None) == module.__name__


def _function(member: object) -> FunctionType | None:
    """Return the function behind a member of a class."""
    if isinstance(member, classmethod | staticmethod):
        member = member.__func__
    elif isinstance(member, property):
        member = member.fget
    elif isinstance(member, cached_property):
        member = member.func
    return member if isinstance(member, FunctionType) else None


def equivalent() -> dict[str, str]:
    """Return the mutants that change nothing anybody can see, with the reasons."""
    if not EQUIVALENT.exists():
        return {}
    lines = [line for line in EQUIVALENT.read_text().splitlines() if line[:1] not in ("", "#")]
    return {name.strip(): why.strip() for name, why in (line.split(" | ", 1) for line in lines)}


def main() -> None:
    """Run the mutants and list the survivors; exit 1 if fewer than 90 % are caught."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="statistics, table or names of modules")
    parser.add_argument("--sample", type=int, help="take that many mutants of each module")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="CPU seconds for one mutant")
    parser.add_argument("--list", action="store_true", help="list mutants, run none")
    given = parser.parse_args()
    wanted = [word for word in given.only.split(",") if word]
    modules = [
        module
        for module in TESTS
        if not wanted
        or module.name in wanted
        or any(module.parent == GROUPS.get(word) for word in wanted)
    ]
    mutants: list[Mutant] = []
    found = {module: list(mutants_of(module, _text(module))) for module in TESTS}
    names = {mutant.name for every in found.values() for mutant in every}
    if unknown := equivalent().keys() - names:
        sys.exit(f"error: no such mutants: {'; '.join(unknown)}")
    for module in modules:
        every = found[module]
        if given.sample is not None and len(every) > given.sample:
            every = random.Random(given.seed).sample(every, given.sample)
            every.sort(key=lambda mutant: mutant.line)
        mutants += every
    if given.list:
        for mutant in mutants:
            print(f"{mutant.line:4}  {mutant.name}")
        return
    sys.exit(0 if _report(mutants, given.jobs, given.limit) else 1)


def _text(module: Path) -> str:
    return (ROOT / module).read_text()


def _report(mutants: list[Mutant], jobs: int, limit: float) -> bool:
    """Run mutants, print the survivors and the counts; tell whether enough were caught."""
    _import_libraries()
    known, runner = equivalent(), Runner(jobs, limit)
    counts: dict[Path, dict[str, int]] = {}
    for mutant in mutants:
        if mutant.name in known:
            print(f"equivalent {mutant.line:4}  {mutant.name}", flush=True)
            of_module = counts.setdefault(mutant.module, {})
            of_module["equivalent"] = of_module.get("equivalent", 0) + 1
    mutants = [mutant for mutant in mutants if mutant.name not in known]
    try:
        for number, (mutant, how) in enumerate(_ended(mutants, runner), start=1):
            if how == "survived":
                print(f"{how:10} {mutant.line:4}  {mutant.name}", flush=True)
            of_module = counts.setdefault(mutant.module, {})
            of_module[how] = of_module.get(how, 0) + 1
            if number % 20 == 0:
                done = f"{number} of {len(mutants)} mutants, of {mutant.module.name} {of_module}"
                print(done, file=sys.stderr, flush=True)
    finally:
        runner.close()
    total = caught = 0
    for module, found in counts.items():
        n, n_caught = sum(found.values()), found.get("caught", 0) + found.get("late", 0)
        rest = ", ".join(
            f"{found[how]} {how}" for how in ("equivalent", "survived") if how in found
        )
        print(f"{module.name:14} {n:4} mutants  {n_caught:4} caught ({n_caught / n:.1%})  {rest}")
        total, caught = total + n, caught + n_caught
    print(f"all            {total:4} mutants  {caught:4} caught ({caught / total:.1%})")
    return caught >= 0.9 * total


def _ended(mutants: list[Mutant], runner: Runner) -> Iterator[tuple[Mutant, str]]:
    """Return each mutant with how it ended; exit if the tests fail on an unchanged module."""
    modules = {
        module: [mutant for mutant in mutants if mutant.module == module]
        for module in dict.fromkeys(mutant.module for mutant in mutants)
    }
    unchanged = {
        module: Mutant(module, 0, "unchanged", ast.unparse(ast.parse(_text(module))))
        for module in modules
    }
    for module, rest in modules.items():
        functions = runner.run_functions([unchanged[module], *rest])
        # An unchanged module must pass, or every mutant would count as caught.
        _check(next(functions, (unchanged[module], "not run")), runner)
        for mutant, how in functions:
            rest.remove(mutant)
            yield mutant, how
    for module, rest in modules.items():
        if rest:
            _check(next(runner.run([unchanged[module]])), runner)
            yield from runner.run(rest)


def _check(ended: tuple[Mutant, str], runner: Runner) -> None:
    """Exit unless the tests of an unchanged module passed."""
    unchanged, how = ended
    if how != "survived":
        print((runner.free[-1] / OUTPUT).read_text(errors="replace"), file=sys.stderr)
        sys.exit(f"error: the tests of {unchanged.module} fail without a change ({how})")


def _import_libraries() -> None:
    """Import what takes long, so that children need not; nothing that starts threads."""
    import hypothesis
    import numpy
    import pandas
    import polars
    import pytest
    import rich.console
    import scikit_posthocs
    import scipy.special
    import scipy.stats
    import sklearn.datasets
    import sklearn.neighbors
    import statsmodels.stats.multitest
    import typer

    del hypothesis, numpy, pandas, polars, pytest, rich, typer
    del scikit_posthocs, scipy, sklearn, statsmodels


if __name__ == "__main__":
    main()
