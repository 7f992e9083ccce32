// Several sources as one collection: consistent about what it knows, whatever happens to each of them.
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  type Merged,
  type MergedOptions,
  merged,
  SOURCE_VERSION_ANNOTATION,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import type { Scope } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { FaultySource } from "../_support/faulty-source.ts";
import { Note } from "../_support/note.ts";
import { label, type PlainServer, startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";

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

/** Two sources, their merged view, and its server. `errors` are those that operators get. */
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

const scopeOf = (cluster: string): Scope => ({ cluster, namespace: "" }) as Scope;

const named = (name: string): string => `${ALL.replace("*", "root")}/${name}`;

describe("several sources", () => {
  it("form one collection: listed, in order, resumable, each object with its source's version", async () => {
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

  it("of plain clusters appear in their assigned logical clusters", async () => {
    const [east, west] = [source(), source()];
    east.objects.in("").set("x", { text: "east" });
    west.objects.in("").set("x", { text: "west" });
    const annotations = { "test.dev/from": "the west" };
    const placed = { e: { source: east, cluster: "east" }, w: { source: west, cluster: "west", annotations } };
    const all = merged({ sources: placed });
    await using server = await startPlain(served(all));
    const { body } = await server.get(ALL);
    expect(
      body.items.map(
        (item: { metadata: { annotations: Record<string, string> } }) => item.metadata.annotations["kcp.io/cluster"],
      ),
    ).to.deep.equal(["east", "west"]);
    expect(body.items[0].metadata.annotations).to.not.have.property("test.dev/from");
    expect(body.items[1].metadata.annotations).to.include(annotations);
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

  it("with the same object show one, of the first source: a move is MODIFIED", async () => {
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
    // Collections give each object its own uid: these are different objects of the same name.
    const told = ["ADDED", "DELETED", "ADDED", "DELETED", "ADDED", "DELETED", "ADDED", "DELETED"];
    expect(await watch.take(8)).to.deep.equal(told.map((type) => `${type} x`));
  });

  it("show an object that moves with the same uid as MODIFIED", async () => {
    const { a, b, server } = await start();
    await using _server = server;
    const move = (to: FaultySource<Content>, text: string): void => {
      const metadata = { name: "x", uid: "u1" };
      to.objects.create(scopeOf("root"), { apiVersion: "test.dev/v1", kind: "Note", metadata, spec: { text } });
    };
    await using watch = await server.watch(`${ROOT}?watch=true`);
    move(b, "b");
    move(a, "a");
    b.objects.in("root").delete("x");
    move(b, "b again");
    a.objects.in("root").delete("x");
    expect(await watch.take(3)).to.deep.equal(["ADDED x", "MODIFIED x", "MODIFIED x"]);
    expect((await server.get(`${ROOT}/x`)).body.spec).to.deep.equal({ text: "b again" });
  });

  it("can be added and removed: removal is DELETED, except for objects of another; a replacement only changes what differs", async () => {
    const { a, b, all, server } = await start();
    await using _server = server;
    const c = source();
    a.objects.in("root").set("one", {});
    b.objects.in("root").set("two", {});
    c.objects.in("root").set("three", {});
    await using watch = await server.watch(`${ALL}?${INITIAL}`);
    await watch.take(3);
    all.setSource("c", c);
    expect(await watch.take(1)).to.deep.equal(["ADDED three"]);
    expect(all.deleteSource("c")).to.equal(true);
    expect(all.deleteSource("c")).to.equal(false);
    expect(await watch.take(1)).to.deep.equal(["DELETED three"]);
    b.objects.in("root").set("four", {});
    expect(await watch.take(1)).to.deep.equal(["ADDED four"]);
    const anew = new FaultySource<Content>(b.objects);
    anew.break("down");
    all.setSource("b", anew);
    await until(() => anew.asked.cache > 1);
    expect(await names(server), "kept until the new one has answered").to.deep.equal(["four", "one", "two"]);
    b.objects.in("root").delete("two");
    anew.mend();
    expect(await watch.take(1)).to.deep.equal(["DELETED two"]);
    expect(() => merged<Content>({ sources: { a } }).setSource("b", b)).to.throw("set `shareKey` to add sources");
  });
});

describe("a failing source among several", () => {
  for (const fault of ["down", "hung"] as const) {
    it(`(${fault}) is named and retried; its objects stay, those of the others are served`, async () => {
      const { a, b, all, errors, server } = await start();
      await using _server = server;
      a.objects.in("root").set("one", {});
      b.objects.in("root").set("two", {});
      await using watch = await server.watch(`${ALL}?${INITIAL}`);
      await watch.take(3);
      expect(all.conditions.map(({ status, reason }) => [status, reason])).to.deep.equal([
        ["True", "Connected"],
        ["True", "Connected"],
      ]);
      b.break(fault);
      b.objects.in("root").delete("two");
      b.objects.in("root").set("four", {});
      a.objects.in("root").set("three", {});
      expect(await watch.take(1)).to.deep.equal(["ADDED three"]);
      const { body, headers } = await server.get(ALL);
      expect(body.items).to.have.length(3);
      expect(headers["warning"]).to.match(
        /^299 - "source b has not been reachable since 20\d\d-\S+Z: its objects are as of then"$/,
      );
      const [first, second] = all.conditions;
      expect(first).to.include({ source: "a", status: "True" });
      expect(second).to.include({ source: "b", type: "Reachable", status: "False", reason: "Unreachable" });
      expect(second?.message).to.match(fault === "down" ? /ECONNREFUSED/ : /no answer within 50 ms/);
      expect(errors[0]).to.match(/^b: Error: /);
      const before = performance.now();
      await server.get(ALL);
      expect(performance.now() - before, "waited for once in a spell").to.be.below(45);
      b.mend();
      expect((await watch.take(2)).sort()).to.deep.equal(["ADDED four", "DELETED two"]);
      await until(() => all.conditions[1]?.status === "True");
      expect((await server.get(ALL)).headers["warning"]).to.equal(undefined);
    });

    it(`(${fault}) from the beginning delays lists, which would otherwise lack its objects`, async () => {
      const { a, b, all, server } = await start();
      await using _server = server;
      a.objects.in("root").set("one", {});
      b.objects.in("root").set("two", {});
      b.break(fault);
      for (const path of [ALL, `${ALL}?resourceVersion=0`, `${ALL}?${INITIAL}`, named("one"), named("two")]) {
        const { status, body } = await server.get(path);
        expect([status, body.message], path).to.deep.equal([
          503,
          "source b of notes cannot be reached for now: try again",
        ]);
      }
      expect(() => all.ready(), "the rest of the server is not to blame").not.to.throw();
      b.mend();
      await until(async () => (await server.get(ALL)).status === 200);
      expect((await server.get(ALL)).body.items).to.have.length(2);
      b.break(fault);
      expect((await server.get(ALL)).body.items, "what was seen stays").to.have.length(2);
    });

    it(`(${fault}) from the beginning joins later, where lists may always be partial`, async () => {
      const { a, b, all, server } = await start({ partial: "always" });
      await using _server = server;
      a.objects.in("root").set("one", {});
      b.objects.in("root").set("two", {});
      b.break(fault);
      const { body, headers } = await server.get(ALL);
      expect(body.items).to.have.length(1);
      expect(headers["warning"]).to.match(/source b has not been reachable since \S+: its objects are missing/);
      // Whether the object exists is unknown.
      expect((await server.get(named("two"))).status).to.equal(503);
      expect((await server.get(named("one"))).status).to.equal(200);
      await using watch = await server.watch(`${ALL}?${INITIAL}`);
      await watch.take(2);
      b.mend();
      expect(await watch.take(1)).to.deep.equal(["ADDED two"]);
      await until(async () => (await server.get(named("two"))).status === 200);
      expect((await server.get(named("three"))).status).to.equal(404);
      await until(() => all.conditions[1]?.status === "True");
    });
  }

  it("sends only differences when it returns without its history", async () => {
    const { b, server } = await start();
    await using _server = server;
    for (const name of ["one", "two", "three"]) b.objects.in("root").set(name, {});
    await using watch = await server.watch(`${ALL}?${INITIAL}`);
    await watch.take(4);
    b.break("down");
    await server.get(ALL);
    b.objects.in("root").delete("one");
    b.objects.in("root").set("two", { text: "changed" });
    b.mend({ lost: true });
    b.objects.in("root").set("last", {});
    const events = await watch.until(({ object }) => object.metadata.name === "last");
    expect(events.map(label).sort()).to.deep.equal(["ADDED last", "DELETED one", "MODIFIED two"]);
  });

  it("with 403 hides its objects: they are DELETED, and ADDED when access returns", async () => {
    const { a, b, all, server } = await start();
    await using _server = server;
    a.objects.in("root").set("one", {});
    b.objects.in("root").set("two", {});
    await using watch = await server.watch(`${ALL}?${INITIAL}`);
    await watch.take(3);
    b.break("forbidden");
    const { body, headers } = await server.get(ALL);
    expect(body.items).to.have.length(1);
    expect(headers["warning"]).to.include("access to source b is forbidden: its objects are left out");
    expect(await watch.take(1)).to.deep.equal(["DELETED two"]);
    expect(all.conditions[1]).to.include({ status: "False", reason: "Forbidden" });
    // An open stream still sends it.
    b.objects.in("root").set("secret", {});
    a.objects.in("root").set("marker", {});
    expect(await watch.take(1)).to.deep.equal(["ADDED marker"]);
    b.mend();
    expect((await watch.take(2)).sort()).to.deep.equal(["ADDED secret", "ADDED two"]);
    a.break("forbidden");
    b.break("forbidden");
    expect((await server.get(ALL)).status).to.equal(403);
    expect((await server.get(`${ALL}?resourceVersion=0`)).body.items).to.deep.equal([]);
  });

  it("with all others is retried by the next reader, though no source was ever loaded", async () => {
    const { a, b, server } = await start();
    await using _server = server;
    a.objects.in("root").set("one", {});
    a.break("forbidden");
    b.break("forbidden");
    expect((await server.get(ALL)).status).to.equal(403);
    a.mend();
    expect(await names(server)).to.eql(["one"]);
  });

  it("with all others is 503, also for a list that accepts any version, until first loaded", async () => {
    const { a, b, all, server } = await start({ partial: "always" });
    await using _server = server;
    a.break("down");
    b.break("hung");
    for (const query of ["", "?resourceVersion=0"]) {
      const { status, body } = await server.get(ALL + query);
      expect([status, body.message]).to.deep.equal([
        503,
        "source a and 1 more of notes cannot be reached for now: try again",
      ]);
    }
    expect(all.ready).to.throw("sources of notes cannot be reached: a, b");
    a.mend();
    await until(() => all.conditions[0]?.status === "True");
    expect(() => all.ready()).not.to.throw();
    expect((await server.get(ALL)).status).to.equal(200);
  });

  it("fails responses that must not be partial, and is named in them", async () => {
    const { a, b, all, server } = await start({ partial: "never" });
    await using _server = server;
    a.objects.in("root").set("one", {});
    await using watch = await server.watch(`${ALL}?${INITIAL}`);
    await watch.take(2);
    b.break("down");
    const { status, body } = await server.get(ALL);
    expect([status, body.message]).to.deep.equal([503, "source b of notes cannot be reached for now: try again"]);
    expect(all.ready).to.throw("sources of notes cannot be reached: b");
    a.objects.in("root").delete("one");
    expect(await watch.take(1), "what is known is told").to.deep.equal(["DELETED one"]);
    b.mend();
    await until(() => all.conditions[1]?.status === "True");
    expect((await server.get(ALL)).status).to.equal(200);
  });

  it("is also named by a view of the merged sources", async () => {
    const { a, b, all, server: _unused } = await start();
    await using _server = _unused;
    const texts = view({ from: all, select: ({ spec }) => spec.text !== undefined });
    await using server = await startPlain([
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        wildcard: true,
        authorize: () => allow(),
        resources: [Note.serve(texts)],
      }),
    ]);
    a.objects.in("root").set("one", { text: "x" });
    b.objects.in("root").set("two", { text: "x" });
    b.objects.in("root").set("three", {});
    await using watch = await server.watch(`${ROOT}?${INITIAL}`);
    expect(await watch.take(3)).to.deep.equal(["ADDED one", "ADDED two", "BOOKMARK"]);
    b.break("down");
    expect((await server.get(ROOT)).headers["warning"]).to.match(/source b has not been reachable/);
    b.objects.in("root").set("two", {});
    b.mend({ lost: true });
    expect(await watch.take(1)).to.deep.equal(["DELETED two"]);
  });
});

describe("incompatible sources", () => {
  it("are rejected: none, of other kinds, in malformed logical clusters", () => {
    const Other = defineResource({ group: "test.dev", version: "v1", kind: "Other", scope: "Cluster" });
    const one = source();
    expect(() => merged({ sources: {} })).to.throw("merged: no source yet: set `resource` to the kind of the sources");
    expect(() => merged<Content>({ sources: { one, other: Other.collection() as never } })).to.throw(
      "merged notes: source other is of another kind or version: others.test.dev/v1",
    );
    expect(() => merged({ sources: { one: { source: one, cluster: "A/b" } } })).to.throw(
      "is not a logical cluster name",
    );
  });
});
