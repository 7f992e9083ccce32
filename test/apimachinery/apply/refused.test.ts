import { isApiError, type KubeObject, type Status } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import { fieldManagerOf } from "./kinds.ts";

const fields = fieldManagerOf("rich");

function refusal(config: KubeObject, live?: KubeObject): Status {
  try {
    fields.apply({ live, config, manager: "a", now: new Date(0) });
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
  throw new Error("not refused");
}

const head = { apiVersion: "example.dev/v1", kind: "Thing" };
const metadata = { name: "n", namespace: "ns" };
const PATCH = "failed to create typed patch object (ns/n; example.dev/v1, Kind=Thing): ";

describe("Server-side apply of invalid input", () => {
  for (const [what, spec, problem] of [
    ["a field that the schema does not know", { x: 1 }, ".spec.x: field not declared in schema"],
    ["a text for a number", { count: "1" }, ".spec.count: expected numeric (int or float), got string"],
    ["a list for a number", { count: [1] }, ".spec.count: expected numeric (int or float), got []interface {}"],
    ["a number for a text", { text: 1 }, ".spec.text: expected string, got &value.valueUnstructured{Value:1}"],
    [
      "an object for a text",
      { text: { b: [null, 1.5], a: "x" } },
      '.spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":"x", "b":[]interface {}{interface {}(nil), 1.5}}}',
    ],
    [
      "characters that print as nothing, or turn the line around",
      { text: { "a\u202e": "x\u007f\b\u202e" } },
      '.spec.text: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a\\u202e":"x\\x7f\\b\\u202e"}}',
    ],
    ["a text for a boolean", { flag: "x" }, ".spec.flag: expected boolean, got &{x}"],
    ["an object for an integer or text", { when: { a: 1 } }, ".spec.when: expected any scalar, got &{map[a:1]}"],
    ["a list for an object", { labels: [1, "x", null] }, ".spec.labels: expected map, got &{[1 x <nil>]}"],
    ["an object for a list", { ports: { a: true } }, ".spec.ports: expected list, got &{map[a:true]}"],
    ["an element given twice", { strings: ["x", "x"] }, '.spec.strings: duplicate entries for key [="x"]'],
    [
      "elements of one key",
      { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] },
      '.spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
    ],
    [
      "an element without key",
      { named: [{ port: 1 }] },
      '.spec.named: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [
      "null among elements with keys",
      { named: [null] },
      ".spec.named: element 0: associative list with keys may not have a null element",
    ],
    [
      "a text among elements with keys",
      { named: ["x"] },
      ".spec.named: element 0: associative list with keys may not have non-map elements",
    ],
    [
      "null in a set",
      { strings: [null] },
      ".spec.strings: element 0: associative list without keys has an element that's an explicit null",
    ],
    [
      "an object in a set",
      { strings: [{}] },
      ".spec.strings: element 0: associative list without keys has an element that's a map type",
    ],
    [
      "a list in a set",
      { strings: [[]] },
      ".spec.strings: element 0: not supported: associative list with lists as elements",
    ],
    [
      "a bad element",
      { named: [{ name: "x", port: "y" }] },
      '.spec.named[name="x"].port: expected numeric (int or float), got string',
    ],
    [
      "several at once",
      { count: "1", flag: 1 },
      "errors:\n  .spec.count: expected numeric (int or float), got string\n  .spec.flag: expected boolean, got &{1}",
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      const { code, reason, message } = refusal({ ...head, metadata, spec });
      expect({ code, reason, message }).to.deep.equal({ code: 500, reason: undefined, message: PATCH + problem });
    });
  }

  for (const [what, config, message] of [
    ["another version", { ...head, apiVersion: "example.dev/v2" }, "invalid object type: example.dev/v2, Kind=Thing"],
    ["another kind", { ...head, kind: "Pod" }, "invalid object type: example.dev/v1, Kind=Pod"],
    ["the core group", { ...head, apiVersion: "v1" }, "invalid object type: /v1, Kind=Thing"],
    ["no version", { kind: "Thing" }, "invalid object type: /, Kind=Thing"],
    ["an invalid version", { ...head, apiVersion: "a/b/c" }, "invalid object type: /, Kind="],
  ] as const) {
    it(`rejects ${what}`, () => {
      const { code, reason, message: said } = refusal({ metadata, ...config } as unknown as KubeObject);
      expect({ code, reason, message: said }).to.deep.equal({ code: 400, reason: "BadRequest", message });
    });
  }

  it("rejects managedFields in a configuration, but accepts null there", () => {
    const message = "metadata.managedFields must be nil";
    expect(refusal({ ...head, metadata: { ...metadata, managedFields: [] } })).to.include({ code: 400, message });
    const config = { ...head, metadata: { ...metadata, managedFields: null } } as unknown as KubeObject;
    expect(fields.apply({ live: undefined, config, manager: "a", now: new Date(0) }).metadata).to.deep.equal(metadata);
  });

  it("reports that a stored object is unreadable", () => {
    const entry = { manager: "a", operation: "Apply", apiVersion: "example.dev/v1", fieldsType: "FieldsV2" } as const;
    const live = { ...head, metadata: { ...metadata, uid: "u", managedFields: [entry] } };
    expect(refusal({ ...head, metadata }, live)).to.include({
      code: 500,
      message: 'failed to decode managed fields: invalid fieldsType "FieldsV2" in managed fields entry 0',
    });
    const untyped = { ...head, metadata: { ...metadata, uid: "u" }, spec: { text: 1 } };
    expect(refusal({ ...head, metadata }, untyped).message).to.equal(
      "failed to create manager for existing fields: failed to convert new object (ns/n; example.dev/v1, Kind=Thing) to smd typed: .spec.text: expected string, got &value.valueUnstructured{Value:1}",
    );
  });
});
