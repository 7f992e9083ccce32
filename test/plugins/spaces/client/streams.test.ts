// Watches across Spaces as streams: pace, fairness, end and cleanup.
import { followSpaces, type Spaces, type SpaceWatchOptions } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { type FaultyUpstream, faults, type Rule } from "../../../_support/faulty.ts";
import { ManualClock } from "../../../_support/manual-clock.ts";
import { until } from "../../../_support/until.ts";
import { NOTE, QUICK } from "../../../client/informer/support.ts";
import { Reader } from "../support/reader.ts";
import { isList, Shops } from "../support/shops.ts";

const { backoff } = QUICK;
const AT_FIRST = ["SYNCED default/one", "SYNCED default/two"] as const;

describe("streams across Spaces", function () {
  this.timeout(60_000);
  let shops: Shops;
  let spaces: Spaces;
  let clock: ManualClock;
  const failures: string[] = [];

  beforeEach(async () => {
    clock = new ManualClock();
    failures.length = 0;
    shops = await Shops.start("one", "two");
    const onError = ({ error }: { readonly error: unknown }): void => void failures.push(String(error));
    spaces = followSpaces({ client: shops.management.client, namespace: "default", clock, onError });
    await spaces.synced;
  });
  afterEach(async () => {
    await spaces[Symbol.asyncDispose]();
    await shops[Symbol.asyncDispose]();
  });
  const watched = (options: SpaceWatchOptions = {}): Reader => new Reader(spaces.watch(NOTE, { backoff, ...options }));
  /** Waits until all pending data has arrived over loopback. */
  const arrived = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it("deliver an event of a Space within a round, however many events of another Space wait", async () => {
    await using reader = watched();
    await reader.heard(...AT_FIRST);
    reader.hold();
    for (let n = 0; n < 10_000; n++) shops.set("one", `n${n}`, "");
    await until(() => reader.lines.length > AT_FIRST.length, { what: "one event" });
    shops.set("two", "menu", "pea");
    await arrived();
    const before = reader.lines.length;
    reader.go();
    await until(() => reader.known.get("default/one")?.size === 10_000, { what: "all of them" });
    expect(reader.lines.indexOf("+ default/two menu pea") - before).to.be.within(0, 1);
    expect(reader.wrong).to.eql([]);
  });

  it("see events of other Spaces while one always has more", async () => {
    await using reader = watched();
    await reader.heard(...AT_FIRST);
    for (let n = 0; n < 20_000; n++) shops.set("one", `n${n}`, "");
    await until(() => reader.lines.length > AT_FIRST.length, { what: "one event" });
    shops.set("two", "menu", "pea");
    await until(() => reader.known.get("default/one")?.size === 20_000, { what: "all of them" });
    expect(reader.lines.indexOf("+ default/two menu pea")).to.be.within(0, 20_000);
  });

  it("slow the servers down for a slow reader, without lost events", async () => {
    await using reader = watched();
    await reader.heard(...AT_FIRST);
    reader.hold();
    const text = "x".repeat(20_000);
    const { bytes } = shops.wire("one");
    const before = bytes.sent;
    for (let n = 0; n < 2_000; n++) {
      shops.set("one", `n${n}`, text);
      if (n % 50 === 0) await arrived();
    }
    expect(bytes.sent - before).to.be.below((2_000 * text.length) / 2);
    reader.go();
    await until(() => reader.known.get("default/one")?.size === 2_000, { what: "all of them" });
    expect(reader.wrong).to.eql([]);
  });

  it("deliver nothing of a removed Space, however many of its events wait", async () => {
    await using reader = watched();
    await reader.heard(...AT_FIRST);
    reader.hold();
    shops.set("two", "menu", "pea");
    for (let n = 0; n < 100; n++) shops.set("one", `n${n}`, "");
    await arrived();
    await shops.remove("one");
    await until(() => spaces.states.length === 1, { what: "it is gone" });
    reader.go();
    await until(() => reader.lines.includes("LEFT default/one gone"), { what: "that it has left" });
    const left = reader.lines.indexOf("LEFT default/one gone");
    expect(left).to.be.below(AT_FIRST.length + 3);
    shops.set("two", "menu", "onion");
    await until(() => reader.lines.includes("= default/two menu onion"), { what: "the other" });
    expect(reader.lines.slice(left + 1).filter((line) => line.includes("default/one"))).to.eql([]);
  });

  it("report only the current state of a Space that was added and removed without a reader", async () => {
    await using reader = watched();
    await reader.heard(...AT_FIRST);
    reader.hold();
    shops.set("two", "menu", "pea");
    await arrived();
    for (let round = 0; round < 3; round++) {
      await shops.remove("one");
      await shops.found("one");
    }
    await shops.open("brief");
    await shops.remove("brief");
    await until(() => spaces.states.length === 2, { what: "it is gone" });
    reader.go();
    await until(() => reader.lines.at(-1) === "SYNCED default/one", { what: "what is there now" });
    const [, , , ...rest] = reader.lines;
    expect(rest).to.eql(["LEFT default/one gone", "SYNCED default/one"]);
  });

  const seventeen = async (): Promise<{ wire: FaultyUpstream; rule: Rule }> => {
    const names = Array.from({ length: 17 }, (_, n) => `z${n}`);
    for (const name of ["one", "two"]) await shops.remove(name);
    await shops.move("all");
    for (const name of names) await shops.alias(name, "all");
    await until(() => spaces.engaged.length === names.length, { what: "all are there" });
    const wire = shops.wire("all");
    return { wire, rule: wire.fail(faults.hang(), { on: isList }) };
  };

  it("start to read sixteen Spaces at a time; Spaces that do not respond do not block others", async () => {
    const { wire, rule } = await seventeen();
    await using reader = watched();
    await wire.until(() => rule.met === 16);
    await arrived();
    expect(rule.met).to.equal(16);
    rule[Symbol.dispose]();
    clock.advance(1_000);
    await until(() => reader.lines.length === 1, { what: "the last one" });
    expect(reader.lines[0]).to.match(/^SYNCED default\/z/);
    wire.cut();
    await until(() => reader.lines.length === 17, { what: "the others" });
  });

  it("behave like lists in that", async () => {
    const { wire, rule } = await seventeen();
    shops.set("all", "menu", "leek");
    const list = spaces.list(NOTE, { retries: false });
    await wire.until(() => rule.met === 16);
    await arrived();
    expect(rule.met).to.equal(16);
    clock.advance(1_000);
    await wire.until(() => rule.met === 17);
    wire.cut();
    const { items, failed } = await list;
    expect(items).to.eql([]);
    expect(failed).to.have.length(17);
    rule[Symbol.dispose]();
    expect((await spaces.list(NOTE)).failed).to.eql([]);
  });

  for (const way of ["the signal", "the end of the loop", "return, while it waits", "the end of Spaces"] as const)
    it(`end with ${way}, once, and leave nothing open`, async () => {
      const ended = new AbortController();
      const reason = new Error("enough");
      const stream = spaces.watch(NOTE, { backoff, signal: ended.signal });
      for (let left = 2; left > 0; ) if ((await stream.next()).value?.type === "SYNCED") left -= 1;
      if (way === "the end of the loop") await stream.return();
      else {
        const next = Promise.allSettled([stream.next()]);
        if (way === "the signal") ended.abort(reason);
        else if (way === "the end of Spaces") await spaces[Symbol.asyncDispose]();
        else await stream.return();
        const [result] = await next;
        expect(result).to.eql(
          way === "the signal"
            ? { status: "rejected", reason }
            : { status: "fulfilled", value: { done: true, value: undefined } },
        );
      }
      expect(await stream.next()).to.eql({ done: true, value: undefined });
      await shops.wire("one").until(({ requests, connections }) => requests.length > 0 && connections <= 1);
      shops.set("one", "menu", "leek");
      await spaces[Symbol.asyncDispose]();
      await shops.wire("one").until(({ connections }) => connections === 0);
      expect(failures).to.eql([]);
      expect((await spaces.watch(NOTE).next()).done).to.equal(true);
    });

  it("end at once with a signal that has aborted, without a request", async () => {
    const reason = new Error("never mind");
    const over = await spaces
      .watch(NOTE, { signal: AbortSignal.abort(reason) })
      .next()
      .catch((error) => error);
    expect(over).to.equal(reason);
    // The manager requests /apis to see whether the Space is Ready.
    expect(shops.wire("one").requests.filter(({ path }) => !path.endsWith("/apis"))).to.eql([]);
  });

  it("end with a programming error", async () => {
    const over = await spaces
      .watch(NOTE, { pageSize: 0 })
      .next()
      .catch(({ message }) => message);
    expect(over).to.equal("invalid pageSize of an informer: use a number from 1 to 100000");
    const none = { ...NOTE, plural: "../x" };
    expect(
      await spaces
        .watch(none)
        .next()
        .catch(({ code }) => code),
    ).to.equal(400);
  });
});
