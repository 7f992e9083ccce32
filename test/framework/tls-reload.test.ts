// Certificates that change while a server runs: new connections get the new one, open connections stay, and invalid files
// change nothing.
import { once } from "node:events";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { type Authenticator, allow, createServer, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { type Tree, tree } from "../_setup/tree.ts";
import { Authority, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { Note } from "../_support/note.ts";
import { Wire } from "../_support/wire.ts";

const servers = Authority.root("servers");
const clients = Authority.root("clients");
const issue = (name: string): KeyPair => servers.issue({ name, usages: [SERVER_AUTH] });
const admin = clients.issue({ name: "admin" });
const WATCH = "/services/notes/apis/test.dev/v1/notes?watch=true";

async function start(tls: TlsOptions, extra: readonly Authenticator[] = []) {
  const notes = Note.collection();
  const view = defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: () => allow(),
    resources: [Note.serve(notes)],
  });
  const records: LogRecord[] = [];
  let wake: () => void = () => undefined;
  const server = createServer({
    virtualWorkspaces: [view],
    authentication: [clientCertificates({ ca: clients.cert }), ...extra],
    tls,
    log: (record) => {
      if (record.message === "identity ignored") return; // only reloads count
      records.push(record);
      wake();
    },
  });
  const { port } = await server.listen({ port: 0 });
  return {
    port,
    records,
    notes: notes.in(""),
    /** Resolves when that many records were logged. */
    logged: async (count: number): Promise<LogRecord> => {
      while (records.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return records[count - 1] as LogRecord;
    },
    /** Returns the common name that a new connection sees. */
    shown: (servername?: string) => shownTo(port, servername),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

async function shownTo(port: number, servername?: string): Promise<string | undefined> {
  const socket = connect({
    port,
    host: "127.0.0.1",
    ca: servers.cert,
    ...(servername && { servername, checkServerIdentity: () => undefined }),
  });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

/** Writes a pair to the files that a server reads, each file atomically. */
function put(folder: Tree, { cert, key }: KeyPair): void {
  for (const [name, text] of Object.entries({ "tls.key": key, "tls.crt": cert })) {
    writeFileSync(join(folder.path, `${name}.new`), text);
    renameSync(join(folder.path, `${name}.new`), join(folder.path, name));
  }
}

describe("certificates in files", () => {
  let folder: Tree;
  const files = (): { certFile: string; keyFile: string } => ({
    certFile: join(folder.path, "tls.crt"),
    keyFile: join(folder.path, "tls.key"),
  });
  beforeEach(() => {
    folder = tree({});
    put(folder, issue("first"));
  });
  afterEach(() => folder[Symbol.dispose]());

  it("are reloaded when they change, without closing a watch, over HTTP/1.1 and HTTP/2", async () => {
    await using server = await start(files());
    using wire = await Wire.open(server.port, { tls: { ca: servers.cert, ...admin } });
    wire.request(`GET ${WATCH} HTTP/1.1`, "Host: x");
    expect((await wire.read(15)).toString()).to.equal("HTTP/1.1 200 OK");
    using client = await Http2Client.open(server.port, { ca: servers.cert, ...admin });
    const watch = client.begin({ path: WATCH });
    await once(watch, "response");
    expect(await server.shown()).to.equal("first");

    put(folder, issue("second"));
    expect(await server.logged(1)).to.include({ level: "info", message: "TLS certificates reloaded" });
    expect(await server.shown()).to.equal("second");

    server.notes.set("later", {});
    expect(String((await once(watch, "data"))[0])).to.include('"later"');
    while (!(await wire.read(1)).toString().includes("l"));
    expect(client.session.destroyed).to.equal(false);
    expect(wire.ended).to.equal(undefined);
  });

  it("can be in a Secret as Kubernetes mounts it: behind a symbolic link that changes", async () => {
    const mount = (version: string, pair: KeyPair): void => {
      mkdirSync(join(folder.path, version));
      writeFileSync(join(folder.path, version, "tls.crt"), pair.cert);
      writeFileSync(join(folder.path, version, "tls.key"), pair.key);
      symlinkSync(version, join(folder.path, "..data_tmp"));
      renameSync(join(folder.path, "..data_tmp"), join(folder.path, "..data"));
    };
    for (const name of ["tls.crt", "tls.key"]) {
      rmSync(join(folder.path, name));
      symlinkSync(join("..data", name), join(folder.path, name));
    }
    mount("..1", issue("mounted"));
    await using server = await start(files());
    expect(await server.shown()).to.equal("mounted");
    mount("..2", issue("turned"));
    rmSync(join(folder.path, "..1"), { recursive: true });
    await server.logged(1);
    expect(await server.shown()).to.equal("turned");
  });

  it("change nothing when they are invalid, which is reported once, and are replaced by the next valid ones", async () => {
    await using server = await start(files());
    const good = issue("second");
    const bad: [KeyPair, RegExp][] = [
      [{ cert: good.cert, key: issue("other").key }, /tls.key is not the key of the certificate in .*tls.crt$/],
      [{ cert: good.cert.slice(0, 300), key: good.key }, /tls.crt holds no PEM certificate$/],
      [{ cert: good.cert, key: "" }, /tls.key holds no PEM private key without a passphrase$/],
    ];
    for (const [at, [pair, problem]] of bad.entries()) {
      put(folder, pair);
      const record = await server.logged(at + 1);
      expect(record).to.include({ level: "warn", message: "TLS certificates not reloaded, previous ones stay in use" });
      expect(record["error"]).to.match(problem);
      expect(await server.shown()).to.equal("first");
    }
    put(folder, good);
    expect(await server.logged(4)).to.include({ level: "info" });
    expect(await server.shown()).to.equal("second");
    const text = JSON.stringify(server.records);
    expect(text).to.not.include("PRIVATE KEY-----");
  });

  it("are named when they are missing while the server is created", () => {
    const tls = { ...files(), keyFile: join(folder.path, "nope") };
    expect(() => createServer({ virtualWorkspaces: [], authentication: [], tls })).to.throw(
      /^cannot read tls.keyFile .*nope: ENOENT$/,
    );
    const wrong = { cert: issue("a").cert, key: issue("b").key };
    expect(() => createServer({ virtualWorkspaces: [], authentication: [], tls: wrong })).to.throw(
      "tls.key is not the key of the certificate in tls.cert",
    );
  });

  it("of client authorities are reloaded too, for new connections with any server name", async () => {
    const others = Authority.root("others");
    const file = join(folder.path, "ca.crt");
    writeFileSync(file, clients.cert);
    const seen: boolean[] = [];
    const looking: Authenticator = {
      name: "looking",
      authenticate: ({ socket }) => {
        seen.push((socket as unknown as { authorized: boolean }).authorized);
        return undefined;
      },
    };
    const sni = [{ ...issue("named"), names: ["named.test"] }];
    await using server = await start({ ...files(), sni, clientCaFile: file }, [looking]);
    const ask = async (servername: string): Promise<void> => {
      const tls = {
        ca: servers.cert,
        ...others.issue({ name: "o" }),
        servername,
        checkServerIdentity: () => undefined,
      };
      using wire = await Wire.open(server.port, { tls });
      wire.request("GET /services/notes/apis HTTP/1.1", "Host: x");
      expect((await wire.answer())?.status).to.equal(401);
    };
    for (const name of ["", "named.test"]) await ask(name);
    writeFileSync(file, others.cert);
    await server.logged(1);
    for (const name of ["", "named.test"]) await ask(name);
    expect(seen).to.deep.equal([false, false, true, true]);
  });
});

describe("certificates by name", () => {
  const names: Record<string, string> = {
    "api.example.com": "exact",
    "API.Example.com": "exact",
    "x.example.com": "wild",
    "deep.x.example.com": "default",
    "example.com": "default",
    localhost: "own names",
    "first.test": "first",
    "unknown.test": "default",
  };
  it("are chosen by server name: configured names before names in certificates, exact names before wildcards, first ones before others", async () => {
    await using server = await start({
      ...issue("default"),
      sni: [
        { ...issue("own names") },
        { ...issue("wild"), names: ["*.example.com"] },
        { ...issue("exact"), names: ["api.example.com"] },
        { ...issue("first"), names: ["first.test"] },
        { ...issue("second"), names: ["first.test"] },
      ],
    });
    for (const [name, shown] of Object.entries(names)) expect(await server.shown(name), name).to.equal(shown);
    expect(await server.shown()).to.equal("default");
  });

  it("with names that no client can request are rejected", () => {
    for (const name of ["a b", "*", "*.", "a.*.b", "127.0.0.1:1", ""])
      expect(() =>
        createServer({
          virtualWorkspaces: [],
          authentication: [],
          tls: { ...issue("a"), sni: [{ ...issue("b"), names: [name] }] },
        }),
      ).to.throw(`invalid tls.sni name ${JSON.stringify(name)}: use a DNS name, or *. and one`);
  });
});

describe("TLS", () => {
  const versions = { "TLSv1.1": undefined, "TLSv1.2": "TLSv1.2", "TLSv1.3": "TLSv1.3" } as const;
  for (const [version, spoken] of Object.entries(versions)) {
    it(`of ${version} is ${spoken === undefined ? "rejected" : "accepted"}, by certificates of any name`, async () => {
      await using server = await start({ ...issue("a"), sni: [{ ...issue("b"), names: ["b.test"] }] });
      for (const servername of ["", "b.test"]) {
        const only = version as keyof typeof versions;
        const socket = connect({
          port: server.port,
          host: "127.0.0.1",
          ca: servers.cert,
          servername,
          minVersion: only,
          maxVersion: only,
          ciphers: "DEFAULT@SECLEVEL=0",
          checkServerIdentity: () => undefined,
        });
        const done = await once(socket, "secureConnect").then(
          () => socket.getProtocol() ?? undefined,
          () => undefined,
        );
        expect(done).to.equal(spoken);
        socket.destroy();
      }
    });
  }

  it("of 1.2 accepts no cipher without forward secrecy or authenticated encryption", async () => {
    await using server = await start(issue("a"));
    for (const ciphers of ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES128-SHA"]) {
      const socket = connect({
        port: server.port,
        host: "127.0.0.1",
        ca: servers.cert,
        maxVersion: "TLSv1.2",
        ciphers,
      });
      const [error] = await once(socket, "error");
      expect(error)
        .to.have.property("code")
        .that.match(/HANDSHAKE_FAILURE/);
    }
  });

  it("is not renegotiated: a connection keeps its certificate", async () => {
    await using server = await start(issue("a"));
    const socket = connect({ port: server.port, host: "127.0.0.1", ca: servers.cert, maxVersion: "TLSv1.2" });
    await once(socket, "secureConnect");
    const outcome = new Promise<string>((resolve) => {
      socket.once("error", () => resolve("refused"));
      socket.renegotiate({}, (error) => resolve(error === null ? "renegotiated" : "refused"));
    });
    expect(await outcome).to.equal("refused");
    socket.destroy();
  });
});
