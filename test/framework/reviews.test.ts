// Self reviews of identity and permissions. Each view has them, and they report the view's own rule.

import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  authenticated,
  defineResource,
  deny,
  groups,
  User,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { startPlain } from "../_support/plain.ts";
import { AUTHN, AUTHZ, BASE, MAY, RULES, start, USERS, view, WHO } from "./review-views.ts";

describe("SelfSubjectReview", () => {
  const body = { apiVersion: AUTHN, kind: "SelfSubjectReview" };

  it("returns the whole identity of the caller, without empty fields", async () => {
    await using view = await start(() => deny("nobody"));
    const answer = await view.server.send(`POST ${WHO}`, body);
    expect(answer.status).to.equal(201);
    expect(answer.body).to.deep.include({ ...body });
    expect(answer.body.status.userInfo).to.deep.equal({
      username: "alice",
      uid: "17",
      groups: ["devs", "größe", "system:authenticated"],
      extra: { "example.dev/scopes": ["a", "b"], "kein/ascii": ["ü"] },
    });
    const bob = await view.server.send(`POST ${WHO}`, body, { user: "bob" });
    expect(bob.body.status).to.deep.equal({ userInfo: { username: "bob", groups: ["system:authenticated"] } });
  });

  it("ignores an identity in the body", async () => {
    await using view = await start(() => deny("nobody"));
    const forged = { ...body, status: { userInfo: { username: "admin", groups: ["system:masters"] } } };
    const answer = await view.server.send(`POST ${WHO}`, forged, { user: "bob" });
    expect(answer.body.status).to.deep.equal({ userInfo: { username: "bob", groups: ["system:authenticated"] } });
  });

  it("is read and answered as objects are: YAML, Table, dry run, field validation", async () => {
    await using view = await start(() => deny("nobody"));
    const yaml = { "content-type": "application/yaml", accept: "application/yaml" };
    const text = `apiVersion: ${AUTHN}\nkind: SelfSubjectReview\n`;
    const answer = await view.server.send(`POST ${WHO}?dryRun=All`, text, { headers: yaml });
    expect([answer.status, answer.text])
      .to.deep.include(201)
      .and.to.match(/username: alice/);
    const table = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    expect((await view.server.send(`POST ${WHO}`, body, { headers: table })).body.kind).to.equal("Table");
    const strict = await view.server.send(`POST ${WHO}?fieldValidation=Strict`, { ...body, spec: 1 });
    expect([strict.status, strict.body.message]).to.deep.equal([
      400,
      'SelfSubjectReview in version "v1" cannot be handled as a SelfSubjectReview: strict decoding error: unknown field "spec"',
    ]);
  });
});

describe("SelfSubjectAccessReview", () => {
  const asked: AuthorizeRequest[] = [];
  const noting: Authorizer<Record<string, string>> = (request) => {
    asked.push(request);
    return request.verb === "get" ? allow() : deny("only get");
  };
  const last = () => {
    const { isResource, verb, path, group, version, resource, subresource, namespace, name, longRunning, params } =
      asked.at(-1) as AuthorizeRequest;
    return { isResource, verb, path, group, version, resource, subresource, namespace, name, longRunning, params };
  };

  it("answers yes, or no with the reason of the 403", async () => {
    await using view = await start(noting);
    const quotes = { group: "test.dev", resource: "quotes" };
    expect(await view.may({ ...quotes, verb: "get" })).to.deep.equal({ allowed: true });
    expect(await view.may({ ...quotes, verb: "list" })).to.deep.equal({
      allowed: false,
      denied: true,
      reason: "only get",
    });
    const refused = await view.server.get(`${BASE}/apis/test.dev/v1/quotes`);
    expect([refused.status, refused.body.message.endsWith(": only get")]).to.deep.equal([403, true]);
  });

  it("calls the rule as the reviewed request would", async () => {
    await using view = await start(noting);
    const same = async (attributes: object, call: `${string} /${string}`) => {
      await view.may(attributes);
      const review = last();
      await view.server.send(call.replace(" ", ` ${BASE}`) as "GET /");
      expect(review).to.deep.equal(last());
    };
    await same(
      { verb: "get", group: "test.dev", resource: "quotes", name: "a", namespace: "default" },
      "GET /apis/test.dev/v1/quotes/a",
    );
    await same(
      { verb: "list", group: "test.dev", version: "v1beta1", resource: "quotes" },
      "GET /apis/test.dev/v1beta1/quotes",
    );
    await same(
      { verb: "watch", group: "test.dev", version: "*", resource: "quotes" },
      "GET /apis/test.dev/v1/quotes?watch=1",
    );
    await same(
      { verb: "update", group: "test.dev", resource: "quotes", subresource: "status", name: "a" },
      "PUT /apis/test.dev/v1/quotes/a/status",
    );
    await same({ verb: "get", resource: "notes", name: "n", namespace: "ns" }, "GET /api/v1/namespaces/ns/notes/n");
    await same({ verb: "list", resource: "notes" }, "GET /api/v1/notes");
    await same(
      { verb: "create", group: "x.dev", version: "v1", resource: "xs", namespace: "ns" },
      "POST /apis/x.dev/v1/namespaces/ns/xs",
    );
    await same(
      { verb: "get", resource: "namespaces", version: "v1", name: "ns", namespace: "ns" },
      "GET /api/v1/namespaces/ns",
    );
    await view.review({ nonResourceAttributes: { verb: "post", path: "/apis" } });
    const review = last();
    await view.server.send(`POST ${BASE}/apis`, {});
    expect(review).to.deep.equal(last());
  });

  it("calls the rule with the parameters of its own path, also for all logical clusters at once", async () => {
    await using view = await start(({ params }) => (params["cluster"] === "*" ? allow() : deny("here")));
    const spec = { resourceAttributes: { verb: "list", group: "test.dev", resource: "quotes" } };
    const everywhere = await view.review(spec, MAY.replace("root", "*"));
    expect([everywhere.status, everywhere.body.status]).to.deep.equal([201, { allowed: true }]);
    expect((await view.review(spec)).body.status.allowed).to.equal(false);
  });

  it("names the error in a spec that asks for nothing or two things, and in metadata", async () => {
    await using view = await start(noting);
    const resourceAttributes = { verb: "get" };
    const messages = await Promise.all(
      [{}, { resourceAttributes, nonResourceAttributes: { verb: "get", path: "/" } }].map(async (spec) => {
        const { status, body } = await view.review(spec);
        return [status, body.message];
      }),
    );
    const kind = 'SelfSubjectAccessReview.authorization.k8s.io "" is invalid';
    expect(messages).to.deep.equal([
      [
        422,
        `${kind}: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified`,
      ],
      [
        422,
        `${kind}: spec.nonResourceAttributes: Invalid value: {"path":"/","verb":"get"}: cannot be specified in combination with resourceAttributes`,
      ],
    ]);
    const named = {
      apiVersion: AUTHZ,
      kind: "SelfSubjectAccessReview",
      metadata: { name: "x" },
      spec: { resourceAttributes },
    };
    const refused = await view.server.send(`POST ${MAY}`, named);
    expect([refused.status, refused.body.details.causes[0].field]).to.deep.equal([422, "metadata"]);
    expect(
      (await view.server.send(`POST ${MAY}`, { apiVersion: AUTHZ, kind: "SelfSubjectAccessReview" })).status,
    ).to.equal(422);
  });

  it("reports that it cannot tell when the rule fails, without the reason", async () => {
    await using view = await start(() => {
      throw new Error("secret");
    });
    const { status, headers, body, text } = await view.review({ resourceAttributes: { verb: "get" } });
    expect([status, body.status.allowed, body.status.denied]).to.deep.equal([201, false, undefined]);
    expect(body.status.evaluationError)
      .to.include(headers["audit-id"])
      .and.to.match(/^authorizer of this view failed/);
    expect(text).not.to.include("secret");
    expectFault(/review failed/);
    await using away = await start(() => {
      throw ApiError.serviceUnavailable("the policy server is away");
    });
    expect(await away.may({ verb: "get" })).to.deep.equal({
      allowed: false,
      evaluationError: "the policy server is away",
    });
  });

  it("of reviews reports their own rule, and denies impersonation", async () => {
    await using view = await start(authenticated());
    await using closed = await start(() => deny("closed"));
    const review = {
      verb: "create",
      group: "authorization.k8s.io",
      version: "v1",
      resource: "selfsubjectaccessreviews",
    };
    expect(await closed.may(review)).to.deep.equal({ allowed: true });
    expect(await closed.may({ ...review, resource: "subjectaccessreviews" })).to.include({ allowed: false });
    expect(await view.may({ verb: "impersonate", resource: "users", name: "bob" })).to.include({ allowed: false });
  });
});

describe("reviews", () => {
  const SPECS: Record<string, object> = {
    [WHO]: { apiVersion: AUTHN, kind: "SelfSubjectReview" },
    [MAY]: {
      apiVersion: AUTHZ,
      kind: "SelfSubjectAccessReview",
      spec: { nonResourceAttributes: { verb: "get", path: "/" } },
    },
    [RULES]: { apiVersion: AUTHZ, kind: "SelfSubjectRulesReview", spec: { namespace: "ns" } },
  };

  it("may be created by all authenticated users, without a call of the view's rule, and by no one else", async () => {
    const asked: string[] = [];
    const rule: Authorizer<Record<string, string>> = ({ resource }) => {
      asked.push(resource);
      return deny("nobody");
    };
    await using view = await start(rule);
    for (const [path, body] of Object.entries(SPECS)) {
      expect((await view.server.send(`POST ${path as "/x"}`, body)).status, path).to.equal(201);
      const stranger = await view.server.send(`POST ${path as "/x"}`, body, { headers: { authorization: "" } });
      expect([stranger.status, stranger.body.reason], path).to.deep.equal([403, "Forbidden"]);
      expect(stranger.body.message).to.match(
        /^selfsubject\w+\.auth\w+\.k8s\.io is forbidden: User "system:anonymous" cannot create resource "selfsubject\w+" in API group "auth\w+\.k8s\.io" at the cluster scope$/,
      );
    }
    expect(asked.filter((resource) => resource.startsWith("selfsubject"))).to.deep.equal([]);
    await using closed = await startPlain([view_()], { authentication: [USERS] });
    expect((await closed.send(`POST ${WHO}`, SPECS[WHO], { headers: { authorization: "" } })).status).to.equal(401);
  });

  const view_ = () => view(() => deny("nobody"));

  it("are only created, and by no other path", async () => {
    await using view = await start(authenticated());
    for (const path of Object.keys(SPECS)) {
      expect((await view.server.get(path)).status, path).to.equal(405);
      expect((await view.server.get(`${path}/x`)).status, path).to.equal(405);
      for (const call of [`POST ${path}/x`, `PUT ${path}/x`, `DELETE ${path}/x`, `PATCH ${path}/x`] as const)
        expect((await view.server.send(call as "GET /", SPECS[path])).status, call).to.equal(405);
      expect((await view.server.send(`POST ${path}/x/status` as "GET /", SPECS[path])).status).to.be.oneOf([404, 405]);
      const inNamespace = path.replace("/v1/", "/v1/namespaces/ns/") as "/x";
      expect((await view.server.send(`POST ${inNamespace}`, SPECS[path])).status).to.equal(404);
    }
  });

  it("are advertised in no document of a view", async () => {
    await using view = await start(authenticated());
    const { text } = await view.server.get(`${BASE}/apis`);
    expect(text).to.include("test.dev").and.not.include('k8s.io/v1"');
    expect((await view.server.get(`${BASE}/openapi/v2`)).text).not.to.include("SelfSubject");
  });

  it("are the view's own if it serves them itself: with its rule and its storage", async () => {
    const Own = defineResource({
      group: "authorization.k8s.io",
      version: "v1",
      kind: "SelfSubjectAccessReview",
      scope: "Cluster",
      spec: { type: "object" },
    });
    const own = [Own.serve({ lifecycle: "storage", create: (_scope, object) => ({ ...object, own: true }) as never })];
    for (const resources of [own, () => own]) {
      await using open = await start(() => allow(), { resources });
      expect((await open.server.send(`POST ${MAY}`, SPECS[MAY])).body.own).to.equal(true);
      expect((await open.server.send(`POST ${WHO}`, SPECS[WHO])).status).to.equal(201);
      await using closed = await start(() => deny("ask Bob"), { resources });
      expect((await closed.server.send(`POST ${MAY}`, SPECS[MAY])).body.message).to.match(/ask Bob$/);
    }
  });

  it("are served as they were authorized, even if the hook returns others a moment later", async () => {
    let calls = 0;
    let kept = 0;
    const Own = defineResource({
      group: "authorization.k8s.io",
      version: "v1",
      kind: "SelfSubjectAccessReview",
      scope: "Cluster",
      spec: { type: "object" },
    });
    const own = [
      Own.serve({
        lifecycle: "storage",
        create: (_scope, object) => {
          kept++;
          return object;
        },
      }),
    ];
    await using view = await start(() => deny("no"), { resources: () => (calls++ === 0 ? [] : own) });
    expect((await view.server.send(`POST ${MAY}`, SPECS[MAY])).status).to.equal(201);
    expect(kept).to.equal(0);
  });

  it("do not reveal a failing hook to callers that the rule denies", async () => {
    const resources = () => {
      throw ApiError.notFoundPath();
    };
    await using closed = await start(() => deny("no"), { resources });
    expect((await closed.server.send(`POST ${WHO}`, SPECS[WHO])).status).to.equal(403);
    await using open = await start(() => allow(), { resources });
    expect((await open.server.send(`POST ${WHO}`, SPECS[WHO])).status).to.equal(404);
  });

  it("go to the raw handler of a view that has one", async () => {
    const handle: VirtualWorkspace["handle"] = (_req, res) => {
      res.end("raw");
    };
    await using view = await start(groups("devs"), { handle });
    expect((await view.server.send(`POST ${WHO}`, SPECS[WHO])).text).to.equal("raw");
    expect((await view.server.send(`POST ${WHO}`, SPECS[WHO], { user: "bob" })).status).to.equal(403);
  });
});

describe("a user without groups", () => {
  it("is not authenticated", () => {
    expect(authenticatedUser({ name: "x" }).in("system:authenticated")).to.equal(true);
    expect(new User({ name: "x" }).in("system:authenticated")).to.equal(false);
  });
});
