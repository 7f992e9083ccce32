// Several processes as one server: clients that reach another process with each request see no difference.
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { Fleet } from "./support/fleet.ts";

const APIS = "/clusters/root/apis/apis.kcp.io/v1alpha2";
const CLAIM = { group: "", resource: "configmaps", verbs: ["*"] };
/** An export without resources of its own. */
const EXPORT = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIExport",
  metadata: { name: "maps" },
  spec: { permissionClaims: [CLAIM] },
};
const BINDING = {
  apiVersion: "apis.kcp.io/v1alpha2",
  kind: "APIBinding",
  metadata: { name: "maps" },
  spec: {
    reference: { export: { path: "root", name: "maps" } },
    permissionClaims: [{ ...CLAIM, state: "Accepted", selector: { matchAll: true } }],
  },
};
const PUBLISHED = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "menu", labels: { published: "yes" } } };
/** Views by the origin of their versions, and whether they accept writes. */
const VIEWS = [
  ["of what is forwarded", "mirror", true],
  ["of an export", "apiexport/root/maps", true],
  ["with a line of its own", "published", false],
  ["with a line of its own, through which is written", "notes", true],
] as const;

describe("two replicas of virtual-workspaces serve with four workers each", function () {
  this.timeout(300_000);
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.ready({ replicas: 2, workers: 4 });
    await fleet.shard.create(`${APIS}/apiexports`, EXPORT);
    await fleet.shard.create(`${APIS}/apibindings`, BINDING);
    await fleet.shard.create("/clusters/root/api/v1/namespaces/default/configmaps", PUBLISHED);
    await fleet.shard.kubectl("wait", "--for=condition=PermissionClaimsApplied", "apibinding/maps");
  });

  after(async () => {
    await fleet?.[Symbol.asyncDispose]();
  });

  for (const [what, view, writable] of VIEWS)
    it(`passes the conformance suite: the view ${what}`, async () => {
      const report = await runConformance({
        url: `${fleet.url}/${view}/clusters/root`,
        credentials: { token: "root-token", ca: fleet.ca },
        others: [{ token: "alice-token" }, { token: "bob-token" }],
        ...(writable && { writes: {} }),
        // Both versions of the kind are the same objects.
        resources: ({ version }) => version !== "v1alpha1",
        deadlines: { prompt: 5_000 },
      });
      expect(report.results.filter(({ outcome }) => outcome === "failed")).to.deep.equal([]);
      expect(report.passed).to.be.above(writable ? 100 : 40);
      expect(report.left).to.deep.equal([]);
    });
});
