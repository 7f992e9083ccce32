// Formats that client-go chooses: what its dynamic client makes of the answers.
import { expect } from "chai";
import { building } from "./support/build.ts";
import type { GoClientOptions, GoEvent } from "./support/client.ts";
import { TaskStage } from "./support/tasks.ts";

interface Told {
  readonly step: (name: string) => Partial<GoEvent>;
  readonly changes: readonly GoEvent[];
  readonly watching: GoEvent;
}

/** Returns what a client tells that writes, reads and watches tasks. */
async function formats(options: Omit<GoClientOptions, "kubeconfig">): Promise<Told> {
  await using stage = await TaskStage.start();
  await using client = stage.client("formats", options);
  await client.event("done", undefined, 30_000);
  expect(client.noise()).to.deep.equal([]);
  const watching = await client.event("watching");
  await client.end();
  const steps = new Map(client.all("step").map((told) => [told["step"], told]));
  return { step: (name) => steps.get(name) ?? {}, changes: client.all("changed"), watching };
}

const EVENTS = ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"];
const OBJECTS = ["create", "get", "list", "update", "merge patch", "apply"];

describe("client-go that drops managedFields", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("gets none in answers and events, and its writes keep those that are stored", async () => {
    const { step, changes } = await formats({
      flags: { accept: "application/json;drop=metadata.managedFields" },
    });
    for (const name of OBJECTS) expect(step(name), name).to.include({ managed: 0, received: "application/json" });
    expect(changes.map(({ type }) => type)).to.deep.equal(EVENTS);
    for (const change of changes) expect(change).to.include({ managed: 0 });
    const { step: whole, changes: all } = await formats({ flags: { accept: "application/json" } });
    for (const name of OBJECTS) expect(whole(name)["managed"], name).to.be.above(0);
    for (const { managed } of all) expect(managed).to.be.above(0);
  });
});

describe("client-go with CBOR", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("reads, watches and gets errors in CBOR when it accepts CBOR", async () => {
    const { step, changes, watching } = await formats({ env: { KUBE_FEATURE_ClientsAllowCBOR: "true" } });
    expect(watching).to.include({ received: "application/cbor-seq" });
    expect(step("create")).to.include({
      sent: "application/json",
      received: "application/cbor",
      title: "héllo ☃",
      exact: true,
    });
    for (const name of OBJECTS) expect(step(name), name).to.include({ received: "application/cbor" });
    expect(changes.map(({ type }) => type)).to.deep.equal(EVENTS);
  });

  it("writes in CBOR when it prefers CBOR, and keeps every value", async () => {
    const { step, changes, watching } = await formats({ env: PREFERS });
    expect(watching).to.include({ received: "application/cbor-seq" });
    const cbor = { sent: "application/cbor", received: "application/cbor" };
    expect(step("create")).to.include({ ...cbor, title: "héllo ☃", exact: true });
    expect(step("create again")).to.include({ ...cbor, reason: "AlreadyExists" });
    expect(step("get")).to.include({ received: "application/cbor", title: "héllo ☃", exact: true });
    expect(step("list")).to.include({ received: "application/cbor", title: "héllo ☃", exact: true });
    expect(step("update")).to.include({ ...cbor, title: "updated", exact: true });
    expect(step("merge patch")).to.include({ received: "application/cbor", title: "merged" });
    const applied = { sent: "application/apply-patch+cbor", received: "application/cbor", title: "applied" };
    expect(step("apply")).to.include(applied);
    expect(step("get missing")).to.include({ received: "application/cbor", reason: "NotFound" });
    expect(step("delete")).to.not.have.property("reason");
    expect(changes.map(({ type, title }) => `${type} ${title}`)).to.deep.equal([
      "ADDED héllo ☃",
      "MODIFIED updated",
      "MODIFIED merged",
      "MODIFIED applied",
      "DELETED applied",
    ]);
    for (const { managed } of changes) expect(managed).to.be.above(0);
  });

  it("drops managedFields in CBOR", async () => {
    const { step, changes } = await formats({
      flags: { accept: "application/cbor;drop=metadata.managedFields" },
      env: PREFERS,
    });
    for (const name of OBJECTS) expect(step(name), name).to.include({ managed: 0, received: "application/cbor" });
    for (const change of changes) expect(change).to.include({ managed: 0 });
  });
});

const PREFERS = { KUBE_FEATURE_ClientsAllowCBOR: "true", KUBE_FEATURE_ClientsPreferCBOR: "true" };
