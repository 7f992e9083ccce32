// Subresources with a kind of their own, as evictions and tokens.
import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { allow, type Collection, defineResource, deny } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { MACHINES, Machine, machinesView, outcome } from "./machine-fixtures.ts";

const Approval = defineResource({
  group: "approval.dev",
  version: "v2",
  kind: "Approval",
  scope: "Namespaced",
  spec: {
    type: "object",
    required: ["by"],
    properties: { by: { type: "string", maxLength: 5 }, weight: { type: "integer", default: 1 } },
  },
  status: { type: "object", properties: { count: { type: "integer" } } },
});

const APPROVE = `${MACHINES}/m/approve`;
const approval = (spec: object = { by: "ann" }, metadata: object = {}): object => ({
  apiVersion: "approval.dev/v2",
  kind: "Approval",
  metadata,
  spec,
});

interface Started extends PlainServer {
  readonly machines: Collection<{ spec: { image?: string; replicas?: number } }>;
  /** Input of the handlers, without the parts that belong to the request. */
  readonly told: unknown[];
}

async function start(): Promise<Started> {
  const machines = Machine.collection();
  machines.in("root", "ns").set("m", { image: "x" });
  const told: unknown[] = [];
  const resource = Machine.serve(machines, {
    subresources: {
      approve: {
        kind: Approval,
        get: ({ object }) => (object.spec.image === "x" ? { spec: { by: "nobody" }, status: { count: 0 } } : undefined),
        create: ({ body, object, key, user, dryRun, fieldManager, warn }) => {
          told.push({ body, image: object.spec.image, key, user: user.name, dryRun, fieldManager });
          if (body.spec.by === "eve")
            throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: "not eve" });
          warn("approved");
          return { spec: body.spec, status: { count: 1 }, metadata: { name: "m", labels: { a: "b" } } };
        },
        update: ({ body }) => body,
      },
      stop: {
        kind: Approval,
        create: ({ dryRun, key }) => {
          if (!dryRun) machines.in("root", "ns").set(key.name, { replicas: 0 });
        },
      },
      order: {
        kind: Approval,
        object: "unread",
        create: ({ key, object }) => ({ spec: { by: `${key.name} ${object}`.slice(0, 5) } }),
      },
    },
  });
  const authorize = ({ subresource, verb, user }: { subresource: string; verb: string; user: { name: string } }) =>
    user.name === "bob" && (subresource === "approve" || verb === "update") ? deny("not bob") : allow();
  const server = await startPlain([machinesView([resource], authorize)]);
  return Object.assign(server, { machines, told });
}

describe("a subresource with a kind of its own", () => {
  it("handles create with a valid, complete body, and is answered with the kind", async () => {
    await using server = await start();
    const { status, body, headers } = await server.send(
      `POST ${APPROVE}?dryRun=All&fieldManager=me`,
      approval({ by: "ann", wish: 1 }),
    );
    expect(status).to.equal(201);
    expect(headers["warning"]).to.equal('299 - "unknown field \\"spec.wish\\"", 299 - "approved"');
    const type = { apiVersion: "approval.dev/v2", kind: "Approval" };
    const spec = { by: "ann", weight: 1 };
    expect(body).to.deep.equal({
      ...type,
      metadata: { name: "m", namespace: "ns", labels: { a: "b" } },
      spec,
      status: { count: 1 },
    });
    expect(server.told).to.deep.equal([
      {
        body: { ...type, metadata: { name: "m", namespace: "ns" }, spec },
        image: "x",
        key: { cluster: "root", namespace: "ns", name: "m" },
        user: "alice",
        dryRun: true,
        fieldManager: "me",
      },
    ]);
  });

  it("never sends more warnings than a client accepts, including its handler's", async () => {
    await using server = await start();
    const wishes = Array.from({ length: 20 }, (_, at) => [`wish${at}${"x".repeat(300)}`, at]);
    const { status, headers } = await server.send(
      `POST ${APPROVE}`,
      approval({ by: "ann", ...Object.fromEntries(wishes) }),
    );
    expect(status).to.equal(201);
    expect(String(headers["warning"]).split(", ").at(-1)).to.include("unknown field").and.to.have.length.below(300);
  });

  it("is read and replaced", async () => {
    await using server = await start();
    const got = await server.get(APPROVE);
    expect([got.status, got.body.kind, got.body.status]).to.deep.equal([200, "Approval", { count: 0 }]);
    const put = await server.send(`PUT ${APPROVE}`, approval({ by: "ann", weight: 2 }));
    expect([put.status, put.body.spec]).to.deep.equal([200, { by: "ann", weight: 2 }]);
    server.machines.in("root", "ns").set("m", { image: "y" });
    expect(outcome(await server.get(APPROVE))).to.deep.equal([404, "NotFound", 'machines.example.dev "m" not found']);
  });

  it("is returned as a Table, as metadata and as YAML, and accepted as YAML", async () => {
    await using server = await start();
    const as = (what: string) => ({ headers: { accept: `application/json;as=${what};g=meta.k8s.io;v=v1` } });
    expect((await server.get(APPROVE, as("Table"))).body.rows[0].cells[0]).to.equal("m");
    expect((await server.get(APPROVE, as("PartialObjectMetadata"))).body.kind).to.equal("PartialObjectMetadata");
    const headers = { accept: "application/yaml", "content-type": "application/yaml" };
    const yaml = await server.send(`POST ${APPROVE}`, "spec: {by: ann}", { headers });
    expect(yaml.text).to.include("kind: Approval\n").and.include("  count: 1\n");
  });

  it("without a result is answered with a Status", async () => {
    await using server = await start();
    const dry = await server.send(`POST ${MACHINES}/m/stop?dryRun=All`, approval());
    expect((await server.get(`${MACHINES}/m`)).body.spec).to.deep.equal({ image: "x" });
    const { status, body } = await server.send(`POST ${MACHINES}/m/stop`, approval());
    expect([dry.status, status]).to.deep.equal([201, 201]);
    expect(body).to.deep.equal({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: { name: "m", group: "example.dev", kind: "machines" },
    });
    expect((await server.get(`${MACHINES}/m`)).body.spec).to.deep.equal({ replicas: 0 });
  });

  it("is not called for another kind, an invalid body, or another object", async () => {
    await using server = await start();
    const refused: readonly (readonly [object | string, number, string])[] = [
      [approval({}), 422, 'Approval.approval.dev "m" is invalid: spec.by: Required value'],
      [approval({ by: "beatrice" }), 422, "spec.by: Too long: may not be more than 5 bytes"],
      [{ ...approval(), kind: "Machine" }, 400, "it must be Approval of approval.dev/v2"],
      [{ ...approval(), apiVersion: "example.dev/v1" }, 400, "it must be Approval of approval.dev/v2"],
      [approval({ by: "ann" }, { name: "other" }), 400, "does not match the name on the URL"],
      [approval({ by: "ann" }, { namespace: "other" }), 400, "does not match the namespace"],
      [approval({ by: "ann" }, { labels: 1 }), 400, "metadata.labels must be a map of strings"],
      ["[]", 400, "must be an object"],
      ["{", 400, ""],
    ];
    for (const [body, code, message] of refused) {
      const answer = await server.send(`POST ${APPROVE}`, body);
      expect([answer.status, answer.body.message], JSON.stringify(body)).to.satisfy(
        ([status, text]: [number, string]) => status === code && text.includes(message),
      );
    }
    const strict = await server.send(`POST ${APPROVE}?fieldValidation=Strict`, approval({ by: "ann", wish: 1 }));
    expect(strict.body.message).to.include('strict decoding error: unknown field "spec.wish"');
    const xml = { headers: { "content-type": "application/xml" } };
    expect((await server.send(`POST ${APPROVE}`, "<a/>", xml)).status).to.equal(415);
    expect((await server.send(`POST ${APPROVE}`, " ".repeat(4 * 2 ** 20))).status).to.equal(413);
    const huge = { headers: { accept: "application/vnd.kubernetes.protobuf" } };
    expect((await server.send(`POST ${APPROVE}`, approval(), huge)).status).to.equal(406);
    expect(server.told).to.deep.equal([]);
  });

  it("is not called when the caller may not use it", async () => {
    await using server = await start();
    const denied = await server.send(`POST ${APPROVE}`, approval(), { user: "bob" });
    expect(denied.body.message).to.include(
      'User "bob" cannot create resource "machines/approve" in API group "example.dev" in the namespace "ns": not bob',
    );
    expect([denied.status, server.told]).to.deep.equal([403, []]);
  });

  it("of a missing object is 404, unless it checks itself; other verbs are 405", async () => {
    await using server = await start();
    const missing = await server.send(`POST ${MACHINES}/n/approve`, approval());
    expect(outcome(missing)).to.deep.equal([404, "NotFound", 'machines.example.dev "n" not found']);
    const order = await server.send(`POST ${MACHINES}/n/order`, approval());
    expect((order.body as KubeObject)["spec"]).to.deep.equal({ by: "n und" });
    for (const call of [
      `PATCH ${APPROVE}`,
      `DELETE ${APPROVE}`,
      `GET ${MACHINES}/m/stop`,
      `PUT ${MACHINES}/m/stop`,
    ] as const)
      expect((await server.send(call, {})).status, call).to.equal(405);
  });

  it("is answered with the error that its handler throws", async () => {
    await using server = await start();
    const refused = await server.send(`POST ${APPROVE}`, approval({ by: "eve" }));
    expect(outcome(refused)).to.deep.equal([403, "Forbidden", "forbidden: not eve"]);
  });
});
