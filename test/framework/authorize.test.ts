// Authorization: the view's rule is called for everything and decides alone; when it fails, access is denied.
import { ApiError, type Status } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  allow,
  authenticated,
  type Decision,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { UNEXPECTED } from "../_support/internal.ts";
import { startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";

const Quote = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  spec: { type: "object" },
});
const Note = defineResource({ group: "", version: "v1", kind: "Note", scope: "Namespaced", spec: { type: "object" } });
const BASE = "/services/view/clusters/root";

function view(authorize: VirtualWorkspace["authorize"], resources?: VirtualWorkspace["resources"]): VirtualWorkspace {
  const quotes = Quote.collection();
  const notes = Note.collection();
  quotes.in("root").set("ssh", {});
  notes.in("root", "ns").set("n", {});
  return defineVirtualWorkspace({
    name: "view",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize,
    resources: resources ?? [Quote.serve(quotes), Note.serve(notes)],
  });
}

async function start(authorize: VirtualWorkspace["authorize"], resources?: VirtualWorkspace["resources"]) {
  const server = await startPlain([view(authorize, resources)]);
  return {
    /** The Status (or any other response) that alice gets. */
    async ask(target: string, method = "GET"): Promise<Status & { readonly body: string }> {
      using wire = await Wire.open(Number(new URL(server.url).port));
      wire.request(`${method} ${target} HTTP/1.1`, "Host: x", "Authorization: Bearer alice");
      const answer = await wire.answer(method);
      return { ...JSON.parse(answer?.body || "{}"), code: answer?.status, body: answer?.body };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("a denial", () => {
  // The exact text of Kubernetes' authorization filter, with the reason after a colon.
  const cases: Record<string, string> = {
    "GET /apis/test.dev/v1/quotes":
      'quotes.test.dev is forbidden: User "alice" cannot list resource "quotes" in API group "test.dev" at the cluster scope: ask Bob',
    "GET /apis/test.dev/v1/quotes?watch=true":
      'quotes.test.dev is forbidden: User "alice" cannot watch resource "quotes" in API group "test.dev" at the cluster scope: ask Bob',
    "GET /apis/test.dev/v1/quotes/ssh":
      'quotes.test.dev "ssh" is forbidden: User "alice" cannot get resource "quotes" in API group "test.dev" at the cluster scope: ask Bob',
    "GET /api/v1/namespaces/ns/notes/n":
      'notes "n" is forbidden: User "alice" cannot get resource "notes" in API group "" in the namespace "ns": ask Bob',
    "POST /api/v1/namespaces/ns/notes":
      'notes is forbidden: User "alice" cannot create resource "notes" in API group "" in the namespace "ns": ask Bob',
    "PATCH /apis/test.dev/v1/quotes/ssh/status":
      'quotes.test.dev "ssh" is forbidden: User "alice" cannot patch resource "quotes/status" in API group "test.dev" at the cluster scope: ask Bob',
    "DELETE /apis/test.dev/v1/nothing":
      'nothing.test.dev is forbidden: User "alice" cannot deletecollection resource "nothing" in API group "test.dev" at the cluster scope: ask Bob',
    "GET /apis": `forbidden: User "alice" cannot get path "${BASE}/apis": ask Bob`,
    "GET /openapi/v3": `forbidden: User "alice" cannot get path "${BASE}/openapi/v3": ask Bob`,
    "POST /a%3Cb%3E%26": `forbidden: User "alice" cannot post path "${BASE}/a&lt;b&gt;&amp;": ask Bob`,
  };
  for (const [request, message] of Object.entries(cases)) {
    it(`of ${request} is a 403 with Kubernetes' text`, async () => {
      await using server = await start(() => deny("ask Bob"));
      const [method = "", target = ""] = request.split(" ");
      const { body: _, ...status } = await server.ask(BASE + target, method);
      expect(status).to.deep.include({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message });
    });
  }

  it("of aggregated discovery has its text in a Warning header, which kubectl prints instead of the Status", async () => {
    await using server = await startPlain([view(() => deny("ask Bob"))]);
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    for (const path of ["/api", "/apis"]) {
      const { status, body, headers } = await server.get(BASE + path, { headers: { accept } });
      expect(status, path).to.equal(403);
      expect(headers["warning"], path).to.equal(`299 - ${JSON.stringify(body.message)}`);
      expect(body.message).to.match(/: ask Bob$/);
    }
    for (const [path, accepted] of [
      ["/apis", "application/json"],
      ["/apis/test.dev/v1/quotes", accept],
    ] as const)
      expect((await server.get(BASE + path, { headers: { accept: accepted } })).headers, path).to.not.have.property(
        "warning",
      );
  });

  it("precedes the discovery hook, the storage, and any 404 that could reveal what exists", async () => {
    const unasked = (): never => expect.fail("asked");
    const storage = { get: unasked, list: unasked };
    await using hook = await start(() => deny("no"), unasked);
    await using fixed = await start(() => deny("no"), [Quote.serve(storage)]);
    for (const server of [hook, fixed])
      for (const path of ["", "/apis", "/apis/test.dev/v1/quotes/ssh", "/apis/test.dev/v1/quotes", "/nothing"])
        expect((await server.ask(BASE + path)).code, path).to.equal(403);
  });
});

describe("an authorizer that fails", () => {
  const failures: Record<string, () => unknown> = {
    throws: () => {
      throw new Error("secret text");
    },
    rejects: () => Promise.reject(new Error("secret text")),
    "returns nothing": () => undefined,
    "returns null": () => null,
    "returns true": () => true,
    "returns a string": () => "allow",
    "returns {}": () => ({}),
    "returns allowed: 1": () => ({ allowed: 1 }),
    "returns allowed as a string": () => ({ allowed: "true" }),
    "returns a promise of nothing": () => Promise.resolve(),
    "returns a promise of true": () => Promise.resolve(true),
    // biome-ignore lint/suspicious/noThenProperty: that is the point
    "returns a custom thenable": () => ({ then: (resolve: (yes: Decision) => void) => resolve(allow()) }),
  };
  for (const [how, rule] of Object.entries(failures)) {
    it(`denies access, hides the reason from the caller, and is logged: one that ${how}`, async () => {
      await using server = await start(rule as VirtualWorkspace["authorize"]);
      const status = await server.ask(`${BASE}/apis/test.dev/v1/quotes/ssh`);
      expect(status).to.include({ code: 500, reason: "InternalError" });
      expect(status.message).to.match(UNEXPECTED);
      expect(status.body).not.to.include("secret");
      expectFault(/request failed/);
    });
  }

  it("can choose its response with an ApiError", async () => {
    await using server = await start(() => {
      throw ApiError.serviceUnavailable("the policy server is away", 7);
    });
    const status = await server.ask(`${BASE}/apis`);
    expect(status).to.deep.include({ code: 503, reason: "ServiceUnavailable", details: { retryAfterSeconds: 7 } });
  });
});

describe("an authorizer receives", () => {
  const info = (fields: Partial<AuthorizeRequest>) => ({
    isResource: false,
    path: "",
    group: "",
    version: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
    longRunning: false,
    identity: "",
    upgrade: false,
    ...fields,
  });
  const quotes = { isResource: true, group: "test.dev", version: "v1", resource: "quotes" };
  const notes = { isResource: true, version: "v1", resource: "notes", namespace: "ns" };
  const cases: Record<string, ReturnType<typeof info>> = {
    "GET ": info({ verb: "get", path: "/" }),
    "GET /api": info({ verb: "get", path: "/api" }),
    "GET /apis": info({ verb: "get", path: "/apis" }),
    "GET /apis/test.dev/v1": info({ verb: "get", path: "/apis/test.dev/v1" }),
    "GET /openapi/v2": info({ verb: "get", path: "/openapi/v2" }),
    "GET /openapi/v3/apis/test.dev/v1?hash=x": info({ verb: "get", path: "/openapi/v3/apis/test.dev/v1" }),
    "GET /version": info({ verb: "get", path: "/version" }),
    "GET /livez": info({ verb: "get", path: "/livez" }),
    "GET /apis/test.dev/v1/quotes": info({ ...quotes, verb: "list", path: "/apis/test.dev/v1/quotes" }),
    "GET /apis/test.dev/v1/quotes/ssh": info({
      ...quotes,
      verb: "get",
      path: "/apis/test.dev/v1/quotes/ssh",
      name: "ssh",
    }),
    "GET /apis/test.dev/v1/quotes?watch=1&fieldSelector=metadata.name%3Dssh": info({
      ...quotes,
      verb: "watch",
      path: "/apis/test.dev/v1/quotes",
      name: "ssh",
      longRunning: true,
    }),
    "PUT /apis/test.dev/v1/quotes/ssh/status": info({
      ...quotes,
      verb: "update",
      path: "/apis/test.dev/v1/quotes/ssh/status",
      name: "ssh",
      subresource: "status",
    }),
    "GET /api/v1/namespaces/ns/notes": info({ ...notes, verb: "list", path: "/api/v1/namespaces/ns/notes" }),
    "DELETE /api/v1/namespaces/ns/notes": info({
      ...notes,
      verb: "deletecollection",
      path: "/api/v1/namespaces/ns/notes",
    }),
  };
  for (const [request, expected] of Object.entries(cases)) {
    it(`for ${request || "the root"}: ${expected.verb} ${expected.path}`, async () => {
      const asked: AuthorizeRequest[] = [];
      await using server = await start((question) => {
        asked.push(question);
        return deny("no");
      });
      const [method = "", target = ""] = request.split(" ");
      await server.ask(BASE + target, method);
      expect(asked).to.have.length(1);
      const { user, params, signal, ...subject } = asked[0] as AuthorizeRequest;
      expect({ ...subject }).to.deep.equal(expected);
      expect(user.name).to.equal("alice");
      expect(params).to.deep.equal({ cluster: "root" });
      expect(signal ?? asked[0]?.signal).to.be.instanceOf(AbortSignal);
    });
  }

  it("every request separately, with the requested cluster, including `*`", async () => {
    const asked: string[] = [];
    await using server = await start(({ params }) => {
      asked.push(params["cluster"] ?? "");
      return params["cluster"] === "root" ? allow() : deny("only root");
    });
    const list = (cluster: string) => server.ask(`/services/view/clusters/${cluster}/apis/test.dev/v1/quotes`);
    expect((await list("root")).code).to.equal(200);
    expect((await list("other")).code).to.equal(403);
    expect((await list("*")).code).to.equal(403);
    expect((await list("root")).code).to.equal(200);
    expect(asked).to.deep.equal(["root", "other", "*", "root"]);
  });
});

describe("a view", () => {
  it("without an authorizer cannot be defined", () => {
    for (const authorize of [undefined, null, true, allow()]) {
      const options = { name: "view", path: "/", resources: [], authorize: authorize as never };
      expect(() => defineVirtualWorkspace(options)).to.throw("has no authorization rule: set authorize");
    }
  });
});

describe("ready-made authorizers", () => {
  it("authenticated() allows every user that an authenticator marks as authenticated", async () => {
    const rule = authenticated();
    const ask = (groups: readonly string[]) =>
      rule({ user: { in: (group: string) => groups.includes(group) } } as Parameters<typeof rule>[0]);
    expect(ask(["system:authenticated"])).to.deep.equal({ allowed: true });
    expect(ask(["system:unauthenticated"])).to.deep.equal({ allowed: false, reason: "log in first" });
  });

  it("allow() returns a decision that cannot be modified", () => {
    const decision = allow() as { allowed: boolean };
    expect(() => {
      decision.allowed = false;
    }).to.throw(TypeError);
  });
});

describe("requests without credentials", () => {
  const paths = [
    "/",
    "/services",
    "/services/",
    "/services/view",
    "/services/nope/clusters/root/apis",
    BASE,
    ...["/", "/api", "/apis", "/apis/test.dev", "/apis/test.dev/v1", "/version", "/openapi/v2", "/openapi/v3"].map(
      (tail) => BASE + tail,
    ),
    ...["/livez", "/readyz", "/healthz", "/metrics", "/nothing", "/apis/test.dev/v1/quotes"].map((tail) => BASE + tail),
    ...["/apis/test.dev/v1/quotes/ssh", "/api/v1/namespaces/ns/notes/n", "/watch"].map((tail) => BASE + tail),
    `${BASE}/apis/test.dev/v1/quotes?watch=true`,
    "/services/view/clusters/*/apis/test.dev/v1/quotes",
    "/metrics",
    "/healthz/",
    "/version",
    "/api",
    "/livez/",
    "/livez/ping",
    "/debug/pprof",
    "/favicon.ico",
  ];
  for (const credentials of [
    [],
    ["Authorization: Bearer wrong"],
    ["X-Remote-User: alice", "Impersonate-User: alice"],
  ]) {
    it(`get 401 except from health endpoints, with ${credentials.join(" and ") || "nothing"}`, async () => {
      const unasked = (): never => expect.fail("asked");
      const views: (readonly ServedResource[] | (() => never))[] = [[Quote.serve(Quote.collection())], unasked];
      for (const resources of views) {
        await using server = await startPlain([view(unasked, resources)]);
        using wire = await Wire.open(Number(new URL(server.url).port));
        for (const path of paths)
          for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
            wire.request(`${method} ${path} HTTP/1.1`, "Host: x", ...credentials);
            const answer = await wire.answer(method);
            expect(answer?.status, `${method} ${path}`).to.equal(401);
            if (method !== "HEAD") expect(JSON.parse(answer?.body ?? "").message).to.equal("Unauthorized");
          }
      }
    });
  }
});
