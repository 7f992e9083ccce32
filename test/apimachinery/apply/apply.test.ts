import { isApiError, type KubeObject, type Status } from "@virtual-workspaces/apimachinery";
import { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { expect } from "chai";
import { fieldManagerOf } from "./kinds.ts";

const fields = fieldManagerOf("rich");
const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

function thing(spec: unknown, metadata: Record<string, unknown> = {}): KubeObject {
  return { apiVersion: "example.dev/v1", kind: "Thing", metadata: { name: "n", ...metadata }, spec };
}

function stored(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, uid: "u" } };
}

interface Apply {
  readonly manager?: string;
  readonly force?: boolean;
  readonly second?: number;
}

function apply(
  live: KubeObject | undefined,
  config: KubeObject,
  { manager = "a", force = false, second = 0 }: Apply = {},
): KubeObject {
  return stored(fields.apply({ live, config, manager, force, now: at(second) }));
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

describe("Server-side apply", () => {
  it("creates an object", () => {
    const config = thing({ text: "hi", strings: ["x"], ports: [{ port: 80 }] }, { labels: { app: "x" } });
    const { metadata, ...rest } = fields.apply({ live: undefined, config, manager: "a", now: at(0) });
    expect(rest.spec).to.deep.equal(config.spec);
    expect(metadata.managedFields).to.deep.equal([
      {
        apiVersion: "example.dev/v1",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:metadata": { "f:labels": { "f:app": {} } },
          "f:spec": {
            "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
            "f:strings": { 'v:"x"': {} },
            "f:text": {},
          },
        },
        manager: "a",
        operation: "Apply",
        time: "2026-01-01T00:00:00Z",
      },
    ]);
  });

  it("returns the same object, times included, if nothing changes", () => {
    const config = thing({ text: "hi", strings: ["x"], ports: [{ port: 80, tags: [] }], free: { a: { b: [1] } } });
    const live = apply(undefined, config);
    expect(fields.apply({ live, config, manager: "a", now: at(9) })).to.equal(live);
    expect(fields.apply({ live: JSON.parse(JSON.stringify(live)), config, manager: "a", now: at(9) })).to.deep.equal(
      live,
    );
  });

  it("merges, and removes fields that are no longer applied and that no other manager owns", () => {
    let live = apply(undefined, thing({ text: "hi", strings: ["x", "y"], labels: { a: "1", b: "2" } }));
    live = apply(live, thing({ strings: ["y", "z"], labels: { b: "2" } }), { manager: "b" });
    live = apply(live, thing({ count: 1, strings: ["x"] }));
    expect(live.spec).to.deep.equal({ count: 1, strings: ["x", "y", "z"], labels: { b: "2" } });
  });

  it("rejects changes to fields of other managers by name, unless forced", () => {
    const live = apply(undefined, thing({ text: "hi", count: 1, ports: [{ port: 80, name: "web" }] }), {
      manager: "a",
    });
    const other = fields.update({
      live,
      next: { ...live, spec: { ...(live.spec as object), count: 2 } },
      manager: "u",
      now: at(1),
    });
    const config = thing({ text: "ho", count: 3, ports: [{ port: 80, name: "x" }] });
    const status = refusal(() => apply(other, config, { manager: "c" }));
    expect(status).to.deep.equal({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: [
        'Apply failed with 3 conflicts: conflicts with "a":',
        "- .spec.text",
        '- .spec.ports[port=80,protocol="TCP"].name',
        'conflicts with "u" using example.dev/v1:',
        "- .spec.count",
      ].join("\n"),
      reason: "Conflict",
      details: {
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".spec.text" },
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "a"',
            field: '.spec.ports[port=80,protocol="TCP"].name',
          },
          { reason: "FieldManagerConflict", message: 'conflict with "u" using example.dev/v1', field: ".spec.count" },
        ],
      },
      code: 409,
    });
    const forced = apply(other, config, { manager: "c", force: true });
    expect(forced.spec).to.deep.equal(config.spec);
    expect(forced.metadata.managedFields?.map(({ manager }) => manager)).to.deep.equal(["a", "c"]);
    expect(refusal(() => apply(forced, thing({ text: "hi" }))).message).to.equal(
      'Apply failed with 1 conflict: conflict with "c": .spec.text',
    );
  });

  it("shares ownership of fields with equal values", () => {
    let live = apply(undefined, thing({ text: "hi" }));
    live = apply(live, thing({ text: "hi" }), { manager: "b" });
    live = apply(live, thing({ count: 1 }));
    expect(live.spec).to.deep.equal({ text: "hi", count: 1 });
    expect(apply(live, thing({ flag: true }), { manager: "b" }).spec).to.deep.equal({ count: 1, flag: true });
  });

  it("keeps the fields from before the first apply", () => {
    const live = stored(thing({ text: "hi", count: 1 }));
    const applied = apply(live, thing({ text: "hi" }));
    expect(applied.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).to.deep.equal([
      ["a", "Apply"],
      ["before-first-apply", "Update"],
    ]);
    expect(refusal(() => apply(live, thing({ text: "ho" }))).message).to.contain(
      '"before-first-apply" using example.dev/v1',
    );
  });

  it("lets kubectl take over fields of its client-side applies", () => {
    const name = "kubectl.kubernetes.io/last-applied-configuration";
    const before = thing({ text: "hi", count: 1 });
    const annotations = { [name]: `${JSON.stringify(before)}\n` };
    const next = { ...before, metadata: { ...before.metadata, annotations } };
    const live = stored(fields.update({ live: undefined, next, manager: "kubectl-client-side-apply", now: at(0) }));
    const config = thing({ text: "<ho>\b\f", count: 1 });
    expect(refusal(() => apply(live, config, { manager: "me" })).code).to.equal(409);
    const applied = apply(live, config, { manager: "kubectl" });
    expect(applied.metadata.annotations?.[name]).to.equal(
      '{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"n"},"spec":{"count":1,"text":"\\u003cho\\u003e\\b\\f"}}\n',
    );
    const changed = fields.update({ live, next: { ...live, spec: { text: "x", count: 1 } }, manager: "u", now: at(1) });
    expect(refusal(() => apply(changed, config, { manager: "kubectl" })).details?.causes).to.have.length(1);
  });

  it("owns no fields that it cannot set", () => {
    const config = { ...thing({ text: "hi" }), status: { phase: "x" } };
    const [entry] = apply(undefined, config).metadata.managedFields ?? [];
    expect(entry?.fieldsV1).to.deep.equal({ "f:spec": { "f:text": {} } });
    const status = fields.apply({ live: undefined, config, manager: "a", subresource: "status", now: at(0) });
    expect(status.metadata.managedFields).to.have.length(1);
    expect(status.metadata.managedFields?.[0]).to.include({ subresource: "status" });
    expect(status.metadata.managedFields?.[0]?.fieldsV1).to.deep.equal({ "f:status": { "f:phase": {} } });
  });

  it("works without a schema", () => {
    const free = new FieldManager({ apiVersion: "example.dev/v1", kind: "Thing" });
    const live = free.apply({ live: undefined, config: thing({ a: { b: 1 }, list: [1] }), manager: "a", now: at(0) });
    const merged = free.apply({ live, config: thing({ a: { c: 2 } }), manager: "b", now: at(1) });
    expect(merged.spec).to.deep.equal({ a: { b: 1, c: 2 }, list: [1] });
    expect(
      refusal(() => free.apply({ live, config: thing({ list: [1, 2] }), manager: "b", now: at(1) })).message,
    ).to.equal('Apply failed with 1 conflict: conflict with "a": .spec.list');
  });

  it("extracts the configuration that a manager applied last", () => {
    const config = thing({ text: "hi", ports: [{ port: 80, name: "x" }], open: {} }, { labels: { a: "b" } });
    const live = apply(
      apply(undefined, config),
      thing({ count: 1, ports: [{ port: 80, tags: ["t"] }], open: { z: 1 } }),
      { manager: "b" },
    );
    expect(fields.extract(live, { manager: "a" })).to.deep.equal({ ...config, metadata: { labels: { a: "b" } } });
    expect(fields.extract(live, { manager: "c" })).to.equal(undefined);
  });
});
