// Reviews about other users: the user of a token, and a user's access.
import { type AuthorizeRequest, allow, deny, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { type Answer, outcome } from "../_support/plain.ts";
import { AccountServer, AUTHN, AUTHZ } from "./support/accounts.ts";

describe("TokenReview", () => {
  it("returns the user of a token, in the logical cluster of the review", async () => {
    await using server = await AccountServer.start();
    const token = await server.token("one");
    const { uid } = server.account("one").metadata;
    const status = await server.review(token);
    expect(status).to.deep.include({ authenticated: true, audiences: ["https://kcp.default.svc"] });
    expect(status["user"]).to.deep.include({
      username: "system:serviceaccount:default:builder",
      uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    expect(status["user"])
      .to.have.nested.property("extra.authentication\\.kcp\\.io/cluster-name")
      .that.deep.equals(["one"]);
    expect((await server.review("alice"))["user"]).to.deep.equal({
      username: "alice",
      uid: "17",
      groups: ["system:authenticated"],
    });
  });

  it("checks the requested audiences", async () => {
    await using server = await AccountServer.start();
    const token = await server.token();
    expect(await server.review(token, ["vault"])).to.deep.equal({
      user: {},
      error:
        '[invalid bearer token, token audiences ["https://kcp.default.svc"] is invalid for the target audiences ["vault"]]',
    });
    expect(await server.review("alice", ["vault"])).to.deep.equal({ user: {}, error: "invalid bearer token" });
    expect(await server.review("alice", ["vault", "https://kcp.default.svc"])).to.deep.include({
      authenticated: true,
      audiences: ["https://kcp.default.svc"],
    });
  });

  it("requires a token, and ignores a status from the client", async () => {
    await using server = await AccountServer.start();
    const post = (body: object): Promise<Answer> =>
      server.post(`/apis/${AUTHN}/tokenreviews`, { apiVersion: AUTHN, kind: "TokenReview", ...body });
    expect(outcome(await post({ spec: {} }))).to.deep.equal([
      400,
      "BadRequest",
      "token is required for TokenReview in authentication",
    ]);
    const forged = { authenticated: true, user: { username: "admin" } };
    const { body } = await post({ metadata: { name: "x" }, spec: { token: "nobody" }, status: forged });
    expect(body.status).to.deep.equal({ user: {}, error: "invalid bearer token" });
  });

  it("continues after a failed authenticator, and hides the failure's details", async () => {
    const broken = {
      ...staticTokens({}),
      authenticateToken: (): never => {
        throw new Error("secret place");
      },
    };
    await using server = await AccountServer.start({ authenticators: [broken] });
    expect((await server.review(await server.token()))["authenticated"]).to.equal(true);
    const { error } = await server.review("nobody");
    expect(error).to.match(/^\[invalid bearer token, the review failed: see the server's log for request /);
    expectFault(/secret place/);
  });
});

/** Encodes a field of a protobuf message: a text or a message. */
function field(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}

/** Encodes a body as typed Go clients send it. */
function protobuf(kind: string, ...fields: readonly Buffer[]): string {
  const type = field(1, Buffer.concat([field(1, AUTHZ), field(2, kind)]));
  return Buffer.concat([Buffer.from("k8s\0"), type, field(2, Buffer.concat(fields))]).toString();
}

describe("SubjectAccessReview", () => {
  const asked: AuthorizeRequest[] = [];
  let server: AccountServer;
  const review = (spec: object, more: object = {}): Promise<Answer> =>
    server.post(`/apis/${AUTHZ}/subjectaccessreviews`, {
      apiVersion: AUTHZ,
      kind: "SubjectAccessReview",
      spec,
      ...more,
    });
  const local = (spec: object, more: object = {}): Promise<Answer> =>
    server.post(`/apis/${AUTHZ}/namespaces/prod/localsubjectaccessreviews`, {
      apiVersion: AUTHZ,
      kind: "LocalSubjectAccessReview",
      spec,
      ...more,
    });
  const resourceAttributes = { namespace: "prod", verb: "get", resource: "secrets", name: "x" };

  before(async () => {
    server = await AccountServer.start({
      authorizer: (request) => {
        asked.push(request);
        if (request.verb === "fail") throw new Error("secret rule");
        if (request.verb === "get") return allow();
        return request.verb === "delete" ? { allowed: false, reason: "secret rule", final: true } : deny("secret rule");
      },
    });
  });
  after(() => server[Symbol.asyncDispose]());

  it("checks exactly the given user", async () => {
    const user = { user: "bob", uid: "9", groups: ["devs"], extra: { "example.dev/scopes": ["a", "b"] } };
    const { status, body } = await review({
      ...user,
      resourceAttributes: { ...resourceAttributes, group: "g", version: "v1", subresource: "s" },
    });
    expect([status, body.status]).to.deep.equal([201, { allowed: true, reason: "access granted" }]);
    const { user: whom, params, signal: _, ...info } = asked.at(-1) as AuthorizeRequest;
    expect({ ...whom }).to.deep.equal({ name: "bob", uid: "9", groups: ["devs"], extra: user.extra });
    expect(params).to.deep.equal({ cluster: "one" });
    expect(info).to.deep.include({ isResource: true, verb: "get", group: "g", version: "v1", resource: "secrets" });
    expect(info).to.deep.include({ subresource: "s", namespace: "prod", name: "x" });
    await review({ groups: ["devs"], nonResourceAttributes: { path: "/metrics", verb: "get" } });
    expect(asked.at(-1)).to.deep.include({ isResource: false, verb: "get", path: "/metrics", resource: "" });
  });

  it("decodes protobuf, and never drops extras", async () => {
    const headers = { "content-type": "application/vnd.kubernetes.protobuf" };
    const send = (...spec: readonly Buffer[]): Promise<Answer> =>
      server.post(
        `/apis/${AUTHZ}/subjectaccessreviews`,
        protobuf("SubjectAccessReview", field(2, Buffer.concat(spec))),
        { headers },
      );
    const who = [field(1, Buffer.concat([field(2, "get"), field(5, "secrets")])), field(3, "bob"), field(4, "devs")];
    expect((await send(...who)).body.status).to.deep.equal({ allowed: true, reason: "access granted" });
    expect(asked.at(-1)).to.deep.include({ verb: "get", resource: "secrets" });
    expect(asked.at(-1)?.user).to.deep.include({ name: "bob", groups: ["devs"] });
    const before = asked.length;
    const { status } = await send(...who, field(5, Buffer.concat([field(1, "scopes"), field(2, field(1, "a"))])));
    if (status === 201) expect(asked.at(-1)?.user.extra).to.deep.equal({ scopes: ["a"] });
    else expect([Math.floor(status / 100), asked.length]).to.deep.equal([4, before]);
  });

  it("answers denials with kcp's text, and marks final ones", async () => {
    const of = async (verb: string): Promise<unknown> =>
      (await review({ user: "bob", resourceAttributes: { ...resourceAttributes, verb } })).body.status;
    expect(await of("list")).to.deep.equal({ allowed: false, reason: "access denied" });
    expect(await of("delete")).to.deep.equal({ allowed: false, denied: true, reason: "access denied" });
    expect(await of("fail"))
      .to.have.property("evaluationError")
      .that.matches(/^the review failed: /);
    expectFault(/secret rule/);
  });

  it("rejects invalid reviews with Kubernetes' text", async () => {
    const invalid = (kind: string, ...texts: string[]): unknown[] => {
      const all = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
      return [422, "Invalid", `${kind}.authorization.k8s.io "" is invalid: ${all}`];
    };
    const one = 'spec.user: Invalid value: "": at least one of user or group must be specified';
    const none =
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
    expect(outcome(await review({}))).to.deep.equal(invalid("SubjectAccessReview", none, one));
    const both = { user: "bob", resourceAttributes, nonResourceAttributes: { path: "/", verb: "get" } };
    expect(outcome(await review(both))[2]).to.match(/cannot be specified in combination with resourceAttributes$/);
    expect(outcome(await review({ user: "bob", resourceAttributes }, { metadata: { name: "x" } }))[2]).to.match(
      /metadata: Invalid value: .*must be empty$/,
    );
  });

  it("limits a LocalSubjectAccessReview to its namespace", async () => {
    const spec = { user: "bob", resourceAttributes };
    const granted = await local(spec, { metadata: { namespace: "prod" } });
    expect([granted.status, granted.body.status]).to.deep.equal([201, { allowed: true, reason: "access granted" }]);
    expect(
      outcome(await local({ ...spec, resourceAttributes: { ...resourceAttributes, namespace: "dev" } })),
    ).to.deep.equal([
      422,
      "Invalid",
      'LocalSubjectAccessReview.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "dev": must match metadata.namespace',
    ]);
    expect((await local({ user: "bob", nonResourceAttributes: { path: "/" } })).body.message).to.match(
      /disallowed on this kind of request$/,
    );
    expect((await local(spec, { metadata: { namespace: "dev" } })).status).to.equal(400);
  });
});
