// Request bodies on a server with writable objects.
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { APPLY } from "../_support/patches.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: {
    type: "object",
    properties: { text: { type: "string" }, lines: { type: "array", items: { type: "string" } } },
  },
});
const NOTES = "/services/notes/apis/example.dev/v1/notes";
const YAML = { headers: { "content-type": "application/yaml" } };

async function start(): Promise<PlainServer> {
  const resources = [Note.serve(Note.collection())];
  return startPlain([defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources })]);
}

const head = (name: string): string => `apiVersion: example.dev/v1\nkind: Note\nmetadata: {name: ${name}}\n`;
/** 20 KiB: more than the main thread parses. */
const long = `spec:\n  lines:\n${"  - some words of a line\n".repeat(800)}`;

describe("a server with writable objects", () => {
  it("accepts short and long YAML, for objects and applies", async () => {
    await using server = await start();
    expect((await server.send(`POST ${NOTES}`, `${head("a")}spec: {text: "on"}\n`, YAML)).status).to.equal(201);
    const created = await server.send(`POST ${NOTES}`, `${head("b")}${long}`, YAML);
    expect([created.status, created.body?.spec.lines.length]).to.deep.equal([201, 800]);
    const applied = await server.send(`PATCH ${NOTES}/c?fieldManager=me`, `${head("c")}${long}`, APPLY);
    expect([applied.status, applied.body?.spec.lines.length]).to.deep.equal([201, 800]);
  });

  it("warns about duplicate keys in YAML and JSON", async () => {
    await using server = await start();
    const { headers } = await server.send(`POST ${NOTES}`, `${head("a")}spec:\n  text: a\n  text: b\n`, YAML);
    expect(headers["warning"]).to.equal('299 - "line 6: key \\"text\\" already set in map"');
    const json = '{"apiVersion":"example.dev/v1","kind":"Note","metadata":{"name":"b"},"spec":{"text":"a","text":"b"}}';
    const { headers: others } = await server.send(`POST ${NOTES}`, json);
    expect(others["warning"]).to.equal('299 - "duplicate field \\"spec.text\\""');
  });

  it("rejects a body that is too long before it is sent, and closes the connection after the response", async () => {
    await using server = await start();
    using wire = await Wire.open(Number(new URL(server.url).port));
    const lines = ["Host: x", "Authorization: Bearer alice", "Content-Type: application/json"];
    wire.request(`POST ${NOTES} HTTP/1.1`, ...lines, `Content-Length: ${3 * 1024 * 1024 + 1}`, "Expect: 100-continue");
    const { status, headers, body } = (await wire.answer("POST")) ?? {};
    expect([status, headers?.["connection"]]).to.deep.equal([413, "close"]);
    expect(JSON.parse(body ?? "").message).to.equal("Request entity too large: limit is 3145728");
    expect(await wire.end()).to.equal("end");
  });

  it("serves other requests while hostile YAML is parsed", async () => {
    await using server = await start();
    await server.send(`POST ${NOTES}`, `${head("a")}spec: {text: a}\n`, YAML);
    const hostile = server.send(`POST ${NOTES}`, "[".padEnd(1_000_000, ","), YAML);
    let answered = 0;
    let done = false;
    const refused = hostile.finally(() => {
      done = true;
    });
    while (!done) {
      expect((await server.get(`${NOTES}/a`)).status).to.equal(200);
      answered += 1;
    }
    expect((await refused).status).to.be.oneOf([400, 413]);
    expect(answered).to.be.greaterThan(10);
  });
});
