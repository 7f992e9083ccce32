import {
  isApiError,
  type JsonSchema,
  type KubeObject,
  type ManagedFieldsEntry,
} from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { expect } from "chai";
import { fieldManagerOf } from "./kinds.ts";

const now = new Date(Date.UTC(2026, 0, 1));

function thing(version: string, spec: unknown): KubeObject {
  return { apiVersion: `example.dev/${version}`, kind: "Thing", metadata: { name: "n", uid: "u" }, spec };
}

function entriesOf(object: KubeObject): Record<string, unknown> {
  const entries = object.metadata.managedFields ?? [];
  return Object.fromEntries(entries.map(({ manager, apiVersion, fieldsV1 }) => [`${manager} ${apiVersion}`, fieldsV1]));
}

const [v1, v2] = [fieldManagerOf("rename", "v1"), fieldManagerOf("rename", "v2")];

describe("Server-side apply across versions", () => {
  const live = v1.apply({ live: undefined, config: thing("v1", { text: "hi", count: 1 }), manager: "a", now });
  const asV2 = { ...thing("v2", { message: "hi", count: 1 }), metadata: live.metadata };

  it("finds the fields of another version's manager in its version", () => {
    const config = thing("v2", { message: "ho" });
    expect(() => v2.apply({ live: asV2, config, manager: "b", now })).to.throw(/conflict with "a": \.spec\.text$/);
    const forced = v2.apply({ live: asV2, config, manager: "b", force: true, now });
    expect(forced["spec"]).to.deep.equal({ message: "ho", count: 1 });
    expect(entriesOf(forced)).to.deep.equal({
      "a example.dev/v1": { "f:spec": { "f:count": {} } },
      "b example.dev/v2": { "f:spec": { "f:message": {} } },
    });
  });

  it("removes fields that a manager applied in another version and no longer applies", () => {
    const again = v2.apply({ live: asV2, config: thing("v2", { count: 1 }), manager: "a", now });
    expect(again["spec"]).to.deep.equal({ count: 1 });
    expect(entriesOf(again)).to.deep.equal({ "a example.dev/v2": { "f:spec": { "f:count": {} } } });
    expect(v2.apply({ live: asV2, config: thing("v2", { message: "hi" }), manager: "a", now })["spec"]).to.deep.equal({
      message: "hi",
    });
  });

  it("drops managers of versions that no longer exist", () => {
    const only = new FieldManager({ apiVersion: "example.dev/v2", kind: "Thing" });
    const applied = only.apply({ live: asV2, config: thing("v2", { message: "ho" }), manager: "b", now });
    expect(entriesOf(applied)).to.deep.equal({ "b example.dev/v2": { "f:spec": { ".": {}, "f:message": {} } } });
    const { managedFields } = only.update({ live: asV2, next: asV2, manager: "u", now }).metadata;
    expect(managedFields).to.equal(undefined);
  });

  it("changes only apiVersion without a conversion", () => {
    const schema: JsonSchema = { type: "object", properties: { spec: { type: "object", additionalProperties: true } } };
    const versions = new Map([["example.dev/v1", schema]]);
    const plain = new FieldManager({ apiVersion: "example.dev/v2", kind: "Thing", schema, versions });
    const same = { ...live, apiVersion: "example.dev/v2" };
    const config = thing("v2", { text: "ho" });
    expect(() => plain.apply({ live: same, config, manager: "b", now })).to.throw(/conflict with "a": \.spec\.text$/);
  });

  for (const [what, convert] of [
    [
      "a failing conversion",
      () => {
        throw new Error("no way");
      },
    ],
    [
      "a conversion to an invalid object",
      (object: KubeObject, apiVersion: string) => ({ ...object, apiVersion, spec: { no: 1 } }),
    ],
  ] as const) {
    it(`keeps managedFields at ${what} on update, and fails on apply`, () => {
      const schema: JsonSchema = {
        type: "object",
        properties: { spec: { type: "object", properties: { text: { type: "string" } } } },
      };
      const versions = new Map([["example.dev/v1", schema]]);
      const broken = new FieldManager({ apiVersion: "example.dev/v2", kind: "Thing", versions, convert });
      const next = { ...asV2, spec: { message: "ho" } };
      expect(broken.update({ live: asV2, next, manager: "u", now }).metadata.managedFields).to.equal(
        live.metadata.managedFields,
      );
      let failure: unknown;
      try {
        broken.apply({ live: asV2, config: thing("v2", { message: "ho" }), manager: "b", now });
      } catch (error) {
        failure = error;
      }
      expect(isApiError(failure) && failure.status).to.include({ code: 500 });
      expect(failure)
        .to.have.property("message")
        .that.matches(/^failed to convert object to example\.dev\/v1: /);
    });
  }

  it("owns the whole of a value that has become atomic", () => {
    const entry: ManagedFieldsEntry = {
      manager: "a",
      operation: "Apply",
      apiVersion: "example.dev/v1",
      time: "2026-01-01T00:00:00Z",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:labels": { "f:x": {} }, "f:named": { 'k:{"name":"x"}': { ".": {}, "f:name": {} } } } },
    };
    const before = thing("v1", { labels: { x: "y" }, named: [{ name: "x" }] });
    const tracked: KubeObject = { ...before, metadata: { ...before.metadata, managedFields: [entry] } };
    const [altered, rich] = [fieldManagerOf("altered"), fieldManagerOf("rich")];
    const next = { ...tracked, spec: { ...(tracked["spec"] as object), count: 1 } };
    const changed = altered.update({ live: tracked, next, manager: "u", now });
    expect(entriesOf(changed)).to.deep.include({ "a example.dev/v1": { "f:spec": { "f:labels": {}, "f:named": {} } } });
    expect(entriesOf(rich.update({ live: tracked, next, manager: "u", now }))["a example.dev/v1"]).to.equal(
      entry.fieldsV1,
    );
  });
});
