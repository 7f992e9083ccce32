// Anonymous requests: their user, and the difference between bad and missing credentials.
import { type Authenticator, createServer, staticTokens } from "@virtual-workspaces/framework";
import { anonymous, clientCertificates } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const authority = Authority.root("authority");
const serverKeys = authority.issue({ name: "server", usages: [SERVER_AUTH] });
const tokens = staticTokens({ secret: { name: "alice" } });

async function start(...authentication: readonly Authenticator[]) {
  const known = [clientCertificates({ ca: authority.cert }), tokens, ...authentication];
  const server = createServer({
    virtualWorkspaces: [whoami()],
    authentication: known,
    tls: serverKeys,
    log: testLog().log,
  });
  const { port } = await server.listen({ port: 0 });
  return {
    async ask(
      path: string,
      lines: readonly string[] = [],
      keys?: KeyPair,
    ): Promise<Whoami & { readonly code?: number }> {
      using wire = await Wire.open(port, { tls: { ca: authority.cert, ...keys } });
      wire.request(`GET ${path} HTTP/1.1`, "Host: x", ...lines);
      return JSON.parse((await wire.answer())?.body ?? "");
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const WHO = "/services/who/";

describe("anonymous requests", () => {
  it("get 401 unless anonymous access is enabled", async () => {
    await using server = await start();
    expect((await server.ask(WHO)).code).to.equal(401);
  });

  it("have Kubernetes' anonymous user, who is not authenticated", async () => {
    await using server = await start(anonymous());
    const { name, groups, uid } = await server.ask(WHO);
    expect({ name, groups, uid }).to.deep.equal({
      name: "system:anonymous",
      groups: ["system:unauthenticated"],
      uid: "",
    });
    expect((await server.ask(WHO, ["Authorization: Bearer secret"])).name).to.equal("alice");
  });

  const credentials: Record<string, [lines: readonly string[], keys?: KeyPair]> = {
    "an unknown token": [["Authorization: Bearer wrong"]],
    "another scheme": [["Authorization: Basic YTpi"]],
    "an empty header": [["Authorization:"]],
    "an unknown browser token": [
      ["Upgrade: websocket", "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.d3Jvbmc, v5"],
    ],
    "a certificate of an unknown authority": [[], Authority.root("others").issue({ name: "admin" })],
    "an expired certificate": [[], authority.issue({ name: "admin", from: -3, to: -2 })],
  };
  for (const [what, [lines, keys]] of Object.entries(credentials)) {
    it(`do not include requests with credentials: ${what}`, async () => {
      await using server = await start(anonymous());
      expect((await server.ask(WHO, lines, keys)).code).to.equal(401);
    });
  }

  it("can be limited to some paths, compared exactly", async () => {
    await using server = await start(anonymous({ paths: ["/services/who/open"] }));
    expect((await server.ask("/services/who/open?a=b")).name).to.equal("system:anonymous");
    for (const path of [WHO, "/services/who/open/", "/services/who/opener", "/services/who/%6fpen", "/other"])
      expect((await server.ask(path)).code, path).to.equal(401);
  });
});

describe("browser tokens", () => {
  const protocol = (token: string): string =>
    `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;

  async function upgrade(...lines: readonly string[]): Promise<number | undefined> {
    const server = createServer({ virtualWorkspaces: [whoami()], authentication: [tokens], log: testLog().log });
    await using closing = server;
    const { port } = await closing.listen({ port: 0 });
    using wire = await Wire.open(port);
    wire.request(`GET ${WHO} HTTP/1.1`, "Host: x", "Connection: Upgrade", "Upgrade: websocket", ...lines);
    return (await wire.answer())?.status;
  }

  it("are sent as a subprotocol", async () => {
    // 400: the token is accepted, but this view has no upgrades.
    expect(await upgrade(`Sec-WebSocket-Protocol: v5.channel.k8s.io, ${protocol("secret")}`)).to.equal(400);
  });

  it("are accepted only if there is a single, complete one and no header", async () => {
    const both = `${protocol("wrong")}, ${protocol("secret")}`;
    expect(await upgrade(`Sec-WebSocket-Protocol: ${both}`)).to.equal(401);
    expect(await upgrade("Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.")).to.equal(401);
    expect(await upgrade(`Sec-WebSocket-Protocol: ${protocol("wrong")}`)).to.equal(401);
    const header = "Authorization: Bearer wrong";
    expect(await upgrade(header, `Sec-WebSocket-Protocol: ${protocol("secret")}`)).to.equal(401);
  });
});
