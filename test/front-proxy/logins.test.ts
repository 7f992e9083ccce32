// Who logs in to a workspace by an issuer of its type: a front proxy does not know the tokens, and their shards do.
import { expect } from "chai";
import { TestIssuer } from "../_support/issuer.ts";
import { Stores, until } from "../workspace-server/shards/support.ts";
import { bind, makeWorkspace } from "../workspace-server/support/logical-clusters.ts";
import { configure, makeType, mapped } from "../workspace-server/support/logins.ts";
import { startFront, startShards } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe("issuers that a workspace's type names, behind a front proxy", function () {
  this.timeout(30_000);

  it("let their users in there, and nowhere else", async () => {
    await using stack = new AsyncDisposableStack();
    const stores = stack.use(new Stores());
    const issuer = stack.use(await TestIssuer.start());
    const shards = stack.use(await startShards(stores, { workspaceAuthentication: {} }));
    const front = stack.use(await startFront(shards.url));
    await configure(front, "a", [mapped(issuer, "a:")]);
    await makeType(front, "of-team", ["a"]);
    const cluster = await makeWorkspace(front, "team", "of-team");
    await makeWorkspace(front, "other");
    const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "a:jane" };
    for (const role of ["cluster-admin", "system:kcp:workspace:access"])
      await bind(front, cluster, { name: `jane-${role}`, role, subject });
    const token = issuer.token();
    await until(front, { path: `/clusters/root:team${MAPS}`, user: token }, ({ status }) => status === 200);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const { body } = await front.send(`POST /clusters/root:team${path}`, review, { user: token });
    expect(body.status.userInfo).to.deep.include({
      username: "a:jane",
      extra: {
        "authentication.kcp.io/scopes": [`cluster:${cluster}`],
        "authentication.kcp.io/cluster-name": [cluster],
      },
    });
    for (const elsewhere of ["root", "root:other"])
      expect((await front.get(`/clusters/${elsewhere}${MAPS}`, { user: token })).status).to.equal(401);
  });
});
