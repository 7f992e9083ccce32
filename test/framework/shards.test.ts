// Lists, watches and collection deletes of a shard (KEP-5866), for every kind of storage.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import {
  allow,
  type Collection,
  defineVirtualWorkspace,
  merged,
  type ServedResource,
  view,
} from "@virtual-workspaces/framework";
import type { Scope, Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { readCbor } from "../../packages/framework/src/body/cbor/cbor-reader.ts";
import { Note } from "../_support/note.ts";
import { label, outcome, type PlainServer, startPlain } from "../_support/plain.ts";
import { HALVES, halfOf, namesIn, ofNamespace, shard } from "../_support/shards.ts";
import { labelOf, openWatch } from "../_support/web-socket.ts";

const ALL = "/services/notes/clusters/*/apis/test.dev/v1/notes";
const ROOT = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const META = "g=meta.k8s.io;v=v1";
type Notes = Collection<{ spec: { text?: string } }>;

const NAMES = Array.from({ length: 24 }, (_, at) => `note-${String(at).padStart(2, "0")}`);

/** Storages that show all notes of a collection. */
const STORAGES: Readonly<Record<string, (notes: Notes) => ServedResource>> = {
  "a collection": (notes) => Note.serve(notes),
  "a view": (notes) => Note.serve(view({ from: notes })),
  "merged sources": (notes) => Note.serve(merged({ sources: { notes, none: Note.collection() as Notes } })),
  "a storage that applies selectors, but no shards": (notes) => Note.serve(careless(notes).storage),
};

const READ_ONLY = new Set(["a view", "merged sources"]);

/** A storage like most API servers: it ignores shards. */
function careless(notes: Notes): { storage: Storage<never>; calls: string[] } {
  const calls: string[] = [];
  const objects = (scope: Scope): KubeObject[] => notes.in(scope.cluster === "*" ? "root" : scope.cluster).list();
  const storage: Storage<never> = {
    appliesSelectors: true,
    lifecycle: "storage",
    cache: () => notes.cache(),
    list: (scope, { shard: asked }) => {
      calls.push(`list ${asked ?? "all"}`);
      const metadata = { resourceVersion: "1", remainingItemCount: 7 };
      const list = { kind: "NoteList", apiVersion: "test.dev/v1", metadata, items: objects(scope) };
      return { body: Buffer.from(JSON.stringify(list)) };
    },
    delete: (scope, key, options) => {
      calls.push(`delete ${key.name}`);
      return notes.delete(scope, key, options);
    },
    deleteCollection: () => {
      calls.push("delete all");
      return { items: [] };
    },
  };
  return { storage, calls };
}

async function start(serve: (notes: Notes) => ServedResource = (notes) => Note.serve(notes)) {
  const notes = Note.collection() as Notes;
  const root = notes.in("root");
  for (const name of NAMES) root.set(name, { text: name });
  const server = await startPlain([
    defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      wildcard: true,
      authorize: () => allow(),
      resources: [serve(notes)],
    }),
  ]);
  const half = (which: 0 | 1): string[] => namesIn(root.list(), which);
  expect(half(0)).to.have.length.within(2, NAMES.length - 2);
  return { notes, root, server, half, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const names = ({ items }: { readonly items: readonly KubeObject[] }): string[] =>
  items.map(({ metadata }) => metadata.name ?? "");

describe("shardSelector", () => {
  for (const [kind, serve] of Object.entries(STORAGES)) {
    describe(`for ${kind}`, () => {
      it("lists the objects of the shard, with the selector and no number of remaining items", async () => {
        await using stage = await start(serve);
        for (const path of [ROOT, ALL])
          for (const which of [0, 1] as const) {
            const { body } = await stage.server.get(`${path}?${shard(HALVES[which])}`);
            expect(names(body)).to.deep.equal(stage.half(which));
            expect(body.metadata).to.have.all.keys("resourceVersion", "shardInfo");
            expect(body.metadata.shardInfo).to.deep.equal({ selector: HALVES[which] });
          }
        const { body } = await stage.server.get(ROOT);
        expect(names(body)).to.deep.equal(NAMES);
        expect(body.metadata).to.not.have.property("shardInfo");
      });

      it("watches the objects of the shard, from their first event to the last", async () => {
        await using stage = await start(serve);
        const { root, server } = stage;
        for (const which of [0, 1] as const) {
          const inside = stage.half(which);
          const [own = "", next = ""] = inside;
          const [other = ""] = stage.half(which === 0 ? 1 : 0);
          await using watch = await server.watch(`${ROOT}?${INITIAL}&${shard(HALVES[which])}`);
          const initial = await watch.until(({ type }) => type === "BOOKMARK");
          expect(initial.slice(0, -1).map(label)).to.deep.equal(inside.map((name) => `ADDED ${name}`));
          root.set(other, { text: "changed" });
          root.set(own, { text: "changed" });
          root.delete(other);
          root.delete(next);
          const [changed, deleted] = [await watch.next(), await watch.next()];
          expect([label(changed), label(deleted)]).to.deep.equal([`MODIFIED ${own}`, `DELETED ${next}`]);
          expect((deleted.object as unknown as { spec: object }).spec).to.deep.equal({ text: next });
          for (const name of [other, next]) root.set(name, { text: name });
        }
      });

      if (READ_ONLY.has(kind)) return;
      it("deletes the objects of the shard, and no others", async () => {
        await using stage = await start(serve);
        const [inside, outside] = [stage.half(0), stage.half(1)];
        const { status, body } = await stage.server.send(`DELETE ${ROOT}?${shard(HALVES[0])}`);
        expect([status, names(body)]).to.deep.equal([200, inside]);
        expect(body.metadata.shardInfo).to.deep.equal({ selector: HALVES[0] });
        expect(stage.root.list().map(({ metadata }) => metadata.name)).to.deep.equal(outside);
      });
    });
  }

  it("is given to a storage that lists itself, and its deletecollection gets no shard", async () => {
    let calls: string[] = [];
    await using stage = await start((notes) => {
      const made = careless(notes);
      calls = made.calls;
      return Note.serve(made.storage);
    });
    const inside = stage.half(0);
    await stage.server.get(`${ROOT}?${shard(HALVES[0])}`);
    await stage.server.get(ROOT);
    await stage.server.send(`DELETE ${ROOT}?${shard(HALVES[0])}`);
    expect(calls).to.deep.equal([
      `list ${HALVES[0]}`,
      "list all",
      `list ${HALVES[0]}`,
      ...inside.map((name) => `delete ${name}`),
    ]);
    await stage.server.send(`DELETE ${ROOT}`);
    expect(calls.at(-1)).to.equal("delete all");
  });

  it("holds on every page, and together with other selectors", async () => {
    await using stage = await start();
    const { server } = stage;
    const inside = stage.half(1);
    const seen: string[] = [];
    let token = "";
    do {
      const { status, body } = await server.get(`${ROOT}?limit=2&continue=${token}&${shard(HALVES[1])}`);
      expect(status).to.equal(200);
      expect(body.items).to.have.length.within(1, 2);
      expect(body.metadata).to.deep.include({ shardInfo: { selector: HALVES[1] } });
      expect(body.metadata).to.not.have.property("remainingItemCount");
      seen.push(...names(body));
      token = body.metadata.continue ?? "";
    } while (token !== "");
    expect(seen).to.deep.equal(inside);
    const [name = ""] = inside;
    const field = `fieldSelector=metadata.name%3D${name}`;
    expect(names((await server.get(`${ROOT}?${field}&${shard(HALVES[1])}`)).body)).to.deep.equal([name]);
    expect(names((await server.get(`${ROOT}?${field}&${shard(HALVES[0])}`)).body)).to.deep.equal([]);
  });

  it("selects by the namespace, which cluster-scoped objects do not have", async () => {
    await using stage = await start();
    const { body: all } = await stage.server.get(`${ROOT}?${shard(ofNamespace(""))}`);
    expect(names(all)).to.deep.equal(NAMES);
    const { body: none } = await stage.server.get(`${ROOT}?${shard(ofNamespace("default"))}`);
    expect(none.items).to.deep.equal([]);
  });

  it("holds in Tables, metadata and CBOR, whose lists name the selector too", async () => {
    await using stage = await start();
    const { server } = stage;
    const get = async (accept: string) =>
      (await server.get(`${ROOT}?${shard(HALVES[0])}`, { headers: { accept } })).body;
    const table = await get(`application/json;as=Table;${META}`);
    expect(table.rows.map(({ cells }: { cells: unknown[] }) => cells[0])).to.deep.equal(stage.half(0));
    const partial = await get(`application/json;as=PartialObjectMetadataList;${META}`);
    expect(names(partial)).to.deep.equal(stage.half(0));
    const response = await fetch(`${server.url}${ROOT}?${shard(HALVES[0])}`, {
      headers: { authorization: "Bearer alice", accept: "application/cbor" },
    });
    const cbor = readCbor(Buffer.from(await response.arrayBuffer())) as typeof partial;
    expect(names(cbor)).to.deep.equal(stage.half(0));
    for (const list of [table, partial, cbor])
      expect(list.metadata.shardInfo, list.kind).to.deep.equal({ selector: HALVES[0] });
  });

  it("holds in a watch over a WebSocket, and in one that resumes from a version", async () => {
    await using stage = await start();
    const { root, server } = stage;
    const { body } = await server.get(`${ROOT}?${shard(HALVES[0])}`);
    const [inside = ""] = stage.half(0);
    const [outside = ""] = stage.half(1);
    root.set(outside, { text: "changed" });
    root.set(inside, { text: "changed" });
    const path = `${ROOT}?watch=true&resourceVersion=${body.metadata.resourceVersion}&${shard(HALVES[0])}`;
    using socket = await openWatch(server.url, path);
    expect(labelOf(await socket.next())).to.equal(`MODIFIED ${inside}`);
    await using watch = await server.watch(path);
    expect(label(await watch.next())).to.equal(`MODIFIED ${inside}`);
  });

  it("shows an object that replaces another of its name in the shard of its own uid", async () => {
    await using stage = await start();
    const { root, server } = stage;
    const { body } = await server.get(ROOT);
    const [name = "", last = ""] = stage.half(0);
    const from = `watch=true&resourceVersion=${body.metadata.resourceVersion}`;
    await using watch = await server.watch(`${ROOT}?${from}&${shard(HALVES[0])}`);
    const expected: string[] = [];
    for (let before: 0 | 1 = 0, at = 0; at < 20; at++) {
      root.delete(name);
      const now = halfOf(root.set(name, { text: "new" }));
      if (before === 0) expected.push(`DELETED ${name}`);
      if (now === 0) expected.push(`ADDED ${name}`);
      before = now;
    }
    root.set(last, { text: "last" });
    const seen = await watch.until(({ type }) => type === "MODIFIED");
    expect(seen.map(label)).to.deep.equal([...expected, `MODIFIED ${last}`]);
  });

  it("is 400 for a list, a watch and a delete, if it is malformed", async () => {
    await using stage = await start();
    const [low] = HALVES;
    for (const [text, message] of [
      ["uid < 5", `unexpected "uid" at offset 0: use ${low}, several joined by ||`],
      [
        low.replace("0000000000000000", "0"),
        'bound "0x0": use 0x and 16 lower-case hexadecimal digits, such as 0x0000000000000000',
      ],
    ] as const) {
      const reject = async (server: PlainServer, call: `${string} /${string}`): Promise<void> => {
        const [status, reason, told] = outcome(await server.send(call));
        expect([status, reason], call).to.deep.equal([400, "BadRequest"]);
        expect(told).to.match(/^invalid shardSelector: /);
        expect(told).to.include(message);
      };
      await reject(stage.server, `GET ${ROOT}?${shard(text)}`);
      await reject(stage.server, `GET ${ROOT}?watch=true&${shard(text)}`);
      await reject(stage.server, `DELETE ${ROOT}?${shard(text)}`);
    }
    expect(stage.root.list()).to.have.length(NAMES.length);
    expect(names((await stage.server.get(`${ROOT}?shardSelector=`)).body)).to.deep.equal(NAMES);
  });
});
