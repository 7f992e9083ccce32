// Controllers over informers, as programs use them: events of one become reconciles of the other.
import { controller, Informer, ownerKeys, related } from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { expect } from "chai";
import { startRelay } from "../../_support/relay.ts";
import { until } from "../../_support/until.ts";
import { clientOf, Part, type Shard, startShard, Widget } from "../support/shard.ts";

const fail = ({ error }: { readonly error: unknown }): never => {
  throw error;
};

describe("a controller over informers", () => {
  let shard: Shard;
  let stack: AsyncDisposableStack;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    shard = stack.use(await startShard());
  });
  afterEach(() => stack.disposeAsync());

  const parts = (cluster: string) => stack.use(new Informer({ resource: inCluster(cluster).resource(Part) }));
  const widgets = (cluster: string) => stack.use(new Informer({ resource: inCluster(cluster).resource(Widget) }));
  const inCluster = (cluster: string) => shard.client.cluster(cluster);

  it("starts after the initial lists of all informers, whose objects have lower priority than changes", async () => {
    for (const name of ["a", "b", "c"]) shard.widgets.in("root", "default").set(name, {});
    const [first, second] = [widgets("root"), parts("root")];
    const seen: string[] = [];
    const it = stack.use(
      controller({
        name: "both",
        sources: [{ informer: first }, related(second, ownerKeys(Widget))],
        reconcile: ({ name }) => void seen.push(name),
        onError: fail,
      }),
    );
    await first.start().synced;
    expect([it.state, it.metrics.queue.depth, seen.length]).to.eql(["starting", 3, 0]);
    second.start();
    await it.started;
    it.add({ cluster: "root", namespace: "default", name: "now" });
    await until(() => seen.length === 4, { what: "all" });
    expect([...seen].sort()).to.eql(["a", "b", "c", "now"]);
  });

  for (const [kind, cluster] of [
    ["one cluster", "root"],
    ["all clusters", "*"],
  ] as const)
    it(`finds the owner of a changed object by the keys of ${kind}`, async () => {
      const owner = shard.widgets.in("root", "default").set("a", { size: 7 });
      shard.widgets.in("other", "default").set("a", { size: 8 });
      const { uid = "" } = owner.metadata;
      const seen: string[] = [];
      const it = stack.use(
        controller({
          name: "owners",
          sources: [{ informer: widgets(cluster).start() }, related(parts(cluster).start(), ownerKeys(Widget))],
          reconcile: (key, { object }) => void seen.push(`${keyText(key)} ${object?.spec.size}`),
          onError: fail,
        }),
      );
      await it.started;
      await until(() => seen.length === (cluster === "*" ? 2 : 1), { what: "what was there" });
      seen.length = 0;
      const ownerReferences = [{ apiVersion: "test.dev/v1", kind: "Widget", name: "a", uid }];
      await inCluster("root")
        .resource(Part)
        .in("default")
        .create({ metadata: { name: "p", ownerReferences }, spec: {} });
      await until(() => seen.length === 1, { what: "the owner" });
      expect(seen).to.eql(["root|default/a 7"]);
    });

  it("reconciles an object once that was deleted while its informer was stopped", async () => {
    const at = shard.widgets.in("root", "default");
    at.set("a", { size: 1 });
    at.set("b", { size: 1 });
    const informer = widgets("root").start();
    const seen: string[] = [];
    const it = stack.use(
      controller({
        name: "deletes",
        sources: [{ informer }],
        reconcile: ({ name }, { object }) => void seen.push(`${name} ${object?.spec.size}`),
        onError: fail,
      }),
    );
    await it.started;
    await until(() => seen.length === 2, { what: "both" });
    await informer.stop();
    at.delete("a");
    at.set("b", { size: 2 });
    await informer.start().synced;
    await until(() => seen.length === 4, { what: "what has changed" });
    at.set("last", { size: 9 });
    await until(() => seen.length === 5, { what: "the last" });
    expect(seen.slice(2).sort()).to.eql(["a undefined", "b 2", "last 9"]);
  });

  it("survives broken connections without reconciling unchanged objects", async () => {
    const relay = stack.use(await startRelay(Number(new URL(shard.url).port)));
    const client = stack.use(clientOf(shard.url.replace(/:\d+/, `:${relay.port}`), shard.token));
    const at = shard.widgets.in("root", "default");
    for (let n = 0; n < 20; n++) at.set(`w${n}`, { size: 0 });
    const backoff = { first: 1, most: 5 };
    const informer = stack.use(new Informer({ resource: client.resource(Widget), backoff })).start();
    const seen: string[] = [];
    const it = stack.use(
      controller({
        name: "cuts",
        sources: [{ informer }],
        reconcile: ({ name }, { object }) => void seen.push(`${name} ${object?.spec.size}`),
        onError: fail,
      }),
    );
    await it.started;
    await until(() => seen.length === 20, { what: "all" });
    for (let n = 1; n <= 30; n++) {
      relay.cut();
      at.set(`w${n % 20}`, { size: n });
      await until(() => seen.length === 20 + n, { what: `change ${n}` });
    }
    expect(seen.slice(20)).to.eql(Array.from({ length: 30 }, (_, n) => `w${(n + 1) % 20} ${n + 1}`));
  });

  it("stops its subscriptions but not its informers, which another controller can use", async () => {
    shard.widgets.in("root", "default").set("a", { size: 1 });
    const informer = widgets("root").start();
    for (const round of [1, 2]) {
      const seen: unknown[] = [];
      const it = controller({
        name: `round ${round}`,
        sources: [{ informer }],
        reconcile: (_key, { object }) => void seen.push(object?.spec.size),
        onError: fail,
      });
      await until(() => seen.length === 1, { what: "what is there" });
      await it.stop();
      expect([seen, informer.connected]).to.eql([[1], true]);
    }
    expect(informer.metrics.watches).to.equal(1);
  });
});
