import { isDeepStrictEqual } from "node:util";
import { type Condition, type ConditionState, setCondition, setSummary } from "@virtual-workspaces/kcp/conditions";
import type { Space, SpaceStatus } from "../kinds/space.ts";
import type { Row } from "./table.ts";

/** The condition of what is behind a Space. */
const PROVIDED = "Provided";
/** The condition of the Secrets by which it is reached. */
const ACCESS_READY = "AccessReady";
const TYPES = [PROVIDED, ACCESS_READY] as const;

/** What came of looking at a Space. */
export interface SpaceOutcome {
  readonly phase: Row["phase"];
  readonly provided: ConditionState;
  /** @default as it was */
  readonly access?: ConditionState;
  readonly references?: Pick<SpaceStatus, "inClusterSecretRef" | "externalSecretRef">;
  /** Which one is behind it. @default as it was */
  readonly id?: string | undefined;
}

/** The status of a Space. @returns `undefined` where it is as it was */
export function statusOf(space: Space, outcome: SpaceOutcome, now: Date): SpaceStatus | undefined {
  const { phase, provided, access, references, id } = outcome;
  const before: Partial<SpaceStatus> = space.status ?? {};
  let conditions: Condition[] = setCondition(before.conditions as Condition[] | undefined, provided, now);
  if (access !== undefined) conditions = setCondition(conditions, access, now);
  conditions = setSummary(conditions, { now, types: TYPES });
  const { inClusterSecretRef, externalSecretRef, ...rest } = before;
  const { generation } = space.metadata;
  const status: SpaceStatus = {
    ...rest,
    ...(phase !== "keep" && { Phase: phase }),
    ...(references ?? {
      ...(inClusterSecretRef && { inClusterSecretRef }),
      ...(externalSecretRef && { externalSecretRef }),
    }),
    ...(id !== undefined && { spaceID: id }),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
  };
  return isDeepStrictEqual(status, space.status) ? undefined : status;
}

/** It is there, and answers. */
export const isProvided: ConditionState = { type: PROVIDED, status: "True" };
export const hasAccess: ConditionState = { type: ACCESS_READY, status: "True" };

/** It is not, for a reason that passes by itself (`Info`), or does not (`Error`). */
export function notProvided(reason: string, message: string, severity: "Info" | "Error" = "Error"): ConditionState {
  return { type: PROVIDED, status: "False", severity, reason, message };
}

export function notKnown(reason: string, message: string): ConditionState {
  return { type: PROVIDED, status: "Unknown", reason, message };
}

export function noAccess(reason: string, message: string, severity: "Info" | "Error" = "Error"): ConditionState {
  return { type: ACCESS_READY, status: "False", severity, reason, message };
}

/** It may not be what it is to be by now. */
export function staleAccess(message: string): ConditionState {
  return { type: ACCESS_READY, status: "Unknown", reason: "AccessStale", message };
}
