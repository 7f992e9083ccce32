// CBOR in answers, watches and bodies, and hostile bodies. Go clients are in test/go/formats.test.ts.
import { once } from "node:events";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { decodeFirst, encode, Token, Type } from "cborg";
import { expect } from "chai";
import fc from "fast-check";
import { WebSocket } from "ws";
import { CborFault, readCbor } from "../../packages/framework/src/body/cbor/cbor-reader.ts";
import { cborDocument } from "../../packages/framework/src/encode/cbor.ts";
import { type AuditEvent, MEMOS, policy, startAudited } from "../_support/audited.ts";
import { computed, slowness } from "../_support/cpu.ts";
import { Note } from "../_support/note.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const CBOR = "application/cbor";
const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const SELF = "d9d9f7";

const note = (name: string, text = "héllo ☃") => ({
  apiVersion: "test.dev/v1",
  kind: "Note",
  metadata: { name },
  spec: { text },
});

/** Encodes as client-go does: strings and names are byte strings. */
function bodyOf(value: unknown): Buffer {
  const typeEncoders = { string: (text: string) => new Token(Type.bytes, Buffer.from(text)) };
  return Buffer.concat([Buffer.from(SELF, "hex"), encode(value, { typeEncoders })]);
}

/** Reads one document with byte strings, in the library's own way. @returns the value, and the bytes behind it */
function documentOf(bytes: Uint8Array): [unknown, Uint8Array] {
  const tags = { 55799: (content: () => unknown) => content() };
  const [value, rest] = decodeFirst(bytes, { useMaps: true, tags });
  return [plain(value), rest];
}

function plain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, one]) => [plain(name), plain(one)]));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  return Array.isArray(value) ? value.map(plain) : value;
}

interface Answered {
  readonly status: number;
  readonly type: string | null;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  readonly body: any;
}

interface Sent {
  readonly accept?: string;
  readonly type?: string;
  readonly body?: Buffer;
}

function callsTo({ url }: PlainServer) {
  return async (call: string, { accept = CBOR, type = CBOR, body }: Sent = {}): Promise<Answered> => {
    const [method = "", path = ""] = call.split(" ");
    const response = await fetch(url + path, {
      method,
      headers: { authorization: "Bearer alice", accept, ...(body && { "content-type": type }) },
      ...(body && { body: new Uint8Array(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const shown = response.headers.get("content-type");
    const read = shown === CBOR ? documentOf(bytes)[0] : shown === "application/json" ? JSON.parse(String(bytes)) : "";
    return { status: response.status, type: shown, bytes, body: read };
  };
}

describe("CBOR", () => {
  let server: PlainServer;
  let call: ReturnType<typeof callsTo>;
  const json = { accept: "application/json" };

  beforeEach(async () => {
    const notes = Note.collection();
    server = await startPlain([
      defineVirtualWorkspace({
        name: "notes",
        path: "/clusters/:cluster",
        authorize: () => allow(),
        resources: [Note.serve(notes)],
      }),
    ]);
    call = callsTo(server);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  it("answers objects, lists and deletes as JSON does, to clients that ask for it", async () => {
    const made = await call(`POST ${NOTES}`, { body: bodyOf(note("a")) });
    expect([made.status, made.type, made.body.spec.text]).to.deep.equal([201, CBOR, "héllo ☃"]);
    expect(made.bytes.toString("hex")).to.match(/^d9d9f7a/);
    for (const path of [NOTES, `${NOTES}/a`]) {
      const plain = await call(`GET ${path}`, json);
      const cbor = await call(`GET ${path}`);
      expect([plain.type, cbor.type]).to.deep.equal(["application/json", CBOR]);
      expect(cbor.body).to.deep.equal(plain.body);
      expect((await call(`GET ${path}`, { accept: "*/*" })).type).to.equal("application/json");
      const preferred = await call(`GET ${path}`, { accept: "application/json;q=0.9,application/cbor;q=1" });
      expect(preferred.type).to.equal(CBOR);
    }
    const gone = await call(`DELETE ${NOTES}/a`, { body: bodyOf({ kind: "DeleteOptions", apiVersion: "v1" }) });
    expect([gone.type, gone.body.kind, gone.body.status]).to.deep.equal([CBOR, "Status", "Success"]);
    const empty = await call(`GET ${NOTES}`);
    expect(empty.body).to.deep.equal((await call(`GET ${NOTES}`, json)).body);
  });

  it("answers tables and metadata", async () => {
    await call(`POST ${NOTES}`, { body: bodyOf(note("a")) });
    for (const [path, form] of [
      [NOTES, "PartialObjectMetadataList"],
      [`${NOTES}/a`, "PartialObjectMetadata"],
      [`${NOTES}/a`, "Table"],
      [NOTES, "Table"],
    ]) {
      const as = `;as=${form};g=meta.k8s.io;v=v1`;
      const cbor = await call(`GET ${path}`, { accept: CBOR + as });
      const plain = await call(`GET ${path}`, { accept: `application/json${as}` });
      expect([cbor.type, cbor.body.kind]).to.deep.equal([CBOR, form]);
      expect({ ...cbor.body, rows: cbor.body.rows?.length }).to.deep.equal({
        ...plain.body,
        rows: plain.body.rows?.length,
      });
    }
  });

  it("writes a large list in pieces", async () => {
    const names = Array.from({ length: 60 }, (_, at) => `n${at + 10}`);
    for (const name of names) await call(`POST ${NOTES}`, { body: bodyOf(note(name, "x".repeat(10_000))) });
    const { body, bytes } = await call(`GET ${NOTES}`);
    expect(bytes.length).to.be.above(500_000);
    expect(body).to.deep.equal((await call(`GET ${NOTES}`, json)).body);
  });

  it("answers errors in CBOR to those who prefer it, and in JSON to others", async () => {
    const missing = await call(`GET ${NOTES}/a`);
    expect([missing.status, missing.type, missing.body.reason]).to.deep.equal([404, CBOR, "NotFound"]);
    const other = await call(`GET ${NOTES}/a`, { accept: "application/json, application/cbor;q=0.5" });
    expect(other.type).to.equal("application/json");
    const refused = await call(`GET ${NOTES}/a`, { accept: "text/html" });
    expect([refused.type, refused.status]).to.deep.equal(["application/json", 404]);
    const unwritten = await call(`GET ${NOTES}?watch=true`, { accept: "application/yaml" });
    expect(unwritten.body.message).to.include("application/json, application/cbor-seq");
  });

  it("updates and applies, and an apply records its owner", async () => {
    await call(`POST ${NOTES}`, { body: bodyOf(note("a")) });
    const { body: got } = await call(`GET ${NOTES}/a`);
    const updated = await call(`PUT ${NOTES}/a`, { body: bodyOf({ ...got, spec: { text: "new" } }) });
    expect([updated.status, updated.body.spec.text]).to.deep.equal([200, "new"]);
    const type = "application/apply-patch+cbor";
    const apply = (name: string, text: string, query = "") =>
      call(`PATCH ${NOTES}/${name}?fieldManager=me${query}`, { type, body: bodyOf(note(name, text)) });
    expect((await apply("a", "mine")).body.reason).to.equal("Conflict");
    const forced = await apply("a", "mine", "&force=true");
    expect([forced.status, forced.body.spec.text]).to.deep.equal([200, "mine"]);
    expect(forced.body.metadata.managedFields.map((one: { manager: string }) => one.manager)).to.include("me");
    expect((await apply("b", "made")).status).to.equal(201);
    const broken = await call(`PATCH ${NOTES}/a?fieldManager=me`, { type, body: Buffer.from("a1", "hex") });
    expect([broken.status, broken.body.message]).to.satisfy(([code, text]: [number, string]) => {
      return code === 400 && text.startsWith("error decoding patch: CBOR: ");
    });
  });

  it("writes watches as a sequence, with bookmarks and errors", async () => {
    await call(`POST ${NOTES}`, { body: bodyOf(note("a")) });
    const initial = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const response = await fetch(`${server.url}${NOTES}?${initial}`, {
      headers: { authorization: "Bearer alice", accept: CBOR },
    });
    expect(response.headers.get("content-type")).to.equal("application/cbor-seq");
    const events = sequence(response);
    expect(await events.next()).to.deep.equal("ADDED a");
    expect(await events.next()).to.equal("BOOKMARK ");
    const { body: got } = await call(`GET ${NOTES}/a`);
    await call(`PUT ${NOTES}/a`, { body: bodyOf({ ...got, spec: { text: "new" } }) });
    await call(`DELETE ${NOTES}/a`);
    expect([await events.next(), await events.next()]).to.deep.equal(["MODIFIED a", "DELETED a"]);
    await events.end();
    const { bytes, type } = await call(`GET ${NOTES}?watch=true&resourceVersion=1`);
    expect(type).to.equal("application/cbor-seq");
    const [error] = documentOf(bytes) as [{ type: string; object: { code: number; reason: string } }, unknown];
    expect([error.type, error.object.code, error.object.reason]).to.deep.equal(["ERROR", 410, "Expired"]);
  });

  it("sends an event in each binary message of a WebSocket", async () => {
    await call(`POST ${NOTES}`, { body: bodyOf(note("a")) });
    const url = `${server.url.replace("http", "ws")}${NOTES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
    const socket = new WebSocket(url, { headers: { authorization: "Bearer alice", accept: CBOR } });
    const [data, isBinary] = (await once(socket, "message")) as [Buffer, boolean];
    expect(isBinary).to.equal(true);
    const [event, rest] = documentOf(data) as [{ type: string; object: object }, Uint8Array];
    expect([event.type, rest.length]).to.deep.equal(["ADDED", 0]);
    expect(event.object).to.deep.equal((await call(`GET ${NOTES}/a`, json)).body);
    socket.close();
    await once(socket, "close");
  });
});

/** Reads the events of a watch, as `TYPE name`. */
function sequence(response: Response) {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let bytes = Buffer.alloc(0);
  const next = async (): Promise<string> => {
    for (;;) {
      try {
        const [event, rest] = documentOf(bytes) as [
          { type: string; object: { metadata: { name?: string } } },
          Uint8Array,
        ];
        bytes = Buffer.from(rest);
        return `${event.type} ${event.object.metadata.name ?? ""}`;
      } catch {
        const { value, done } = await reader.read();
        if (done) throw new Error("the watch ended");
        bytes = Buffer.concat([bytes, value]);
      }
    }
  };
  return { next, end: () => reader.cancel() };
}

describe("audit of CBOR", () => {
  it("records bodies and answers as JSON", async () => {
    await using server = await startAudited({ policy: policy({ level: "RequestResponse" }) });
    const memo = { apiVersion: "test.dev/v1", kind: "Memo", metadata: { name: "a" }, spec: { text: "☃" } };
    const headers = { accept: CBOR, "content-type": CBOR };
    const made = await server.eventsOf(MEMOS, { method: "POST", headers, body: new Uint8Array(bodyOf(memo)) });
    const { requestObject, responseObject } = made.events.at(-1) as AuditEvent;
    expect(requestObject).to.deep.equal(memo);
    expect([responseObject.metadata.name, responseObject.spec]).to.deep.equal(["a", memo.spec]);
    const listed = await server.eventsOf(MEMOS, { headers: { accept: CBOR } });
    expect(listed.events.at(-1)?.["responseObject"].items).to.have.length(2);
  });
});

describe("CBOR bodies", () => {
  const read = (hex: string): unknown => readCbor(Buffer.from(hex, "hex"));

  it("hold every value of JSON, and return what was written", () => {
    const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.maxSafeInteger());
    const name = fc.oneof(fc.string({ unit: "binary" }), fc.constant("__proto__"));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: "binary" }),
        number.map((one) => one + 0),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 30 }),
        fc.array(fc.tuple(name, tie("value")), { maxLength: 30 }).map((all) => Object.fromEntries(all)),
      ),
    }));
    fc.assert(
      fc.property(value, (one) => {
        const json = Buffer.from(JSON.stringify(one));
        expect(stringifyJson(readCbor(cborDocument(json)))).to.equal(json.toString());
      }),
    );
  });

  it("keep 64-bit integers, and floats", () => {
    for (const text of ["9223372036854775807", "-9223372036854775808", "9007199254740993", "1.5", "1e+21", "-0.1"]) {
      const value = readCbor(cborDocument(Buffer.from(`[${text}]`))) as unknown[];
      expect(String(value[0])).to.equal(text);
    }
    expect(read("f93e00")).to.equal(1.5);
  });

  it("have byte strings in the encoding that their tag expects", () => {
    expect([read("43616263"), read("d643616263"), read("d543fbefff"), read("d743616263")]).to.deep.equal([
      ...["abc", "YWJj", "--__"],
      "616263",
    ]);
    expect(read("c074323031332d30332d32315432303a30343a30305a")).to.equal("2013-03-21T20:04:00Z");
    expect(read("bf61619f0102ffff")).to.deep.equal({ a: [1, 2] });
    expect(read("a0")).to.deep.equal({});
  });

  for (const [what, hex, message] of [
    ["ends early", "a16161", "not enough entries"],
    ["is empty", "", "did not find any content"],
    ["has more than one value", "0102", "too many terminals"],
    ["has a key twice", "a2616101616102", 'found repeat map key "a"'],
    ["has a key twice, as text and bytes", "a2616101416102", 'found repeat map key "a"'],
    ["has a key that is a number", "a10102", "non-string keys"],
    ["has a key that is a map", "a1a001", "non-string keys"],
    ["has text that is not UTF-8", "62c328", "text is not UTF-8"],
    ["has a key that is not UTF-8", "a162c32801", "text is not UTF-8"],
    ["has NaN", "f97e00", "NaN"],
    ["has infinity", "f97c00", "Infinity"],
    ["has undefined", "f7", "undefined"],
    ["has another simple value", "e0", ""],
    ["has a long integer", "c249010000000000000000", "tag 2 is not supported"],
    ["has a time as a number", "c11a514b67b0", "tag 1 is not supported"],
    ["has an integer of more than 63 bits", "1bffffffffffffffff", "does not fit in 64 bits"],
    ["has a negative integer of more than 63 bits", "3bffffffffffffffff", "does not fit in 64 bits"],
    ["ends a map behind a key", "bf6161ff", "unexpected break"],
    ["ends an array that has a length", "8201ff", "unexpected break"],
    ["begins with a break", "ff", "unexpected break"],
    ["has a break behind a tag", "9fd9d9f7ff", "unexpected break"],
    ["has a tag of nothing", "d9d9f7", "unexpected end"],
    ["claims a huge array", "9bffffffffffffff00", ""],
    ["claims a huge map", "bb0fffffffffffffff", ""],
    ["claims a huge text", "7affffffff61", ""],
    ["claims huge bytes", "5bffffffffffffffff61", ""],
    ["has reserved bits", "1c", ""],
  ] as const)
    it(`are rejected when one ${what}`, () => {
      expect(() => read(hex)).to.throw(CborFault, message);
    });

  it("are rejected when they are nested too deep, and read below that", () => {
    expect(read(`${"81".repeat(999)}80`)).to.be.an("array");
    expect(() => read(`${"81".repeat(1_000)}80`)).to.throw(CborFault, "nested deeper than 1000 levels");
    for (const deep of ["81", "9f", "a16161", "bf6161", "d9d9f7", "d6"])
      expect(() => read(deep.repeat(500_000)), deep).to.throw(CborFault);
  });

  it("are rejected beyond the limits of JSON", () => {
    const many = Buffer.concat([Buffer.from("9a00050000", "hex"), Buffer.alloc(0x50000, 0x80)]);
    expect(() => readCbor(many)).to.throw(RangeError, "objects and arrays");
    const names = Array.from({ length: 70_000 }, (_, at) => [`n${at}`, 1]);
    expect(() => readCbor(bodyOf(Object.fromEntries(names)))).to.throw(RangeError, "different names");
  });

  it("of three megabytes of anything take bounded time", () => {
    const bound = 700 * slowness();
    for (const hex of ["80", "60", "40", "81", "d6", "f5", "a16161", "616160"]) {
      const body = Buffer.alloc(3 * 2 ** 20, Buffer.from(hex, "hex"));
      for (const head of ["9a00300000", "ba00300000"]) {
        const began = computed();
        expect(() => readCbor(Buffer.concat([Buffer.from(head, "hex"), body])), `${head} ${hex}`).to.throw();
        expect(computed() - began, `${head} ${hex}`).to.be.below(bound);
      }
    }
  });

  it("of random bytes are read, or rejected as malformed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          JSON.stringify(readCbor(Buffer.from(bytes)), (_name, value) =>
            typeof value === "bigint" ? `${value}` : value,
          );
        } catch (error) {
          expect(error).to.be.instanceOf(CborFault);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  it("are rejected with 400, in a Status that names the problem", async () => {
    const notes = Note.collection();
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: () => allow(),
      resources: [Note.serve(notes)],
    });
    await using server = await startPlain([view]);
    const call = callsTo(server);
    for (const [body, code, text] of [
      [Buffer.from("a2616101616102", "hex"), 400, 'found repeat map key "a"'],
      [Buffer.from("62c328", "hex"), 400, "text is not UTF-8"],
      [Buffer.from("01", "hex"), 400, "must be an object"],
      [Buffer.concat([Buffer.from("9a00050000", "hex"), Buffer.alloc(0x50000, 0x80)]), 413, "objects and arrays"],
      [bodyOf(note("a", "x".repeat(4 * 2 ** 20))), 413, "limit is"],
    ] as const) {
      const answer = await call(`POST ${NOTES}`, { body });
      expect([answer.status, answer.body.kind], text).to.deep.equal([code, "Status"]);
      expect(answer.body.message).to.include(text);
    }
    const strict = await call(`POST ${NOTES}?fieldValidation=Strict`, { body: bodyOf({ ...note("a"), other: 1 }) });
    expect([strict.status, strict.body.message]).to.deep.equal([
      400,
      'Note in version "v1" cannot be handled as a Note: strict decoding error: unknown field "other"',
    ]);
  });
});
