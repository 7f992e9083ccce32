// follow() without a cache: with broken connections, expired versions and slow readers.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { Client, type FollowEvent, type FollowOptions, follow, type ResourceClient } from "@virtual-workspaces/client";
import { expect } from "chai";
import { faults, startFaulty } from "../../_support/faulty.ts";
import { startRelay } from "../../_support/relay.ts";
import { bookmark, Scripted } from "./scripted.ts";
import { NOTE, type NoteContent, Notes, QUICK } from "./support.ts";

/** Reader that continues on demand. */
class Reader implements AsyncDisposable {
  readonly told: string[] = [];
  readonly errors: string[] = [];
  readonly client: Client;
  readonly events: AsyncGenerator<FollowEvent<NoteContent>, void, undefined>;
  version = "";

  constructor(port: number, options: Partial<FollowOptions> = {}) {
    const headers = ["Authorization", "Bearer alice"];
    const url = `http://127.0.0.1:${port}/services/notes/clusters/root`;
    this.client = new Client({ upstream: { url, credentials: { get: () => ({ headers }) } } });
    const notes: ResourceClient<NoteContent> = this.client.resource(NOTE);
    const { backoff } = QUICK;
    this.events = follow(notes, { backoff, onError: ({ message }) => void this.errors.push(message), ...options });
  }

  /** Reads a number of events, without bookmarks. */
  async read(count: number): Promise<string[]> {
    const told: string[] = [];
    while (told.length < count) {
      const { value } = await this.events.next();
      if (value === undefined) throw new Error("it is over");
      if ("version" in value) this.version = value.version;
      if (value.type !== "BOOKMARK") told.push(textOf(value));
    }
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.events.return();
    await this.client[Symbol.asyncDispose]();
  }
}

const textOf = (event: FollowEvent<NoteContent>): string => {
  if (event.type === "READ") return `READ ${event.reason ?? ""}`.trim();
  if (!("object" in event)) return event.type;
  const { metadata, spec } = event.object as KubeObject & Partial<NoteContent>;
  return `${event.type} ${metadata.name} ${spec?.text ?? ""}`.trim();
};

describe("follow()", () => {
  it("yields existing objects, SYNCED, and then changes, across broken connections", async () => {
    await using server = await Notes.start();
    await using relay = await startRelay(server.port);
    server.set("a", "1");
    server.set("b", "1");
    await using reader = new Reader(relay.port, { pageSize: 1 });
    expect(await reader.read(4)).to.eql(["READ", "ADDED a 1", "ADDED b 1", "SYNCED"]);
    server.set("a", "2");
    expect(await reader.read(1)).to.eql(["MODIFIED a 2"]);
    relay.cut();
    server.delete("b");
    server.set("c", "1");
    expect(await reader.read(2)).to.eql(["DELETED b 1", "ADDED c 1"]);
    const { version } = reader;
    server.set("c", "2");
    await using later = new Reader(relay.port, { resourceVersion: version });
    expect(await later.read(1)).to.eql(["MODIFIED c 2"]);
  });

  it("repeats and loses no event when the watch is renewed", async () => {
    await using server = await Notes.start();
    await using reader = new Reader(server.port, { renewEvery: 1 });
    expect(await reader.read(2)).to.eql(["READ", "SYNCED"]);
    const renewed = Promise.withResolvers<void>();
    let bookmarks = 0;
    const reading = (async () => {
      for await (const { type } of reader.events) if (type === "BOOKMARK" && ++bookmarks === 2) renewed.resolve();
    })();
    await renewed.promise;
    expect(reader.errors).to.eql([]);
    await reader.events.return();
    await reading;
  });

  it("lists again after 410 and yields READ once complete, without partial lists", async () => {
    await using server = await Notes.start({ history: { events: 5 } });
    await using faulty = await startFaulty(`http://127.0.0.1:${server.port}`);
    server.set("a", "1");
    server.set("gone", "1");
    await using before = new Reader(faulty.port);
    await before.read(4);
    const { version } = before;
    await before.events.return();
    server.delete("gone");
    for (let n = 0; n < 20; n++) server.set("a", `${n}`);
    const lists = faulty.fail(faults.unavailable(), { on: ({ path }) => !path.includes("watch="), times: 3 });
    await using reader = new Reader(faulty.port, { resourceVersion: version });
    expect(await reader.read(3)).to.eql(["READ expired", "ADDED a 19", "SYNCED"]);
    expect(lists.met).to.equal(3);
    expect(reader.errors).to.eql(Array(3).fill("injected: ServiceUnavailable"));
  });

  it("acquires a slot before it connects, and returns it after the list was delivered", async () => {
    await using server = await Notes.start();
    server.set("a", "1");
    const log: string[] = [];
    const slot = async () => {
      log.push("taken");
      return { begun: () => void log.push("begun"), [Symbol.dispose]: () => void log.push("free") };
    };
    await using reader = new Reader(server.port, { slot });
    await reader.read(2);
    expect(log).to.eql(["taken", "begun"]);
    await reader.read(1);
    expect(log).to.eql(["taken", "begun", "free"]);
    server.set("a", "2");
    await reader.read(1);
    await using later = new Reader(server.port, { slot, resourceVersion: reader.version });
    server.set("a", "3");
    await later.read(1);
    expect(log.slice(4)).to.eql(["taken", "free"]);
  });

  it("reports failures, and ignores invalid responses", async () => {
    await using server = await Notes.start();
    await using faulty = await startFaulty(`http://127.0.0.1:${server.port}`);
    server.set("a", "1");
    faulty.fail(faults.wrongKind(), { times: 1 });
    await using reader = new Reader(faulty.port);
    expect(await reader.read(3)).to.eql(["READ", "ADDED a 1", "SYNCED"]);
    expect(reader.errors).to.have.length(1);
    expect(reader.errors[0]).to.match(/instead of a list of Note/);
  });

  it("accepts a server with older versions once they persist, and yields no older list before", async () => {
    let isBack = false;
    await using server = await Scripted.start(({ way, query }, answer) => {
      if (way === "list") answer.list(isBack ? "5" : "9", { a: isBack ? "5" : "9" });
      else if (isBack && query.get("resourceVersion") === "9") answer.events(bookmark("5"));
      else answer.events();
    });
    await using reader = new Reader(server.port, { rewindAfter: 100 });
    expect(await reader.read(3)).to.eql(["READ", "ADDED a", "SYNCED"]);
    const { version } = reader;
    await reader.events.return();
    isBack = true;
    await using later = new Reader(server.port, { rewindAfter: 100, resourceVersion: version });
    expect(await later.read(3)).to.eql(["READ rewound", "ADDED a", "SYNCED"]);
    expect(later.version).to.equal("5");
    expect(later.errors.length).to.be.above(1);
    for (const error of later.errors)
      expect(error).to.match(/^the server (went back from version 9 to 5|sent a list of version 5)/);
  });

  it("gives up a server that accepts connections and never answers, and reconnects when it does", async () => {
    let isSilent = true;
    await using server = await Scripted.start(({ way }, answer) => {
      if (way === "list") answer.list("9", {});
      else if (!isSilent) answer.events(bookmark("10"));
    });
    const told = Promise.withResolvers<string>();
    const onError = ({ message }: Error): void => told.resolve(message);
    await using reader = new Reader(server.port, { renewEvery: 1, idle: 1_001, onError });
    await reader.read(2);
    const next = reader.events.next();
    expect(await told.promise).to.equal("the server did not answer a watch request within 1001 ms");
    isSilent = false;
    expect((await next).value).to.eql({ type: "BOOKMARK", version: "10" });
  });

  it("ends by its signal, or when the reader leaves, while it waits", async () => {
    await using server = await Notes.start();
    const ended = new AbortController();
    await using reader = new Reader(server.port, { signal: ended.signal });
    await reader.read(2);
    const next = Promise.allSettled([reader.read(1)]);
    const reason = new Error("enough");
    ended.abort(reason);
    expect(await next).to.eql([{ status: "rejected", reason }]);
    await using other = new Reader(server.port);
    await other.read(2);
    const last = other.events.next();
    await other.events.return();
    expect((await last).done).to.equal(true);
    expect(() => new Reader(server.port, { renewEvery: 0 })).to.throw("renewEvery of an informer");
  });
});
