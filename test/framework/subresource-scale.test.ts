// `/scale`, beyond the comparison of the differential suite with Kubernetes' own server.
import type { ManagedFieldsEntry } from "@virtual-workspaces/apimachinery";
import { defineResource } from "@virtual-workspaces/framework";
import type { ScalePaths } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import {
  APPLY,
  JSON_PATCH,
  MACHINES,
  Machine,
  MERGE,
  machine,
  machinesView,
  outcome,
  startMachine,
  startMachines,
} from "./machine-fixtures.ts";

interface Row {
  readonly spec: object;
  readonly metadata: { labels?: object };
}

const SCALE = `${MACHINES}/m/scale`;

const scale = (replicas: unknown, metadata: object = {}): object => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "m", ...metadata },
  spec: { replicas },
});

/** Returns the owners of the replicas, as `manager operation subresource`. */
function ownersOfReplicas(body: { metadata: { managedFields: ManagedFieldsEntry[] } }): string[] {
  const owners = body.metadata.managedFields.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes("f:replicas"));
  return owners.map(({ manager, operation, subresource = "" }) => `${manager} ${operation} ${subresource}`.trim());
}

describe("/scale", () => {
  it("shows the existing and the desired replicas, and their label selector", async () => {
    await using server = await startMachine();
    await server.send(`PATCH ${MACHINES}/m/status`, { status: { replicas: 3, selector: "app=m" } }, MERGE);
    const { body } = await server.get(SCALE);
    const { uid, creationTimestamp, resourceVersion } = (await server.get(`${MACHINES}/m`)).body.metadata;
    expect(body).to.deep.equal({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: { name: "m", namespace: "ns", uid, resourceVersion, creationTimestamp },
      spec: { replicas: 1 },
      status: { replicas: 3, selector: "app=m" },
    });
  });

  it("calls admit for the object, whose replicas alone it may change", async () => {
    const hooks: Record<string, (object: Row) => unknown> = {
      "returns another": (object) => ({ ...object, spec: { replicas: 7, image: "theirs" }, status: { replicas: 9 } }),
      "changes it in place": (object) => {
        Object.assign(object.spec, { replicas: 7, image: "theirs" });
        object.metadata.labels = { a: "b" };
      },
      "asks for another number by the way": (object) => ({ ...object, spec: { ...object.spec, replicas: 7 } }),
    };
    for (const [what, hook] of Object.entries(hooks)) {
      const admit = ({ object, subresource }: { object: Row; subresource: string }) =>
        subresource === "scale" ? hook(object) : undefined;
      await using server = await startMachines({ admit: admit as never });
      await server.send(`POST ${MACHINES}`, machine({ spec: { replicas: 1, image: "ours" } }));
      await server.send(`PATCH ${SCALE}`, { spec: { replicas: 3 } }, MERGE);
      const { spec, status, metadata } = (await server.get(`${MACHINES}/m`)).body;
      expect({ spec, status, labels: metadata.labels }, what).to.deep.equal({
        spec: { replicas: 7, image: "ours" },
        status: undefined,
        labels: undefined,
      });
    }
  });

  it("is returned as a Table, as metadata and as YAML", async () => {
    await using server = await startMachine();
    const as = (what: string) => ({ headers: { accept: `application/json;as=${what};g=meta.k8s.io;v=v1` } });
    const table = (await server.get(SCALE, as("Table"))).body;
    expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).to.deep.equal([
      "Name",
      "Desired",
      "Available",
      "Age",
    ]);
    expect(table.rows[0].cells.slice(0, 3)).to.deep.equal(["m", 1, 0]);
    expect((await server.get(SCALE, as("PartialObjectMetadata"))).body.metadata.name).to.equal("m");
    const yaml = await server.get(SCALE, { headers: { accept: "application/yaml" } });
    expect(yaml.text).to.include("kind: Scale\n").and.include("  replicas: 1\n");
  });

  it("accepts all kinds of writes, which increment the generation and change nothing else", async () => {
    await using server = await startMachine({ spec: { replicas: 1, image: "x" } });
    const answers = [
      await server.send(`PUT ${SCALE}`, { ...scale(2), status: { replicas: 9 } }),
      await server.send(`PATCH ${SCALE}`, { spec: { replicas: 3 } }, MERGE),
      await server.send(`PATCH ${SCALE}`, [{ op: "replace", path: "/spec/replicas", value: 4 }], JSON_PATCH),
      await server.send(`PATCH ${SCALE}?fieldManager=hpa&force=true`, scale(5), APPLY),
    ];
    expect(answers.map(({ body }) => [body.kind, body.spec, body.status])).to.deep.equal(
      [2, 3, 4, 5].map((replicas) => ["Scale", { replicas }, { replicas: 0 }]),
    );
    const { spec, metadata, status } = (await server.get(`${MACHINES}/m`)).body;
    expect([spec, metadata.generation, status]).to.deep.equal([{ replicas: 5, image: "x" }, 5, undefined]);
  });

  it("shows the owners of the replicas, in the Scale and in the object", async () => {
    await using server = await startMachine();
    const owners = async (): Promise<string[]> => ownersOfReplicas((await server.get(`${MACHINES}/m`)).body);
    expect(await owners()).to.deep.equal(["unknown Update"]);
    await server.send(`PATCH ${SCALE}?fieldManager=kubectl`, { spec: { replicas: 2 } }, MERGE);
    expect(await owners()).to.deep.equal(["kubectl Update scale"]);
    const conflict = await server.send(`PATCH ${SCALE}?fieldManager=hpa`, scale(3), APPLY);
    expect(outcome(conflict)).to.deep.equal([
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using autoscaling/v1: .spec.replicas',
    ]);
    await server.send(`PATCH ${SCALE}?fieldManager=hpa&force=true`, scale(3), APPLY);
    expect(await owners()).to.deep.equal(["hpa Apply scale"]);
    // An apply of the object conflicts with the owner under the object's own version.
    const mine = await server.send(`PATCH ${MACHINES}/m?fieldManager=me`, machine({ spec: { replicas: 4 } }), APPLY);
    expect(mine.body.message).to.equal(
      'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale": .spec.replicas',
    );
    await server.send(`PATCH ${SCALE}?fieldManager=hpa`, scale(7), APPLY);
    expect((await server.get(SCALE)).body.spec.replicas).to.equal(7);
    // A manager that wants the same value shares the field.
    await server.send(`PATCH ${MACHINES}/m?fieldManager=me`, machine({ spec: { replicas: 7 } }), APPLY);
    expect(await owners()).to.have.members(["hpa Apply scale", "me Apply"]);
  });

  it("checks a version and a uid that are given, and otherwise none", async () => {
    await using server = await startMachine();
    const { uid, resourceVersion } = server.made.body.metadata;
    expect((await server.send(`PUT ${SCALE}`, scale(2, { uid, resourceVersion }))).status).to.equal(200);
    const stale = await server.send(`PUT ${SCALE}`, scale(3, { resourceVersion }));
    expect(outcome(stale).slice(0, 2)).to.deep.equal([409, "Conflict"]);
    const patched = await server.send(
      `PATCH ${SCALE}`,
      { metadata: { resourceVersion }, spec: { replicas: 3 } },
      MERGE,
    );
    expect(patched.status).to.equal(409);
    const other = await server.send(`PUT ${SCALE}`, scale(3, { uid: "other" }));
    expect(other.body.message).to.include("Precondition failed: UID in precondition: other");
    expect((await server.send(`PUT ${SCALE}`, scale(3))).status).to.equal(200);
    const many = Array.from({ length: 20 }, (_, at) =>
      server.send(`PATCH ${SCALE}`, { spec: { replicas: at + 1 } }, MERGE),
    );
    expect((await Promise.all(many)).map(({ status }) => status)).to.deep.equal(many.map(() => 200));
  });

  it("rejects anything but a Scale of this object, and names the field", async () => {
    await using server = await startMachine();
    const refused: readonly (readonly [object | string, number, string])[] = [
      [scale("many"), 400, "spec.replicas must be an integer of 32 bits"],
      [scale(2 ** 31), 400, "spec.replicas must be an integer of 32 bits"],
      [scale(1.5), 400, "spec.replicas must be an integer of 32 bits"],
      [scale(2 ** 53 * 1024), 400, "spec.replicas must be an integer of 32 bits"],
      [{ ...scale(1), spec: [] }, 400, "spec must be an object"],
      [{ ...scale(1), status: { selector: 1 } }, 400, "status.selector must be a string"],
      [
        machine(),
        400,
        'no kind "Machine" is registered for version "example.dev/v1" here: it must be Scale of autoscaling/v1',
      ],
      [{ ...scale(1), kind: 5 }, 400, "it must be Scale"],
      [scale(1, { name: "other" }), 400, "does not match the name on the URL"],
      [scale(1, { namespace: "other" }), 400, "does not match the namespace"],
      ["[]", 400, "must be an object"],
      [scale(-1), 422, ".spec.replicas: Invalid value: -1: should be a non-negative integer"],
      [scale(101), 422, "spec.replicas in body should be less than or equal to 100"],
    ];
    for (const [body, code, message] of refused) {
      const answer = await server.send(`PUT ${SCALE}`, body);
      expect([answer.status, answer.body.message], JSON.stringify(body)).to.satisfy(
        ([status, text]: [number, string]) => status === code && text.includes(message),
      );
    }
    const patch = await server.send(`PATCH ${SCALE}`, { spec: { replicas: "many" } }, MERGE);
    expect(outcome(patch).slice(0, 2)).to.deep.equal([422, "Invalid"]);
    expect((await server.get(SCALE)).body.spec.replicas).to.equal(1);
  });

  it("warns of unknown fields, or rejects them", async () => {
    await using server = await startMachine();
    const odd = { ...scale(2), spec: { replicas: 2, wish: 1 }, extra: 1, metadata: { name: "m", nmae: "m" } };
    const warned = await server.send(`PUT ${SCALE}`, odd);
    expect(warned.headers["warning"]).to.equal(
      ["extra", "metadata.nmae", "spec.wish"].map((field) => `299 - "unknown field \\"${field}\\""`).join(", "),
    );
    for (const [call, body, options] of [
      ["PUT", odd, {}],
      ["PATCH", { spec: { wish: 1 } }, MERGE],
    ] as const)
      expect((await server.send(`${call} ${SCALE}?fieldValidation=Strict`, body, options)).body.message).to.include(
        'unknown field "spec.wish"',
      );
  });

  it("stores nothing in a dry run", async () => {
    await using server = await startMachine();
    for (const [call, body, options] of [
      ["PUT", scale(9), {}],
      ["PATCH", { spec: { replicas: 9 } }, MERGE],
    ] as const)
      expect((await server.send(`${call} ${SCALE}?dryRun=All`, body, options)).body.spec).to.deep.equal({
        replicas: 9,
      });
    expect((await server.get(SCALE)).body.spec).to.deep.equal({ replicas: 1 });
  });

  it("of an object without replicas is an error until they are set", async () => {
    await using server = await startMachine({ spec: {} });
    const message = 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist';
    expect(outcome(await server.get(SCALE))).to.deep.equal([500, "InternalError", message]);
    const empty = await server.send(`PATCH ${SCALE}`, { metadata: { labels: { a: "b" } } }, MERGE);
    expect(outcome(empty)).to.deep.equal([
      400,
      "BadRequest",
      'the spec replicas field ".spec.replicas" cannot be empty',
    ]);
    expect((await server.send(`PATCH ${SCALE}`, { spec: { replicas: 2 } }, MERGE)).body.spec).to.deep.equal({
      replicas: 2,
    });
  });

  it("of an object with another value in that field names it", async () => {
    const object = machine({ spec: { replicas: "many" } }, { namespace: "ns" });
    await using server = await startPlain([machinesView([Machine.serve({ get: () => object } as never)])]);
    expect((await server.get(SCALE)).body.message).to.equal(
      "Internal error occurred: .spec.replicas accessor error: many is of the type string, expected int64",
    );
  });

  it("is checked with every write of the object", async () => {
    await using server = await startMachines();
    const answer = await server.send(`POST ${MACHINES}`, machine({ spec: { replicas: -1 } }));
    expect(outcome(answer)).to.deep.equal([
      422,
      "Invalid",
      'Machine.example.dev "m" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer',
    ]);
    await server.send(`POST ${MACHINES}`, machine());
    const status = await server.send(`PATCH ${MACHINES}/m/status`, { status: { replicas: 2 ** 31 } }, MERGE);
    expect(status.body.message).to.include(
      ".status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647",
    );
  });

  it("is 404 where it does not exist, 405 for other verbs", async () => {
    await using server = await startMachines();
    for (const answer of [
      await server.get(SCALE),
      await server.send(`PUT ${SCALE}`, scale(1)),
      await server.send(`PATCH ${SCALE}?fieldManager=m`, scale(1), APPLY),
    ])
      expect(outcome(answer)).to.deep.equal([404, "NotFound", 'machines.example.dev "m" not found']);
    for (const method of ["POST", "DELETE"])
      expect((await server.send(`${method} ${SCALE}`, {})).status, method).to.equal(405);
    const strategic = { headers: { "content-type": "application/strategic-merge-patch+json" } };
    expect((await server.send(`PATCH ${SCALE}`, {}, strategic)).status).to.equal(415);
  });
});

describe("paths of a scale", () => {
  const names = { group: "g.dev", version: "v1", kind: "Set", scope: "Cluster" } as const;
  const define = (scale: ScalePaths) => defineResource({ ...names, spec, subresources: { scale } });
  const inner = { type: "object", properties: { b: { type: "integer" } } } as const;
  const spec = { type: "object", properties: { a: inner, d: { type: "string" } } } as const;
  const good = { specReplicasPath: ".spec.a.b", statusReplicasPath: ".status.c", labelSelectorPath: ".spec.d" };

  it("may be anywhere below spec and status, where they are created", async () => {
    const Sets = define(good);
    const sets = Sets.collection();
    sets.in("root").set("m", {});
    await using server = await startPlain([machinesView([Sets.serve(sets)])]);
    const path = "/services/machines/clusters/root/apis/g.dev/v1/sets/m/scale";
    expect((await server.send(`PUT ${path}`, scale(3))).body.metadata).not.to.have.property("namespace");
    expect((await server.get(path)).body.spec).to.deep.equal({ replicas: 3 });
  });

  for (const [option, path, under] of [
    ["specReplicasPath", "", ".spec"],
    ["specReplicasPath", "spec.replicas", ".spec"],
    ["specReplicasPath", ".spec", ".spec"],
    ["specReplicasPath", ".status.replicas", ".spec"],
    ["specReplicasPath", ".spec.a[0]", ".spec"],
    ["specReplicasPath", ".spec..a", ".spec"],
    ["statusReplicasPath", ".spec.replicas", ".status"],
    ["labelSelectorPath", ".metadata.labels", ".spec or .status"],
  ] as const)
    it(`are rejected at definition: ${option} ${JSON.stringify(path)}`, () => {
      expect(() => define({ ...good, [option]: path })).to.throw(
        `Set: subresources.scale.${option} ${JSON.stringify(path)} must be a path of plain names under ${under}`,
      );
    });

  for (const path of [".spec.replicas", ".spec.a", ".spec.a.b.c", ".spec.d"])
    it(`are rejected at definition where the schema has no integer: ${path}`, () => {
      expect(() => define({ ...good, specReplicasPath: path })).to.throw(
        `Set: subresources.scale.specReplicasPath "${path}" must lead to an integer of the schema`,
      );
    });

  it("may be where the schema allows anything", () => {
    for (const open of [
      { "x-kubernetes-preserve-unknown-fields": true },
      { additionalProperties: true },
      { additionalProperties: { type: "object", additionalProperties: { type: "integer" } } },
    ] as const)
      expect(() =>
        defineResource({ ...names, spec: { type: "object", ...open }, subresources: { scale: good } }),
      ).not.to.throw();
  });
});
