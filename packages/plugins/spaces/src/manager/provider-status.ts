import { isDeepStrictEqual } from "node:util";
import { type Condition, type ConditionState, READY_CONDITION, setCondition } from "@virtual-workspaces/kcp/conditions";
import { SPACE_FINALIZER } from "../kinds/names.ts";
import type { Space } from "../kinds/space.ts";
import type { SpaceProviderDesc, SpaceProviderDescStatus } from "../kinds/space-provider-desc.ts";
import type { ProviderRun } from "./provider-runs.ts";

/** Result of a reconciliation. */
export interface ProviderOutcome {
  /** Number of spaces; `undefined` before the first list. */
  readonly spaces: number | undefined;
  /** Reason why the provider is not ready. @default it is ready */
  readonly problem?: { readonly reason: string; readonly message: string; readonly isKnown: boolean };
  /** Some of the physical spaces whose names are invalid for a Space. @default none */
  readonly unnamed?: readonly string[];
}

/** Returns the outcome of an open provider. */
export function outcomeOf(run: ProviderRun): ProviderOutcome {
  const reflector = run.below(undefined);
  const { state } = reflector;
  const spaces = reflector.isKnown ? reflector.names.length : undefined;
  if (state.status === "current") return { spaces };
  if (state.status === "unknown")
    return {
      spaces,
      problem: { reason: "Initializing", message: "the provider has not listed its spaces yet", isKnown: false },
    };
  return { spaces, problem: { reason: "ProviderUnreachable", message: state.error.message, isKnown: true } };
}

/** Returns the outcome of a provider that cannot be opened. */
export const failed = (reason: string, message: string): ProviderOutcome => ({
  spaces: undefined,
  problem: { reason, message, isKnown: true },
});

/** Maximum number of objects that a message lists. */
export const MOST_NAMED = 5;

/** Returns the outcome of a provider whose deletion waits for that of Spaces. */
export function waitingFor(waiting: readonly Space[], { problem, ...outcome }: ProviderOutcome): ProviderOutcome {
  const names = waiting.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).sort();
  const others = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} others` : "";
  const all = new Set(waiting.flatMap(({ metadata }) => metadata.finalizers ?? []));
  const foreign = [...all].filter((one) => one !== SPACE_FINALIZER);
  const message = [
    `the deletion waits for that of the Spaces ${names.slice(0, MOST_NAMED).join(", ")}${others}: see their condition Provided`,
    ...(foreign.length > 0 ? [`remove their finalizers ${foreign.join(", ")} if no controller does`] : []),
    ...(problem?.isKnown === true ? [`the provider is not available: ${problem.reason}: ${problem.message}`] : []),
  ].join("; ");
  return { ...outcome, problem: { reason: "Deleting", message, isKnown: problem?.isKnown === true } };
}

/** Type of the condition about discovery. */
const DISCOVERED = "Discovered";

/** Returns the new status of a SpaceProviderDesc. @returns `undefined` if it is unchanged */
export function providerStatusOf(
  provider: SpaceProviderDesc,
  { spaces, problem, unnamed = [] }: ProviderOutcome,
  now: Date,
): SpaceProviderDescStatus | undefined {
  const before: Partial<SpaceProviderDescStatus> = provider.status ?? {};
  const ready: ConditionState =
    problem === undefined
      ? { type: READY_CONDITION, status: "True" }
      : {
          type: READY_CONDITION,
          status: "False",
          severity: problem.isKnown ? "Error" : "Info",
          ...reasonAndMessage(problem),
        };
  const discovered: ConditionState =
    unnamed.length === 0
      ? { type: DISCOVERED, status: "True" }
      : {
          type: DISCOVERED,
          status: "False",
          severity: "Warning",
          reason: "NamesTaken",
          message: `${NAMES} ${unnamed.join(", ")}`,
        };
  const conditions = setCondition(
    setCondition(before.conditions as Condition[] | undefined, ready, now),
    discovered,
    now,
  );
  const { generation } = provider.metadata;
  const status: SpaceProviderDescStatus = {
    ...before,
    Phase: problem === undefined ? "Ready" : (before.Phase ?? "Initializing"),
    ...(spaces !== undefined && { spaces }),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
  };
  return isDeepStrictEqual(status, provider.status) ? undefined : status;
}

const NAMES = "invalid names, or names of other Spaces:";
const reasonAndMessage = ({ reason, message }: NonNullable<ProviderOutcome["problem"]>) => ({ reason, message });
