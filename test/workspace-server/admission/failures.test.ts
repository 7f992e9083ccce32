// Webhooks that cannot be called, do not answer in time, or answer wrongly.
import { mountedServers } from "@virtual-workspaces/mounts";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { outcome } from "../../_support/plain.ts";
import { createAuthority } from "../../_support/server.ts";
import { until } from "../../_support/until.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import type { Workspaces } from "../support/workspaces.ts";
import { configure, hook, MAPS, makeMap, startConfigured } from "./support/configured.ts";
import { WebhookServer } from "./support/webhook.ts";

const CALL = /cannot call an admission webhook/;

describe("a failed call of a webhook", function () {
  this.timeout(30_000);
  let server: Workspaces;
  let webhooks: WebhookServer;
  let cluster: string;
  let count = 0;

  before(async () => {
    webhooks = await WebhookServer.start();
    server = await startConfigured();
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await webhooks[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    count += 1;
    cluster = await makeWorkspace(server, `ws-${count}`);
  });

  const validate = (...hooks: readonly object[]) =>
    configure(server, cluster, { kind: "Validating", name: "test", webhooks: hooks });
  /** Ends a streak of failures of earlier tests: only the first of a streak is logged. */
  const answers = async () => expect((await makeMap(server, cluster, { name: "first" })).status).to.equal(201);
  const failing = (name: string) => `Internal error occurred: failed calling webhook "${name}.example.dev": `;

  it("rejects the request with 500, or lets it pass with failurePolicy Ignore", async () => {
    const config = { clientConfig: { url: "https://127.0.0.1:1/none" } };
    await validate(hook(webhooks, "/none", config));
    const text = `${failing("none")}failed to call webhook: Post "https://127.0.0.1:1/none?timeout=10s": connect ECONNREFUSED 127.0.0.1:1`;
    expect(outcome(await makeMap(server, cluster, { name: "a" }))).to.deep.equal([500, "InternalError", text]);
    expectFault(CALL);
    const other = await makeWorkspace(server, `ignored-${count}`);
    const webhook = hook(webhooks, "/none", { ...config, failurePolicy: "Ignore" });
    await configure(server, other, { kind: "Validating", name: "test", webhooks: [webhook] });
    await configure(server, other, { kind: "Mutating", name: "test", webhooks: [webhook] });
    expect((await makeMap(server, other, { name: "a" })).status).to.equal(201);
  });

  it("ends after the webhook's own time limit", async () => {
    await validate(hook(webhooks, "/slow", { timeoutSeconds: 1 }));
    await answers();
    webhooks.at("/slow", () => ({ silent: true }));
    const startedAt = performance.now();
    const { status, body } = await makeMap(server, cluster, { name: "a" });
    expect(performance.now() - startedAt).to.be.within(900, 5_000);
    expect([status, body.message]).to.deep.equal([
      500,
      `${failing("slow")}failed to call webhook: Post "https://127.0.0.1:${webhooks.port}/slow?timeout=1s": context deadline exceeded`,
    ]);
    expectFault(CALL);
  });

  it("is one with a service whose name has no address, as in kcp", async () => {
    const service = { name: "hook", namespace: "default", path: "/a", port: 8443 };
    await validate(hook(webhooks, "/service", { clientConfig: { service } }));
    const { status, body } = await makeMap(server, cluster, { name: "a" });
    expect(status).to.equal(500);
    expect(body.message).to.match(
      /failed to call webhook: Post "https:\/\/hook\.default\.svc:8443\/a\?timeout=10s": .*getaddrinfo/,
    );
    expectFault(CALL);
  });

  it("is one with a server whose certificate another authority has signed", async () => {
    const caBundle = Buffer.from(createAuthority().ca).toString("base64");
    await validate(hook(webhooks, "/untrusted", { clientConfig: { ...webhooks.config("/untrusted"), caBundle } }));
    const { status, body } = await makeMap(server, cluster, { name: "a" });
    expect(status).to.equal(500);
    expect(body.message)
      .to.contain("failed to call webhook")
      .and.to.match(/certificate/);
    expect(webhooks.calls("/untrusted")).to.deep.equal([]);
    expectFault(CALL);
  });

  it("is an answer that is no AdmissionReview for the request", async () => {
    const wrong: readonly (readonly [whole: object, message: string])[] = [
      [{ code: 503 }, "unexpected status 503 instead of 200"],
      [
        { code: 302, headers: { location: `https://127.0.0.1:${webhooks.port}/elsewhere` } },
        "unexpected status 302 instead of 200",
      ],
      [{ body: [] }, "received invalid webhook response: the response is not a JSON object"],
      [{ body: {} }, "received invalid webhook response: webhook response was absent"],
      [
        { body: { response: { uid: "1", allowed: true } } },
        'received invalid webhook response: expected response.uid="',
      ],
    ];
    await validate(hook(webhooks, "/wrong"));
    await answers();
    for (const [whole, message] of wrong) {
      webhooks.at("/wrong", () => ({ whole }));
      const { status, body } = await makeMap(server, cluster, { name: "a" });
      expect([status, body.reason]).to.deep.equal([500, "InternalError"]);
      expect(body.message).to.contain(failing("wrong")).and.to.contain(message);
    }
    webhooks.at("/wrong", ({ uid }) => ({ whole: { body: { response: { uid, allowed: true } } } }));
    expect((await makeMap(server, cluster, { name: "a" })).body.message).to.contain(
      "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got , Kind=",
    );
    webhooks.at("/wrong", () => ({ patch: [{ op: "add", path: "/data", value: {} }] }));
    expect((await makeMap(server, cluster, { name: "a" })).body.message).to.contain(
      "validating webhook may not return response.patch",
    );
    expect(webhooks.calls("/elsewhere")).to.deep.equal([]);
    expectFault(CALL);
  });

  it("is a response above the limit on its length", async () => {
    await validate(hook(webhooks, "/long"));
    await answers();
    webhooks.at("/long", () => ({ warnings: ["x".repeat(5_000_000)] }));
    const { status, body } = await makeMap(server, cluster, { name: "a" });
    expect(status).to.equal(500);
    expect(body.message).to.contain("failed to call webhook").and.to.not.contain("xxx");
    expectFault(CALL);
  });

  it("stops further calls for a second after five in a row", async () => {
    const clientConfig = { url: "https://127.0.0.1:2/none" };
    await validate(hook(webhooks, "/many", { clientConfig }));
    const messages: string[] = [];
    for (let n = 0; n < 6; n++) messages.push((await makeMap(server, cluster, { name: "a" })).body.message);
    expect(messages.slice(0, 5).every((text) => text.includes("ECONNREFUSED"))).to.equal(true);
    expect(messages[5]).to.contain("not called, since the last calls failed: try again in a second");
    expectFault(CALL);
  });

  it("stops no calls of other webhooks at the same server: any user may configure one there", async () => {
    await validate(hook(webhooks, "/shared"));
    await answers();
    const other = await makeWorkspace(server, `other-${count}`);
    const silent = hook(webhooks, "/silent", { timeoutSeconds: 1 });
    await configure(server, other, { kind: "Validating", name: "test", webhooks: [silent] });
    webhooks.at("/silent", () => ({ silent: true }));
    const made = Array.from({ length: 5 }, (_, n) => makeMap(server, other, { name: `map-${n}` }));
    for (const { body } of await Promise.all(made)) expect(body.message).to.contain("context deadline exceeded");
    expect((await makeMap(server, other, { name: "map" })).body.message).to.contain("not called");
    expectFault(CALL);
    expect((await makeMap(server, cluster, { name: "a" })).status).to.equal(201);
    expect(webhooks.calls("/shared")).to.have.length(2);
  });

  it("is no request that its client cancels", async () => {
    await validate(hook(webhooks, "/cancelled"));
    webhooks.at("/cancelled", () => ({ silent: true }));
    const closed = webhooks.closed;
    for (let n = 1; n <= 5; n++) {
      const controller = new AbortController();
      const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
      const sent = fetch(`${server.url}/clusters/${cluster}/${MAPS}`, {
        method: "POST",
        headers: { authorization: "Bearer root", "content-type": "application/json" },
        body: JSON.stringify(map),
        signal: controller.signal,
      });
      await until(() => webhooks.calls("/cancelled").length === n, { what: "the call" });
      controller.abort();
      await sent.catch(() => undefined);
      await until(() => webhooks.closed === closed + n, { what: "the end of the call" });
    }
    webhooks.at("/cancelled", () => ({}));
    expect((await makeMap(server, cluster, { name: "a" })).status).to.equal(201);
  });

  it("is a webhook at a restricted address, or any where the server has no calls of webhooks", async () => {
    const refusals: string[] = [];
    const dial = mountedServers({ whose: "admission webhooks" }).dial;
    for (const options of [{ admissionWebhooks: { dial } }, {}]) {
      await using other = await startConfigured({ admissionWebhooks: undefined, ...options } as object);
      await configure(other, "root", { kind: "Validating", name: "test", webhooks: [hook(webhooks, "/guarded")] });
      const { status, body } = await makeMap(other, "root", { name: "a" });
      expect(status).to.equal(500);
      refusals.push(body.message.replace(/^.*timeout=10s": /, ""));
      expectFault(CALL);
    }
    expect(refusals).to.deep.equal([
      "127.0.0.1: its address is restricted for admission webhooks: ask the operator of this server to allow it",
      "this server calls no admission webhooks: ask its operator to allow it",
    ]);
    expect(webhooks.calls("/guarded")).to.deep.equal([]);
  });
});
