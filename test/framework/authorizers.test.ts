// Ready-made authorizers: whom each allows, alone and combined, and that the listed rules agree with the decisions.
import { get } from "node:http";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  authenticated,
  byNamespace,
  type Decision,
  defineResource,
  defineVirtualWorkspace,
  deny,
  groups,
  readOnly,
  staticTokens,
  type User,
  union,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import type { Rules, RulesRequest } from "@virtual-workspaces/framework/authz";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { asked } from "../_support/asked.ts";
import { UNEXPECTED } from "../_support/internal.ts";
import { startPlain } from "../_support/plain.ts";

const alice = authenticatedUser({ name: "alice" });
const admin = authenticatedUser({ name: "admin", groups: ["admins"] });
const no = (reason: string): Authorizer<unknown> => Object.assign(() => deny(reason), { rules: () => NO_RULES });
const yes: Authorizer<unknown> = Object.assign(() => allow(), { rules: () => NO_RULES });
const broken: Authorizer<unknown> = () => {
  throw new Error("secret");
};
const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
const EVERYTHING = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  incomplete: false,
};

const QUESTION = { verb: "get", group: "test.dev", version: "v1", resource: "quotes", name: "a" };
const decisionOf = (authorizer: Authorizer<unknown>, user: User, about: Partial<AuthorizeRequest> = QUESTION) =>
  authorizer(asked(user, about));
const later =
  (authorizer: Authorizer<unknown>): Authorizer<unknown> =>
  async (request) =>
    authorizer(request);
const rulesOf = (authorizer: Authorizer<unknown>, user: User) =>
  authorizer.rules?.({ user, params: {}, namespace: "default", signal: new AbortController().signal } as RulesRequest);

describe("authenticated", () => {
  it("allows authenticated users, and lists that", () => {
    expect(decisionOf(authenticated(), alice)).to.deep.equal(allow());
    expect(rulesOf(authenticated(), alice)).to.deep.equal(EVERYTHING);
  });
});

describe("groups", () => {
  it("allows members of any group, compared exactly, and lists that", () => {
    const authorizer = groups("owners", "admins");
    expect(decisionOf(authorizer, admin)).to.deep.equal(allow());
    expect(decisionOf(authorizer, alice)).to.include({ allowed: false });
    expect(decisionOf(groups("Admins"), admin)).to.include({ allowed: false });
    expect([rulesOf(authorizer, admin), rulesOf(authorizer, alice)]).to.deep.equal([EVERYTHING, NO_RULES]);
  });

  it("does not reveal the groups", () => {
    expect(JSON.stringify(decisionOf(groups("secret-society"), alice))).not.to.include("secret");
  });

  it("requires at least one name", () => {
    expect(() => groups()).to.throw("groups: no group given");
    expect(() => groups("admins", "")).to.throw("groups: empty group name");
  });
});

describe("byNamespace", () => {
  const rule: Authorizer<unknown> = ({ user, namespace }) =>
    user.in("admins") || namespace === user.name ? allow() : deny("not yours");

  it("denies what is in all namespaces or in none, although the rule allows each namespace", async () => {
    const Quote = defineResource({
      group: "test.dev",
      version: "v1",
      kind: "Quote",
      scope: "Namespaced",
      spec: { type: "object" },
    });
    const quotes = Quote.collection();
    quotes.in("", "alice").set("hers", {});
    quotes.in("", "bob").set("his", {});
    const view = (name: string, authorize: Authorizer<unknown>) =>
      defineVirtualWorkspace({ name, path: "/", authorize, resources: [Quote.serve(quotes)] });
    const open: Authorizer<unknown> = ({ namespace }) => (namespace === "bob" ? deny("not yours") : allow());
    await using server = await startPlain([
      view("open", open),
      view("closed", byNamespace(open)),
      view("beyond", byNamespace(open, groups("admins"))),
    ]);
    const listed = async (name: string, tail = "quotes", user = "alice") => {
      const path = `/services/${name}/apis/test.dev/v1/${tail}`;
      const { status, body } = await server.get(path, { user });
      return status === 200 ? body.items.length : `${status} ${body.message}`;
    };
    expect(await listed("open")).to.equal(2);
    expect(await listed("closed")).to.match(/^403 .*at the cluster scope: name a namespace: you may not access all/);
    expect(await listed("closed", "quotes?watch=true")).to.match(/^403 .*name a namespace/);
    expect(await listed("closed", "namespaces/alice/quotes")).to.equal(1);
    expect(await listed("closed", "namespaces/bob/quotes")).to.match(/^403 .*not yours/);
    expect(await listed("closed", "quotes", "admin")).to.match(/^403/);
    expect(await listed("beyond")).to.match(/^403 .*you are in no group/);
    expect(await listed("beyond", "quotes", "admin")).to.equal(2);
    expect((await server.get("/services/closed/apis/test.dev/v1", { user: "alice" })).status).to.equal(200);
    expect(
      (await server.send("DELETE /services/closed/apis/test.dev/v1/quotes", undefined, { user: "alice" })).status,
    ).to.be.oneOf([403, 405]);
  });

  it("allows discovery to authenticated users only, by GET and HEAD", () => {
    expect(decisionOf(byNamespace(rule), alice, { path: "/apis", verb: "get" })).to.include({ allowed: true });
    expect(decisionOf(byNamespace(rule), alice, { path: "/apis", verb: "post" })).to.include({ allowed: false });
  });

  it("has the shortest interval for open watches of its rules, or none", () => {
    const every = (watchesEvery: number) => Object.assign(() => allow(), { watchesEvery });
    expect(byNamespace(rule).watchesEvery).to.equal(undefined);
    expect(byNamespace(every(500)).watchesEvery).to.equal(500);
    expect(byNamespace(every(500), every(200)).watchesEvery).to.equal(200);
  });
});

describe("readOnly", () => {
  const cases: readonly [string, Partial<AuthorizeRequest>, boolean][] = [
    ...["get", "list", "watch"].map(
      (verb) => [verb, { ...QUESTION, verb, longRunning: verb === "watch" }, true] as const,
    ),
    ...["create", "update", "patch", "delete", "deletecollection", "proxy", "impersonate", "*", "", "GET"].map(
      (verb) => [verb, { ...QUESTION, verb }, false] as const,
    ),
    ...["status", "scale"].map(
      (subresource) => [`get of /${subresource}`, { ...QUESTION, subresource }, true] as const,
    ),
    ...["exec", "attach", "portforward", "proxy", "log", "token", "Status", "status2"].map(
      (subresource) => [`get of /${subresource}`, { ...QUESTION, subresource }, false] as const,
    ),
    ["update of /status", { ...QUESTION, verb: "update", subresource: "status" }, false],
    ["an upgrade of an object", { ...QUESTION, longRunning: true, upgrade: true }, false],
    ["GET of a path", { path: "/apis", verb: "get" }, true],
    ["HEAD of a path", { path: "/version", verb: "head" }, true],
    ...["post", "put", "delete", "patch", "options", "connect", "list", ""].map(
      (verb) => [`${verb} of a path`, { path: "/apis", verb }, false] as const,
    ),
    ["an upgrade of a path", { path: "/shell", verb: "get", longRunning: true, upgrade: true }, false],
  ].map((one) => [...one] as [string, Partial<AuthorizeRequest>, boolean]);
  for (const [what, about, allowed] of cases)
    it(`${allowed ? "allows" : "denies"} ${what}`, () => {
      expect(decisionOf(readOnly(), alice, about)).to.include({ allowed });
    });

  it("consults the inner authorizer for reads only", () => {
    expect(decisionOf(readOnly(groups("admins")), alice)).to.include({ allowed: false });
    expect(decisionOf(readOnly(groups("admins")), admin)).to.include({ allowed: true });
    expect(decisionOf(readOnly(broken), admin, { ...QUESTION, verb: "delete" })).to.include({ allowed: false });
  });

  it("denies upgrades to a view that has them, whatever the path", async () => {
    let taken = 0;
    const Quote = defineResource({
      group: "test.dev",
      version: "v1",
      kind: "Quote",
      scope: "Cluster",
      spec: { type: "object" },
    });
    const view = defineVirtualWorkspace({
      name: "view",
      path: "/",
      authorize: readOnly(),
      resources: [Quote.serve(Quote.collection())],
      upgrade: (_req, socket) => {
        taken++;
        socket.destroy();
      },
    });
    await using server = await startPlain([view], { authentication: [staticTokens({ alice: { name: "alice" } })] });
    for (const [path, upgrade = "test"] of [
      ["/shell"],
      ["/apis/test.dev/v1/quotes?watch=1"],
      ["/apis/test.dev/v1/watch/quotes"],
      ["/apis/test.dev/v1/quotes/a"],
      ["/apis/test.dev/v1/quotes/a", "websocket"],
      ["/apis/test.dev/v1/quotes", "websocket"],
      // Nothing serves this watch, so the view's own handler would get it.
      ["/apis/test.dev/v1/unknown?watch=1", "websocket"],
      ["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
    ] as const) {
      const headers = { authorization: "Bearer alice", connection: "upgrade", upgrade };
      const code = await new Promise((resolve, reject) =>
        get(`${server.url}/services/view${path}`, { headers }, (res) => resolve(res.resume().statusCode)).on(
          "error",
          reject,
        ),
      );
      expect(code, path).to.equal(403);
    }
    expect(taken).to.equal(0);
  });
});

describe("union", () => {
  it("allows when one member allows, and skips the rest", () => {
    expect(decisionOf(union(no("a"), yes, broken), alice)).to.deep.equal(allow());
  });

  it("denies with all distinct reasons when no member allows", () => {
    expect(decisionOf(union(no("a"), no(""), no("b"), no("a")), alice)).to.deep.equal(deny("a; b"));
  });

  it("stops at a final denial: later members are skipped, earlier ones were called", async () => {
    const final: Authorizer<unknown> = () => ({ allowed: false, reason: "never", final: true });
    const about = asked(alice, { verb: "get" });
    expect(await union(no("a"), final, yes)(about)).to.deep.equal({ allowed: false, reason: "never", final: true });
    expect(await union(broken, final, yes)(about)).to.deep.include({ allowed: false });
    expect(await union(yes, final)(about)).to.deep.equal({ allowed: true });
  });

  it("treats a failure as no opinion if a member allows, and throws it otherwise", async () => {
    expect(decisionOf(union(broken, yes), alice)).to.deep.equal(allow());
    expect(await decisionOf(union(later(broken), later(yes)), alice)).to.deep.equal(allow());
    expect(() => decisionOf(union(broken, no("a")), alice)).to.throw("secret");
    expect(() => decisionOf(union(broken, broken), alice)).to.throw(AggregateError);
  });

  it("treats a result that is not a decision as a failure", () => {
    const nothing = (() => undefined) as unknown as Authorizer<unknown>;
    const odd = (() => ({ allowed: "true" })) as unknown as Authorizer<unknown>;
    for (const one of [nothing, odd]) {
      expect(() => decisionOf(union(one, no("a")), alice)).to.throw();
      expect(decisionOf(union(one, yes), alice)).to.deep.equal(allow());
    }
  });

  it("calls one member after the other, also asynchronous ones", async () => {
    expect(await decisionOf(union(later(no("a")), no("b"), later(no("c"))), alice)).to.deep.equal(deny("a; b; c"));
    expect(await decisionOf(union(later(no("a")), yes), alice)).to.deep.equal(allow());
    let failure: unknown;
    await Promise.resolve(decisionOf(union(later(no("a")), broken), alice)).catch((error: unknown) => {
      failure = error;
    });
    expect(String(failure)).to.equal("Error: secret");
  });

  it("lists the rules of all members, or none if one cannot list", async () => {
    expect(await rulesOf(union(groups("admins"), authenticated()), admin)).to.deep.equal({
      resourceRules: [...EVERYTHING.resourceRules, ...EVERYTHING.resourceRules],
      nonResourceRules: [...EVERYTHING.nonResourceRules, ...EVERYTHING.nonResourceRules],
      incomplete: false,
    });
    expect(union(groups("admins"), () => allow()).rules).to.equal(undefined);
    const failing = Object.assign(() => deny("x"), { rules: () => Promise.reject(new Error("secret")) });
    expect(await rulesOf(union(failing, yes), alice)).to.deep.equal({
      ...NO_RULES,
      incomplete: true,
      evaluationError: "one of several authorizers could not list its rules",
    });
  });

  it("requires authorizers, and at least one", () => {
    expect(() => union()).to.throw("union: no authorizer given: give at least one");
    expect(() => union(authenticated as never, undefined as never)).to.throw("union: argument is not an authorizer");
  });

  it("on a server: 500 with the request's id when one fails and none allows, 200 when one allows", async () => {
    const view = (name: string, last: Authorizer<unknown>) =>
      defineVirtualWorkspace({ name, path: "/", authorize: union(broken, last), resources: [] });
    await using server = await startPlain([view("denied", no("ask Bob")), view("allowed", yes)]);
    expect((await server.get("/services/allowed/apis")).status).to.equal(200);
    const failed = await server.get("/services/denied/apis");
    expect([failed.status, failed.body.reason]).to.deep.equal([500, "InternalError"]);
    expect(failed.body.message).to.match(UNEXPECTED).and.include(failed.headers["audit-id"]);
    expect(failed.text).not.to.include("secret").and.not.to.include("Bob");
    expectFault(/request failed/);
  });
});

describe("the decision of each authorizer", () => {
  it("is synchronous if possible", () => {
    const decided: Decision | Promise<Decision> = union(groups("admins"), readOnly())(asked(alice, QUESTION));
    expect(decided).not.to.be.instanceOf(Promise);
  });
});
