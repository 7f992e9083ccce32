// Watches of a window of a sorted list: what enters, leaves, moves and changes, the total, resumed and moved windows.
import {
  type AuthorizeRequest,
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
} from "@virtual-workspaces/framework";
import { queryView } from "@virtual-workspaces/query";
import { expect } from "chai";
import { outcome, startPlain, type WatchEvent, type WatchStream } from "../../_support/plain.ts";
import { Random } from "../../_support/random.ts";

const Task = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Task",
  scope: "Cluster",
  spec: { type: "object", properties: { rank: { type: "integer" } } },
  columns: [{ name: "Rank", type: "integer", jsonPath: ".spec.rank" }],
});

const ROOT = "/services/query/clusters/root/apis/example.dev/v1/tasks";
const ALL = "/services/query/clusters/*/apis/example.dev/v1/tasks";

interface Details {
  readonly query?: {
    readonly position?: number;
    readonly total: number;
    readonly resourceVersion?: string;
    readonly offset?: number;
  };
}

async function start(options: { readonly authorizeEvery?: number } = {}) {
  const tasks = Task.collection();
  const members = new Set(["root"]);
  const over = defineVirtualWorkspace({
    name: "tasks",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: ({ user, params }: AuthorizeRequest<{ readonly cluster: string }>) =>
      user.in("admins") || members.has(params.cluster) ? allow() : deny("not a member"),
    resources: [Task.serve(tasks)],
  });
  const server = await startPlain([over, queryView({ over, ...options })]);
  const root = tasks.in("root");
  return { tasks, root, members, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Keeps a window as a user interface would, by the documented rules. */
class WindowClient {
  items: string[] = [];
  total = 0;
  /** Offset of the window that it has. */
  offset = 0;
  /** Version to resume from. */
  version = "";
  #events: (WatchEvent & Details)[] = [];

  list(body: {
    items: { metadata: { name: string } }[];
    metadata: { resourceVersion: string; query: { total: number } };
  }): void {
    this.items = body.items.map(({ metadata: { name } }) => name);
    this.version = body.metadata.resourceVersion;
    this.total = body.metadata.query.total;
  }

  /** Collects the events of a change, and applies them together: the last one has a version. */
  apply(event: WatchEvent & Details): void {
    this.#events.push(event);
    if (event.type !== "BOOKMARK" && event.query?.resourceVersion === undefined) return;
    for (const one of this.#events.splice(0)) this.#applyOne(one);
  }

  #applyOne({ type, object, query }: WatchEvent & Details): void {
    const name = object.metadata?.name ?? "";
    this.total = query?.total ?? this.total;
    this.offset = query?.offset ?? this.offset;
    this.version = (type === "BOOKMARK" ? object.metadata?.resourceVersion : query?.resourceVersion) ?? this.version;
    if (type === "BOOKMARK") return;
    this.items = this.items.filter((item) => item !== name);
    if (type !== "DELETED") this.items.splice(query?.position ?? -1, 0, name);
  }

  /** Forgets the events of a change that the connection cut. */
  cut(): void {
    this.#events = [];
  }
}

const parameters = (given: Record<string, string | number>): string =>
  new URLSearchParams(Object.entries(given).map(([name, value]): [string, string] => [name, String(value)])).toString();

const shown = (event: WatchEvent & Details): string =>
  `${event.type} ${event.object.metadata?.name ?? ""} ${event.query?.position ?? "-"}/${event.query?.total}`;

async function take(watch: WatchStream, count: number): Promise<string[]> {
  const events: string[] = [];
  while (events.length < count) events.push(shown(await watch.next()));
  return events;
}

describe("watches of a window of a query view", () => {
  it("shows what enters, leaves, moves and changes, each with its position and the total", async () => {
    await using own = await start();
    for (const [at, name] of ["a", "b", "c", "d"].entries()) own.root.set(name, { rank: 10 * (at + 1) });
    const window = { sortBy: "Rank", limit: 2, offset: 1 };
    const list = await own.server.get(`${ROOT}?${parameters(window)}`);
    const { resourceVersion } = list.body.metadata;
    await using watch = await own.server.watch(`${ROOT}?${parameters({ ...window, watch: "true", resourceVersion })}`);
    own.root.set("new", { rank: 15 });
    expect(await take(watch, 2)).to.deep.equal(["DELETED c -/5", "ADDED new 0/5"]);
    own.root.set("b", { rank: 12 });
    expect(await take(watch, 1)).to.deep.equal(["MODIFIED b 0/5"]);
    own.root.delete("a");
    expect(await take(watch, 2)).to.deep.equal(["DELETED b -/4", "ADDED c 1/4"]);
    own.root.set("new", { rank: 99 });
    expect(await take(watch, 2)).to.deep.equal(["DELETED new -/4", "ADDED d 1/4"]);
  });

  it("brings a change of the total outside the window as a bookmark", async () => {
    await using own = await start();
    own.root.set("a", { rank: 1 });
    const window = { sortBy: "Rank", limit: 1, allowWatchBookmarks: "true", watch: "true" };
    await using watch = await own.server.watch(`${ROOT}?${parameters(window)}`);
    expect(await take(watch, 1)).to.deep.equal(["ADDED a -/undefined"]);
    own.root.set("z", { rank: 9 });
    const events: (WatchEvent & Details)[] = await watch.until(
      (event: WatchEvent & Details) => event.query?.total === 2,
    );
    expect(events.map(({ type, query }) => [type, query])).to.deep.equal([
      ["BOOKMARK", { total: 1, offset: 0 }],
      ["BOOKMARK", { total: 2, offset: 0 }],
    ]);
  });

  it("leads a client to another window without starting over", async () => {
    await using own = await start();
    for (const [at, name] of ["a", "b", "c", "d", "e"].entries()) own.root.set(name, { rank: at });
    const list = await own.server.get(`${ROOT}?${parameters({ sortBy: "Rank", limit: 3 })}`);
    const { resourceVersion } = list.body.metadata;
    own.root.set("b", { rank: 7 });
    const moved = { sortBy: "Rank", limit: 3, offset: 1, heldOffset: 0, heldLimit: 3, watch: "true", resourceVersion };
    await using watch = await own.server.watch(`${ROOT}?${parameters(moved)}`);
    // First what has changed in the held window, a c d, and then the difference to the other one, c d e.
    expect(await take(watch, 4)).to.deep.equal(["DELETED b -/5", "ADDED d 2/5", "DELETED a -/5", "ADDED e 2/5"]);
    own.root.set("f", { rank: 2 });
    expect(await take(watch, 2)).to.deep.equal(["DELETED e -/6", "ADDED f 1/6"]);
  });

  it("sends the window as initial events, in its order", async () => {
    await using own = await start();
    for (const [name, rank] of [
      ["a", 3],
      ["b", 2],
      ["c", 1],
    ] as const)
      own.root.set(name, { rank });
    const initial = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };
    const window = { sortBy: "Rank", limit: 2, watch: "true", ...initial };
    await using watch = await own.server.watch(`${ROOT}?${parameters(window)}`);
    expect(await take(watch, 2)).to.deep.equal(["ADDED c -/undefined", "ADDED b -/undefined"]);
    const bookmark = (await watch.next()) as WatchEvent & Details;
    expect(bookmark.object.metadata?.annotations).to.deep.equal({ "k8s.io/initial-events-end": "true" });
    expect(bookmark.query).to.deep.equal({ total: 3, offset: 0 });
  });

  it("sends every change of a sorted list without a limit", async () => {
    await using own = await start();
    await using watch = await own.server.watch(
      `${ROOT}?${parameters({ filter: "object.spec.rank < 5", watch: "true" })}`,
    );
    own.root.set("a", { rank: 1 });
    own.root.set("b", { rank: 9 });
    own.root.set("b", { rank: 2 });
    own.root.set("a", { rank: 7 });
    expect(await take(watch, 3)).to.deep.equal(["ADDED a 0/1", "ADDED b 1/2", "DELETED a -/1"]);
  });

  it("keeps a client equal to the list over random histories, cut and moved at any event", async function () {
    this.timeout(60_000);
    const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 1e9));
    const random = new Random(seed);
    const below = (limit: number): number => random.below(limit);
    await using own = await start();
    const names = Array.from({ length: 14 }, (_, at) => `t${at}`);
    const act = (): void => {
      const name = names[below(names.length)] as string;
      if (below(4) > 0) own.root.set(name, { rank: below(8) });
      else if (own.root.get(name) !== undefined) own.root.delete(name);
    };
    for (let at = 0; at < 12; at++) act();
    const order = ["Rank", "-Rank", "-Rank,Name"][below(3)] as string;
    let window = { sortBy: order, offset: below(4), limit: 1 + below(5) };
    let held = window;
    const client = new WindowClient();
    client.offset = window.offset;
    client.list((await own.server.get(`${ROOT}?${parameters(window)}`)).body);
    for (let round = 0; round < 40; round++) {
      for (let at = below(4); at > 0; at--) act();
      const slide = held === window ? {} : { heldOffset: held.offset, heldLimit: held.limit };
      const open = { ...window, ...slide, watch: "true", allowWatchBookmarks: "true", resourceVersion: client.version };
      await using watch = await own.server.watch(`${ROOT}?${parameters(open)}`);
      for (let at = below(5); at > 0; at--) act();
      const cut = below(3) === 0 ? below(4) : Number.POSITIVE_INFINITY;
      // A last change in the window or of the total brings an event from which the client knows that it has them all.
      const mark = own.root.set(`mark-${round}`, { rank: 100 }).metadata.resourceVersion;
      let [seen, done] = [0, false];
      while (!done && seen < cut) {
        const event = await watch.next();
        expect(event.type, `seed ${seed}: ${JSON.stringify(event.object)}`).not.to.equal("ERROR");
        client.apply(event);
        seen += 1;
        done = client.version === mark && client.offset === window.offset;
      }
      client.cut();
      if (client.offset === window.offset) held = window;
      if (!done) continue;
      const now = await own.server.get(`${ROOT}?${parameters(window)}`);
      const expected = now.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
      expect(client.items, `seed ${seed}, round ${round}`).to.deep.equal(expected);
      expect(client.total, `seed ${seed}, round ${round}`).to.equal(now.body.metadata.query.total);
      if (below(2) === 0) window = { ...window, offset: (held.offset + 1 + below(5)) % 7, limit: 1 + below(5) };
    }
  });

  it("ends watches of all logical clusters when the caller's rights change, with 410", async () => {
    await using own = await start({ authorizeEvery: 100 });
    own.root.set("a", { rank: 1 });
    own.tasks.in("other").set("b", { rank: 2 });
    const open = { sortBy: "Rank", limit: 5, watch: "true" };
    await using watch = await own.server.watch(`${ALL}?${parameters(open)}`);
    own.root.set("a", { rank: 3 });
    expect(await take(watch, 2)).to.deep.equal(["ADDED a -/undefined", "MODIFIED a 0/1"]);
    own.members.add("other");
    const gained = await watch.next();
    expect([gained.type, gained.object.code]).to.deep.equal(["ERROR", 410]);
    expect((await own.server.get(`${ALL}?sortBy=Rank`)).body.items).to.have.length(2);
    await using later = await own.server.watch(`${ALL}?${parameters(open)}`);
    expect(await take(later, 2)).to.deep.equal(["ADDED b -/undefined", "ADDED a -/undefined"]);
    own.members.delete("root");
    const lost = await later.next();
    expect([lost.type, lost.object.code]).to.deep.equal(["ERROR", 410]);
    expect((await own.server.get(`${ALL}?sortBy=Rank`)).body.metadata.query).to.include({ total: 1, offset: 0 });
  });

  it("does not continue a watch of all logical clusters from before a change of the caller's rights", async () => {
    await using own = await start({ authorizeEvery: 100 });
    for (const [name, rank] of [
      ["a", 1],
      ["b", 2],
      ["c", 3],
    ] as const)
      own.root.set(name, { rank });
    own.tasks.in("other").set("d", { rank: 0 });
    const window = { sortBy: "Rank", limit: 2 };
    const before = await own.server.get(`${ALL}?${parameters(window)}`);
    await using open = await own.server.watch(`${ALL}?${parameters({ ...window, watch: "true" })}`);
    own.members.add("other");
    await open.until(({ type }) => type === "ERROR");
    const now = await own.server.get(`${ALL}?${parameters(window)}`);
    expect(now.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).to.deep.equal([
      "d",
      "a",
    ]);
    const { resourceVersion, query } = before.body.metadata;
    // Nothing has changed but the rights: the list has the version of the one before.
    expect(now.body.metadata.resourceVersion).to.equal(resourceVersion);
    const { status, body } = await own.server.get(
      `${ALL}?${parameters({ ...window, watch: "true", resourceVersion, rights: query.rights })}`,
    );
    expect([status, body.message]).to.deep.equal([410, "your permissions or the workspaces have changed: list again"]);
    own.root.set("z", { rank: 9 });
    await using gone = await own.server.watch(`${ALL}?${parameters({ ...window, watch: "true" })}`);
    own.members.delete("other");
    await gone.until(({ type }) => type === "ERROR");
    for (const held of [{}, { offset: 1, heldOffset: 0, heldLimit: 2 }]) {
      await using resumed = await own.server.watch(
        `${ALL}?${parameters({ ...window, ...held, watch: "true", resourceVersion })}`,
      );
      const event = await resumed.next();
      expect([event.type, event.object.code]).to.deep.equal(["ERROR", 410]);
    }
    const { resourceVersion: current, query: shownNow } = (await own.server.get(`${ALL}?${parameters(window)}`)).body
      .metadata;
    await using later = await own.server.watch(
      `${ALL}?${parameters({ ...window, watch: "true", resourceVersion: current, rights: shownNow.rights })}`,
    );
    own.root.set("e", { rank: 0 });
    expect(await take(later, 2)).to.deep.equal(["DELETED b -/5", "ADDED e 0/5"]);
  });

  it("lists with the current rights once a watch has ended for them", async () => {
    await using own = await start({ authorizeEvery: 100 });
    own.root.set("a", { rank: 1 });
    const open = `${ALL}?sortBy=Rank&limit=1&watch=true`;
    await using one = await own.server.watch(open);
    await using two = await own.server.watch(`${ALL}?sortBy=-Rank&limit=1&watch=true`);
    own.members.delete("root");
    await Promise.race([one, two].map((watch) => watch.until(({ type }) => type === "ERROR")));
    expect((await own.server.get(`${ALL}?sortBy=Rank`)).body.metadata.query).to.include({ total: 0, offset: 0 });
  });

  it("sends each watch of a window its own columns", async () => {
    await using own = await start();
    const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const open = { sortBy: "Rank", limit: 2, watch: "true", resourceVersion: "0" };
    const [ranks, named] = await Promise.all(
      ["Rank,Name", "Name,Rank"].map((columns) =>
        own.server.watch(`${ROOT}?${parameters({ ...open, columns })}`, { headers }),
      ),
    );
    own.root.set("a", { rank: 7 });
    const cells = async (watch: WatchStream | undefined): Promise<unknown> => {
      const { object } = (await watch?.next()) ?? {};
      return (object as unknown as { rows: { cells: unknown[] }[] }).rows[0]?.cells;
    };
    expect(await cells(ranks)).to.deep.equal([7, "a"]);
    expect(await cells(named)).to.deep.equal(["a", 7]);
    for (const watch of [ranks, named]) await watch?.[Symbol.asyncDispose]();
  });

  it("ends a watch that the source's rule no longer allows, where the rule is checked again", async () => {
    const tasks = Task.collection();
    let allowed = true;
    const authorize = Object.assign(() => (allowed ? allow() : deny("closed")), { watchesEvery: 100 });
    const over = defineVirtualWorkspace({
      name: "tasks",
      path: "/clusters/:cluster",
      authorize,
      resources: [Task.serve(tasks)],
    });
    await using server = await startPlain([over, queryView({ over })]);
    await using watch = await server.watch(`${ROOT}?sortBy=Rank&limit=1&watch=true&resourceVersion=0`);
    allowed = false;
    const event = await watch.next();
    expect([event.type, event.object.code]).to.deep.equal(["ERROR", 410]);
  });

  const INVALID: Record<string, [Record<string, string | number>, string]> = {
    "an offset without a limit": [{ offset: 3 }, "invalid offset or heldOffset: a watch of a window needs a limit too"],
    "a large window": [{ sortBy: "Rank", limit: 1001 }, "invalid limit: a watch follows at most 1000 objects"],
    "a held window without a version": [
      { limit: 3, heldOffset: 0, heldLimit: 3 },
      "invalid heldOffset: set resourceVersion to the version of the window that the client holds",
    ],
  };
  for (const [what, [given, message]] of Object.entries(INVALID))
    it(`rejects ${what} with 400`, async () => {
      await using own = await start();
      const answer = await own.server.get(`${ROOT}?${parameters({ ...given, watch: "true" })}`);
      expect(outcome(answer)).to.deep.equal([400, "BadRequest", message]);
    });

  it("rejects a version that the source's history no longer has with 410", async () => {
    await using own = await start();
    own.root.set("a", { rank: 1 });
    const first = await own.server.get(`${ROOT}?sortBy=Rank`);
    for (let at = 0; at < 4200; at++) own.root.set("a", { rank: at });
    const { resourceVersion } = first.body.metadata;
    await using watch = await own.server.watch(
      `${ROOT}?${parameters({ sortBy: "Rank", limit: 1, watch: "true", resourceVersion })}`,
    );
    const event = await watch.next();
    expect([event.type, event.object.code, event.object.reason]).to.deep.equal(["ERROR", 410, "Expired"]);
  });
});
