#!/usr/bin/env python3
"""Solves a small recompute problem with HiGHS, as a mixed-integer program after Checkmate (MLSys 2020).

usage: milp.py GRAPH.json BUDGET [SECONDS] [PASSES]

BUDGET is a fraction of the plain peak. Prints added time in percent: the bound, the best plan and the seconds that
it took.

Stage t ends with the first execution of op t; in it every earlier op may run once more, in the order of the ops. That
is Checkmate's restriction: plans of gpuopt-solve may run an op several times in a stage, so they can be better than the
optimum here. PASSES > 1 divides each stage into so many, which loosens it.
"""
import collections
import json
import pathlib
import sys
import time

import highspy
import numpy

import simulator

Problem = collections.namedtuple("Problem", "size cost workspace repeat_workspace readers reads pinned recomputable")
Answer = collections.namedtuple("Answer", "bound plan seconds schedule isOptimal")


def read(graph):
    nodes, n = graph["nodes"], len(graph["nodes"])
    if any(node.get("storage", -1) >= 0 for node in nodes):
        raise SystemExit("shared storages are not in this program")
    readers, reads = [[] for _ in range(n)], [[] for _ in range(n)]
    for source, reader in sorted(set(map(tuple, graph["edges"]))):
        readers[source].append(reader)
        reads[reader].append(source)

    def field(name, default):
        return [node.get(name, default) for node in nodes]

    workspace = field("workspace", 0)
    return Problem([node["bytes"] for node in nodes], [node["cost"] for node in nodes], workspace,
                   [node.get("repeat_workspace", w) for node, w in zip(nodes, workspace)], readers, reads,
                   field("pinned", False), field("recomputable", True))


def widen(problem, passes):
    """Each op after passes - 1 ops that cost nothing and run once: their stages are the further passes."""
    def at(op):
        return op * passes + passes - 1

    def spread(values, filler):
        return [values[i // passes] if i % passes == passes - 1 else filler for i in range(len(values) * passes)]

    return Problem(spread(problem.size, 0), spread(problem.cost, 0), spread(problem.workspace, 0),
                   spread(problem.repeat_workspace, 0),
                   spread([[at(reader) for reader in readers] for readers in problem.readers], []),
                   spread([[at(source) for source in reads] for reads in problem.reads], []),
                   spread(problem.pinned, False), spread(problem.recomputable, False))


class Program:
    """Variables, all of 0 to 1. For an op i and a stage t > i, or t = i where it runs first:
      run[t, i]   i runs in stage t (binary; 1 where t = i)
      kept[t, i]  its output is resident when stage t begins
      made[t, i]  ... while i runs in t, or would
      held[t, i, k]  ... while its reader k runs in t, or would
    Within a stage the output can be freed after each of these and comes back by no other than run, so nothing else
    changes what is resident. Given the runs, the others are 0 or 1 by themselves.
    """

    def __init__(self, problem, budget):
        self.problem, self.budget, self.n = problem, budget, len(problem.size)
        self.percent = 100 / (sum(problem.cost) or 1)
        self.costs, self.binary, self.uppers, self.lowers, self.rows = [], [], [], [], []
        self.run, self.kept, self.made, self.held, self.after = {}, {}, {}, {}, {}
        for stage in range(self.n):
            for op in range(stage + 1):
                self.add_variables(stage, op)
        for stage in range(self.n):
            for op in range(stage + 1):
                self.after[stage, op] = self.variables_after(stage, op)
                self.add_residency(stage, op)
                self.add_reads(stage, op)
            for op in range(stage + 1):
                self.add_memory(stage, op)

    def variable(self, cost=0, binary=False, lower=0, upper=1):
        self.costs.append(cost)
        self.binary.append(binary)
        self.lowers.append(lower)
        self.uppers.append(upper)
        return len(self.costs) - 1

    def row(self, upper, terms):
        """The sum of coefficient times variable is at most `upper`."""
        self.rows.append((upper, terms))

    def add_variables(self, stage, op):
        p, first = self.problem, stage == op
        mayRun = first or (p.recomputable[op] and (p.readers[op] or p.pinned[op]))
        self.run[stage, op] = self.variable(0 if first else p.cost[op] * self.percent, binary=True, lower=int(first),
                                            upper=int(bool(mayRun)))
        self.kept[stage, op] = self.variable(upper=int(not first))
        self.made[stage, op] = self.variable()
        for reader in p.readers[op]:
            if reader <= stage:
                self.held[stage, op, reader] = self.variable()

    def variables_after(self, stage, op):
        """Of the output's residency in the stage after the op's place, in order; the last is at the next stage."""
        result = [self.held[stage, op, reader] for reader in self.problem.readers[op] if reader <= stage]
        if stage + 1 < self.n:
            result.append(self.kept[stage + 1, op])
        elif self.problem.pinned[op]:
            result.append(self.variable(lower=1))
        return result

    def add_residency(self, stage, op):
        run, kept, made = self.run[stage, op], self.kept[stage, op], self.made[stage, op]
        self.row(0, [(1, run), (-1, made)])
        self.row(0, [(1, made), (-1, run), (-1, kept)])
        before = made
        for after in self.after[stage, op]:
            self.row(0, [(1, after), (-1, before)])
            before = after

    def add_reads(self, stage, op):
        for source in self.problem.reads[op]:
            self.row(0, [(1, self.run[stage, op]), (-1, self.held[stage, source, op])])

    def resident(self, stage, op, at):
        """The variable that says whether the output is resident while op `at` runs in the stage."""
        if at < op:
            return self.kept[stage, op]
        variable = self.made[stage, op]
        if at == op:
            return variable
        for reader, held in zip(self.problem.readers[op], self.after[stage, op]):
            if reader <= stage and reader >= at:
                return held
        # After its last reader here there is only what goes into the next stage.
        goesOn = stage + 1 < self.n or self.problem.pinned[op]
        return self.after[stage, op][-1] if goesOn else None

    def add_memory(self, stage, at):
        p = self.problem
        workspace = p.workspace[at] if at == stage else p.repeat_workspace[at]
        terms = [(workspace / self.budget, self.run[stage, at])] if workspace else []
        for op in range(stage + 1):
            variable = self.resident(stage, op, at)
            if p.size[op] and variable is not None:
                terms.append((p.size[op] / self.budget, variable))
        self.row(1, terms)

    def solve(self, seconds):
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("time_limit", float(seconds))
        model.setOptionValue("mip_rel_gap", 1e-6)
        count = len(self.costs)
        model.addVars(count, numpy.array(self.lowers, float), numpy.array(self.uppers, float))
        model.changeColsCost(count, numpy.arange(count, dtype=numpy.int32), numpy.array(self.costs, float))
        integers = numpy.flatnonzero(self.binary).astype(numpy.int32)
        kinds = numpy.full(len(integers), highspy.HighsVarType.kInteger)
        model.changeColsIntegrality(len(integers), integers, kinds)
        starts = numpy.cumsum([0] + [len(terms) for _, terms in self.rows[:-1]]).astype(numpy.int32)
        flat = [term for _, terms in self.rows for term in terms]
        model.addRows(len(self.rows), numpy.full(len(self.rows), -highspy.kHighsInf),
                      numpy.array([upper for upper, _ in self.rows], float), len(flat), starts,
                      numpy.array([variable for _, variable in flat], numpy.int32),
                      numpy.array([coefficient for coefficient, _ in flat], float))
        begin = time.monotonic()
        model.run()
        return self.answer(model, time.monotonic() - begin)

    def answer(self, model, seconds):
        info, status = model.getInfo(), model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return Answer(None, None, seconds, None, True)
        isOptimal = status == highspy.HighsModelStatus.kOptimal
        bound = max(0.0, info.mip_dual_bound)
        if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return Answer(bound, None, seconds, None, isOptimal)
        values = model.getSolution().col_value
        schedule = [op for stage in range(self.n) for op in range(stage + 1) if values[self.run[stage, op]] > 0.5]
        return Answer(bound, info.objective_function_value, seconds, schedule, isOptimal)


def solve(graph, budget, seconds, passes=1):
    """The answer for a budget in bytes; its schedule is one of the graph's ops."""
    problem = read(graph)
    answer = Program(widen(problem, passes) if passes > 1 else problem, budget).solve(seconds)
    if not answer.schedule or passes == 1:
        return answer
    return answer._replace(schedule=[op // passes for op in answer.schedule if op % passes == passes - 1])


def largest_working_set(graph):
    """The most that one op with its inputs needs: no budget below it can be met."""
    problem = read(graph)
    return max(size + workspace + sum(problem.size[source] for source in reads)
               for size, workspace, reads in zip(problem.size, problem.workspace, problem.reads))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    graph = json.loads(pathlib.Path(sys.argv[1]).read_text())
    answer = solve(graph, int(float(sys.argv[2]) * simulator.plain_peak(graph)), float((sys.argv[3:4] or [60])[0]),
                   int((sys.argv[4:5] or [1])[0]))
    print(f"bound={answer.bound} plan={answer.plan} seconds={answer.seconds:.1f}"
          f"{' optimal' if answer.isOptimal else ''}")
