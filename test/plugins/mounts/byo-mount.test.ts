// examples/over-workspaces/byo-mount.ts: kcp's contract of mount objects with an own kind, controller and proxy.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import { workspaceMounts } from "@virtual-workspaces/mounts";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import byoMount, { manifests } from "../../../examples/over-workspaces/byo-mount.ts";
import { Note } from "../../_support/note.ts";
import { outcome, startPlain } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { startWorkspaces } from "../../workspace-server/support/workspaces.ts";

const root = { user: "root" };
const CRDS = "/clusters/root/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const CLUSTERS = "/clusters/root/apis/example.io/v1alpha1/remoteclusters";
const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
const MERGE = { ...root, headers: { "content-type": "application/merge-patch+json" } };

const Secret = defineResource({
  ...{ group: "", version: "v1", kind: "Secret", scope: "Namespaced" },
  schema: { type: "object", properties: {} },
});

/** Plain cluster with notes and Secrets, which accepts every user. */
function plainCluster() {
  const notes = Note.collection();
  notes.in("").set("a", { text: "there" });
  return defineVirtualWorkspace({
    ...{ name: "cluster", prefix: "/", path: "/", authorize: () => allow() },
    resources: [Note.serve(notes), Secret.serve(Secret.collection())],
  });
}

describe("examples/over-workspaces/byo-mount.ts", function () {
  this.timeout(30_000);

  it("mounts a plain cluster read-only and without its Secrets, for as long as the cluster is reachable", async () => {
    const own = loopback();
    const views = [byoMount({ upstream: own.upstream, identity: "none", shard: "root" })];
    await using server = await startWorkspaces(undefined, { loopback: own, virtualWorkspaces: views });
    await using _controller = workspaceMounts({ upstream: own.upstream });
    const post = async (path: string, object: object): Promise<void> => {
      const { status, text } = await server.send(`POST /${path.slice(1)}`, object, root);
      expect(status, text).to.equal(201);
    };
    for (const object of manifests) await post(CRDS, object);
    await untilAnswer(
      () => server.get(CLUSTERS, root),
      ({ status }) => status === 200,
    );
    const cluster = await startPlain([plainCluster()], { authentication: [anonymous()] });
    await using stack = new AsyncDisposableStack();
    stack.use(cluster);
    const apiVersion = "example.io/v1alpha1";
    await post(CLUSTERS, {
      apiVersion,
      kind: "RemoteCluster",
      metadata: { name: "lab" },
      spec: { endpoint: cluster.url },
    });
    const ref = { apiVersion, kind: "RemoteCluster", name: "lab" };
    await post(WORKSPACES, {
      apiVersion: "tenancy.kcp.io/v1alpha1",
      kind: "Workspace",
      metadata: { name: "lab" },
      spec: { mount: { ref } },
    });
    const ask = (path: string, who = root) => server.get(`/clusters/root:lab${path}`, who);
    const { body } = await untilAnswer(
      () => ask("/apis/test.dev/v1/notes/a"),
      ({ status }) => status === 200,
    );
    expect(body.spec).to.deep.equal({ text: "there" });
    expect((await ask("/api/v1/secrets")).status).to.equal(403);
    expect((await server.send("DELETE /clusters/root:lab/apis/test.dev/v1/notes/a", undefined, root)).status).to.equal(
      403,
    );
    expect(
      (await ask("/apis/test.dev/v1/notes", { user: "alice" })).status,
      "who may not get the RemoteCluster",
    ).to.equal(403);
    // The cluster moves to an unused address.
    await server.send(`PATCH ${CLUSTERS}/lab`, { spec: { endpoint: "http://127.0.0.1:1" } }, MERGE);
    const gone = await untilAnswer(
      () => ask("/apis/test.dev/v1/notes/a"),
      ({ body }) => /which is not ready/.test(body?.message),
    );
    expect(outcome(gone).slice(0, 2)).to.deep.equal([503, "ServiceUnavailable"]);
  });
});
