// Faults and recorded requests of a test server, seen by client-node and by our own client.
import { once } from "node:events";
import { connect } from "node:http2";
import * as k8s from "@kubernetes/client-node";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { Client } from "@virtual-workspaces/client";
import { startTestServer, type TestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { customObjects, kubeConfig, names, WIDGET, WIDGETS, widget, widgetCrd } from "./support/widgets.ts";

const CONTENT = { crds: [widgetCrd], objects: [widget("first", { spec: { size: 1 } })] };
const PATH = "/apis/example.dev/v1/namespaces/default/widgets";

describe("faults of a test server", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ ...CONTENT, users: { ann: { groups: ["system:masters"] } } });
  });
  afterEach(() => server.reset());
  after(() => server.close());

  it("answer 429 and 503 with Retry-After", async () => {
    server.faults.add({ verb: "list", resource: "widgets", fault: { type: "tooManyRequests", retryAfter: 7 } });
    const busy = await failure(customObjects(server).listNamespacedCustomObject(WIDGETS));
    expect(busy).to.deep.include({ code: 429 });
    expect(busy.headers).to.include({ "retry-after": "7" });
    server.faults.add({ fault: { type: "unavailable", retryAfter: 3 } });
    const away = await failure(customObjects(server).listNamespacedCustomObject(WIDGETS));
    expect(away).to.deep.include({ code: 503 });
    expect(away.headers).to.include({ "retry-after": "3" });
    server.faults.assertUsed();
  });

  it("are matched by verb, resource, name and user, and used up", async () => {
    const fault = server.faults.add({ verb: "update", resource: "widgets/status", user: "ann", fault: "conflict" });
    const [admin, ann] = [server.client, server.user("ann").client].map((one) => one.resource(WIDGET).in("default"));
    const object = await admin?.get("first");
    if (admin === undefined || ann === undefined || object === undefined) throw new Error("no client");
    await admin.status.update(object);
    await ann.get("first");
    expect(fault).to.include({ used: 0, left: 1 });
    const error = await failure(ann.status.update(await ann.get("first")));
    expect(error).to.be.instanceOf(ApiError);
    expect(error.code).to.equal(409);
    expect(fault).to.include({ used: 1, left: 0 });
    await ann.status.update(await ann.get("first"));
  });

  it("let requests pass first with skip, and repeat with times", async () => {
    const api = customObjects(server);
    server.faults.add({ verb: "create", skip: 1, times: 2, fault: "conflict" });
    const codes: unknown[] = [];
    for (const name of ["a", "b", "c", "d"])
      codes.push(
        await api.createNamespacedCustomObject({ ...WIDGETS, body: widget(name) }).then(
          () => 201,
          (error: { readonly code: number }) => error.code,
        ),
      );
    expect(codes).to.deep.equal([201, 409, 409, 201]);
    expect(await names(server)).to.deep.equal(["a", "d", "first"]);
  });

  it("answer a watch with an ERROR event of code 410, after which an informer lists again", async () => {
    const [fault, api] = [
      server.faults.add({ verb: "watch", resource: "widgets", fault: "expired" }),
      customObjects(server),
    ];
    let lists = 0;
    const added = Promise.withResolvers<void>();
    const informer = k8s.makeInformer(kubeConfig(server), PATH, () => {
      lists += 1;
      return api.listNamespacedCustomObject(WIDGETS);
    });
    informer.on("add", ({ metadata }) => (metadata?.name === "late" ? added.resolve() : undefined));
    await informer.start();
    await server.requests.find({ verb: "watch" });
    await server.client.resource(WIDGET).in("default").create(widget("late"));
    await added.promise;
    expect(lists).to.equal(2);
    expect(fault.left).to.equal(0);
    await informer.stop();
  });

  it("answer a list with 410, and any request with a Status of any kind", async () => {
    server.faults.add({ verb: "list", fault: "expired" });
    expect((await failure(customObjects(server).listNamespacedCustomObject(WIDGETS))).code).to.equal(410);
    server.faults.add({ fault: { type: "error", error: ApiError.insufficientStorage("the disk is full") } });
    const error = await failure(customObjects(server).listNamespacedCustomObject(WIDGETS));
    expect(error.code).to.equal(507);
    expect(error.message).to.contain("the disk is full");
  });

  it("end the connection before a write, or after it", async () => {
    const { upstream } = server.client;
    const widgets = new Client({ upstream, retries: false }).resource(WIDGET).in("default");
    server.faults.add({ verb: "create", name: "", fault: "disconnect" });
    expect(await failure(widgets.create(widget("before")))).not.to.be.instanceOf(ApiError);
    server.faults.add({ verb: "create", fault: { type: "disconnect", afterwards: true } });
    expect(await failure(widgets.create(widget("after")))).not.to.be.instanceOf(ApiError);
    expect(await names(server)).to.deep.equal(["after", "first"]);
  });

  it("delay a request, or let it hang until the client leaves", async () => {
    server.faults.add({ verb: "get", fault: { type: "delay", milliseconds: 30 } });
    const widgets = server.client.resource(WIDGET).in("default");
    const since = performance.now();
    await widgets.get("first");
    expect(performance.now() - since).to.be.at.least(29);
    server.faults.add({ verb: "get", fault: { type: "delay", milliseconds: Number.POSITIVE_INFINITY } });
    const leaving = new AbortController();
    const hanging = failure(widgets.get("first", { signal: leaving.signal }));
    await server.requests.find({ verb: "get", resource: "widgets" });
    leaving.abort(new Error("enough"));
    expect((await hanging).message).to.equal("enough");
  });

  it("are reported on demand where no request has used them up", async () => {
    server.faults.add({ verb: "delete", resource: "widgets", times: 2, fault: "conflict" });
    await failure(server.client.resource(WIDGET).in("default").delete("first"));
    expect(server.faults.unused).to.deep.equal(['conflict for verb "delete", resource "widgets": used 1 of 2 times']);
    expect(() => server.faults.assertUsed()).to.throw("faults that no request has used up:\n- conflict for");
    server.faults.clear();
    server.faults.assertUsed();
  });

  it("end open watches cleanly, with 410, or with their connection", async () => {
    for (const [how, type] of [
      ["close", undefined],
      ["expired", "ERROR"],
    ] as const) {
      const ended = Promise.withResolvers<unknown>();
      const types: string[] = [];
      const watched = Promise.withResolvers<void>();
      await new k8s.Watch(kubeConfig(server)).watch(
        PATH,
        {},
        (one) => {
          types.push(one);
          watched.resolve();
        },
        ended.resolve,
      );
      await watched.promise;
      expect(server.endWatches({ resource: "widgets" }, how)).to.equal(1);
      expect(await ended.promise).to.equal(null);
      expect(types).to.deep.equal(["ADDED", type].filter((one) => one !== undefined));
    }
    const ended = Promise.withResolvers<unknown>();
    const watched = Promise.withResolvers<void>();
    await new k8s.Watch(kubeConfig(server)).watch(PATH, {}, () => watched.resolve(), ended.resolve);
    await watched.promise;
    expect(server.endWatches({ user: "ann" })).to.equal(0);
    expect(server.endWatches({ user: "admin" }, "disconnect")).to.equal(1);
    expect(await ended.promise).to.be.instanceOf(Error);
  });

  it("end the session of an HTTP/2 client, before a write or after it", async () => {
    for (const afterwards of [false, true]) {
      server.faults.add({ verb: "create", fault: { type: "disconnect", afterwards } });
      const session = connect(server.url, { ca: server.ca });
      session.on("error", () => undefined);
      const stream = session.request({
        ":method": "POST",
        ":path": PATH,
        authorization: `Bearer ${server.admin.token}`,
      });
      stream.on("error", () => undefined).end(JSON.stringify(widget(`afterwards-${afterwards}`)));
      const heads: unknown[] = [];
      stream.on("response", (head) => heads.push(head));
      await once(session, "close");
      expect(heads).to.deep.equal([]);
    }
    expect(await names(server)).to.deep.equal(["afterwards-true", "first"]);
  });

  it("reject invalid numbers", () => {
    expect(() => server.faults.add({ fault: "conflict", skip: -1 })).to.throw("invalid skip -1 of a fault");
    expect(() => server.faults.add({ fault: "conflict", times: 1.5 })).to.throw("invalid times 1.5 of a fault");
  });
});

describe("recorded requests of a test server", () => {
  it("have verb, resource, names, user, code and query", async () => {
    await using server = await startTestServer({ ...CONTENT, users: { eve: {} } });
    await failure(server.user("eve").client.resource(WIDGET).in("default").get("first"));
    await server.client
      .as({ name: "bob" })
      .resource(WIDGET)
      .in("default")
      .list({ labels: "a=b" })
      .catch(() => undefined);
    const [first, second] = server.requests.list();
    expect(first).to.include({ verb: "get", group: "example.dev", version: "v1", resource: "widgets" });
    expect(first).to.include({ namespace: "default", name: "first", user: "eve", code: 403, method: "GET" });
    expect(first?.path).to.equal(`${PATH}/first`);
    expect(second).to.include({ verb: "list", user: "bob", impersonator: "admin", query: "labelSelector=a%3Db" });
    expect(server.requests.list({ user: "eve" })).to.deep.equal([first]);
    server.requests.clear();
    expect(server.requests.list()).to.deep.equal([]);
  });

  it("include requests that are rejected before authentication, with the user empty", async () => {
    await using server = await startTestServer({ tls: false });
    expect((await fetch(`${server.url}/api/v1/namespaces/default`)).status).to.equal(401);
    const recorded = await server.requests.find({ user: "" });
    expect(recorded).to.include({ verb: "get", resource: "namespaces", name: "default", code: 401 });
    expect(recorded.path).to.equal("/api/v1/namespaces/default");
  });

  it("keep bodies on demand, up to 64 KiB", async () => {
    await using server = await startTestServer({ ...CONTENT, requests: { bodies: true } });
    const widgets = server.client.resource(WIDGET).in("default");
    await widgets.mergePatch("first", { spec: { size: 7 } });
    await widgets.create({ ...widget("big"), metadata: { name: "big", annotations: { long: "x".repeat(70_000) } } });
    const bodies = server.requests.list({ resource: "widgets" }).map(({ body }) => body);
    expect(bodies).to.deep.equal(['{"spec":{"size":7}}', undefined]);
  });

  it("are bounded: older ones are dropped and counted", async () => {
    await using server = await startTestServer({ ...CONTENT, requests: { most: 2 } });
    for (let at = 0; at < 5; at++) await names(server);
    expect(server.requests.list()).to.have.length(2);
    expect(server.requests.dropped).to.equal(3);
    expect(await failure(startTestServer({ requests: { most: -1 } }))).to.include({
      message: "invalid requests.most -1: use a number from 0 on",
    });
  });

  it("can be awaited, until the signal aborts", async () => {
    await using server = await startTestServer(CONTENT);
    const waiting = server.requests.find({ verb: "delete" });
    await server.client.resource(WIDGET).in("default").delete("first");
    expect(await waiting).to.include({ name: "first", code: 200 });
    const signal = AbortSignal.abort(new Error("enough"));
    expect((await failure(server.requests.find({ verb: "update" }, { signal }))).message).to.equal("enough");
  });
});

interface Failure extends Error {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function failure(pending: Promise<unknown>): Promise<Failure> {
  return pending.then(
    () => expect.fail("no error"),
    (error: Failure) => error,
  );
}
