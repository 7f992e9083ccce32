// Limits of conversions, handling of objects that cannot be converted, and the cost of conversions.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { converted, view } from "@virtual-workspaces/framework";
import type { CacheLease } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import { BETA, beta, type Counts, serve, V1, v1beta1, Widget, WidgetV1beta1 } from "./converted-kinds.ts";
import { MERGE, outcome } from "./lens-kinds.ts";

type Fault = (metadata: Record<string, unknown>) => unknown;

/** A conversion that changes metadata. */
async function start(fault: Fault) {
  const widgets = Widget.collection();
  const told: string[] = [];
  const broken = converted({
    from: widgets,
    to: WidgetV1beta1,
    read: ({ spec, metadata }) =>
      ({ spec: { size: `${spec.millimetres}mm` }, metadata: fault({ ...metadata }) }) as never,
    write: ({ spec, metadata }) =>
      ({ spec: { millimetres: Number.parseInt(spec.size, 10) }, metadata: fault({ ...metadata }) }) as never,
    onError: (error, object) => void told.push(`${object}: ${String(error)}`),
  });
  widgets.in("root").set("a", { millimetres: 5 });
  return { widgets, told, server: await serve(Widget.serve(widgets), WidgetV1beta1.serve(broken)) };
}

describe("a conversion", () => {
  it("may change labels and annotations", async () => {
    const { server } = await start((metadata) => ({ ...metadata, labels: { l: "x" }, annotations: {} }));
    await using _ = server;
    const { body } = await server.get(`${BETA}/a`);
    expect(body.metadata.labels).to.deep.equal({ l: "x" });
    expect(body.metadata).not.to.have.property("annotations");
  });

  const faults: readonly [string, Fault][] = [
    ["metadata.name must not change", (metadata) => ({ ...metadata, name: "b" })],
    ["metadata.uid must not change", (metadata) => ({ ...metadata, uid: "b" })],
    ["metadata.finalizers must not change", (metadata) => ({ ...metadata, finalizers: ["a/b"] })],
    ["metadata.resourceVersion must not change", (metadata) => ({ ...metadata, resourceVersion: "1" })],
    ["metadata.labels must be a map of strings", (metadata) => ({ ...metadata, labels: { l: 1 } })],
    ["metadata must be an object", () => "none"],
  ];
  for (const [rule, fault] of faults) {
    it(`is rejected with a 500 that names the rule, and logged for its author: ${rule}`, async () => {
      const { server, told, widgets } = await start(fault);
      await using _ = server;
      const what = 'Internal error occurred: conversion of widgets.test.dev "a" from v1 to v1beta1 failed: ';
      for (const answer of [await server.get(`${BETA}/a`), await server.get(BETA)]) {
        expect(outcome(answer).slice(0, 2)).to.deep.equal([500, "InternalError"]);
        expect(answer.body.message).to.contain(`${what}${rule}`);
      }
      expect(told[0]).to.contain(`a: Error: ${rule}`);
      const written = await server.send(`POST ${BETA}`, beta("c", { size: "1mm" }));
      expect(written.body.message).to.contain("from v1beta1 to v1 failed: ").and.contain(rule);
      expect(widgets.in("root").list()).to.have.length(1);
      expect((await server.get(V1)).body.items).to.have.length(1);
    });
  }

  it("hides the reason when it throws, unless it is an ApiError, and ends watches with the reason", async () => {
    let thrown: Error | undefined;
    const widgets = Widget.collection();
    const told: unknown[] = [];
    const failing = converted({
      from: widgets,
      to: WidgetV1beta1,
      read: ({ spec }) => {
        if (spec.colour === "bad" && thrown !== undefined) throw thrown;
        return { spec: { size: `${spec.millimetres}mm` } };
      },
      write: ({ spec }) => ({ spec: { millimetres: Number.parseInt(spec.size, 10) } }),
      onError: (error) => void told.push(error),
    });
    widgets.in("root").set("a", { millimetres: 1 });
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(failing));
    await using watch = await server.watch(`${BETA}?watch=true`);
    await using other = await server.watch(`${V1}?watch=true`);
    expect(label(await watch.next())).to.equal("ADDED a");
    const { body: list } = await server.get(BETA);
    thrown = new Error("secret");
    widgets.in("root").set("b", { millimetres: 1, colour: "bad" });
    const { type, object } = await watch.next();
    expect(type).to.equal("ERROR");
    expect(object.message).to.equal(
      'Internal error occurred: conversion of widgets.test.dev "b" from v1 to v1beta1 failed',
    );
    expect(await watch.rest()).to.deep.equal([]);
    expect((await other.take(2)).at(-1)).to.equal("ADDED b");
    expect(told[0]).to.equal(thrown);
    await using resumed = await server.watch(`${BETA}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
    expect((await resumed.next()).type).to.equal("ERROR");
    expect((await server.get(`${BETA}/a`)).status).to.equal(200);
    thrown = ApiError.badRequest("not in this version");
    expect(outcome(await server.get(`${BETA}/b`))).to.deep.equal([400, "BadRequest", "not in this version"]);
    thrown = undefined;
    expect((await server.get(BETA)).body.items).to.have.length(2);
  });

  it("runs once for each version of an object, however many clients read it", async () => {
    const widgets = Widget.collection();
    const counts: Counts = { read: 0, write: 0 };
    await using server = await serve(Widget.serve(widgets), WidgetV1beta1.serve(v1beta1(widgets, counts)));
    for (let n = 0; n < 50; n++) widgets.in("root").set(`w${n}`, { millimetres: 1 });
    expect(counts.read).to.equal(0);
    await Promise.all(Array.from({ length: 5 }, () => server.get(BETA)));
    expect(counts.read).to.equal(50);
    const watches = await Promise.all(Array.from({ length: 20 }, () => server.watch(`${BETA}?watch=true`)));
    for (const watch of watches) await watch.take(50);
    expect(counts.read).to.equal(50);
    widgets.in("root").set("w0", { millimetres: 2 });
    for (const watch of watches) expect(label(await watch.next())).to.equal("MODIFIED w0");
    expect(counts.read).to.equal(51);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
    await server.send(`PATCH ${BETA}/w0`, { spec: { size: "3mm" } }, MERGE);
    expect(counts).to.deep.equal({ read: 52, write: counts.write });
  });

  it("caches up to its limit, and releases the rest", async () => {
    const widgets = Widget.collection();
    const counts: Counts = { read: 0, write: 0 };
    for (let n = 0; n < 20; n++) widgets.in("root").set(`w${n}`, { millimetres: 1 });
    await using server = await serve(WidgetV1beta1.serve(v1beta1(widgets, counts, { memory: 2_000 })));
    expect((await server.get(BETA)).body.items).to.have.length(20);
    expect((await server.get(BETA)).body.items).to.have.length(20);
    // Once to check that it can be served and for its length; then once for each response.
    expect(counts.read).to.equal(60);
    expect((await server.get(`${BETA}?limit=1`)).body.items).to.have.length(1);
    expect(counts.read, "what a page leaves out is not converted").to.equal(61);
  });

  it("is cached only while it is being read", async () => {
    const widgets = Widget.collection();
    const counts: Counts = { read: 0, write: 0 };
    for (let n = 0; n < 20; n++) widgets.in("root").set(`w${n}`, { millimetres: 1 });
    await using server = await serve(WidgetV1beta1.serve(v1beta1(widgets, counts, { linger: 1 })));
    const watch = await server.watch(`${BETA}?watch=true`);
    await watch.take(20);
    for (let again = 0; again < 20; again++) await server.get(BETA);
    expect(counts.read).to.equal(20);
    await watch[Symbol.asyncDispose]();
    while (counts.read === 20) await server.get(BETA);
    expect(counts.read % 20).to.equal(0);
  });

  it("hides the object from a view of that version when it fails, logs it, and shows the rest", async () => {
    const widgets = Widget.collection();
    const told: string[] = [];
    const failing = converted({
      from: widgets,
      to: WidgetV1beta1,
      read: ({ spec }) => {
        if (spec.colour === "bad") throw new Error("cannot be told");
        return { spec: { size: `${spec.millimetres}mm` } };
      },
      write: ({ spec }) => ({ spec: { millimetres: Number.parseInt(spec.size, 10) } }),
      onError: () => undefined,
    });
    const shown = view({ from: failing, onError: (_error, object) => void told.push(object) });
    widgets.in("root").set("a", { millimetres: 1, colour: "bad" });
    widgets.in("root").set("b", { millimetres: 1 });
    await using server = await serve(WidgetV1beta1.serve(shown));
    await using watch = await server.watch(`${BETA}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED b"]);
    widgets.in("root").set("b", { millimetres: 2, colour: "bad" });
    expect(await watch.take(1)).to.deep.equal(["DELETED b"]);
    widgets.in("root").set("a", { millimetres: 3 });
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    expect(told).to.include.members(["root//a", "root//b"]);
  });

  it("accepts leases whose methods need `this`", async () => {
    const widgets = Widget.collection();
    const lease = new CountedLease(widgets.cache().cache);
    widgets.cache = () => lease;
    await using server = await serve(WidgetV1beta1.serve(v1beta1(widgets)));
    expect((await server.get(BETA)).status).to.equal(200);
    expect(lease).to.include({ confirmed: 1, released: 1 });
  });

  it("makes a list fail before it starts when it fails, whatever its length and form", async () => {
    const widgets = Widget.collection();
    const failing = converted({
      from: widgets,
      to: WidgetV1beta1,
      read: ({ spec: { millimetres } }) => {
        if (millimetres === 1_000) throw new Error("cannot be told");
        return { spec: { size: `${millimetres}mm` } };
      },
      write: ({ spec }) => ({ spec: { millimetres: Number.parseInt(spec.size, 10) } }),
      onError: () => undefined,
    });
    for (let n = 1; n <= 1_000; n++) widgets.in("root").set(`w${n + 10_000}`, { millimetres: n });
    await using server = await serve(WidgetV1beta1.serve(failing));
    for (const as of ["Table", "PartialObjectMetadataList", ""]) {
      const accept = `application/json;as=${as};v=v1;g=meta.k8s.io`;
      const { status, body } = await server.get(BETA, { headers: { accept } });
      expect([status, body.kind], as).to.deep.equal([500, "Status"]);
    }
  });

  it("is between versions of one kind", () => {
    const widgets = Widget.collection();
    expect(() => converted({ from: widgets, to: Widget })).to.throw("version must differ");
    v1beta1(widgets);
    expect(() => v1beta1(widgets)).to.throw("version test.dev/v1beta1 of ");
  });
});

/** A lease as an author might write it: as a class. */
class CountedLease implements CacheLease {
  readonly cache: CacheLease["cache"];
  confirmed = 0;
  released = 0;

  constructor(cache: CacheLease["cache"]) {
    this.cache = cache;
  }

  confirm(): void {
    this.confirmed += 1;
  }

  [Symbol.dispose](): void {
    this.released += 1;
  }
}
