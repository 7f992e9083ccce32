import { readFileSync } from "node:fs";
import { isApiError, type KubeObject, type Status } from "@virtual-workspaces/apimachinery";
import type { FieldManager } from "@virtual-workspaces/apimachinery/apply";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import { fieldManagerOf } from "./kinds.ts";

/** Write of a history. Its result was recorded from Kubernetes' own field manager. */
interface Step {
  readonly kind: string;
  readonly version: string;
  readonly op: "apply" | "update";
  readonly manager: string;
  readonly subresource?: string;
  readonly force?: boolean;
  readonly now: string;
  /** Object before the write, if it is not the previous result; null for none. */
  readonly live?: KubeObject | null;
  /** UID that the object has since got. */
  readonly uid?: string;
  readonly next: KubeObject;
  /** Result: an object or an error. */
  readonly object?: KubeObject;
  readonly status?: Status;
}

const histories = JSON.parse(
  readFileSync(new URL("histories.snapshot.json", import.meta.url), "utf8"),
) as readonly (readonly Step[])[];

const managers = new Map<string, FieldManager>();

function managerOf({ kind, version }: Step): FieldManager {
  const id = `${kind}/${version}`;
  const manager = managers.get(id) ?? fieldManagerOf(kind, version);
  managers.set(id, manager);
  return manager;
}

function play(step: Step, live: KubeObject | undefined): Pick<Step, "object" | "status"> {
  const { op, next, manager, subresource = "", force = false } = step;
  const now = new Date(step.now);
  try {
    if (op === "update") return { object: managerOf(step).update({ live, next, manager, subresource, now }) };
    return { object: managerOf(step).apply({ live, config: next, manager, subresource, force, now }) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { status: error.status };
  }
}

describe("Server-side apply of recorded histories", () => {
  it("has histories of every kind of outcome", () => {
    const steps = histories.flat();
    expect(steps.filter(({ status }) => status?.code === 409)).to.have.length.above(20);
    expect(steps.filter(({ status }) => status?.code === 500)).to.have.length.above(20);
    expect(steps.filter(({ object }) => object !== undefined)).to.have.length.above(200);
  });

  for (const [at, history] of histories.entries()) {
    it(`gives Kubernetes' result: ${at} (${[...new Set(history.map(({ kind }) => kind))].join(", ")})`, () => {
      let live: KubeObject | undefined;
      for (const [number, step] of history.entries()) {
        if (step.live !== undefined) live = step.live ?? undefined;
        if (step.uid !== undefined && live !== undefined)
          live = { ...live, metadata: { ...live.metadata, uid: step.uid } };
        const before = cloneJson([live, step.next]);
        const { object, status } = play(step, live);
        expect({ object, status }, `step ${number}`).to.deep.equal({ object: step.object, status: step.status });
        expect([live, step.next], "the inputs").to.deep.equal(before);
        live = object ?? live;
      }
    });
  }
});
