// Several sources as one collection: truthful about what it knows, whatever becomes of each of them.
import {
  allow,
  defineVirtualWorkspace,
  type Merged,
  type MergedOptions,
  merged,
  SOURCE_VERSION_ANNOTATION,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { FaultySource } from "../_support/faulty-source.ts";
import { Note } from "../_support/note.ts";
import { label, type PlainServer, startPlain } from "../_support/plain.ts";

const ALL = "/services/notes/clusters/*/apis/test.dev/v1/notes";
const ROOT = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
type Content = { spec: { text?: string } };

const source = (): FaultySource<Content> => new FaultySource<Content>(Note.collection());

function served(from: Merged<Content>): VirtualWorkspace[] {
  return [
    defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      ready: from.ready,
      resources: [Note.serve(from)],
    }),
  ];
}

/** Two sources, what is made of them, and a server of it. `errors` are those that operators are told. */
async function start(options: Partial<MergedOptions<Content>> = {}) {
  const [a, b] = [source(), source()];
  const errors: string[] = [];
  const all = merged<Content>({
    sources: { a, b },
    shareKey: () => "",
    patience: 50,
    onError: (error, name) => errors.push(`${name}: ${String(error)}`),
    ...options,
  });
  return { a, b, all, errors, server: await startPlain(served(all)) };
}

async function names(server: PlainServer, path = ALL): Promise<string[]> {
  const { body } = await server.get(path);
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

/** Waits until it is so. */
async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("several sources", () => {
  it("are one collection: listed, told in order, resumable, each object with its source's version", async () => {
    const { a, b, server } = await start();
    await using _server = server;
    const one = a.objects.in("root").set("one", { text: "a" });
    b.objects.in("other").set("two", {});
    const { body } = await server.get(ALL);
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).to.deep.equal(["two", "one"]);
    expect(body.items[1].metadata.annotations).to.deep.equal({
      "kcp.io/cluster": "root",
      [SOURCE_VERSION_ANNOTATION]: one.metadata.resourceVersion,
    });
    expect(body.items[1].metadata.resourceVersion).not.to.equal(one.metadata.resourceVersion);
    expect(await names(server, ROOT)).to.deep.equal(["one"]);
    await using watch = await server.watch(`${ALL}?${INITIAL}`);
    expect(await watch.take(3)).to.deep.equal(["ADDED two", "ADDED one", "BOOKMARK"]);
    b.objects.in("root").set("three", {});
    a.objects.in("root").set("one", { text: "b" });
    b.objects.in("other").delete("two");
    const events = await watch.until(({ type }) => type === "DELETED");
    expect(events.map(label)).to.deep.equal(["ADDED three", "MODIFIED one", "DELETED two"]);
    await using resumed = await server.watch(
      `${ALL}?watch=true&resourceVersion=${events[0]?.object.metadata.resourceVersion}`,
    );
    expect(await resumed.take(2)).to.deep.equal(["MODIFIED one", "DELETED two"]);
    const foreign = await server.watch(
      `${ALL}?watch=true&resourceVersion=${one.metadata.resourceVersion?.slice(0, -2)}`,
    );
    expect(label(await foreign.next())).to.equal("ERROR 410");
  });

  it("of plain clusters are in the logical clusters that they are given", async () => {
    const [east, west] = [source(), source()];
    east.objects.in("").set("x", { text: "east" });
    west.objects.in("").set("x", { text: "west" });
    const all = merged({ sources: { e: { source: east, cluster: "east" }, w: { source: west, cluster: "west" } } });
    await using server = await startPlain(served(all));
    const { body } = await server.get(ALL);
    expect(
      body.items.map(
        (item: { metadata: { annotations: Record<string, string> } }) => item.metadata.annotations["kcp.io/cluster"],
      ),
    ).to.deep.equal(["east", "west"]);
    const asked = west.asked.confirm;
    expect((await server.get(`${ALL.replace("*", "east")}/x`)).body.spec).to.deep.equal({ text: "east" });
    expect(west.asked.confirm, "another cluster's source is not asked").to.equal(asked);
    await using watch = await server.watch(`${ALL}?${INITIAL}`);
    await watch.take(3);
    west.objects.in("").delete("x");
    const event = await watch.next();
    expect(label(event)).to.equal("DELETED x");
    expect(event.object.metadata.annotations?.["kcp.io/cluster"]).to.equal("west");
  });

  it("that have the same object show one, that of the source which stands first: a move is MODIFIED", async () => {
    const { a, b, server } = await start();
    await using _server = server;
    const text = async (): Promise<unknown> => (await server.get(`${ROOT}/x`)).body.spec?.text;
    await using watch = await server.watch(`${ROOT}?watch=true`);
    b.objects.in("root").set("x", { text: "b" });
    expect(await text()).to.equal("b");
    a.objects.in("root").set("x", { text: "a" });
    expect(await text()).to.equal("a");
    b.objects.in("root").set("x", { text: "unseen" });
    expect(await text()).to.equal("a");
    a.objects.in("root").delete("x");
    expect(await text()).to.equal("unseen");
    a.objects.in("root").set("x", { text: "back" });
    b.objects.in("root").delete("x");
    a.objects.in("root").delete("x");
    // Collections give each object a uid of its own: these are others of the same name.
    const told = ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED", "DELETED", "ADDED", "DELETED"];
    expect(await watch.take(8)).to.deep.equal(told.map((type) => `${type} x`));
  });
});
