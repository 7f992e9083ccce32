import { isApiError, type KubeObject, type Status } from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { expect } from "chai";
import { computed } from "../../_support/cpu.ts";
import { fieldManagerOf } from "./kinds.ts";

const now = new Date(Date.UTC(2026, 0, 1));
const fields = fieldManagerOf("rich");
const free = new FieldManager({ apiVersion: "example.dev/v1", kind: "Thing" });

function thing(spec: unknown, annotations?: Record<string, string>): KubeObject {
  const metadata = { name: "n", ...(annotations === undefined ? {} : { annotations }) };
  return { apiVersion: "example.dev/v1", kind: "Thing", metadata, spec };
}

function refusal(act: () => unknown): Status {
  try {
    act();
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
  throw new Error("not refused");
}

const long = "k".repeat(100_000);

describe("Server-side apply within its limits", () => {
  it("reports only some of very many problems with long paths", () => {
    const labels = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]));
    const { message } = refusal(() => fields.apply({ live: undefined, config: thing({ labels }), manager: "a", now }));
    expect(message.split("\n")).to.have.length(21);
    const deep = { [long]: { a: 1, b: "x" }, [`${long}2`]: { a: 1 } };
    const told = refusal(() => fields.apply({ live: undefined, config: thing({ deep }), manager: "a", now })).message;
    expect(told).to.contain(".a: expected string").and.to.have.length.below(101_000);
  });

  it("counts all conflicts, and lists as many as fit", () => {
    const members = (value: number): object => ({
      [long]: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [i, value])),
    });
    const live = free.apply({ live: undefined, config: thing(members(1)), manager: "a", now });
    const { message, details } = refusal(() => free.apply({ live, config: thing(members(2)), manager: "b", now }));
    expect(details?.causes).to.have.length(3);
    expect(message)
      .to.match(/^Apply failed with 1000 conflicts: conflicts with "a":\n/)
      .and.to.match(/\n- and 997 more$/);
  });

  it("accepts objects as deep as JSON may be", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 990; level++) deep = level % 2 === 0 ? { a: deep } : { __proto__x: deep };
    const live = free.apply({ live: undefined, config: thing(deep), manager: "a", now });
    expect(
      refusal(() => free.apply({ live, config: thing({ __proto__x: 1, a: 1 }), manager: "b", now })).code,
    ).to.equal(409);
    expect(free.apply({ live, config: thing(deep), manager: "a", now })).to.equal(live);
  });

  it("merges very many managers quickly", () => {
    const live = { ...thing({ a: 1 }), metadata: { name: "n", uid: "u" } };
    const managedFields = Array.from({ length: 20_000 }, (_, i) => ({
      manager: `m${i}`,
      operation: "Update" as const,
      apiVersion: "example.dev/v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { [`f:x${i}`]: {} } },
    }));
    const next = { ...live, metadata: { ...live.metadata, managedFields } };
    const started = computed();
    const updated = free.update({ live, next, manager: "u", now });
    const took = computed() - started;
    expect(updated.metadata.managedFields).to.have.length(10);
    expect(took, "milliseconds").to.be.below(2000);
  });

  it("rejects path elements and annotations that are nested deeper", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const live = free.update({ live: undefined, next: thing({ a: 1 }), manager: "u", now });
    const entry = { manager: "x", operation: "Update" as const, apiVersion: "example.dev/v1", fieldsType: "FieldsV1" };
    for (const key of [`v:${deep}`, `k:{"a":${deep}}`]) {
      const managedFields = [{ ...entry, fieldsV1: { [key]: {} } }];
      const next = { ...live, metadata: { ...live.metadata, managedFields } };
      expect(free.update({ live, next, manager: "u", now })).to.deep.equal(live);
    }
    const annotations = {
      "kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"example.dev/v1","kind":"Thing","spec":{"a":${deep}}}`,
    };
    const annotated = free.update({ live: undefined, next: thing({ a: 1 }, annotations), manager: "u", now });
    expect(
      refusal(() => free.apply({ live: annotated, config: thing({ a: 2 }), manager: "kubectl", now })).code,
    ).to.equal(409);
  });

  it("accepts field names of Object.prototype, and __proto__", () => {
    const spec = JSON.parse('{"__proto__":{"a":1},"constructor":{"b":1},"toString":1}') as unknown;
    const live = free.apply({ live: undefined, config: thing(spec), manager: "a", now });
    const text = '{"__proto__":{"a":2},"hasOwnProperty":1}';
    const config = thing(JSON.parse(text));
    expect(refusal(() => free.apply({ live, config, manager: "b", now })).details?.causes?.[0]?.field).to.equal(
      ".spec.__proto__.a",
    );
    const forced = free.apply({ live, config, manager: "b", force: true, now });
    expect(JSON.stringify(forced["spec"])).to.equal(
      '{"__proto__":{"a":2},"constructor":{"b":1},"toString":1,"hasOwnProperty":1}',
    );
    const removed = free.apply({ live: forced, config: thing({}), manager: "b", now });
    expect(JSON.stringify(removed["spec"])).to.equal('{"__proto__":null,"constructor":{"b":1},"toString":1}');
    expect(({} as { a?: unknown }).a).to.equal(undefined);
  });

  it("drops the annotation of client-side apply if annotations would be too long", () => {
    const name = "kubectl.kubernetes.io/last-applied-configuration";
    const live = fields.update({ live: undefined, next: thing({}, { [name]: "{}" }), manager: "kubectl", now });
    const apply = (text: string): KubeObject =>
      fields.apply({ live, config: thing({ text }), manager: "kubectl", now });
    expect(apply("x".repeat(1000)).metadata.annotations?.[name]).to.contain("xxx");
    expect(apply("x".repeat(300_000)).metadata.annotations).to.deep.equal({});
  });

  for (const [what, annotation] of [
    ["invalid JSON", "{"],
    ["not an object", "1"],
    ["of another version", '{"apiVersion":"example.dev/v9","kind":"Thing"}'],
    ["without a kind", '{"apiVersion":"example.dev/v1","spec":{"text":"hi"}}'],
    ["of another schema", '{"apiVersion":"example.dev/v1","kind":"Thing","spec":{"text":"hi","no":1}}'],
  ] as const) {
    it(`takes over no fields from a client-side apply that is ${what}`, () => {
      const annotations = { "kubectl.kubernetes.io/last-applied-configuration": annotation };
      const live = fields.update({ live: undefined, next: thing({ text: "hi" }, annotations), manager: "u", now });
      const status = refusal(() => fields.apply({ live, config: thing({ text: "ho" }), manager: "kubectl", now }));
      expect(status.details?.causes).to.have.length(1);
    });
  }
});
