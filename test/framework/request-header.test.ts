// Identity headers of a front proxy: which proxies are trusted, what the headers may say, and that they go no further.
import { type Authenticator, createServer } from "@virtual-workspaces/framework";
import { clientCertificates, requestHeader } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const servers = Authority.root("servers");
const proxies = Authority.root("proxies");
const clients = Authority.root("clients");
const serverKeys = servers.issue({ name: "server", usages: [SERVER_AUTH] });
const proxy = proxies.issue({ name: "front-proxy" });
/** Named like the proxy, but issued by an authority that TLS trusts for another purpose. */
const impostor = clients.issue({ name: "front-proxy" });

const believes = requestHeader({ ca: proxies.cert, allowedNames: ["front-proxy", "other-proxy"] });

async function start(...authentication: readonly Authenticator[]) {
  const server = createServer({
    virtualWorkspaces: [whoami()],
    authentication: authentication.length > 0 ? authentication : [believes, clientCertificates({ ca: clients.cert })],
    tls: serverKeys,
    log: testLog().log,
  });
  const { port } = await server.listen({ port: 0 });
  return {
    /** Does the same over HTTP/2. */
    async ask2(keys: KeyPair | undefined, ...lines: readonly string[]): Promise<Whoami & { readonly code?: number }> {
      using client = await Http2Client.open(port, { ca: servers.cert, maxSendHeaderBlockLength: 2 ** 20, ...keys });
      const headers: Record<string, string[]> = {};
      for (const line of lines) {
        const [name = "", value = ""] = line.split(": ", 2);
        headers[name.toLowerCase()] ??= [];
        headers[name.toLowerCase()]?.push(value);
      }
      return (await client.get("/services/who/", headers)).body;
    },
    /** Returns the caller as authenticated by the server, or the Status of the error. Lines are bytes. */
    async ask(keys: KeyPair | undefined, ...lines: readonly string[]): Promise<Whoami & { readonly code?: number }> {
      using wire = await Wire.open(port, { tls: { ca: servers.cert, ...keys } });
      wire.request("GET /services/who/ HTTP/1.1", "Host: x", ...lines);
      return JSON.parse((await wire.answer())?.body ?? "");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const AUTHENTICATED = "system:authenticated";
const bytes = (text: string): string => Buffer.from(text).toString("latin1");

describe("the headers of a proxy", () => {
  it("give the caller's name, uid, groups and extra", async () => {
    await using server = await start();
    const lines = [
      "X-Remote-User: alice",
      "x-remote-uid: 42",
      "X-Remote-Group: b, with a comma",
      "X-REMOTE-GROUP: a",
      "X-Remote-Extra-Authentication.kcp.io%2fscopes: cluster:one",
      "X-Remote-Extra-authentication.kcp.io%2FScopes: cluster:two",
      "X-Remote-Extra-50%: kept as it is",
    ];
    const { name, uid, groups, extra } = await server.ask(proxy, ...lines);
    expect({ name, uid, groups, extra }).to.deep.equal({
      name: "alice",
      uid: "42",
      groups: ["b, with a comma", "a", AUTHENTICATED],
      extra: { "authentication.kcp.io/scopes": ["cluster:one", "cluster:two"], "50%": ["kept as it is"] },
    });
  });

  it("accept any script", async () => {
    await using server = await start();
    const { name, groups } = await server.ask(proxy, bytes("X-Remote-User: Zoë 😀"), bytes("X-Remote-Group: größe"));
    expect({ name, groups }).to.deep.equal({ name: "Zoë 😀", groups: ["größe", AUTHENTICATED] });
  });

  it("work the same over HTTP/2, in any script, with 2,000 groups", async () => {
    await using server = await start();
    const names = Array.from({ length: 2000 }, (_, at) => `größe-${at}`);
    const lines = [
      "X-Remote-User: Zoë 😀",
      ...names.map((name) => `X-Remote-Group: ${name}`),
      "X-Remote-Extra-A%2fB: ö",
    ];
    for (const ask of [server.ask, server.ask2]) {
      const { name, groups, extra } = await ask(proxy, ...lines.map(bytes));
      expect({ name, groups, extra }).to.deep.equal({
        name: "Zoë 😀",
        groups: [...names, AUTHENTICATED],
        extra: { "a/b": ["ö"] },
      });
    }
  });

  it("may have other names; the usual ones then have no effect", async () => {
    const names = {
      userHeaders: ["X-Name", "X-Other-Name"],
      groupHeaders: ["X-Team"],
      extraHeaderPrefixes: ["X-More-"],
    };
    await using server = await start(requestHeader({ ca: proxies.cert, ...names }));
    const lines = [
      "X-Remote-User: root",
      "X-Name: ",
      "X-Other-Name: alice",
      "X-Remote-Group: system:masters",
      "X-Team: a",
    ];
    const { name, groups, headers } = await server.ask(proxy, ...lines, "X-More-a: b", "X-Kept: c");
    expect({ name, groups }).to.deep.equal({ name: "alice", groups: ["a", AUTHENTICATED] });
    expect(headers).to.deep.equal([
      { host: "x", "x-kept": "c" },
      { host: ["x"], "x-kept": ["c"] },
      ["Host", "x", "X-Kept", "c"],
    ]);
  });

  it("do not authenticate an anonymous user that they name", async () => {
    await using server = await start();
    const anonymous = ["X-Remote-User: system:anonymous", "X-Remote-Group: system:unauthenticated"];
    expect((await server.ask(proxy, ...anonymous)).groups).to.deep.equal(["system:unauthenticated"]);
    expect((await server.ask(proxy, "X-Remote-User: system:anonymous")).groups).to.deep.equal([]);
  });

  const forgers: Record<string, () => KeyPair | undefined> = {
    "that is missing": () => undefined,
    "signed by an authority that the server trusts for something else": () => impostor,
    "with another name, of the right authority": () => proxies.issue({ name: "postman" }),
    "for servers only": () => proxies.issue({ name: "front-proxy", usages: [SERVER_AUTH] }),
    "that has expired": () => proxies.issue({ name: "front-proxy", from: -3, to: -2 }),
    "that is not valid yet": () => proxies.issue({ name: "front-proxy", from: 1, to: 2 }),
    "of another authority of the same name": () => Authority.root("proxies").issue({ name: "front-proxy" }),
  };
  for (const [whose, keys] of Object.entries(forgers)) {
    it(`have no effect with a certificate ${whose}`, async () => {
      await using server = await start();
      for (const ask of [server.ask, server.ask2]) {
        const { code, name, groups } = await ask(keys(), "X-Remote-User: root", "X-Remote-Group: system:masters");
        if (keys() !== impostor) expect(code).to.equal(401);
        else expect({ name, groups }).to.deep.equal({ name: "front-proxy", groups: [AUTHENTICATED] });
      }
    });
  }

  it("without a user name do not authenticate the proxy itself", async () => {
    await using server = await start();
    expect((await server.ask(proxy)).code).to.equal(401);
    expect((await server.ask(proxy, "X-Remote-Group: system:masters")).code).to.equal(401);
    expect((await server.ask(proxy, "X-Remote-User: ", "X-Remote-Group: system:masters")).code).to.equal(401);
    expect((await server.ask(proxy, "X_Remote_User: root")).code).to.equal(401);
  });

  const bad: Record<string, readonly string[]> = {
    'header "x-remote-user" was sent 2 times: send it once': ["X-Remote-User: alice", "x-remote-user: root"],
    'header "x-remote-uid" was sent 2 times: send it once': ["X-Remote-User: a", "X-Remote-Uid: 1", "X-Remote-Uid: 1"],
    'header "x-remote-user" is not UTF-8: encode its value as UTF-8': ["X-Remote-User: a\xff"],
    'header "x-remote-group" is not UTF-8: encode its value as UTF-8': ["X-Remote-User: a", "X-Remote-Group: \xc0\xaf"],
    'header "x-remote-extra-a" is not UTF-8: encode its value as UTF-8': [
      "X-Remote-User: a",
      "X-Remote-Extra-A: \xed\xa0\x80",
    ],
  };
  for (const [message, lines] of Object.entries(bad)) {
    it(`are rejected: ${message}`, async () => {
      await using server = await start(believes, clientCertificates({ ca: proxies.cert }));
      for (const ask of [server.ask, server.ask2])
        expect(await ask(proxy, ...lines)).to.include({ kind: "Status", code: 400, message });
    });
  }

  for (const listed of ["X-Remote-Group", "x-remote-extra-scopes", "keep-alive, Impersonate-User", "authorization"]) {
    it(`must not be listed for removal by a proxy: Connection: ${listed}`, async () => {
      await using server = await start();
      const answer = await server.ask(proxy, "X-Remote-User: alice", "X-Remote-Group: a", `Connection: ${listed}`);
      expect(answer).to.include({ kind: "Status", code: 400 });
      expect((answer as unknown as { message: string }).message).to.match(/^Connection header must not list /);
    });
  }

  it("and all other identity headers are removed before a raw handler sees them, from any sender", async () => {
    await using server = await start();
    const forged = ["X-Remote-User: root", "X_Remote_Group: a", "Impersonate_User: b", "X-REMOTE-extra-c: d"];
    const { headers } = await server.ask(clients.issue({ name: "alice" }), ...forged, "X-Remote: kept", "Cookie: kept");
    expect(headers).to.deep.equal([
      { host: "x", "x-remote": "kept", cookie: "kept" },
      { host: ["x"], "x-remote": ["kept"], cookie: ["kept"] },
      ["Host", "x", "X-Remote", "kept", "Cookie", "kept"],
    ]);
  });

  it("need a certificate authority", () => {
    expect(() => requestHeader({ ca: "" })).to.throw('"ca" holds no PEM certificate');
  });
});
