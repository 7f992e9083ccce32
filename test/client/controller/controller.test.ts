import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type ControllerOptions,
  controller,
  Informer,
  ownerKeys,
  type ReconcileFailure,
  related,
  terminal,
} from "@virtual-workspaces/client";
import { keyText } from "@virtual-workspaces/client/queue";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { Part, type Shard, startShard, Widget } from "../support/shard.ts";

type Options = ControllerOptions<Awaited<ReturnType<typeof widgetOf>>>;
const widgetOf = (shard: Shard) => shard.client.resource(Widget).get("");

/** Starts a controller of a shard's widgets, and records its reconciles. */
function start(shard: Shard, reconcile: Options["reconcile"], options: Partial<Options> = {}) {
  const stack = new AsyncDisposableStack();
  const informer = stack.use(new Informer({ resource: shard.client.resource(Widget) }).start());
  const failures: ReconcileFailure[] = [];
  const running = stack.use(
    controller({
      name: "widgets",
      sources: [{ informer }],
      reconcile,
      onError: (failure) => void failures.push(failure),
      ...options,
    }),
  );
  return { running, informer, failures, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe("controller", () => {
  let shard: Shard;
  beforeEach(async () => {
    shard = await startShard();
  });
  afterEach(() => shard[Symbol.asyncDispose]());

  it("reconciles existing and changed objects, and deleted ones without an object", async () => {
    const widgets = shard.widgets.in("root", "default");
    widgets.set("a", { size: 1 });
    const seen: string[] = [];
    await using it = start(shard, (key, { object, attempt }) => {
      seen.push(`${keyText(key)} ${object?.spec?.size} ${attempt}`);
    });
    await it.running.started;
    expect(it.running.state).to.equal("running");
    await until(() => seen.length === 1, { what: "a" });
    widgets.set("a", { size: 2 });
    await until(() => seen.length === 2, { what: "a changed" });
    widgets.delete("a");
    await until(() => seen.length === 3, { what: "a deleted" });
    const id = "root|default/a";
    expect(seen).to.eql([`${id} 1 1`, `${id} 2 1`, `${id} undefined 1`]);
    expect(it.running.metrics).to.include({ succeeded: 3, failed: 0 });
  });

  it("reconciles an object of one cluster once, among many clusters (C7)", async () => {
    for (let n = 0; n < 20; n++) shard.widgets.in(`c${n}`, "default").set("same", { size: n });
    const seen: string[] = [];
    await using _ = start(shard, ({ cluster }, { object }) => {
      seen.push(`${cluster}=${object?.spec?.size}`);
    });
    await until(() => seen.length === 20, { what: "all" });
    shard.widgets.in("c7", "default").set("same", { size: 70 });
    await until(() => seen.length > 20, { what: "one more" });
    shard.widgets.in("other", "default").set("last", {});
    await until(() => seen.at(-1) === "other=undefined", { what: "the last" });
    expect(seen.slice(20)).to.eql(["c7=70", "other=undefined"]);
    expect(new Set(seen.slice(0, 20)).size).to.equal(20);
  });

  it("retries and reports failures, but retries conflicts silently", async () => {
    shard.widgets.in("root", "default").set("a", {});
    const attempts: number[] = [];
    await using it = start(shard, (_key, { attempt }) => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error("not yet");
      if (attempt === 3)
        throw ApiError.conflict({ group: "test.dev", resource: "widgets" }, "a", "somebody was faster");
    });
    await until(() => attempts.length === 4, { what: "four attempts" });
    expect(attempts).to.eql([1, 2, 3, 4]);
    expect(it.failures.map(({ error, attempt, retryAfter }) => [String(error), attempt, retryAfter])).to.eql([
      ["Error: not yet", 1, 5],
      ["Error: not yet", 2, 10],
    ]);
    await until(() => it.running.metrics.succeeded === 1, { what: "counted" });
    expect(it.running.metrics).to.include({ succeeded: 1, failed: 2, conflicts: 1 });
  });

  it("does not retry terminal errors", async () => {
    const widgets = shard.widgets.in("root", "default");
    widgets.set("a", {});
    let calls = 0;
    await using it = start(shard, () => {
      calls++;
      throw terminal("no such size");
    });
    await until(() => it.failures.length === 1, { what: "reported" });
    expect(it.failures[0]).to.not.have.property("retryAfter");
    expect(String(it.failures[0]?.error)).to.equal("TerminalError: no such size");
    expect(it.running.metrics.queue).to.include({ delayed: 0, depth: 0, retries: 0 });
    widgets.set("a", { size: 3 });
    await until(() => calls === 2, { what: "tried again as it changed" });
  });

  it("does not retry before Retry-After", async () => {
    shard.widgets.in("root", "default").set("a", {});
    await using it = start(shard, () => {
      throw ApiError.tooManyRequests("later", 3600);
    });
    await until(() => it.failures.length === 1, { what: "reported" });
    expect(it.failures[0]?.retryAfter).to.equal(3_600_000);
  });

  it("reconciles again after requeueAfter", async () => {
    shard.widgets.in("root", "default").set("a", {});
    let calls = 0;
    await using _ = start(shard, () => (++calls < 3 ? { requeueAfter: 1 } : undefined));
    await until(() => calls === 3, { what: "three times" });
  });

  it("aborts a reconcile at its timeout, and retries it", async () => {
    shard.widgets.in("root", "default").set("a", {});
    const reasons: unknown[] = [];
    const hang = (
      _key: unknown,
      { signal, attempt }: { signal: AbortSignal; attempt: number },
    ): Promise<void> | void =>
      attempt > 1
        ? undefined
        : new Promise((_, reject) => {
            signal.addEventListener("abort", () => reasons.push(signal.reason));
            signal.addEventListener("abort", () => reject(signal.reason));
          });
    await using it = start(shard, hang, { timeout: 20 });
    await until(() => it.running.metrics.succeeded === 1, { what: "done" });
    expect(it.running.metrics).to.include({ failed: 1, timeouts: 1 });
    expect(String(reasons)).to.equal("TimeoutError: reconcile exceeded its timeout of 20 ms");
  });

  it("reconciles several keys concurrently, but never one key twice at a time", async () => {
    const widgets = shard.widgets.in("root", "default");
    for (const name of ["a", "b", "c"]) widgets.set(name, { size: 0 });
    const underWay = new Map<string, number>();
    let most = 0;
    const last = new Map<string, unknown>();
    await using _ = start(
      shard,
      async ({ name }, { object }) => {
        const now = (underWay.get(name) ?? 0) + 1;
        expect(now, name).to.equal(1);
        underWay.set(name, now);
        most = Math.max(most, underWay.size);
        await new Promise((resolve) => setTimeout(resolve, 1));
        last.set(name, object?.spec?.size);
        underWay.delete(name);
      },
      { workers: 3 },
    );
    for (let n = 1; n <= 100; n++) for (const name of ["a", "b", "c"]) widgets.set(name, { size: n });
    await until(() => ["a", "b", "c"].every((name) => last.get(name) === 100), { what: "the last of each" });
    expect(most).to.equal(3);
  });

  it("reconciles the current and the previous owner of a changed object", async () => {
    const widgets = shard.widgets.in("root", "default");
    const parts = shard.client.cluster("root").resource(Part).in("default");
    const owner = (name: string) => {
      const { uid = "" } = widgets.set(name, {}).metadata;
      return [{ apiVersion: "test.dev/v1beta1", kind: "Widget", name, uid }];
    };
    const [a, b] = [owner("a"), owner("b")];
    const stack = new AsyncDisposableStack();
    await using _ = stack;
    const related_ = stack.use(new Informer({ resource: shard.client.resource(Part) }).start());
    const informer = stack.use(new Informer({ resource: shard.client.resource(Widget) }).start());
    const seen: string[] = [];
    stack.use(
      controller({
        name: "owners",
        sources: [{ informer }, related(related_, ownerKeys(Widget))],
        reconcile: ({ name }) => void seen.push(name),
        onError: ({ error }) => expect.fail(String(error)),
      }),
    );
    await until(() => seen.length === 2, { what: "both" });
    const part = await parts.create({ metadata: { name: "p", ownerReferences: a }, spec: {} });
    await until(() => seen.length === 3, { what: "a" });
    await parts.update({ ...part, metadata: { ...part.metadata, ownerReferences: b } });
    await until(() => seen.length === 5, { what: "a and b" });
    await parts.delete("p");
    await until(() => seen.length === 6, { what: "b" });
    expect([seen[2], seen.slice(3, 5).sort(), seen[5]]).to.eql(["a", ["a", "b"], "b"]);
  });

  it("finishes running reconciles when it stops, and starts none afterwards", async () => {
    const widgets = shard.widgets.in("root", "default");
    for (let n = 0; n < 10; n++) widgets.set(`w${n}`, {});
    const release = Promise.withResolvers<void>();
    let [began, ended] = [0, 0];
    await using it = start(shard, async (_key, { signal }) => {
      began++;
      await release.promise;
      expect(signal.aborted).to.equal(false);
      ended++;
    });
    await until(() => began === 1, { what: "one is under way" });
    const stopped = it.running.stop();
    expect(it.running.state).to.equal("stopping");
    release.resolve();
    await stopped;
    expect([began, ended, it.running.state]).to.eql([1, 1, "stopped"]);
    widgets.set("late", {});
    await until(() => it.informer.store.list().length === 11, { what: "the informer has it" });
    expect([began, it.running.metrics.queue.depth]).to.eql([1, 0]);
  });

  it("aborts a reconcile that exceeds the grace time, without counting a failure", async () => {
    shard.widgets.in("root", "default").set("a", {});
    let began = false;
    await using it = start(
      shard,
      (_key, { signal }) =>
        new Promise((_, reject) => {
          began = true;
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
      { grace: 10 },
    );
    await until(() => began, { what: "it is under way" });
    await it.running.stop();
    expect(it.failures).to.eql([]);
    expect(it.running.metrics.queue).to.include({ working: 0, delayed: 0 });
  });

  it("stops when its signal aborts, even before it has started", async () => {
    const abort = new AbortController();
    await using it = start(shard, () => expect.fail("no work"), { signal: abort.signal });
    abort.abort();
    expect(await it.running.started.catch(String)).to.equal("Error: controller widgets: stopped");
    await it.running.stop();
    expect(it.running.state).to.equal("stopped");
  });

  it("rejects `started` and stops if a source never syncs", async () => {
    const failures: unknown[] = [];
    await using informer = new Informer({ resource: shard.client.resource({ ...Part, plural: "none" }) });
    await using it = controller({
      name: "none",
      sources: [{ informer }],
      reconcile: () => expect.fail("no work"),
      onError: ({ error }) => void failures.push(error),
    });
    // An informer retries forever; `synced` rejects only when it stops.
    await informer.start().stop();
    expect(await it.started.catch(String)).to.equal("Error: informer of none: stopped before it was synced");
    expect(failures.map(String)).to.eql([await it.started.catch(String)]);
    await it.stop();
  });
});
