// `/status`, beyond the comparison of the differential suite with Kubernetes' own server.
import type { ManagedFieldsEntry } from "@virtual-workspaces/apimachinery";
import { type Admit, defineResource } from "@virtual-workspaces/framework";
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

const STATUS = `${MACHINES}/m/status`;

/** Returns the owners of fields, as `manager operation subresource`. */
function managers(body: { metadata: { managedFields?: ManagedFieldsEntry[] } }): string[] {
  const { managedFields = [] } = body.metadata;
  return managedFields.map(({ manager, operation, subresource = "" }) =>
    `${manager} ${operation} ${subresource}`.trim(),
  );
}

describe("/status", () => {
  it("is written separately, by every kind of write, and writes nothing else", async () => {
    await using server = await startMachine({ spec: { replicas: 1 }, status: { phase: "Running" } });
    expect(server.made.body).not.to.have.property("status");
    const content = { spec: { replicas: 50 }, status: { phase: "Running" } };
    const changed = { ...server.made.body, ...content };
    changed.metadata = { ...changed.metadata, labels: { a: "b" }, finalizers: ["example.dev/x"] };
    const answers = [
      await server.send(`PUT ${STATUS}`, changed),
      await server.send(`PATCH ${STATUS}`, { ...content, status: { replicas: 2 } }, MERGE),
      await server.send(`PATCH ${STATUS}`, [{ op: "add", path: "/status/replicas", value: 3 }], JSON_PATCH),
      await server.send(
        `PATCH ${STATUS}?fieldManager=m`,
        machine({ spec: { replicas: 9 }, status: { selector: "a=b" } }, { labels: { c: "d" } }),
        APPLY,
      ),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    const { metadata, spec, status } = (await server.get(STATUS)).body;
    expect({ spec, status }).to.deep.equal({
      spec: { replicas: 1, image: "none" },
      status: { phase: "Running", replicas: 3, selector: "a=b" },
    });
    expect(metadata).to.include({ generation: 1 }).and.not.have.any.keys("labels", "finalizers");
    expect(managers({ metadata })).to.have.members(["m Apply status", "unknown Update", "unknown Update status"]);
  });

  it("is kept by writes of the rest, which increment the generation", async () => {
    await using server = await startMachine();
    await server.send(`PATCH ${STATUS}`, { status: { phase: "Running" } }, MERGE);
    const { body } = await server.send(`PATCH ${MACHINES}/m`, { spec: { replicas: 2 }, status: null }, MERGE);
    expect([body.status, body.metadata.generation]).to.deep.equal([{ phase: "Running" }, 2]);
    const applied = await server.send(
      `PATCH ${MACHINES}/m?fieldManager=m`,
      machine({ status: { phase: "Pending" } }),
      APPLY,
    );
    expect(applied.body.status).to.deep.equal({ phase: "Running" });
  });

  it("does not create: a missing object is 404, also for an apply", async () => {
    await using server = await startMachines();
    const body = machine({ status: { phase: "Running" } });
    const answers = [
      await server.get(STATUS),
      await server.send(`PUT ${STATUS}`, body),
      await server.send(`PATCH ${STATUS}`, body, MERGE),
      await server.send(`PATCH ${STATUS}?fieldManager=m`, body, APPLY),
    ];
    for (const answer of answers)
      expect(outcome(answer)).to.deep.equal([404, "NotFound", 'machines.example.dev "m" not found']);
  });

  it("is validated separately from errors in the rest", async () => {
    const machines = Machine.collection();
    await using server = await startPlain([machinesView([Machine.serve(machines)])]);
    machines.in("root", "ns").set("m", { replicas: 1000 });
    const good = await server.send(`PATCH ${STATUS}`, { status: { phase: "Running" } }, MERGE);
    expect(good.status).to.equal(200);
    const bad = await server.send(`PATCH ${STATUS}`, { status: { phase: "Dancing" } }, MERGE);
    expect(outcome(bad)).to.deep.equal([
      422,
      "Invalid",
      'Machine.example.dev "m" is invalid: status.phase: Unsupported value: "Dancing": supported values: "Pending", "Running"',
    ]);
  });

  it("is all that hooks can change too, whether they return an object or change their argument", async () => {
    const labels = { a: "b" };
    let asked = 0;
    const content = () => ({ spec: { replicas: 50 }, status: { replicas: ++asked } });
    const hooks: Record<string, Admit> = {
      return: ({ object }) => object && { ...object, ...content(), metadata: { ...object.metadata, labels } },
      change: ({ object, oldObject }) => {
        const { spec, status } = content();
        for (const shown of [object, oldObject]) {
          Object.assign(shown?.["spec"] ?? {}, spec);
          Object.assign(shown?.["status"] ?? {}, status);
          Object.assign(shown?.metadata ?? {}, { labels });
        }
      },
    };
    for (const [what, admit] of Object.entries(hooks)) {
      await using server = await startMachines({ admit: admit as never });
      server.machines.in("root", "ns").set("m", { replicas: 1 });
      asked = 0;
      await server.send(`PATCH ${STATUS}`, { status: { phase: "Pending" } }, MERGE);
      const { body } = await server.send(`PATCH ${STATUS}`, { status: { phase: "Running" } }, MERGE);
      expect(body.metadata, what).not.to.have.property("labels");
      expect([body.spec, body.status.replicas], what).to.deep.equal([{ replicas: 1 }, 2]);
      const rest = await server.send(`PATCH ${MACHINES}/m`, { spec: { image: "x" } }, MERGE);
      expect(rest.body.status, what).to.deep.equal(body.status);
      expect([rest.body.spec.replicas, rest.body.metadata.labels, asked], what).to.deep.equal([50, labels, 3]);
    }
  });

  it("supports no other verbs, and fewer with narrowed verbs", async () => {
    await using server = await startMachine();
    for (const method of ["POST", "DELETE"])
      expect((await server.send(`${method} ${STATUS}`, {})).status, method).to.equal(405);
    expect((await server.get(`${MACHINES}/status`)).status).to.equal(404);
    const watched = STATUS.replace("/namespaces", "/watch/namespaces");
    expect((await server.get(watched)).status).to.equal(405);
    await using reading = await startMachines({ verbs: ["get", "list"] });
    reading.machines.in("root", "ns").set("m", {});
    expect((await reading.get(STATUS)).status).to.equal(200);
    expect((await reading.send(`PATCH ${STATUS}`, {}, MERGE)).status).to.equal(405);
  });

  it("has verbs of its own with statusVerbs, for clients that report status and change nothing else", async () => {
    const reporting = { verbs: ["get", "list", "watch"], statusVerbs: ["get", "patch", "update"] } as const;
    await using server = await startMachines(reporting);
    server.machines.in("root", "ns").set("m", {});
    const told = await server.get(MACHINES.slice(0, MACHINES.indexOf("/namespaces")));
    expect(
      told.body.resources.map(({ name, verbs }: { name: string; verbs: string[] }) => [name, verbs]),
    ).to.deep.include.members([
      ["machines", ["get", "list", "watch"]],
      ["machines/status", ["get", "patch", "update"]],
    ]);
    const change = { spec: { replicas: 7 }, status: { replicas: 3 } };
    const { status, body } = await server.send(`PATCH ${STATUS}`, change, MERGE);
    expect([status, body.spec?.replicas, body.status]).to.deep.equal([200, undefined, { replicas: 3 }]);
    const main = `${MACHINES}/m` as const;
    for (const call of [
      `PATCH ${main}`,
      `PUT ${main}`,
      `DELETE ${main}`,
      `DELETE ${MACHINES}`,
      `POST ${MACHINES}`,
    ] as const)
      expect((await server.send(call, change, MERGE)).status, call).to.equal(405);
    await using without = await startMachines({ verbs: ["get", "patch"], statusVerbs: [] });
    expect((await without.get(STATUS)).status).to.equal(404);
    const reads = { resource: Machine, get: () => undefined };
    expect(() => Machine.serve(reads as never, { statusVerbs: ["patch"] })).to.throw("its storage cannot patch");
  });

  it("does not exist for a kind without it", async () => {
    const Bare = defineResource({
      group: "example.dev",
      version: "v1",
      kind: "Machine",
      scope: "Namespaced",
      spec: { type: "object" },
    });
    const bare = Bare.collection();
    bare.in("root", "ns").set("m", {});
    await using server = await startPlain([machinesView([Bare.serve(bare)])]);
    expect((await server.get(STATUS)).status).to.equal(404);
  });
});

describe("a storage that applies patches itself", () => {
  it("receives patches of the status as such", async () => {
    const told: unknown[] = [];
    const object = () => machine({}, { name: "m", namespace: "ns", resourceVersion: "1" }) as never;
    const storage = {
      lifecycle: "storage",
      get: object,
      patch: (_scope: unknown, _key: unknown, { subresource, contentType }: Record<string, unknown>) => {
        told.push([subresource, contentType]);
        return { object: object() };
      },
    } as const;
    await using server = await startPlain([machinesView([Machine.serve(storage as never)])]);
    await server.send(`PATCH ${STATUS}`, {}, MERGE);
    await server.send(`PATCH ${MACHINES}/m`, {}, MERGE);
    expect(told).to.deep.equal([
      ["status", "application/merge-patch+json"],
      [undefined, "application/merge-patch+json"],
    ]);
    // The storage cannot patch a Scale.
    expect((await server.send(`PATCH ${MACHINES}/m/scale`, {}, MERGE)).status).to.equal(405);
  });
});
