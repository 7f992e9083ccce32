// Writes that demand too much.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { APPLY, JSON_PATCH } from "../_support/patches.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: {
    type: "object",
    properties: { text: { type: "string" }, free: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  },
});
const NOTES = "/services/notes/apis/example.dev/v1/notes";

async function start(): Promise<PlainServer> {
  const resources = [Note.serve(Note.collection())];
  return startPlain([defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources })]);
}

const note = (spec: object): object => ({
  apiVersion: "example.dev/v1",
  kind: "Note",
  metadata: { name: "a" },
  spec,
});

describe("responses to writes", () => {
  it("never have more warnings than a client accepts", async () => {
    await using server = await start();
    const names = Array.from({ length: 50_000 }, (_, at) => [`unknown${at}`, at]);
    const { status, headers } = await server.send(`POST ${NOTES}`, note(Object.fromEntries(names)));
    expect(status).to.equal(201);
    const warnings = String(headers["warning"]);
    expect(warnings).to.contain('299 - "unknown field \\"spec.unknown0\\""');
    expect(warnings.length).to.be.within(4096, 16_384);
  });

  it("encode non-ASCII text as UTF-8, and leave out characters that a header cannot hold", async () => {
    await using server = await start();
    const { headers } = await server.send(`POST ${NOTES}`, note({ "é❤": 1, "new\r\nX-Evil: line": 2 }));
    const warnings = Buffer.from(String(headers["warning"]), "latin1").toString("utf8");
    expect(warnings).to.equal(
      '299 - "unknown field \\"spec.new??X-Evil: line\\"", 299 - "unknown field \\"spec.é❤\\""',
    );
    expect(headers).not.to.have.property("x-evil");
  });
});

describe("excessive writes", () => {
  it("are rejected: bodies, nesting, patches that explode", async () => {
    await using server = await start();
    await server.send(`POST ${NOTES}`, note({ free: { a: "x".repeat(1000) } }));
    const copies = Array.from({ length: 30 }, (_, at) => ({
      op: "copy",
      from: "/spec/free",
      path: `/spec/free/b${at}`,
    }));
    const began = performance.now();
    const answers = [
      await server.send(`POST ${NOTES}`, note({ text: "x".repeat(3 * 1024 * 1024) })),
      await server.send(`POST ${NOTES}`, `{"a":${"[".repeat(2000)}${"]".repeat(2000)}}`),
      await server.send(`PATCH ${NOTES}/a`, copies, JSON_PATCH),
      await server.send(
        `PATCH ${NOTES}/a`,
        Array(10_001).fill({ op: "test", path: "/kind", value: "Note" }),
        JSON_PATCH,
      ),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([413, 400, 422, 413]);
    expect(performance.now() - began).to.be.below(5000);
    expect((await server.get(`${NOTES}/a`)).body.spec).to.deep.equal({ free: { a: "x".repeat(1000) } });
  });

  it("have no field owners: an apply is rejected, an update is stored without owners", async () => {
    await using server = await start();
    const many = Object.fromEntries(Array.from({ length: 7_501 }, (_, at) => [`f${at}`, at]));
    const created = await server.send(`POST ${NOTES}`, note({ free: many }));
    expect([created.status, created.body.metadata.managedFields]).to.deep.equal([201, undefined]);
    const applied = await server.send(`PATCH ${NOTES}/a?fieldManager=me`, note({ text: "x" }), APPLY);
    expect([applied.status, applied.body.message]).to.deep.equal([
      413,
      "Request entity too large: the object has more than 7500 fields, or its owners more than 15000, too many for server-side apply: update it, or apply less",
    ]);
    const put = await server.send(`PUT ${NOTES}/a`, { ...created.body, spec: { free: { f: 1 } } });
    expect(put.status).to.equal(200);
    expect((await server.send(`PATCH ${NOTES}/a?fieldManager=me`, note({ text: "x" }), APPLY)).status).to.equal(200);
  });

  it("have field owners up to the limit, with any number of entries, as long as there are few owners", async () => {
    await using server = await start();
    const many = note({ free: Object.fromEntries(Array.from({ length: 7400 }, (_, at) => [`f${at}`, at])) });
    const statuses: number[] = [];
    for (const manager of ["me", "me", "you", "you", "he"])
      statuses.push((await server.send(`PATCH ${NOTES}/a?fieldManager=${manager}`, many, APPLY)).status);
    expect(statuses).to.deep.equal([201, 200, 200, 200, 200]);
    expect((await server.send(`PATCH ${NOTES}/a?fieldManager=he`, many, APPLY)).status).to.equal(413);
    const { body } = await server.get(`${NOTES}/a`);
    expect(body.metadata.managedFields).to.have.length(3);
  });

  it("lose their owners in an update once they exceed the limit", async () => {
    await using server = await start();
    const many = note({ free: Object.fromEntries(Array.from({ length: 7400 }, (_, at) => [`f${at}`, at])) });
    const { body } = await server.send(`POST ${NOTES}`, many);
    expect(body.metadata.managedFields).to.have.length(1);
    const put = await server.send(`PUT ${NOTES}/a`, { ...body, spec: { free: { ...body.spec.free, f0: 7 } } });
    expect(put.body.metadata.managedFields).to.have.length(1);
    const free = { ...body.spec.free, ...Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`g${at}`, at])) };
    const more = await server.send(`PUT ${NOTES}/a`, { ...put.body, spec: { free } });
    expect([more.status, more.body.metadata.managedFields]).to.deep.equal([200, undefined]);
  });
});
