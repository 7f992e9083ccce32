// Time of a test server, advanced by the test.

import * as k8s from "@kubernetes/client-node";
import { startTestServer, type TestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { kubeConfig, names, WIDGET, widget, widgetCrd } from "./support/widgets.ts";

const MINUTE = 60_000;

describe("the clock of a test server", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ crds: [widgetCrd] });
  });
  after(() => server.close());

  it("lets Events expire an hour after their last write", async () => {
    const core = kubeConfig(server).makeApiClient(k8s.CoreV1Api);
    await core.createNamespacedEvent({
      namespace: "default",
      body: { metadata: { name: "e" }, involvedObject: { namespace: "default" }, reason: "Test" },
    });
    const events = async (): Promise<number> => (await core.listNamespacedEvent({ namespace: "default" })).items.length;
    server.clock.advance(59 * MINUTE);
    expect(await events()).to.equal(1);
    server.clock.advance(2 * MINUTE);
    expect(await events()).to.equal(0);
  });

  it("lets tokens of service accounts expire", async () => {
    const core = kubeConfig(server).makeApiClient(k8s.CoreV1Api);
    const { status } = await core.createNamespacedServiceAccountToken({
      namespace: "default",
      name: "default",
      body: { spec: { audiences: [], expirationSeconds: 600 } },
    });
    const config = kubeConfig(server);
    config.addUser({ name: "account", token: status?.token ?? "" });
    config.setCurrentContext("admin");
    config.getContexts()[0] = { name: "admin", cluster: "test", user: "account" };
    const review = (): Promise<unknown> =>
      config.makeApiClient(k8s.AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    await review();
    server.clock.advance(11 * MINUTE);
    const error = await review().then(
      () => expect.fail("the token is still valid"),
      (failed: unknown) => failed,
    );
    expect(error).to.include({ code: 401 });
    expect(Date.parse(String(status?.expirationTimestamp))).to.be.above(Date.now());
  });

  it("runs by itself, so that garbage is collected without it", async () => {
    const widgets = server.client.resource(WIDGET).in("default");
    const { metadata } = await widgets.create(widget("owner"));
    const owner = { apiVersion: "example.dev/v1", kind: "Widget", name: "owner", uid: metadata.uid ?? "" };
    await widgets.create({ ...widget("owned"), metadata: { name: "owned", ownerReferences: [owner] } });
    await widgets.delete("owner");
    await until(async () => (await names(server)).length === 0);
  });

  it("does not run backwards", () => {
    expect(() => server.clock.advance(-1)).to.throw("invalid time -1: advance the clock by 0 or more ms");
  });
});
