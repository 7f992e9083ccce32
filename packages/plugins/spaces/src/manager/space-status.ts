import { isDeepStrictEqual } from "node:util";
import { type Condition, type ConditionState, setCondition, setSummary } from "@virtual-workspaces/kcp/conditions";
import { REACHED, type Space, type SpaceStatus } from "../kinds/space.ts";
import type { Row } from "./table.ts";

/** Type of the condition about the physical space. */
const PROVIDED = "Provided";
/** Type of the condition about the access Secrets. */
const ACCESS_READY = "AccessReady";
const TYPES = [PROVIDED, ACCESS_READY, REACHED] as const;

/** Result of a reconciliation. */
export interface SpaceOutcome {
  readonly phase: Row["phase"];
  readonly provided: ConditionState;
  /** @default unchanged */
  readonly access?: ConditionState;
  /** Condition of an imported Space. @default unchanged */
  readonly reached?: ConditionState;
  /** Digest of the access that has reached the space. @default unchanged */
  readonly accessDigest?: string;
  readonly references?: Pick<SpaceStatus, "inClusterSecretRef" | "externalSecretRef">;
  /** Identifier of the physical space. @default unchanged */
  readonly id?: string | undefined;
}

/** Returns the new status of a Space. @returns `undefined` if it is unchanged */
export function statusOf(space: Space, outcome: SpaceOutcome, now: Date): SpaceStatus | undefined {
  const { phase, provided, access, reached, accessDigest, references, id } = outcome;
  const before: Partial<SpaceStatus> = space.status ?? {};
  let conditions: Condition[] = setCondition(before.conditions as Condition[] | undefined, provided, now);
  if (access !== undefined) conditions = setCondition(conditions, access, now);
  if (reached !== undefined) conditions = setCondition(conditions, reached, now);
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
    ...(accessDigest !== undefined && { accessDigest }),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
  };
  return isDeepStrictEqual(status, space.status) ? undefined : status;
}

/** Condition of a space that exists and responds. */
export const isProvided: ConditionState = { type: PROVIDED, status: "True" };
export const hasAccess: ConditionState = { type: ACCESS_READY, status: "True" };

/** Returns the condition of a space that is not available. `Info` is for a temporary reason, `Error` for a permanent one. */
export function notProvided(reason: string, message: string, severity: "Info" | "Error" = "Error"): ConditionState {
  return { type: PROVIDED, status: "False", severity, reason, message };
}

export function notKnown(reason: string, message: string): ConditionState {
  return { type: PROVIDED, status: "Unknown", reason, message };
}

export function noAccess(reason: string, message: string, severity: "Info" | "Error" = "Error"): ConditionState {
  return { type: ACCESS_READY, status: "False", severity, reason, message };
}

/** Returns the condition of access that may be out of date. */
export function staleAccess(message: string): ConditionState {
  return { type: ACCESS_READY, status: "Unknown", reason: "AccessStale", message };
}

/** Condition of an imported Space that the manager has connected to with the current access. */
export const isReached: ConditionState = { type: REACHED, status: "True" };

/** Returns the condition of an imported Space that the manager has not connected to yet with the current access. */
export function notReached(reason: string, message: string, severity: "Info" | "Error" = "Error"): ConditionState {
  return { type: REACHED, status: "False", severity, reason, message };
}
