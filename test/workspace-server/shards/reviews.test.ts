// Every shard answers reviews about logical clusters of all shards.
import { DEEP_REVIEW_HEADER } from "@virtual-workspaces/kcp";
import type { Store } from "@virtual-workspaces/store";
import { StoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { type Answer, type CallOptions, outcome } from "../../_support/plain.ts";
import { bind, makeAdmin } from "../support/logical-clusters.ts";
import { CONFIG_MAPS, makeOn, root, Stores, shardAt, startSharded, untilAt } from "./support.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const NOT_RUNNING = [503, "ServiceUnavailable", "a shard of this server does not run yet: try again"];

const about = (user: string, resourceAttributes: object): object => ({
  apiVersion: "authorization.k8s.io/v1",
  kind: "SubjectAccessReview",
  spec: { user, groups: ["system:authenticated"], resourceAttributes },
});
const reads = { verb: "list", resource: "configmaps", version: "v1" };
const said = ({ status, text, body }: Answer) => {
  expect(status, text).to.equal(201);
  return body.status;
};
const DENIED = { allowed: false, reason: "access denied" };

describe("access reviews at the address of a shard", function () {
  this.timeout(30_000);

  it("return what the shard of the logical cluster returns", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const near = await makeOn(server, "near", { shard: "root" });
    const shard = await shardAt(server, "shard-1");
    await makeAdmin(server, near, "alice");
    await untilAt(server, { path: `/clusters/${near}${CONFIG_MAPS}`, user: "alice" }, ({ status }) => status === 200);
    // The last one is denied to administrators too: the exporter of the kind forbids it.
    const questions = [
      [about("alice", reads), { allowed: true, reason: "access granted" }],
      [about("bob", reads), DENIED],
      [
        about("alice", { verb: "update", group: "tenancy.kcp.io", resource: "workspaces", subresource: "status" }),
        DENIED,
      ],
    ] as const;
    for (const at of [server, shard])
      for (const [question, answer] of questions)
        expect(said(await at.send(`POST /clusters/${near}${REVIEWS}`, question, root))).to.deep.include(answer);
    const rules = (at: typeof shard) =>
      at.send(
        `POST /clusters/${near}/apis/authorization.k8s.io/v1/selfsubjectrulesreviews`,
        { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "default" } },
        { user: "alice" },
      );
    expect(said(await rules(shard))).to.deep.equal(said(await rules(server)));
    // Users without access there cannot create reviews here.
    const asked = about("alice", reads);
    const byBob = await shard.send(`POST /clusters/${near}${REVIEWS}`, asked, { user: "bob" });
    const ofNothing = await shard.send(`POST /clusters/nothing${REVIEWS}`, asked, { user: "bob" });
    expect(byBob.status).to.equal(403);
    expect(outcome(byBob)).to.deep.equal(outcome(ofNothing));
    const byPath = await shard.send(`POST /clusters/root:near${REVIEWS}`, asked, root);
    expect(outcome(byPath)).to.deep.equal([429, "TooManyRequests", "Not found on this shard"]);
  });

  it("skip the access check in deep reviews, for system:masters only, by roles of any kind", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    const shards = { root: server, "shard-1": await shardAt(server, "shard-1") };
    const deep = { headers: { [DEEP_REVIEW_HEADER]: "true" } };
    for (const at of ["root", "shard-1"] as const) {
      const cluster = await makeOn(server, `on-${at}`, { shard: at });
      await makeAdmin(server, cluster, "alice");
      const ask = async (from: typeof at, user: string, options: CallOptions): Promise<boolean> =>
        said(await shards[from].send(`POST /clusters/${cluster}${REVIEWS}`, about(user, reads), options)).allowed;
      for (const from of ["root", "shard-1"] as const)
        expect(await ask(from, "carol", { ...root, ...deep }), "nobody has said yes").to.equal(false);
      const subject = { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "carol" };
      const role = {
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "carol" } },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }],
      };
      const path = `/clusters/${cluster}/apis/rbac.authorization.k8s.io/v1/clusterroles` as const;
      expect((await server.send(`POST ${path}`, role, root)).status).to.equal(201);
      await bind(server, cluster, { name: "carol", role: "carol", subject });
      for (const from of ["root", "shard-1"] as const) {
        expect(await ask(from, "carol", { ...root, ...deep }), "by the roles alone").to.equal(true);
        expect(await ask(from, "carol", root), "who may not enter").to.equal(false);
        expect(await ask(from, "carol", { user: "alice", ...deep }), "asked by its administrator").to.equal(false);
      }
    }
  });

  it("deny in a missing logical cluster, and are 503 while it may be on a shard that does not run", async () => {
    await using stores = new Stores();
    let far: string;
    {
      await using server = await startSharded(stores, { shards: { names: ["shard-1", "shard-2"] } });
      far = await makeOn(server, "far", { shard: "shard-2" });
      for (const at of [server, await shardAt(server, "shard-1")])
        expect(said(await at.send(`POST /clusters/nothing${REVIEWS}`, about("alice", reads), root))).to.deep.equal(
          DENIED,
        );
    }
    const storeOf = (name: string): Store => {
      if (name === "shard-2") throw new StoreError("Unavailable", `no disk for ${name}`);
      return stores.of(name);
    };
    await using server = await startSharded(stores, { shards: { names: ["shard-1", "shard-2"], storeOf } });
    for (const at of [server, await shardAt(server, "shard-1")])
      expect(outcome(await at.send(`POST /clusters/${far}${REVIEWS}`, about("alice", reads), root))).to.deep.equal(
        NOT_RUNNING,
      );
    expectFault(/controller failed .*in-process-shards.*no disk for shard-2/);
  });
});
