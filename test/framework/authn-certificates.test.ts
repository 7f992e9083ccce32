// TLS client certificates with real handshakes: which are accepted, which are rejected, and what is cached for a connection.
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type ConnectionOptions, connect, type SecureVersion, type TLSSocket } from "node:tls";
import { type Authenticator, createServer, staticTokens } from "@virtual-workspaces/framework";
import { clientCertificates, requestHeader } from "@virtual-workspaces/framework/authn";
import { virtualWorkspaces } from "@virtual-workspaces/framework/server";
import type { TlsOptions } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { type Tree, tree } from "../_setup/tree.ts";
import { Authority, CLIENT_AUTH, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const servers = Authority.root("servers");
const clients = Authority.root("clients");
/** The server trusts this authority for another purpose. */
const others = Authority.root("others");
const serverKeys = servers.issue({ name: "server", usages: [SERVER_AUTH] });

/** Adds a second authority to the handshake, and authenticates no one. */
const othersToo: Authenticator = { name: "others", clientCa: others.cert, authenticate: () => undefined };

interface StartOptions {
  /** @default the authority of `clients` */
  readonly ca?: string;
  /** Whether the handshake trusts only `ca`. @default false: it trusts others too */
  readonly alone?: boolean;
}

async function start({ ca = clients.cert, alone = false }: StartOptions = {}) {
  const tokens = staticTokens({ token: { name: "by-token" } });
  return startWith([...(alone ? [] : [othersToo]), clientCertificates({ ca }), tokens]);
}

async function startWith(authentication: readonly Authenticator[], tls: TlsOptions = serverKeys) {
  const server = createServer({ virtualWorkspaces: [whoami()], authentication, tls, log: testLog().log });
  const { port } = await server.listen({ port: 0 });
  return { server, port, [Symbol.asyncDispose]: () => server.close() };
}

/** Returns the user that the server authenticates with these keys; undefined for 401. */
async function who(
  port: number,
  keys: KeyPair | undefined,
  { headers = [], ...options }: ConnectionOptions & { headers?: readonly string[] } = {},
): Promise<Pick<Whoami, "name" | "groups"> | undefined> {
  using wire = await Wire.open(port, { tls: { ca: servers.cert, ...keys, ...options } });
  return await ask(wire, headers);
}

async function ask(wire: Wire, headers: readonly string[] = []): Promise<Pick<Whoami, "name" | "groups"> | undefined> {
  wire.request("GET /services/who/ HTTP/1.1", "Host: x", ...headers);
  const answer = await wire.answer();
  const body = JSON.parse(answer?.body ?? "");
  if (answer?.status === 200) return { name: body.name, groups: body.groups };
  expect(body).to.include({ kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" });
  return undefined;
}

const AUTHENTICATED = "system:authenticated";

describe("client certificates", () => {
  it("name the user by the common name, and groups by every organization", async () => {
    await using server = await start();
    const keys = clients.issue({ name: "Zoë", organizations: ["b", "a", "system:masters"] });
    expect(await who(server.port, keys)).to.deep.equal({
      name: "Zoë",
      groups: ["b", "a", "system:masters", AUTHENTICATED],
    });
    expect(await who(server.port, clients.issue({ name: "plain" }))).to.deep.equal({
      name: "plain",
      groups: [AUTHENTICATED],
    });
  });

  const nobodies: Record<string, () => KeyPair> = {
    "of another authority that the server trusts": () => others.issue({ name: "admin" }),
    "of the authority that certifies servers": () => servers.issue({ name: "admin" }),
    "of an authority of the same name": () => Authority.root("clients").issue({ name: "admin" }),
    expired: () => clients.issue({ name: "admin", from: -3, to: -2 }),
    "not valid yet": () => clients.issue({ name: "admin", from: 1, to: 2 }),
    "of a server": () => clients.issue({ name: "admin", usages: [SERVER_AUTH] }),
    "without a name": () => clients.issue({ name: "", organizations: ["system:masters"] }),
    "of an expired intermediate authority": () => clients.intermediate("i", { to: -0.5 }).issue({ name: "admin" }),
    "issued by a certificate that is not an authority": () =>
      clients.intermediate("i", { ca: false }).issue({ name: "admin" }),
    "of an intermediate authority for servers only": () =>
      clients.intermediate("i", { usages: [SERVER_AUTH] }).issue({ name: "admin" }),
    "of an intermediate authority below one that allows none": () =>
      clients.intermediate("i", { pathLength: 0 }).intermediate("j").issue({ name: "admin" }),
  };
  for (const [what, keys] of Object.entries(nobodies)) {
    it(`are rejected: ${what}`, async () => {
      for (const alone of what.includes("another authority") ? [false] : [false, true]) {
        await using server = await start({ alone });
        expect(await who(server.port, keys())).to.equal(undefined);
      }
    });
  }

  it("are rejected when the client does not send the intermediate certificates", async () => {
    await using server = await start({ alone: true });
    const { cert, key } = clients.intermediate("i").issue({ name: "deep" });
    const [leaf = ""] = cert.split(/(?<=-----END CERTIFICATE-----\n)/);
    expect(await who(server.port, { cert: leaf, key })).to.equal(undefined);
  });

  it("are accepted through intermediate authorities with additional usages", async () => {
    await using server = await start({ alone: true });
    const between = clients.intermediate("i", { usages: [SERVER_AUTH, CLIENT_AUTH] }).intermediate("j");
    expect((await who(server.port, between.issue({ name: "deep" })))?.name).to.equal("deep");
    expect((await who(server.port, clients.issue({ name: "any", usages: [] })))?.name).to.equal("any");
  });

  it("can be required to come from an authority below the one that the handshake trusts", async () => {
    const between = clients.intermediate("i");
    const authentication = [clientCertificates({ ca: between.cert })];
    await using server = await startWith(authentication, { ...serverKeys, clientCa: clients.cert });
    expect((await who(server.port, between.issue({ name: "deep" })))?.name).to.equal("deep");
    expect(await who(server.port, clients.issue({ name: "above" }))).to.equal(undefined);
  });

  it("are accepted from one of several authorities", async () => {
    await using server = await start({ ca: `${clients.cert}\n${servers.cert}` });
    expect((await who(server.port, servers.issue({ name: "too" })))?.name).to.equal("too");
  });

  it("do not exclude tokens: a client without a certificate, or with another one, can send a token", async () => {
    await using server = await start();
    const headers = ["Authorization: Bearer token"];
    expect((await who(server.port, undefined, { headers }))?.name).to.equal("by-token");
    expect((await who(server.port, others.issue({ name: "admin" }), { headers }))?.name).to.equal("by-token");
    expect(await who(server.port, undefined)).to.equal(undefined);
  });

  it("have precedence over a token when their authenticator is listed first", async () => {
    await using server = await start();
    const headers = ["Authorization: Bearer token"];
    expect((await who(server.port, clients.issue({ name: "me" }), { headers }))?.name).to.equal("me");
  });

  it("are requested only if an authenticator accepts them", async () => {
    await using server = await startWith([staticTokens({ token: { name: "by-token" } })]);
    const socket = connect({
      port: server.port,
      host: "127.0.0.1",
      ca: servers.cert,
      ...clients.issue({ name: "me" }),
    });
    await once(socket, "secureConnect");
    // A client sends no certificate unless the server requests it.
    expect(await who(server.port, clients.issue({ name: "me" }))).to.equal(undefined);
    socket.destroy();
  });

  it("cannot authenticate a connection without TLS", async () => {
    const authentication = [clientCertificates({ ca: clients.cert }), staticTokens({ token: { name: "by-token" } })];
    await using server = createServer({ virtualWorkspaces: [whoami()], authentication, log: testLog().log });
    const { port } = await server.listen({ port: 0 });
    using wire = await Wire.open(port);
    expect(await ask(wire)).to.equal(undefined);
    expect((await ask(wire, ["Authorization: Bearer token"]))?.name).to.equal("by-token");
  });

  it("are rejected after they expire, even on an open connection", async () => {
    await using server = await start();
    const keys = clients.issue({ name: "brief", to: 1.2 / 3600 });
    using wire = await Wire.open(server.port, { tls: { ca: servers.cert, ...keys } });
    expect((await ask(wire))?.name).to.equal("brief");
    let last = await ask(wire);
    while (last !== undefined) last = await ask(wire);
  });

  it("require a configured authority", () => {
    expect(() => clientCertificates({ ca: "none" })).to.throw('client certificates: "ca" holds no PEM certificate');
  });

  describe("client certificate authorities from files", () => {
    let folder: Tree;
    beforeEach(() => {
      folder = tree({ "ca.crt": clients.cert, "proxies.crt": clients.cert, none: "none" });
    });
    afterEach(() => folder[Symbol.dispose]());
    const file = (name: string): string => join(folder.path, name);

    async function startFollowing() {
      const { log, records } = testLog();
      const authentication = [
        requestHeader({ caFile: file("proxies.crt"), allowedNames: ["proxy"] }),
        clientCertificates({ caFile: file("ca.crt") }),
      ];
      const server = createServer({ virtualWorkspaces: [whoami()], authentication, tls: serverKeys, log });
      const { port } = await server.listen({ port: 0 });
      return { port, records, [Symbol.asyncDispose]: () => server.close() };
    }

    it("are reloaded, also for open connections: certificates of a removed authority are rejected", async () => {
      await using server = await startFollowing();
      const [before, after] = [clients.issue({ name: "before" }), others.issue({ name: "after" })];
      using open = await Wire.open(server.port, { tls: { ca: servers.cert, ...before } });
      expect((await ask(open))?.name).to.equal("before");
      expect(await who(server.port, after)).to.equal(undefined);
      writeFileSync(file("ca.crt"), others.cert);
      while ((await who(server.port, after)) === undefined);
      expect((await who(server.port, after))?.name).to.equal("after");
      expect(await ask(open)).to.equal(undefined);
      expect(await who(server.port, before)).to.equal(undefined);
    });

    it("are reloaded by each authenticator that trusts proxies, from its own file", async () => {
      await using server = await startFollowing();
      const headers = ["X-Remote-User: alice"];
      const proxy = others.issue({ name: "proxy" });
      expect(await who(server.port, proxy, { headers })).to.equal(undefined);
      writeFileSync(file("proxies.crt"), others.cert);
      while ((await who(server.port, proxy, { headers })) === undefined);
      expect((await who(server.port, proxy, { headers }))?.name).to.equal("alice");
      expect((await who(server.port, clients.issue({ name: "proxy" }), { headers }))?.name).to.equal("proxy");
      expect(await who(server.port, others.issue({ name: "admin" }))).to.equal(undefined);
    });

    it("stay unchanged while a file cannot be used, which is logged", async () => {
      await using server = await startFollowing();
      const keys = clients.issue({ name: "me" });
      for (const spoil of [() => writeFileSync(file("ca.crt"), "none"), () => rmSync(file("ca.crt"))]) {
        const told = server.records.length;
        spoil();
        while (server.records.length === told) expect((await who(server.port, keys))?.name).to.equal("me");
      }
      expectFault(/not reloaded.*caFile .*ca.crt holds no PEM certificate/);
      expectFault(/not reloaded.*cannot read .*caFile .*ca.crt: ENOENT/);
      await setTimeout(1100); // longer than the interval of the file check
      expect((await who(server.port, keys))?.name).to.equal("me");
    });

    it("must be usable at the start", () => {
      expect(() => clientCertificates({ caFile: file("nope") })).to.throw(
        /^cannot read client certificates: caFile .*nope: ENOENT$/,
      );
      expect(() => requestHeader({ caFile: file("none") })).to.throw(
        /^request headers: caFile ".*none" holds no PEM certificate/,
      );
    });
  });

  for (const version of ["TLSv1.2", "TLSv1.3"] satisfies SecureVersion[]) {
    it(`identify the same user when a client resumes its ${version} session`, async () => {
      await using server = await start({ alone: true });
      const keys = clients.intermediate("i").issue({ name: "deep", organizations: ["g"] });
      let session: Buffer | undefined;
      for (let turn = 0; turn < 3; turn++) {
        const tls = { ca: servers.cert, ...keys, minVersion: version, maxVersion: version, session };
        using wire = await Wire.open(server.port, { tls });
        wire.socket.on("session", (ticket: Buffer) => (session = ticket));
        expect(await ask(wire)).to.deep.equal({ name: "deep", groups: ["g", AUTHENTICATED] });
        // The session lacks the intermediate authority, so it must not be resumed.
        expect((wire.socket as TLSSocket).isSessionReused()).to.equal(false);
      }
    });
  }

  it("are checked as usual in a session that another server resumes", async () => {
    // A custom server with session tickets and its own trust, and our middleware in it.
    await using middleware = virtualWorkspaces({
      virtualWorkspaces: [whoami()],
      authentication: [clientCertificates({ ca: clients.cert })],
      log: testLog().log,
    });
    await middleware.started;
    const tls = { ...serverKeys, ca: [clients.cert, others.cert], requestCert: true, rejectUnauthorized: false };
    const own = createHttps(tls, (req, res) => middleware(req, res, () => res.writeHead(404).end()));
    await once(own.listen(0, "127.0.0.1"), "listening");
    const { port } = own.address() as AddressInfo;
    for (const [keys, name] of [
      [clients.issue({ name: "direct" }), "direct"],
      [others.issue({ name: "admin" }), undefined],
    ] as const) {
      let session: Buffer | undefined;
      for (const reused of [false, true]) {
        using wire = await Wire.open(port, { tls: { ca: servers.cert, ...keys, session } });
        wire.socket.on("session", (ticket: Buffer) => (session = ticket));
        expect((await ask(wire))?.name).to.equal(name);
        expect((wire.socket as TLSSocket).isSessionReused()).to.equal(reused);
      }
    }
    own.closeAllConnections();
    own.close();
    await once(own, "close");
  });
});
