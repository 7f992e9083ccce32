// Workspaces of two shards by their paths at one address. Shards receive the identity of each caller.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { outcome } from "../_support/plain.ts";
import { labelOf, openWatch, rejection } from "../_support/web-socket.ts";
import { Stores, untilAt, WORKSPACES } from "../workspace-server/shards/support.ts";
import { CLUSTERS, type Front, INDEXES, type Shards, startFront, startFrontWith, startShards } from "./support.ts";

const ADMIN = { user: "admin" };
const NOWHERE = (user: string) => [
  403,
  "Forbidden",
  `forbidden: User "${user}" cannot access path "/": workspace access not permitted`,
];

for (const index of INDEXES)
  describe(`a front proxy before two shards, with ${index}`, function () {
    this.timeout(60_000);
    let stores: Stores;
    let shards: Shards;
    let front: Front;

    before(async () => {
      stores = new Stores();
      shards = await startShards(stores);
      front = await startFrontWith(index, shards.url);
      await make("root", "here", "root");
      await make("root", "there", "shard-1");
      await make("root:there", "sub", "root");
    });

    after(async () => {
      await front?.[Symbol.asyncDispose]();
      await shards?.[Symbol.asyncDispose]();
      await stores?.[Symbol.asyncDispose]();
    });

    async function make(at: string, name: string, shard: string): Promise<string> {
      const spec = {
        type: { name: "universal", path: "root" },
        location: { selector: { matchLabels: { name: shard } } },
      };
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
      const made = await front.send(`POST /clusters/${at}${WORKSPACES}`, workspace, ADMIN);
      expect(made.status, made.text).to.equal(201);
      const path = `/clusters/${at}${WORKSPACES}/${name}`;
      const ready = await untilAt(front, { path, user: "admin" }, ({ body }) => body?.status?.phase === "Ready");
      expect(ready.body.metadata.annotations["core.kcp.io/shard"]).to.equal(shard);
      await untilAt(front, { path: `/clusters/${at}:${name}/api`, user: "admin" }, ({ status }) => status === 200);
      return ready.body.spec.cluster;
    }

    /** Creates a service account in `root:there`. @returns a token of it */
    async function tokenOf(name: string): Promise<string> {
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } };
      const accounts = "/clusters/root:there/api/v1/namespaces/default/serviceaccounts";
      expect((await front.send(`POST ${accounts}`, account, ADMIN)).status).to.equal(201);
      const asked = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
      const token = await front.send(`POST ${accounts}/${name}/token`, asked, ADMIN);
      expect(token.status, token.text).to.equal(201);
      return token.body.status.token;
    }

    const whoami = (path: string, options: { user: string; headers?: Record<string, string> }) =>
      front.send(
        `POST /clusters/${path}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
        { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        options,
      );

    it("serves each workspace by its path and by its cluster name, on any shard", async () => {
      const { body } = await front.get(`/clusters/root${WORKSPACES}/there`, ADMIN);
      const { cluster } = body.spec;
      for (const path of ["root:there", cluster, `${cluster}:sub`, "root:there:sub", "root:here"]) {
        const answer = await front.get(`/clusters/${path}/api/v1/namespaces/default`, ADMIN);
        expect(answer.status, `${path} ${answer.text}`).to.equal(200);
      }
      const sub = await front.get("/clusters/root:there:sub/apis/core.kcp.io/v1alpha1/logicalclusters/cluster", ADMIN);
      expect(sub.body.metadata.annotations["kcp.io/path"]).to.equal("root:there:sub");
    });

    it("returns writes, watches and errors of the shard unchanged", async () => {
      const maps = "/clusters/root:there/api/v1/namespaces/default/configmaps";
      await using watch = await front.watch(`${maps}?watch=1&fieldSelector=metadata.name%3Da`, ADMIN);
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };
      expect((await front.send(`POST ${maps}`, map, ADMIN)).status).to.equal(201);
      expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
      expect(outcome(await front.send(`POST ${maps}`, map, ADMIN)).slice(0, 2)).to.deep.equal([409, "AlreadyExists"]);
      expect((await front.get(`${maps}?limit=x`, ADMIN)).status).to.equal(400);
    });

    it("forwards watches over WebSockets of its own pages, and rejects those of others", async () => {
      const maps = "/clusters/root:there/api/v1/namespaces/default/configmaps";
      const path = `${maps}?watch=1&fieldSelector=metadata.name%3Dlive`;
      const from = (origin: string) => ({ headers: { authorization: "Bearer admin", origin } });
      using watch = await openWatch(front.url, path, from(front.url));
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "live" } };
      expect((await front.send(`POST ${maps}`, map, ADMIN)).status).to.equal(201);
      expect(labelOf(await watch.next())).to.equal("ADDED live");
      expect(await rejection(openWatch(front.url, path, from("https://evil.test")))).to.deep.equal([
        403,
        'forbidden: WebSockets of pages from "https://evil.test" are not allowed: the operator adds the origin to corsAllowedOrigins, or to --cors-allowed-origins',
      ]);
      const denied = await rejection(openWatch(front.url, path, { headers: { authorization: "Bearer alice" } }));
      expect(denied).to.deep.equal([
        403,
        'configmaps "live" is forbidden: User "alice" cannot watch resource "configmaps" in API group "" in the namespace "default": access denied',
      ]);
    });

    it("answers 403 for paths without a workspace, without revealing anything", async () => {
      for (const path of ["root:nope", "root:here:nope", "nope", "user:nobody", "system:admin", "2x3y4z5a6b7c8d9e:x"]) {
        expect(outcome(await front.get(`/clusters/${path}/api`)), path).to.deep.equal(NOWHERE("alice"));
        expect(outcome(await front.get(`/clusters/${path}/api`, ADMIN)), path).to.deep.equal(NOWHERE("admin"));
      }
      const all = await front.get(`/clusters/*${WORKSPACES}`, { user: "boss" });
      expect(all.status).to.equal(403);
      expect(all.body.message).to.contain("workspace access not permitted");
    });

    it("rejects paths that other parsers might read differently", async () => {
      const bad = [
        "/clusters/root/../root:here/api",
        "/clusters/root:here/%2e%2e/root/api",
        "/clusters/root%2fapi",
        "/clusters/root:here/..;/root/api",
        "/clusters/Root/api",
        "/clusters/root::here/api",
        "/clusters/root:here%00/api",
        "/clusters//api",
        "/clusters/root%2500/api",
      ];
      const { port } = new URL(front.url);
      for (const path of bad) {
        // Sent raw, because URLs of clients have no dot segments.
        const req = request({ port, path, headers: { authorization: "Bearer admin" } }).end();
        const [answer] = (await once(req, "response")) as [IncomingMessage];
        expect(answer.resume().statusCode, path).to.equal(400);
      }
      for (const path of ["/clusters/root/clusters/root:here/api", "/clusters/root/clusters/root/clusters/root/api"])
        expect((await front.get(path, ADMIN)).status, path).to.equal(404);
      expect((await front.get("/clusters", ADMIN)).status).to.equal(404);
    });

    it("identifies the caller, whatever identity headers the client sends", async () => {
      const forged = {
        "x-remote-user": "root",
        "X-Remote-Group": "system:masters",
        x_remote_group: "system:masters",
        "x-remote-extra-authentication.kcp.io%2fscopes": "cluster:root",
        "x-remote-uid": "1",
      };
      const { status, body } = await whoami("root:there", { user: "admin", headers: forged });
      expect(status).to.equal(201);
      expect(body.status.userInfo).to.deep.equal({
        username: "admin",
        groups: ["system:kcp:admin", "team", "system:authenticated"],
      });
    });

    it("drops the groups that grant rights within the system", async () => {
      const { body } = await whoami("root", { user: "boss" });
      expect(body.status.userInfo.groups).to.deep.equal(["team", "system:authenticated"]);
      await using open = await startFront(shards.url, {
        groups: { drop: [], passOn: ["te*", "system:masters", "system:auth*"] },
      });
      const known = await open.send(
        "POST /clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews",
        { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        { user: "boss" },
      );
      expect(known.body.status.userInfo.groups).to.deep.equal(["system:masters", "team", "system:authenticated"]);
    });

    it("leaves the authorization of impersonation to the shard", async () => {
      const as = { "Impersonate-User": "bob", "Impersonate-Group": "guests" };
      const allowed = await whoami("root", { user: "admin", headers: as });
      expect(allowed.status, allowed.text).to.equal(201);
      expect(allowed.body.status.userInfo.username).to.equal("bob");
      const refused = await whoami("root", { user: "alice", headers: as });
      expect(refused.status).to.equal(403);
    });

    it("forwards unknown tokens for the shard to authenticate", async () => {
      const { status, body, text } = await whoami("root", { user: "shard-token" });
      expect(status, text).to.equal(201);
      expect(body.status.userInfo.username).to.equal("root");
      expect(outcome(await whoami("root", { user: "nobodys" }))).to.deep.equal([401, "Unauthorized", "Unauthorized"]);
      const robot = await whoami("root:there", { user: await tokenOf("robot") });
      expect(robot.body.status?.userInfo.username, robot.text).to.equal("system:serviceaccount:default:robot");
    });

    it("directs requests without a workspace to that of their service account token, unless their path is mapped", async () => {
      const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const token = await tokenOf("inside");
      const inside = await front.send(`POST ${reviews}`, review, { user: token });
      expect(inside.body.status?.userInfo.username, inside.text).to.equal("system:serviceaccount:default:inside");
      expect((await front.get("/api/v1/namespaces/default/nothing?watch=1", { user: token })).status).to.equal(403);
      expect((await front.send(`POST ${reviews}`, review, ADMIN)).status).to.equal(404);
      const forged = `${token.slice(0, token.lastIndexOf("."))}.AAAA`;
      expect((await front.send(`POST ${reviews}`, review, { user: forged })).status).to.equal(401);
      expect((await front.get("/readyz", { user: token })).text).to.equal("ok");
      const mapping = [CLUSTERS, { path: "/apis/authentication.k8s.io", backends: ["https://127.0.0.1:1"] }];
      await using mapped = await startFront(shards.url, { mapping });
      expect((await mapped.send(`POST ${reviews}`, review, { user: token })).status).to.equal(503);
      expectFault(/cannot forward to a backend/);
      expect((await mapped.get("/api/v1", { user: token })).status).to.equal(200);
    });

    it("reports the lag of the index to authorized users", async () => {
      const { text } = await front.get("/metrics", ADMIN);
      expect(text).to.match(/^kcp_indexed_logicalclusters\{shard="shard-1"\} [1-9]/m);
      const [, lag] = /^virtual_workspaces_index_lag_seconds\{shard="shard-1"\} (\S+)$/m.exec(text) ?? [];
      expect(Number(lag)).to.be.within(0, 30);
      expect((await front.get("/metrics")).status).to.equal(403);
      for (const page of ["/statusz", "/flagz"]) {
        expect((await front.get(page, ADMIN)).text).to.match(/^\nproxy (status|flag)z\n/);
        expect((await front.get(page)).status).to.equal(403);
      }
      expect((await front.get("/readyz")).text).to.equal("ok");
    });
  });
