// Connections within the process: served like others, with backpressure on both ends, and closed by either.
import { authenticated, createServer, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Note } from "../_support/note.ts";
import { createAuthority } from "../_support/server.ts";

const notes = Note.collection();
notes.in("root").set("a", { text: "here" });
for (let at = 0; at < 1_000; at++) notes.in("many").set(`n${at}`, { text: `${at} `.repeat(600) });
const PIECE = Buffer.alloc(64 * 1024);

async function served() {
  let written = 0;
  const server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: authenticated(),
        resources: [Note.serve(notes)],
      }),
      defineVirtualWorkspace({
        name: "much",
        path: "/",
        authorize: authenticated(),
        handle: (_req, res) => {
          const more = (): void => {
            do written += PIECE.length;
            while (res.write(PIECE));
            res.once("drain", more);
          };
          more();
        },
      }),
    ],
    authentication: [staticTokens({ token: { name: "self" } })],
    closeTimeout: 0,
    log: testLog().log,
  });
  await server.start();
  const credential = { headers: ["Authorization", "Bearer token"] };
  const upstream = new Upstream({
    url: "http://within",
    credentials: { get: () => credential },
    dial: async () => server.connect(),
  });
  return {
    server,
    upstream,
    written: () => written,
    [Symbol.asyncDispose]: async () => {
      await upstream[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";

describe("connections within the process", () => {
  it("deliver large lists in memory that is not used for other bytes", async () => {
    await using within = await served();
    const { upstream } = within;
    const list = `${NOTES.replace("/root/", "/many/")}?limit=1000`;
    const kept = await Promise.all(
      Array.from({ length: 3 }, async () => {
        await using answer = await upstream.stream({ path: list });
        const pieces = [];
        for await (const piece of answer.body) pieces.push(piece);
        return pieces;
      }),
    );
    for (const pieces of kept) {
      const { items } = JSON.parse(Buffer.concat(pieces).toString());
      expect(items).to.have.length(1_000);
      for (const { metadata, spec } of items) expect(spec.text).to.equal(`${metadata.name.slice(1)} `.repeat(600));
    }
  });

  it("are served like others: sequential and concurrent requests, watches too", async () => {
    await using within = await served();
    const { upstream } = within;
    const answers = await Promise.all(Array.from({ length: 100 }, () => upstream.send({ path: NOTES })));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
    await using watch = await upstream.stream({ path: `${NOTES}?watch=true`, long: true });
    const pieces = watch.body[Symbol.asyncIterator]();
    expect(String((await pieces.next()).value)).to.include("ADDED");
    notes.in("root").set("b", { text: "more" });
    expect(String((await pieces.next()).value)).to.include('"name":"b"');
    const body = Buffer.from(
      JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "c" }, spec: { text: "x" } }),
    );
    const headers = ["Content-Type", "application/json"];
    const made = await upstream.send({ method: "POST", path: NOTES, headers, body });
    expect(made.status).to.equal(201);
  });

  it("require authentication", async () => {
    await using within = await served();
    await using nobody = new Upstream({ url: "http://within", dial: async () => within.server.connect() });
    expect((await nobody.send({ path: NOTES })).status).to.equal(401);
  });

  it("block a writer that is faster than the reader, and release it when the reader closes", async () => {
    await using within = await served();
    const answer = await within.upstream.stream({ path: "/services/much/", long: true });
    let before = -1;
    while (before !== within.written()) {
      before = within.written();
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(before)
      .to.be.above(0)
      .and.below(4 * 1024 * 1024);
    await answer[Symbol.asyncDispose]();
  });

  it("end with the server, and do not exist with TLS", async () => {
    await using within = await served();
    const watch = await within.upstream.stream({ path: `${NOTES}?watch=true`, long: true });
    await within.server.close();
    for await (const _ of watch.body);
    const error = await within.upstream.send({ path: NOTES }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property("code").that.is.oneOf(["reset", "connect"]);
    const secured = createServer({ virtualWorkspaces: [], authentication: [], tls: createAuthority().server });
    expect(() => secured.connect()).to.throw("cannot connect within the process to a server with tls");
    await secured.close();
  });
});
