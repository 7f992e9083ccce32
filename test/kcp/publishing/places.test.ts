// Publishing to objects anywhere: in all logical clusters of a shard, in namespaces, on a server without either; and additional
// sources.
import { Client, Informer, related } from "@virtual-workspaces/client";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { APIExportEndpointSlice, publishURLs } from "@virtual-workspaces/kcp";
import { expect } from "chai";
import { startPlain } from "../../_support/plain.ts";
import { bindingOf, exportOf } from "../../workspace-server/bindings/support/shard.ts";
import {
  type Body,
  CONFIG_MAPS,
  configMap,
  makeOn,
  root,
  Stores,
  untilAt,
} from "../../workspace-server/shards/support.ts";
import { byShards, Kitchen, STATUS, urlOn } from "./support/menus.ts";

const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
const APIS = "apis/apis.kcp.io";

describe("publishURLs", function () {
  this.timeout(30_000);

  it("reacts to additional sources, and publishes nothing for an unused view", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    for (const name of ["soup", "salad"]) await kitchen.cook(name);
    const { client, cluster } = kitchen;
    await using guests = new Informer({ resource: client.cluster(cluster).resource(ConfigMap).in("default") });
    await guests.start();
    const key = (name: string) => ({ cluster, namespace: "default", name });
    await using _published = publishURLs({
      ...kitchen.publication("root"),
      sources: [related(guests, (_, { name }) => ({ cluster, namespace: "", name }))],
      urls: (menu, shards) =>
        guests.store.get(key(menu.metadata.name ?? "")) === undefined ? [] : byShards(menu, shards),
    });
    expect(
      (await kitchen.server.send(`POST /clusters/${cluster}${CONFIG_MAPS}`, configMap("soup"), root)).status,
    ).to.equal(201);
    await kitchen.having("soup", [urlOn.root("soup")]);
    expect((await kitchen.server.get(`${kitchen.menus}/salad`, root)).body.status).to.equal(undefined);
    await kitchen.send(`DELETE /clusters/${cluster}${CONFIG_MAPS}/soup`);
    await kitchen.having("soup", []);
  });

  it("writes endpoint slices in all workspaces of a shard, beside the server's entries", async () => {
    await using stores = new Stores();
    await using kitchen = await Kitchen.start(stores);
    const { server, client } = kitchen;
    const [near, far] = [
      await makeOn(server, "near", { shard: "root" }),
      await makeOn(server, "far", { shard: "root" }),
    ];
    for (const cluster of [near, far]) {
      const made = await server.send(
        `POST /clusters/${cluster}/${APIS}/v1alpha2/apiexports`,
        exportOf("maps", []),
        root,
      );
      expect(made.status, made.text).to.equal(201);
    }
    await using _published = publishURLs({
      client,
      resource: APIExportEndpointSlice,
      cluster: "*",
      manager: "mine",
      urls: ({ metadata, spec }) =>
        spec?.export.name === "maps" ? [`https://mine.test/${metadata.annotations?.["kcp.io/cluster"]}`] : [],
      onError: ({ error }) => kitchen.failures.push({ controller: "", error, attempt: 1 }),
    });
    const having = (cluster: string, urls: readonly string[]) =>
      untilAt(
        server,
        `/clusters/${cluster}/${APIS}/v1alpha1/apiexportendpointslices/maps`,
        ({ body }) => (body.status?.endpoints ?? []).map(({ url }: Body) => url).join() === urls.join(),
      );
    for (const cluster of [near, far]) await having(cluster, [`https://mine.test/${cluster}`]);
    const binding = bindingOf("maps", `${far}:maps`);
    expect((await server.send(`POST /clusters/${far}/${APIS}/v1alpha2/apibindings`, binding, root)).status).to.equal(
      201,
    );
    await having(far, [`https://mine.test/${far}`, `https://vw-root.test/services/apiexport/${far}/maps`]);
    expect(kitchen.failures).to.deep.equal([]);
  });

  it("writes objects in namespaces, on a server without logical clusters, and a single object", async () => {
    const Table = defineResource({
      group: "example.dev",
      version: "v1",
      kind: "Table",
      scope: "Namespaced",
      spec: { type: "object", properties: {} },
      status: STATUS,
    });
    const tables = Table.collection();
    const view = defineVirtualWorkspace({
      name: "tables",
      path: "/",
      authorize: () => allow(),
      resources: [Table.serve(tables)],
    });
    await using server = await startPlain([view]);
    const path = "/services/tables/apis/example.dev/v1";
    const put = async (namespace: string, name: string): Promise<void> => {
      const table = { apiVersion: "example.dev/v1", kind: "Table", metadata: { name }, spec: {} };
      const made = await server.send(`POST ${path}/namespaces/${namespace}/tables`, table);
      expect(made.status, made.text).to.equal(201);
    };
    for (const [namespace, name] of [
      ["one", "a"],
      ["two", "a"],
      ["two", "b"],
    ] as const)
      await put(namespace, name);
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer alice"] }) };
    await using client = new Client({ upstream: { url: `${server.url}/services/tables`, credentials } });
    const failures: unknown[] = [];
    await using published = publishURLs({
      client,
      resource: Table,
      cluster: "",
      name: "a",
      manager: "mine",
      urls: ({ metadata }) => [`https://mine.test/${metadata.namespace}/${metadata.name}`],
      onError: ({ error }) => failures.push(error),
    });
    const urls = async (): Promise<string[]> =>
      (await server.get(`${path}/tables`)).body.items.map(({ metadata, status }: Body) =>
        [metadata.namespace, metadata.name, status?.endpoints?.[0]?.url].join(" "),
      );
    const wanted = ["one a https://mine.test/one/a", "two a https://mine.test/two/a", "two b "];
    while ((await urls()).join() !== wanted.join()) {
      expect(failures).to.deep.equal([]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await published.withdraw();
    expect(await urls()).to.deep.equal(["one a ", "two a ", "two b "]);
  });
});
