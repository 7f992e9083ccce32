// Lists in YAML: the same bytes in pieces as at once, and turns for other requests in between.
import { setImmediate as turn } from "node:timers/promises";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import fc from "fast-check";
import { parse } from "yaml";
import { yamlList, yamlOf } from "../../packages/framework/src/encode/yaml.ts";
import { MEMOS, memo, policy, startAudited } from "../_support/audited.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

const Note = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  scope: "Cluster",
  spec: { type: "object", properties: { lines: { type: "array", items: { type: "string" } } } },
  columns: { First: ".spec.lines[0]" },
});
const NOTES = "/services/notes/apis/example.dev/v1/notes";
const YAML = "application/yaml";

async function start(count: number, lines: number): Promise<PlainServer> {
  const notes = Note.collection();
  const resources = [Note.serve(notes)];
  const server = await startPlain([
    defineVirtualWorkspace({ name: "notes", path: "/", authorize: () => allow(), resources }),
  ]);
  for (let at = 0; at < count; at++)
    await server.send(
      `POST ${NOTES}`,
      JSON.stringify({
        apiVersion: "example.dev/v1",
        kind: "Note",
        metadata: { name: `note-${at + 1000}` },
        spec: { lines: Array.from({ length: lines }, (_, line) => `${at}: yes\n  ${line}\n\n`) },
      }),
    );
  return server;
}

const as = (accept: string) => ({ headers: { accept } });

describe("lists in YAML", () => {
  it("have the same bytes in pieces as at once", () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "yes",
        "012",
        "a\n\n  b\n",
        "\n",
        " a",
        "a: b",
        "# a",
        "a\u2028b\u0085c",
        "- a\n- b",
        "\ta\n",
        "|",
        "",
      ),
      fc
        .array(fc.constantFrom("a", "\n", " ", "\u2028", ":", "#", "-", "'", '"', "\\", "\r"), { maxLength: 12 })
        .map((all) => all.join("")),
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        tie("array"),
        tie("object"),
      ),
      array: fc.array(tie("any"), { maxLength: 4 }),
      object: fc.dictionary(
        text.filter((name) => name !== "__proto__"),
        tie("any"),
        { maxKeys: 4 },
      ),
    }));
    const bytes = (one: unknown): Buffer => Buffer.from(JSON.stringify(one));
    fc.assert(
      fc.property(
        value.object as fc.Arbitrary<object>,
        fc.array(value.any, { minLength: 1, maxLength: 4 }),
        (head, items) => {
          const { items: _, ...others } = head as { items?: unknown };
          const pieces = [...yamlList(bytes({ ...others, items: [] }), items.map(bytes))];
          expect(Buffer.concat(pieces).toString()).to.equal(yamlOf(bytes({ ...others, items })).toString());
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("contain the same as in JSON, in each form, short and long", async () => {
    await using server = await start(40, 200);
    for (const query of ["?limit=2", ""])
      for (const form of ["", ";as=Table;g=meta.k8s.io;v=v1", ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"]) {
        const json = await server.get(NOTES + query, as(`application/json${form}`));
        const yaml = await server.get(NOTES + query, as(YAML + form));
        expect([yaml.status, yaml.headers["content-type"]]).to.deep.equal([200, YAML]);
        expect(parse(yaml.text, { version: "1.1" })).to.deep.equal(json.body);
        expect(json.body?.items ?? json.body?.rows).to.have.length(query === "" ? 40 : 2);
      }
  });

  it("leave turns for other requests", async () => {
    await using server = await start(100, 4000);
    let isDone = false;
    const began = performance.now();
    const list = server.get(NOTES, as(YAML)).finally(() => {
      isDone = true;
    });
    // The server runs in this process: between two turns of the event loop nothing else is served.
    let longest = 0;
    for (let last = began; !isDone; ) {
      await turn();
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    expect((await list).text.length).to.be.above(5_000_000);
    expect(longest).to.be.below((performance.now() - began) / 4);
  });

  it("end when the client leaves", async () => {
    await using server = await start(40, 4000);
    using wire = await Wire.open(Number(new URL(server.url).port));
    wire.request(`GET ${NOTES} HTTP/1.1`, "Host: x", "Authorization: Bearer alice", `Accept: ${YAML}`);
    await wire.begun();
    wire.socket.destroy();
    expect((await server.get(`${NOTES}?limit=1`)).status).to.equal(200);
  });

  it("are in the audit log as JSON, short and long", async () => {
    await using server = await startAudited({ policy: policy({ level: "RequestResponse" }) });
    for (let at = 0; at < 3; at++) await server.eventsOf(MEMOS, memo(`long-${at}`, "x ".repeat(40_000)));
    const { events } = await server.eventsOf(MEMOS, as(YAML));
    expect(events[1]?.["responseObject"]).to.include({ kind: "MemoList" });
    expect(events[1]?.["responseObject"].items).to.have.length(4);
    await using small = await startAudited({
      policy: policy({ level: "RequestResponse" }),
      audit: { maxObject: 100_000 },
    });
    for (let at = 0; at < 8; at++) await small.eventsOf(MEMOS, memo(`long-${at}`, "x ".repeat(40_000)));
    const { events: omitted } = await small.eventsOf(MEMOS, as(YAML));
    expect(omitted[1]).not.to.have.property("responseObject");
  });
});
