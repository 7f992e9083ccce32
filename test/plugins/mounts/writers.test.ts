// Permission to write a Mount: its author must be allowed to get the named Secret.
import { type MountManifestsOptions, mountManifests } from "@virtual-workspaces/mounts";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { grant } from "../../workspace-server/support/logical-clusters.ts";
import { kubeconfigOf, refTo, secret, startMounted, startTarget } from "./support/mounted.ts";

const MOUNTS = "/apis/proxy.kcp.io/v1alpha1/mounts";

describe("the author of a Mount", function () {
  this.timeout(60_000);

  it("must be allowed to get the named Secret, for creates and changes of the spec", async () => {
    await using mounted = await startMounted();
    await using target = await startTarget();
    const { server, team } = mounted;
    await mounted.make("Secret", "there", secret({ kubeconfig: kubeconfigOf(target) }));
    await grant(server, team, { user: "bob", verbs: ["create", "update"] });
    const path = `/clusters/${team}${MOUNTS}` as const;
    const mount = (name: string, spec: object) => ({
      ...{ apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", metadata: { name }, spec },
    });
    const remote = { apiVersion: "example.dev/v1", kind: "Remote", name: "far" };
    for (const [field, spec] of [
      ["spec.ref", { ref: refTo("there") }],
      ["spec.secretRef", { ref: remote, secretRef: { namespace: "default", name: "there" } }],
    ] as const) {
      const refused = await server.send(`POST ${path}`, mount("mine", spec), { user: "bob" });
      expect([refused.status, refused.body.message], field).to.deep.equal([
        403,
        `mounts.proxy.kcp.io "mine" is forbidden: ${field}: the author of a Mount must be allowed to get the Secret "default/there" that it names`,
      ]);
    }
    expect((await server.send(`POST ${path}`, mount("free", { ref: remote }), { user: "bob" })).status).to.equal(201);

    const made = await mounted.make("Mount", "theirs", { spec: { ref: refTo("there") } });
    // The controller may write the status meanwhile.
    const put = (spec: object, labels: object) =>
      until(async () => {
        const status = await putOnce(spec, labels);
        return status !== 409 && status;
      });
    const putOnce = async (spec: object, labels: object) => {
      const { body } = await server.get(`${path}/theirs`, { user: "root" });
      const next = { ...body, metadata: { ...body.metadata, labels }, spec: { ...body.spec, ...spec } };
      return (await server.send(`PUT ${path}/theirs`, next, { user: "bob" })).status;
    };
    expect(made.spec.type).to.equal("URL");
    expect(await put({ identity: { type: "Fixed" } }, {})).to.equal(403);
    expect(await put({}, { of: "bob" })).to.equal(200);
    await grant(server, team, { user: "bob", verbs: ["get"] });
    expect(await put({ identity: { type: "Fixed" } }, {})).to.equal(200);
  });

  it("is checked the same way on a kcp, by a webhook that the manifests contain", () => {
    const kinds = (options: MountManifestsOptions) => mountManifests(options).map(({ kind }) => kind);
    expect(kinds({})).to.deep.equal(["APIResourceSchema", "APIExport"]);
    expect(kinds({ webhook: { url: "https://views.example:6444" } }).slice(2)).to.deep.equal([
      "ValidatingWebhookConfiguration",
    ]);
    for (const url of ["http://views.example", "https://views.example/", "views.example"])
      expect(() => mountManifests({ webhook: { url } })).to.throw(/invalid webhook\.url/);
  });
});
