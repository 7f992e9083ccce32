// Authentication by token and by custom authenticators: their order, failures, and where credentials end up.
import { inspect } from "node:util";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type Authenticator,
  allow,
  createServer,
  defineVirtualWorkspace,
  staticTokens,
  User,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { whoami } from "../_support/whoami.ts";
import { Wire } from "../_support/wire.ts";

const SECRET = "s3cr3t-of-alice";
const tokens = staticTokens({
  [SECRET]: { name: "alice", uid: "1", groups: ["g"] },
  "bob:token==": { name: "bob" },
  schlüssel: { name: "zoë" },
  // Its last byte in UTF-8, A0, is a space in Latin-1.
  voilà: { name: "zoé" },
  constructor: { name: "named like an object member" },
});

async function start(...authentication: readonly Authenticator[]) {
  const { log, records } = testLog();
  const server = createServer({ virtualWorkspaces: [whoami()], authentication, log });
  const { port } = await server.listen({ port: 0 });
  return {
    records,
    /** Returns the Status for a request with these header lines. */
    async refusal(...lines: readonly string[]): Promise<Record<string, unknown>> {
      using wire = await Wire.open(port);
      wire.request("GET /services/who/ HTTP/1.1", "Host: x", ...lines);
      return JSON.parse((await wire.answer())?.body ?? "");
    },
    /** Returns the user's name; undefined for 401. Lines are bytes. */
    async ask(...lines: readonly string[]): Promise<string | undefined> {
      using wire = await Wire.open(port);
      wire.request("GET /services/who/ HTTP/1.1", "Host: x", ...lines);
      const answer = await wire.answer();
      const body = JSON.parse(answer?.body ?? "");
      if (answer?.status === 200) return body.name;
      expect(body).to.deep.equal({
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Unauthorized",
        reason: "Unauthorized",
        code: 401,
      });
      expect(answer?.headers).to.include({ "www-authenticate": "Bearer" });
      return undefined;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");

describe("bearer tokens", () => {
  const cases: Record<string, string | undefined> = {
    [`Authorization: Bearer ${SECRET}`]: "alice",
    [`authorization: bearer ${SECRET}`]: "alice",
    [`AUTHORIZATION: BEARER ${SECRET}`]: "alice",
    [`Authorization: Bearer   ${SECRET}  `]: "alice",
    "Authorization: Bearer bob:token==": "bob",
    [`Authorization: Bearer ${latin1("schlüssel")}`]: "zoë",
    [`Authorization: Bearer ${latin1("voilà")}`]: "zoé",
    [`Authorization: Bearer \t ${latin1("voilà")} \t`]: "zoé",
    [`Authorization: Bearer ${latin1(`\u00a0${SECRET}`)}`]: undefined,
    [`Authorization: Bearer \xa0${SECRET}`]: undefined,
    "Authorization: Bearer constructor": "named like an object member",
    "Authorization: Bearer schlüssel": undefined,
    "Authorization: Bearer toString": undefined,
    "Authorization: Bearer __proto__": undefined,
    "Authorization: Bearer": undefined,
    "Authorization: Bearer ": undefined,
    "Authorization:": undefined,
    [`Authorization: ${SECRET}`]: undefined,
    [`Authorization: Basic ${SECRET}`]: undefined,
    [`Authorization: Bearer${SECRET}`]: undefined,
    [`Authorization: Bearer ${SECRET}x`]: undefined,
    [`Authorization: Bearer ${SECRET.slice(0, -1)}`]: undefined,
    [`Authorization: Bearer ${SECRET} more`]: undefined,
    [`Proxy-Authorization: Bearer ${SECRET}`]: undefined,
    [`Cookie: Authorization=Bearer ${SECRET}`]: undefined,
  };
  for (const [lines, name] of Object.entries(cases)) {
    it(`with the lines ${JSON.stringify(lines)} authenticate ${name ?? "no user"}`, async () => {
      await using server = await start(tokens);
      expect(await server.ask(...lines.split("\r\n"))).to.equal(name);
    });
  }

  it("are rejected when they are sent twice, whichever is valid, because servers differ in which one they use", async () => {
    await using server = await start(tokens);
    const right = `Authorization: Bearer ${SECRET}`;
    for (const lines of [
      [right, right],
      [right, "Authorization: Bearer x"],
      ["authorization: Basic x", right],
    ])
      expect(await server.refusal(...lines)).to.include({ code: 400, message: "two Authorization headers: send one" });
  });

  it("must not be empty, nor may user names", () => {
    expect(() => staticTokens({ "": { name: "x" } })).to.throw("empty token or user name");
    expect(() => staticTokens({ x: { name: "" } })).to.throw("empty token or user name");
  });

  it("authenticate a user, who is frozen", async () => {
    const user = await tokens.authenticate(
      { headers: { authorization: `Bearer ${SECRET}` } } as Parameters<Authenticator["authenticate"]>[0],
      { clientCa: [] },
    );
    expect(user).to.deep.include({ name: "alice", uid: "1", groups: ["g", "system:authenticated"], extra: {} });
    expect(Object.isFrozen(user) && Object.isFrozen(user?.groups)).to.equal(true);
  });
});

describe("a user", () => {
  it("is a copy that later changes of its input do not affect", () => {
    const groups = ["g"];
    const scopes = ["read"];
    const user = new User({ name: "alice", groups, extra: { scopes, ["__proto__"]: ["x"] } });
    groups.push("system:masters");
    scopes.push("write");
    expect(user.groups).to.deep.equal(["g"]);
    expect(Object.entries(user.extra)).to.deep.equal([
      ["scopes", ["read"]],
      ["__proto__", ["x"]],
    ]);
    expect(() => (user.extra["scopes"] as string[]).push("write")).to.throw(TypeError);
    expect(() => (user.groups as string[]).push("system:masters")).to.throw(TypeError);
  });
});

describe("authenticators", () => {
  const is = (name: string): Authenticator => ({ name, authenticate: () => authenticatedUser({ name }) });
  const later = (name: string): Authenticator => ({ name, authenticate: async () => authenticatedUser({ name }) });
  const silent: Authenticator = { name: "silent", authenticate: () => undefined };
  const silentLater: Authenticator = { name: "silent later", authenticate: async () => undefined };
  const throws: Authenticator = {
    name: "broken",
    authenticate: () => {
      throw new Error("database is away");
    },
  };
  const rejects: Authenticator = { name: "broken", authenticate: () => Promise.reject(new Error("database is away")) };

  const orders: Record<string, readonly [readonly Authenticator[], string | undefined]> = {
    "no authenticators": [[], undefined],
    "none recognizes the caller": [[silent, silentLater, silent], undefined],
    "the first": [[is("a"), is("b")], "a"],
    "the first that recognizes the caller": [[silent, silentLater, is("a"), later("b")], "a"],
    "the first that recognizes the caller asynchronously": [[silent, later("a"), is("b")], "a"],
    "one after an asynchronous one": [[silentLater, silent, is("a")], "a"],
  };
  for (const [what, [authentication, name]] of Object.entries(orders)) {
    it(`are called in order: ${what}`, async () => {
      await using server = await start(...authentication);
      expect(await server.ask()).to.equal(name);
    });
  }

  it("end the search when they recognize the caller", async () => {
    const never: Authenticator = { name: "never", authenticate: () => expect.fail("asked") };
    await using server = await start(silentLater, is("a"), never);
    expect(await server.ask()).to.equal("a");
  });

  for (const [how, one] of [
    ["throws", throws],
    ["rejects", rejects],
  ] as const) {
    it(`have no opinion when they fail, and the error is logged: one that ${how}`, async () => {
      await using server = await start(one, is("a"));
      expect(await server.ask()).to.equal("a");
      expectFault(/authenticator failed .*"authenticator":"broken".*database is away/);
      await using alone = await start(one);
      expect(await alone.ask()).to.equal(undefined);
      expectFault(/authenticator failed/);
    });
  }

  it("cause 503 instead of 401 when they are unavailable, unless another one recognizes the caller", async () => {
    const away: Authenticator = {
      name: "away",
      authenticate: () => Promise.reject(ApiError.serviceUnavailable("the users are away: try again", 1)),
    };
    await using server = await start(away, is("a"));
    expect(await server.ask()).to.equal("a");
    for (const others of [[], [silentLater], [throws]]) {
      await using alone = await start(...others, away, ...others);
      expect(await alone.refusal()).to.deep.include({ code: 503, message: "the users are away: try again" });
      expect(alone.records.map(({ authenticator }) => authenticator)).to.include("away");
      if (others.includes(throws)) expectFault(/authenticator failed/);
    }
  });

  const strange: Record<string, unknown> = {
    null: null,
    false: false,
    true: true,
    "a name": "admin",
    "an object": {},
    "a copy of a user": { ...authenticatedUser({ name: "admin" }) },
    "a user without a name": new User({ name: "" }),
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    "a custom thenable": { then: (resolve: (user: undefined) => void) => resolve(undefined) },
    "a promise of null": Promise.resolve(null),
  };
  for (const [what, verdict] of Object.entries(strange)) {
    it(`authenticate no one by returning ${what}`, async () => {
      await using server = await start({ name: "strange", authenticate: () => verdict as User });
      expect(await server.ask()).to.equal(undefined);
      expectFault(/authenticator failed .*"strange".*neither a User nor undefined/);
    });
  }

  it("can be of another copy of this package", async () => {
    class OtherUser extends Object {
      name = "far";
      groups = ["system:authenticated"];
      uid = "";
      extra = {};
      in(group: string): boolean {
        return this.groups.includes(group);
      }
    }
    await using server = await start({ name: "other", authenticate: () => new OtherUser() });
    expect(await server.ask()).to.equal("far");
  });
});

describe("credentials", () => {
  it("do not reach raw handlers, however these read headers", async () => {
    const server = createServer({ virtualWorkspaces: [whoami()], authentication: [tokens], log: testLog().log });
    await using closing = server;
    const { port } = await closing.listen({ port: 0 });
    using wire = await Wire.open(port);
    const line = `Authorization: Bearer ${SECRET}`;
    wire.request("GET /services/who/ HTTP/1.1", "Host: x", "X-Before: b", line, "X-After: a");
    const { body = "" } = (await wire.answer()) ?? {};
    expect(JSON.parse(body).headers).to.deep.equal([
      { host: "x", "x-before": "b", "x-after": "a" },
      { host: ["x"], "x-before": ["b"], "x-after": ["a"] },
      ["Host", "x", "X-Before", "b", "X-After", "a"],
    ]);
  });

  it("do not reach the log, the access log or any response, whatever fails", async () => {
    const { log, records } = testLog();
    const told: unknown[] = [];
    const authorize = ({ path }: { path: string }) => {
      if (path === "/throws") throw new Error("no luck");
      return allow();
    };
    const fails = defineVirtualWorkspace({
      name: "fails",
      path: "/",
      authorize,
      ready: () => undefined,
      handle: () => {
        throw new Error("no luck either");
      },
    });
    const broken: Authenticator = { name: "broken", authenticate: () => Promise.reject(new Error("away")) };
    await using server = createServer({
      virtualWorkspaces: [fails],
      authentication: [broken, tokens],
      log,
      onRequest: (record) => void told.push(record),
    });
    const { port } = await server.listen({ port: 0 });
    let answers = "";
    for (const path of [
      "/services/fails/throws",
      "/services/fails/handle",
      "/services/other",
      "/x",
      "/services/fails/..",
    ]) {
      using wire = await Wire.open(port);
      wire.request(`GET ${path}?access_token=${SECRET} HTTP/1.1`, "Host: x", `Authorization: Bearer ${SECRET}`);
      answers += inspect(await wire.answer());
    }
    expectFault(/authenticator failed/);
    expectFault(/request failed .*no luck/);
    expect(records satisfies readonly LogRecord[]).to.have.length.above(5);
    expect(told).to.have.length.above(3);
    expect(answers).to.include("Internal error occurred").and.not.to.include("luck");
    expect(inspect([records, told, answers], { depth: 9, maxStringLength: null })).not.to.include(SECRET);
  });
});
