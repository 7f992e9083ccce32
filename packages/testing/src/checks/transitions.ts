import { expectSame, skip } from "../assertions/expect.ts";
import { at, type JsonObject, textAt } from "../assertions/json.ts";
import { namesOf, readList, versionOf, versionsByKey } from "../assertions/objects.ts";
import type { WatchStream } from "../http/watch-stream.ts";
import { type Part, partByField, partByLabel } from "../writing/parts.ts";
import { expectWritten } from "../writing/writer.ts";
import { FINALIZER, Writes } from "../writing/writes.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";

const scope = "resource";
const verbs = ["create", "get", "list", "watch", "patch", "delete"] as const;
const writes = true;
const NOTE = "example.com/note";

/** T5: objects that enter and leave the selector of a watch. */
export const transitionChecks: readonly ResourceCheck[] = [
  {
    id: "T5.1",
    title: "a change into a label selector sends ADDED and one out of it DELETED, with the version of the change",
    protects: "controllers keep working on objects that no longer belong to them",
    scope,
    verbs,
    writes,
    run: (probe) => entersAndLeaves(probe, partByLabel),
  },
  {
    id: "T5.2",
    title: "a change into a field selector sends ADDED and one out of it DELETED, with the version of the change",
    protects: "controllers keep working on objects that no longer belong to them",
    scope,
    verbs,
    writes,
    run: (probe) => entersAndLeaves(probe, partByField),
  },
  {
    id: "T5.3",
    title: "the DELETED event of an object that leaves a selector has its last state that matched",
    protects: "a client mistakes a DELETED object that does not match its selector for another object",
    scope,
    verbs,
    writes,
    run: lastSeen,
  },
  {
    id: "T5.4",
    title:
      "an object with a deletionTimestamp enters and leaves like any other, and its deletion outside sends no event",
    protects: "controllers never remove the finalizer of an object that enters, or do so twice",
    scope,
    verbs,
    writes,
    run: (probe) => marksAcross(probe, BY_FINALIZER),
  },
  {
    id: "T5.5",
    title: "a watch resumed from before a transition sends it; one resumed from the transition continues after it",
    protects: "objects that leave while a client is disconnected stay in its cache forever",
    scope,
    verbs,
    writes,
    run: resumes,
  },
  {
    id: "T5.6",
    title: "lists and initial events agree with the watch before and after a transition",
    protects: "a controller sees a different state after a restart",
    scope,
    verbs,
    writes,
    run: listsAgree,
  },
  {
    id: "T5.7",
    title: "an object in its grace period enters and leaves like any other, and its deletion outside sends no event",
    protects: "controllers that complete a graceful deletion do so twice, or not at all",
    scope,
    verbs,
    writes,
    run: (probe) => marksAcross(probe, BY_GRACE),
  },
];

type Transition = (object: JsonObject) => Promise<JsonObject>;

async function entersAndLeaves(probe: ResourceProbe, choose: (writes: Writes) => Promise<Part>): Promise<void> {
  await using writes = new Writes(probe);
  const part = await choose(writes);
  const outside = await part.make(false);
  using stream = await writes.watch(versionOf(outside), part.selector);
  const steps: readonly (readonly [string, Transition])[] = [
    ["", (object) => writes.change(object, { annotations: { [NOTE]: "outside" } })],
    ["ADDED", (object) => part.move(object, true)],
    ["MODIFIED", (object) => writes.change(object, { annotations: { [NOTE]: "inside" } })],
    ["DELETED", (object) => part.move(object, false)],
    ["", (object) => writes.change(object, { annotations: { [NOTE]: "outside again" } })],
    ["ADDED", (object) => part.move(object, true)],
  ];
  const expected: string[] = [];
  for (const [type, step] of steps) {
    const after = await step(outside);
    if (type !== "") expected.push(`${type} at ${versionOf(after)}`);
  }
  await writes.delete(outside);
  const told = await toldOf(writes, { stream, part, object: outside });
  expectSame(stream.request, "events of the object: ", {
    expected: [...expected, "DELETED"],
    actual: told.map(({ type, version }, index) => (index < expected.length ? `${type} at ${version}` : type)),
  });
  const last = told.at(-1)?.version ?? "";
  if (expected.at(-1) === `ADDED at ${last}`)
    expectSame(stream.request, "the version of the deletion", { expected: "one of its own", actual: last });
}

async function lastSeen(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const part = await partByLabel(writes);
  const object = await part.make(true);
  using stream = await writes.watch(versionOf(object), part.selector);
  const inside = await writes.change(object, { annotations: { [NOTE]: "inside" } });
  const after = await part.move(object, false);
  const { seen } = await writes.told(stream, { type: "DELETED", object });
  const left = seen.find(({ type }) => type === "DELETED")?.object;
  for (const field of ["labels", "annotations", "uid"]) {
    const pair = { expected: at(inside, "metadata", field), actual: at(left, "metadata", field) };
    expectSame(stream.request, `metadata.${field} of the DELETED object`, pair);
  }
  expectSame(stream.request, "the version of the change that moved it out", {
    expected: versionOf(after),
    actual: versionOf(left),
  });
}

/** Method that keeps a deleted object for a while. */
interface Hold {
  readonly finalizers?: readonly string[];
  remove(writes: Writes, object: JsonObject): Promise<void>;
  release(writes: Writes, object: JsonObject): Promise<void>;
}

const BY_FINALIZER: Hold = {
  finalizers: [FINALIZER],
  remove: async (writes, object) => void expectWritten(await writes.delete(object), [200, 202]),
  release: async (writes, object) => void (await writes.change(object, { finalizers: null })),
};

const BY_GRACE: Hold = {
  remove: async (writes, object) => {
    const answer = expectWritten(await writes.delete(object, { graceful: true }), [200, 202]);
    if (textAt(answer, "metadata", "deletionTimestamp") === "") skip("objects of this kind have no grace period");
  },
  release: async (writes, object) => void expectWritten(await writes.delete(object), [200, 202]),
};

async function marksAcross(probe: ResourceProbe, { finalizers, remove, release }: Hold): Promise<void> {
  await using writes = new Writes(probe);
  const part = await partByLabel(writes);
  const [leaver, comer] = [await part.make(true, finalizers), await part.make(false, finalizers)];
  using stream = await writes.watch(versionOf(comer), part.selector);
  for (const object of [leaver, comer]) await remove(writes, object);
  await part.move(leaver, false);
  await release(writes, leaver);
  await part.move(comer, true);
  await release(writes, comer);
  const left = await toldOf(writes, { stream, part, object: leaver, others: [comer] });
  expectSame(stream.request, "events of the object that left: ", {
    expected: ["MODIFIED marked", "DELETED marked"],
    actual: left.map(({ type, marked }) => `${type} ${marked}`),
  });
  expectSame(stream.request, "events of the object that entered: ", {
    expected: ["ADDED marked", "DELETED marked"],
    actual: left.others.map(({ type, marked }) => `${type} ${marked}`),
  });
}

async function resumes(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const part = await partByLabel(writes);
  const inside = await part.make(true);
  const outside = await part.move(inside, false);
  const back = await part.move(inside, true);
  const marker = await part.make(true);
  const expected = [`DELETED at ${versionOf(outside)}`, `ADDED at ${versionOf(back)}`];
  for (const [index, from] of [inside, outside, back].entries()) {
    using stream = await writes.watch(versionOf(from), part.selector);
    const { seen } = await writes.told(stream, { type: "ADDED", object: marker });
    const name = textAt(inside, "metadata", "name");
    const own = seen.filter(({ object }) => textAt(object, "metadata", "name") === name);
    expectSame(stream.request, "events of the object since: ", {
      expected: expected.slice(index),
      actual: own.map(({ type, object }) => `${type} at ${versionOf(object)}`),
    });
  }
}

async function listsAgree(probe: ResourceProbe): Promise<void> {
  await using writes = new Writes(probe);
  const part = await partByLabel(writes);
  const [stays, moves] = [await part.make(true), await part.make(true)];
  const expectInside = async (objects: readonly JsonObject[]): Promise<void> => {
    const expected = versionsByKey(objects);
    const list = readList(await probe.get(writes.writer.path, { query: part.selector }));
    expectSame(list.answer.request, "objects inside the selector: ", { expected, actual: versionsByKey(list.items) });
    using initial = await probe.initialEvents(part.selector);
    const actual = versionsByKey(initial.state.values());
    expectSame(initial.stream.request, "objects inside the selector: ", { expected, actual });
  };
  await expectInside([stays, moves]);
  await part.move(moves, false);
  await expectInside([stays]);
  const back = await part.move(moves, true);
  await expectInside([stays, back]);
}

interface Told {
  readonly type: string;
  readonly version: string;
  /** Whether the object has a deletionTimestamp. */
  readonly marked: string;
}

interface Scene {
  readonly stream: WatchStream;
  readonly part: Part;
  readonly object: JsonObject;
  readonly others?: readonly JsonObject[];
}

/** Returns the events of a watch about an object, and about others, up to an object created now. */
async function toldOf(writes: Writes, scene: Scene): Promise<readonly Told[] & { readonly others: readonly Told[] }> {
  const marker = await scene.part.make(true);
  const { seen } = await writes.told(scene.stream, { type: "ADDED", object: marker });
  const of = (objects: readonly JsonObject[]): Told[] => {
    const names = namesOf(objects);
    return seen
      .filter(({ object }) => names.includes(textAt(object, "metadata", "name")))
      .map(({ type, object }) => ({
        type,
        version: versionOf(object),
        marked: textAt(object, "metadata", "deletionTimestamp") === "" ? "unmarked" : "marked",
      }));
  };
  return Object.assign(of([scene.object]), { others: of(scene.others ?? []) });
}
