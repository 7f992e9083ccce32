import { formatTime } from "@virtual-workspaces/apimachinery";
import type { NamespaceCondition } from "../kinds/namespace.ts";
import type { Remains } from "../state/stored-content.ts";

/** What came of an attempt to empty a namespace. */
export interface Attempt {
  /** Why it is not known what there is. */
  readonly discovery?: string;
  /** Why some of it could not be deleted. */
  readonly failures: readonly string[];
  readonly remains: Remains;
}

type Said = Pick<NamespaceCondition, "status" | "reason" | "message">;

/** What each condition says when nothing is wrong, in the order in which they stand. */
const FINE: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  NamespaceDeletionDiscoveryFailure: ["ResourcesDiscovered", "All resources successfully discovered"],
  NamespaceDeletionGroupVersionParsingFailure: ["ParsedGroupVersions", "All legacy kube types successfully parsed"],
  NamespaceDeletionContentFailure: [
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
  ],
  NamespaceContentRemaining: ["ContentRemoved", "All content successfully removed"],
  NamespaceFinalizersRemaining: ["ContentHasNoFinalizers", "All content-preserving finalizers finished"],
};

/** The conditions of a namespace that is being deleted, in Kubernetes' words; others stay. */
export function deletionConditions(
  before: readonly NamespaceCondition[],
  attempt: Attempt,
  now: Date,
): NamespaceCondition[] {
  const wrong = problems(attempt);
  const own = Object.entries(FINE).map(([type, [reason, message]]): NamespaceCondition => {
    const said: Said = wrong.get(type) ?? { status: "False", reason, message };
    const was = before.find((condition) => condition.type === type);
    const since = was?.status === said.status ? was.lastTransitionTime : undefined;
    return { type, ...said, lastTransitionTime: since ?? formatTime(now) };
  });
  return [...before.filter(({ type }) => FINE[type] === undefined), ...own];
}

function problems({ discovery, failures, remains }: Attempt): ReadonlyMap<string, Said> {
  const wrong = new Map<string, Said>();
  const say = (type: string, reason: string, message: string): void =>
    void wrong.set(type, { status: "True", reason, message });
  if (discovery !== undefined)
    say(
      "NamespaceDeletionDiscoveryFailure",
      "DiscoveryFailed",
      `Discovery failed for some groups, 1 failing: ${discovery}`,
    );
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(", ")}`;
    say("NamespaceDeletionContentFailure", "ContentDeletionFailed", message);
  }
  if (remains.objects.size > 0) {
    const texts = [...remains.objects].map(([kind, count]) => `${kind} has ${count} resource instances`).sort();
    say("NamespaceContentRemaining", "SomeResourcesRemain", `Some resources are remaining: ${texts.join(", ")}`);
  }
  if (remains.finalizers.size > 0) {
    const texts = [...remains.finalizers].map(([name, count]) => `${name} in ${count} resource instances`).sort();
    const message = `Some content in the namespace has finalizers remaining: ${texts.join(", ")}`;
    say("NamespaceFinalizersRemaining", "SomeFinalizersRemain", message);
  }
  return wrong;
}
