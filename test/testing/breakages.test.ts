// Why: each check of the conformance suite must have been seen failing, and failing alone: one that fails with the
// fault of another sends people to the wrong place. Servers are broken here in one way each, as servers in the field are.
import { staticTokens } from "@virtual-workspaces/framework";
import { type ConformanceReport, runConformance, startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { breakages } from "./broken/all.ts";
import type { Breakage } from "./broken/breakage.ts";
import { startBroken } from "./broken/proxy.ts";
import { notesView } from "./notes.ts";

/** Runs under way at once: most of their time they wait for what does not come. */
const AT_ONCE = 10;

async function reportOn(breakage: Breakage): Promise<ConformanceReport> {
  const { view, path, mutate } = notesView();
  const known = staticTokens({ known: { name: "known" } });
  await using server = await startTestServer([view], { log: testLog().log, authentication: [known] });
  await using broken = await startBroken(server.url, breakage);
  return await runConformance({
    url: `${broken.url}${path}`,
    credentials: { token: "known" },
    mutate,
    strict: true,
    deadlines: { answer: 8_000, prompt: 2_500 },
  });
}

const failed = ({ results }: ConformanceReport): string[] =>
  results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id);

describe("a server that is broken on purpose", function () {
  this.timeout(60_000);
  const nothing: Breakage = { name: "nothing", fails: [] };
  const all = [nothing, ...breakages];
  const reports = new Map<Breakage, Promise<ConformanceReport>>();
  const started = new Map(all.map((breakage) => [breakage, Promise.withResolvers<ConformanceReport>()]));

  before(() => {
    const waiting = [...started];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [breakage, { resolve, reject }] = next;
        await reportOn(breakage).then(resolve, reject);
      }
    };
    for (let at = 0; at < AT_ONCE; at++) void worker();
    for (const [breakage, { promise }] of started) reports.set(breakage, promise);
  });

  it("passes every check when it is not", async () => {
    const report = await reports.get(nothing);
    expect(report?.results.filter(({ outcome }) => outcome !== "passed")).to.deep.equal([]);
  });

  for (const breakage of breakages) {
    it(`${breakage.name}: ${breakage.fails.join(", ")}`, async () => {
      const report = await reports.get(breakage);
      expect(report && failed(report)).to.deep.equal(breakage.fails);
    });
  }

  it("is found by every check of the suite", async () => {
    const report = await reports.get(nothing);
    const checks = new Set(report?.results.map(({ id }) => id));
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
