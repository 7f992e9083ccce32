// The storage contract (packages/framework/src/storage.ts), streams: changes, progress, lost history, failures, and which
// callers share a stream.
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  type ObjectOf,
  type ServerOptions,
} from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { FakeSource, type FakeSourceOptions } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { label, type PlainServer, startPlain, type WatchStream } from "../_support/plain.ts";
import { until } from "../_support/until.ts";

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: { type: "object", properties: { size: { type: "integer" } } },
});
type Content = { spec: { readonly size?: number } };

const ALL = "/services/things/clusters/root/apis/example.dev/v1/things";
const A = { namespace: "here", name: "a" };
const B = { namespace: "here", name: "b" };

interface Setup extends FakeSourceOptions, Partial<ServerOptions> {
  /** Parts of the storage to replace or add. */
  readonly storage?: Partial<Storage<ObjectOf<Content>>>;
  /** Called on each authorized request. */
  readonly onRequest?: () => void;
}

/** Starts a source with the object `a`, and a server for it. */
async function start({
  storage,
  onRequest,
  encoded,
  head,
  ...options
}: Setup = {}): Promise<PlainServer & { source: FakeSource<Content> }> {
  const source = new FakeSource(Thing, {
    ...(encoded === undefined ? {} : { encoded }),
    ...(head === undefined ? {} : { head }),
  });
  source.set(A, { spec: { size: 1 } });
  const view = defineVirtualWorkspace({
    name: "things",
    path: "/clusters/:cluster",
    authorize: () => {
      onRequest?.();
      return allow();
    },
    resources: [Thing.serve({ ...source.storage, ...storage })],
  });
  return { ...(await startPlain([view], options)), source };
}

/** Opens a watch that has received the current object. */
async function watching(server: PlainServer, query = "", user: "alice" | "bob" = "alice"): Promise<WatchStream> {
  const watch = await server.watch(`${ALL}?watch=true${query}`, { user });
  expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
  return watch;
}

/** Repeats fresh lists until `is` holds for the answer. */
async function settled(server: PlainServer, is: () => boolean): Promise<void> {
  for (let tries = 0; !is(); tries++) {
    if (tries === 2000) throw new Error("it did not settle");
    await server.get(`${ALL}?resourceVersion=0`);
  }
}

for (const encoded of [false, true]) {
  describe(`a source of ${encoded ? "bytes" : "objects"}`, () => {
    it("sends its changes, and deletions with the last state and the version of the deletion", async () => {
      await using server = await start({ encoded });
      await using watch = await watching(server);
      server.source.set(B);
      server.source.set(A, { spec: { size: 2 } });
      server.source.delete(A);
      const told = await watch.until(({ type }) => type === "DELETED");
      expect(told.map(label)).to.deep.equal(["ADDED b", "MODIFIED a", "DELETED a"]);
      expect(told[2]?.object).to.deep.include({ spec: { size: 2 } });
      expect(told[2]?.object.metadata?.resourceVersion).to.equal(server.source.version);
      const { body } = await server.get(ALL);
      expect(body.items.map((item: ObjectOf<Content>) => item.metadata.name)).to.deep.equal(["b"]);
    });

    it("deletes an object where it was set, even without naming its logical cluster", async () => {
      await using server = await start({ encoded });
      server.source.delete(A);
      expect((await server.get(ALL)).body.items).to.deep.equal([]);
    });
  });
}

describe("a source's progress", () => {
  it("becomes bookmarks, from which a watch resumes", async () => {
    await using server = await start({ bookmarkEvery: 20 });
    await using watch = await watching(server, "&allowWatchBookmarks=true");
    server.source.progress();
    const { version } = server.source;
    const told = await watch.until(
      ({ type, object }) => type === "BOOKMARK" && object.metadata?.resourceVersion === version,
    );
    expect(told.every(({ type }) => type === "BOOKMARK")).to.equal(true);
    await using resumed = await server.watch(`${ALL}?watch=true&resourceVersion=${version}`);
    server.source.set(B);
    expect(await resumed.take(1)).to.deep.equal(["ADDED b"]);
  });

  it("is found by listing again when it is not reported, for fresh lists and watches", async () => {
    await using server = await start();
    await using _watch = await watching(server);
    server.source.progress({ told: false });
    const { status, body } = await server.get(ALL);
    expect([status, body.metadata.resourceVersion]).to.deep.equal([200, server.source.version]);
    server.source.progress({ told: false });
    await using fresh = await server.watch(
      `${ALL}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    const events = await fresh.until(({ type }) => type === "BOOKMARK");
    expect(events.at(-1)?.object.metadata.resourceVersion).to.equal(server.source.version);
  });
});

describe("a source that has lost its history", () => {
  it("is listed again, and open watches end with 410", async () => {
    await using server = await start();
    await using watch = await watching(server);
    server.source.forget(() => server.source.delete(A));
    const [error] = await watch.rest();
    expect([error?.type, error?.object.code, error?.object.reason]).to.deep.equal(["ERROR", 410, "Expired"]);
    expect((await server.get(ALL)).body.items).to.deep.equal([]);
    expect(server.source.counts.list).to.equal(2);
  });

  it("does not continue an earlier version", async () => {
    await using server = await start();
    await using watch = await watching(server);
    server.source.forget(() => server.source.set(B));
    await watch.rest();
    await using resumed = await server.watch(`${ALL}?watch=true&resourceVersion=1001`);
    expect((await resumed.rest()).map(label)).to.deep.equal(["ERROR 410"]);
  });

  it("may report it by throwing a 410", async () => {
    let thrown = 0;
    await using server = await start({
      storage: {
        async *changes(_scope, _after, { signal }) {
          if (thrown++ === 0) throw ApiError.expired("compacted");
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        },
      },
    });
    await server.get(ALL);
    await settled(server, () => server.source.counts.list === 2);
    expectFault(/compacted/);
  });
});

describe("a stream that ends", () => {
  it("is reopened at its last version, without an effect on watches", async () => {
    await using server = await start();
    await using watch = await watching(server);
    server.source.set(B);
    expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    server.source.end();
    await settled(server, () => server.source.counts.changes === 2);
    server.source.set(A);
    expect(await watch.take(1)).to.deep.equal(["MODIFIED a"]);
    expect(server.source.asked.map(({ after }) => after)).to.deep.equal(["1001", "1002"]);
    expect(server.source.counts.list).to.equal(1);
  });
});

describe("a source that fails", () => {
  it("answers fresh reads with its error, others from the cache, and keeps watches open", async () => {
    await using server = await start();
    await using watch = await watching(server);
    server.source.break(ApiError.serviceUnavailable("the source is down", 1));
    const fresh = await server.get(ALL);
    expect([fresh.status, fresh.headers["retry-after"], fresh.body.message]).to.deep.equal([
      503,
      "1",
      "the source is down",
    ]);
    expect((await server.get(`${ALL}?resourceVersion=0`)).body.items).to.have.length(1);
    server.source.mend();
    server.source.set(B);
    expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    expect((await server.get(ALL)).body.items).to.have.length(2);
    expectFault(/source failed, retrying/);
  });

  it("before it was ever read is retried by the next request", async () => {
    await using server = await start();
    server.source.break(ApiError.serviceUnavailable("the source is down", 1));
    expect((await server.get(ALL)).status).to.equal(503);
    expect((await server.get(`${ALL}?watch=true`)).status).to.equal(503);
    server.source.mend();
    expect((await server.get(ALL)).status).to.equal(200);
  });

  it("with anything but an ApiError is 500 without its message", async () => {
    await using server = await start();
    server.source.break(new Error("password of the source"));
    const { status, text } = await server.get(ALL);
    expect(status).to.equal(500);
    expect(text).to.not.include("password");
    expectFault(/password of the source/);
  });
});

describe("head", () => {
  for (const head of [true, false]) {
    it(`${head ? "is called" : "is replaced by a list"} before a fresh read`, async () => {
      await using server = await start({ head });
      await server.get(ALL);
      await server.get(`${ALL}?resourceVersion=0`);
      expect(server.source.counts).to.include(head ? { head: 1, list: 1 } : { head: 0, list: 2 });
    });
  }

  it("answers all requests that arrived before its call", async () => {
    const heads: PromiseWithResolvers<void>[] = [];
    let requests = 0;
    await using server = await start({
      onRequest: () => void requests++,
      storage: {
        head: async () => {
          const asked = Promise.withResolvers<void>();
          heads.push(asked);
          await asked.promise;
          return "1001";
        },
      },
    });
    await server.get(`${ALL}?resourceVersion=0`);
    const first = server.get(ALL);
    await settled(server, () => heads.length === 1);
    const before = requests;
    const others = Promise.all([server.get(ALL), server.get(ALL), server.get(ALL)]);
    // Requests that were authorized wait for the head by the time that another request is answered.
    await until(() => requests >= before + 3);
    await server.get(`${ALL}?resourceVersion=0`);
    heads[0]?.resolve();
    await first;
    await settled(server, () => heads.length === 2);
    heads[1]?.resolve();
    expect((await others).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(heads).to.have.length(2);
  });
});

describe("a stream is shared", () => {
  async function sourcesFor(
    storage: Setup["storage"],
    ...watchers: readonly (readonly [query: string, user: "alice" | "bob"])[]
  ): Promise<number> {
    await using server = await start(storage === undefined ? {} : { storage });
    for (const [query, user] of watchers) (await watching(server, query, user)) satisfies AsyncDisposable;
    expect(server.source.counts.open).to.equal(server.server.stats.sources);
    return server.server.stats.sources;
  }
  const label1 = "&labelSelector=x!=1";
  const label2 = "&labelSelector=x!=2";

  it("without a share key: by requests of one identity, whatever they select", async () => {
    expect(
      await sourcesFor(undefined, ["", "alice"], [label1, "alice"], ["&fieldSelector=metadata.name=a", "alice"]),
    ).to.equal(1);
    expect(await sourcesFor(undefined, ["", "alice"], ["", "bob"])).to.equal(2);
  });

  it("with a share key: by callers with equal keys, whatever their names", async () => {
    const team = { shareKey: () => "team" };
    expect(await sourcesFor(team, ["", "alice"], ["", "bob"], [label1, "bob"])).to.equal(1);
    expect(await sourcesFor({ shareKey: ({ identity }) => identity.name }, ["", "alice"], ["", "bob"])).to.equal(2);
    expect(await sourcesFor({ shareKey: () => undefined }, ["", "alice"], ["", "bob"])).to.equal(2);
  });

  it("where the storage applies selectors: by requests with the same selection", async () => {
    const narrows = { appliesSelectors: true, shareKey: () => "team" };
    expect(await sourcesFor(narrows, [label1, "alice"], [label1, "bob"])).to.equal(1);
    expect(await sourcesFor(narrows, [label1, "alice"], [label2, "alice"])).to.equal(2);
  });

  it("without namespace and selector of a request, since others use it too", async () => {
    await using server = await start();
    await using _watch = await watching(server, `${label1}&fieldSelector=metadata.namespace=here`);
    const [asked] = server.source.asked;
    expect([asked?.scope.namespace, String(asked?.scope.labels), String(asked?.scope.fields)]).to.deep.equal([
      "",
      "",
      "",
    ]);
  });
});

describe("when the server closes,", () => {
  it("streams of sources are aborted, and watches end cleanly", async () => {
    const server = await start();
    const watch = await watching(server);
    expect(server.source.counts.open).to.equal(1);
    const [rest] = await Promise.all([watch.rest(), server[Symbol.asyncDispose]()]);
    expect(rest).to.deep.equal([]);
    expect(server.source.counts.open).to.equal(0);
  });
});

describe("a source that breaks the contract", () => {
  it("with a list without a version gets an error that names it", async () => {
    await using server = await start({ storage: { list: () => ({ items: [] }) } });
    expect((await server.get(ALL)).status).to.equal(500);
    expectFault(/a storage with changes\(\) must list items with a resourceVersion/);
  });

  it("with a repeated change does not cause a second event", async () => {
    const again = new FakeSource(Thing);
    await using server = await start({
      storage: {
        async *changes(scope, after, options) {
          for await (const change of again.storage.changes?.(scope, after, options) ?? []) yield* [change, change];
        },
      },
    });
    await using watch = await watching(server);
    again.set(A, { spec: { size: 0 } });
    again.set(B);
    again.set(A, { spec: { size: 3 } });
    expect(await watch.take(2)).to.deep.equal(["ADDED b", "MODIFIED a"]);
  });
});
