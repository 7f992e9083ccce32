import { isApiError, type JsonObject, type KubeObject } from "@virtual-workspaces/apimachinery";
import { FieldManager, formatFieldsV1, parseFieldsV1 } from "@virtual-workspaces/apimachinery/apply";
import { cloneJson, equalJson, setMember, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import fc from "fast-check";
import { fieldManagerOf } from "./kinds.ts";

const NAMES = ["text", "count", "flag", "labels", "strings", "ports", "named", "free", "nul", "deep", "atomicMap"];
const INNER = ["name", "port", "protocol", "tags", "sub", "id", "a", "b", "inner", "list", "__proto__", "\u{1F600}"];

function objectOf(members: readonly (readonly [string, unknown])[]): JsonObject {
  const object: JsonObject = {};
  for (const [name, value] of members) setMember(object, name, value);
  return object;
}

const { value } = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("x", "y", "", "<"),
    fc.integer({ min: 0, max: 3 }),
    fc.constantFrom(9007199254740993n, 1.5, true, null),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.array(fc.tuple(fc.constantFrom(...INNER), tie("value")), { maxLength: 4 }).map(objectOf),
}));

/** Values that fit the schema, and occasionally ones that do not. */
const element = fc.record(
  {
    name: fc.constantFrom("x", "y"),
    port: fc.integer({ min: 0, max: 2 }),
    tags: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
  },
  { requiredKeys: ["name"] },
);
const byName = (items: readonly { name: string }[]): unknown => [
  ...new Map(items.map((item) => [item.name, item])).values(),
];
const spec = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      {
        text: fc.constantFrom("x", "y"),
        count: fc.integer({ min: 0, max: 2 }),
        labels: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("x", "y")),
        strings: fc.uniqueArray(fc.constantFrom("x", "y", "z")),
        named: fc.array(element, { maxLength: 3 }).map(byName),
        atomicMap: fc.record({ a: fc.constantFrom("x", "y") }, { requiredKeys: [] }),
        free: fc.array(fc.tuple(fc.constantFrom("p", "q", "__proto__"), value), { maxLength: 2 }).map(objectOf),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 4 }).map(objectOf) },
  { weight: 1, arbitrary: value },
);

const write = fc.record({
  op: fc.constantFrom("apply" as const, "apply" as const, "update" as const),
  manager: fc.constantFrom("a", "b", "kubectl", ""),
  force: fc.boolean(),
  subresource: fc.constantFrom("", "", "status"),
  spec,
  labels: fc.option(fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("x", "y")), { nil: undefined }),
});
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

const managers = [fieldManagerOf("rich"), fieldManagerOf("none"), fieldManagerOf("altered")] as const;
const history = fc.record({ kind: fc.constantFrom(0, 1, 2), writes: fc.array(write, { minLength: 1, maxLength: 6 }) });

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

function objectFor({ spec: inner, labels }: Write): KubeObject {
  const metadata = { name: "n", ...(labels === undefined ? {} : { labels }) };
  return { apiVersion: "example.dev/v1", kind: "Thing", metadata, spec: inner };
}

/** Returns the object after a write; undefined for a rejected write, which must be an ApiError. */
function perform(
  fields: FieldManager,
  live: KubeObject | undefined,
  step: Write & { second: number },
): KubeObject | undefined {
  const { manager, force, subresource, second } = step;
  const request = { live, manager, subresource, now: at(second) };
  const given = objectFor(step);
  const before = stringifyJson([live, given]);
  try {
    if (step.op === "apply") return fields.apply({ ...request, config: given, force });
    const managedFields = live?.metadata.managedFields;
    const next = managedFields === undefined ? given : { ...given, metadata: { ...given.metadata, managedFields } };
    return fields.update({ ...request, next });
  } catch (error) {
    if (!isApiError(error)) throw error;
    expect([409, 500]).to.include(error.code);
    if (error.code === 409) expect(step).to.include({ op: "apply", force: false });
    return undefined;
  } finally {
    expect(stringifyJson([live, given])).to.equal(before);
  }
}

function play(
  kind: number,
  writes: readonly Write[],
  visit: (live: KubeObject, step: Write, second: number) => void,
): void {
  const fields = managers[kind] ?? managers[0];
  let live: KubeObject | undefined;
  for (const [second, step] of writes.entries()) {
    const object = perform(fields, live, { ...step, second });
    if (object === undefined) continue;
    visit(object, step, second);
    live = { ...object, metadata: { ...object.metadata, uid: "u" } };
  }
}

describe("Server-side apply of any history", () => {
  it("gives objects or ApiErrors, and does not change its input", () => {
    fc.assert(
      fc.property(history, ({ kind, writes }) => play(kind, writes, () => undefined)),
      { numRuns: 500 },
    );
  });

  it("leaves readable managedFields, one non-empty entry for each manager", () => {
    fc.assert(
      fc.property(history, ({ kind, writes }) =>
        play(kind, writes, ({ metadata: { managedFields = [] } }) => {
          const names = managedFields.map(({ fieldsV1: _, time: __, ...key }) => stringifyJson(key));
          expect(new Set(names).size).to.equal(names.length);
          for (const { fieldsV1 } of managedFields) {
            const set = parseFieldsV1(fieldsV1);
            expect(set.isEmpty).to.equal(false);
            expect(equalJson(formatFieldsV1(set), fieldsV1)).to.equal(true);
          }
        }),
      ),
    );
  });

  it("gives a created object the managers of an update of an object without fields", () => {
    const bare = { apiVersion: "example.dev/v1", kind: "Thing" } as unknown as KubeObject;
    const property = fc.property(fc.constantFrom(0, 1, 2), write, (kind, sent) => {
      const { manager, subresource } = sent;
      const update = (live: KubeObject | undefined): KubeObject | undefined =>
        managers[kind]?.update({ live, next: objectFor(sent), manager, subresource, now: at(0) });
      expect(update(undefined)).to.deep.equal(update(bare));
    });
    fc.assert(property, { numRuns: 2000 });
  });

  it("makes a repeated apply a no-op, times included", () => {
    let repeated = 0;
    fc.assert(
      fc.property(history, ({ kind, writes }) =>
        play(kind, writes, (live, step, second) => {
          const fields = managers[kind] ?? managers[0];
          // Corner cases of Kubernetes: a parent that loses its last member is null or gone, an empty list has no owner, and
          // a manager without fields is forgotten. With these, an apply may need a second one.
          if (/null|\[\]|\{\}/.test(stringifyJson([live["spec"], live.metadata.labels, objectFor(step)]))) return;
          if (step.op !== "apply" || live.metadata.managedFields === undefined) return;
          repeated += 1;
          expect(perform(fields, live, { ...step, second: second + 100 })).to.equal(live);
          expect(perform(fields, cloneJson(live), { ...step, second: second + 100 })).to.deep.equal(live);
        }),
      ),
      { numRuns: 300 },
    );
    expect(repeated).to.be.above(50);
  });

  it("contains the applied fields", () => {
    const fields = new FieldManager({ apiVersion: "example.dev/v1", kind: "Thing" });
    fc.assert(
      fc.property(write, write, (first, second) => {
        const live = fields.apply({ live: undefined, config: objectFor(first), manager: "a", now: at(0) });
        const merged = fields.apply({ live, config: objectFor(second), manager: "b", force: true, now: at(1) });
        const repeated = fields.apply({ live: merged, config: objectFor(second), manager: "c", now: at(2) });
        expect(equalJson(repeated["spec"], merged["spec"])).to.equal(true);
      }),
    );
  });
});
