// Shards that are unreachable, slow, or return with less data; workspaces that are deleted and created again.
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { outcome } from "../_support/plain.ts";
import { type Relay, startRelay } from "../_support/relay.ts";
import { type Body, SHARDS, Stores, untilAt, WORKSPACES } from "../workspace-server/shards/support.ts";
import { AS_ADMIN, type Front, INDEXES, type Shards, startFrontWith, startShards } from "./support.ts";

const admin = { user: "admin" };
/** No server listens on this port. */
const NOWHERE = 1;

for (const index of INDEXES)
  describe(`a front proxy whose shards come and go, with ${index}`, function () {
    this.timeout(60_000);
    let stack: AsyncDisposableStack;
    let shards: Shards;
    let front: Front;
    let relay: Relay;
    /** Port of shard-1, and the port that the relay to it forwards to. */
    let port = 0;
    let wired = 0;
    const told: string[] = [];

    before(async () => {
      stack = new AsyncDisposableStack();
      const stores = stack.use(new Stores());
      relay = stack.use(await startRelay(() => wired));
      shards = stack.use(
        await startShards(stores, {
          shards: {
            urls: (_, listening) => {
              port = listening.port;
              wired = port;
              return { baseURL: `https://127.0.0.1:${relay.port}` };
            },
          },
        }),
      );
      front = stack.use(await startFrontWith(index, shards.url, { log: ({ message }) => told.push(message) }));
      await make("root", "here", "root");
      await make("root", "there", "shard-1");
      await make("root:there", "sub", "shard-1");
    });
    after(() => stack.disposeAsync());

    const get = (path: string) => front.get(`/clusters/${path}/api/v1/namespaces/default`, admin);
    const becomes = (path: string, code: number) =>
      untilAt(
        front,
        { path: `/clusters/${path}/api/v1/namespaces/default`, user: "admin" },
        ({ status }) => status === code,
      );

    async function make(at: string, name: string, shard: string): Promise<string> {
      const spec = {
        type: { name: "universal", path: "root" },
        location: { selector: { matchLabels: { name: shard } } },
      };
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
      const made = await front.send(`POST /clusters/${at}${WORKSPACES}`, workspace, admin);
      expect(made.status, made.text).to.equal(201);
      await becomes(`${at}:${name}`, 200);
      return clusterOf(at, name);
    }

    async function clusterOf(at: string, name: string): Promise<string> {
      return (await front.get(`/clusters/${at}${WORKSPACES}/${name}`, admin)).body.spec.cluster;
    }

    it("distinguishes workspaces of one name by their parents", async () => {
      const [a, b] = [await make("root:here", "same", "root"), await make("root:there", "same", "root")];
      expect(a).to.not.equal(b);
      for (const [path, cluster] of Object.entries({ "root:here:same": a, "root:there:same": b })) {
        const { body } = await front.get(`/clusters/${path}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`, admin);
        expect(body.metadata.annotations["kcp.io/cluster"]).to.equal(cluster);
      }
    });

    it("finds a workspace by name again after it was deleted and created again", async () => {
      const first = await make("root", "anew", "shard-1");
      const path = `/clusters/root${WORKSPACES}/anew`;
      expect((await front.send(`DELETE ${path}`, undefined, admin)).status).to.equal(200);
      await untilAt(front, { path, user: "admin" }, ({ status }) => status === 404);
      await becomes("root:anew", 403);
      const counted = /^virtual_workspaces_unreachable_requests_total\{kind="gone"\} ([1-9]\d*)$/m;
      expect((await front.get("/metrics", admin)).text).to.match(counted);
      const second = await make("root", "anew", "root");
      expect(second).to.not.equal(first);
      const { body } = await front.get("/clusters/root:anew/apis/core.kcp.io/v1alpha1/logicalclusters/cluster", admin);
      expect(body.metadata.annotations["kcp.io/cluster"]).to.equal(second);
      expect((await get(first)).status).to.equal(403);
    });

    it("makes clients retry for a workspace that is not ready, and hides it from unknown callers", async () => {
      const ref = { apiVersion: "v1", kind: "ConfigMap", name: "none", namespace: "default" };
      const workspace = {
        apiVersion: "tenancy.kcp.io/v1alpha1",
        kind: "Workspace",
        metadata: { name: "soon" },
        spec: { mount: { ref } },
      };
      expect(
        (await front.send(`POST /clusters/root${WORKSPACES}`, workspace, { user: "shard-token" })).status,
      ).to.equal(201);
      await becomes("root:soon", 503);
      const answer = await get("root:soon");
      expect(answer.headers["retry-after"]).to.equal("1");
      expect(answer.body.message).to.contain("root:soon");
      expect((await front.get("/clusters/root:soon/api", { user: "late-token" })).status).to.equal(403);
    });

    it("waits for a slow shard without delaying the others", async () => {
      const held = relay.hold(1);
      const slow = get("root:there");
      await held;
      expect((await get("root:here")).status).to.equal(200);
      relay.release();
      expect((await slow).status).to.equal(200);
    });

    it("answers 503 for workspaces of an unreachable shard only, and recovers with it", async () => {
      wired = NOWHERE;
      relay.cut();
      await becomes("root:there", 503);
      const away = await get("root:there:sub");
      expect(outcome(away)).to.deep.equal([
        503,
        "ServiceUnavailable",
        "the shard of this workspace cannot be reached; try again",
      ]);
      expect(away.headers["retry-after"]).to.equal("1");
      expect((await get("root:here")).status).to.equal(200);
      expect((await get("root:nope")).status).to.equal(403);
      expect(told).to.include("cannot forward to shard");
      // Another client deletes a workspace there in the meantime.
      const direct = new Upstream({ url: `https://127.0.0.1:${port}`, ...AS_ADMIN });
      const workspace = `/clusters/${await clusterOf("root", "there")}${WORKSPACES}/sub`;
      expect((await direct.send({ method: "DELETE", path: workspace })).status).to.equal(200);
      while ((await direct.send({ method: "GET", path: workspace })).status !== 404);
      await direct[Symbol.asyncDispose]();
      wired = port;
      await becomes("root:there", 200);
      await becomes("root:there:sub", 403);
    });

    it("answers 503 for unknown paths while a shard has not been read", async () => {
      const shard = { apiVersion: "core.kcp.io/v1alpha1", kind: "Shard", metadata: { name: "far" }, spec: {} };
      const far = { ...shard, spec: { baseURL: `https://127.0.0.1:${NOWHERE}` } };
      expect((await front.send(`POST ${SHARDS}`, far, { user: "shard-token" })).status).to.equal(201);
      await becomes("root:nope", 503);
      expect((await get("root:nope")).body.message).to.equal(
        "the workspaces of some shards have not been read yet: try again",
      );
      expect((await get("root:here")).status).to.equal(200);
      const { text } = await front.get("/metrics", admin);
      expect(text).to.match(/^virtual_workspaces_index_lag_seconds\{shard="far"\} \d/m);
      const gone = await front.send(`DELETE ${SHARDS}/far`, undefined, { user: "shard-token" });
      expect((gone.body as Body).status, gone.text).to.equal("Success");
      await becomes("root:nope", 403);
    });
  });
