// Why: clients of exports use the published URLs. These are kcp's rules, on two shards, through the front proxy.
import { expect } from "chai";
import { APPLY, MERGE } from "../../_support/patches.ts";
import {
  type Body,
  conditionOf,
  makeOn,
  root,
  SHARDS,
  Stores,
  shardObject,
  startSharded,
  untilAt,
} from "../shards/support.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { bindingOf, exportOf } from "./support/shard.ts";

const ROOT = "/clusters/root/apis";
const EXPORTS = `${ROOT}/apis.kcp.io/v1alpha2/apiexports` as const;
const SLICES = `${ROOT}/apis.kcp.io/v1alpha1/apiexportendpointslices` as const;
const PARTITIONS = `${ROOT}/topology.kcp.io/v1alpha1/partitions` as const;
const TYPE = `${ROOT}/tenancy.kcp.io/v1alpha1/workspacetypes/universal` as const;
const VIEW = "services/apiexport/root/maps";

/** URLs of the shards, the same at each startup. */
const URLS = {
  urls: () => ({
    baseURL: "https://a.test",
    externalURL: "https://a.test",
    virtualWorkspaceURL: "https://vw-root.test",
  }),
};
const FAR = {
  urls: (name: string) => ({ baseURL: `https://${name}.test`, virtualWorkspaceURL: `https://vw-${name}.test/in/` }),
};
const ON = {
  root: `https://vw-root.test/${VIEW}`,
  "shard-1": `https://vw-shard-1.test/in/${VIEW}`,
  amber: `https://vw-amber.test/in/${VIEW}`,
};

const start = (stores: Stores, more: object = {}): Promise<Workspaces> =>
  startSharded(stores, { ...URLS, ...more, shards: FAR });

async function made(server: Workspaces, path: string, object: object): Promise<void> {
  const { status, text } = await server.send(`POST ${path as `/${string}`}`, object, root);
  expect(status, text).to.equal(201);
}

const patch = async (server: Workspaces, path: string, body: object): Promise<void> => {
  const { status, text } = await server.send(`PATCH ${path as `/${string}`}`, body, { ...MERGE, ...root });
  expect(status, text).to.equal(200);
};

const bound = (cluster: string): string => `/clusters/${cluster}/apis/apis.kcp.io/v1alpha2/apibindings`;

async function bindMaps(server: Workspaces, cluster: string): Promise<void> {
  await made(server, bound(cluster), bindingOf("maps", "root:maps"));
  await untilAt(server, `${bound(cluster)}/maps`, ({ body }) => body.status?.phase === "Bound");
}

async function unbindMaps(server: Workspaces, cluster: string): Promise<void> {
  expect((await server.send(`DELETE ${bound(cluster) as "/"}/maps`, undefined, root)).status).to.equal(200);
  await untilAt(server, `${bound(cluster)}/maps`, ({ status }) => status === 404);
}

const urlsOf = ({ body }: { readonly body: Body }): string[] =>
  (body.status?.endpoints ?? body.status?.virtualWorkspaces ?? []).map(({ url }: Body) => url);

const having = (server: Workspaces, path: string, urls: readonly string[]) =>
  untilAt(server, path, (answer) => JSON.stringify(urlsOf(answer)) === JSON.stringify(urls));

const slice = (name: string, spec: object = {}): object => ({
  apiVersion: "apis.kcp.io/v1alpha1",
  kind: "APIExportEndpointSlice",
  metadata: { name },
  spec: { export: { path: "root", name: "maps" }, ...spec },
});

const partition = (name: string, shard: string): object => ({
  apiVersion: "topology.kcp.io/v1alpha1",
  kind: "Partition",
  metadata: { name },
  spec: { selector: { matchLabels: { name: shard }, matchExpressions: [{ key: "name", operator: "Exists" }] } },
});

describe("URLs in an APIExport", function () {
  this.timeout(30_000);

  it("are one for each shard, sorted, and follow added and removed shards", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    await made(server, EXPORTS, exportOf("maps", []));
    const first = await having(server, `${EXPORTS}/maps`, [ON.root, ON["shard-1"]]);
    expect(conditionOf(first, "VirtualWorkspaceURLsReady")).to.have.property("status", "True");
    await made(server, SHARDS, shardObject("amber"));
    await having(server, `${EXPORTS}/maps`, [ON.amber, ON.root, ON["shard-1"]]);
    const types = (await server.get(TYPE, root)).body.status.virtualWorkspaces;
    expect(types).to.deep.include({
      url: "https://vw-amber.test/in/services/initializingworkspaces/root:universal",
      type: "initializing",
    });
    expect((await server.send(`DELETE ${SHARDS}/amber`, undefined, root)).status).to.equal(200);
    await having(server, `${EXPORTS}/maps`, [ON.root, ON["shard-1"]]);
  });

  it("follow changes of a Shard, and are not written while nothing changes", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    await made(server, EXPORTS, exportOf("maps", []));
    const { body } = await having(server, `${EXPORTS}/maps`, [ON.root, ON["shard-1"]]);
    await patch(server, `${SHARDS}/shard-1`, { metadata: { labels: { seen: "yes" } } });
    // This export comes after the first one in the queue: once it is reconciled, the first one is too.
    await made(server, EXPORTS, exportOf("other", []));
    await untilAt(server, `${EXPORTS}/other`, (answer) => urlsOf(answer).length === 2);
    const { resourceVersion } = (await server.get(`${EXPORTS}/maps`, root)).body.metadata;
    expect(resourceVersion).to.equal(body.metadata.resourceVersion);
    await patch(server, `${SHARDS}/shard-1`, { spec: { virtualWorkspaceURL: "https://else.test/x" } });
    await having(server, `${EXPORTS}/maps`, [`https://else.test/x/${VIEW}`, ON.root]);
    // As in kcp, an invalid URL of a Shard is omitted.
    await patch(server, `${SHARDS}/shard-1`, { spec: { virtualWorkspaceURL: "https://" } });
    await having(server, `${EXPORTS}/maps`, [ON.root]);
  });

  it("ignore Shards of the same name in other workspaces", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const mine = await makeOn(server, "mine", { shard: "root" });
    await made(server, EXPORTS, exportOf("maps", []));
    await having(server, `${EXPORTS}/maps`, [ON.root, ON["shard-1"]]);
    await made(server, bound(mine), bindingOf("shards", "root:shards.core.kcp.io"));
    await untilAt(server, `${bound(mine)}/shards`, ({ body }) => body.status?.phase === "Bound");
    for (const name of ["shard-1", "other"]) {
      const spec = { baseURL: "https://evil.test", virtualWorkspaceURL: "https://evil.test" };
      const shard = {
        apiVersion: "core.kcp.io/v1alpha1",
        kind: "Shard",
        metadata: { name, labels: { name: "root" } },
        spec,
      };
      await made(server, `/clusters/${mine}/apis/core.kcp.io/v1alpha1/shards`, shard);
    }
    await made(server, PARTITIONS, partition("part", "root"));
    await made(server, SLICES, slice("parted", { partition: "part" }));
    const far = await makeOn(server, "far", { shard: "shard-1" });
    await bindMaps(server, far);
    await having(server, `${SLICES}/maps`, [ON["shard-1"]]);
    await made(server, EXPORTS, exportOf("later", []));
    const later = await untilAt(server, `${EXPORTS}/later`, (answer) => urlsOf(answer).length > 0);
    expect(urlsOf(later).filter((url) => url.includes("evil"))).to.deep.equal([]);
    for (const path of [`${EXPORTS}/maps`, `${SLICES}/parted`])
      expect(urlsOf(await server.get(path, root))).to.deep.equal(
        path.startsWith(EXPORTS) ? [ON.root, ON["shard-1"]] : [],
      );
  });

  it("and their condition are removed when disabled, also from existing exports", async () => {
    await using stores = new Stores();
    {
      await using server = await start(stores);
      await made(server, EXPORTS, exportOf("maps", []));
      await having(server, `${EXPORTS}/maps`, [ON.root, ON["shard-1"]]);
    }
    await using server = await start(stores, { exportURLs: false });
    const found = await having(server, `${EXPORTS}/maps`, []);
    expect(found.body.status).to.not.have.property("virtualWorkspaces");
    expect(found.body.status.conditions.map(({ type }: Body) => type)).to.deep.equal(["IdentityValid"]);
    await made(server, EXPORTS, exportOf("later", []));
    const later = await untilAt(
      server,
      `${EXPORTS}/later`,
      (answer) => conditionOf(answer, "IdentityValid") !== undefined,
    );
    expect(later.body.status.conditions.map(({ type }: Body) => type)).to.deep.equal(["IdentityValid"]);
    expect(urlsOf(later)).to.deep.equal([]);
  });
});

describe("URLs in an endpoint slice", function () {
  this.timeout(30_000);

  it("are those of shards with a binding, and are removed with the last one", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const [far, more, near] = [
      await makeOn(server, "far", { shard: "shard-1" }),
      await makeOn(server, "more", { shard: "shard-1" }),
      await makeOn(server, "near", { shard: "root" }),
    ];
    await made(server, EXPORTS, exportOf("maps", []));
    const none = await untilAt(
      server,
      `${SLICES}/maps`,
      (answer) => conditionOf(answer, "PartitionValid") !== undefined,
    );
    expect(urlsOf(none)).to.deep.equal([]);
    await bindMaps(server, far);
    const one = await having(server, `${SLICES}/maps`, [ON["shard-1"]]);
    expect(one.body.status).to.not.have.property("shardSelector");
    await bindMaps(server, more);
    await bindMaps(server, near);
    await having(server, `${SLICES}/maps`, [ON.root, ON["shard-1"]]);
    await unbindMaps(server, far);
    await unbindMaps(server, near);
    const two = await having(server, `${SLICES}/maps`, [ON["shard-1"]]);
    await unbindMaps(server, more);
    const empty = await having(server, `${SLICES}/maps`, []);
    expect(Number(empty.body.metadata.resourceVersion)).to.be.above(Number(two.body.metadata.resourceVersion));
  });

  it("are those of the partition; a shard with bindings that leaves it keeps its URL", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const [far, near] = [
      await makeOn(server, "far", { shard: "shard-1" }),
      await makeOn(server, "near", { shard: "root" }),
    ];
    await made(server, EXPORTS, exportOf("maps", []));
    await made(server, PARTITIONS, partition("part", "shard-1"));
    await made(server, SLICES, slice("parted", { partition: "part" }));
    await bindMaps(server, far);
    await bindMaps(server, near);
    const parted = await having(server, `${SLICES}/parted`, [ON["shard-1"]]);
    expect(parted.body.status.shardSelector).to.equal("name=shard-1,name");
    await patch(server, `${PARTITIONS}/part`, { spec: { selector: { matchLabels: { name: "root" } } } });
    const both = await having(server, `${SLICES}/parted`, [ON.root, ON["shard-1"]]);
    expect(both.body.status.shardSelector).to.equal("name=root,name");
    await unbindMaps(server, far);
    await having(server, `${SLICES}/parted`, [ON.root]);
    expect((await server.send(`DELETE ${PARTITIONS}/part`, undefined, root)).status).to.equal(200);
    const gone = await having(server, `${SLICES}/parted`, []);
    expect(conditionOf(gone, "PartitionValid")).to.include({
      status: "False",
      severity: "Error",
      reason: "PartitionInvalidReference",
      message: 'partition.topology.kcp.io "part" not found',
    });
  });

  it("are removed with the export, and stay unchanged while another condition is false", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const near = await makeOn(server, "near", { shard: "root" });
    await made(server, EXPORTS, exportOf("maps", []));
    await made(server, SLICES, slice("mine"));
    const { body } = await untilAt(
      server,
      `${SLICES}/mine`,
      (answer) => conditionOf(answer, "PartitionValid") !== undefined,
    );
    const doubt = { type: "Audited", status: "False", lastTransitionTime: "2026-01-01T00:00:00Z" };
    await patch(server, `${SLICES}/mine/status`, { status: { conditions: [...body.status.conditions, doubt] } });
    await bindMaps(server, near);
    await having(server, `${SLICES}/maps`, [ON.root]);
    expect(urlsOf(await server.get(`${SLICES}/mine`, root))).to.deep.equal([]);
    await patch(server, `${SLICES}/mine/status`, { status: { conditions: body.status.conditions } });
    await having(server, `${SLICES}/mine`, [ON.root]);
    expect((await server.send(`DELETE ${EXPORTS}/maps`, undefined, root)).status).to.equal(200);
    const gone = await having(server, `${SLICES}/mine`, []);
    expect(conditionOf(gone, "APIExportValid")).to.include({
      status: "False",
      severity: "Error",
      reason: "APIExportNotFound",
      message: "Error getting APIExport root|maps",
    });
  });

  it("applied by another field manager stay, also when the export is deleted", async () => {
    await using stores = new Stores();
    await using server = await start(stores);
    const near = await makeOn(server, "near", { shard: "root" });
    await made(server, EXPORTS, exportOf("maps", []));
    await made(server, SLICES, slice("mine"));
    await untilAt(server, `${SLICES}/mine`, (answer) => conditionOf(answer, "PartitionValid") !== undefined);
    const apply = async (endpoints: readonly object[]): Promise<void> => {
      const object = { apiVersion: "apis.kcp.io/v1alpha1", kind: "APIExportEndpointSlice", metadata: { name: "mine" } };
      const call = `PATCH ${SLICES}/mine/status?fieldManager=mine&force=true` as const;
      const { status, text } = await server.send(call, { ...object, status: { endpoints } }, { ...APPLY, ...root });
      expect(status, text).to.equal(200);
    };
    await apply([{ url: "https://mine.test/view", shards: { matchAll: true } }]);
    await bindMaps(server, near);
    const both = await having(server, `${SLICES}/mine`, ["https://mine.test/view", ON.root]);
    expect(both.body.status.endpoints[0].shards).to.deep.equal({ matchAll: true });
    await unbindMaps(server, near);
    await having(server, `${SLICES}/mine`, ["https://mine.test/view"]);
    await bindMaps(server, near);
    await having(server, `${SLICES}/mine`, ["https://mine.test/view", ON.root]);
    expect((await server.send(`DELETE ${EXPORTS}/maps`, undefined, root)).status).to.equal(200);
    await having(server, `${SLICES}/mine`, ["https://mine.test/view"]);
    const isGone = (answer: Parameters<typeof conditionOf>[0]) =>
      conditionOf(answer, "APIExportValid")?.status === "False";
    expect(urlsOf(await untilAt(server, `${SLICES}/mine`, isGone))).to.deep.equal(["https://mine.test/view"]);
    await apply([]);
    await having(server, `${SLICES}/mine`, []);
  });
});
