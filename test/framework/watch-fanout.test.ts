// Events are rendered once for all watches, not queued for slow clients, and not lost in a burst.

import { once } from "node:events";
import { connect } from "node:net";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { label, startPlain } from "../_support/plain.ts";

const Blob = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Blob",
  scope: "Cluster",
  spec: { type: "object", properties: { n: { type: "integer" }, data: { type: "string" } } },
});
const BLOBS = "/services/blobs/clusters/root/apis/test.dev/v1/blobs";

function setUp(options: { readonly events?: number } = {}) {
  const blobs = Blob.collection(options.events === undefined ? {} : { history: { events: options.events } });
  const view = defineVirtualWorkspace({
    name: "blobs",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Blob.serve(blobs)],
  });
  return { root: blobs.in("root"), views: [view] };
}

/** Opens a watch over a raw socket that reads nothing until the test says so. */
async function stalled(url: string, query: string) {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  await once(socket, "connect");
  socket.write(`GET ${BLOBS}?${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nConnection: close\r\n\r\n`);
  const [head] = (await once(socket, "readable").then(() => [socket.read()])) as [Buffer];
  expect(head.toString()).to.match(/^HTTP\/1.1 200 /);
  return {
    async rest(): Promise<string> {
      let text = head.toString();
      for await (const piece of socket) text += String(piece);
      return text;
    },
  };
}

describe("the fanout of a watch", () => {
  it("renders an event once for each representation, however many watches there are", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    const table = { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } };
    const partial = { headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" } };
    const query = `${BLOBS}?watch=true&resourceVersion=${(await server.get(BLOBS)).body.metadata.resourceVersion}`;
    const opened = [...Array(10).fill({}), ...Array(10).fill(table), ...Array(10).fill(partial)];
    const watches = await Promise.all(opened.map((options) => server.watch(query, options)));
    root.set("a", { n: 1 });
    root.set("b", { n: 2 });
    const seen = await Promise.all(watches.map(async (watch) => [await watch.next(), await watch.next()]));
    expect(seen[0]?.map(label)).to.deep.equal(["ADDED a", "ADDED b"]);
    expect(seen[10]?.[0]?.object["rows"]).to.have.length(1);
    expect(seen[20]?.[0]?.object).to.include({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" });
    expect(server.server.stats.rendered).to.equal(2 * 3);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
  });

  it("loses no event of a burst in one turn if the history holds it, and ends with 410 otherwise", async () => {
    const { root, views } = setUp({ events: 3_000 });
    await using server = await startPlain(views);
    await using watch = await server.watch(`${BLOBS}?watch=true`);
    for (let n = 0; n < 2_999; n++) root.set("a", { n });
    root.set("end", {});
    const events = await watch.until(({ object }) => object.metadata.name === "end");
    expect(events).to.have.length(3_000);
    expect(events[2_998]?.object["spec"]).to.deep.equal({ n: 2_998 });
    const data = "x".repeat(2_000); // together more than the sockets buffer
    for (let n = 0; n < 9_000; n++) root.set("a", { n, data });
    expect((await watch.rest()).map(label).at(-1)).to.equal("ERROR 410");
  });

  it("lets a slow client catch up from the history", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    const slow = await stalled(server.url, "watch=true&timeoutSeconds=1");
    await using fast = await server.watch(`${BLOBS}?watch=true`);
    const data = "x".repeat(200_000);
    for (let n = 0; n < 60; n++) {
      root.set("a", { n, data });
      await fast.next();
    }
    const text = await slow.rest();
    expect(text).to.match(/\r\n0\r\n\r\n$/, "it ends cleanly");
    const told = [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
    expect(told, "in order, from the first, without a gap").to.deep.equal(told.map((_, index) => index));
  });

  it("ends with 410 for a client slower than the history, which is not kept for anyone", async () => {
    const { root, views } = setUp({ events: 8 });
    await using server = await startPlain(views);
    const slow = await stalled(server.url, "watch=true");
    await using fast = await server.watch(`${BLOBS}?watch=true`);
    const data = "x".repeat(500_000);
    for (let n = 0; n < 60; n++) {
      root.set("a", { n, data });
      await fast.next();
    }
    const text = await slow.rest();
    expect(text).to.match(/"type":"ERROR".*"code":410/s);
    expect(text).to.match(/\r\n0\r\n\r\n$/);
  });

  it("removes a client that disconnects", async () => {
    const { root, views } = setUp();
    await using server = await startPlain(views);
    const gone = await server.watch(`${BLOBS}?watch=true`);
    await using stays = await server.watch(`${BLOBS}?watch=true`);
    root.set("a", { n: 0 });
    await stays.next();
    await gone[Symbol.asyncDispose]();
    let n = 1;
    for (let delivered = 2; delivered > 1; n++) {
      const before = server.server.stats.delivered;
      root.set("a", { n });
      await stays.next();
      delivered = server.server.stats.delivered - before;
    }
    expect(n).to.be.lessThan(1_000);
  });
});
