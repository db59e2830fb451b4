"""Evaluates terms under a model through Z3's Python module in the folder given as argument, again and again.

Reads a job as JSON from standard input, prints the release and the units in a second of CPU time of every work as JSON."""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import z3


def declared(text):
    """The declarations alone, and a model with the values that they come with."""
    solver = z3.Solver()
    solver.from_string(text)
    if solver.check() != z3.sat:
        raise ValueError("the values contradict each other")
    lines = [line for line in text.splitlines() if line.startswith("(declare")]
    return "\n".join(lines), solver.model()


def terms_of(declarations, texts):
    text = declarations + "\n" + "\n".join("(assert (= %s %s))" % (term, term) for term in texts)
    return [formula.arg(0) for formula in z3.parse_smt2_string(text)]


def evaluation(task):
    declarations, model = declared(task["declarations"])
    terms = terms_of(declarations, task["terms"])

    def work():
        for term in terms:
            model.eval(term, model_completion=True)

    return work


def replacement(task):
    declarations, model = declared(task["declarations"])
    root = terms_of(declarations, [task["root"]])[0]
    trials = []
    for path, new in zip(task["paths"], terms_of(declarations, task["terms"])):
        old = root
        for child in path:
            old = old.arg(child)
        trials.append((old, new))

    def work():
        for pair in trials:
            model.eval(z3.substitute(root, pair), model_completion=True)

    return work


def rate(units, work, seconds):
    work()
    windows = []
    for _ in range(5):
        start, cpu = time.perf_counter(), time.process_time()
        repetitions = 0
        while time.perf_counter() - start < seconds / 5:
            work()
            repetitions += 1
        windows.append(units * repetitions / max(time.process_time() - cpu, 1e-9))
    return sorted(windows)[len(windows) // 2]


job = json.load(sys.stdin)
rates = []
for one in job["works"]:
    (kind, task), = one["z3"].items()
    work = evaluation(task) if kind == "evaluate" else replacement(task)
    rates.append(rate(one["units"], work, job["seconds"]))
print(json.dumps({"version": z3.get_version_string(), "rates": rates}))
