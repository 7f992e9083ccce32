// Why: each check of the conformance suite must have been seen failing, and failing alone: a check that also fails for
// another fault misleads people. Each server here has one fault, as real servers have it.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { breakages } from "./broken/all.ts";
import type { BrokenReport } from "./broken/worker.ts";

const WORKERS = Math.min(4, availableParallelism());
/** Maximum number of concurrent runs in a worker: they mostly wait for events that never arrive. */
const AT_ONCE = 8;
/** Index of a server without a breakage. */
const NONE = -1;
/** The same, for checks that write. */
const NONE_WRITING = -2;
/** The same, for checks of garbage collection. */
const NONE_COLLECTING = -3;
const UNBROKEN = [NONE, NONE_WRITING, NONE_COLLECTING];

describe("the conformance suite, on a server that", function () {
  this.timeout(180_000);
  const pending = [...UNBROKEN, ...breakages.keys()];
  const reports = new Map(pending.map((index) => [index, Promise.withResolvers<BrokenReport>()]));
  const workers: Worker[] = [];

  before(() => {
    for (let count = 0; count < WORKERS; count++) {
      const worker = new Worker(new URL("broken/worker.ts", import.meta.url));
      const more = (): void => {
        const index = pending.shift();
        if (index !== undefined) worker.postMessage(index);
      };
      worker.on("message", (report: BrokenReport) => {
        reports.get(report.index)?.resolve(report);
        more();
      });
      worker.on("error", (error) => {
        for (const { reject } of reports.values()) reject(error);
      });
      for (let run = 0; run < AT_ONCE; run++) more();
      workers.push(worker);
    }
  });
  after(async () => {
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  const reportOf = async (index: number): Promise<BrokenReport> => {
    const report = (await reports.get(index)?.promise) as BrokenReport;
    expect(report.logged, "logged by the real server").to.deep.equal([]);
    return report;
  };

  it("has no fault: passes", async () => {
    const results = (await Promise.all(UNBROKEN.map(reportOf))).flatMap((report) => report.results);
    expect(results.filter(({ outcome }) => outcome !== "passed")).to.deep.equal([]);
  });

  for (const [index, { name, fails }] of breakages.entries()) {
    it(`${name}: ${fails.join(", ")}`, async () => {
      const { results } = await reportOf(index);
      expect(results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id)).to.deep.equal(fails);
    });
  }

  it("has a fault for each check of the suite", async () => {
    const results = (await Promise.all(UNBROKEN.map(reportOf))).flatMap((report) => report.results);
    const checks = new Set(results.map(({ id }) => id));
    const seen = new Set(breakages.flatMap(({ fails }) => fails));
    expect(
      [...checks].filter((id) => !seen.has(id)),
      "checks never seen failing",
    ).to.deep.equal([]);
    expect(
      [...seen].filter((id) => !checks.has(id)),
      "no such checks",
    ).to.deep.equal([]);
  });
});
