import type { ApiError, JsonObject } from "@virtual-workspaces/apimachinery";
import { applyJsonPatch, applyMergePatch, unknownJsonPatchFields } from "@virtual-workspaces/apimachinery/patch";
import { expect } from "chai";
import { expectJson, outcomeOf, type Recorded, recorded, titleOf } from "./recorded.ts";

const pairs = recorded("json-and-merge.snapshot.json");

describe("JSON patches and merge patches, as Kubernetes applies them", () => {
  it("have recordings", () => expect(pairs.length).to.be.greaterThan(300));

  for (const pair of pairs) {
    it(`${pair.kind} ${titleOf(pair)}`, () => {
      const { doc, patch, kind, code } = pair;
      const apply = kind === "json" ? applyJsonPatch : applyMergePatch;
      const { result, error } = outcomeOf(() => apply(doc, patch), doc, patch);
      expect(error?.code ?? 200, error?.message).to.equal(code);
      if (error === undefined) expectJson(result, pair.result);
      else expectRefusal(error, pair);
      if (kind === "json" && code === 200)
        expect(unknownJsonPatchFields(patch)).to.deep.equal((pair.strict ?? []).map((text) => `json patch ${text}`));
    });
  }
});

/** Kubernetes reports the reason of a 400, but only logs that of a 422, which is a cause here. */
function expectRefusal({ message, reason, status }: ApiError, { code, error = "" }: Recorded): void {
  if (code === 400) {
    expect([reason, message]).to.deep.equal(["BadRequest", error]);
    return;
  }
  expect([reason, message]).to.deep.equal([
    "Invalid",
    "the server rejected our request due to an error in our request",
  ]);
  const [cause] = status.details?.causes ?? [];
  expect(cause?.field).to.match(/^patch\[\d+\]$/);
  expect(cause?.message).to.satisfy((text: string) => text.startsWith(error), `${cause?.message}, not ${error}`);
}

describe("applyJsonPatch", () => {
  it("names the operation that cannot be applied", () => {
    const patch = [
      { op: "add", path: "/a", value: 1 },
      { op: "remove", path: "/b" },
    ];
    const { error } = outcomeOf(() => applyJsonPatch({}, patch));
    const text = "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value";
    expect(error?.status.details).to.deep.equal({
      causes: [{ reason: "FieldValueInvalid", field: "patch[1]", message: text }],
    });
  });

  it("copies only the path to a change", () => {
    const document = { spec: { a: { b: [{ c: 1 }, { d: 2 }] }, large: { many: [1, 2, 3] } }, status: {} };
    const patch = [
      { op: "replace", path: "/spec/a/b/0/c", value: 2 },
      { op: "add", path: "/spec/a/b/0/e", value: 3 },
    ];
    const result = applyJsonPatch(document, patch) as typeof document;
    expect(result.spec.large).to.equal(document.spec.large);
    expect(result.status).to.equal(document.status);
    expect(result.spec.a.b[1]).to.equal(document.spec.a.b[1]);
    expect(result.spec.a.b[0]).to.deep.equal({ c: 2, e: 3 });
    expect(document.spec.a.b[0]).to.deep.equal({ c: 1 });
  });

  it("returns the document itself if nothing changes", () => {
    const document = { a: 1 };
    expect(applyJsonPatch(document, [{ op: "test", path: "/a", value: 1 }])).to.equal(document);
  });

  it("separates copies from their source, changed or not", () => {
    const patch = [
      { op: "add", path: "/a/x", value: 1 },
      { op: "copy", from: "/a", path: "/b" },
      { op: "add", path: "/a/y", value: 2 },
      { op: "add", path: "/b/z", value: 3 },
    ];
    expect(applyJsonPatch({ a: {} }, patch)).to.deep.equal({ a: { x: 1, y: 2 }, b: { x: 1, z: 3 } });
  });
});

describe("applyMergePatch", () => {
  it("shares unchanged parts", () => {
    const document: JsonObject = { spec: { a: 1, deep: { b: 1 } }, status: { c: 1 } };
    const result = applyMergePatch(document, { spec: { a: 2 } }) as { spec: JsonObject; status: unknown };
    expect(result.status).to.equal(document["status"]);
    expect(result.spec["deep"]).to.equal((document["spec"] as JsonObject)["deep"]);
  });
});
