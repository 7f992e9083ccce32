import type { KubeObject, ManagedFieldsEntry } from "@virtual-workspaces/apimachinery";
import { keepManagedFieldsTimes } from "@virtual-workspaces/apimachinery/apply";
import { expect } from "chai";
import { fieldManagerOf } from "./kinds.ts";

const fields = fieldManagerOf("rich");
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

function thing(spec: unknown, metadata: Record<string, unknown> = {}): KubeObject {
  return { apiVersion: "example.dev/v1", kind: "Thing", metadata: { name: "n", ...metadata }, spec };
}

interface By {
  readonly manager?: string;
  readonly second?: number;
}

function update(live: KubeObject | undefined, next: KubeObject, { manager = "u", second = 0 }: By = {}): KubeObject {
  const object = fields.update({ live, next, manager, now: at(second) });
  return { ...object, metadata: { ...object.metadata, uid: "u" } };
}

function withEntries(object: KubeObject, managedFields: unknown): KubeObject {
  return { ...object, metadata: { ...object.metadata, managedFields: managedFields as ManagedFieldsEntry[] } };
}

function withoutEntries(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const entry = (manager: string, text: string): ManagedFieldsEntry => ({
  apiVersion: "example.dev/v1",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": { [`f:${text}`]: {} } },
  manager,
  operation: "Update",
  time: "2026-01-01T00:00:00Z",
});

describe("Managed fields of updates", () => {
  it("contain the set fields with their parents", () => {
    const live = update(undefined, thing({ text: "hi", ports: [{ port: 1 }] }, { labels: { a: "b" } }));
    expect(live.metadata.managedFields).to.deep.equal([
      {
        ...entry("u", ""),
        fieldsV1: {
          "f:metadata": { "f:labels": { ".": {}, "f:a": {} } },
          "f:spec": {
            ".": {},
            "f:ports": { ".": {}, 'k:{"port":1,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
            "f:text": {},
          },
        },
      },
    ]);
  });

  it("move to the manager that changes a field, and disappear with the field", () => {
    const live = update(undefined, thing({ text: "hi", count: 1, flag: true }));
    const { managedFields } = update(
      live,
      { ...live, spec: { text: "ho", count: 1 } },
      { manager: "v", second: 5 },
    ).metadata;
    expect(managedFields).to.deep.equal([
      { ...entry("u", "count"), fieldsV1: { "f:spec": { ".": {}, "f:count": {} } } },
      { ...entry("v", "text"), time: "2026-01-01T00:00:05Z" },
    ]);
  });

  it("stay the same, times included, if nothing changes, whichever manager writes", () => {
    const live = update(undefined, thing({ text: "hi", strings: ["a", "b"] }));
    for (const next of [live, JSON.parse(JSON.stringify(live)) as KubeObject, withoutEntries(live)])
      expect(fields.update({ live, next, manager: "v", now: at(9) })).to.deep.equal(live);
    expect(
      fields.update({ live, next: withoutEntries(live), manager: "v", now: at(9) }).metadata.managedFields,
    ).to.equal(live.metadata.managedFields);
  });

  it("have separate entries for a subresource or another version", () => {
    const live = update(undefined, thing({ text: "hi" }));
    const next = { ...live, status: { phase: "x" } };
    const written = fields.update({ live, next, manager: "u", subresource: "status", now: at(1) });
    expect(written.metadata.managedFields?.map(({ subresource }) => subresource)).to.deep.equal([undefined, "status"]);
    const ignored = fields.update({ live, next, manager: "u", now: at(1) });
    expect(ignored.metadata.managedFields).to.equal(live.metadata.managedFields);
  });

  for (const [what, managedFields] of [
    ["an empty list", []],
    ["a list of one empty entry", [{}]],
    ["a list of one entry of empty texts", [{ manager: "", operation: "" }]],
  ] as const) {
    it(`are reset by ${what}, and not tracked again by an update`, () => {
      const live = update(undefined, thing({ text: "hi" }));
      const reset = fields.update({ live, next: withEntries(live, managedFields), manager: "u", now: at(1) });
      expect(reset).to.deep.equal(withoutEntries(live));
      expect(update(reset, { ...reset, spec: { text: "ho" } }).metadata).not.to.have.property("managedFields");
    });
  }

  for (const [what, managedFields] of [
    ["nothing", undefined],
    ["null", null],
    ["a text", "x"],
    ["a list of null", [null]],
    ["an entry of a wrong type", [{ ...entry("x", "text"), manager: 1 }]],
    ["an entry with an invalid time", [{ ...entry("x", "text"), time: "now" }]],
    ["an entry with a time on 30 February", [{ ...entry("x", "text"), time: "2024-02-30T00:00:00Z" }]],
    ["an entry with a time in hour 24", [{ ...entry("x", "text"), time: "2024-02-29T24:00:00Z" }]],
    ["an entry with a time in month 13", [{ ...entry("x", "text"), time: "2026-13-01T00:00:00Z" }]],
    ["an entry without an operation", [{ ...entry("x", "text"), operation: undefined }]],
    ["an entry without a version", [{ ...entry("x", "text"), apiVersion: "" }]],
    ["an entry without a fieldsType", [{ ...entry("x", "text"), fieldsType: "" }]],
    ["an entry with malformed fields", [{ ...entry("x", "text"), fieldsV1: { text: {} } }]],
    ["an entry with a text for fields", [{ ...entry("x", "text"), fieldsV1: "f:text" }]],
  ] as const) {
    it(`keep their previous state if the client sends ${what}`, () => {
      const live = update(undefined, thing({ text: "hi" }));
      const next = withEntries(live, managedFields);
      expect(fields.update({ live, next, manager: "v", now: at(1) })).to.deep.equal(live);
      const through = fields.update({
        live,
        next: withEntries(live, []),
        manager: "v",
        subresource: "status",
        now: at(1),
      });
      expect(through).to.deep.equal(live);
    });
  }

  it("accept entries of the client, and sort them", () => {
    const live = update(undefined, thing({ text: "hi", count: 1 }));
    const given = [
      {
        ...entry("z", "count"),
        time: "2020-06-01T02:00:00.5+02:00",
        fieldsV1: { "f:spec": { "f:count": {}, "x:new": {}, ".": {} } },
      },
      { ...entry("a", "text"), operation: "Apply" as const, apiVersion: "example.dev/v1" },
      { ...entry("old", "text"), apiVersion: "example.dev/v0" },
      { ...entry("empty", "text"), fieldsV1: {} },
    ];
    const { managedFields } = update(live, withEntries(live, given)).metadata;
    expect(managedFields).to.deep.equal([
      given[1],
      { ...entry("z", "count"), time: "2020-06-01T00:00:00Z", fieldsV1: { "f:spec": { ".": {}, "f:count": {} } } },
    ]);
  });

  it("stay the same if an object does not fit the schema", () => {
    const live = update(undefined, thing({ text: "hi" }));
    const next = withEntries({ ...live, spec: { text: 1 } }, []);
    expect(update(live, withoutEntries(next)).metadata.managedFields).to.equal(live.metadata.managedFields);
  });

  it("merge the oldest entries beyond ten", () => {
    let live = update(undefined, thing({ labels: { start: "x" } }), { manager: "u0" });
    for (let i = 1; i <= 12; i++) {
      const labels = { ...((live as { spec?: { labels?: object } }).spec?.labels ?? {}), [`l${i}`]: "x" };
      live = update(live, { ...live, spec: { labels } }, { manager: `u${i}`, second: i });
    }
    const { managedFields = [] } = live.metadata;
    expect(managedFields.map(({ manager }) => manager)).to.deep.equal([
      "ancient-changes",
      ...Array.from({ length: 9 }, (_, i) => `u${i + 4}`),
    ]);
    expect(managedFields[0]).to.deep.include({
      time: "2026-01-01T00:00:03Z",
      fieldsV1: { "f:spec": { ".": {}, "f:labels": { ".": {}, "f:l1": {}, "f:l2": {}, "f:l3": {}, "f:start": {} } } },
    });
  });

  it("belong to unknown for a manager without a name", () => {
    expect(update(undefined, thing({ text: "hi" }), { manager: "" }).metadata.managedFields?.[0]?.manager).to.equal(
      "unknown",
    );
  });

  it("keep their times if the write changes nothing in the end", () => {
    const live = update(undefined, thing({ text: "hi" }));
    const touched = withEntries(live, [{ ...live.metadata.managedFields?.[0], time: "2026-02-02T00:00:00Z" }]);
    expect(keepManagedFieldsTimes(touched, live)).to.deep.equal(live);
    for (const next of [{ ...touched, spec: {} }, withEntries(touched, [entry("x", "text")]), withoutEntries(live)])
      expect(keepManagedFieldsTimes(next, live)).to.equal(next);
  });
});
