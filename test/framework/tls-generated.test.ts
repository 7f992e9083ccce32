// Generated certificates: made once, kept, and renewed when they expire soon, are truncated, or are of another authority.
// Their content is checked by TLS itself, with strict verification.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer, type PeerCertificate, type TLSSocket } from "node:tls";
import { type GeneratedTls, type GeneratedTlsOptions, generatedTls } from "@virtual-workspaces/framework/tls";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { run } from "../../tools/run.mjs";
import { type Tree, tree } from "../_setup/tree.ts";

const USERS = [
  { name: "admin", groups: ["system:masters", "ops"] },
  { name: "guest", groups: [] },
];
const DAY = 24 * 60 * 60 * 1000;

/** Includes the content of the files for the server. */
interface Credentials extends GeneratedTls {
  readonly server: { readonly cert: string; readonly key: string };
}

describe("generated certificates", () => {
  let folder: Tree;
  const ensure = async (days = 0, options: Partial<GeneratedTlsOptions> = {}): Promise<Credentials> => {
    const now = new Date(Date.now() + days * DAY);
    const made = await generatedTls({ dir: folder.path, users: USERS, now, ...options });
    const read = (file: string): string => readFileSync(file, "utf8");
    return { ...made, server: { cert: read(made.tls.certFile), key: read(made.tls.keyFile) } };
  };

  beforeEach(() => {
    folder = tree({});
  });
  afterEach(() => folder[Symbol.dispose]());

  /** Returns what both ends see of each other when a user connects. */
  async function handshake(credentials: Credentials, user: string, servername = "localhost"): Promise<PeerCertificate> {
    const { ca, server, users } = credentials;
    const listener = createServer({ ...server, ca, requestCert: true, rejectUnauthorized: true }).listen(
      0,
      "127.0.0.1",
    );
    await once(listener, "listening");
    const identity = users.find(({ name }) => name === user);
    const { port } = listener.address() as AddressInfo;
    const client = connect({ port, host: "127.0.0.1", servername, ca, ...identity });
    try {
      const [[socket]] = await Promise.all([once(listener, "secureConnection"), once(client, "secureConnect")]);
      return (socket as TLSSocket).getPeerCertificate();
    } finally {
      client.destroy();
      listener.close();
      await once(listener, "close");
    }
  }

  it("serve Node's own HTTPS server as they are, with the contents of the files", async () => {
    const { tls, ca, server } = await ensure();
    expect(tls).to.include(server);
    const plain = createHttps(tls, (_, response) => response.end("from Node")).listen(0, "127.0.0.1");
    await once(plain, "listening");
    const { port } = plain.address() as AddressInfo;
    await using upstream = new Upstream({ url: `https://127.0.0.1:${port}`, tls: { ca } });
    expect((await upstream.send({ path: "/" })).body.toString()).to.equal("from Node");
    await upstream[Symbol.asyncDispose]();
    await once(plain.close(), "close");
  });

  it("name the user as common name, the groups as organizations", async () => {
    expect((await handshake(await ensure(), "admin")).subject).to.deep.equal({
      CN: "admin",
      O: ["system:masters", "ops"],
    });
    expect((await handshake(await ensure(), "guest")).subject).to.deep.equal({ CN: "guest" });
  });

  it("are valid for this machine only, under any of its names", async () => {
    const credentials = await ensure();
    const server = new X509Certificate(credentials.server.cert);
    expect(server.subjectAltName).to.equal("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    const refused = await handshake(credentials, "admin", "example.com").catch((error: NodeJS.ErrnoException) => error);
    expect(refused).to.have.property("code", "ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("are valid for their purpose only: a user's serves no server, and neither signs others", async () => {
    const { ca, server, users } = await ensure();
    const usages = (pem: string): unknown => new X509Certificate(pem).keyUsage;
    expect([server.cert, users[0]?.cert ?? ""].map(usages)).to.deep.equal([
      ["1.3.6.1.5.5.7.3.1"],
      ["1.3.6.1.5.5.7.3.2"],
    ]);
    expect([ca, server.cert, users[0]?.cert ?? ""].map((pem) => new X509Certificate(pem).ca)).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it("pass a strict verifier, today and in years of five digits and more", async function () {
    const openssl = await run("openssl", ["version"]);
    if (!openssl.ok) this.skip();
    for (const days of [0, 25 * 365]) {
      await ensure(days);
      const files = ["server.crt", "admin.crt", "guest.crt"].map((name) => join(folder.path, name));
      const at = String(Math.floor(Date.now() / 1000) + days * 24 * 60 * 60 + 60);
      const args = ["verify", "-x509_strict", "-attime", at, "-CAfile", join(folder.path, "ca.crt"), ...files];
      expect(await run("openssl", args)).to.deep.equal({
        ok: true,
        output: files.map((file) => `${file}: OK`).join("\n"),
      });
    }
  });

  it("are kept, and readable by their owner alone", async () => {
    const first = await ensure();
    expect(await ensure()).to.deep.equal(first);
    const modes = readdirSync(folder.path).map((name) => statSync(join(folder.path, name)).mode & 0o777);
    expect(new Set(modes)).to.deep.equal(new Set([0o600]));
  });

  it("keep names of users and groups exactly, whatever they are", async () => {
    const names = ["a,b", "a+b", 'q"x', "a\\b", "#x", "#0c0161", "Zoë", " x ", "a=b;c<d>", "two\nlines", "日本"];
    const users = names.flatMap((name, at) => [
      { name, groups: names.slice(0, at) },
      { name: `${name}!`, groups: [name] },
    ]);
    const first = await ensure(0, { users });
    expect(await ensure(0, { users })).to.deep.equal(first);
    for (const { name, groups } of users) {
      const { subject } = await handshake(first, name);
      expect({ name: subject.CN, groups: [subject.O ?? []].flat() }).to.deep.equal({ name, groups });
    }
  });

  it("are renewed a month before their end, under the same authority; the end of the authority renews all", async () => {
    const first = await ensure();
    expect(await ensure(365 - 32)).to.deep.equal(first);
    const renewed = await ensure(365 - 29);
    expect(renewed.ca).to.equal(first.ca);
    expect(renewed.server.cert).not.to.equal(first.server.cert);
    expect(renewed.users[0]?.cert).not.to.equal(first.users[0]?.cert);
    expect((await ensure(3650 - 29)).ca).not.to.equal(first.ca);
  });

  it("are made again when a file is truncated, and when a user's groups change", async () => {
    const first = await ensure();
    truncateSync(join(folder.path, "server.key"), 100);
    const second = await ensure();
    expect(second.server.key).not.to.equal(first.server.key);
    expect(second.users).to.deep.equal(first.users);
    const [admin] = (await ensure(0, { users: [{ name: "admin", groups: ["other"] }] })).users;
    expect(new X509Certificate(admin?.cert ?? "").subject).to.equal("O=other\nCN=admin");
  });

  it("follow the authority: a new one renews all", async () => {
    await ensure();
    truncateSync(join(folder.path, "ca.crt"), 0);
    const { ca, server } = await ensure();
    expect(new X509Certificate(server.cert).verify(new X509Certificate(ca).publicKey)).to.equal(true);
    expect(readFileSync(join(folder.path, "ca.crt"), "utf8")).to.equal(ca);
  });

  it("are valid for the requested names, and made again for others", async () => {
    const names = { hosts: ["api.example.com", "*.views.example.com"], addresses: ["10.0.0.1", "fd00::1"] };
    const first = await ensure(0, names);
    const { subjectAltName } = new X509Certificate(first.server.cert);
    expect(subjectAltName).to.equal(
      "DNS:api.example.com, DNS:*.views.example.com, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1",
    );
    expect((await ensure(0, names)).server).to.deep.equal(first.server);
    const other = await ensure(0, { ...names, addresses: [] });
    expect(other.server.cert).not.to.equal(first.server.cert);
    expect(other.ca).to.equal(first.ca);
  });

  it("are rejected for invalid names, and stay in their folder whatever the users are called", async () => {
    const wrong: [Partial<GeneratedTlsOptions>, string][] = [
      [{ hosts: [], addresses: [] }, "generated TLS needs a host or an address of the server: set hosts or addresses"],
      [{ hosts: ["a b"] }, 'invalid generated TLS name "a b": use a DNS name, or *. and one'],
      [{ addresses: ["localhost"] }, 'invalid address "localhost" of generated TLS: use an IP address'],
      [{ users: [{ name: "ca", groups: [] }] }, 'invalid user name "ca" of generated TLS: use another name'],
      [{ users: [{ name: "Server", groups: [] }] }, 'invalid user name "Server" of generated TLS: use another name'],
      [{ users: [{ name: "", groups: [] }] }, 'invalid user name "" of generated TLS: use another name'],
    ];
    for (const [options, message] of wrong) {
      const error = await ensure(0, options).catch((thrown: Error) => thrown);
      expect(error).to.be.an("error").with.property("message", message);
    }
    const dir = join(folder.path, "below");
    await ensure(0, {
      dir,
      users: [
        { name: "../../up", groups: [] },
        { name: "..", groups: [] },
      ],
    });
    expect(readdirSync(folder.path)).to.deep.equal(["below"]);
    expect(readdirSync(dir)).to.include.members(["..%2F..%2Fup.crt", "...crt", "ca.crt", "server.key"]);
  });
});
