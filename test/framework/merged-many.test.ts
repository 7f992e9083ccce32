// Many sources, large sources, and many readers: no reader waits for the work of others, or sees data of others.
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { merged, type ViewSource, view } from "@virtual-workspaces/framework";
import type { CacheLease, Scope } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { FaultySource } from "../_support/faulty-source.ts";
import { Note } from "../_support/note.ts";
import { until } from "../_support/until.ts";

type Content = { spec: { text?: string } };

const scopeOf = (cluster: string, params: Scope["params"] = {}): Scope =>
  ({
    cluster,
    namespace: "",
    params,
    identity: { name: "alice", uid: "", groups: [], extra: {} },
  }) as unknown as Scope;
const signal = new AbortController().signal;
const namesOf = ({ cache }: CacheLease): string[] =>
  Array.from(cache.snapshot().objects.values(), ({ key }) => key.name);

/** A source of so many objects in a logical cluster. */
function filled(cluster: string, count: number): FaultySource<Content> {
  const objects = Note.collection({ history: { events: 10 } });
  for (let at = 0; at < count; at++) objects.in(cluster).set(`n${at}`, {});
  return new FaultySource<Content>(objects);
}

describe("sources of many objects", () => {
  it("are loaded over many turns without a timeout, also after a source lost its history", async () => {
    const large = filled("root", 3_000);
    const all = merged<Content>({ sources: { large }, shareKey: () => "", patience: 30, onError: () => undefined });
    let turns = 0;
    const over = new AbortController();
    using _over = { [Symbol.dispose]: () => over.abort() };
    void (async () => {
      for (; !over.signal.aborted; turns++) await nextTurn();
    })();
    using lease = await all.cache(scopeOf("*"));
    expect(lease.cache.size).to.equal(3_000);
    expect(turns, "turns of others meanwhile").to.be.above(0);
    expect(all.conditions[0]?.reason).to.equal("Connected");
    for (let at = 0; at < 2_999; at++) large.objects.in("root").set(`n${at}`, { text: "changed" });
    large.objects.in("root").delete("n2999");
    const before = turns;
    large.mend({ lost: true });
    large.objects.in("root").delete("n0");
    large.objects.in("root").set("new", {});
    await lease.confirm({ signal });
    expect(lease.cache.size).to.equal(2_999);
    expect(lease.cache.get({ cluster: "root", namespace: "", name: "n0" })).to.equal(undefined);
    expect(turns - before, "turns of others meanwhile").to.be.above(0);
  });

  it("show nothing when access is revoked while they load", async () => {
    const large = filled("root", 3_000);
    const other = filled("root", 0);
    const all = merged<Content>({
      sources: { large, other },
      shareKey: () => "",
      patience: 30,
      onError: () => undefined,
    });
    using lease = await all.cache(scopeOf("*"));
    for (let at = 0; at < 3_000; at++) large.objects.in("root").set(`n${at}`, { text: "changed" });
    large.mend({ lost: true });
    large.break("forbidden");
    await lease.confirm({ signal });
    await until(() => lease.cache.size <= 0);
    await delay(20);
    expect(namesOf(lease)).to.deep.equal([]);
  });
});

describe("the condition of a source", () => {
  it("is shared by its readers, and survives a new reader", async () => {
    const source = filled("root", 1);
    const all = merged<Content>({ sources: { source }, shareKey: () => "", patience: 5_000, onError: () => undefined });
    using _first = await all.cache(scopeOf("root"));
    const { lastTransitionTime } = all.conditions[0] ?? {};
    source.break("hung");
    const second = all.cache(scopeOf("other"));
    await nextTurn();
    expect(all.conditions[0]).to.deep.include({ status: "True", reason: "Connected", lastTransitionTime });
    source.mend();
    (await second)[Symbol.dispose]();
  });

  it("leaves the view ready when the source answers a client with 404", async () => {
    const source: ViewSource<Content> = {
      resource: Note,
      cache: () => {
        throw ApiError.notFound({ group: "", resource: "clusters" }, "nonsense");
      },
    };
    const all = merged<Content>({ sources: { source }, shareKey: () => "", onError: () => undefined });
    const failure = await all.cache(scopeOf("nonsense")).catch((error: ApiError) => error.code);
    expect(failure).to.equal(503);
    expect(all.conditions[0]?.reason).to.equal("Unreachable");
    expect(() => all.ready()).not.to.throw();
  });
});

describe("readers of several sources", () => {
  it("share nothing between different path parameters, in a nested view neither", async () => {
    const collections = { a: filled("root", 1), b: filled("root", 2) };
    const source: ViewSource<Content> = {
      resource: Note,
      cache: ({ params }) => collections[(params as { team: "a" | "b" }).team].cache(),
      shareKey: () => "",
    };
    const shown = view({ from: merged({ sources: { source }, shareKey: () => "" }) });
    using a = await shown.cache(scopeOf("root", { team: "a" }));
    using b = await shown.cache(scopeOf("root", { team: "b" }));
    expect([a.cache.size, b.cache.size]).to.deep.equal([1, 2]);
  });

  it("wait for a source that replaces the only one", async () => {
    const [hung, there] = [filled("root", 1), filled("root", 2)];
    hung.break("hung");
    const all = merged<Content>({ sources: { it: hung }, shareKey: () => "", patience: 100, onError: () => undefined });
    const opening = all.cache(scopeOf("root"));
    there.break("hung");
    all.setSource("it", there);
    setTimeout(() => there.mend(), 20);
    using lease = await opening;
    expect(lease.cache.size).to.equal(2);
    hung.mend();
  });
});
