// The example of a view over workspaces, in a server: live objects by workspace and user.
import { memoryStore } from "@virtual-workspaces/store";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import published from "../../../examples/over-workspaces/published.ts";
import { MERGE } from "../../_support/patches.ts";
import { bind, grant, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const root = { user: "root" };

describe("examples/over-workspaces/published.ts", function () {
  this.timeout(30_000);
  let own: Loopback;
  let server: Workspaces;
  let work: string;

  before(async () => {
    own = loopback();
    server = await startWorkspaces(memoryStore(), { loopback: own, virtualWorkspaces: [published(own)] });
    work = await makeWorkspace(server, "work");
    await grant(server, work, { user: "bob", verbs: ["get", "list", "watch"] });
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" };
    await bind(server, work, { name: "bob-access", role: "system:kcp:workspace:access", subject });
    for (const name of ["a", "b"]) {
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { of: name } };
      await server.send(`POST /clusters/${work}/api/v1/namespaces/default/configmaps`, object, root);
    }
  });

  after(() => server[Symbol.asyncDispose]());

  const label = (name: string, published: string | null): Promise<unknown> =>
    server.send(
      `PATCH /clusters/${work}/api/v1/namespaces/default/configmaps/${name}`,
      { metadata: { labels: { published } } },
      { ...MERGE, ...root },
    );

  it("shows published objects live, to users who may read them in the workspace", async () => {
    const path = `/services/published/clusters/${work}/api/v1/configmaps`;
    await using watch = await server.watch(`${path}?watch=true`, { user: "bob" });
    await label("a", "yes");
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    const { body } = await server.get(path, { user: "bob" });
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal(["a"]);
    await label("a", null);
    expect(await watch.take(1)).to.deep.equal(["DELETED a"]);
  });

  it("shows nothing to users without rights in that workspace, despite rights in another", async () => {
    const statusOf = async (cluster: string, user: string): Promise<number> =>
      (await server.get(`/services/published/clusters/${cluster}/api/v1/configmaps`, { user })).status;
    expect(await statusOf(work, "bob")).to.equal(200);
    expect(await statusOf(work, "alice")).to.equal(403);
    expect(await statusOf("root", "bob")).to.equal(403);
    expect(await statusOf("nowhere", "bob")).to.equal(403);
  });

  it("cannot be called over the network as the server itself", async () => {
    const path = "/clusters/root/api/v1/configmaps";
    for (const authorization of ["Bearer ", "Bearer loopback", "Bearer system:apiserver"])
      expect((await server.get(path, { headers: { authorization } })).status).to.be.oneOf([401, 403]);
    expect((await own.upstream.send({ path })).status).to.equal(200);
  });

  it("closes with its server, and sends it no further requests", async () => {
    const its = loopback();
    const another = await startWorkspaces(memoryStore(), { loopback: its, virtualWorkspaces: [published(its)] });
    await using watch = await another.watch("/services/published/clusters/root/api/v1/configmaps?watch=true", root);
    await another[Symbol.asyncDispose]();
    expect(await watch.rest()).to.deep.equal([]);
    const asked = await its.upstream.send({ path: "/livez" }).catch((error: unknown) => error);
    expect(asked).to.have.property("code", "closed");
    expect(() => its.serve({ virtualWorkspaces: [] })).to.throw("the loopback already serves another server");
  });
});
