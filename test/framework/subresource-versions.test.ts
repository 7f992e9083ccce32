// One object scaled through two versions of its kind, which have the replicas in different places.
import type { ManagedFieldsEntry } from "@virtual-workspaces/apimachinery";
import { converted, defineResource } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { APPLY, MERGE, machinesView, outcome } from "./machine-fixtures.ts";

const names = { group: "example.dev", kind: "Set", scope: "Cluster" } as const;
const integer = { type: "integer" } as const;
const Sets = defineResource({
  ...names,
  version: "v1",
  spec: { type: "object", properties: { replicas: integer, image: { type: "string" } } },
  subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
});
const NewSets = defineResource({
  ...names,
  version: "v2",
  spec: {
    type: "object",
    properties: { size: { type: "object", properties: { wanted: integer } }, image: { type: "string" } },
  },
  subresources: { scale: { specReplicasPath: ".spec.size.wanted", statusReplicasPath: ".status.size" } },
});

const GROUP = "/services/machines/clusters/root/apis/example.dev";
const set = (spec: object): object => ({ apiVersion: "example.dev/v1", kind: "Set", metadata: { name: "m" }, spec });
const scale = (replicas: number): object => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "m" },
  spec: { replicas },
});

async function start() {
  const sets = Sets.collection();
  const newer = converted({
    from: sets,
    to: NewSets,
    read: ({ spec: { replicas, ...spec } }) => ({
      spec: { ...spec, ...(replicas === undefined ? {} : { size: { wanted: replicas } }) },
    }),
    write: ({ spec: { size, ...spec } }) => ({
      spec: { ...spec, ...(size?.wanted === undefined ? {} : { replicas: size.wanted }) },
    }),
  });
  return startPlain([machinesView([Sets.serve(sets), NewSets.serve(newer)])]);
}

/** Returns the owners of the replicas: `manager version subresource`. */
function owners(body: { metadata: { managedFields: ManagedFieldsEntry[] } }): string[] {
  const all = body.metadata.managedFields.filter(({ fieldsV1 }) =>
    /f:(replicas|wanted)/.test(JSON.stringify(fieldsV1)),
  );
  return all.map(({ manager, apiVersion, subresource = "" }) => `${manager} ${apiVersion} ${subresource}`.trim());
}

describe("/scale of a kind with several versions", () => {
  it("shows and writes the same number in each, where that version has it", async () => {
    await using server = await start();
    await server.send(`POST ${GROUP}/v1/sets`, set({ replicas: 1, image: "x" }));
    expect((await server.get(`${GROUP}/v2/sets/m/scale`)).body.spec).to.deep.equal({ replicas: 1 });
    expect((await server.send(`PATCH ${GROUP}/v2/sets/m/scale`, { spec: { replicas: 2 } }, MERGE)).status).to.equal(
      200,
    );
    expect((await server.get(`${GROUP}/v1/sets/m`)).body.spec).to.deep.equal({ replicas: 2, image: "x" });
    await server.send(`PUT ${GROUP}/v1/sets/m/scale`, scale(3));
    expect((await server.get(`${GROUP}/v2/sets/m`)).body.spec).to.deep.equal({ size: { wanted: 3 }, image: "x" });
  });

  it("knows owners of either version", async () => {
    await using server = await start();
    const query = (manager: string): string => `?fieldManager=${manager}`;
    await server.send(`PATCH ${GROUP}/v1/sets/m${query("ann")}`, set({ replicas: 1, image: "x" }), APPLY);
    const conflict = await server.send(`PATCH ${GROUP}/v2/sets/m/scale${query("hpa")}`, scale(5), APPLY);
    expect(outcome(conflict)).to.deep.equal([
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "ann": .spec.replicas',
    ]);
    await server.send(`PATCH ${GROUP}/v2/sets/m/scale${query("hpa")}&force=true`, scale(5), APPLY);
    const { body } = await server.get(`${GROUP}/v1/sets/m`);
    expect([body.spec.replicas, owners(body)]).to.deep.equal([5, ["hpa example.dev/v2 scale"]]);
    const back = await server.send(
      `PATCH ${GROUP}/v1/sets/m/scale${query("kubectl")}`,
      { spec: { replicas: 6 } },
      MERGE,
    );
    expect(back.status).to.equal(200);
    expect(owners((await server.get(`${GROUP}/v1/sets/m`)).body)).to.deep.equal(["kubectl example.dev/v1 scale"]);
  });
});
