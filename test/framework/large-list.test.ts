// Lists too large for a single write.

import { once } from "node:events";
import { connect } from "node:net";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";

const Leaf = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Leaf",
  plural: "leaves",
  scope: "Cluster",
  spec: { type: "object", properties: { text: { type: "string" } } },
});
const LEAVES = "/services/leaves/clusters/root/apis/test.dev/v1/leaves";

/** Some 10 MiB: more than the sockets of one connection hold. */
function setUp() {
  const leaves = Leaf.collection();
  const root = leaves.in("root");
  for (let n = 0; n < 5_000; n++) root.set(`leaf-${n + 10_000}`, { text: `${n}`.repeat(500) });
  return defineVirtualWorkspace({
    name: "leaves",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Leaf.serve(leaves)],
  });
}

describe("a large list", () => {
  it("arrives whole, in order, with Content-Length", async () => {
    await using server = await startPlain([setUp()]);
    const { body, headers, text } = await server.get(LEAVES);
    expect(Number(headers["content-length"])).to.equal(Buffer.byteLength(text));
    expect(body.items).to.have.length(5_000);
    for (const [n, item] of body.items.entries()) expect(item.metadata.name).to.equal(`leaf-${n + 10_000}`);
  });

  it("arrives whole as a Table, whose length is not known in advance", async () => {
    await using server = await startPlain([setUp()]);
    const { body, headers } = await server.get(LEAVES, {
      headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" },
    });
    expect(headers["transfer-encoding"]).to.equal("chunked");
    expect(body.rows).to.have.length(5_000);
  });

  it("of a few large objects arrives in pieces in every form of whole objects", async () => {
    const leaves = Leaf.collection();
    for (let n = 0; n < 10; n++) leaves.in("root").set(`leaf-${n}`, { text: `${n}`.repeat(100_000) });
    const view = defineVirtualWorkspace({
      ...{ name: "leaves", path: "/clusters/:cluster", authorize: () => allow() },
      resources: [Leaf.serve(leaves)],
    });
    await using server = await startPlain([view]);
    for (const accept of ["application/json;drop=metadata.managedFields", "application/cbor"]) {
      const response = await fetch(server.url + LEAVES, { headers: { authorization: "Bearer alice", accept } });
      expect(response.headers.get("content-length"), accept).to.equal(null);
      expect((await response.arrayBuffer()).byteLength).to.be.above(1_000_000);
    }
  });

  it("causes no server error when the client leaves during the response", async () => {
    await using server = await startPlain([setUp()]); // a logged error fails the test
    const { port, hostname } = new URL(server.url);
    for (const leave of ["destroy", "resetAndDestroy"] as const) {
      const socket = connect({ port: Number(port), host: hostname });
      socket.write(`GET ${LEAVES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\n\r\n`);
      await once(socket, "data");
      socket[leave]();
      await once(socket, "close");
    }
    expect((await server.get(`${LEAVES}/leaf-10000`)).status).to.equal(200);
  });
});
