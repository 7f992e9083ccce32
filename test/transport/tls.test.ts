// Trust in servers, client certificates, and errors, over real handshakes.
import { execFile } from "node:child_process";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { type Credential, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { plainAnswer, type RawRequest, startRaw, thrown } from "../_support/raw.ts";

const root = Authority.root("right");
const other = Authority.root("other");
const shown = root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });
/** Returns the name in the client certificate. */
const who = ({ socket }: RawRequest): void => {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  socket.write(plainAnswer(String(subject?.CN ?? "nobody")));
};
const mutual = { ...shown, ca: root.cert, requestCert: true, rejectUnauthorized: true };

describe("TLS to an upstream", () => {
  it("trusts only the given authority", async () => {
    await using server = await startRaw(who, shown);
    await using right = new Upstream({ url: server.url, tls: { ca: root.cert } });
    expect((await right.send({ path: "/" })).status).to.equal(200);
    for (const tls of [{ ca: other.cert }, {}, { ca: root.cert, serverName: "elsewhere.example" }]) {
      await using wrong = new Upstream({ url: server.url, tls });
      const error = await thrown(wrong.send({ path: "/" }));
      expect([error.code, error.delivered], JSON.stringify(tls)).to.deep.equal(["tls", false]);
      expect(wrong.stats.failures.tls).to.equal(1);
    }
    expect(server.requests).to.have.length(1);
    await using anyone = new Upstream({ url: server.url, tls: { ca: other.cert, insecureSkipVerify: true } });
    expect((await anyone.send({ path: "/" })).status).to.equal(200);
  });

  it("trusts each given certificate by itself, as Go does: a server's own, and an intermediate authority", async () => {
    const intermediate = root.intermediate("intermediate");
    const below = intermediate.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });
    const leafOf = ({ cert }: { readonly cert: string }): string =>
      `${cert.split("-----END CERTIFICATE-----")[0]}-----END CERTIFICATE-----\n`;
    for (const [pair, ca] of [
      [shown, leafOf(shown)],
      [below, leafOf(below)],
      [below, intermediate.cert],
    ] as const) {
      await using server = await startRaw(who, pair);
      await using upstream = new Upstream({ url: server.url, tls: { ca } });
      expect((await upstream.send({ path: "/" })).status).to.equal(200);
    }
    // Another certificate of the same authority, another name and an expired certificate stay errors.
    await using server = await startRaw(who, shown);
    const others = [
      { ca: leafOf(root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] })) },
      { ca: leafOf(shown), serverName: "elsewhere.example" },
    ];
    const expired = root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH], from: -3, to: -2 });
    await using late = await startRaw(who, expired);
    for (const [url, tls] of [
      ...others.map((tls) => [server.url, tls] as const),
      [late.url, { ca: leafOf(expired) }] as const,
    ]) {
      await using upstream = new Upstream({ url, tls });
      expect((await thrown(upstream.send({ path: "/" }))).code, JSON.stringify(tls)).to.equal("tls");
    }
  });

  it("cannot be disabled by the environment", async () => {
    await using server = await startRaw(who, shown);
    // A separate process: Node.js warns when it reads that variable.
    const program = `
      import { Upstream } from "@virtual-workspaces/transport";
      await using upstream = new Upstream({ url: "${server.url}", tls: { ca: ${JSON.stringify(other.cert)} } });
      console.log(await upstream.send({ path: "/" }).then(() => "sent", (error) => error.code));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@virtual-workspaces/source", "--input-type=module", "-e", program],
      { env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0" } },
    );
    expect(stdout.trim()).to.equal("tls");
    expect(server.requests).to.have.length(0);
  });

  it("verifies and sends the configured name, and sends no SNI for IP addresses", async () => {
    const asked: (string | false | null)[] = [];
    const name = ({ socket }: RawRequest): void => {
      asked.push((socket as TLSSocket & { servername: string | false | null }).servername);
      socket.write(plainAnswer(""));
    };
    await using server = await startRaw(name, shown);
    await using named = new Upstream({ url: server.url, tls: { ca: root.cert, serverName: "localhost" } });
    await named.send({ path: "/" });
    await using address = new Upstream({
      url: `https://localhost:${server.port}`,
      tls: { ca: root.cert, serverName: "127.0.0.1" },
    });
    await address.send({ path: "/" });
    expect(asked).to.deep.equal(["localhost", false]);
  });

  it("distinguishes no TLS, an expired certificate, a rejected client certificate and no server", async () => {
    await using plain = await startRaw(({ socket }) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await using server = await startRaw(who, {
      ...root.issue({ name: "127.0.0.1", usages: [SERVER_AUTH], from: -3, to: -2 }),
    });
    await using strict = await startRaw(who, mutual);
    const gone = await startRaw(who, shown);
    await gone[Symbol.asyncDispose]();
    const codes: string[] = [];
    for (const port of [plain.port, server.port, strict.port, gone.port]) {
      await using upstream = new Upstream({ url: `https://127.0.0.1:${port}`, tls: { ca: root.cert } });
      // The server without TLS waits for a whole request, so the test ends the connection there.
      const failed = thrown(upstream.send({ path: "/", deadlines: { head: 3000 } }));
      if (port === plain.port) {
        await plain.until(() => plain.sockets.size === 1);
        for (const socket of plain.sockets) socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
      }
      codes.push((await failed).code ?? "");
    }
    // Node.js servers send no alert for a missing client certificate.
    expect(codes).to.deep.equal(["tls", "tls", "reset", "connect"]);
  });

  it("shows a new client certificate on new connections, while pending requests finish", async () => {
    const pending: RawRequest[] = [];
    await using server = await startRaw((request) => {
      if (request.text.includes("/slow")) pending.push(request);
      else who(request);
    }, mutual);
    let current: Credential = root.issue({ name: "first" });
    await using upstream = new Upstream({
      url: server.url,
      tls: { ca: root.cert },
      credentials: { get: () => current },
    });
    const ask = async (path = "/"): Promise<string> => (await upstream.send({ path })).body.toString();
    expect(await ask()).to.equal("first");
    const slow = [ask("/slow"), ask("/slow")];
    await server.until(() => pending.length === 2);
    await Promise.all([ask(), ask()]);
    current = root.issue({ name: "second" });
    expect(await ask()).to.equal("second");
    // Idle connections end now, others after their request.
    await server.until(() => server.sockets.size === 3);
    for (const request of pending) who(request);
    expect(await Promise.all(slow)).to.deep.equal(["first", "first"]);
    await server.until(() => server.sockets.size === 1);
    expect(await ask()).to.equal("second");
    expect(upstream.stats.connections).to.equal(1);
  });

  it("ends retired connections too when it is closed", async () => {
    await using server = await startRaw(({ text, socket }) => {
      if (!text.includes("/slow")) socket.write(plainAnswer(""));
    }, mutual);
    let current: Credential = root.issue({ name: "first" });
    const upstream = new Upstream({ url: server.url, tls: { ca: root.cert }, credentials: { get: () => current } });
    const slow = thrown(upstream.send({ path: "/slow", long: true }));
    await server.until(() => server.requests.length === 1);
    current = root.issue({ name: "second" });
    await upstream.send({ path: "/" });
    await upstream[Symbol.asyncDispose]();
    expect((await slow).code).to.equal("closed");
    expect(upstream.stats).to.include({ connections: 0, active: 0 });
    await server.until(() => server.sockets.size === 0);
  });

  it("takes the authorities as Node does: text, a Buffer, or an array of them", async () => {
    await using server = await startRaw(who, shown);
    const bundle = `${other.cert}${root.cert}`;
    const several = [other.cert, Buffer.from(root.cert)] as const;
    for (const ca of [bundle, Buffer.from(root.cert), several, [root.cert]]) {
      await using upstream = new Upstream({ url: server.url, tls: { ca } });
      expect((await upstream.send({ path: "/" })).status).to.equal(200);
    }
    await using wrong = new Upstream({ url: server.url, tls: { ca: [Buffer.from(other.cert)] } });
    expect((await thrown(wrong.send({ path: "/" }))).code).to.equal("tls");
  });

  it("rejects any other value as an authority, and names the field", () => {
    const broken = root.cert.replace(/\n[A-Za-z0-9+/]{20}/, "\n!");
    for (const ca of [
      7,
      true,
      {},
      [],
      [root.cert, 7],
      [""],
      [broken],
      broken,
      Buffer.from("no PEM"),
      [[root.cert]],
      null,
    ])
      for (const url of ["https://127.0.0.1:1", "http://127.0.0.1:1"])
        expect(() => new Upstream({ url, tls: { ca } } as never), JSON.stringify(ca)).to.throw(
          /^invalid tls\.ca of an upstream: use PEM certificates, as text, Buffer or an array of these$/,
        );
  });

  it("rejects invalid certificates and keys", async () => {
    await using server = await startRaw(who, shown);
    expect(() => new Upstream({ url: server.url, tls: { ca: "" } })).to.throw("tls.ca");
    expect(() => new Upstream({ url: server.url, tls: { ca: "not PEM" } })).to.throw("tls.ca");
    const { cert, key } = root.issue({ name: "x" });
    for (const credential of [
      { cert },
      { key },
      { cert: "no PEM", key },
      { cert, key: other.issue({ name: "y" }).key },
    ]) {
      await using upstream = new Upstream({
        url: server.url,
        tls: { ca: root.cert },
        credentials: { get: () => credential },
      });
      const { message } = await thrown(upstream.send({ path: "/" }));
      expect(message).to.be.a("string").and.not.to.contain("PRIVATE KEY");
      expect(upstream.stats).to.include({ active: 0, pending: 0, connections: 0 });
    }
    expect(server.opened).to.equal(0);
  });
});
