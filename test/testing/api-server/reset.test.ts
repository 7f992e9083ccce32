// The state of a test server after a reset.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import * as k8s from "@kubernetes/client-node";
import { startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { customObjects, kubeConfig, NAMESPACE, names, WIDGET, WIDGETS, widget, widgetCrd } from "./support/widgets.ts";

const CONTENT = { crds: [widgetCrd], objects: [widget("first", { status: { ready: true } })] };

describe("the reset of a test server", () => {
  it("restores CRDs and objects, with new uids, and removes everything else", async () => {
    await using server = await startTestServer(CONTENT);
    const widgets = server.client.resource(WIDGET).in("default");
    const before = await widgets.get("first");
    await widgets.create({ ...widget("second"), metadata: { name: "second", finalizers: ["example.dev/never"] } });
    await widgets.delete("second");
    await server.client.resource(NAMESPACE).create({ metadata: { name: "new" } });
    await server.reset();
    expect(await names(server)).to.deep.equal(["first"]);
    const after = await widgets.get("first");
    expect(after).to.deep.include({ status: { ready: true } });
    expect(after.metadata.uid).not.to.equal(before.metadata.uid);
    expect((await server.client.resource(NAMESPACE).list()).items).to.have.length(4);
  });

  it("serves the kinds of the CRDs at once, even if a test has deleted one", async () => {
    await using server = await startTestServer(CONTENT);
    const crds = {
      ...WIDGET,
      group: "apiextensions.k8s.io",
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      scope: "Cluster",
    } as const;
    for (let round = 0; round < 20; round++) {
      await server.client.resource(crds).delete("widgets.example.dev");
      await server.reset();
      const made = await customObjects(server).createNamespacedCustomObject({
        ...WIDGETS,
        body: widget("second", { spec: {} }),
      });
      expect(made.spec).to.deep.equal({ size: 1 });
    }
  });

  it("ends open watches cleanly, without events for the objects that are gone", async () => {
    await using server = await startTestServer(CONTENT);
    const types: string[] = [];
    const watched = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    const abort = await new k8s.Watch(kubeConfig(server)).watch(
      "/apis/example.dev/v1/namespaces/default/widgets",
      {},
      (type) => {
        types.push(type);
        watched.resolve();
      },
      ended.resolve,
    );
    await watched.promise;
    await server.reset();
    expect(await ended.promise).to.equal(null);
    expect(types).to.deep.equal(["ADDED"]);
    abort.abort();
  });

  it("lets an informer of the earlier state list again", async () => {
    await using server = await startTestServer(CONTENT);
    const api = customObjects(server);
    const informer = k8s.makeInformer(kubeConfig(server), "/apis/example.dev/v1/namespaces/default/widgets", () =>
      api.listNamespacedCustomObject(WIDGETS),
    );
    const seen = new Map<string, () => void>();
    const seeing = (name: string): Promise<void> => new Promise((resolve) => seen.set(name, resolve));
    informer.on("add", ({ metadata }) => seen.get(metadata?.name ?? "")?.());
    informer.on("delete", ({ metadata }) => seen.get(`-${metadata?.name}`)?.());
    let stopped = false;
    informer.on("error", () => {
      if (!stopped) void informer.start();
    });
    await server.client.resource(WIDGET).in("default").create(widget("second"));
    const both = Promise.all([seeing("first"), seeing("second")]);
    await informer.start();
    await both;
    const gone = seeing("-second");
    await server.reset();
    await gone;
    stopped = true;
    await informer.stop();
  });

  it("never tells a client that lists after it that its version is expired", async () => {
    await using server = await startTestServer(CONTENT);
    const widgets = server.client.resource(WIDGET).in("default");
    for (let round = 0; round < 30; round++) {
      await widgets.create(widget("second"));
      await server.reset();
      const { metadata } = await widgets.list({ resourceVersion: "0" });
      const signal = AbortSignal.timeout(20_000);
      const watch = widgets.watch({ resourceVersion: metadata.resourceVersion ?? "", signal });
      await widgets.create(widget("third"));
      const { value } = await watch.next();
      expect(value?.object).to.have.nested.property("metadata.name", "third");
      await watch.return();
    }
  });

  it("runs one after another", async () => {
    await using server = await startTestServer(CONTENT);
    await Promise.all([server.reset(), server.reset(), server.reset()]);
    expect(await names(server)).to.deep.equal(["first"]);
  });

  it("is an error after close, which removes the kubeconfig files", async () => {
    const server = await startTestServer();
    const file = server.kubeconfigFile;
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(statSync(dirname(file)).mode & 0o777).to.equal(0o700);
    await server.close();
    expect(existsSync(dirname(file))).to.equal(false);
    expect(() => server.reset()).to.throw("the test server is closed: reset it before close");
  });
});
