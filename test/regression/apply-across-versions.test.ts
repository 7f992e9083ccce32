// A manager that applied in one version and then in another got 500 forever. The server computed the dropped fields by
// converting an object without them, but conversions expect valid objects.
import { allow, converted, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { APPLY } from "../_support/patches.ts";
import { startPlain } from "../_support/plain.ts";

const names = { group: "example.dev", kind: "Timer", scope: "Cluster" } as const;
const note = { type: "string" } as const;
const V1 = defineResource({
  ...names,
  version: "v1",
  spec: {
    type: "object",
    required: ["seconds", "bells"],
    properties: {
      seconds: { type: "integer", maximum: 86400 },
      note,
      bells: {
        type: "array",
        items: {
          type: "object",
          required: ["name", "tone"],
          properties: { name: note, tone: note, loud: { type: "boolean" } },
        },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
    },
  },
});
const Beta = defineResource({
  ...names,
  version: "v1beta1",
  spec: {
    type: "object",
    required: ["duration", "bells"],
    properties: {
      duration: { type: "string", pattern: "^[0-9]+m$" },
      note,
      bells: {
        type: "array",
        items: {
          type: "object",
          required: ["name", "tone"],
          properties: { name: note, tone: note, loud: { type: "boolean" } },
        },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
      },
    },
  },
});

async function start() {
  const timers = V1.collection();
  const faults: unknown[] = [];
  const upper = <B extends { tone: string }>(bell: B): B => ({ ...bell, tone: bell.tone.toUpperCase() });
  const lower = <B extends { tone: string }>(bell: B): B => ({ ...bell, tone: bell.tone.toLowerCase() });
  const beta = converted({
    from: timers,
    to: Beta,
    read: ({ spec: { seconds, bells, ...rest } }) => ({
      spec: { ...rest, bells: bells.map(upper), duration: `${Math.ceil(seconds / 60).toFixed(0)}m` },
    }),
    write: ({ spec: { duration, bells, ...rest } }) => ({
      spec: { ...rest, bells: bells.map(lower), seconds: Number(duration.replace("m", "")) * 60 },
    }),
    onError: (error) => faults.push(error),
  });
  const resources = [V1.serve(timers), Beta.serve(beta)];
  const server = await startPlain([
    defineVirtualWorkspace({ name: "timers", path: "/", authorize: () => allow(), resources }),
  ]);
  const apply = async (manager: string, version: "v1" | "v1beta1", spec: object): Promise<unknown> => {
    const path = `/services/timers/apis/example.dev/${version}/timers/tea?force=true&fieldManager=${manager}` as const;
    const object = { apiVersion: `example.dev/${version}`, kind: "Timer", metadata: { name: "tea" }, spec };
    const { status, body } = await server.send(`PATCH ${path}`, JSON.stringify(object), APPLY);
    expect([200, 201], body.message).to.include(status);
    return body.spec;
  };
  return { server, apply, faults };
}

describe("a manager that continues to apply in another version", () => {
  it("drops the fields that it no longer applies, and converts only valid objects", async () => {
    const { server, apply, faults } = await start();
    await using _ = server;
    const loud = { name: "a", tone: "X", loud: true };
    await apply("ann", "v1beta1", { duration: "5m", note: "n", bells: [loud, { name: "b", tone: "Y" }] });
    await apply("bob", "v1", { seconds: 300, bells: [{ name: "c", tone: "z" }] });
    expect(await apply("ann", "v1", { seconds: 300, bells: [{ name: "a", tone: "x" }] })).to.deep.equal({
      seconds: 300,
      bells: [
        { name: "a", tone: "x" },
        { name: "c", tone: "z" },
      ],
    });
    expect(await apply("bob", "v1beta1", { duration: "7m", bells: [] })).to.deep.equal({
      duration: "7m",
      bells: [{ name: "a", tone: "X" }],
    });
    expect(await apply("ann", "v1beta1", { duration: "7m", bells: [] })).to.deep.equal({ duration: "7m", bells: [] });
    expect(faults).to.deep.equal([]);
  });

  it("keeps the fields that the kind requires", async () => {
    const { server, apply, faults } = await start();
    await using _ = server;
    await apply("ann", "v1beta1", { duration: "5m", note: "n", bells: [] });
    expect(await apply("ann", "v1", {})).to.deep.equal({ seconds: 300, bells: [] });
    expect(faults).to.deep.equal([]);
  });
});
