// Controllers across Spaces: fairness, and cleanup after a Space is removed.
import { type Controller, type ControllerOptions, controller, Informer } from "@virtual-workspaces/client";
import { followSpaces, type Spaces } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { until } from "../../../_support/until.ts";
import { NOTE, type NoteObject } from "../../../client/informer/support.ts";
import { Shops } from "../support/shops.ts";

describe("controllers across Spaces", function () {
  this.timeout(60_000);
  let shops: Shops;
  let spaces: Spaces;
  let stack: AsyncDisposableStack;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    shops = stack.use(await Shops.start("one", "two"));
    spaces = stack.use(
      followSpaces({ client: shops.management.client, namespace: "default", onError: () => undefined }),
    );
  });
  afterEach(() => stack.disposeAsync());

  const run = async (
    options: Pick<ControllerOptions<NoteObject>, "reconcile" | "gone">,
  ): Promise<Controller<NoteObject>> => {
    const notes = ({ client }: { readonly client: Spaces["engaged"][number]["client"] }) =>
      new Informer({ resource: client.resource(NOTE) }).start();
    const informers = stack.use(spaces.informers({ informers: { notes } }));
    await informers.synced;
    return stack.use(
      controller({
        name: "notes",
        sources: [{ informer: informers.sources.notes }],
        workers: 1,
        onError: () => undefined,
        ...options,
      }),
    );
  };

  it("process a Space's work within a round, however much work another Space has", async () => {
    for (let n = 0; n < 10_000; n++) shops.set("one", `n${n}`, "");
    shops.set("two", "menu", "pea");
    const served: string[] = [];
    const running = await run({ reconcile: ({ cluster }) => void served.push(cluster) });
    await until(() => served.length === 10_001, { what: "all of them" });
    expect(served.indexOf("default/two")).to.be.within(0, 1);
    shops.set("two", "menu", "onion");
    await until(() => served.length === 10_002, { what: "the change" });
    expect(running.metrics.queue).to.include({ depth: 0, delayed: 0, working: 0 });
  });

  it("drop all work of a removed Space, including retries", async () => {
    for (let n = 0; n < 200; n++) shops.set("one", `n${n}`, "");
    shops.set("two", "menu", "pea");
    const failed = new Set<string>();
    const gone = new Set<string>();
    const later = new Error("not yet");
    const running = await run({
      reconcile: ({ cluster, name }) => {
        if (cluster === "default/two") return;
        failed.add(name);
        throw later;
      },
      gone: ({ cluster, name }) => void gone.add(`${cluster} ${name}`),
    });
    await until(() => failed.size === 200, { what: "all have failed" });
    expect(running.metrics.queue.delayed + running.metrics.queue.depth).to.be.above(0);
    await shops.remove("one");
    await until(() => gone.size === 200, { what: "all are gone" });
    expect([...gone].every((key) => key.startsWith("default/one "))).to.equal(true);
    await until(() => running.metrics.queue.working === 0, { what: "nothing is left" });
    expect(running.metrics.queue).to.include({ depth: 0, delayed: 0, working: 0 });
  });
});
