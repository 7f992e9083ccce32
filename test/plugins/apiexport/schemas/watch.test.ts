// Watches of bound schemas, which change with the bindings and exports of a workspace.
import { expect } from "chai";
import { MERGE } from "../../../_support/patches.ts";
import { label, type WatchEvent, type WatchStream } from "../../../_support/plain.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, exportOf, schemaOf } from "../../../workspace-server/bindings/support/shard.ts";
import { makeWorkspace } from "../../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer, isOfTests, SCHEMAS, schemasIn } from "../support/consumer.ts";
import { Provider, startViewed } from "../support/provider.ts";

const root = { user: "root" };
const WIDGETS = "v1.widgets.example.dev";
const GADGETS = "v1.gadgets.example.dev";

/** Returns the next events of these tests' schemas, as `TYPE name`; versions must grow. */
async function taken(watch: WatchStream, count: number): Promise<string[]> {
  const seen: WatchEvent[] = [];
  while (seen.length < count) {
    const event = await watch.next();
    if (isOfTests(event.object.metadata?.name ?? "")) seen.push(event);
    else if (event.type !== "ADDED" && event.type !== "BOOKMARK") throw new Error(`unexpected ${label(event)}`);
  }
  const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
  expect(versions).to.deep.equal(versions.toSorted((one, other) => one - other));
  return seen.map(label);
}

describe("watches of bound schemas", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  let gadgets: Provider;

  before(async () => {
    server = await startViewed();
    provider = await Provider.make(server);
    gadgets = new Provider(server, await makeWorkspace(server, "gadgets"), "gadgets");
    for (const [plural, kind] of [
      ["gadgets", "Gadget"],
      ["sprockets", "Sprocket"],
    ])
      await gadgets.post(gadgets.cluster, SCHEMAS, schemaOf("v1", { plural, kind }));
    await gadgets.post(gadgets.cluster, `${APIS}/apiexports`, exportOf("gadgets", [GADGETS]));
  });

  after(() => server[Symbol.asyncDispose]());

  const exported = (schemas: readonly string[]) =>
    server.send(
      `PATCH /clusters/${gadgets.cluster}${APIS}/apiexports/gadgets`,
      { spec: (exportOf("gadgets", schemas) as { spec: object }).spec },
      { ...MERGE, ...root },
    );

  it("report the schemas of new and deleted bindings, also when resumed from an earlier version", async () => {
    const consumer = await Consumer.make(server, "comes-and-goes");
    const { resourceVersion } = (await consumer.get(SCHEMAS)).body.metadata;
    const path = `${SCHEMAS}?watch=true&resourceVersion=${resourceVersion}`;
    await using watch = await consumer.view().watch(path);
    await using other = await consumer.view("/clusters/*").watch(`${path}&fieldSelector=metadata.name%3D${GADGETS}`);
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    await consumer.bind("gadgets", `${gadgets.cluster}:gadgets`);
    await consumer.unbind("widgets");
    const story = [`ADDED ${WIDGETS}`, `ADDED ${GADGETS}`, `DELETED ${WIDGETS}`];
    expect(await taken(watch, 3)).to.deep.equal(story);
    expect(await taken(other, 1)).to.deep.equal([`ADDED ${GADGETS}`]);
    await using again = await consumer.view().watch(path);
    expect(await taken(again, 3)).to.deep.equal(story);
    const past = await consumer.get(`${SCHEMAS}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    expect(schemasIn(past)).to.deep.equal([]);
  });

  it("report changes of an export, in every workspace that has bound it", async () => {
    const consumers = [await Consumer.make(server, "follower-1"), await Consumer.make(server, "follower-2")];
    await using watches = new AsyncDisposableStack();
    const open: WatchStream[] = [];
    for (const consumer of consumers) {
      await consumer.bind("gadgets", `${gadgets.cluster}:gadgets`);
      open.push(watches.use(await consumer.view().watch(`${SCHEMAS}?watch=true`)));
    }
    for (const watch of open) expect(await taken(watch, 1)).to.deep.equal([`ADDED ${GADGETS}`]);
    expect((await exported([GADGETS, "v1.sprockets.example.dev"])).status).to.equal(200);
    for (const watch of open) expect(await taken(watch, 1)).to.deep.equal(["ADDED v1.sprockets.example.dev"]);
    expect((await exported(["v1.sprockets.example.dev", "v2.gadgets.example.dev"])).status).to.equal(200);
    for (const watch of open) expect(await taken(watch, 1)).to.deep.equal([`DELETED ${GADGETS}`]);
    // A schema that is named before it exists appears with its creation.
    await gadgets.post(gadgets.cluster, SCHEMAS, schemaOf("v2", { plural: "gadgets", kind: "Gadget" }));
    for (const watch of open) expect(await taken(watch, 1)).to.deep.equal(["ADDED v2.gadgets.example.dev"]);
    expect((await exported([GADGETS])).status).to.equal(200);
    for (const watch of open)
      expect((await taken(watch, 3)).toSorted()).to.deep.equal([
        `ADDED ${GADGETS}`,
        "DELETED v1.sprockets.example.dev",
        "DELETED v2.gadgets.example.dev",
      ]);
  });

  it("report changes of a schema itself", async () => {
    const consumer = await Consumer.make(server, "schemas");
    const path = `/clusters/${provider.cluster}${SCHEMAS}/${WIDGETS}` as const;
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    await using watch = await consumer.view().watch(`${SCHEMAS}?watch=true`);
    await using labelled = await consumer.view().watch(`${SCHEMAS}?watch=true&labelSelector=stage%3Dold`);
    expect(await taken(watch, 1)).to.deep.equal([`ADDED ${WIDGETS}`]);
    const patch = (stage: string) =>
      server.send(`PATCH ${path}`, { metadata: { labels: { stage } } }, { ...MERGE, ...root });
    expect((await patch("old")).status).to.equal(200);
    expect(await taken(watch, 1)).to.deep.equal([`MODIFIED ${WIDGETS}`]);
    expect(await taken(labelled, 1)).to.deep.equal([`ADDED ${WIDGETS}`]);
    expect((await patch("new")).status).to.equal(200);
    expect(await taken(labelled, 1)).to.deep.equal([`DELETED ${WIDGETS}`]);
    expect((await server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
    await gadgets.post(provider.cluster, SCHEMAS, schemaOf("v1"));
    expect(await taken(watch, 3)).to.deep.equal([`MODIFIED ${WIDGETS}`, `DELETED ${WIDGETS}`, `ADDED ${WIDGETS}`]);
  });

  it("mark the end of the initial list", async () => {
    const consumer = await Consumer.make(server, "initial");
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
    const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    await using watch = await consumer.view().watch(`${SCHEMAS}?${query}`);
    const seen = await watch.until(({ type }) => type === "BOOKMARK");
    expect(seen.map(label)).to.include(`ADDED ${WIDGETS}`);
    const [annotations, version] = [
      seen.at(-1)?.object.metadata.annotations,
      seen.at(-1)?.object.metadata.resourceVersion,
    ];
    expect(annotations).to.deep.equal({ "k8s.io/initial-events-end": "true" });
    await using next = await consumer.view().watch(`${SCHEMAS}?watch=true&resourceVersion=${version}`);
    await consumer.unbind("widgets");
    expect(await taken(next, 1)).to.deep.equal([`DELETED ${WIDGETS}`]);
  });

  it("answer 410 for versions that are too old or unknown", async () => {
    const consumer = await Consumer.make(server, "versions");
    for (const version of ["1", "12345678"]) {
      await using watch = await consumer.view().watch(`${SCHEMAS}?watch=true&resourceVersion=${version}`);
      expect((await watch.next()).object.code, version).to.equal(410);
      expect((await consumer.get(`${SCHEMAS}?resourceVersion=${version}&resourceVersionMatch=Exact`)).status).to.equal(
        410,
      );
    }
  });

  it("agree with lists, which contain new bindings at once", async () => {
    const consumer = await Consumer.make(server, "at-once");
    for (let round = 0; round < 15; round += 1) {
      await consumer.bind("widgets", `${provider.cluster}:widgets`);
      expect(schemasIn(await consumer.get(SCHEMAS)), `round ${round}`).to.deep.equal([WIDGETS]);
      await consumer.unbind("widgets");
      await untilAnswer(
        () => server.get(`/clusters/${consumer.cluster}${APIS}/apibindings/widgets`, root),
        ({ status }) => status === 404,
      );
      expect(schemasIn(await consumer.get(SCHEMAS)), `round ${round}`).to.deep.equal([]);
    }
  });
});
