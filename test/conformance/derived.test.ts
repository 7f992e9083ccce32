// Why: authors who run the suite on a kind of their own give no sample at first, so the suite derives objects from the
// schema.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { type ConformanceReport, matchResources, runConformance, startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";

const Demanding = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Demanding",
  scope: "Cluster",
  spec: {
    type: "object",
    required: [
      "long",
      "word",
      "fraction",
      "step",
      "on",
      "pair",
      "nested",
      "map",
      "port",
      "time",
      "id",
      "name",
      "policy",
      "letter",
      "address",
      "set",
      "anything",
      "size",
      "network",
    ],
    properties: {
      long: { type: "string", minLength: 60 },
      word: { type: "string", enum: ["one", "two"] },
      fraction: { type: "number", minimum: 2.5, maximum: 3 },
      step: { type: "integer", minimum: 5, exclusiveMinimum: true, multipleOf: 5 },
      on: { type: "boolean" },
      pair: {
        type: "array",
        minItems: 2,
        items: { type: "object", required: ["n"], properties: { n: { type: "string" } } },
      },
      nested: {
        type: "object",
        required: ["at"],
        properties: { at: { type: "string", format: "date-time" }, not: { type: "string", pattern: "^x{99}$" } },
      },
      map: { type: "object", minProperties: 2, additionalProperties: { type: "integer" } },
      port: { "x-kubernetes-int-or-string": true },
      time: { type: "string", format: "duration" },
      id: { type: "string", format: "uuid" },
      name: { type: "string", pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
      policy: { type: "string", pattern: "^(Always|Never)$" },
      letter: { type: "string", maxLength: 1, pattern: "^[A-Z]$" },
      address: { type: "string", format: "ipv6" },
      set: { type: "array", minItems: 3, "x-kubernetes-list-type": "set", items: { type: "string" } },
      anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      size: { type: "string", pattern: "^\\d+(\\.\\d+)?(Ki|Mi|Gi)?$" },
      network: { type: "string", format: "cidr" },
    },
  },
});

const Ruled = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Ruled",
  scope: "Cluster",
  spec: {
    type: "object",
    properties: { a: { type: "string" } },
    "x-kubernetes-validations": [{ rule: "has(self.a) && self.a == 'what no schema tells'", message: "guess" }],
  },
});

/** Objects with a grace period, like pods, and with finalizers of a garbage collector. */
const Slow = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Slow",
  scope: "Cluster",
  spec: { type: "object" },
  gracePeriodSeconds: 30,
});

describe("conformance suite: derived objects", function () {
  this.timeout(60_000);
  const ruled = Ruled.collection();
  const view = defineVirtualWorkspace({
    name: "derived",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [
      Demanding.serve(Demanding.collection()),
      Ruled.serve(ruled),
      Slow.serve(Slow.collection({ garbageCollected: true })),
    ],
  });

  async function reportOn(name: string, checks?: RegExp): Promise<ConformanceReport> {
    await using server = await startTestServer([view], { log: testLog().log });
    return await runConformance({
      url: `${server.url}/services/derived/clusters/root`,
      credentials: server.credentials,
      resources: matchResources([name]),
      checks: (id) => checks?.test(id) ?? true,
      deadlines: { prompt: 2_500 },
      writes: {},
    });
  }
  const failures = ({ results }: ConformanceReport): unknown => results.filter(({ outcome }) => outcome === "failed");

  it("builds objects from a schema with many requirements", async () => {
    const report = await reportOn("demandings", /^V1$/);
    expect(report.results).to.have.length(1);
    expect(report.results[0]?.outcome, report.results[0]?.reason).to.equal("passed");
  });

  it("copies an object when rules go beyond the schema, and without one says why it has none", async () => {
    const why = (await reportOn("ruleds", /^V1$/)).results[0]?.reason;
    expect(why).to.match(
      /^no valid object could be built; give a sample\. the minimum of the OpenAPI schema: .*guess$/,
    );
    ruled.in("root").set("one", { a: "what no schema tells" });
    const report = await reportOn("ruleds");
    expect(failures(report)).to.deep.equal([]);
    expect(report.results.find(({ id }) => id === "V1")?.outcome).to.equal("passed");
    expect([
      report.left,
      ruled
        .in("root")
        .list()
        .map(({ metadata }) => metadata.name),
    ]).to.deep.equal([[], ["one"]]);
  });

  it("builds objects of a kind with a grace period and garbage collection", async () => {
    const report = await reportOn("slows");
    expect(failures(report)).to.deep.equal([]);
    const passed = report.results.filter(({ outcome }) => outcome === "passed").map(({ id }) => id);
    expect(passed).to.include.members(["T5.4", "T5.7", "V15", "V16", "V25"]);
    expect(report.left).to.deep.equal([]);
  });
});
