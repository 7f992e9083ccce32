// Replays recordings of Kubernetes against a forwarding view, and a view of forwarded objects: forwarding must make no
// difference.
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { forward, type WritableForwarded } from "@virtual-workspaces/forwarding";
import { view } from "@virtual-workspaces/framework";
import type { Upstream } from "@virtual-workspaces/transport";
import { answersAsRecorded } from "../differential/as-recorded.ts";
import type { DifferentialKind } from "../differential/kinds/kind.ts";
import { KINDS } from "../differential/kinds.ts";
import { bare, tells } from "../differential/lens-answers.ts";
import type { Case } from "../differential/step.ts";
import { type Subject, startSubject } from "../differential/subject.ts";
import { upstreamAt } from "./support.ts";

/**
 * Cases that do not apply and depend on field managers: through a view each write is an update at the upstream, in the
 * forwarded version, and the upstream computes the managers. See docs/reference/conformance.md.
 */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  update: ["with managedFields emptied"],
  "merge-patch": ["with a uid"],
  versions: ["of a create in the other", "of patches", "of watches", "of collections"],
  scale: ["is put", "is patched"],
};

function turnsOnOwners({ name, steps }: Case, topic: string): boolean {
  return OWNERS[topic]?.includes(name) === true || stringifyJson(steps).includes("application/apply-patch+yaml");
}

type Forwarded = WritableForwarded<{ readonly spec?: object }>;

/** Starts two servers: one with the objects, reset between cases, and one in front. */
async function startForwarded(
  kinds: readonly DifferentialKind[],
  start: (kinds: readonly DifferentialKind[], forwarded: (kind: DifferentialKind[0]) => Forwarded) => Promise<Subject>,
): Promise<Subject> {
  const behind = await startSubject(kinds);
  const upstream: Upstream = upstreamAt(behind.url, "admin");
  const storages: Forwarded[] = [];
  const end = async (): Promise<void> => {
    for (const storage of storages.splice(0)) await storage[Symbol.asyncDispose]();
  };
  const front = await start(kinds, (resource) => {
    const storage: Forwarded = forward({ resource: resource as never, upstream, identity: "none" });
    storages.push(storage);
    return storage;
  });
  return {
    ...front,
    reset: async () => {
      await end();
      await behind.reset?.();
      await front.reset?.();
    },
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await end();
      await upstream[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
}

describe("a forwarded kind answers like Kubernetes:", function () {
  this.timeout(60_000);
  // Each version is forwarded unchanged: the upstream converts.
  const versions = (kinds: readonly DifferentialKind[]) => kinds.flat().map((one) => [one] as const);
  answersAsRecorded(() =>
    startForwarded(KINDS, (kinds, forwarded) =>
      startSubject(versions(kinds) as never, (one) => forwarded(one) as never),
    ),
  );
});

describe("a view of a forwarded kind answers like Kubernetes:", function () {
  this.timeout(60_000);
  answersAsRecorded(
    () =>
      startForwarded(KINDS, (kinds, forwarded) =>
        startSubject(kinds, (stored) => view({ from: forwarded(stored), mapToSource: (object) => object }) as never),
      ),
    { bare, without: (one, topic) => tells(one) || turnsOnOwners(one, topic) },
  );
});
