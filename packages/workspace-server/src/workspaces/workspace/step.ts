import type { Workspace } from "@virtual-workspaces/kcp";
import type { ShardContext } from "../../state/context.ts";

/** What the steps of a workspace are made with. */
export interface WorkspaceTools {
  readonly shard: ShardContext;
  readonly now: () => Date;
  /** A new name for a logical cluster. */
  readonly newName: () => string;
  /** One of 0 to below `count`. */
  readonly pick: (count: number) => number;
}

/** What comes after a step. */
export interface AfterStep {
  /** Nothing more in this pass: what was changed is written, or something is waited for that will be told. */
  readonly stop?: boolean;
  /** When to look again, ms, though nothing is told. */
  readonly requeueAfter?: number;
}

/** Brings a workspace on its way; changes it in place. What it does besides must be harmless when done again. */
export type Step = (workspace: Workspace, tools: WorkspaceTools) => AfterStep | Promise<AfterStep>;

/** The next step follows. */
export const GO_ON: AfterStep = {};
/** This pass is over. */
export const STOP: AfterStep = { stop: true };
