// Views over the workspaces of several shards: one per shard, at the URLs of endpoint slices.
import { forward, subjectAccessReview, type Workspaces } from "@virtual-workspaces/forwarding";
import { allow, defineResource, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Store } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { testLog } from "../../_setup/log.ts";
import { callsTo } from "../../_support/plain.ts";
import { makeAdmin } from "../support/logical-clusters.ts";
import { startWorkspaces } from "../support/workspaces.ts";
import {
  type Body,
  CONFIG_MAPS,
  configMap,
  makeOn,
  namesIn,
  root,
  SHARDS,
  Stores,
  shardAt,
  shardObject,
  startSharded,
  untilAt,
} from "./support.ts";

const APIS = "apis/apis.kcp.io/v1alpha2";
const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });

/** View at the URL that the server publishes for exports. */
function exported({ upstream, identity }: Workspaces): VirtualWorkspace {
  const configMaps = forward({ resource: ConfigMap, upstream, identity });
  const onError = (): void => undefined;
  const review = subjectAccessReview<{ readonly cluster: string }>({ upstream, allowCache: 0, denyCache: 0, onError });
  return defineVirtualWorkspace({
    name: "apiexport",
    path: "/:owner/:export/clusters/:cluster",
    wildcard: true,
    authorize: (question) => (question.user.groups.includes("system:masters") ? allow() : review(question)),
    ready: configMaps.ready,
    setup: () => configMaps,
    resources: [ConfigMap.serve(configMaps)],
  });
}

async function startWithViews(stores: Stores): ReturnType<typeof startSharded> {
  const own = loopback();
  return startSharded(stores, {
    loopback: own,
    virtualWorkspaces: [exported(own)],
    shards: { virtualWorkspaces: (_, { loopback }) => [exported(loopback)] },
  });
}

describe("views over several shards", function () {
  this.timeout(30_000);

  it("show each object once to a client of all URLs of an endpoint slice", async () => {
    await using stores = new Stores();
    await using server = await startWithViews(stores);
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const near = await makeOn(server, "near", { shard: "root" });
    const of = { apiVersion: "apis.kcp.io/v1alpha2", metadata: { name: "maps" } };
    const made = await server.send(`POST /clusters/root/${APIS}/apiexports`, { ...of, kind: "APIExport" }, root);
    expect(made.status, made.text).to.equal(201);
    for (const cluster of [far, near]) {
      const spec = { reference: { export: { name: "maps", path: "root" } } };
      const binding = { ...of, kind: "APIBinding", spec };
      expect((await server.send(`POST /clusters/${cluster}/${APIS}/apibindings`, binding, root)).status).to.equal(201);
    }
    const slice = await untilAt(
      server,
      "/clusters/root/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/maps",
      ({ body }) => body.status?.endpoints?.length === 2,
    );
    const urls: string[] = slice.body.status.endpoints.map(({ url }: Body) => url);
    const shard = await shardAt(server, "shard-1");
    expect(urls).to.have.members([server, shard].map(({ url }) => `${url}/services/apiexport/root/maps`));

    const all = urls.map((url) => callsTo(url));
    const path = "/clusters/*/api/v1/configmaps";
    const watches = await Promise.all(all.map((each) => each.watch(`${path}?watch=true`, root)));
    for (const cluster of [far, near])
      expect(
        (await server.send(`POST /clusters/${cluster}${CONFIG_MAPS}`, configMap(`in-${cluster}`), root)).status,
      ).to.equal(201);
    const isOurs = (name: string | undefined): boolean => name?.startsWith("in-") === true;
    const lists = await Promise.all(all.map(async (each) => namesIn(await each.get(path, root)).filter(isOurs)));
    expect(lists.flat().sort()).to.deep.equal([`in-${far}`, `in-${near}`].sort());
    expect(lists.map((names) => names.length)).to.deep.equal([1, 1]);
    for (const [at, watch] of watches.entries()) {
      const seen = await watch.until(({ object }) => isOurs(object.metadata.name));
      expect(seen.at(-1)?.object.metadata.name).to.equal(lists[at]?.[0]);
      await watch[Symbol.asyncDispose]();
    }
  });

  it("cover their shard at its address, and every workspace by name at the server's", async () => {
    await using stores = new Stores();
    await using server = await startWithViews(stores);
    const far = await makeOn(server, "far", { shard: "shard-1" });
    const near = await makeOn(server, "near", { shard: "root" });
    await makeAdmin(server, far, "alice");
    await untilAt(server, { path: `/clusters/${far}${CONFIG_MAPS}`, user: "alice" }, ({ status }) => status === 200);
    const shard = await shardAt(server, "shard-1");
    const ask = async (at: typeof shard | typeof server, cluster: string, user = "root") =>
      (await at.get(`/services/apiexport/a/b/clusters/${cluster}/api/v1/configmaps`, { user })).status;
    expect([await ask(server, far), await ask(server, near), await ask(shard, far)]).to.deep.equal([200, 200, 200]);
    expect(await ask(shard, near)).to.equal(429);
    // Only users with access to the workspace, and only system:masters for all workspaces.
    for (const at of [server, shard]) {
      expect(await ask(at, far, "alice")).to.equal(200);
      expect(await ask(at, far, "bob")).to.equal(403);
      expect(await ask(at, "*", "alice")).to.equal(403);
    }
    // Each address answers access; content only for its own shard.
    expect(await ask(shard, near, "alice")).to.equal(403);
    // These views exist once for all shards.
    for (const path of ["/services/workspaces/clusters/*/apis", "/services/cache/shards/*/clusters/*/apis"])
      expect([(await server.get(path, root)).status, (await shard.get(path, root)).status], path).to.deep.equal([
        200, 404,
      ]);
  });

  it("get the objects that shards share once they are known, however early they request them", async () => {
    await using stores = new Stores();
    const path = "/services/cache/shards/*/clusters/*/apis/apis.kcp.io/v1alpha2/apiexports";
    const { promise: serves, resolve } = Promise.withResolvers<unknown>();
    const { log } = testLog();
    let answer: Promise<number> | undefined;
    // The shard is known before `root` knows its bindings.
    const held = new Proxy(stores.of("root"), {
      get(target, property) {
        const value = Reflect.get(target, property, target);
        if (typeof value !== "function") return value;
        if (property !== "commit") return value.bind(target);
        return async (...args: Parameters<Store["commit"]>) => {
          if (answer !== undefined && JSON.stringify(args).includes("apibindings")) await serves;
          return target.commit(...args);
        };
      },
    });
    await using _server = await startWorkspaces(held, {
      log: (record) => {
        log(record);
        // By now the request would have been answered.
        if (record.message === "shard is serving") resolve(fetch(`${record["url"]}/livez`));
      },
      shards: {
        names: ["shard-1"],
        storeOf: (name) => stores.of(name),
        virtualWorkspaces: (_, { loopback: { upstream } }) => {
          answer = upstream.send({ path, headers: [] }).then(({ status }) => status);
          return [];
        },
      },
    });
    expect(await answer).to.equal(200);
  });

  it("start with an added shard, close with it, and report an error of their creation", async () => {
    await using stores = new Stores();
    const closed: string[] = [];
    const virtualWorkspaces = (name: string): readonly VirtualWorkspace[] => {
      if (name === "bad") throw new Error("no view here");
      const setup = () => ({ [Symbol.dispose]: () => void closed.push(name) });
      return [
        defineVirtualWorkspace({
          name,
          path: "/",
          authorize: () => allow(),
          setup,
          handle: (_, res) => void res.end(),
        }),
      ];
    };
    await using server = await startSharded(stores, { shards: { virtualWorkspaces } });
    await server.server.addShard("amber");
    const amber = await shardAt(server, "amber");
    expect((await amber.get("/services/amber/")).status).to.equal(200);
    await server.server.removeShard("amber");
    expect(closed).to.deep.equal(["amber"]);
    expect((await server.send(`POST ${SHARDS}`, shardObject("bad"), root)).status).to.equal(201);
    const told = await untilAt(server, `${SHARDS}/bad`, ({ body }) => body.status?.conditions?.length > 0);
    expect(told.body.status.conditions[0]).to.include({ type: "Ready", status: "False", message: "no view here" });
    expectFault(/controller failed .*in-process-shards.*no view here/);
  });
});
