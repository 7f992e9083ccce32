// Watches across spaces: what is told of each while they come, go, are away, forget, and are not what they were.
import { followSpaces, type Spaces, type SpaceWatchOptions } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { faults } from "../../../_support/faulty.ts";
import { until } from "../../../_support/until.ts";
import { NOTE, QUICK } from "../../../client/informer/support.ts";
import { when } from "../support/lent.ts";
import { Reader } from "../support/reader.ts";
import { isList, Shops } from "../support/shops.ts";

const { backoff } = QUICK;

describe("watches across spaces", function () {
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

  it("tell what is there, where that ends in each, and what happens then", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    shops.set("two", "menu", "onion");
    shops.delete("one", "menu");
    shops.set("one", "other", "cress");
    await reader.heard("= default/two menu onion", "- default/one menu leek", "+ default/one other cress");
    expect(failures).to.eql([]);
  });

  it("tell of what is selected, alone", async () => {
    shops.set("one", "other", "cress");
    await using reader = watched({ fields: "metadata.name=other" });
    await reader.heard("+ default/one other cress", "SYNCED default/one", "SYNCED default/two");
    shops.set("two", "menu", "onion");
    shops.set("two", "other", "kale");
    await reader.heard("+ default/two other kale");
  });

  it("tell once what a space has that comes, whatever happens in it meanwhile", async () => {
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

  it("say that a space has left, and nothing of it any more; one that is made again by its name is another", async () => {
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

  it("say nothing of a space that is away but by onError, and afterwards what has changed", async () => {
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

  it("tell what is in one that was away at first once it is there", async () => {
    await shops.wire("one").stop();
    await using reader = watched();
    await reader.heard(...TWO);
    await failed("one");
    await shops.wire("one").start();
    await reader.heard(...ONE);
  });

  it("begin anew with the one space whose server has forgotten, once it has said what there is", async () => {
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

  it("go on with how a space was reached until all is read at its other server, and tell that anew", async () => {
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

  it("stay with how a space was reached where the other server is away, over several of them", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    const old = shops.notes("one");
    for (const text of ["first", "second"]) {
      const away = await shops.move("one", { isDown: true }, new Map([["menu", text]]));
      await until(() => away.opened === 0 && failures.length > 0, { what: "it is asked there" });
      failures.length = 0;
      old.set("menu", `beside the ${text}`);
      await reader.heard(`= default/one menu beside the ${text}`);
    }
    await shops.wire("one").start();
    await reader.heard("RESET default/one moved", "+ default/one menu second", "SYNCED default/one");
  });

  it("lose nothing while credentials are revoked, and replaced", async () => {
    await using reader = watched();
    await reader.heard(...ONE, ...TWO);
    const client = spaces.client("one");
    await shops.rotate("one", "nobody-knows-this");
    await when(spaces, () => spaces.space("one").config.credential?.token === "nobody-knows-this");
    shops.wire("one").cut();
    await until(() => failures.some((line) => /^default\/one: .*Unauthorized/.test(line)), { what: "a failure" });
    shops.set("one", "menu", "onion");
    shops.set("two", "menu", "onion");
    await reader.heard("= default/two menu onion");
    await shops.rotate("one", "alice");
    await reader.heard("= default/one menu onion");
    expect(spaces.client("one")).to.equal(client);
  });

  it("go on with a space that is not Ready", async () => {
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

  it("engage one without disturbing the streams of others", async () => {
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
