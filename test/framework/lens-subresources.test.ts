// Subresources of a writable view: written through it into its source.
import { defineResource, view } from "@virtual-workspaces/framework";
import { Minter } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { startPlain } from "../_support/plain.ts";
import { APPLY, Machine, MERGE, machinesView, outcome } from "./machine-fixtures.ts";

const Ship = defineResource({
  group: "view.dev",
  version: "v1",
  kind: "Ship",
  scope: "Namespaced",
  spec: { type: "object", properties: { sails: { type: "integer", maximum: 9 } } },
  status: { type: "object", properties: { phase: { type: "string" }, sails: { type: "integer" } } },
  subresources: { scale: { specReplicasPath: ".spec.sails", statusReplicasPath: ".status.sails" } },
});

const SHIP = "/services/machines/clusters/root/apis/view.dev/v1/namespaces/ns/ships/m";

const scale = (replicas: number, metadata: object = {}): object => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "m", ...metadata },
  spec: { replicas },
});

async function start() {
  const machines = Machine.collection();
  const here = machines.in("root", "ns");
  here.set("m", { replicas: 2, image: "x" });
  const ships = view({
    from: machines,
    to: Ship,
    map: ({ spec, status }) => ({
      spec: spec.replicas === undefined ? {} : { sails: spec.replicas },
      ...(status === undefined ? {} : { status: { phase: status.phase ?? "Pending", sails: status.replicas ?? 0 } }),
    }),
    mapToSource: ({ spec, status }, { source }) => ({
      spec: { ...source?.spec, ...(spec.sails === undefined ? {} : { replicas: spec.sails }) },
      status: { ...source?.status, ...(status?.phase === undefined ? {} : { phase: "Running" as const }) },
    }),
  });
  const resource = Ship.serve(ships, {
    subresources: { log: { connect: (_req, res, { object }) => void res.end(`${object.spec.sails} sails`) } },
  });
  const server = await startPlain([machinesView([resource])]);
  return Object.assign(server, { here });
}

describe("subresources of a writable view", () => {
  it("are written through the view", async () => {
    await using server = await start();
    expect((await server.get(`${SHIP}/scale`)).body.spec).to.deep.equal({ replicas: 2 });
    expect((await server.send(`PATCH ${SHIP}/scale`, { spec: { replicas: 4 } }, MERGE)).body.spec.replicas).to.equal(4);
    const status = { status: { phase: "Running" }, spec: { sails: 9 } };
    expect((await server.send(`PATCH ${SHIP}/status`, status, MERGE)).status).to.equal(200);
    const applied = await server.send(`PATCH ${SHIP}/scale?fieldManager=hpa&force=true`, scale(5), APPLY);
    expect(applied.body.spec).to.deep.equal({ replicas: 5 });
    const { spec, status: now } = server.here.get("m") ?? {};
    expect([spec, now]).to.deep.equal([{ replicas: 5, image: "x" }, { phase: "Running" }]);
    expect((await server.get(`${SHIP}/log`)).text).to.equal("5 sails");
    const most = await server.send(`PUT ${SHIP}/scale`, scale(10));
    expect(most.body.message).to.include("spec.sails in body should be less than or equal to 9");
  });

  it("respect a given version, also one of another replica, which the view cannot verify", async () => {
    await using server = await start();
    const { resourceVersion } = (await server.get(SHIP)).body.metadata;
    const elsewhere = new Minter({ id: 7 }).next();
    const object = (version: string): object => ({ metadata: { resourceVersion: version }, spec: { sails: 1 } });
    for (const refused of [
      await server.send(`PUT ${SHIP}/scale`, scale(1, { resourceVersion: elsewhere })),
      await server.send(`PATCH ${SHIP}/scale`, { ...scale(1, { resourceVersion: elsewhere }) }, MERGE),
      await server.send(`PATCH ${SHIP}`, object(elsewhere), MERGE),
      await server.send(`PATCH ${SHIP}/status`, object(elsewhere), MERGE),
    ])
      expect(outcome(refused).slice(0, 2)).to.deep.equal([409, "Conflict"]);
    expect(server.here.get("m")?.spec.replicas).to.equal(2);
    expect((await server.send(`PUT ${SHIP}/scale`, scale(3, { resourceVersion }))).status).to.equal(200);
    expect((await server.send(`PUT ${SHIP}/scale`, scale(4, { resourceVersion }))).status).to.equal(409);
  });
});
