// Cursors of watches across Spaces: their contents, and where a watch resumes after any change in between.
import type { ApiError } from "@virtual-workspaces/apimachinery";
import { followSpaces, type SpaceEvent, type Spaces, type SpaceWatchOptions } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { until } from "../../../_support/until.ts";
import { NOTE, type NoteContent, QUICK } from "../../../client/informer/support.ts";
import { when } from "../support/lent.ts";
import { Reader } from "../support/reader.ts";
import { Shops } from "../support/shops.ts";

const { backoff } = QUICK;

describe("cursors across Spaces", function () {
  this.timeout(60_000);
  let shops: Shops;
  let stack: AsyncDisposableStack;
  const failures: string[] = [];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    failures.length = 0;
    shops = stack.use(await Shops.start("one", "two"));
    shops.set("one", "menu", "leek");
    shops.set("two", "menu", "pea");
  });
  afterEach(() => stack.disposeAsync());

  /** Simulates a restart of the process. */
  const follow = (): Spaces => {
    const onError = ({ space, error }: { readonly space?: string; readonly error: unknown }): void =>
      void failures.push(`${space}: ${error}`);
    return stack.use(followSpaces({ client: shops.management.client, namespace: "default", onError }));
  };
  const watched = (spaces: Spaces, options: SpaceWatchOptions = {}, from: Partial<Reader> = {}): Reader =>
    stack.use(new Reader(spaces.watch(NOTE, { backoff, ...options }), { keeps: true, ...from }));
  /** Cursor of a reader that was up to date. */
  const stopped = async (): Promise<Reader> => {
    const spaces = follow();
    const reader = watched(spaces);
    await until(() => reader.lines.length >= 4, { what: "everything" });
    await spaces[Symbol.asyncDispose]();
    await reader.over;
    return reader;
  };
  const resumed = ({ cursor, known }: Reader, spaces = follow()): Reader => watched(spaces, { cursor }, { known });

  it("are equal text for an equal state, and belong to their event whenever they are read", async () => {
    const spaces = follow();
    await spaces.synced;
    const { cursor } = await spaces.list(NOTE);
    const readers = [watched(spaces), watched(follow())];
    for (const reader of readers) await until(() => reader.lines.length === 4, { what: "everything" });
    expect(readers.map((reader) => reader.cursor)).to.eql([cursor, cursor]);
    expect(cursor).to.match(/^v1\.[\w-]+$/);
    // One reader reads them at once, another one later.
    const atOnce: string[] = [];
    const later: SpaceEvent<NoteContent>[] = [];
    for (let n = 0; n < 3; n++) shops.set("one", "menu", `${n}`);
    for await (const event of spaces.watch(NOTE, { cursor, backoff }))
      if (event.type === "MODIFIED" && atOnce.push(event.cursor) === 3) break;
    for await (const event of spaces.watch(NOTE, { cursor, backoff }))
      if (event.type === "MODIFIED" && later.push(event) === 3) break;
    expect(later.map((event) => event.cursor)).to.eql(atOnce);
    expect(new Set([cursor, ...atOnce])).to.have.property("size", 4);
  });

  it("resume after every event, also after a restart, without lost or repeated events", async () => {
    const spaces = follow();
    const first = watched(spaces);
    await until(() => first.lines.length === 4, { what: "everything" });
    for (let n = 0; n < 5; n++) {
      shops.set("one", `n${n}`, "1");
      shops.set("two", "menu", `${n}`);
      if (n % 2 === 0) shops.delete("one", `n${n}`);
    }
    await until(() => first.lines.length === 17, { what: "all of it" });
    await spaces[Symbol.asyncDispose]();
    expect(first.cursors).to.have.length(17);
    const again = follow();
    for (const { cursor, known } of first.cursors) {
      const reader = watched(again, { cursor }, { known: known as Map<string, Map<string, string>> });
      await until(() => JSON.stringify(sorted(reader)) === JSON.stringify(sorted(first)), { what: "the same" });
      expect(reader.wrong).to.eql([]);
      const resets = reader.lines.filter((line) => /^(RESET|LEFT)/.test(line));
      expect(resets.filter((line) => !line.endsWith("incomplete"))).to.eql([]);
    }
    expect(failures).to.eql([]);
  });

  it("from before a Space was synced restart that Space and resume the others", async () => {
    shops.set("one", "other", "cress");
    const spaces = follow();
    const reader = watched(spaces);
    await until(() => reader.lines.length === 5, { what: "everything" });
    await spaces[Symbol.asyncDispose]();
    const at = reader.lines.indexOf("+ default/one menu leek");
    const { cursor = "", known } = reader.cursors[at] ?? {};
    shops.delete("one", "menu");
    const again = watched(follow(), { cursor }, { known: known as Map<string, Map<string, string>> });
    await until(() => again.lines.includes("SYNCED default/one"), { what: "everything" });
    expect(again.lines.filter((line) => line.includes("/one"))).to.eql([
      "RESET default/one incomplete",
      "+ default/one other cress",
      "SYNCED default/one",
    ]);
    expect(again.wrong).to.eql([]);
  });

  it("report that a Space was removed meanwhile, replaced, or moved to another server", async () => {
    await shops.open("three");
    const reader = await stopped();
    await shops.remove("one");
    await shops.remove("two");
    await shops.move("two", {}, new Map([["menu", "another's"]]));
    await shops.found("two");
    await shops.move("three", {}, new Map([["menu", "elsewhere"]]));
    const again = resumed(reader);
    await again.heard(
      "LEFT default/one gone",
      ...["RESET default/two replaced", "+ default/two menu another's", "SYNCED default/two"],
      ...["RESET default/three moved", "+ default/three menu elsewhere", "SYNCED default/three"],
    );
    expect(again.wrong).to.eql([]);
    const last = resumed(again);
    shops.set("two", "menu", "onion");
    await last.heard("= default/two menu onion");
  });

  it("restart only the Space whose server has lost its history", async () => {
    await shops.open("short", { history: 4 });
    shops.set("short", "menu", "leek");
    const spaces = follow();
    const reader = watched(spaces);
    await until(() => reader.lines.length === 6, { what: "everything" });
    await spaces[Symbol.asyncDispose]();
    await reader.over;
    await shops.forget("short", 10);
    shops.set("one", "menu", "onion");
    const again = resumed(reader);
    await again.heard(
      ...["RESET default/short expired", "+ default/short menu leek", "SYNCED default/short"],
      "= default/one menu onion",
    );
    expect(failures).to.eql([]);
  });

  it("wait for a Space that is unreachable or not Ready and resume it; once it is deleted they report that it has left", async () => {
    const reader = await stopped();
    await shops.wire("one").stop();
    await shops.conceal("two");
    const spaces = follow();
    await when(spaces, () => spaces.states.some(({ name, ready }) => name === "default/two" && !ready));
    const again = resumed(reader, spaces);
    await until(() => failures.some((line) => line.startsWith("default/one: ")), { what: "a failure" });
    shops.set("one", "menu", "onion");
    shops.set("two", "menu", "onion");
    await shops.wire("one").start();
    await again.heard("= default/one menu onion");
    const still = resumed(again, spaces);
    await shops.rotate("two", "alice");
    await again.heard("= default/two menu onion");
    await still.heard("= default/two menu onion");
    await shops.conceal("two");
    const third = follow();
    await when(third, () => third.states.some(({ name, ready }) => name === "default/two" && !ready));
    const last = resumed(again, third);
    await shops.remove("two");
    await last.heard("LEFT default/two gone");
    await again.heard("LEFT default/two gone");
  });

  it("also come with bookmarks, so that cursors of quiet Spaces do not expire", async () => {
    await shops.open("short", { history: 4 });
    const spaces = follow();
    const stream = spaces.watch(NOTE, { backoff, fields: "metadata.name=menu", renewEvery: 1 });
    let before = "";
    let last = "";
    for await (const { type, space, cursor } of stream) {
      // An event of the watch shows that it is open.
      if (type === "SYNCED" && space === "default/short") shops.set("short", "menu", "leek");
      if (type === "ADDED" && space === "default/short") {
        before = cursor;
        await shops.forget("short", 10);
      }
      last = cursor;
      if (before !== "" && type === "BOOKMARK" && space === "default/short" && cursor !== before) break;
    }
    const told: string[] = [];
    const options = { backoff, fields: "metadata.name=menu" } as const;
    shops.set("short", "menu", "onion");
    for await (const event of spaces.watch(NOTE, { ...options, cursor: last })) {
      told.push(event.type);
      if ("object" in event) break;
    }
    expect(told.filter((type) => type !== "BOOKMARK")).to.eql(["MODIFIED"]);
  });

  it("are rejected if they are invalid or of another selection, and never replaced by the current state", async () => {
    const spaces = follow();
    await spaces.synced;
    const { cursor } = await spaces.list(NOTE);
    const page = await spaces.list(NOTE, { limit: 1 });
    const refusal = (text: string, options: SpaceWatchOptions = {}): Promise<ApiError> =>
      spaces
        .watch(NOTE, { ...options, cursor: text })
        .next()
        .then(
          () => expect.fail(text),
          (error) => error,
        );
    const altered = (change: (rows: unknown[]) => unknown): string => {
      const rows = JSON.parse(Buffer.from(cursor.slice(3), "base64url").toString());
      return `v1.${Buffer.from(JSON.stringify(change(rows))).toString("base64url")}`;
    };
    for (const text of ["", "12345", "v1", "default/one", cursor.slice(3)])
      expect((await refusal(text)).code, text).to.equal(400);
    const damaged = [
      "v1.",
      "v1.e30",
      "v1.!!!",
      "v2.W10",
      cursor.slice(0, -7),
      `v1.${"A".repeat(5_000_000)}`,
      page.continue ?? "",
      altered(([of, first, second]) => [of, second, first]),
      altered(([of, first]) => [of, first, first]),
      altered(([of, first]) => [of, [...(first as []), "more"]]),
      altered(([of]) => [of, ["default/one", "id", "server", 1]]),
      altered(([of]) => [of, "default/one"]),
      altered((rows) => ({ rows })),
    ];
    for (const text of damaged) expect((await refusal(text)).code, text.slice(0, 40)).to.equal(410);
    for (const options of [{ labels: "a=b" }, { fields: "metadata.name=menu" }, { namespace: "default" }])
      expect(await refusal(cursor, options)).to.include({ code: 410 });
    expect((await refusal(cursor, { labels: "a=b" })).message).to.match(
      /^the cursor belongs to another kind, namespace or/,
    );
    expect((await refusal("v2.W10")).message).to.equal(
      "the cursor is damaged or of another version: start without one",
    );
  });
});

const sorted = ({ known }: Reader): unknown =>
  [...known].map(([space, notes]) => [space, [...notes].sort()]).sort(([a], [b]) => ((a ?? "") < (b ?? "") ? -1 : 1));
