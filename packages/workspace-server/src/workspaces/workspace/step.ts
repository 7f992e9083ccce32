import type { Workspace } from "@virtual-workspaces/kcp";
import type { ShardContext } from "../../state/context.ts";

/** Tools of the reconciliation steps of a workspace. */
export interface WorkspaceTools {
  readonly shard: ShardContext;
  readonly now: () => Date;
  /** Returns a new logical cluster name. */
  readonly newName: () => string;
  /** Returns an integer from 0 to below `count`. */
  readonly pick: (count: number) => number;
}

/** Outcome of a step. */
export interface AfterStep {
  /** Ends this pass: changes are written, or an awaited event triggers the next one. */
  readonly stop?: boolean;
  /** Runs all steps again once the changes are written, without waiting for the event. */
  readonly again?: boolean;
  /** Delay until the next pass without an event, in milliseconds. */
  readonly requeueAfter?: number;
}

/** Reconciles one aspect of a workspace; changes it in place. Other effects must be idempotent. */
export type Step = (workspace: Workspace, tools: WorkspaceTools) => AfterStep | Promise<AfterStep>;

/** The next step follows. */
export const GO_ON: AfterStep = {};
/** The pass ends. */
export const STOP: AfterStep = { stop: true };
/** The changes are written, then all steps run again. */
export const AGAIN: AfterStep = { stop: true, again: true };
