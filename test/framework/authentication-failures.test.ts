// Limits on what an address can consume before it has authenticated.
import { type ClientHttp2Stream, constants } from "node:http2";
import {
  type Authenticator,
  allow,
  createServer,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { AuthenticationFailureLimits } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { Authority, SERVER_AUTH } from "../_support/certificates.ts";
import { Http2Client } from "../_support/http2.ts";
import { until } from "../_support/until.ts";
import { Wire, type WireAnswer } from "../_support/wire.ts";

const PATH = "GET /services/who/ HTTP/1.1";
const servers = Authority.root("servers");
const keys = servers.issue({ name: "server", usages: [SERVER_AUTH] });

/** A server that trusts no address unless configured, with an authenticator that waits for the test. */
async function start(limits: AuthenticationFailureLimits = {}, { tls = false } = {}) {
  const asked: string[] = [];
  const gate = Promise.withResolvers<void>();
  const slow: Authenticator = {
    name: "slow",
    authenticate: ({ headers }) => {
      asked.push(headers.authorization ?? "");
      if (headers.authorization?.startsWith("Bearer late") === true) return gate.promise.then(() => undefined);
      if (headers.authorization !== "Bearer slow") return undefined;
      return gate.promise.then(() => authenticatedUser({ name: "slow" }));
    },
  };
  const server = createServer({
    virtualWorkspaces: [
      defineVirtualWorkspace({
        name: "who",
        path: "/",
        authorize: () => allow(),
        handle: (_req, res, { user }) => void res.end(user.name),
      }),
    ],
    authentication: [staticTokens({ good: { name: "alice" } }), slow],
    log: testLog().log,
    authenticationFailures: { trusted: [], ...limits },
    ...(tls && { tls: keys }),
  });
  const { port } = await server.listen({ port: 0, host: "::" });
  const ask = async (token: string | undefined, from?: string): Promise<Wire> => {
    const wire = await Wire.open(port, from === undefined ? {} : { from });
    wire.request(PATH, "Host: x", ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]));
    return wire;
  };
  const answer = async (token?: string, from?: string): Promise<WireAnswer | undefined> => {
    using wire = await ask(token, from);
    return await wire.answer();
  };
  const end = (): Promise<void> => {
    gate.resolve();
    return server.close();
  };
  const http2 = (): Promise<Http2Client> => Http2Client.open(port, { ca: servers.cert });
  return { ask, answer, http2, asked, gate, [Symbol.asyncDispose]: end };
}

describe("failed authentications", () => {
  it("get 429 without a call to any authenticator when their address has too many", async () => {
    await using server = await start({ failures: 3, forgiveEvery: 60_000 });
    for (let at = 0; at < 3; at++) expect(await server.answer("wrong")).to.have.property("status", 401);
    const asked = server.asked.length;
    const refused = await server.answer("wrong");
    expect(refused).to.have.property("status", 429);
    expect(Number(refused?.headers["retry-after"])).to.be.within(50, 60);
    expect(JSON.parse(refused?.body ?? "")).to.include({
      reason: "TooManyRequests",
      message: "too many failed authentications; try again later",
    });
    // The response must not reveal whether a token is valid.
    expect(await server.answer("good")).to.have.property("status", 429);
    expect(server.asked).to.have.length(asked);
  });

  it("expire", async () => {
    await using server = await start({ failures: 1, forgiveEvery: 40 });
    expect(await server.answer("wrong")).to.have.property("status", 401);
    let answer = await server.answer("good");
    expect(answer).to.have.property("status", 429);
    while (answer?.status === 429) answer = await server.answer("good");
    expect(answer).to.include({ status: 200, body: "alice" });
  });

  it("are counted for each address separately", async () => {
    await using server = await start({ failures: 1, forgiveEvery: 60_000 });
    await server.answer("wrong", "127.0.0.2");
    expect(await server.answer("good", "127.0.0.2")).to.have.property("status", 429);
    expect(await server.answer("good", "127.0.0.3")).to.have.property("status", 200);
  });

  it("are not counted for requests without credentials, which are not limited either", async () => {
    await using server = await start({ failures: 1, forgiveEvery: 60_000 });
    for (let at = 0; at < 5; at++) expect(await server.answer()).to.have.property("status", 401);
    expect(await server.answer("good")).to.have.property("status", 200);
    await server.answer("wrong");
    expect(await server.answer("good")).to.have.property("status", 429);
    expect(await server.answer()).to.have.property("status", 401);
    using probe = await server.ask(undefined);
    await probe.answer();
    probe.request("GET /livez HTTP/1.1", "Host: x", "Authorization: Bearer wrong");
    expect(await probe.answer()).to.have.property("status", 200);
  });

  it("are not counted for shared addresses, nor for loopback unless configured", async () => {
    for (const trusted of [["10.0.0.0/8", "127.0.0.0/24"], ["127.0.0.1"], undefined]) {
      await using server = await start({
        failures: 1,
        forgiveEvery: 60_000,
        ...(trusted ? { trusted } : { trusted: undefined as never }),
      });
      for (let at = 0; at < 3; at++) expect(await server.answer("wrong")).to.have.property("status", 401);
      expect(await server.answer("good")).to.have.property("status", 200);
    }
  });

  it("are not counted for authenticated requests to paths that no view serves", async () => {
    await using server = await start({ failures: 1, forgiveEvery: 60_000 });
    using wire = await server.ask("good");
    await wire.answer();
    for (let at = 0; at < 3; at++) {
      wire.request("GET /services/unknown HTTP/1.1", "Host: x", "Authorization: Bearer good");
      expect(await wire.answer()).to.have.property("status", 404);
    }
  });
});

describe("failed authentications over HTTP/2", () => {
  it("are counted in the same way", async () => {
    await using server = await start({ failures: 2, forgiveEvery: 60_000 }, { tls: true });
    const ask = async (token: string) => {
      using client = await server.http2();
      return (await client.get("/services/who/", { authorization: `Bearer ${token}` })).status;
    };
    const codes: number[] = [];
    for (const token of ["wrong", "wrong", "wrong", "good"]) codes.push(await ask(token));
    expect(codes).to.deep.equal([401, 401, 429, 429]);
  });

  for (const [how, leave] of [
    ["reset", (_: Http2Client, stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ["cut with their session", (client: Http2Client) => client.session.destroy()],
  ] as const) {
    it(`are counted even if their requests are ${how} before they fail`, async () => {
      await using server = await start({ failures: 2, forgiveEvery: 60_000 }, { tls: true });
      for (let at = 0; at < 2; at++) {
        using client = await server.http2();
        const stream = client.begin({ path: "/services/who/", headers: { authorization: `Bearer late-${at}` } });
        await until(() => server.asked.length > at);
        leave(client, stream);
        await new Promise((resolve) => stream.once("close", resolve));
        // The response to this request arrives after the reset has been processed.
        if (!client.session.destroyed) await client.get("/livez");
      }
      server.gate.resolve();
      using client = await server.http2();
      const { status } = await client.get("/services/who/", { authorization: "Bearer good" });
      expect(status).to.equal(429);
      expect(server.asked).to.have.length(2);
    });
  }
});

describe("concurrent authentications", () => {
  it("are limited for each address", async () => {
    await using server = await start({ pending: 2 });
    const waiting = await Promise.all([server.ask("slow"), server.ask("slow")]);
    await until(() => server.asked.length >= 2);
    const refused = await server.answer("slow");
    expect(refused).to.have.property("status", 429);
    expect(JSON.parse(refused?.body ?? "")).to.include({
      message: "too many authentications are under way; try again later",
    });
    server.gate.resolve();
    for (const wire of waiting) {
      expect(await wire.answer()).to.include({ status: 200, body: "slow" });
      wire.socket.destroy();
    }
    expect(await server.answer("slow")).to.include({ status: 200, body: "slow" });
  });
});

describe("limits on authentication failures", () => {
  for (const [limits, message] of [
    [{ failures: 0 }, "authenticationFailures.failures must be a whole number from 1 on, or Infinity; it is 0"],
    [{ pending: 1.5 }, "authenticationFailures.pending must be a whole number from 1 on, or Infinity; it is 1.5"],
    [
      { trusted: ["proxy"] },
      'invalid authenticationFailures.trusted "proxy": use an IP address or a subnet like 10.0.0.0/8',
    ],
    [
      { trusted: ["10.0.0.0/33"] },
      'invalid authenticationFailures.trusted "10.0.0.0/33": use an IP address or a subnet like 10.0.0.0/8',
    ],
    [
      { trusted: ["10.0.0.0/"] },
      'invalid authenticationFailures.trusted "10.0.0.0/": use an IP address or a subnet like 10.0.0.0/8',
    ],
  ] as const) {
    it(`are rejected: ${message}`, () => {
      const make = () => createServer({ virtualWorkspaces: [], authentication: [], authenticationFailures: limits });
      expect(make).to.throw(message);
    });
  }
});
