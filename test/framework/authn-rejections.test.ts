// Why a certificate, or a proxy's header, identifies no one: the answer does not reveal it, and the log does.
import { type Authenticator, createServer, staticTokens } from "@virtual-workspaces/framework";
import { anonymous, clientCertificates, requestHeader } from "@virtual-workspaces/framework/authn";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, type KeyPair, SERVER_AUTH } from "../_support/certificates.ts";
import { whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const servers = Authority.root("servers");
const clients = Authority.root("clients");
const proxies = Authority.root("proxies");
const strangers = Authority.root("strangers");
const tls = servers.issue({ name: "server", usages: [SERVER_AUTH] });

const users = clientCertificates({ ca: clients.cert });
const fronts = requestHeader({ ca: proxies.cert, allowedNames: ["front-proxy"] });

async function start(authentication: readonly Authenticator[]) {
  const { log, records } = testLog();
  const server = createServer({ virtualWorkspaces: [whoami()], authentication, tls, log });
  const { port } = await server.listen({ port: 0 });
  return {
    /** Sends a request, and returns its status with what the server has logged about the identity. */
    async ask(keys: KeyPair | undefined, ...headers: string[]): Promise<readonly [number | undefined, LogRecord[]]> {
      const before = records.length;
      using wire = await Wire.open(port, { tls: { ca: servers.cert, ...keys } });
      wire.request("GET /services/who/ HTTP/1.1", "Host: x", ...headers);
      const answer = await wire.answer();
      return [answer?.status, records.slice(before).filter(({ message }) => message === "identity ignored")];
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const ALICE = "X-Remote-User: alice";
const AS_ALICE = "Impersonate-User: alice";

describe("a rejected identity is logged with its reason", () => {
  const cases: Record<string, readonly [keys: KeyPair | undefined, headers: readonly string[], expected: object]> = {
    "a proxy with another common name": [
      proxies.issue({ name: "kcp-front-proxy" }),
      [ALICE],
      {
        subject: "CN=kcp-front-proxy",
        issuer: "CN=proxies",
        headers: "X-Remote-User",
        reason:
          "request headers: the common name of the certificate is not an allowed one; client certificates: another authority signed the certificate",
      },
    ],
    "a proxy with a certificate of a user": [
      clients.issue({ name: "front-proxy", organizations: ["ops"] }),
      [ALICE],
      {
        subject: "O=ops, CN=front-proxy",
        issuer: "CN=clients",
        headers: "X-Remote-User",
        reason: "request headers: another authority signed the certificate",
      },
    ],
    "a certificate of an unknown authority": [
      strangers.issue({ name: "shard", organizations: ["system:masters"] }),
      [AS_ALICE],
      {
        subject: "O=system:masters, CN=shard",
        issuer: "CN=strangers",
        headers: "Impersonate-User",
        reason:
          "request headers: the certificate is not valid for the accepted authorities (UNABLE_TO_VERIFY_LEAF_SIGNATURE); client certificates: the certificate is not valid for the accepted authorities (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
      },
    ],
    "headers without a certificate": [
      undefined,
      [ALICE, "X-Remote-Group: staff"],
      {
        headers: "X-Remote-User, X-Remote-Group",
        reason: "the client showed no certificate: it has none, or none of an authority that this server accepts",
      },
    ],
  };
  for (const [what, [keys, headers, expected]] of Object.entries(cases))
    it(what, async () => {
      await using server = await start([fronts, users]);
      const [, logged] = await server.ask(keys, ...headers);
      expect(logged).to.deep.equal([{ level: "info", message: "identity ignored", address: "127.0.0.1", ...expected }]);
    });

  it("names the missing authorities when the server requests no certificate, also of an anonymous caller", async () => {
    await using server = await start([staticTokens({ token: { name: "bob" } }), anonymous()]);
    for (const header of [ALICE, AS_ALICE]) {
      const [, [record]] = await server.ask(proxies.issue({ name: "front-proxy" }), header);
      expect(record?.["reason"]).to.equal(
        "the server requests no client certificate, because it has no authority for one",
      );
    }
  });

  it("is limited, and contains no value of a header", async () => {
    await using server = await start([fronts, users]);
    const lines: LogRecord[] = [];
    for (let n = 0; n < 40; n++)
      lines.push(...(await server.ask(undefined, "X-Remote-User: s3cr3t", "X-Remote-Extra-K: s3cr3t"))[1]);
    expect(lines.length).to.be.within(10, 30);
    expect(JSON.stringify(lines)).to.not.include("s3cr3t");
  });

  it("is not logged for accepted callers, callers without credentials and wrong tokens", async () => {
    await using server = await start([fronts, users, staticTokens({ token: { name: "bob" } }), anonymous()]);
    const front = proxies.issue({ name: "front-proxy" });
    for (const [keys, headers, code] of [
      [front, [ALICE], 200],
      [front, ["X-Remote-User: Zo\u00c3\u00ab"], 200],
      [front, ["X-Remote-User: system:anonymous"], 200],
      [clients.issue({ name: "bob" }), [], 200],
      [undefined, [], 200],
      [undefined, ["Authorization: Bearer token"], 200],
      [undefined, ["Authorization: Bearer wrong"], 401],
    ] as const)
      expect(await server.ask(keys, ...headers), headers.join()).to.deep.equal([code, []]);
  });
});

describe("a header of a proxy beside the certificate of a user", () => {
  const strict = clientCertificates({ ca: clients.cert, proxyHeaders: ["X-Remote-User"] });

  it("is rejected with 400 where the server reserves it for proxies, also when another authenticator follows", async () => {
    await using server = await start([fronts, strict, staticTokens({ token: { name: "bob" } }), anonymous()]);
    const shard = clients.issue({ name: "shard", organizations: ["system:masters"] });
    for (const headers of [[ALICE], ["x-remote-user:"], [ALICE, "Authorization: Bearer token"]])
      expect((await server.ask(shard, ...headers))[0], headers.join()).to.equal(400);
    expect((await server.ask(shard))[0]).to.equal(200);
    expect((await server.ask(shard, "X-Remote-Group: staff"))[0]).to.equal(200);
    expect((await server.ask(proxies.issue({ name: "front-proxy" }), ALICE))[0]).to.equal(200);
  });

  it("has no effect elsewhere, as in Kubernetes", async () => {
    await using server = await start([fronts, users]);
    expect((await server.ask(clients.issue({ name: "shard" }), ALICE))[0]).to.equal(200);
  });
});
