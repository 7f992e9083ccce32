import { isDeepStrictEqual } from "node:util";
import { type Condition, type ConditionState, READY_CONDITION, setCondition } from "@virtual-workspaces/kcp";
import type { SpaceProviderDesc, SpaceProviderDescStatus } from "../kinds/space-provider-desc.ts";

/** What came of looking at a provider. */
export interface ProviderOutcome {
  /** How many it has; `undefined`: it has never said. */
  readonly spaces: number | undefined;
  /** Why it is not ready. @default it is */
  readonly problem?: { readonly reason: string; readonly message: string; readonly isKnown: boolean };
  /** Some of the names of spaces that no Space can have. @default none */
  readonly unnamed?: readonly string[];
}

/** The condition of what was found at a provider. */
const DISCOVERED = "Discovered";

/** The status of a SpaceProviderDesc. @returns `undefined` where it is as it was */
export function providerStatusOf(
  provider: SpaceProviderDesc,
  { spaces, problem, unnamed = [] }: ProviderOutcome,
  now: Date,
): SpaceProviderDescStatus | undefined {
  const before: Partial<SpaceProviderDescStatus> = provider.status ?? {};
  const ready: ConditionState =
    problem === undefined
      ? { type: READY_CONDITION, status: "True" }
      : { type: READY_CONDITION, status: "False", severity: problem.isKnown ? "Error" : "Info", ...said(problem) };
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

const NAMES = "no Space can have these names, or another has:";
const said = ({ reason, message }: NonNullable<ProviderOutcome["problem"]>) => ({ reason, message });
