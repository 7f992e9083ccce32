// Header blocks arrive whole, or are rejected. A truncated one could remove a group or a scope from a user.
import { type Authenticator, createServer } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { whoami } from "../_support/whoami.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";

/** Groups as a front proxy sends them: a line for each. */
const byHeader: Authenticator = {
  name: "front proxy",
  authenticate: ({ headersDistinct }) => {
    const name = headersDistinct["x-remote-user"]?.[0];
    return name === undefined
      ? undefined
      : authenticatedUser({ name, groups: headersDistinct["x-remote-group"] ?? [] });
  },
};

const servers = Authority.root("servers");

async function start({ tls = false }: { readonly tls?: boolean } = {}) {
  const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
  const server = createServer({
    virtualWorkspaces: [whoami()],
    authentication: [byHeader],
    log: testLog().log,
    ...(tls ? { tls: keys } : {}),
  });
  const { port } = await server.listen({ port: 0 });
  const open = (): Promise<Wire> => Wire.open(port, tls ? { tls: { ca: servers.cert } } : {});
  return { open, [Symbol.asyncDispose]: () => server.close() };
}

const LINE = "GET /services/who/ HTTP/1.1";
const HEAD = ["Host: x", "X-Remote-User: alice"];
const groups = (count: number): string[] => Array.from({ length: count }, (_, at) => `group-${at}`);
const lines = (names: readonly string[]): string[] => names.map((name) => `X-Remote-Group: ${name}`);

function statusOf(answer: WireAnswer | undefined): Record<string, unknown> {
  const body = JSON.parse(answer?.body ?? "");
  expect(body).to.include({ kind: "Status", apiVersion: "v1", status: "Failure", code: answer?.status });
  return body;
}

describe("header blocks", () => {
  for (const tls of [false, true]) {
    it(`with 2,000 groups and more arrive whole${tls ? ", over TLS" : ""}`, async () => {
      await using server = await start({ tls });
      using wire = await server.open();
      for (const count of [1, 998, 999, 1000, 1001, 2000, 2001, 20_000]) {
        wire.request(LINE, ...HEAD, ...lines(groups(count)));
        const body = JSON.parse((await wire.answer())?.body ?? "");
        expect(body.groups).to.deep.equal([...groups(count), "system:authenticated"]);
      }
    });
  }

  it("arrive whole however they are split into packets", async () => {
    await using server = await start();
    using wire = await server.open();
    const text = `${[LINE, ...HEAD, ...lines(groups(2000))].join("\r\n")}\r\n\r\n`;
    for (let at = 0; at < text.length; at += 997) {
      wire.send(text.slice(at, at + 997));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(JSON.parse((await wire.answer())?.body ?? "").groups).to.have.length(2001);
  });

  // Node counts names and values, not the separators.
  const counted = (head: readonly string[]): number =>
    head.join("").replaceAll(": ", "").length - LINE.length + "/services/who/".length;

  it("are accepted just under 1 MiB, and rejected with a Status above", async () => {
    await using server = await start();
    const padded = (size: number): string[] => {
      const head = [LINE, ...HEAD, "X-Pad: "];
      return [...head.slice(0, -1), `X-Pad: ${"p".repeat(size - counted(head))}`];
    };
    const limit = 2 ** 20;
    using wire = await server.open();
    wire.request(...padded(limit - 64));
    expect((await wire.answer())?.status).to.equal(200);
    for (const size of [limit + 64, 2 * limit, 8 * limit]) {
      using other = await server.open();
      other.request(...padded(size));
      const answer = await other.answer();
      expect(statusOf(answer)).to.include({
        code: 431,
        message: "the header block is larger than 1 MiB: send fewer or shorter headers",
      });
      expect(answer?.headers).to.include({ connection: "close" });
    }
  });

  it("are rejected alike when one line, many lines or the URL are too large", async () => {
    await using server = await start();
    const heads = [
      [LINE, ...HEAD, `X-Pad: ${"p".repeat(2 ** 20)}`],
      [LINE, ...HEAD, `${"N".repeat(2 ** 20)}: x`],
      [LINE, ...HEAD, ...lines(groups(80_000))],
      [`GET /${"u".repeat(2 ** 20)} HTTP/1.1`, ...HEAD],
      [`GET /services/who/?${"q=&".repeat(2 ** 19)} HTTP/1.1`, ...HEAD],
    ];
    for (const head of heads) {
      using wire = await server.open();
      wire.request(...head);
      expect(statusOf(await wire.answer()), head[0]?.slice(0, 40)).to.include({ code: 431 });
    }
  });

  it("end the connection, not the server, when trailers are too large", async () => {
    await using server = await start();
    using wire = await server.open();
    wire.request(LINE.replace("GET", "POST"), ...HEAD, "Transfer-Encoding: chunked");
    wire.send(`0\r\n${lines(groups(100_000)).join("\r\n")}\r\n\r\n`);
    expect((await wire.answer())?.status).to.equal(200);
    using next = await server.open();
    next.request(LINE, ...HEAD);
    expect((await next.answer())?.status).to.equal(200);
  });

  it("keep all bytes: UTF-8, other encodings, and invalid text", async () => {
    await using server = await start();
    using wire = await server.open();
    const texts = [Buffer.from("Zoë 東京 🦆"), Buffer.from([0x80, 0xff, 0xfe, 0xc3]), Buffer.from([0x09, 0x20, 0x7e])];
    for (const text of texts) {
      wire.send(`${LINE}\r\n${HEAD.join("\r\n")}\r\nX-Text: a`);
      wire.send(text);
      wire.send("z\r\n\r\n");
      const answer = await wire.answer();
      const [headers] = JSON.parse(answer?.body ?? "").headers;
      expect(Buffer.from(headers["x-text"], "latin1").toString("hex")).to.equal(
        Buffer.concat([Buffer.from("a"), text, Buffer.from("z")]).toString("hex"),
      );
    }
  });

  it("of a rejected request may also contain any bytes", async () => {
    await using server = await start();
    using wire = await server.open();
    for (const name of ["Authorization", "Accept", "If-None-Match", "Cookie", "Content-Type", "Expires"]) {
      wire.send(`GET /services/nope HTTP/1.1\r\nHost: x\r\n${name}: `);
      wire.send(Buffer.from([0xc3, 0xb6, 0xff, 0x80, 0x0d, 0x0a, 0x0d, 0x0a]));
      expect(statusOf(await wire.answer()), name).to.include({ code: 401 });
    }
  });
});
