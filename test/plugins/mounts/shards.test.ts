// Mounts in workspaces on several shards: each shard's view serves its own, and they are reachable from every shard.
import { mountManifests, mountsView, workspaceMounts } from "@virtual-workspaces/mounts";
import { type Store, StoreError } from "@virtual-workspaces/store";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault, reportFault } from "../../_setup/faults.ts";
import type { Answer, Calls } from "../../_support/plain.ts";
import { APIS, bindingOf } from "../../workspace-server/bindings/support/shard.ts";
import {
  CONFIG_MAPS,
  configMap,
  makeOn,
  Stores,
  shardAt,
  startSharded,
  untilAt,
  untilShard,
} from "../../workspace-server/shards/support.ts";
import { grant, makeAdmin } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { isReady, kubeconfigOf, reasonOf, refTo, secret, startTarget, type Target } from "./support/mounted.ts";

const root = { user: "root" };
const alice = { user: "alice" };
const MOUNTS = "/apis/proxy.kcp.io/v1alpha1/mounts";
const WORKSPACES = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const SECRETS = "/api/v1/namespaces/default/secrets";
const onError = (error: unknown): void => reportFault("mounts", error);

describe("mounts on several shards", function () {
  this.timeout(60_000);
  const running = new AsyncDisposableStack();
  const stores = running.use(new Stores());
  let isThere = true;
  const storeOf = (name: string): Store => {
    if (!isThere) throw new StoreError("Unavailable", `no disk for ${name}`);
    return stores.of(name);
  };
  const clusters: Record<string, string> = {};
  let world: AsyncDisposable;
  let server: Workspaces;
  let shard: Calls & { readonly url: string };
  let target: Target;

  const post = async (path: `/${string}`, object: object, by = root): Promise<Answer> => {
    const made = await server.send(`POST ${path}`, object, by);
    expect(made.status, made.text).to.equal(201);
    return made;
  };
  const mount = (at: string, name: string, spec: object) =>
    post(`/clusters/${at}${MOUNTS}`, { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", metadata: { name }, spec });
  /** Creates a workspace with a Mount beside it, in the phase. */
  const show = async (at: string, name: string, phase = "Ready"): Promise<void> => {
    const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name };
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
    await post(`/clusters/${at}${WORKSPACES}`, { ...workspace, spec: { mount: { ref } } });
    await turned(at, name, phase);
  };
  const remove = async (path: `/${string}`): Promise<void> => {
    expect((await server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
  };
  const turned = (at: string, name: string, phase: string): Promise<Answer> =>
    untilAt(server, `/clusters/${at}${WORKSPACES}/${name}`, ({ body }) => body.status?.phase === phase);

  /** Starts each shard with its view and its controller. */
  const start = async (): Promise<AsyncDisposable> => {
    const own = loopback();
    const everywhere = own.upstream;
    const allow = ["127.0.0.1"];
    const viewOf = ({ upstream }: Loopback, name: string) =>
      mountsView({ upstream, everywhere, shard: name, allow, allowCache: 0, onError });
    const started = new AsyncDisposableStack();
    server = started.use(
      await startSharded(stores, {
        loopback: own,
        virtualWorkspaces: [viewOf(own, "root")],
        shards: {
          storeOf,
          virtualWorkspaces: (name, context) => {
            context.controllers.use(workspaceMounts({ upstream: context.loopback.upstream, everywhere, onError }));
            return [viewOf(context.loopback, name)];
          },
        },
      }),
    );
    started.use(workspaceMounts({ upstream: own.upstream, onError }));
    return started;
  };

  before(async () => {
    // It outlives the servers, which log a failed check of the target.
    target = running.use(await startTarget());
    world = running.use(await start());
    shard = await shardAt(server, "shard-1");
    for (const object of mountManifests())
      await post(`/clusters/root/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`, object);
    for (const [name, on] of [
      ["near", "root"],
      ["far", "shard-1"],
    ] as const) {
      const cluster = await makeOn(server, name, { shard: on });
      clusters[name] = cluster;
      await grant(server, cluster, { user: "alice", verbs: ["get"] });
      await post(`/clusters/${cluster}${APIS}/apibindings`, bindingOf("proxy.kcp.io", "root:proxy.kcp.io"));
      await untilAt(server, `/clusters/${cluster}${MOUNTS}`, ({ status }) => status === 200);
    }
  });
  after(async () => {
    await running.disposeAsync();
  });

  it("have the address of their shard, which the server recognizes as its own, and forward the caller's identity", async () => {
    for (const [name, at] of [
      ["near", server.url],
      ["far", shard.url],
    ] as const) {
      const cluster = clusters[name] as string;
      await post(`/clusters/${cluster}${SECRETS}`, {
        ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "there" } },
        ...secret({ kubeconfig: kubeconfigOf(target) }),
      });
      await mount(cluster, "there", { ref: refTo("there") });
      const { body } = await untilAt(server, `/clusters/${cluster}${MOUNTS}/there`, (one) => isReady(one.body));
      expect(body.status.URL).to.equal(`${at}/services/mounts/${cluster}/there`);
      await show(cluster, "there");
    }
    // At the addresses of its shard and of the server, for any shard.
    for (const at of [server, shard]) {
      expect((await at.get("/clusters/root:far:there/api", alice)).text).to.equal("GET /api");
      expect((await at.get("/clusters/root:far:there/api", { user: "bob" })).status).to.equal(403);
    }
    expect((await server.get("/clusters/root:near:there/api", alice)).text).to.equal("GET /api");
    expect(target.asked.map(({ headers }) => headers["impersonate-user"])).to.deep.equal(["alice", "alice", "alice"]);
  });

  it("lead from each shard to workspaces of the other, at the addresses of the server and the shard", async () => {
    for (const [name, to] of [
      ["near", "far"],
      ["far", "near"],
    ] as const) {
      const cluster = clusters[name] as string;
      await mount(cluster, `to-${to}`, { type: "Workspace", path: `root:${to}` });
      const { body } = await untilAt(server, `/clusters/${cluster}${MOUNTS}/to-${to}`, (one) => isReady(one.body));
      expect(body.status.URL).to.equal(`${server.url}/clusters/root:${to}`);
      await show(cluster, `to-${to}`);
      await post(`/clusters/root:${name}:to-${to}${CONFIG_MAPS}`, configMap(`by-${name}`));
      expect((await server.get(`/clusters/root:${to}${CONFIG_MAPS}/by-${name}`, alice)).status).to.equal(200);
      expect((await server.get(`/clusters/root:${name}:to-${to}${CONFIG_MAPS}/by-${name}`, alice)).status).to.equal(
        200,
      );
    }
    // The Mount is on this shard, and its target is not.
    expect((await shard.get(`/clusters/root:far:to-near${CONFIG_MAPS}/by-far`, alice)).status).to.equal(200);
  });

  it("of the type Redirect that lead to each other across shards answer 503, until one is deleted", async () => {
    const ends = [
      ["near", "far"],
      ["far", "near"],
    ] as const;
    for (const [name, to] of ends)
      await mount(clusters[name] as string, "circle", { type: "Redirect", path: `root:${to}:circle` });
    for (const [name] of ends) {
      const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name: "circle" };
      const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "circle" } };
      await post(`/clusters/${clusters[name]}${WORKSPACES}`, { ...workspace, spec: { mount: { ref } } });
    }
    for (const [name, to] of ends) {
      const at = `/clusters/${clusters[name]}${MOUNTS}/circle` as const;
      const { body } = await untilAt(server, at, (one) => reasonOf(one.body) === "Cycle");
      expect(body.status.phase, name).to.equal("Unknown");
      await untilAt(
        server,
        { path: `/clusters/root:${name}:circle/api`, user: "alice" },
        ({ status }) => status === 503,
      );
      const { text } = await server.get(`/services/mounts/${clusters[name]}/circle/api`, alice);
      if (name === "near")
        expect(text).to.contain(`this mount leads to root:${to}:circle leads to root:${name}:circle`);
    }
    await remove(`/clusters/${clusters["far"]}${WORKSPACES}/circle`);
    await untilAt(server, `/clusters/${clusters["near"]}${MOUNTS}/circle`, (one) => isReady(one.body));
    await untilAt(server, { path: "/clusters/root:near:circle/api", user: "alice" }, ({ status }) => status === 307);
    for (const [name] of ends) await remove(`/clusters/${clusters[name]}${MOUNTS}/circle`);
  });

  it("through the type URL and the address of another shard are a cycle", async () => {
    const [near, far] = [clusters["near"] as string, clusters["far"] as string];
    const kubeconfig = {
      ...{ apiVersion: "v1", kind: "Config", "current-context": "it" },
      contexts: [{ name: "it", context: { cluster: "it", user: "" } }],
      clusters: [{ name: "it", cluster: { server: `${shard.url}/services/mounts/${far}/back` } }],
    };
    await post(`/clusters/${near}${SECRETS}`, {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "forth" } },
      ...secret({ kubeconfig: JSON.stringify(kubeconfig) }),
    });
    await mount(far, "back", { type: "Redirect", path: "root:near:forth" });
    await mount(near, "forth", { ref: refTo("forth"), identity: { type: "None" } });
    const ref = { apiVersion: "proxy.kcp.io/v1alpha1", kind: "Mount", name: "forth" };
    const workspace = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "forth" } };
    await post(`/clusters/${near}${WORKSPACES}`, { ...workspace, spec: { mount: { ref } } });
    for (const at of [`/clusters/${near}${MOUNTS}/forth`, `/clusters/${far}${MOUNTS}/back`] as const)
      await untilAt(server, at, (one) => reasonOf(one.body) === "Cycle");
    for (const at of [`/clusters/${near}${MOUNTS}/forth`, `/clusters/${far}${MOUNTS}/back`] as const) await remove(at);
  });

  it("answer 503 after the deletion of their target workspace, on any shard", async () => {
    const gone = await makeOn(server, "gone", { shard: "shard-1" });
    await makeAdmin(server, gone, "alice");
    const near = clusters["near"] as string;
    await mount(near, "to-gone", { type: "Workspace", path: "root:gone" });
    await show(near, "to-gone");
    expect((await server.get(`/clusters/root:near:to-gone${CONFIG_MAPS}`, alice)).status).to.equal(200);
    expect((await server.send(`DELETE /clusters/root${WORKSPACES}/gone`, undefined, root)).status).to.equal(200);
    await turned(near, "to-gone", "Unavailable");
    const { status, body } = await server.get(`/clusters/root:near:to-gone${CONFIG_MAPS}`, alice);
    expect([status, body.reason]).to.deep.equal([503, "ServiceUnavailable"]);
    expect(body.message).to.match(/^the workspace root:near:to-gone is mounted on Mount "to-gone", which is not ready/);
  });

  it("on an unavailable shard, and links to its workspaces, answer 503 until it is back", async () => {
    const there = "/clusters/root:far:there/api";
    const link = `/clusters/root:near:to-far${CONFIG_MAPS}/by-near` as const;
    await world[Symbol.asyncDispose]();
    isThere = false;
    running.use(await start());
    await untilShard(server, "shard-1", "not ready");
    const away = "a shard of this server does not run yet: try again";
    // The link has the server's former port until it is reconciled.
    await untilAt(server, { path: link, user: "alice" }, ({ body }) => body?.message === away);
    for (const path of [there, link]) {
      const { status, body, headers } = await server.get(path, alice);
      expect([status, body.reason, body.message], path).to.deep.equal([...[503, "ServiceUnavailable", away]]);
      expect(headers["retry-after"], path).to.equal("1");
    }
    isThere = true;
    await untilShard(server, "shard-1", "ready");
    await untilAt(server, { path: link, user: "alice" }, ({ status }) => status === 200);
    expectFault(/controller failed .*in-process-shards.*no disk for shard-1/);
  });
});
