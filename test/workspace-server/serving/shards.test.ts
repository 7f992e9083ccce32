// Shard selectors in workspaces, and over all of them.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { label } from "../../_support/plain.ts";
import { HALVES, halfOf, ofNamespace, shard } from "../../_support/shards.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const ROOT = { user: "root" };
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const NAMES = Array.from({ length: 12 }, (_, at) => `map-${String(at).padStart(2, "0")}`);
const ALL = "/clusters/*/api/v1/configmaps";
/** Without the ConfigMaps that a controller adds to each namespace. */
const OURS = "labelSelector=test%3Dshards";
const mapsOf = (namespace: string): `/${string}` => `/clusters/root/api/v1/namespaces/${namespace}/configmaps`;

describe("shards in workspaces", () => {
  it("divide the objects of all workspaces: lists, pages, watches and collection deletes", async () => {
    await using server = await startWorkspaces();
    for (const namespace of ["default", "other"]) {
      await server.send(
        "POST /clusters/root/api/v1/namespaces",
        { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
        ROOT,
      );
      for (const name of NAMES) {
        const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { test: "shards" } } };
        expect((await server.send(`POST ${mapsOf(namespace)}`, map, ROOT)).status).to.equal(201);
      }
    }
    const list = async (path: string, query: string) => (await server.get(`${path}?${OURS}&${query}`, ROOT)).body;
    const uids = ({ items }: { items: KubeObject[] }): (string | undefined)[] =>
      items.map(({ metadata }) => metadata.uid);
    const every = await list(ALL, "");
    expect(every.items).to.have.length(2 * NAMES.length);
    const inHalf = (which: 0 | 1) => every.items.filter((object: KubeObject) => halfOf(object) === which);
    for (const which of [0, 1] as const) {
      const half = await list(ALL, shard(HALVES[which]));
      expect(uids(half)).to.deep.equal(uids({ items: inHalf(which) }));
      expect(half.metadata.shardInfo).to.deep.equal({ selector: HALVES[which] });
      const paged: (string | undefined)[] = [];
      let token = "";
      do {
        const page = await list(ALL, `limit=5&continue=${token}&${shard(HALVES[which])}`);
        paged.push(...uids(page));
        token = page.metadata.continue ?? "";
      } while (token !== "");
      expect(paged).to.deep.equal(uids(half));
      await using watch = await server.watch(`${ALL}?${OURS}&${INITIAL}&${shard(HALVES[which])}`, ROOT);
      const events = (await watch.until(({ type }) => type === "BOOKMARK")).slice(0, -1);
      expect(uids({ items: events.map(({ object }) => object) })).to.deep.equal(uids(half));
      const before: KubeObject = half.items.find(({ metadata }: KubeObject) => metadata.namespace === "other");
      const { name = "" } = before.metadata;
      await server.send(`DELETE ${mapsOf("other")}/${name}`, undefined, ROOT);
      expect(label(await watch.next())).to.equal(`DELETED ${name}`);
    }
    const other = await list(ALL, shard(ofNamespace("other")));
    expect(other.items.map(({ metadata }: KubeObject) => metadata.namespace)).to.include("other");
    expect(new Set(other.items.map(({ metadata }: KubeObject) => metadata.namespace))).to.have.length(1);

    const { status } = await server.send(`DELETE ${mapsOf("default")}?${shard(HALVES[0])}`, undefined, ROOT);
    expect(status).to.equal(200);
    const left = (await list(mapsOf("default"), "")).items.map(({ metadata }: KubeObject) => metadata.name);
    const expected = inHalf(1).filter(({ metadata }: KubeObject) => metadata.namespace === "default");
    expect(left).to.deep.equal(expected.map(({ metadata }: KubeObject) => metadata.name));
  });
});
