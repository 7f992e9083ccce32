// Denials: each boundary of the views of initializing and terminating workspaces.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect } from "chai";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, LISTED, MAPS, map, Owner, root, startViewed, UNIVERSAL } from "./support/owner.ts";

describe("views of initializing and terminating workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;
  let waiting: string;

  before(async () => {
    server = await startViewed({ users: ["carol"] });
    owner = await Owner.make(server, {
      app: { initializer: true, terminator: true, ...UNIVERSAL },
      other: { initializer: true, ...UNIVERSAL },
      strict: { initializer: true, initializerPermissions: LISTED, ...UNIVERSAL },
      gone: { initializer: true, ...UNIVERSAL },
    });
    waiting = await owner.settled("waiting");
  });

  after(async () => server?.[Symbol.asyncDispose]());

  const ALL = ["", "/apis", LC, `${LC}?watch=true`, "/api/v1/configmaps"];
  const ONE = ["", "/apis", `${LC}/cluster`, `${LC}/cluster/status`, MAPS, `${MAPS}?watch=true`];

  it("reject users who may not initialize or terminate the type, for every request, even owners of its workspaces", async () => {
    for (const user of ["bob", "carol"])
      for (const view of ["initializing", "terminating"] as const)
        for (const [cluster, paths] of [
          ["*", ALL],
          [waiting, ONE],
        ] as const)
          for (const path of paths) {
            const { status, body } = await owner.in(view, cluster).get(path, { user });
            expect([status, body.kind, body.reason], `${user} ${view} ${path}`).to.deep.equal([
              403,
              "Status",
              "Forbidden",
            ]);
            expect(body.message).to.not.contain("RBAC");
          }
    const put = await owner.in("initializing", waiting).send(`PUT ${LC}/cluster/status`, {}, { user: "bob" });
    expect(put.status).to.equal(403);
  });

  it("reject clients without credentials, and ignore proxy headers of clients", async () => {
    const headers = { authorization: "", "x-remote-user": "alice", "x-remote-group": "system:masters" };
    const { status } = await owner.in("initializing").get(LC, { headers });
    expect(status).to.equal(401);
  });

  it("reject controllers in a workspace that waits for another, or for none", async () => {
    const ready = await owner.settled("ready");
    await owner.finish("initializing", ready);
    await owner.until(ready, ({ body }) => body.status.phase === "Ready");
    for (const [view, cluster, type] of [
      ["initializing", waiting, "other"],
      ["terminating", waiting, "app"],
      ["initializing", ready, "app"],
      ["terminating", ready, "app"],
      ["initializing", owner.cluster, "app"],
      ["initializing", "root", "app"],
      ["initializing", "nowhere", "app"],
    ] as const) {
      const calls = owner.in(view, cluster, type);
      const about = `${view} ${type} ${cluster}`;
      expect((await calls.get(MAPS)).status, about).to.equal(403);
      expect((await calls.send(`POST ${MAPS}`, map("x"))).status, about).to.equal(403);
      expect((await calls.get(`${LC}/cluster`)).status, about).to.equal(404);
    }
  });

  it("reject URLs of other places, and names that are no controller", async () => {
    const base = `/services/initializingworkspaces/${owner.cluster}:app`;
    const raw = async (path: string): Promise<number | undefined> => {
      const { hostname, port } = new URL(server.url);
      const asking = request({ hostname, port, path, agent: false, headers: { authorization: "Bearer alice" } }).end();
      const [answer] = (await once(asking, "response")) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    for (const way of ["/../root", "/%2e%2e/root", "/..%2froot", "/%2E%2E%2Froot", "//clusters/root", "/./../root"])
      expect(await raw(`${base}/clusters/${waiting}${way}${MAPS}`), way).to.equal(400);
    for (const path of [
      `${base}/clusters/root:team:waiting${MAPS}`,
      `/services/initializingworkspaces/app/clusters/*${LC}`,
      `/services/initializingworkspaces/${owner.cluster}:/clusters/*${LC}`,
      `/services/initializingworkspaces/root:owner:app/clusters/*${LC}`,
    ]) {
      const { status, body } = await server.get(path);
      expect([status, body.reason], path).to.deep.equal([403, "Forbidden"]);
      if (path.endsWith(MAPS)) expect((await server.get(path, root)).status, path).to.equal(404);
    }
    for (const path of ["/api/v1/configmaps", "/api/v1/namespaces", "/apis/apps/v1/deployments"])
      expect((await owner.in("initializing").get(path, root)).status, path).to.equal(404);
  });

  for (const name of ["initializingworkspaces", "terminatingworkspaces"])
    it(`show system:masters documents and empty lists for any name, as kcp does: ${name}`, async () => {
      for (const holder of ["app", "root:nothing", `${owner.cluster}:`, "root:owner:app", "nothing"]) {
        const base = `/services/${name}/${holder}/clusters/*` as const;
        const groups = await server.get(`${base}/apis`, root);
        expect(
          groups.body.groups.map(({ name }: { name: string }) => name),
          holder,
        ).to.deep.equal(["core.kcp.io"]);
        const { status, body } = await server.get(`${base}${LC}`, root);
        expect([status, body.kind, body.items], holder).to.deep.equal([200, "LogicalClusterList", []]);
        expect((await server.get(`${base}/apis`)).status, holder).to.equal(403);
      }
    });

  it("allow nothing as the owner when the type cannot be found", async () => {
    const cluster = await owner.settled("orphan", "gone");
    const one = owner.in("initializing", cluster, "gone");
    expect((await one.get(MAPS)).status).to.equal(200);
    const type = `clusters/${owner.cluster}/apis/tenancy.kcp.io/v1alpha1/workspacetypes/gone`;
    expect((await server.send(`DELETE /${type}`, undefined, root)).status).to.equal(200);
    for (let code = 0; code !== 503; ) {
      const { status, body } = await one.get(MAPS);
      code = status;
      if (code === 503) expect(body.message).to.contain(`${owner.cluster}:gone`);
      else expect(code).to.equal(200);
    }
    expect((await one.get(`${LC}/cluster`)).status, "which can still be let go").to.equal(200);
    await owner.finish("initializing", cluster, "gone");
    await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
  });

  it("end open watches when permission is withdrawn", async () => {
    const one = owner.in("initializing", waiting);
    await using all = await owner.in("initializing").watch(`${LC}?watch=true`);
    await using maps = await one.watch(`${MAPS}?watch=true`);
    await owner.forbid("alice");
    await Promise.all([all.rest(), maps.rest()]);
    expect((await one.get(MAPS)).status).to.equal(403);
    expect((await owner.in("initializing").get(LC)).status).to.equal(403);
  });
});
