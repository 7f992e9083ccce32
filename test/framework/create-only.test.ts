// Create-only kinds, such as reviews: without a name, some of them namespaced.
import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { outcome, startPlain } from "../_support/plain.ts";

const TokenReview = defineResource({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  scope: "Cluster",
  schema: {
    type: "object",
    required: ["spec"],
    properties: {
      spec: { type: "object", required: ["token"], properties: { token: { type: "string" } } },
      status: { type: "object", properties: { authenticated: { type: "boolean" }, cluster: { type: "string" } } },
    },
  },
  subresources: { status: false },
  protobuf: { 2: { name: "spec", of: { 1: { name: "token" } } } },
});
const LocalReview = defineResource({
  group: "authorization.k8s.io",
  version: "v1",
  kind: "LocalSubjectAccessReview",
  scope: "Namespaced",
  schema: {
    type: "object",
    properties: {
      spec: { type: "object", properties: { user: { type: "string" } } },
      status: { type: "object", properties: { allowed: { type: "boolean" }, reason: { type: "string" } } },
    },
  },
  subresources: { status: false },
});
const BASE = "/services/reviews/clusters/root";
const TOKENS = `/services/reviews/clusters/root/apis/authentication.k8s.io/v1/tokenreviews`;
const LOCAL = `${BASE}/apis/authorization.k8s.io/v1/namespaces/ns/localsubjectaccessreviews`;

function reviews() {
  const admitted: unknown[] = [];
  const view = defineVirtualWorkspace({
    name: "reviews",
    path: "/clusters/:cluster",
    wildcard: true,
    authorize: () => allow(),
    resources: [
      TokenReview.serve(
        {
          lifecycle: "storage",
          create: ({ cluster }, review, { dryRun }) => {
            if (review.spec.token === "bad") throw ApiError.badRequest("token is required");
            return { ...review, status: { authenticated: review.spec.token === "good" && !dryRun, cluster } };
          },
        },
        {
          admit: ({ operation, definition, object }) => void admitted.push([operation, definition.kind, object?.spec]),
        },
      ),
      LocalReview.serve({
        lifecycle: "storage",
        create: ({ namespace }, review) => ({ ...review, status: { allowed: true, reason: namespace } }),
      }),
    ],
  });
  return { view, admitted };
}
const review = (token?: string) => ({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } });

describe("a create-only kind", () => {
  it("needs no name, returns 201 with the result of the storage, and calls admission first", async () => {
    const { view, admitted } = reviews();
    await using server = await startPlain([view]);
    const { status, body } = await server.send(`POST ${TOKENS}`, review("good"));
    expect(status).to.equal(201);
    expect(body.status).to.deep.equal({ authenticated: true, cluster: "root" });
    expect(body.metadata.name).to.equal(undefined);
    expect(admitted).to.deep.equal([["CREATE", "TokenReview", { token: "good" }]]);
    const dry = await server.send(`POST ${TOKENS}?dryRun=All`, review("good"));
    expect(dry.body.status.authenticated).to.equal(false);
    expect(outcome(await server.send(`POST ${TOKENS}`, review("bad")))).to.deep.equal([
      400,
      "BadRequest",
      "token is required",
    ]);
  });

  it("does not report a missing name beside another error", async () => {
    await using server = await startPlain([reviews().view]);
    expect(outcome(await server.send(`POST ${TOKENS}`, review()))).to.deep.equal([
      422,
      "Invalid",
      'TokenReview.authentication.k8s.io "" is invalid: spec.token: Required value',
    ]);
  });

  it("takes the namespace from the URL if it is namespaced", async () => {
    await using server = await startPlain([reviews().view]);
    const local = { apiVersion: "authorization.k8s.io/v1", kind: "LocalSubjectAccessReview", spec: { user: "eve" } };
    const { status, body } = await server.send(`POST ${LOCAL}`, local);
    expect([status, body.status]).to.deep.equal([201, { allowed: true, reason: "ns" }]);
    expect(body.metadata.namespace).to.equal("ns");
    const elsewhere = { ...local, metadata: { namespace: "other" } };
    expect((await server.send(`POST ${LOCAL}`, elsewhere)).status).to.equal(400);
    expect(
      (await server.send(`POST ${BASE}/apis/authorization.k8s.io/v1/localsubjectaccessreviews`, local)).status,
    ).to.equal(404);
  });

  it("is advertised with create only, and supports nothing else", async () => {
    await using server = await startPlain([reviews().view]);
    const { resources } = (await server.get(`${BASE}/apis/authentication.k8s.io/v1`)).body;
    expect(resources).to.have.length(1);
    expect(resources[0]).to.include({ name: "tokenreviews", namespaced: false });
    expect(resources[0].verbs).to.deep.equal(["create"]);
    const { paths } = (await server.get(`${BASE}/openapi/v3/apis/authentication.k8s.io/v1`)).body;
    const own = Object.entries(paths).filter(([path]) => path.endsWith("/tokenreviews"));
    expect(
      own.map(([, methods]) => Object.keys(methods as object).filter((one) => one !== "parameters")),
    ).to.deep.equal([["post"]]);
    for (const call of [`GET ${TOKENS}`, `GET ${TOKENS}?watch=true`, `GET ${TOKENS}/x`, `DELETE ${TOKENS}`] as const)
      expect((await server.send(call)).status, call).to.equal(405);
    expect(
      (
        await server.send(
          `POST /services/reviews/clusters/*/apis/authentication.k8s.io/v1/tokenreviews`,
          review("good"),
        )
      ).status,
    ).to.equal(405);
  });

  it("accepts protobuf, which typed Go clients send", async () => {
    await using server = await startPlain([reviews().view]);
    const text = (number: number, value: string | Buffer): Buffer =>
      Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), Buffer.from(value)]);
    const type = Buffer.concat([text(1, "authentication.k8s.io/v1"), text(2, "TokenReview")]);
    const raw = text(2, text(1, "good"));
    const body = Buffer.concat([Buffer.from("k8s\0"), text(1, type), text(2, raw)]);
    const headers = { authorization: "Bearer alice", "content-type": "application/vnd.kubernetes.protobuf" };
    const answer = await fetch(server.url + TOKENS, { method: "POST", headers, body });
    expect(answer.status).to.equal(201);
    expect(((await answer.json()) as { status: object }).status).to.include({ authenticated: true });
  });
});
