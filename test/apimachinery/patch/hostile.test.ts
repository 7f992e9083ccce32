// Why: a patch is untrusted and small, and can request much work on a large object.
import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { cloneJson, parseJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from "@virtual-workspaces/apimachinery/patch";
import { expect } from "chai";
import fc from "fast-check";
import { computed } from "../../_support/cpu.ts";
import { podSchema } from "./pod-schema.ts";
import { outcomeOf } from "./recorded.ts";

const repeat = <T>(count: number, item: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => item(at));

/** Runs `apply` and measures its CPU time, ms: other programs on the machine do not count. */
function timed(apply: () => unknown): {
  code: number;
  message: string | undefined;
  cause: string | undefined;
  ms: number;
} {
  const started = computed();
  const { error } = outcomeOf(apply);
  const [cause] = error?.status.details?.causes ?? [];
  return { code: error?.code ?? 200, message: error?.message, cause: cause?.message, ms: computed() - started };
}

describe("patches that explode", () => {
  it("cannot have more than 10,000 operations", () => {
    const test = { op: "test", path: "/a", value: 1 };
    expect(
      timed(() =>
        applyJsonPatch(
          { a: 1 },
          repeat(10_000, () => test),
        ),
      ).code,
    ).to.equal(200);
    const { code, message } = timed(() =>
      applyJsonPatch(
        { a: 1 },
        repeat(10_001, () => test),
      ),
    );
    expect([code, message]).to.deep.equal([
      413,
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    ]);
  });

  it("cannot copy more than 3 MiB, counted as in Go", () => {
    const copies = (count: number): unknown[] => repeat(count, () => ({ op: "copy", from: "/a", path: "/b" }));
    // 1 KiB as JSON: two quotes, and an escape of six bytes.
    const document = { a: `<${"x".repeat(1016)}`, b: 0 };
    expect(timed(() => applyJsonPatch(document, copies(3072))).code).to.equal(200);
    const { code, cause } = timed(() => applyJsonPatch(document, copies(3073)));
    expect([code, cause]).to.deep.equal([
      422,
      "Unable to complete the copy, the accumulated size increase of copy is 3146752, exceeding the limit 3145728",
    ]);
  });

  const wide: JsonObject = {
    list: repeat(300_000, (at) => at),
    map: Object.fromEntries(repeat(100_000, (at) => [`k${at}`, at])),
  };
  const sameMap = cloneJson(wide["map"]);
  const deep = parseJson(`${'{"a":'.repeat(900)}1${"}".repeat(900)}`).value;
  const deeper = `/a${"/a".repeat(899)}`;

  for (const [what, document, patch, code] of [
    ["doubling copies", { a: { x: "y" } }, repeat(10_000, (at) => ({ op: "copy", from: "/a", path: `/a/${at}` })), 413],
    ["copies of a long list", wide, repeat(10_000, () => ({ op: "copy", from: "/list", path: "/copy" })), 422],
    [
      "insertions at the head of a long list",
      wide,
      repeat(10_000, () => ({ op: "add", path: "/list/0", value: 1 })),
      413,
    ],
    ["removals at the head of a long list", wide, repeat(10_000, () => ({ op: "remove", path: "/list/0" })), 413],
    ["comparisons of a wide object", wide, repeat(10_000, () => ({ op: "test", path: "/map", value: {} })), 422],
    [
      "equal comparisons of a wide object",
      wide,
      repeat(10_000, () => ({ op: "test", path: "/map", value: sameMap })),
      413,
    ],
    [
      "a wide object carried to and fro",
      { ...wide, x: {} },
      repeat(10_000, (at) =>
        at % 2 === 0 ? { op: "move", from: "/map", path: "/x/y" } : { op: "move", from: "/x/y", path: "/map" },
      ),
      413,
    ],
    ["an object within itself", deep, [{ op: "copy", from: "/a", path: `${deeper}/b` }], 422],
    ["a deep value in a deep place", deep, [{ op: "replace", path: deeper, value: deep }], 422],
    ["depth by moving", { a: deep, b: deep }, [{ op: "move", from: "/a", path: `/b${"/a".repeat(899)}/b` }], 422],
    ["a path of a hundred thousand steps", deep, [{ op: "add", path: "/a".repeat(100_000), value: 1 }], 422],
  ] as const) {
    it(`are rejected quickly: ${what}`, () => {
      const outcome = timed(() => applyJsonPatch(document, patch));
      expect(outcome.code, outcome.message).to.equal(code);
      expect(outcome.ms).to.be.lessThan(500);
    });
  }
});

describe("any patch", () => {
  const name = fc.oneof(
    fc.constantFrom(
      "a",
      "b",
      "spec",
      "containers",
      "name",
      "$patch",
      "$retainKeys",
      "__proto__",
      "constructor",
      "-",
      "0",
    ),
    fc.constantFrom("$setElementOrder/containers", "$deleteFromPrimitiveList/finalizers", "finalizers", "metadata", ""),
    fc.string({ maxLength: 3 }),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.oneof(fc.constantFrom(null, true, "a", "delete", "replace", 0, 1.5, 2n ** 60n), fc.integer()),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.uniqueArray(fc.tuple(name, tie("value")), { maxLength: 4, selector: ([key]) => key }).map(objectOf),
    ),
  }));
  const object = value.filter(isJsonObject);
  const path = fc.oneof(
    fc.array(name, { maxLength: 4 }).map((steps) => steps.map((step) => `/${step}`).join("")),
    fc.string(),
  );
  const operation = fc.record(
    { op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test", "x"), path, from: path, value },
    { requiredKeys: ["op"] },
  );
  const patch = fc.oneof(
    value,
    fc.array(fc.oneof({ weight: 9, arbitrary: operation }, { weight: 1, arbitrary: value })),
  );

  it("gives JSON or an ApiError, and changes neither itself nor the document", () => {
    fc.assert(
      fc.property(object, patch, (document, patched) => {
        for (const apply of [
          () => applyJsonPatch(document, patched),
          () => applyMergePatch(document, patched),
          () => applyStrategicMergePatch(document, patched, podSchema),
        ]) {
          const { result, error } = outcomeOf(apply, document, patched);
          if (error === undefined) parseJson(stringifyJson(result));
          else expect([400, 413, 422]).to.include(error.code);
        }
        expect(Object.getPrototypeOf({})).to.not.have.property("polluted");
      }),
      { numRuns: 2000 },
    );
  });

  it("has no further effect when applied again as a merge patch", () => {
    fc.assert(
      fc.property(object, object, (document, patched) => {
        // Kubernetes removes nulls from lists that replace lists, but not from those that replace objects.
        fc.pre(!/\[.*null/s.test(stringifyJson(patched)));
        const once = applyMergePatch(document, patched);
        expect(stringifyJson(applyMergePatch(once, patched))).to.equal(stringifyJson(once));
      }),
    );
  });

  it("shares nothing with the document that a later change could reach", () => {
    fc.assert(
      fc.property(object, fc.array(operation, { maxLength: 6 }), (document, patched) => {
        const before = cloneJson(document);
        const { result } = outcomeOf(() => applyJsonPatch(document, patched));
        if (result !== undefined) outcomeOf(() => applyJsonPatch(result, [{ op: "add", path: "/z", value: 1 }]));
        expect(stringifyJson(document)).to.equal(stringifyJson(before));
      }),
    );
  });
});

function objectOf(members: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries(members);
}
