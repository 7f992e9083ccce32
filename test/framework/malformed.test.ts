// Malformed HTTP: a Status where a response is possible, otherwise the end of the connection, and never of the server.
import { once } from "node:events";
import { allow, defineVirtualWorkspace, type ServerOptions } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Note } from "../_support/note.ts";
import { startPlain } from "../_support/plain.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";

const NOTES = "/services/notes/clusters/root/apis/test.dev/v1/notes";
const GOOD = ["Host: x", "Authorization: Bearer alice"];
const UPGRADE = ["Connection: Upgrade", "Upgrade: test"];

function views() {
  const notes = Note.collection();
  notes.in("root").set("a", {});
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    resources: [Note.serve(notes, { verbs: ["get", "list", "watch"] })],
  });
  return [view];
}

/** Returns the Status in a response. */
function statusOf(answer: WireAnswer | undefined): { code: number; message: string; reason?: string } {
  expect(answer?.headers["content-type"]).to.equal("application/json");
  const body = JSON.parse(answer?.body ?? "");
  expect(body).to.include({ kind: "Status", apiVersion: "v1", status: "Failure", code: answer?.status });
  expect(body.message).to.be.a("string").that.is.not.empty;
  return body;
}

async function start(options: Partial<ServerOptions> = {}) {
  const server = await startPlain(views(), options);
  const port = Number(new URL(server.url).port);
  return {
    server,
    wire: () => Wire.open(port),
    /** Fails unless the server still answers. */
    lives: async () => expect((await server.get(NOTES)).status).to.equal(200),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("malformed HTTP", () => {
  const refused: Record<string, { readonly bytes: string; readonly code: number }> = {
    "no HTTP at all": { bytes: "\x16\x03\x01\x02\x00\x01\x00", code: 400 },
    "an unknown method": { bytes: `FROB ${NOTES} HTTP/1.1\r\nHost: x\r\n\r\n`, code: 400 },
    "another protocol": { bytes: "GET / GOPHER/1.0\r\nHost: x\r\n\r\n", code: 400 },
    "HTTP/2 without TLS": { bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", code: 400 },
    "HTTP/1.2": { bytes: "GET / HTTP/1.2\r\nHost: x\r\n\r\n", code: 400 },
    "bare line feeds": { bytes: "GET /livez HTTP/1.1\nHost: x\n\n", code: 400 },
    "a space before a colon": { bytes: "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n", code: 400 },
    "a header name that is none": { bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX(y): z\r\n\r\n", code: 400 },
    "NUL in a header": { bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n", code: 400 },
    "a line folded as in HTTP/1.0": { bytes: "GET /livez HTTP/1.1\r\n Host: x\r\n\r\n", code: 400 },
    "a value folded over two lines": { bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n", code: 400 },
    "a value that begins on its second line": {
      bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX-Remote-User:\r\n\tadmin\r\n\r\n",
      code: 400,
    },
    "a carriage return in a value": { bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nX-A: b\rX-B: c\r\n\r\n", code: 400 },
    "two hosts": { bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", code: 400 },
    "two Authorizations": {
      bytes: `GET ${NOTES} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer a\r\n\r\n`,
      code: 400,
    },
    "no Host": { bytes: "GET /livez HTTP/1.1\r\n\r\n", code: 400 },
    "a body of two lengths": {
      bytes: `POST ${NOTES} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      code: 400,
    },
    "two lengths": { bytes: "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", code: 400 },
    "a negative length": { bytes: "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", code: 400 },
    "a length in hexadecimal": { bytes: "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\na", code: 400 },
    "an encoding that is not quite chunked": {
      bytes: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      code: 400,
    },
    "an encoding besides chunked": {
      bytes: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      code: 400,
    },
    "an encoding of no name": { bytes: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n", code: 400 },
    "a space before the colon of an encoding": {
      bytes: "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      code: 400,
    },
    "an encoding behind chunked": {
      bytes: "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
      code: 400,
    },
    CONNECT: { bytes: "CONNECT example.dev:443 HTTP/1.1\r\nHost: x\r\n\r\n", code: 405 },
    "an expectation": { bytes: "GET /livez HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n", code: 417 },
    "an absolute URL": { bytes: `GET http://x${NOTES} HTTP/1.1\r\nHost: x\r\n\r\n`, code: 400 },
    "a URL that is not ASCII": { bytes: "GET /caf\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n", code: 400 },
    "an asterisk": { bytes: "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", code: 400 },
  };
  for (const [what, { bytes, code }] of Object.entries(refused)) {
    it(`is rejected: ${what}`, async () => {
      await using front = await start();
      using wire = await front.wire();
      wire.send(bytes);
      expect(statusOf(await wire.answer())).to.include({ code });
      await front.lives();
    });
  }

  it("gets 400 when the head is cut", async () => {
    await using front = await start();
    using wire = await front.wire();
    wire.send(`GET ${NOTES} HTTP/1.1\r\nHost: x\r\n`);
    wire.socket.end();
    expect(statusOf(await wire.answer()).code).to.equal(400);
  });

  it("after a valid request does not affect its response", async () => {
    await using front = await start();
    using wire = await front.wire();
    wire.send(`GET ${NOTES}/a HTTP/1.1\r\n${GOOD.join("\r\n")}\r\n\r\nGARBAGE\r\n\r\n`);
    expect(await wire.answer()).to.have.property("status", 200);
    expect(await wire.answer()).to.equal(undefined);
    await front.lives();
  });

  it("after a watch cuts it: a begun response cannot be rejected", async () => {
    await using front = await start();
    using wire = await front.wire();
    wire.request(`GET ${NOTES}?watch=true HTTP/1.1`, ...GOOD);
    expect((await wire.read(12)).toString()).to.equal("HTTP/1.1 200");
    wire.send("GARBAGE\r\n\r\n");
    expect(await wire.rest()).not.to.match(/\r\n0\r\n\r\n$/);
    await front.lives();
  });

  it("in a chunk of an unread body does not affect the response", async () => {
    await using front = await start();
    using wire = await front.wire();
    wire.request(`POST ${NOTES} HTTP/1.1`, ...GOOD, "Transfer-Encoding: chunked");
    wire.send("zz\r\n");
    expect(statusOf(await wire.answer("POST")).code).to.equal(405);
    await front.lives();
  });

  it("does not mix an expectation with an earlier response under way", async () => {
    await using front = await start();
    using wire = await front.wire();
    const head = GOOD.join("\r\n");
    const expecting = `GET ${NOTES}/a HTTP/1.1\r\n${head}\r\nExpect: 100-continue\r\n\r\n`;
    wire.send(`GET ${NOTES} HTTP/1.1\r\n${head}\r\n\r\n${expecting}`);
    expect(JSON.parse((await wire.answer())?.body ?? "").kind).to.equal("NoteList");
    expect(JSON.parse((await wire.answer())?.body ?? "").kind).to.equal("Note");
    using other = await front.wire();
    other.send(expecting);
    expect((await other.read(25)).toString()).to.equal("HTTP/1.1 100 Continue\r\n\r\n");
    expect(JSON.parse((await other.answer())?.body ?? "").kind).to.equal("Note");
  });

  it("leaves the server running when the client resets a CONNECT or an upgrade", async () => {
    await using front = await start();
    for (const head of [["CONNECT a:1 HTTP/1.1"], [`GET ${NOTES} HTTP/1.1`, ...UPGRADE]]) {
      const wire = await front.wire();
      wire.request(...head, ...GOOD);
      wire.socket.resetAndDestroy();
      await once(wire.socket, "close");
    }
    await front.lives();
  });

  it("closes the connection after the earlier response when it contains an upgrade", async () => {
    await using front = await start();
    using wire = await front.wire();
    const head = GOOD.join("\r\n");
    wire.send(
      `GET /livez HTTP/1.1\r\n${head}\r\n\r\nGET ${NOTES} HTTP/1.1\r\n${head}\r\n${UPGRADE.join("\r\n")}\r\n\r\n`,
    );
    expect(await wire.answer()).to.include({ status: 200, body: "ok" });
    expect(await wire.answer()).to.equal(undefined);
    await front.lives();
  });

  it("is cleaned up though the client keeps its side open", async () => {
    await using front = await start();
    using wire = await front.wire();
    wire.request("CONNECT a:1 HTTP/1.1", ...GOOD);
    expect((await wire.answer())?.status).to.equal(405);
    await wire.cut(); // though `wire` never ends its side
  });

  it("in place of a TLS handshake ends the connection", async () => {
    const keys = Authority.root("servers").issue({ name: "server", usages: [SERVER_AUTH] });
    await using front = await start({ tls: keys });
    for (const bytes of ["GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01\xff\xff", "\0".repeat(9000)]) {
      using wire = await front.wire();
      wire.send(bytes);
      wire.socket.end();
      await wire.end();
    }
  });

  it("logs nothing: any client could fill the log", async () => {
    await using front = await start();
    using wire = await front.wire();
    wire.send("GARBAGE\r\n\r\n");
    await wire.answer();
    expect(() => expectFault(/./)).to.throw("got none");
  });
});
