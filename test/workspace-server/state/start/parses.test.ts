// A start over many workspaces in which nothing has changed: few objects are parsed, and none twice in a row.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { copyWorkspaces } from "../../../../bench/_servers/workspace-copies.ts";
import { until } from "../../../_support/until.ts";
import { ClusterClient } from "../../support/objects.ts";
import { startWorkspaces } from "../../support/workspaces.ts";
import { make } from "./support/tree.ts";

/** More bindings than parsed objects are kept. */
const COUNT = 600;
const SAMPLE = "w-sample-0000000";
const URL = "https://workspaces.example:6443";
const urls = () => ({ baseURL: URL, externalURL: URL, virtualWorkspaceURL: URL });

/** Counts the parsed objects of copies from now on. */
function countParses(): Disposable & { readonly counts: Map<string, number> } {
  const { parse } = JSON;
  const counts = new Map<string, number>();
  JSON.parse = (text, reviver) => {
    const value: unknown = parse(text, reviver);
    const kind = /^\{"apiVersion":"[^"]+","kind":"(\w+)"/.exec(text)?.[1];
    if (kind !== undefined && /"[cw]0{10}/.test(text)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return value;
  };
  return {
    counts,
    [Symbol.dispose]: () => {
      JSON.parse = parse;
    },
  };
}

/** Fills a store with a workspace and its copies. @returns the logical cluster of the first */
async function makeCopies(store: Store): Promise<string> {
  // Another store, since the collections of a server watch it for a minute longer.
  await using first = memoryStore();
  await using server = await startWorkspaces(first, { urls });
  const cluster = await make(server, SAMPLE);
  const own = new ClusterClient(server, cluster);
  for (const namespace of ["default", "kube-system"])
    for (const name of ["serviceaccounts/default", "configmaps/kube-root-ca.crt"])
      await own.until(`/api/v1/namespaces/${namespace}/${name}`, ({ status }) => status === 200);
  expect(cluster).to.have.length(16);
  const { entries } = await first.range({ from: "", to: "\u{10FFFF}" });
  for (const { key, value } of entries)
    await store.commit({ conditions: [], operations: [{ type: "put", key, value }] });
  await copyWorkspaces(store, { cluster, name: SAMPLE }, { first: 0, count: COUNT });
  return cluster;
}

describe("a start over workspaces that have not changed", function () {
  this.timeout(60_000);

  it("writes nothing, and parses each object once when it is read and once when it is compared", async () => {
    await using store = memoryStore();
    const cluster = await makeCopies(store);
    // Its return shows that the feed has listed all objects.
    const lost = `/serviceaccounts/${cluster}/default/default`;
    await store.commit({ conditions: [], operations: [{ type: "delete", key: lost }] });
    const copies = { from: "/configmaps/c0", to: "/configmaps/c1" };
    const before = (await store.range(copies)).entries.map(({ modRevision }) => modRevision);
    expect(before).to.have.length(2 * COUNT);
    using parses = countParses();
    await using server = await startWorkspaces(store, { urls });
    expect((await server.get("/clusters/*/api/v1/configmaps?limit=1", { user: "root" })).status).to.equal(200);
    await until(async () => (await store.get(lost)) !== undefined);
    const each = (kind: string): number => (parses.counts.get(kind) ?? 0) / COUNT;
    expect([each("Namespace"), each("ServiceAccount"), each("ConfigMap")]).to.deep.equal([0, 0, 0]);
    expect(each("APIBinding")).to.be.within(2, 4.1);
    for (const kind of ["Workspace", "LogicalCluster", "ClusterRoleBinding"]) expect(each(kind)).to.be.at.most(2.1);
    expect((await store.range(copies)).entries.map(({ modRevision }) => modRevision)).to.deep.equal(before);
  });
});
