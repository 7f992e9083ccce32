// The conformance suite in a workspace: a kind defined there, Kubernetes' own kinds, and kcp's.
import { memoryStore } from "@virtual-workspaces/store";
import {
  type CheckResult,
  type ConformanceReport,
  type ConformanceResource,
  runConformance,
} from "@virtual-workspaces/testing";
import { expect } from "chai";
import { crd } from "../_support/crd.ts";
import { bind, define, grant, makeWorkspace } from "./support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const MACHINES = crd("Machine", {
  properties: {
    spec: {
      type: "object",
      required: ["zone"],
      properties: { zone: { type: "string", enum: ["north", "south"] }, size: { type: "integer" } },
    },
    status: { type: "object", properties: { phase: { type: "string" } } },
  },
  version: { subresources: { status: {} }, selectableFields: [{ jsonPath: ".spec.zone" }] },
});

/** Kinds to write, by workspace: those whose objects no controller of the server changes. */
const WRITTEN = {
  root: ["configmaps", "leases", "machines", "partitions", "roles", "workspaceauthenticationconfigurations"],
  "root:work": ["configmaps", "machines"],
};
const READ = ["logicalclusters", "namespaces", "shards", "workspaces", "workspacetypes"];

/** Acceptable skips: kinds without grace periods, such fields, /status or namespaces. */
const MAY_SKIP: ReadonlySet<string> = new Set(["T10.14", "T10.15", "T5.2", "T5.7", "V23", "V24", "V25", "W5"]);

describe("the conformance suite in a workspace", function () {
  this.timeout(120_000);
  let server: Workspaces;

  before(async () => {
    server = await startWorkspaces(memoryStore(), { nameless: false });
    await makeWorkspace(server, "work");
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" };
    await bind(server, "root:work", { name: "alice-access", role: "system:kcp:workspace:access", subject });
    for (const cluster of Object.keys(WRITTEN)) {
      await define(server, cluster, [MACHINES]);
      await grant(server, cluster, { user: "bob", verbs: ["patch"] });
    }
  });

  after(() => server[Symbol.asyncDispose]());

  const reportOn = (
    cluster: string,
    options: Partial<Parameters<typeof runConformance>[0]>,
  ): Promise<ConformanceReport> =>
    runConformance({
      url: `${server.url}/clusters/${cluster}`,
      credentials: { token: "root" },
      others: [{ token: "alice" }, { token: "bob" }],
      strict: true,
      deadlines: { prompt: 5_000 },
      ...options,
    });

  for (const [cluster, names] of Object.entries(WRITTEN))
    it(`passes on writable kinds in ${cluster}, and leaves nothing behind`, async () => {
      const resources = ({ name }: ConformanceResource): boolean => names.includes(name);
      const report = await reportOn(cluster, { resources, writes: { patchOnly: { token: "bob" }, collects: true } });
      expect(report.resources).to.have.length(names.length);
      expect(failures(report)).to.deep.equal([]);
      const skipped = report.results.filter(({ outcome }) => outcome === "skipped");
      const isClusterScoped = ({ id, reason }: CheckResult): boolean =>
        id.startsWith("T14.") && reason === "the resource is cluster-scoped";
      expect(skipped.filter((check) => !MAY_SKIP.has(check.id) && !isClusterScoped(check))).to.deep.equal([]);
      const ofMachines = skipped.filter(({ resource }) => resource?.startsWith("machines."));
      expect(
        ofMachines.map(({ id }) => id),
        "no time to end",
      ).to.deep.equal(["T5.7", "V25"]);
      expect(report.left).to.deep.equal([]);
    });

  it("passes on kinds that the server writes: workspaces, their types and related ones", async () => {
    const report = await reportOn("root", { resources: ({ name }) => READ.includes(name) });
    expect(report.resources).to.have.length(READ.length);
    expect(failures(report)).to.deep.equal([]);
    expect(report.passed).to.be.above(100);
  });
});

/** Returns a line for each failed check, because assertions shorten what they compare. */
function failures({ results }: ConformanceReport): string[] {
  const failed = results.filter(({ outcome }) => outcome === "failed");
  return failed.map(({ id, resource, failure }) => `${id} ${resource}: ${JSON.stringify(failure)}`);
}
