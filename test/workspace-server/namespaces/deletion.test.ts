// Namespaces go with all that is in them, and say what keeps them.
import { memoryStore, type Store } from "@virtual-workspaces/store";
import { expect } from "chai";
import { counted } from "../support/counted.ts";
import { type Body, ClusterClient } from "../support/objects.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const NS = "/api/v1/namespaces/old";
const WIDGETS = "/apis/example.dev/v1/namespaces/old/widgets";

const widget = (name: string, metadata: object = {}): object => ({
  apiVersion: "example.dev/v1",
  kind: "Widget",
  metadata: { name, ...metadata },
});
const conditionsOf = (namespace: Body): string[] =>
  namespace.status.conditions.map(({ type, status, reason, message }: Body) =>
    [type, status, reason, message].join("|"),
  );
const said = (body: Body): number => body.status?.conditions?.length ?? 0;

describe("a namespace that is deleted", () => {
  it("goes with what is in it, of all kinds, and leaves everything else", async () => {
    await using server = await startWorkspaces();
    const client = new ClusterClient(server);
    const other = new ClusterClient(server, "another");
    for (const each of [client, other]) {
      await each.namespace("old");
      await each.configMap("a", {}, "old");
    }
    await client.namespace("older");
    await client.configMap("a", {}, "older");
    await client.widgets();
    await client.create(WIDGETS, widget("w"));
    const event = { apiVersion: "v1", kind: "Event", metadata: { name: "e" }, involvedObject: { namespace: "old" } };
    await client.create(`${NS}/events`, event);
    await client.delete(NS);
    await client.gone(NS);
    expect(await client.names(`${NS}/configmaps`)).to.deep.equal([]);
    expect(await client.names(`${NS}/serviceaccounts`)).to.deep.equal([]);
    expect(await client.names(`${NS}/events`)).to.deep.equal([]);
    expect(await client.names(WIDGETS)).to.deep.equal([]);
    expect(await client.names("/api/v1/namespaces/older/configmaps")).to.include("a");
    expect(await other.names(`${NS}/configmaps`)).to.include("a");
  });

  it("leaves nothing of what was on its way into it when it went", async () => {
    await using store = memoryStore();
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const written = Promise.withResolvers<void>();
    const slow: Store = new Proxy(store, {
      get: (target, name) => {
        if (name !== "commit") {
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        }
        return async (transaction: Parameters<Store["commit"]>[0]) => {
          const isIts = transaction.operations.some(({ key }) => /serviceaccounts.*old\W+default/.test(key));
          if (!isIts) return target.commit(transaction);
          held.resolve();
          await released.promise;
          return target.commit(transaction).finally(written.resolve);
        };
      },
    });
    await using server = await startWorkspaces(slow);
    const client = new ClusterClient(server);
    await client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "old" } });
    await held.promise;
    await client.delete(NS);
    await client.gone(NS);
    released.resolve();
    await written.promise;
    await client.until(`${NS}/serviceaccounts`, ({ body }) => body.items.length === 0);
  });

  it("stays while finalizers hold something in it, says so, and goes when they let go", async () => {
    await using store = memoryStore();
    const counts = counted(store);
    await using server = await startWorkspaces(counts.store);
    const client = new ClusterClient(server);
    await client.namespace("old");
    await client.widgets();
    await client.create(WIDGETS, widget("held", { finalizers: ["example.dev/hold"] }));
    await client.configMap("held", { finalizers: ["example.dev/hold", "example.dev/too"] }, "old");
    await client.delete(NS);
    const { body } = await client.until(NS, (answer) => said(answer.body) === 5);
    expect(body.status.phase).to.equal("Terminating");
    expect(conditionsOf(body)).to.deep.equal([
      "NamespaceDeletionDiscoveryFailure|False|ResourcesDiscovered|All resources successfully discovered",
      "NamespaceDeletionGroupVersionParsingFailure|False|ParsedGroupVersions|All legacy kube types successfully parsed",
      "NamespaceDeletionContentFailure|False|ContentDeleted|All content successfully deleted, may be waiting on finalization",
      "NamespaceContentRemaining|True|SomeResourcesRemain|Some resources are remaining: configmaps. has 1 resource instances, widgets.example.dev has 1 resource instances",
      "NamespaceFinalizersRemaining|True|SomeFinalizersRemain|Some content in the namespace has finalizers remaining: example.dev/hold in 2 resource instances, example.dev/too in 1 resource instances",
    ]);
    const refused = await client.send("POST", `${NS}/configmaps`, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "late" },
    });
    expect([refused.status, refused.body.message]).to.deep.equal([
      403,
      'configmaps "late" is forbidden: unable to create new content in namespace old because it is being terminated',
    ]);
    await counts.quiet();
    await client.patch(`${NS}/configmaps/held`, { metadata: { finalizers: null } });
    const { body: later } = await client.until(NS, ({ text }) => !text.includes("configmaps."));
    expect(conditionsOf(later)[3]).to.equal(
      "NamespaceContentRemaining|True|SomeResourcesRemain|Some resources are remaining: widgets.example.dev has 1 resource instances",
    );
    await client.patch(`${WIDGETS}/held`, { metadata: { finalizers: null } });
    await client.gone(NS);
  });

  it("is finished by the next server", async () => {
    await using store = memoryStore();
    {
      await using server = await startWorkspaces(store);
      const client = new ClusterClient(server);
      await client.namespace("old");
      await client.configMap("held", { finalizers: ["example.dev/hold"] }, "old");
      await client.delete(NS);
    }
    await using server = await startWorkspaces(store);
    const client = new ClusterClient(server);
    await client.until(NS, (answer) => said(answer.body) === 5);
    await client.patch(`${NS}/configmaps/held`, { metadata: { finalizers: null } });
    await client.gone(NS);
  });

  it("waits for its own finalizers besides", async () => {
    await using server = await startWorkspaces();
    const client = new ClusterClient(server);
    const spec = { finalizers: ["example.dev/mine"] };
    await client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "old" }, spec });
    await client.delete(NS);
    const { body } = await client.until(NS, (answer) => answer.body.spec.finalizers.length === 1);
    expect(body.spec.finalizers).to.deep.equal(["example.dev/mine"]);
    expect((await client.send("PUT", `${NS}/finalize`, { ...body, spec: {} })).status).to.equal(200);
    await client.gone(NS);
  });
});
