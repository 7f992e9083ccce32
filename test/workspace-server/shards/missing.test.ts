// A shard that does not run: its objects are not gone, and no controller may write as if they were.
import type { Store } from "@virtual-workspaces/store";
import { StoreError } from "@virtual-workspaces/store";
import { expect } from "chai";
import { parseStoredKey } from "../../../packages/store/src/registry/keys.ts";
import { bodyOf } from "../../../packages/store/src/registry/record.ts";
import { expectFault } from "../../_setup/faults.ts";
import { bindingOf, exportOf, schemaOf } from "../bindings/support/shard.ts";
import {
  type Body,
  CONFIG_MAPS,
  conditionOf,
  configMap,
  makeOn,
  root,
  SHARDS,
  Stores,
  shardObject,
  startSharded,
  untilAt,
  untilShard,
  WORKSPACES,
} from "./support.ts";

const APIS = "/apis/apis.kcp.io/v1alpha2";
const SCHEMAS = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";
const SLICES = "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices";
const PATCH = { ...root, headers: { "content-type": "application/merge-patch+json" } };
const CLAIM = { group: "", resource: "configmaps", verbs: ["*"] };
/** Same URLs at each start, so that they cause no writes. */
const URLS = {
  urls: () => ({ baseURL: "https://a.test", externalURL: "https://a.test", virtualWorkspaceURL: "https://a.test" }),
};
const FAR = (name: string) => ({ baseURL: `https://${name}.test`, virtualWorkspaceURL: `https://${name}.test` });

const isBound = ({ body }: { readonly body: Body }): boolean => body.status?.phase === "Bound";
const isUpToDate = ({ body }: { readonly body: Body }): boolean =>
  isBound({ body }) && body.status.conditions.every(({ status }: Body) => status === "True");

/** Returns all stored objects without their managed fields and versions. */
async function keptIn(store: Store): Promise<Map<string, Body>> {
  const { entries } = await store.range({ from: " ", to: "~" });
  const kept = new Map<string, Body>();
  for (const { key: text, value } of entries) {
    const [place, body] = [parseStoredKey(text), bodyOf(value)];
    if (place === undefined || body === undefined) continue;
    const { cluster, namespace, name } = place.key;
    const object: Body = JSON.parse(body.toString());
    const { resourceVersion: _, generation: __, managedFields: ___, labels, ...metadata } = object.metadata;
    const { seen: ____, ...others } = labels ?? {};
    kept.set(`${place.space} ${cluster}/${namespace}/${name}`, {
      ...object,
      metadata: { ...metadata, labels: others },
    });
  }
  return kept;
}

describe("a shard that temporarily does not run", function () {
  this.timeout(30_000);

  it("causes no writes as if its objects were gone; real deletions take effect when it runs", async () => {
    await using stores = new Stores();
    let isThere = true;
    const storeOf = (name: string): Store => {
      if (!isThere) throw new StoreError("Unavailable", `no disk for ${name}`);
      return stores.of(name);
    };
    const start = () => startSharded(stores, { ...URLS, shards: { storeOf, urls: FAR } });
    const at = { binding: `/clusters/root:near${APIS}/apibindings/w`, slice: `/clusters/root${SLICES}/own` } as const;
    {
      await using server = await start();
      const post = async (place: string, body: object) => {
        const answer = await server.send(`POST /clusters/${place}`, body, root);
        expect(answer.status, answer.text).to.equal(201);
      };
      const provider = await makeOn(server, "provider", { shard: "shard-1" });
      const near = await makeOn(server, "near", { shard: "root" });
      const far = await makeOn(server, "far", { shard: "shard-1" });
      await post(`${provider}${SCHEMAS}`, schemaOf("v1"));
      const widgets: Body = exportOf("widgets", ["v1.widgets.example.dev"]);
      await post(`${provider}${APIS}/apiexports`, {
        ...widgets,
        metadata: { ...widgets.metadata, annotations: { "extra.apis.kcp.io/a": "b" } },
        spec: { ...widgets.spec, permissionClaims: [CLAIM] },
      });
      await post(`root${APIS}/apiexports`, exportOf("own", []));
      for (const [name, where] of [
        ["widgets", provider],
        ["own", "root"],
      ] as const)
        await untilAt(server, `/clusters/${where}${APIS}/apiexports/${name}`, ({ body }) => body.status?.identityHash);
      const binding: Body = bindingOf("w", "root:provider:widgets");
      const permissionClaims = [{ ...CLAIM, selector: { matchAll: true }, state: "Accepted" }];
      await post(`${near}${APIS}/apibindings`, { ...binding, spec: { ...binding.spec, permissionClaims } });
      for (const cluster of [near, far]) await post(`${cluster}${APIS}/apibindings`, bindingOf("own", "root:own"));
      await post(`${near}${CONFIG_MAPS}`, configMap("a"));
      for (const cluster of [near, far])
        await untilAt(server, `/clusters/${cluster}${APIS}/apibindings/own`, isUpToDate);
      await untilAt(server, at.binding, isUpToDate);
      await untilAt(server, at.slice, ({ body }) => body.status?.endpoints?.length === 2);
    }
    // Once more, so that all writes of a restart are done.
    await (await start())[Symbol.asyncDispose]();
    const before = await keptIn(stores.of("root"));
    isThere = false;
    await using server = await start();
    await untilShard(server, "shard-1", "not ready");
    // Triggers reconciliation of everything; the last one follows the others.
    for (const path of [at.binding, `/clusters/root${APIS}/apiexports/own`, at.slice] as const)
      expect((await server.send(`PATCH ${path}`, { metadata: { labels: { seen: "1" } } }, PATCH)).status).to.equal(200);
    const late = await server.send(`POST /clusters/root:near${APIS}/apibindings`, bindingOf("late", "root:own"), root);
    expect(late.status, late.text).to.equal(201);
    await untilAt(
      server,
      `/clusters/root:near${APIS}/apibindings/late`,
      ({ body }) => body.status?.conditions?.length > 0,
    );
    const made = await server.send(`POST /clusters/root:near${CONFIG_MAPS}`, configMap("b"), root);
    expect(made.status, made.text).to.equal(201);
    const { body: old } = await server.get(`/clusters/root:near${CONFIG_MAPS}/a`, root);
    expect(made.body.metadata.labels, "claimed all the same")
      .to.deep.equal(old.metadata.labels)
      .and.not.equal(undefined);
    const after = await keptIn(stores.of("root"));
    const ours = /^core.kcp.io.shards root..shard-1$|^apis.kcp.io.apibindings .*late$|^.configmaps .*b$/;
    for (const key of new Set([...before.keys(), ...after.keys()]))
      if (!ours.test(key)) expect(after.get(key), key).to.deep.equal(before.get(key));

    isThere = true;
    await untilAt(server, "/readyz", ({ status }) => status === 200);
    await untilAt(server, at.binding, isUpToDate);
    expect(
      (await server.send(`DELETE /clusters/root:provider${APIS}/apiexports/widgets`, undefined, root)).status,
    ).to.equal(200);
    const gone = await untilAt(server, at.binding, (one) => conditionOf(one, "APIExportValid")?.status === "False");
    expect(conditionOf(gone, "APIExportValid")).to.include({ reason: "APIExportNotFound" });
    expectFault(/controller failed .*in-process-shards.*no disk for shard-1/);
  });

  it("keeps a workspace under deletion, with the reason, if its Shard was removed by force, until it returns", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores);
    await server.server.addShard("amber");
    await makeOn(server, "jewel", { shard: "amber" });
    expect((await server.send(`DELETE ${SHARDS}/amber`, undefined, root)).status).to.equal(200);
    expect((await server.send(`PATCH ${SHARDS}/amber`, { metadata: { finalizers: null } }, PATCH)).status).to.equal(
      200,
    );
    await untilAt(server, `${SHARDS}/amber`, ({ status }) => status === 404);
    await untilAt(server, `/clusters/root:jewel${CONFIG_MAPS}`, ({ status }) => status === 404);
    const path = `/clusters/root${WORKSPACES}/jewel` as const;
    expect((await server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
    const said = await untilAt(server, path, (one) => conditionOf(one, "WorkspaceContentDeleted") !== undefined);
    const condition = conditionOf(said, "WorkspaceContentDeleted");
    expect(condition).to.include({ status: "False", reason: "ShardNotFound" });
    expect(condition.message).to.match(
      /^chosen shard "amber" does not exist anymore.*create the Shard again, or remove the finalizer/,
    );
    expect((await server.send(`POST ${SHARDS}`, shardObject("amber"), root)).status).to.equal(201);
    await untilAt(server, path, ({ status }) => status === 404);
  });
});
