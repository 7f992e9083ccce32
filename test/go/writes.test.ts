// Writes of operators and tools with the Go libraries, and how the libraries interpret the answers.
import { expect } from "chai";
import { building } from "./support/build.ts";
import type { GoCommand } from "./support/client.ts";
import { TaskStage } from "./support/tasks.ts";

type Told = Readonly<Record<string, unknown>>;

/** Returns the results of a client's steps. */
async function stepsOf(command: GoCommand): Promise<(step: string) => Told> {
  await using stage = await TaskStage.start();
  await using client = stage.client(command);
  await client.event("done", undefined, 30_000);
  expect(client.noise()).to.deep.equal([]);
  await client.end();
  const steps = new Map(client.all("step").map(({ event: _event, at: _at, step, ...told }) => [String(step), told]));
  return (step) => {
    const told = steps.get(step);
    if (told === undefined) throw new Error(`unknown step ${step}, expected one of ${[...steps.keys()].join(", ")}`);
    return told;
  };
}

describe("controller-runtime's client", function () {
  this.timeout(60_000);
  let of: (step: string) => Told;

  before(async function () {
    await building("clients").call(this);
    of = await stepsOf("writes");
  });

  it("creates or updates, and writes nothing without a change", () => {
    expect(of("CreateOrUpdate creates")).to.include({ result: "created", title: "first", generation: 1 });
    expect(of("CreateOrUpdate leaves")).to.include({ result: "unchanged", generation: 1 });
    expect(of("CreateOrUpdate updates")).to.include({ result: "updated", title: "second", generation: 2 });
    expect(of("CreateOrPatch leaves")).to.include({ result: "unchanged", generation: 2 });
    const patched = { result: "updatedStatus", title: "third", phase: "Started", generation: 3 };
    expect(of("CreateOrPatch patches object and status")).to.include(patched);
  });

  it("recognizes errors by their reasons", () => {
    expect(of("Create again")).to.include({ reason: "AlreadyExists" });
    expect(of("Update from an old version")).to.include({ reason: "Conflict" });
    expect(of("Patch with a strategic merge")).to.include({ reason: "UnsupportedMediaType" });
    expect(of("Delete with a wrong uid")).to.include({ reason: "Conflict" });
  });

  it("writes only the status through its subresource", () => {
    expect(of("Status().Update")).to.include({ title: "third", phase: "Done", generation: 4 });
    expect(of("Status().Patch")).to.include({ done: 7, ready: true, generation: 4 });
    expect(of("Update leaves status")).to.include({ phase: "Done", done: 7, generation: 4 });
  });

  it("uses optimistic locks in patches", () => {
    expect(of("Patch with optimistic lock")).to.include({ title: "locked", generation: 5 });
    expect(of("Patch with an old optimistic lock")).to.include({ reason: "Conflict" });
  });

  it("applies, reports conflicts, and forces", () => {
    expect(of("Apply")).to.deep.equal({ title: "applied", generation: 1, owners: ["one Apply "] });
    expect(of("Apply the same")).to.deep.equal(of("Apply"));
    const conflict = { reason: "Conflict", causes: ["FieldManagerConflict .spec.title"] };
    expect(of("Apply against another")).to.deep.include({
      ...conflict,
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.title',
    });
    const forced = { title: "other", generation: 2, owners: ["two Apply "] };
    expect(of("Apply with ForceOwnership")).to.deep.equal(forced);
    expect(of("Patch(Apply) against another")).to.deep.include(conflict);
    expect(of("Status().Apply")).to.deep.equal({ phase: "Started", owners: ["reporter Apply status", "two Apply "] });
  });

  it("keeps an object with a finalizer, and releases it", () => {
    expect(of("AddFinalizer")).to.include({ result: true, finalizers: 1 });
    expect(of("Delete what a finalizer holds")).to.include({ deleting: true, finalizers: 1 });
    expect(of("RemoveFinalizer")).to.include({ reason: "NotFound" });
  });

  it("performs dry runs, and deletes all selected objects", () => {
    expect(of("Dry run")).to.include({ uid: true, reason: "NotFound" });
    expect(of("DeleteAllOf")).to.deep.equal({ names: ["applied", "c"] });
  });
});

describe("client-go", function () {
  this.timeout(60_000);
  before(building("clients"));

  it("writes without types, by every verb", async () => {
    const of = await stepsOf("dynamic");
    expect(of("create")).to.include({ title: "made", generation: 1 });
    expect(of("update")).to.include({ title: "updated", generation: 2 });
    expect(of("merge patch")).to.include({ title: "merged", generation: 3 });
    expect(of("JSON patch")).to.include({ title: "patched", generation: 4 });
    expect(of("invalid")).to.deep.include({ reason: "Invalid", causes: ["FieldValueTypeInvalid spec.title"] });
    expect(of("apply")).to.include({ title: "applied", generation: 5 });
    expect(of("apply status")).to.include({ title: "applied", phase: "Done", generation: 5 });
    expect(of("delete")).to.deep.equal({});
    expect(of("delete again")).to.include({ reason: "NotFound" });
    expect(of("deletecollection")).to.deep.equal({ left: 0 });
  });

  it("passes warnings to their handler", async () => {
    const of = await stepsOf("dynamic");
    expect(of("warned")).to.deep.include({ title: "validated", warnings: ['299 - unknown field "spec.mistyped"'] });
    expect(of("strict")).to.include({ reason: "BadRequest", warnings: null });
    expect(of("strict")["message"]).to.include('strict decoding error: unknown field "spec.mistyped"');
    expect(of("ignored")).to.include({ title: "validated", warnings: null });
  });

  it("counts correctly with eight writers that retry their conflicts", async () => {
    await using stage = await TaskStage.start();
    await using client = stage.client("increment");
    const { count, expected, generation } = await client.event("counted", undefined, 45_000);
    expect({ count, generation }).to.deep.equal({ count: expected, generation: expected + 1 });
    const conflicts = client.all("request").filter(({ code }) => code === 409);
    expect(conflicts.length, "writers that never met").to.be.above(0);
    expect(client.all("request").filter(({ code }) => code !== 409 && code >= 300)).to.deep.equal([]);
    await client.end();
  });

  it("scales", async () => {
    const of = await stepsOf("scale");
    expect(of("get")).to.deep.equal({ replicas: 1 });
    expect(of("update")).to.deep.equal({ replicas: 5 });
    expect(of("patch")).to.deep.equal({ replicas: 7 });
    expect(of("the object")).to.deep.equal({ steps: 7 });
  });
});
