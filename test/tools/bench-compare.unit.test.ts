// A benchmark that became slower is found, whichever direction is better, and noise in one run is not.
import { expect } from "chai";
import type { Figure } from "../../bench/_harness/report.ts";
import { compareRuns, inTurns } from "../../tools/bench-compare.mjs";
import { root } from "../../tools/install.mjs";

const figure = (what: string, value: number, goal: string | null): Figure => ({
  ...{ what, value, goal, unit: "ratio", rival: "bare", met: goal === null ? null : true },
});
const RIVALS = (bare: number, express: number): Figure[] => [
  { ...figure("CPU", bare, "at most 2"), rival: "bare" },
  { ...figure("CPU", express, "at most 2"), rival: "Express" },
];

const run = (cpu: readonly [number, number], rate: readonly [number, number]) => ({
  before: [figure("CPU", cpu[0], "at most 2"), figure("rate", rate[0], "at least 0.5"), figure("RSS", 1, null)],
  now: [
    figure("CPU", cpu[1], "at most 2"),
    figure("rate", rate[1], "at least 0.5"),
    figure("RSS", 9, null),
    figure("new", 1, "at most 1"),
  ],
});

describe("the comparison of benchmarks with an older commit", () => {
  it("finds a figure that is worse in all runs, by the direction of its goal", () => {
    const runs = [run([1, 1.2], [1, 0.8]), run([1, 1.3], [1, 0.7]), run([1, 1.16], [1, 0.86])];
    expect(compareRuns(runs).map(({ what, worse }) => [what, worse])).to.deep.equal([
      ["CPU (bare)", true],
      ["rate (bare)", true],
    ]);
  });

  it("compares figures of one name with different rivals each with its own", () => {
    const runs = [1, 2, 3].map(() => ({ before: RIVALS(1, 1), now: RIVALS(1, 2) }));
    expect(compareRuns(runs).map(({ what, worse }) => [what, worse])).to.deep.equal([
      ["CPU (bare)", false],
      ["CPU (Express)", true],
    ]);
  });

  it("lets a figure pass that is worse in some runs, or better", () => {
    const runs = [run([1, 1.5], [1, 2]), run([1, 1.1], [1, 2]), run([1, 1.5], [1, 2])];
    const compared = compareRuns(runs);
    expect(compared.map(({ worse }) => worse)).to.deep.equal([false, false]);
    expect(compared[1]?.ratios).to.deep.equal([0.5, 0.5, 0.5]);
  });

  it("has nothing to compare with where the older commit has no such benchmark", async function () {
    this.timeout(30_000);
    const compared = await inTurns({ folder: root, root, name: "later", least: 1, args: [] });
    expect(compared).to.equal("Error: no benchmark later; `npm run bench` lists them");
  });
});
