// Watches across Spaces: events of Spaces that are added, removed, unreachable, without history, or replaced.
import { followSpaces, type Spaces, type SpaceWatchOptions } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { faults } from "../../../_support/faulty.ts";
import { until } from "../../../_support/until.ts";
import { NOTE, QUICK } from "../../../client/informer/support.ts";
import { when } from "../support/lent.ts";
import { Reader } from "../support/reader.ts";
import { isList, Shops } from "../support/shops.ts";

const { backoff } = QUICK;

describe("watches across Spaces", function () {
  this.timeout(60_000);
  let shops: Shops;
  let spaces: Spaces;
  const failures: string[] = [];

  const watched = (options: SpaceWatchOptions = {}): Reader => new Reader(spaces.watch(NOTE, { backoff, ...options }));
  const failed = (space: string): Promise<true> =>
    until(() => failures.some((line) => line.startsWith(`default/${space}: `)), { what: `a failure of ${space}` });

  beforeEach(async () => {
    shops = await Shops.start("one", "two");
    shops.set("one", "menu", "leek");
    shops.set("two", "menu", "pea");
    failures.length = 0;
    const onError = ({ space, error }: { readonly space?: string; readonly error: unknown }): void =>
      void failures.push(`${space}: ${error}`);
    spaces = followSpaces({ client: shops.management.client, namespace: "default", onError });
  });
  afterEach(async () => {
    await spaces[Symbol.asyncDispose]();
    await shops[Symbol.asyncDispose]();
  });
  const ONE = ["+ default/one menu leek", "SYNCED default/one"] as const;
  const TWO = ["+ default/two menu pea", "SYNCED default/two"] as const;

  it("report the initial objects, their end in each Space, and later changes", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    shops.set("two", "menu", "onion");
    shops.delete("one", "menu");
    shops.set("one", "other", "cress");
    await reader.heard("= default/two menu onion", "- default/one menu leek", "+ default/one other cress");
    expect(failures).to.eql([]);
  });

  it("report only selected objects", async () => {
    shops.set("one", "other", "cress");
    await using reader = watched({ fields: "metadata.name=other" });
    await reader.heard("+ default/one other cress", "SYNCED default/one", "SYNCED default/two");
    shops.set("two", "menu", "onion");
    shops.set("two", "other", "kale");
    await reader.heard("+ default/two other kale");
  });

  it("report the objects of a new Space once, whatever changes meanwhile", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    await shops.move("three");
    const made = shops.found("three");
    for (let n = 0; n < 200; n++) {
      shops.set("three", `dish-${n}`, "new");
      if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await made;
    await until(() => reader.known.get("default/three")?.size === 200, { what: "all of it" });
    expect(reader.wrong).to.eql([]);
    expect(reader.lines.filter((line) => line.includes("default/three"))).to.have.length(201);
    expect(reader.lines.filter((line) => line.startsWith("RESET"))).to.eql([]);
    expect(failures).to.eql([]);
  });

  it("report that a Space was removed and nothing later; one that is created again is another Space", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    await shops.remove("two");
    await reader.heard("LEFT default/two gone");
    shops.set("two", "menu", "unheard");
    shops.set("one", "menu", "onion");
    await reader.heard("= default/one menu onion");
    await shops.found("two");
    await reader.heard("+ default/two menu unheard", "SYNCED default/two");
    await shops.remove("two");
    await shops.move("two");
    await shops.found("two");
    await reader.heard("LEFT default/two gone", "SYNCED default/two");
    expect(failures).to.eql([]);
  });

  it("report an unreachable Space only to onError, and its changes afterwards", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    await shops.wire("one").stop();
    await failed("one");
    shops.set("one", "menu", "onion");
    shops.set("two", "menu", "onion");
    await reader.heard("= default/two menu onion");
    await shops.wire("one").start();
    await reader.heard("= default/one menu onion");
    expect(reader.wrong).to.eql([]);
  });

  it("report the objects of a Space that was unreachable at first once it is reachable", async () => {
    await shops.wire("one").stop();
    await using reader = watched();
    await reader.heard(...TWO);
    await failed("one");
    await shops.wire("one").start();
    await reader.heard(...ONE);
  });

  it("restart only the Space whose server has lost its history, after its list", async () => {
    await shops.open("short", { history: 4 });
    shops.set("short", "menu", "leek");
    shops.set("short", "gone", "leek");
    await using reader = watched();
    await reader.heard(
      ...ONE,
      ...TWO,
      "+ default/short gone leek",
      "+ default/short menu leek",
      "SYNCED default/short",
    );
    const wire = shops.wire("short");
    await wire.stop();
    await failed("short");
    shops.delete("short", "gone");
    await shops.forget("short", 10);
    const rule = wire.fail(faults.unavailable(), { on: isList });
    await wire.start();
    await until(() => rule.met > 2, { what: "lists that fail" });
    shops.set("one", "menu", "onion");
    await reader.heard("= default/one menu onion");
    rule[Symbol.dispose]();
    await reader.heard("RESET default/short expired", "+ default/short menu leek", "SYNCED default/short");
    shops.set("short", "menu", "onion");
    await reader.heard("= default/short menu onion");
    expect(reader.wrong).to.eql([]);
  });

  it("keep the old server of a Space until everything is read at its new one, and then report its objects again", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    const before = spaces.client("one");
    await shops.move("one", {}, new Map([["menu", "of the other"]]));
    await reader.heard("RESET default/one moved", "+ default/one menu of the other", "SYNCED default/one");
    expect(spaces.client("one")).not.to.equal(before);
    shops.set("one", "menu", "onion");
    shops.set("two", "menu", "onion");
    await reader.heard("= default/one menu onion", "= default/two menu onion");
    expect(failures).to.eql([]);
  });

  it("keep the old server while the new one is unreachable, over several moves", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    const old = shops.notes("one");
    for (const text of ["first", "second"]) {
      const away = await shops.move("one", { isDown: true }, new Map([["menu", text]]));
      // A watch fails there, unless the manager has found the Space not Ready before.
      const isAway = (): boolean => failures.length > 0 || spaces.engaged.length === 1;
      await until(() => away.opened === 0 && isAway(), { what: "a failure at the new server" });
      failures.length = 0;
      old.set("menu", `beside the ${text}`);
      await reader.heard(`= default/one menu beside the ${text}`);
    }
    await shops.wire("one").start();
    await reader.heard("RESET default/one moved", "+ default/one menu second", "SYNCED default/one");
  });

  it("lose nothing while credentials are revoked and replaced", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    const client = spaces.client("one");
    await shops.rotate("one", "nobody-knows-this");
    await when(spaces, () => spaces.space("one").config.credential?.token === "nobody-knows-this");
    shops.wire("one").cut();
    // The watch fails, unless the manager has found the Space not Ready before.
    const isRejected = (): boolean => failures.some((line) => /^default\/one: .*Unauthorized/.test(line));
    await until(() => isRejected() || spaces.engaged.length === 1, { what: "a failure" });
    shops.set("one", "menu", "onion");
    shops.set("two", "menu", "onion");
    await reader.heard("= default/two menu onion");
    await shops.rotate("one", "alice");
    await reader.heard("= default/one menu onion");
    expect(spaces.client("one")).to.equal(client);
  });

  it("continue with a Space that is not Ready", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    await shops.conceal("one");
    await when(spaces, () => spaces.engaged.length === 1);
    shops.set("one", "menu", "onion");
    await reader.heard("= default/one menu onion");
    await shops.rotate("one", "alice");
    await when(spaces, () => spaces.engaged.length === 2);
    shops.set("one", "menu", "cress");
    await reader.heard("= default/one menu cress");
  });

  it("add a Space without an effect on the streams of others", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    const opened = [shops.wire("one").opened, shops.wire("two").opened];
    await shops.open("three");
    await reader.heard("SYNCED default/three");
    await shops.remove("three");
    await reader.heard("LEFT default/three gone");
    expect([shops.wire("one").opened, shops.wire("two").opened]).to.eql(opened);
  });
});
