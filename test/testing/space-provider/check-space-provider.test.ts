// Runs the conformance suite for space providers. Ours passes, and each check fails for a provider with the matching fault,
// and for no other.

import type { SpaceProvider } from "@virtual-workspaces/spaces";
import {
  type CheckResult,
  type ConformanceReport,
  checkSpaceProvider,
  printConformance,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { type Served, serve, TOKEN } from "../../plugins/spaces/rest/support/served.ts";
import { KeptSpaces } from "../../plugins/spaces/support/kept-spaces.ts";
import { startBroken } from "../broken/proxy.ts";
import { breakages } from "./broken.ts";

const deadlines = { prompt: 1_500, heartbeat: 1_500, ready: 1_500 };
/** Part of each kubeconfig. */
const SECRET = "of-this-space-alone";
/** Maximum number of concurrent runs. */
const AT_ONCE = 8;

/** Starts a provider with some spaces. */
async function start(): Promise<Served & { readonly kept: KeptSpaces }> {
  const kept = new KeptSpaces();
  kept.token = SECRET;
  for (const name of ["a", "b"]) kept.set(name);
  kept.set("c", { phase: "Initializing", message: "soon" });
  return { ...(await serve(kept, { heartbeat: 100 })), kept };
}

const failed = ({ results }: ConformanceReport): readonly CheckResult[] =>
  results.filter(({ outcome }) => outcome === "failed");

describe("the conformance suite for space providers", function () {
  this.timeout(60_000);
  let served: Served & { readonly kept: KeptSpaces };
  let whole: ConformanceReport;

  before(async () => {
    served = await start();
    whole = await checkSpaceProvider({ url: served.url, token: TOKEN, write: true, deadlines });
  });
  after(() => served?.[Symbol.asyncDispose]());

  it("passes every check, and deletes its space", () => {
    expect(whole.results.filter(({ outcome }) => outcome !== "passed")).to.deep.equal([]);
    expect(whole).to.include({ serverVersion: "v1", failed: 0, skipped: 0 });
    expect(whole.left).to.deep.equal([]);
    expect([...served.kept.spaces.keys()]).to.deep.equal(["a", "b", "c"]);
    expect(printConformance(whole)).to.match(/^P7 creation and deletion of spaces\n {2}✓ P7\.1 /m);
    expect(JSON.stringify(whole)).not.to.include(TOKEN);
  });

  it("only reads by default, and runs only the selected checks", async () => {
    served.kept.calls.length = 0;
    const report = await checkSpaceProvider({ url: served.url, token: TOKEN, deadlines });
    expect(failed(report)).to.deep.equal([]);
    expect(
      served.kept.calls.filter((call) => /^(create|delete) (?!conformance-no-such-space$)/.test(call)),
    ).to.deep.equal([]);
    const skipped = report.results.flatMap(({ id, outcome }) => (outcome === "skipped" ? [id] : []));
    expect(skipped).to.deep.equal(["P7.1", "P7.2", "P7.3", "P7.4", "P7.5", "P7.6", "P7.7"]);
    const some = await checkSpaceProvider({
      url: served.url,
      token: TOKEN,
      checks: (id) => id.startsWith("P2"),
      deadlines,
    });
    expect(some.results.map(({ id }) => id)).to.deep.equal(["P2.1", "P2.2", "P2.3", "P2.4"]);
  });

  it("skips operations that a provider does not support, after checking the rejection", async () => {
    const { kept } = served;
    const able: SpaceProvider = {
      list: (call) => kept.list(call),
      get: (name, call) => kept.get(name, call),
      access: (name, call) => kept.access(name, call),
    };
    await using other = await serve(able);
    const report = await checkSpaceProvider({ url: other.url, token: TOKEN, write: true, deadlines });
    expect(failed(report)).to.deep.equal([]);
    expect(report.results.find(({ id }) => id === "P3.5")?.outcome).to.equal("passed");
    expect(report.results.find(({ id }) => id === "P7.1")?.reason).to.equal(
      "the provider says that it cannot create spaces",
    );
  });

  it("checks the spaces below a given parent", async () => {
    await using below = await serve(served.kept, { hierarchy: true, heartbeat: 100 });
    const report = await checkSpaceProvider({
      url: below.url,
      token: TOKEN,
      parent: "root:org",
      write: true,
      deadlines,
    });
    expect(failed(report)).to.deep.equal([]);
    await using flat = await serve(served.kept);
    const wrong = await checkSpaceProvider({ url: flat.url, token: TOKEN, parent: "root:org", deadlines });
    expect(failed(wrong).map(({ id }) => id)).to.include("P2.1");
  });

  it("reports failures for an unreachable provider and for unknown credentials", async () => {
    const nobody = await checkSpaceProvider({ url: "http://127.0.0.1:1", token: TOKEN, deadlines });
    expect(nobody).to.include({ passed: 0, serverVersion: "" });
    expect(failed(nobody)[0]?.failure?.actual).to.match(/ECONNREFUSED/);
    const stranger = await checkSpaceProvider({ url: served.url, token: "another", deadlines });
    expect(failed(stranger)[0]?.failure?.actual).to.match(/^401 application\/json/);
    const unnamed = await checkSpaceProvider({ url: served.url, deadlines, checks: (id) => id.startsWith("P4") });
    expect(unnamed.results.map(({ outcome }) => outcome)).to.deep.equal(["skipped", "skipped"]);
  });

  it("deletes its space when it is aborted", async () => {
    const abort = new AbortController();
    const { kept } = served;
    kept.before = (call) => {
      if (/^create conformance-/.test(call)) abort.abort(new Error("enough"));
    };
    const { signal } = abort;
    const run = checkSpaceProvider({ url: served.url, token: TOKEN, write: true, deadlines, signal });
    const error = await run.catch((reason: Error) => reason.message);
    kept.before = () => undefined;
    expect(error).to.equal("enough");
    expect([...kept.spaces.keys()]).to.deep.equal(["a", "b", "c"]);
  });

  describe("finds a provider that", () => {
    const reports = new Map<string, Promise<ConformanceReport>>();
    before(() => {
      const waiting = [...breakages];
      const settled = breakages.map(({ name }) => [name, Promise.withResolvers<ConformanceReport>()] as const);
      for (const [name, { promise }] of settled) reports.set(name, promise);
      const by = new Map(settled);
      const work = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const { name } = next;
          await using behind = await start();
          await using broken = await startBroken(new URL(behind.url).origin, next);
          const url = broken.url + new URL(behind.url).pathname;
          const run = checkSpaceProvider({ url, token: TOKEN, write: true, deadlines });
          await run.then(by.get(name)?.resolve, by.get(name)?.reject);
        }
      };
      for (let n = 0; n < AT_ONCE; n++) void work();
    });
    for (const { name, fails } of breakages)
      it(`${name}: ${fails.join(", ")}`, async () => {
        const report = (await reports.get(name)) as ConformanceReport;
        expect(failed(report).map(({ id }) => id)).to.deep.equal(fails);
        expect(JSON.stringify(report)).not.to.include(SECRET).and.not.to.include(TOKEN);
        const isLeft = name === "accepts a delete without deleting the space";
        expect(report.left.map((one) => one.slice(0, 18))).to.deep.equal(isLeft ? ["space conformance-"] : []);
      });

    it("covers each check of the suite with a fault", () => {
      const seen = new Set(breakages.flatMap(({ fails }) => fails));
      expect([...seen].sort()).to.deep.equal(whole.results.map(({ id }) => id).sort());
    });
  });
});
