import { controller, endpointInformers, Informer } from "@virtual-workspaces/client";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { follow } from "../support/followed.ts";
import { type Gate, startGate } from "../support/gate.ts";
import { clientOf, EndpointSlice, type Shard, type Slices, startShard, startSlices, Widget } from "../support/shard.ts";

describe("an endpoint", () => {
  let stack: AsyncDisposableStack;
  let slices: Slices;
  let [one, two] = [] as unknown as [Shard, Shard];
  let gate: Gate;
  /** Address of `two` behind the gate. */
  let gated: string;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    slices = stack.use(await startSlices());
    [one, two] = [stack.use(await startShard()), stack.use(await startShard())];
    gate = stack.use(await startGate(Number(new URL(two.url).port)));
    gated = two.url.replace(/:\d+/, `:${gate.port}`);
  });
  afterEach(() => stack.disposeAsync());
  const shards = (): Record<string, Shard> => ({ [one.url]: one, [two.url]: two, [gated]: two });

  it("is retried if unreachable, with its error in the status, and blocks no other", async () => {
    one.widgets.in("a", "default").set("x", { size: 1 });
    two.widgets.in("b", "default").set("x", { size: 2 });
    slices.list(gated, one.url);
    await using it = follow(slices, shards());
    await it.running.started;
    await until(() => it.told.length === 1, { what: "one" });
    const status = it.informers.endpoints.statuses.find(({ url }) => url === gated);
    expect(status).to.include({ ready: "False", reason: "Failed" });
    expect(status?.message).to.match(/127\.0\.0\.1/);
    expect(it.failures[0]?.url).to.equal(gated);
    gate.open();
    await until(() => it.told.length === 2, { what: "the other" });
    expect(it.informers.endpoints.statuses.map(({ ready, failures }) => [ready, failures])).to.eql([
      ["True", 0],
      ["True", 0],
    ]);
    const told = it.failures.length;
    gate.cut();
    await until(() => it.failures.length > told, { what: "a failure that is got over" });
    expect(it.failures.at(-1)?.url).to.equal(gated);
    expect(it.informers.endpoints.statuses.map(({ ready }) => ready)).to.eql(["True", "True"]);
    two.widgets.in("b", "default").set("x", { size: 3 });
    await until(() => it.world.get("b|default/x") === 3, { what: "it goes on" });
  });

  it("hands its clusters over if another one lists them: nothing is gone before that one has synced", async () => {
    for (const shard of [one, two]) shard.widgets.in("moved", "default").set("x", { size: 1 });
    one.widgets.in("lost", "default").set("x", { size: 1 });
    slices.list(one.url);
    await using it = follow(slices, shards());
    await until(() => it.told.length === 2, { what: "both" });
    slices.list(gated);
    await until(() => gate.refused > 0, { what: "the other is refused" });
    expect(it.told).to.have.length(2);
    gate.open();
    await until(() => it.told.includes("lost|default/x gone"), { what: "the lost one is gone" });
    two.widgets.in("moved", "default").set("x", { size: 5 });
    await until(() => it.world.get("moved|default/x") === 5, { what: "the moved one goes on" });
    expect(it.told.filter((text) => /gone|deleted/.test(text))).to.eql(["lost|default/x gone"]);
  });

  it("does not wait for its heirs longer than `handOver`", async () => {
    one.widgets.in("a", "default").set("x", { size: 1 });
    slices.list(one.url);
    await using it = follow(slices, shards(), { handOver: 20 });
    await until(() => it.told.length === 1, { what: "one" });
    slices.list(gated);
    await until(() => it.told.length === 2, { what: "gone" });
    expect(it.told[1]).to.equal("a|default/x gone");
  });

  it("ends running reconciles when it is removed, then calls `gone`, and nothing later", async () => {
    one.widgets.in("a", "default").set("x", { size: 1 });
    slices.list(one.url);
    const told: string[] = [];
    await using informers = endpointInformers({
      resource: slices.client.resource(EndpointSlice),
      name: "shards",
      connect: (url) => clientOf(url, one.token),
      informers: { widgets: ({ client }) => new Informer({ resource: client.resource(Widget) }).start() },
      onError: ({ error }) => expect.fail(String(error)),
    });
    let fails = true;
    await using running = controller({
      name: "slow",
      sources: [{ informer: informers.sources.widgets }],
      reconcile: (_key, { signal }) => {
        told.push("begins");
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            told.push("ends");
            resolve({ requeueAfter: 1 });
          });
        });
      },
      gone: () => {
        told.push("gone");
        if (fails) {
          fails = false;
          throw new Error("once more");
        }
      },
      onError: ({ error }) => void told.push(String(error)),
    });
    await until(() => told.length === 1, { what: "work is under way" });
    one.widgets.in("a", "default").set("x", { size: 2 });
    slices.list();
    await until(() => running.metrics.gone === 1, { what: "told" });
    expect(told).to.eql(["begins", "ends", "gone", "Error: once more", "gone"]);
    expect(running.metrics.queue).to.include({ depth: 0, delayed: 0, working: 0 });
    await running.stop();
    expect(told).to.have.length(5);
  });
});
