// Runs the conformance suite on Kubernetes' own server of custom resources: a check that it fails is wrong.
import { type ConformanceReport, matchResources, runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import type { Listener } from "../_support/listener.ts";
import { KINDS } from "../differential/kinds.ts";
import { type Oracle, startOracle } from "../differential/oracle.ts";
import { building } from "./support/build.ts";
import { startFront } from "./support/front.ts";

/** In a cluster the aggregator answers these requests, and the oracle has none. */
const AGGREGATOR = /^(T7\.[1489]|S)/;

/** Sample that satisfies the kind's CEL rules, which go beyond the schema. */
const RULED_SAMPLE = { apiVersion: "oracle.dev/v1", kind: "Ruled", metadata: { generateName: "r-" }, spec: {} };

describe("the conformance suite on the oracle", function () {
  this.timeout(120_000);
  let oracle: Oracle;
  let front: Listener;

  before(async function () {
    await building("oracle").call(this);
    oracle = await startOracle(KINDS);
    front = await startFront(oracle, "oracle.dev");
  });
  after(async () => {
    await front?.[Symbol.asyncDispose]();
    await oracle?.[Symbol.asyncDispose]();
  });

  const reportOn = (resource: string): Promise<ConformanceReport> =>
    runConformance({
      url: front.url,
      credentials: { token: "any" },
      resources: matchResources([resource]),
      checks: (id) => !AGGREGATOR.test(id),
      writes: { samples: [RULED_SAMPLE] },
      deadlines: { prompt: 3_000 },
    });

  for (const resource of ["machines", "cards", "richs", "ruleds"]) {
    it(`passes every check for ${resource}, and deletes its objects`, async () => {
      const report = await reportOn(resource);
      expect(report.results.filter(({ outcome }) => outcome === "failed")).to.deep.equal([]);
      expect(report.left).to.deep.equal([]);
    });
  }
});
