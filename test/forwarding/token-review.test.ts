// Authentication of tokens through another server.
import { type TokenReviewOptions, tokenReview } from "@virtual-workspaces/forwarding";
import { createServer } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { until } from "../_support/until.ts";
import { type Whoami, whoami } from "../_support/whoami.ts";
import { json, misbehaving, nowhere } from "./misbehaving.ts";
import { startReviewing, untilChanged } from "./reviewing.ts";

async function start(options: TokenReviewOptions) {
  const tokens = tokenReview(options);
  const { log, records } = testLog();
  const server = createServer({ virtualWorkspaces: [whoami()], authentication: [tokens], log });
  const { url } = await server.listen({ port: 0 });
  const who = async (token: string): Promise<Whoami | number> => {
    const headers = { authorization: `Bearer ${token}`, connection: "close" };
    const answer = await fetch(`${url}/services/who/`, { headers });
    return answer.ok ? ((await answer.json()) as Whoami) : answer.status;
  };
  return {
    tokens,
    records,
    who,
    name: async (token: string) => {
      const found = await who(token);
      return typeof found === "number" ? found : found.name;
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await tokens[Symbol.asyncDispose]();
    },
  };
}

const jwt = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
const ALICE = {
  name: "alice",
  uid: "7",
  groups: ["devs", "größe"],
  extra: { "example.dev/scopes": ["a", "ü"] },
};

describe("a TokenReview", () => {
  it("returns the user of a token with uid, groups and extra, and uses the logical cluster", async () => {
    await using kube = await startReviewing();
    kube.tokens.set("a-token", ALICE);
    await using server = await start({ upstream: kube.upstream, cluster: "org" });
    expect(await server.who("a-token")).to.deep.include({
      ...ALICE,
      groups: ["devs", "größe", "system:authenticated"],
    });
    expect(kube.seen.tokens).to.deep.equal([{ token: "a-token" }]);
    expect(await server.name("another")).to.equal(401);
  });

  it("is sent once for concurrent requests with a token, and then cached", async () => {
    await using kube = await startReviewing();
    kube.tokens.set("a-token", ALICE);
    await using server = await start({ upstream: { ...kube.upstream, url: at(kube) }, allowCache: 60_000 });
    const release = kube.hold();
    const names = Array.from({ length: 200 }, () => server.name("a-token"));
    await until(() => server.tokens.stats.shared === 199);
    release();
    expect(new Set(await Promise.all(names))).to.deep.equal(new Set(["alice"]));
    kube.tokens.delete("a-token");
    expect(await server.name("a-token")).to.equal("alice");
    expect(kube.seen.tokens).to.have.length(1);
    expect(server.tokens.stats).to.deep.include({ asked: 1, shared: 199, remembered: 1, failed: 0, kept: 1 });
  });

  it("expires from the cache, positive or negative", async () => {
    await using kube = await startReviewing();
    const upstream = { ...kube.upstream, url: at(kube) };
    await using server = await start({ upstream, allowCache: 500, denyCache: 250 });
    const began = performance.now();
    expect(await server.name("a-token")).to.equal(401);
    kube.tokens.set("a-token", ALICE);
    await untilChanged<string | number>(() => server.name("a-token"), { from: 401, to: "alice" });
    const granted = performance.now();
    expect(granted - began).to.be.at.least(250);
    kube.tokens.clear();
    await untilChanged<string | number>(() => server.name("a-token"), { from: "alice", to: 401 });
    expect(performance.now() - began).to.be.at.least(750);
    expect(kube.seen.tokens).to.have.length(3);
  });

  it("is cached no longer than a JSON Web Token's expiry", async () => {
    await using kube = await startReviewing();
    const end = Date.now() + 500;
    const [short, long] = [jwt({ exp: end / 1_000 }), jwt({ exp: end / 1_000 + 60 })];
    for (const token of [short, long]) kube.tokens.set(token, ALICE);
    await using server = await start({ upstream: { ...kube.upstream, url: at(kube) }, allowCache: 60_000 });
    for (const token of [short, long]) expect(await server.name(token)).to.equal("alice");
    kube.tokens.clear();
    await untilChanged<string | number>(() => server.name(short), { from: "alice", to: 401 });
    expect(Date.now()).to.be.at.least(end);
    expect(await server.name(long)).to.equal("alice");
  });

  it("keeps invalid tokens separate: few reviews each, and no valid token is evicted", async () => {
    await using kube = await startReviewing();
    kube.tokens.set("a-token", ALICE);
    await using server = await start({ upstream: { ...kube.upstream, url: at(kube) }, maximum: 10, denyCache: 60_000 });
    expect(await server.name("a-token")).to.equal("alice");
    const { authenticateToken } = server.tokens;
    for (const round of [1, 2])
      for (let at = 0; at < 100; at++) expect(await authenticateToken(`made-up-${at}`), `${round}`).to.equal(undefined);
    expect(await authenticateToken("made-up-99")).to.equal(undefined);
    expect(server.tokens.stats).to.deep.include({ asked: 201, remembered: 1, kept: 11 });
    expect(await server.name("a-token")).to.equal("alice");
    expect(kube.seen.tokens.filter(({ token }) => token === "a-token")).to.have.length(1);
  });

  it("is not sent for tokens above 32 KiB", async () => {
    await using kube = await startReviewing();
    await using server = await start({ upstream: { ...kube.upstream, url: at(kube) } });
    expect(await server.name("x".repeat(32 * 1024 + 1))).to.equal(401);
    expect(kube.seen.tokens).to.have.length(0);
  });

  it("rejects a token for other audiences, also if the server does not return any", async () => {
    await using kube = await startReviewing();
    kube.tokens.set("for-views", { ...ALICE, audiences: ["views", "kube"] });
    kube.tokens.set("for-kube", ALICE);
    await using server = await start({ upstream: { ...kube.upstream, url: at(kube) }, audiences: ["views", "more"] });
    expect(await server.name("for-views")).to.equal("alice");
    expect(await server.name("for-kube")).to.equal(401);
    expect(kube.seen.tokens[0]).to.deep.equal({ token: "for-views", audiences: ["views", "more"] });
    for (const audiences of [undefined, [], ["kube"]]) {
      await using lax = await misbehaving((res) =>
        json(res, answer({ authenticated: true, audiences, user: { username: "alice" } })),
      );
      await using other = await start({ upstream: { url: lax.url }, audiences: ["views"] });
      expect(await other.name("any"), String(audiences)).to.equal(401);
    }
    expect(() => tokenReview({ upstream: kube.upstream, audiences: [] })).to.throw("audiences is empty");
  });

  it("is retried after a failure of the server, with the longest requested delay", async () => {
    await using flaky = await misbehaving((res, count) => {
      if (count === 1) res.destroy();
      else if (count === 2) res.writeHead(503).end("not now");
      else if (count === 3) res.writeHead(429, { "Retry-After": "0" }).end();
      else json(res, answer({ authenticated: true, user: { username: "alice" } }));
    });
    await using server = await start({ upstream: { url: flaky.url } });
    expect(await server.name("any")).to.equal("alice");
    expect(server.tokens.stats).to.deep.include({ asked: 1, retried: 3, failed: 0 });
  });

  it("queues many requests in order, and rejects more at once", async () => {
    await using kube = await startReviewing();
    await using server = await start({ upstream: { ...kube.upstream, url: at(kube) }, inFlight: 2 });
    const release = kube.hold();
    const { authenticateToken } = server.tokens;
    const waiting = Array.from({ length: 42 }, (_each, at) => authenticateToken(`t${at}`));
    await until(() => kube.seen.tokens.length === 2 && server.tokens.stats.waiting === 40);
    const error = await Promise.resolve(authenticateToken("one too many")).catch(String);
    expect(error).to.match(/too many reviews are waiting: try again/);
    expect(kube.seen.tokens).to.have.length(2);
    release();
    expect(await Promise.all(waiting)).to.deep.equal(Array.from({ length: 42 }, () => undefined));
    expect(server.tokens.stats).to.deep.include({ inFlight: 0, waiting: 0, failed: 1 });
  });
});

const user = { username: "alice" };
const LIES: Readonly<Record<string, unknown>> = {
  "of another kind": { ...answer({ authenticated: true, user }), kind: "SubjectAccessReview" },
  "of another version": { ...answer({ authenticated: true, user }), apiVersion: "authentication.k8s.io/v1beta1" },
  "without a status": { ...answer({}), status: undefined },
  "that is a string": "yes",
  "that is a list": [answer({ authenticated: true, user })],
  "whose `authenticated` is a string": answer({ authenticated: "true", user }),
  "without a user": answer({ authenticated: true }),
  "of a user without a name": answer({ authenticated: true, user: { username: "" } }),
  "of a user whose name is a list": answer({ authenticated: true, user: { username: ["alice"] } }),
  "of the anonymous user": answer({ authenticated: true, user: { username: "system:anonymous" } }),
  "of an unauthenticated user": answer({
    authenticated: true,
    user: { ...user, groups: ["system:unauthenticated"] },
  }),
  "with a group that is null": answer({ authenticated: true, user: { ...user, groups: [null] } }),
  "with groups that are a string": answer({ authenticated: true, user: { ...user, groups: "system:masters" } }),
  "with an extra that is a string": answer({ authenticated: true, user: { ...user, extra: { scopes: "all" } } }),
};

describe("a response to a TokenReview", () => {
  for (const [what, body] of Object.entries(LIES))
    it(`${what} authenticates no user`, async () => {
      await using liar = await misbehaving((res) => json(res, body));
      await using server = await start({ upstream: { url: liar.url } });
      expect(await server.name("hush-token")).to.equal(401);
      expectFault(/authenticator failed/);
      expect(JSON.stringify(server.records)).to.contain(liar.url).and.not.contain("hush-token");
      expect(liar.requests).to.equal(1);
    });

  for (const code of [200, 202, 204, 302, 401, 403, 404, 422])
    it(`is ${code === 200 ? "valid" : "invalid"} with the code ${code}`, async () => {
      await using odd = await misbehaving((res) => {
        res.setHeader("Location", "/elsewhere");
        json(res, code === 204 ? undefined : answer({ authenticated: true, user }), code);
      });
      await using server = await start({ upstream: { url: odd.url } });
      expect(await server.name("hush-token")).to.equal(code === 200 ? "alice" : 401);
      if (code !== 200) expectFault(new RegExp(`the server answered ${code}`));
      expect(odd.requests).to.equal(1);
    });
});

describe("a server that reviews tokens", () => {
  it("does not affect cached users while it is down, authenticates no others, and gets reviews again when it is back", async () => {
    let away = false;
    await using flaky = await misbehaving((res) => {
      if (away) res.destroy();
      else json(res, answer({ authenticated: true, user }));
    });
    await using server = await start({ upstream: { url: flaky.url }, timeout: 3_000 });
    expect(await server.name("a-token")).to.equal("alice");
    away = true;
    expect(await server.name("a-token")).to.equal("alice");
    expect(await server.name("b-token")).to.equal(401);
    expectFault(/authenticator failed/);
    away = false;
    expect(await server.name("b-token")).to.equal("alice");
  });

  it("is a failure within the timeout if it is down or hangs", async () => {
    await using hole = await misbehaving(() => undefined);
    for (const url of [hole.url, await nowhere()]) {
      await using server = await start({ upstream: { url }, timeout: 200 });
      const began = performance.now();
      expect(await server.name("hush-token")).to.equal(401);
      expect(performance.now() - began).to.be.lessThan(5_000);
      expectFault(/authenticator failed.*tokenreviews/);
      expect(JSON.stringify(server.records)).not.to.contain("hush-token");
      expect(server.tokens.stats).to.deep.include({ asked: 1, failed: 1, kept: 0, inFlight: 0 });
    }
  });

  it("causes 503 for possibly valid tokens while it is down if configured; cached rejections stay 401", async () => {
    let away = true;
    await using flaky = await misbehaving((res) => {
      if (away) res.destroy();
      else json(res, answer({ authenticated: false }));
    });
    await using server = await start({ upstream: { url: flaky.url }, timeout: 3_000, away: "unavailable" });
    expect(await server.name("a-token")).to.equal(503);
    away = false;
    expect(await server.name("a-token")).to.equal(401);
  });

  it("may have credentials that never arrive", async () => {
    await using hole = await misbehaving(() => undefined);
    const credentials = { get: () => new Promise<never>(() => undefined) };
    await using server = await start({ upstream: { url: hole.url, credentials }, timeout: 100 });
    expect(await server.name("any")).to.equal(401);
    // Timeout of one attempt, or of all.
    expectFault(/no answer within (?:50|100) ms/);
  });
});

/** Returns the URL of a logical cluster, for options without one. */
function at(kube: Awaited<ReturnType<typeof startReviewing>>): string {
  return `${kube.upstream.url}/clusters/root`;
}

function answer(status: object) {
  return { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", metadata: {}, status };
}
